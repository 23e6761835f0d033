package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A conn is a connection to the browser by the Chrome DevTools Protocol: JSON messages, each
// followed by a zero byte.
type conn struct {
	in      io.Writer
	onEvent func(*event) // called in order by read, and must not block

	mu      sync.Mutex            // guards the fields below, and writes to in
	last    int                   // number of the last call
	waiting map[int]chan *message // by the number of the call
	err     error                 // why reading ended; nil while read is running
}

// A message is sent by the browser: the result or the error of a call, or an event.
type message struct {
	ID     int
	Result json.RawMessage
	Error  *struct{ Message string }
	event
}

// An event reports a change in a session: a page, a worker or a frame.
type event struct {
	Method    string
	SessionID string
	Params    json.RawMessage
}

var errMessage = errors.New("a message of the browser is longer than the limit")

func newConn(in io.Writer, onEvent func(*event)) *conn {
	return &conn{in: in, onEvent: onEvent, waiting: map[int]chan *message{}}
}

// read reads messages of up to limit bytes until out ends. Then it makes all waiting and later calls fail.
func (c *conn) read(out io.Reader, limit int) {
	r := bufio.NewReaderSize(out, 64<<10)
	var err error
	for err == nil {
		var line []byte
		if line, err = readMessage(r, limit); err == nil {
			err = c.receive(line)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	for id, answer := range c.waiting {
		delete(c.waiting, id)
		close(answer)
	}
}

// readMessage returns the next message without the zero byte at its end.
func readMessage(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice(0)
		if len(line)+len(part) > limit {
			return nil, errMessage
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// receive passes an event to onEvent, or an answer to the call that waits for it.
func (c *conn) receive(line []byte) error {
	m := new(message)
	if err := json.Unmarshal(line, m); err != nil {
		return fmt.Errorf("reading from the browser: %w", err)
	}
	if m.ID == 0 {
		c.onEvent(&m.event)
		return nil
	}
	c.mu.Lock()
	answer := c.waiting[m.ID]
	delete(c.waiting, m.ID)
	c.mu.Unlock()
	if answer != nil {
		answer <- m
	}
	return nil
}

// call calls a method in a session, or of the browser if session is empty. If result is not nil, call
// decodes the result into it.
func (c *conn) call(ctx context.Context, session, method string, params, result any) error {
	answer := make(chan *message, 1)
	id, err := c.send(session, method, params, answer)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: %w", method, c.closed())
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result != nil:
			if err := json.Unmarshal(m.Result, result); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		}
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

// send sends a call. If the channel answer is not nil, receive sends the answer to it.
func (c *conn) send(session, method string, params any, answer chan *message) (id int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	c.last++
	b, err := json.Marshal(struct {
		ID        int    `json:"id"`
		SessionID string `json:"sessionId,omitempty"`
		Method    string `json:"method"`
		Params    any    `json:"params,omitempty"`
	}{c.last, session, method, params})
	if err != nil {
		return 0, err
	}
	if answer != nil {
		c.waiting[c.last] = answer
	}
	if _, err := c.in.Write(append(b, 0)); err != nil {
		delete(c.waiting, c.last)
		return 0, err
	}
	return c.last, nil
}

// closed returns why reading ended, or nil if messages are still being read.
func (c *conn) closed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
