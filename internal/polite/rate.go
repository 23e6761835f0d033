package polite

import (
	"context"
	"sync"
	"time"
)

// A pacer lets callers pass one by one, an interval apart, in the order in which
// they came. There is no burst: time in which nobody wanted to pass is not made
// up for. A wake-up that comes late does not move those after it, so that the
// rate is kept on average.
type pacer struct {
	once sync.Once
	turn chan struct{} // full while somebody is at the head of the queue
	next time.Time     // whoever holds the turn may pass then
}

// wait returns when the caller may pass, or when ctx ends; then the next in the
// queue passes in the caller's stead.
func (p *pacer) wait(ctx context.Context, interval time.Duration) error {
	p.once.Do(func() { p.turn = make(chan struct{}, 1) })
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-p.turn }()
	at := time.Now()
	if p.next.After(at) {
		at = p.next
	}
	if err := sleep(ctx, at); err != nil {
		return err
	}
	p.next = at.Add(interval)
	return nil
}

// interval is what lies between two events of a rate, given in events a second;
// 0 if the rate is no bound.
func interval(rate float64) time.Duration {
	if !(rate > 0) {
		return 0
	}
	return time.Duration(min(float64(time.Second)/rate, float64(MaxBackoff)))
}

// sleep returns at the given time, or when ctx ends.
func sleep(ctx context.Context, until time.Time) error {
	d := time.Until(until)
	if d <= 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
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
