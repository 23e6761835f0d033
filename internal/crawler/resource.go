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

// A Resource is the response for something that a page in a browser loads: a script, or data that a
// script requests.
type Resource struct {
	StatusCode int
	Header     http.Header
	Body       []byte // decoded
}

// LoadResource requests a resource that the page at the address via loads. As for a page, it refuses
// addresses and ports, limits sizes and times, and stores the exchange. But it does not read robots.txt
// and makes no pauses, because resources are part of their page; the caller limits their number.
// It does not follow redirects; it returns them as resources.
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
	case r.failed != nil:
		return nil, r.failed
	case r.page.Truncated != "": // an incomplete script may do something else
		return nil, errors.New("the response is truncated: " + r.page.Truncated)
	}
	return &Resource{r.response.StatusCode, r.response.Header, bytes.Clone(r.page.Body)}, nil
}

// ArchivedResource looks up a resource in archives. It follows redirects.
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
