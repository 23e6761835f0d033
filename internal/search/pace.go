package search

import (
	"context"
	"time"
)

// A Pace limits the rate of queries. A nil Pace is no limit. It is not safe for concurrent use.
type Pace struct {
	pause time.Duration
	next  time.Time
}

// NewPace returns a limit of rate queries a second; 0 means no limit.
func NewPace(rate float64) *Pace {
	if rate <= 0 {
		return nil
	}
	return &Pace{pause: time.Duration(float64(time.Second) / rate)}
}

// Wait blocks until the next query may be sent, or ctx ends.
func (p *Pace) Wait(ctx context.Context) error {
	if p == nil {
		return ctx.Err()
	}
	now := time.Now()
	if err := sleep(ctx, p.next.Sub(now)); err != nil {
		return err
	}
	p.next = time.Now().Add(p.pause)
	return nil
}

// sleep returns nil after d, or the error of ctx if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
