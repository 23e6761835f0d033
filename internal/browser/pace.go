package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"golang.org/x/time/rate"
)

// burst is the number of requests that a host that was not asked for some time gets without a wait: more
// than the scripts and data of most pages.
const burst = 30

// ErrPace is wrapped by the error of a request that would have to wait longer than its page may take.
var ErrPace = errors.New("the host has got too many requests")

// Paced returns a [Loader] that limits the requests to each host, of all pages together, to perSecond
// in the long run. Pages choose whom their scripts ask, and could otherwise flood a host that has
// nothing to do with the crawl.
func Paced(load Loader, perSecond float64) Loader {
	p := pace{perSecond: rate.Limit(perSecond), hosts: map[string]*rate.Limiter{}}
	return func(ctx context.Context, r *Request) (*Response, error) {
		u, err := url.Parse(r.URL)
		if err != nil {
			return nil, err
		}
		if err := p.of(u.Host).Wait(ctx); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPace, err)
		}
		return load(ctx, r)
	}
}

// A pace holds the limits of the hosts that were asked lately.
type pace struct {
	perSecond rate.Limit
	mu        sync.Mutex
	hosts     map[string]*rate.Limiter
	most      int // number of hosts when those that are rested were forgotten last
}

// of returns the limit of a host.
func (p *pace) of(host string) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.hosts[host]
	if limit == nil {
		if len(p.hosts) >= 2*p.most+1000 {
			p.forget()
		}
		limit = rate.NewLimiter(p.perSecond, burst)
		p.hosts[host] = limit
	}
	return limit
}

// forget removes the hosts that may be sent a whole burst again, as a new one.
func (p *pace) forget() {
	for host, limit := range p.hosts {
		if limit.Tokens() >= burst {
			delete(p.hosts, host)
		}
	}
	p.most = len(p.hosts)
}
