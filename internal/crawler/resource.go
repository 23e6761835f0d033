package crawler

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"

	"spoor/internal/archive"
	"spoor/internal/polite"
	"spoor/internal/weburl"
)

// A Resource is a response to what a page in a browser loads: a script, or data that a script
// requests.
type Resource struct {
	StatusCode int
	Header     http.Header
	Body       []byte // decoded
}

// LoadResource requests what the page via loads. It refuses addresses and ports, limits sizes and
// times, and stores the exchange as for a page. robots.txt does not apply and there are no pauses,
// because the resources of a page belong to it: the caller limits their number. Redirects are
// resources too.
//
// If the WARC file cannot be written, the error is a *[WARCError].
func (c *Crawler) LoadResource(ctx context.Context, address, via string, header http.Header) (*Resource, error) {
	u, err := weburl.Parse(address)
	if err != nil {
		return nil, err
	}
	req := polite.NewRequest(ctx, u)
	maps.Copy(req.Header, header)
	r, err := c.resources.request(req, u.String(), archive.Metadata{Via: via, Operator: "render"})
	if err != nil {
		return nil, nameTimeout(err)
	}
	defer r.release()
	switch {
	case r.tooLarge != nil:
		return nil, r.tooLarge
	case r.page.Truncated != "": // half a script does something else
		return nil, errors.New("the response is truncated: " + r.page.Truncated)
	}
	return &Resource{r.response.StatusCode, r.response.Header, bytes.Clone(r.page.Body)}, nil
}

// ArchivedResource looks up what a page loads. Redirects are followed.
func ArchivedResource(r *archive.Replay, address string) (*Resource, error) {
	page, err := r.Fetch(address)
	switch {
	case err != nil:
		return nil, err
	case page == nil || page.Response == nil:
		return nil, archive.ErrNotArchived
	}
	return &Resource{page.StatusCode, page.Header, page.Body}, nil
}
