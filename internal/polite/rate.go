package polite

import (
	"context"
	"sync"
	"time"

	"spoor/internal/pace"
)

// A pacer admits callers one at a time, an interval apart, in the order of their calls.
// Unused time does not accumulate, so there are no bursts. A caller that wakes up late does
// not delay later callers, so the average rate is kept.
type pacer struct {
	once sync.Once
	turn chan struct{} // full while a caller is waiting for next
	next time.Time     // when the next caller is admitted; guarded by turn
}

// wait returns nil when the caller is admitted. If ctx ends first, wait returns an error, and
// the next caller is admitted instead.
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
	if err := pace.Sleep(ctx, time.Until(at)); err != nil {
		return err
	}
	p.next = at.Add(interval)
	return nil
}

// interval returns the time between two events at a rate in events per second. It returns 0 if
// the rate is unlimited.
func interval(rate float64) time.Duration {
	if !(rate > 0) {
		return 0
	}
	return time.Duration(min(float64(time.Second)/rate, float64(MaxBackoff)))
}
