package main

import (
	"context"
	"io"
)

// interruptible is a reader whose Read ends when ctx is cancelled, even if nothing comes. The
// error is the cause.
type interruptible struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte
	left []byte // read and not returned yet
	err  error  // of the read that left it
}

func (i *interruptible) Read(p []byte) (int, error) {
	if len(i.left) == 0 {
		if i.err != nil {
			return 0, i.err
		}
		if i.buf == nil {
			i.buf = make([]byte, 256<<10)
		}
		type result struct {
			n   int
			err error
		}
		done := make(chan result, 1)
		go func() {
			n, err := i.r.Read(i.buf)
			done <- result{n, err}
		}()
		select {
		case <-i.ctx.Done():
			return 0, context.Cause(i.ctx)
		case r := <-done:
			i.left, i.err = i.buf[:r.n], r.err
			if r.n == 0 {
				return 0, r.err
			}
		}
	}
	n := copy(p, i.left)
	i.left = i.left[n:]
	return n, nil
}
