package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"spoor/cmd/internal/filter"
)

// writeJSON writes v as one line.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// writeFile has a file written under another name, and gives it its own when it is
// whole and safe. If that fails nothing is left of it.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name + ".part")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // is not there any more if all went well
	w := bufio.NewWriterSize(f, 1<<20)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// interruptible is a context that a signal ends; its cause is what the command
// should fail with. The second signal kills.
func interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			status := filter.StatusTerminated
			if s == os.Interrupt {
				status = filter.StatusInterrupted
			}
			cancel(filter.Exit(status, errors.New("interrupted: the file in work is as it was")))
			signal.Stop(signals)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}
