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

// enqueue puts rec behind all that may be asked for as early.
func (q *queue) enqueue(rec *wire.Record) {
	i := len(q.records)
	for i > 0 && q.records[i-1].NotBefore > rec.NotBefore {
		i--
	}
	q.records = slices.Insert(q.records, i, rec)
}

// wait is how long rec is not to be asked for yet; with the error there is no waiting, as
// that is later than the end of ctx, or than a host is ever held for.
func wait(ctx context.Context, rec *wire.Record) (time.Duration, error) {
	at, err := time.Parse(time.RFC3339, rec.NotBefore)
	left := time.Until(at)
	if err != nil || left <= 0 || ctx.Err() != nil {
		return 0, nil
	}
	if end, ok := ctx.Deadline(); left > polite.MaxBackoff || ok && at.After(end) {
		return 0, fmt.Errorf("not to be asked for before %s", rec.NotBefore)
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
