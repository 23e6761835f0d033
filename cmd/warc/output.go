package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/lock"
)

// writeJSON writes v as one line.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// tame is what strangers wrote without what a terminal would obey.
func tame(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if unicode.IsControl(c) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// maxPrinted is how many faults of the format of one file are printed. A file may be
// made to have one in every few bytes; those of other kinds are of a record each.
const maxPrinted = 1000

// printed counts the faults of the format by file.
type printed map[string]int

// takes tells whether a line is to be printed; the last says that others are not.
func (p printed) takes(file, kind string, detail *string) bool {
	if kind != archive.KindFormat {
		return true
	}
	p[file]++
	if p[file] == maxPrinted+1 {
		*detail = "this and more such faults of the file are counted, but not printed"
	}
	return p[file] <= maxPrinted+1
}

// partSuffix ends the name of a file that is being written.
const partSuffix = ".part"

// apart is an error if writing a file would destroy one of those that are read.
func apart(out string, inputs []string) error {
	for _, name := range []string{out, out + partSuffix} {
		target, err := os.Stat(name)
		if err != nil {
			continue // nothing is there
		}
		for _, input := range inputs {
			if info, err := os.Stat(input); err == nil && os.SameFile(target, info) {
				return filter.Usagef("%s is read, so it cannot be written\nhint: another name for -o, or remove the file first if it is from an earlier run", name)
			}
		}
	}
	return nil
}

// writeFile has a file written under another name, and gives it its own when it is
// whole and safe. If that fails nothing is left of it. The error is lock.ErrHeld if
// another process is writing it.
func writeFile(name string, write func(io.Writer) error) (err error) {
	part := name + partSuffix
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	if err := alone(f, part); err != nil {
		f.Close()
		return fmt.Errorf("writing %s: %w", part, err)
	}
	defer func() {
		if err != nil {
			os.Remove(part)
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	if err = f.Truncate(0); err == nil { // a killed process left it
		err = write(w)
	}
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
	return os.Rename(part, name)
}

// alone locks an open file that still has that name.
func alone(f *os.File, name string) error {
	if err := lock.Try(f, true); err != nil {
		return err
	}
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if named, err := os.Stat(name); err != nil || !os.SameFile(opened, named) {
		return lock.ErrHeld // until just now
	}
	return nil
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
