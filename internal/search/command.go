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

// A Command is a shell command that answers a query: it reads it as a line of JSON,
//
//	{"v":1,"query":"hard bop","results":10}
//
// and writes lines that are addresses, or JSON objects with a url, the best first.
type Command struct {
	Line    string
	Timeout time.Duration // for one query
	Pace    *Pace
}

const (
	maxOutput = 8 << 20         // bytes of what a command writes
	maxLast   = 300             // bytes of its last words
	grace     = 2 * time.Second // for children that keep its output open
)

// Name is the command itself.
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
	out, words := bounded{most: maxOutput}, tail{}
	run := exec.CommandContext(ctx, "sh", "-c", c.Line)
	run.Stdin = bytes.NewReader(append(question, '\n'))
	run.Stdout, run.Stderr = &out, &words
	run.WaitDelay = grace
	err = run.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, &SetupError{fmt.Errorf("there is no shell to run the command: %w", err)}
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the command had no answer after %v", c.Timeout)
	case out.full:
		return nil, fmt.Errorf("the command writes more than %d MiB", maxOutput>>20)
	case err != nil:
		err = fmt.Errorf("the command: %w%s", err, words.last())
		if status := run.ProcessState; status != nil && (status.ExitCode() == 126 || status.ExitCode() == 127) {
			err = &SetupError{err} // the shell found nothing that it could run
		}
		return nil, err
	}
	found := newResults(n)
	for line := range bytes.Lines(out.data) {
		found.add(address(bytes.TrimSpace(line)))
	}
	return found.urls, nil
}

// address is what a line of a command's output says, "" if nothing.
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

// bounded keeps what is written, and refuses what is too much. (It must not have the
// ReadFrom of a bytes.Buffer, which knows no bound.)
type bounded struct {
	data []byte
	most int
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.data)+len(p) > b.most {
		b.full = true
		return 0, errors.New("too much")
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// tail keeps the end of what is written.
type tail struct{ data []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p[max(len(p)-maxLast, 0):]...)
	t.data = append(t.data[:0], t.data[max(len(t.data)-maxLast, 0):]...)
	return len(p), nil
}

// last is the last line, for an error.
func (t *tail) last() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.data), ""))
	text = text[strings.LastIndexByte(text, '\n')+1:]
	if text == "" {
		return ""
	}
	return ": " + text
}
