package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"golang.org/x/time/rate"

	"spoor/internal/procgroup"
	"spoor/internal/wire"
)

// A Command is a shell command that answers queries: it reads a query as a line of JSON,
//
//	{"v":1,"query":"hard bop","results":10}
//
// and writes lines with addresses, or with JSON objects that have a url. The best result comes
// first.
type Command struct {
	Line    string
	Timeout time.Duration // maximum time for one query
	Pace    *rate.Limiter
}

const (
	maxOutput = 8 << 20         // maximum output of a command in bytes
	grace     = 2 * time.Second // maximum wait for child processes that keep the output open
)

// Name returns the command line with a prefix.
func (c *Command) Name() string { return "command: " + c.Line }

// Search runs the command once.
func (c *Command) Search(ctx context.Context, query string, n int) ([]string, error) {
	if err := c.Pace.Wait(ctx); err != nil {
		return nil, err
	}
	question, err := json.Marshal(struct {
		V       int    `json:"v"`
		Query   string `json:"query"`
		Results int    `json:"results"`
	}{1, query, n})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	out, messages := bounded{limit: maxOutput}, procgroup.Tail{}
	run := exec.CommandContext(ctx, "sh", "-c", c.Line)
	run.Stdin = bytes.NewReader(append(question, '\n'))
	run.Stdout, run.Stderr = &out, &messages
	run.WaitDelay = grace
	err = run.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, &SetupError{fmt.Errorf("no shell found to run the command: %w", err)}
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the command did not answer within %v", c.Timeout)
	case out.full:
		return nil, fmt.Errorf("the command has written more than %d MiB", maxOutput>>20)
	case err != nil:
		err = fmt.Errorf("the command: %w", err)
		if last := messages.Line(); last != "" {
			err = fmt.Errorf("%w: %s", err, last)
		}
		if status := run.ProcessState; status != nil && (status.ExitCode() == 126 || status.ExitCode() == 127) {
			err = &SetupError{err} // the shell did not find the command
		}
		return nil, err
	}
	found := newResults(n)
	for line := range bytes.Lines(out.data) {
		found.add(address(bytes.TrimSpace(wire.TrimBOM(line))))
	}
	return found.urls, nil
}

// address returns the address in a line of output, or "" if there is none.
func address(line []byte) string {
	if len(line) == 0 || line[0] != '{' {
		return string(line)
	}
	var record struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(line, &record) != nil {
		return ""
	}
	return record.URL
}

// bounded is a buffer with a maximum size. It does not embed bytes.Buffer, whose ReadFrom has
// no limit.
type bounded struct {
	data  []byte
	limit int
	full  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.data)+len(p) > b.limit {
		b.full = true
		return 0, errors.New("too much")
	}
	b.data = append(b.data, p...)
	return len(p), nil
}
