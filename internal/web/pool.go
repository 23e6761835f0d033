package web

import (
	"bufio"
	"cmp"
	"container/list"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"time"
)

// A conn is a connection to a server, ready for requests.
type conn struct {
	net.Conn
	t          *Transport
	key        string // of its host
	ip         string
	protocols  []string
	unverified string
	proxied    bool             // what is at the other end is a proxy that speaks HTTP
	h2         *http.ClientConn // nil: HTTP/1.1

	// Of an HTTP/1.1 exchange.
	br     *bufio.Reader
	tape   *Tape
	left   int64 // bytes of header that may still come
	given  int   // what of the tape the reader of the answer has
	got    bool  // something came
	failed error // of the last read

	// Guarded by the mutex of the transport.
	users int           // exchanges, of which HTTP/2 may have several
	place *list.Element // in the list of those that are idle; nil in use
	old   bool          // not for further requests

	quiet chan bool // gets one when watch ends: whether nothing came meanwhile
	one   [1]byte
}

// A host is the connections of one scheme, host and port.
type host struct {
	h2       *conn         // shared; nil: none
	idle     []*conn       // HTTP/1.1, the longest first
	speaks1  bool          // the last connection that was made speaks HTTP/1.1
	learning chan struct{} // closed when the first connection is made or not; nil: it is
	users    int           // connections in use or being made
}

func (t *Transport) maxHeader() int             { return cmp.Or(t.MaxHeader, DefaultMaxHeader) }
func (t *Transport) idleTimeout() time.Duration { return cmp.Or(t.IdleTimeout, DefaultIdleTimeout) }

// take gives a connection for a request: one that is open, unless it must be a fresh
// one, or one that it makes.
func (t *Transport) take(ctx context.Context, req *http.Request, fresh bool) (c *conn, reused bool, err error) {
	key := req.URL.Scheme + "://" + req.URL.Host
	for {
		t.mu.Lock()
		h := t.hosts[key]
		if h == nil {
			h = new(host)
			t.hosts[key] = h
		}
		h.users++ // so that it is not forgotten
		if c := t.open(h, fresh); c != nil {
			t.mu.Unlock()
			if c.h2 == nil && !c.wake() {
				t.mu.Lock()
				t.forget(c)
				t.mu.Unlock()
				c.Conn.Close()
				continue
			}
			return c, true, nil
		}
		learn := req.URL.Scheme == "https" && !t.HTTP1 && !h.speaks1
		if learn && h.learning != nil {
			learned := h.learning
			h.users--
			t.mu.Unlock()
			select {
			case <-learned:
				continue
			case <-ctx.Done():
				return nil, false, context.Cause(ctx)
			}
		}
		if learn {
			h.learning = make(chan struct{})
		}
		t.mu.Unlock()

		c, err := t.dial(ctx, req.URL)
		t.mu.Lock()
		if learn {
			close(h.learning)
			h.learning = nil
		}
		if err != nil {
			h.users--
			t.tidy(key, h)
		} else {
			c.key, c.users = key, 1
			h.speaks1 = c.h2 == nil
			if c.h2 != nil {
				if h.h2 != nil {
					t.retire(h.h2)
				}
				h.h2 = c
			}
		}
		t.mu.Unlock()
		return c, false, err
	}
}

// open is a connection of the host that can be used now; its use is counted. It is
// called with the mutex held.
func (t *Transport) open(h *host, fresh bool) *conn {
	if c := h.h2; c != nil {
		if !fresh && c.h2.Err() == nil {
			if c.users++; c.users > 1 {
				h.users-- // it is counted already
			} else {
				t.idle.Remove(c.place)
				c.place = nil
			}
			return c
		}
		t.retire(c)
	}
	if n := len(h.idle); n > 0 && !fresh {
		c := h.idle[n-1]
		h.idle = h.idle[:n-1]
		t.idle.Remove(c.place)
		c.place = nil
		c.users++
		return c
	}
	return nil
}

// retire takes an HTTP/2 connection out of use; who is at it may finish. It is called
// with the mutex held.
func (t *Transport) retire(c *conn) {
	h := t.hosts[c.key]
	if h != nil && h.h2 == c {
		h.h2 = nil
	}
	c.old = true
	if c.place != nil {
		t.drop(c)
	}
}

// forget ends one use of a connection. It is called with the mutex held.
func (t *Transport) forget(c *conn) {
	if c.users--; c.users > 0 {
		return
	}
	if h := t.hosts[c.key]; h != nil {
		h.users--
		t.tidy(c.key, h)
	}
}

// tidy forgets a host of which nothing is left. It is called with the mutex held.
func (t *Transport) tidy(key string, h *host) {
	if h.users == 0 && h.h2 == nil && len(h.idle) == 0 && h.learning == nil && t.hosts[key] == h {
		delete(t.hosts, key)
	}
}

// rest keeps an HTTP/1.1 connection for the next request.
func (t *Transport) rest(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.hosts[c.key]
	if len(h.idle) >= max(t.MaxIdlePerHost, 1) {
		t.forget(c)
		c.Conn.Close()
		return
	}
	c.quiet = make(chan bool, 1)
	c.SetDeadline(time.Time{})
	c.SetReadDeadline(time.Now().Add(t.idleTimeout()))
	h.idle = append(h.idle, c)
	c.place = t.idle.PushBack(c)
	c.users--
	h.users--
	go c.watch()
	t.crowd()
}

// leave ends the use of an HTTP/2 connection.
func (t *Transport) leave(c *conn, good bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !good && !c.old {
		t.retire(c)
	}
	if c.users > 1 {
		c.users--
		return
	}
	if c.old {
		t.forget(c)
		go c.h2.Close() // it may write
		return
	}
	c.users--
	t.hosts[c.key].users--
	c.place = t.idle.PushBack(c)
	t.crowd()
}

// crowd closes connections that have been idle for longest where there are too many. It
// is called with the mutex held.
func (t *Transport) crowd() {
	for t.idle.Len() > max(t.MaxIdle, 1) {
		t.drop(t.idle.Front().Value.(*conn))
	}
}

// drop closes an idle connection. It is called with the mutex held.
func (t *Transport) drop(c *conn) {
	t.idle.Remove(c.place)
	c.place = nil
	h := t.hosts[c.key]
	if c.h2 != nil {
		if h.h2 == c {
			h.h2 = nil
		}
		go c.h2.Close() // it may write
	} else {
		h.idle = slices.DeleteFunc(h.idle, func(other *conn) bool { return other == c })
		c.Conn.Close()
	}
	t.tidy(c.key, h)
}

// close ends an HTTP/1.1 connection that is in use.
func (c *conn) close() {
	c.Conn.Close()
	if c.br != nil {
		c.br.Reset(nil)
		c.t.readers.Put(c.br)
		c.br = nil
	}
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.t.forget(c)
}

// watch reads from an idle connection, on which nothing has a right to come: if
// anything does, be it the end, the connection is of no use. An answer that came before
// its request must not be taken for the one to the next.
func (c *conn) watch() {
	n, err := c.Conn.Read(c.one[:])
	c.quiet <- n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	if c.place != nil {
		c.t.drop(c)
	}
}

// wake ends the watch and tells whether the connection can be used.
func (c *conn) wake() bool {
	c.SetReadDeadline(past)
	if !<-c.quiet {
		return false
	}
	return c.SetDeadline(time.Time{}) == nil && !pending(c.Conn)
}
