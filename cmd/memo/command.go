package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"spoor/cmd/internal/filter"
	"spoor/internal/wire"
)

// A command is a process that gives a record for every record, in their order. One
// goroutine gives it records (write, flush, close), and another takes what it gives
// (answered, read, wait).
type command struct {
	name string
	cmd  *exec.Cmd
	in   io.Closer
	w    *wire.Writer
	r    *wire.Reader
	rec  wire.Record // that was read last
}

// start starts a command, which is ended with ctx: it, and what it may have started, can
// neither be given records then nor answer.
func start(ctx context.Context, argv []string, stderr io.Writer) (*command, error) {
	c := &command{name: argv[0], cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	c.cmd.Stderr = stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.cmd.Cancel = func() error { return errors.Join(in.Close(), out.Close(), c.cmd.Process.Kill()) }
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the command: %w", err)
	}
	c.in, c.w, c.r = in, wire.NewWriter(in), wire.NewReader(out, wire.Address)
	return c, nil
}

// write gives the command a record, or keeps it to be given with others.
func (c *command) write(rec *wire.Record) error { return c.w.Write(rec) }

// flush gives the command what was kept.
func (c *command) flush() error { return c.w.Flush() }

// close tells the command that there are no more records.
func (c *command) close() {
	c.w.Flush() // if it is not there any more, wait says why
	c.in.Close()
}

// answered tells whether the next record is there already.
func (c *command) answered() bool { return c.r.Buffered() }

// read reads the next record, which must be about url. It is valid until the next call.
func (c *command) read(url string) (*wire.Record, error) {
	err := c.r.Read(&c.rec)
	switch {
	case err == nil && c.rec.URL == url:
		return &c.rec, nil
	case err == nil:
		err = fmt.Errorf("%s answered %.200s where it was asked for %.200s", c.name, c.rec.URL+c.rec.Query, url)
	case errors.Is(err, io.EOF):
		c.in.Close()
		if err := c.ended(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s ended before it answered %.200s\n%s", c.name, url, oneForOne)
	default:
		err = fmt.Errorf("%s: %w", c.name, err)
	}
	c.cmd.Process.Kill()
	c.cmd.Wait()
	return nil, fmt.Errorf("%w\n%s", err, oneForOne)
}

const oneForOne = "hint: a command that memo can remember gives a record for every record, in their order"

// wait waits for the end of a command that has answered all it was given.
func (c *command) wait() error {
	err := c.r.Read(&c.rec)
	if errors.Is(err, io.EOF) {
		return c.ended()
	}
	c.cmd.Process.Kill()
	c.cmd.Wait()
	if err == nil {
		err = errors.New("it gave more records than it was given")
	}
	return fmt.Errorf("%s: %w\n%s", c.name, err, oneForOne)
}

// ended waits for the end of a command that says no more. Its status becomes ours.
func (c *command) ended() error {
	err := c.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s failed: %w", c.name, err)
		if status := exit.ExitCode(); status > 0 {
			return filter.Exit(status, err)
		}
	}
	return err
}
