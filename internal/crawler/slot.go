package crawler

import (
	"context"
	"sync"
	"time"

	"spoor/internal/archive"
	"spoor/internal/web"
)

// The memory that responses take is bounded, whatever servers send. While responses are
// received, those longer than freeBody share maxReceiving tokens, each for freeBody bytes; one
// response at a time may overdraw, so that all of them finish. Decoding and encoding take
// several times as much memory, but only for a short time: maxDecoding responses are decoded at
// a time, or one if MaxBody is above the default. A sitemap longer than a page may be must take
// the overdraft, and is decoded alone.
const (
	largeBody    = 1 << 20   // bytes, decoded
	freeBody     = 256 << 10 // bytes, received
	maxReceiving = 256
	maxDecoding  = 2
)

// memory holds the tokens of the memory that responses may take.
type memory struct {
	pageSize  int64         // bytes up to which a body is as long as a page may be
	receiving chan struct{} // one for each freeBody of a response that is being received
	overdraft chan struct{} // the response that takes more than there is
	decoding  chan struct{} // large responses that have been received
}

func newMemory(maxBody int64) *memory {
	decoding := maxDecoding
	if maxBody > archive.DefaultBody {
		decoding = 1
	}
	return &memory{
		pageSize:  max(maxBody, archive.DefaultBody),
		receiving: make(chan struct{}, maxReceiving), overdraft: make(chan struct{}, 1), decoding: make(chan struct{}, decoding),
	}
}

// A slot is one of the concurrent requests. It is held from before the request until the
// record has been written, so that a slow reader of the records delays further requests.
type slot struct {
	f         *fetcher
	tapeLimit int64
	tape      *web.Tape // nil until the slot is acquired: thousands of hosts wait for one
	decoded   []byte    // buffer of the decoded body
	secrets   []string  // names of header fields that are not archived

	// Tokens that are held.
	receiving int
	overdraft bool
	decoding  int

	once sync.Once
}

type slotKey struct{}

// maxBuffer is the size, in bytes, up to which a buffer is kept for further bodies.
const maxBuffer = 768 << 10

// acquire waits for a free slot.
func (s *slot) acquire(ctx context.Context) error {
	select {
	case s.tape = <-s.f.slots:
		if s.tape == nil {
			s.tape = new(web.Tape)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reserve waits until there is memory to receive n bytes. If that takes as long as the
// response may take, the error is errNoMemory, for which the host is not to blame.
func (s *slot) reserve(ctx context.Context, n int64) error {
	m := s.f.memory
	receiving := m.receiving
	if n > m.pageSize+1 { // one more byte shows that the body goes on
		receiving = nil // only by overdraft
	}
	for n > freeBody*int64(1+s.receiving) && !s.overdraft {
		select {
		case receiving <- struct{}{}:
			s.receiving++
			continue
		default:
		}
		select {
		case receiving <- struct{}{}:
			s.receiving++
		case m.overdraft <- struct{}{}:
			s.overdraft = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if time.Since(s.tape.Start) >= s.f.Timeout {
			return errNoMemory
		}
	}
	return nil
}

// reserveDecoding waits for a decoding token, or for all of them if the body may be larger
// than a page; that needs the overdraft, or two slots could wait for each other.
func (s *slot) reserveDecoding(ctx context.Context) error {
	m := s.f.memory
	tokens := 1
	if s.f.maxSize > m.pageSize {
		tokens = cap(m.decoding)
		if !s.overdraft {
			select {
			case m.overdraft <- struct{}{}:
				s.overdraft = true
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	for ; s.decoding < tokens; s.decoding++ {
		select {
		case m.decoding <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// release gives the slot and its tokens back. It may be called more than once.
func (s *slot) release() {
	s.once.Do(func() {
		m := s.f.memory
		for range s.receiving {
			<-m.receiving
		}
		if s.overdraft {
			<-m.overdraft
		}
		for range s.decoding {
			<-m.decoding
		}
		if decoded := s.decoded; decoded != nil && cap(decoded) <= maxBuffer {
			s.f.buffers.Put(&decoded)
		}
		s.decoded = nil // the connection may keep the slot for a while
		if s.tape != nil {
			s.tape.Reset()
			s.f.slots <- s.tape
		}
	})
}
