package frontier

import (
	"errors"
	"io"

	"spoor/internal/wire"
)

// A RecordReader reads records like a [wire.Reader].
type RecordReader interface {
	Read(rec *wire.Record) error
}

// AddFrom adds the records of r, which must read at least [Sections], until r ends. It calls
// added for every record, with the results of [Store.Add], and malformed for every malformed
// line; if malformed is nil, a malformed line is an error. For a malformed line that is a failed
// outcome ([wire.SyntaxError.Outcome]), AddFrom calls malformed and also adds the outcome. It does
// not commit.
//
// A separate goroutine reads the next records while records are added: reading is nearly a third of
// the cost of a link at ten million addresses. If AddFrom returns an error of the store, this
// goroutine ends after its current read.
func (s *Store) AddFrom(r RecordReader, added func(*wire.Record, Verdict, error), malformed func(*wire.SyntaxError)) error {
	p := startPrefetch(r, malformed == nil)
	defer close(p.stop)
	for {
		b := <-p.full
		for _, bad := range b.malformed {
			malformed(bad)
		}
		s.Prefetch(b.urls)
		for i := range b.urls {
			verdict, err := s.Add(&b.recs[i])
			added(&b.recs[i], verdict, err)
			if verdict == Failed {
				return err
			}
		}
		if errors.Is(b.err, io.EOF) {
			return nil
		} else if b.err != nil {
			return b.err
		}
		p.free <- b
	}
}

type recordBlock struct {
	recs      [MaxPrefetch]wire.Record
	urls      []string            // of the records
	malformed []*wire.SyntaxError // malformed lines between the records
	err       error               // error of the read after the last record, if any
}

// A prefetcher reads blocks on a goroutine of its own.
type prefetcher struct {
	full chan *recordBlock
	free chan *recordBlock
	stop chan struct{}
}

// startPrefetch starts reading r. If strict, the first line that is not a record ends it.
func startPrefetch(r RecordReader, strict bool) *prefetcher {
	const blocks = 4
	p := &prefetcher{make(chan *recordBlock, blocks), make(chan *recordBlock, blocks), make(chan struct{})}
	for range blocks {
		p.free <- new(recordBlock)
	}
	go func() {
		for {
			select {
			case <-p.stop:
				return
			case b := <-p.free:
				b.read(r, strict)
				ended := b.err != nil // read it before the block is sent
				p.full <- b
				if ended {
					return
				}
			}
		}
	}()
	return p
}

// read fills the block with at most maxBlock bytes plus one record.
func (b *recordBlock) read(r RecordReader, strict bool) {
	const maxBlock, maxKept = 1 << 20, 64 << 10 // bytes of a block, and of memory kept for a record
	b.urls, b.malformed = b.urls[:0], b.malformed[:0]
	for size := 0; b.err == nil && size < maxBlock && len(b.urls) < len(b.recs) && len(b.malformed) < len(b.recs); {
		rec := &b.recs[len(b.urls)]
		if rec.Memory() > maxKept {
			*rec = wire.Record{}
		}
		err := r.Read(rec)
		if bad, ok := errors.AsType[*wire.SyntaxError](err); ok && !strict {
			b.malformed = append(b.malformed, bad)
			if !bad.Outcome {
				continue
			}
			err = nil
		}
		if b.err = err; err == nil {
			b.urls = append(b.urls, rec.URL)
			size += rec.Size()
		}
	}
}
