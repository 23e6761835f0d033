package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"spoor/internal/pace"
)

// Burst is the number of requests that a host that was not asked for some time gets without a wait: more
// than the scripts and data of most pages.
const Burst = 30

// ErrPace is wrapped by the error of a request that would have to wait longer than its page may take.
var ErrPace = errors.New("the host has got too many requests")

// Paced returns a [Loader] that limits the requests to each host, of all pages together, to perSecond
// in the long run. Pages choose whom their scripts ask, and could otherwise flood a host that has
// nothing to do with the crawl.
func Paced(load Loader, perSecond float64) Loader {
	hosts := pace.New[string](perSecond, Burst)
	return func(ctx context.Context, r *Request) (*Response, error) {
		u, err := url.Parse(r.URL)
		if err != nil {
			return nil, err
		}
		if err := hosts.Wait(ctx, u.Host); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPace, err)
		}
		return load(ctx, r)
	}
}
