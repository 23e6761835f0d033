package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"spoor/internal/polite"
	"spoor/internal/wire"
)

// This file waits for the time before which an address is not to be asked for: a
// frontier that looks ahead (next -horizon) hands it out with not_before.

// renew makes rec an address again, whatever came of it before. Only if nothing did,
// its not_before is one for us.
func renew(rec *wire.Record) {
	before := rec.NotBefore
	if rec.IsOutcome() {
		before = ""
	}
	begin(rec)
	rec.NotBefore = before
}

// enqueue puts rec behind all that may be asked for as early. A not_before that is no
// time is none.
func (q *queue) enqueue(ctx context.Context, rec *wire.Record) {
	last := queued{ctx: ctx, rec: rec}
	if rec.NotBefore != "" {
		last.due, _ = time.Parse(time.RFC3339, rec.NotBefore)
	}
	i := len(q.waiting)
	for i > 0 && q.waiting[i-1].due.After(last.due) {
		i--
	}
	q.waiting = slices.Insert(q.waiting, i, last)
}

// wait is how long it is not to be asked for yet; with the error there is no waiting, as
// that is later than the end of its window, or than a host is ever held for.
func (q queued) wait() (time.Duration, error) {
	left := time.Until(q.due)
	if left <= 0 || q.ctx.Err() != nil {
		return 0, nil
	}
	if end, ok := q.ctx.Deadline(); left > polite.MaxBackoff || ok && q.due.After(end) {
		return 0, fmt.Errorf("not to be asked for before %s", q.rec.NotBefore)
	}
	return left, nil
}

// pause sleeps so long, but no longer than a second: what may be asked for earlier may
// still come.
func pause(ctx context.Context, left time.Duration) {
	t := time.NewTimer(min(left, time.Second))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
