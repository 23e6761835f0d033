package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"spoor/cmd/internal/filter"
)

// interrupts tells of the first SIGINT and the first SIGTERM. The second of its kind ends
// the process at once, even if whoever is to hear of the first is busy. They are two kinds
// because what stands around a command may pass on a Ctrl-C, which has come here too, as
// SIGTERM.
func interrupts() (first <-chan os.Signal, stop func()) {
	came, heard := make(chan os.Signal, 2), make(chan os.Signal, 2)
	signal.Notify(came, os.Interrupt, syscall.SIGTERM)
	go func() {
		for sig := range came {
			signal.Reset(sig)
			select {
			case heard <- sig:
			default: // came twice before it was reset
			}
		}
	}()
	return heard, func() {
		signal.Stop(came)
		close(came)
	}
}

// interruptible is a reader whose Read ends when a signal comes, even if nothing
// else does.
type interruptible struct {
	r       io.Reader
	signals <-chan os.Signal // see interrupts
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
