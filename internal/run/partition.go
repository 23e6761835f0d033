package run

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"spoor/internal/frontier"
	"spoor/internal/wire"
)

// This file has what a [Server] does differently as the frontier of one partition of a crawl on
// several machines. The returning mark of a window decides how many addresses the next window has
// and when the crawl ends; the server never ends by itself, because a partition that has nothing to
// fetch may get addresses from others.

// readMark reads from a returning mark the size of the next window, or why the crawl ends.
func (v *server) readMark(rec *wire.Record) error {
	m, err := rec.Mark()
	if err != nil {
		return err
	}
	if m.N == nil {
		return fmt.Errorf("the mark of window %d came back without n\nhint: exchange must be the last stage before the loop", rec.Generation)
	}
	v.n, v.endReason, v.nextDue = *m.N, m.End, time.Time{}
	if m.Due != "" {
		if v.nextDue, err = time.Parse(time.RFC3339, m.Due); err != nil {
			return fmt.Errorf("the mark of window %d: %w", rec.Generation, err)
		}
	}
	return nil
}

// leaseGiven writes the addresses of the next window, as many as the last returned mark permits, and
// the mark of the window. At the beginning it writes only the mark of the last committed window. A
// window may be empty.
func (v *server) leaseGiven() error {
	var batch []byte
	var mark wire.Mark
	window := v.window
	switch {
	case v.interrupted != nil:
		return v.finish("")
	case !v.firstMarkSeen:
		window = v.from
	case v.endReason != "":
		return v.finish(v.endReason)
	case time.Now().Before(v.nextDue):
		v.phase = pausing // the loop calls leaseGiven again
		return nil
	case v.n > 0:
		lines, err := v.leaseAddresses(v.n, v.window)
		if nothing, ok := errors.AsType[*frontier.NothingDue](err); ok {
			if !nothing.Earliest.IsZero() {
				mark.Due = nothing.Earliest.UTC().Format(time.RFC3339)
			}
		} else if err != nil {
			return err
		}
		batch = lines
	}
	v.begun = time.Now()
	v.sum = newSummary(v.window, v.Strategy)
	v.asked = bytes.Count(batch, []byte("\n"))
	if v.firstMarkSeen {
		mark.N = &v.n
	}
	mark.Stop = v.stopped()
	mark.Best = v.s.Best(wire.MaxBest)
	lines, err := wire.AppendMark(bytes.Clone(batch), window, mark)
	if err != nil {
		return err
	}
	v.phase = awaiting
	v.send(lines)
	return v.compactLog()
}

// LastWindow returns the last window that was committed to a store without summaries, -1 if there
// is none.
func LastWindow(store string) (int, error) {
	b, err := readSmall((&server{Server: &Server{Store: store}}).lastWindow())
	if b == nil || err != nil {
		return -1, err
	}
	window := -1
	r := wire.NewReader(bytes.NewReader(b), wire.Address)
	var rec wire.Record
	for r.Read(&rec) == nil {
		if rec.IsMark() {
			window = rec.Generation
		}
	}
	return window, nil
}

// SetLastWindow records that window was committed to a store whose records were restored.
func SetLastWindow(store string, window int) error {
	v := &server{Server: &Server{Store: store}, window: window}
	return v.writeLastWindow()
}
