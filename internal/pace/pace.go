// Package pace limits how often things with names happen, such as requests to hosts.
package pace

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Pace limits the events of each key, in the long run, to a number per second. A key that had no
// events for some time gets a burst of them without a wait. It is safe for concurrent use.
type Pace[K comparable] struct {
	perSecond rate.Limit
	burst     int

	mu     sync.Mutex
	limits map[K]*rate.Limiter
	most   int // number of keys when those that are rested were forgotten last
}

// New returns a Pace; perSecond and burst must be positive.
func New[K comparable](perSecond float64, burst int) *Pace[K] {
	return &Pace[K]{perSecond: rate.Limit(perSecond), burst: burst, limits: map[K]*rate.Limiter{}}
}

// Wait returns nil when the next event of key may happen. It returns an error if ctx ends, or at once if
// the deadline of ctx is earlier.
func (p *Pace[K]) Wait(ctx context.Context, key K) error { return p.of(key).Wait(ctx) }

// Reserve reserves the next event of key, and returns how long to wait for it. If this is longer than
// atMost, Reserve reserves nothing and returns false.
func (p *Pace[K]) Reserve(key K, atMost time.Duration) (wait time.Duration, ok bool) {
	limit := p.of(key)
	p.mu.Lock() // cancelling gives nothing back if another event was reserved meanwhile
	defer p.mu.Unlock()
	r := limit.Reserve()
	if wait = r.Delay(); wait > atMost {
		r.Cancel()
		return wait, false
	}
	return wait, true
}

// of returns the limit of a key.
func (p *Pace[K]) of(key K) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.limits[key]
	if limit == nil {
		if len(p.limits) >= 2*p.most+1000 {
			p.forget()
		}
		limit = rate.NewLimiter(p.perSecond, p.burst)
		p.limits[key] = limit
	}
	return limit
}

// forget removes the keys that may have a whole burst again, like new ones.
func (p *Pace[K]) forget() {
	for key, limit := range p.limits {
		if limit.Tokens() >= float64(p.burst) {
			delete(p.limits, key)
		}
	}
	p.most = len(p.limits)
}

// Sleep returns nil after d, or the cause of ctx if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
