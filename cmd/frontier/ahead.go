package main

import (
	"errors"

	"spoor/internal/frontier"
	"spoor/internal/wire"
)

// A block is records that were read one after the other.
type block struct {
	recs [frontier.MostExpected]wire.Record
	urls []string            // of the records
	bad  []*wire.SyntaxError // lines among them that are no records
	err  error               // why there is nothing behind them; nil if there may be
}

// ahead reads records while those before them are added, in a goroutine of its own:
// of what a link costs at ten million addresses reading it is nearly a third.
type ahead struct {
	full chan *block
	free chan *block
	stop chan struct{}
}

// readAhead begins to read. Lines that are no records are errors if strict.
func readAhead(r recordReader, strict bool) *ahead {
	const blocks = 4
	a := &ahead{make(chan *block, blocks), make(chan *block, blocks), make(chan struct{})}
	for range blocks {
		a.free <- new(block)
	}
	go func() {
		for {
			select {
			case <-a.stop:
				return
			case b := <-a.free:
				b.read(r, strict)
				ended := b.err != nil // it is the other's, once it is sent
				a.full <- b
				if ended {
					return
				}
			}
		}
	}()
	return a
}

// read fills the block, with at most as much as maxBlock and a record.
func (b *block) read(r recordReader, strict bool) {
	const maxBlock, maxKept = 1 << 20, 64 << 10 // bytes of a block, and of memory that is kept for a record
	b.urls, b.bad = b.urls[:0], b.bad[:0]
	for size := 0; b.err == nil && size < maxBlock && len(b.urls)+len(b.bad) < len(b.recs); {
		rec := &b.recs[len(b.urls)]
		if rec.Memory() > maxKept {
			*rec = wire.Record{}
		}
		err := r.Read(rec)
		if bad, ok := errors.AsType[*wire.SyntaxError](err); ok && !strict {
			b.bad = append(b.bad, bad)
			continue
		}
		if b.err = err; err == nil {
			b.urls = append(b.urls, rec.URL)
			size += rec.Size()
		}
	}
}
