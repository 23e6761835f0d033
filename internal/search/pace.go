package search

import (
	"context"
	"time"
)

// A Pace keeps questions apart. A nil one does not. It is for one goroutine.
type Pace struct {
	pause time.Duration
	next  time.Time
}

// NewPace allows rate questions a second; 0 is any number.
func NewPace(rate float64) *Pace {
	if rate <= 0 {
		return nil
	}
	return &Pace{pause: time.Duration(float64(time.Second) / rate)}
}

// Wait returns when the next question may be asked.
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

// sleep returns after d, or with the error of ctx.
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
