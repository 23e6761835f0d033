package crawler

import (
	"context"
	"sync"
	"time"

	"spoor/internal/archive"
	"spoor/internal/web"
)

// The memory for responses is bounded, whatever servers send. While they are received,
// responses longer than freeBody share maxReceiving tokens, each for freeBody bytes. One
// response at a time may exceed the tokens (the overdraft), so that all of them finish.
// Decoding and encoding need several times as much memory, but only for a short time: only
// maxDecoding responses are decoded at a time, or one if MaxBody is above the default. A sitemap
// that is longer than the maximum size of a page needs the overdraft, and is decoded alone.
const (
	largeBody    = 1 << 20   // bytes, decoded
	freeBody     = 256 << 10 // bytes, received
	maxReceiving = 256
	maxDecoding  = 2
)

type memory struct {
	pageSize  int64         // maximum size of the body of a page, in bytes
	receiving chan struct{} // one token for each further freeBody bytes of a response that is being received
	overdraft chan struct{} // held by the one response that may exceed the tokens
	decoding  chan struct{} // one token for each large response that is being decoded
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

// A slot is one of the concurrent requests. It is acquired before the request and released
// when the record has been written, so that a slow reader of the records delays requests.
type slot struct {
	f         *fetcher
	tapeLimit int64
	tape      *web.Tape // nil until the slot is acquired, because thousands of hosts wait for a slot
	decoded   []byte    // buffer of the decoded body
	secrets   []string  // names of header fields that are not archived

	// Tokens that the slot holds.
	receiving int
	overdraft bool
	decoding  int

	once sync.Once
}

type slotKey struct{}

// maxBuffer is the size, in bytes, up to which a buffer is kept for further bodies.
const maxBuffer = 768 << 10

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

// yield frees the slot until it is acquired again.
func (s *slot) yield() {
	s.tape.Reset()
	s.f.slots <- s.tape
	s.tape = nil
}

// reserve waits until there is memory to receive n bytes. If this takes longer than Timeout,
// the error is errNoMemory, which is not a failure of the host.
func (s *slot) reserve(ctx context.Context, n int64) error {
	m := s.f.memory
	receiving := m.receiving
	if n > m.pageSize+1 { // one byte is added to detect that the body is longer
		receiving = nil // needs the overdraft
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
// than a page. For all, it first acquires the overdraft, so that two slots cannot deadlock.
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

// release releases the slot and its tokens. It may be called more than once.
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
