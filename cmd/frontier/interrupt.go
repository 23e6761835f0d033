package main

import (
	"io"
	"os"
	"os/signal"

	"spoor/cmd/internal/filter"
)

// interruptible is a reader whose Read ends when a signal comes, even if nothing
// else does. The second signal kills.
type interruptible struct {
	r       io.Reader
	signals chan os.Signal
	buf     []byte
	left    []byte // read and not given out yet
	err     error  // what came with it
}

// interrupted is the error of a Read that a signal ended.
type interrupted struct{ status int }

func (e *interrupted) Error() string { return "interrupted" }

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
		case s := <-i.signals:
			signal.Stop(i.signals)
			if s == os.Interrupt {
				return 0, &interrupted{filter.StatusInterrupted}
			}
			return 0, &interrupted{filter.StatusTerminated}
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
