package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
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
	Pace    *Pace
}

const (
	maxOutput = 8 << 20         // maximum output of a command in bytes
	maxLast   = 300             // bytes of the last line on stderr that are kept
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
	out, words := bounded{limit: maxOutput}, tail{}
	run := exec.CommandContext(ctx, "sh", "-c", c.Line)
	run.Stdin = bytes.NewReader(append(question, '\n'))
	run.Stdout, run.Stderr = &out, &words
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
		err = fmt.Errorf("the command: %w%s", err, words.last())
		if status := run.ProcessState; status != nil && (status.ExitCode() == 126 || status.ExitCode() == 127) {
			err = &SetupError{err} // the shell did not find the command
		}
		return nil, err
	}
	found := newResults(n)
	for line := range bytes.Lines(out.data) {
		found.add(address(bytes.TrimSpace(line)))
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

// A tail keeps the end of the data that is written to it.
type tail struct{ data []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p[max(len(p)-maxLast, 0):]...)
	t.data = append(t.data[:0], t.data[max(len(t.data)-maxLast, 0):]...)
	return len(p), nil
}

// last returns the last line, for an error message.
func (t *tail) last() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.data), ""))
	text = text[strings.LastIndexByte(text, '\n')+1:]
	if text == "" {
		return ""
	}
	return ": " + text
}
