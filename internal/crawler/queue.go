package crawler

import (
	"context"
	"fmt"
	"slices"
	"time"

	"spoor/internal/polite"
	"spoor/internal/wire"
)

// A queue holds the addresses that wait for one host, ordered by not_before: a frontier may
// send addresses that are not due yet (next -horizon).
type queue struct {
	items   []item
	workers int // number of goroutines that serve the queue
}

// An item is an address in a queue. ctx is the context of its window; the goroutine that
// serves the queue may have begun in an earlier window.
type item struct {
	ctx context.Context
	rec *wire.Record
	due time.Time
}

// push adds rec after the items that are due at the same time or earlier. A not_before that
// cannot be parsed is ignored.
func (q *queue) push(ctx context.Context, rec *wire.Record) {
	last := item{ctx: ctx, rec: rec}
	if rec.NotBefore != "" {
		last.due, _ = time.Parse(time.RFC3339, rec.NotBefore)
	}
	i := len(q.items)
	for i > 0 && q.items[i-1].due.After(last.due) {
		i--
	}
	q.items = slices.Insert(q.items, i, last)
}

func (q *queue) pop() item {
	first := q.items[0]
	q.items[0] = item{} // otherwise the queue would retain the record and its body
	q.items = q.items[1:]
	return first
}

// wait returns the time until i is due. It returns an error if i is due too late: after the end
// of its window, or later than the longest back-off.
func (i item) wait() (time.Duration, error) {
	left := time.Until(i.due)
	if left <= 0 || i.ctx.Err() != nil {
		return 0, nil
	}
	if end, ok := i.ctx.Deadline(); left > polite.MaxBackoff || ok && i.due.After(end) {
		return 0, fmt.Errorf("not to be asked for before %s", i.rec.NotBefore)
	}
	return left, nil
}

// renew removes earlier outcomes from rec. It also removes not_before if that belongs to an
// earlier outcome.
func renew(rec *wire.Record) {
	before := rec.NotBefore
	if rec.IsOutcome() {
		before = ""
	}
	reset(rec)
	rec.NotBefore = before
}
