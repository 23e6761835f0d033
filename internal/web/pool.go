package web

import (
	"container/list"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"time"
)

// A conn is a connection to a server, ready for requests.
type conn struct {
	net.Conn
	t          *Transport
	key        string           // key of the host in Transport.hosts
	ip         netip.Addr       // of the server; invalid if a proxy resolved the name
	protocols  []string         // for WARC-Protocol, such as "http/1.1" and "tls/1.3"
	unverified string           // why the certificate is invalid; "" if it is valid
	proxied    bool             // the peer is a proxy that speaks HTTP
	h2         *http.ClientConn // nil: HTTP/1.1

	// State of an HTTP/1.1 exchange.
	tape     *Tape
	left     int64 // bytes of header that are still allowed
	consumed int   // bytes of the tape that were parsed
	got      bool  // at least one byte of a response was received
	failed   error // error of the last read from the network

	// Guarded by the mutex of the transport.
	users   int           // number of exchanges; more than one only over HTTP/2
	place   *list.Element // in the list of idle connections; nil while in use
	retired bool          // must not be used for further requests

	silent chan bool // receives one value when watch ends: true if nothing arrived while idle
	peeked [1]byte
}

// A host holds the connections to one host and port with one scheme.
type host struct {
	h2    *conn   // the HTTP/2 connection, shared by all requests; nil if there is none
	idle  []*conn // HTTP/1.1, least recently used first
	users int     // number of connections that are in use or being opened
	http1 bool    // the server requires HTTP/1.1
}

// get returns a connection for a request: a new one if none is open or the request was sent before.
func (t *Transport) get(x *exchange, req *http.Request) (*conn, error) {
	key := req.URL.Scheme + "://" + req.URL.Host
	for {
		t.mu.Lock()
		h := t.hosts[key]
		if h == nil {
			h = new(host)
			t.hosts[key] = h
		}
		h.users++ // prevents deletion of h
		h.http1 = h.http1 || x.http1
		c, err := t.getOpen(x.ctx, h, x.sent > 0)
		if err != nil {
			h.users--
			t.deleteUnused(key, h)
			t.mu.Unlock()
			return nil, err
		}
		x.reused = c != nil
		if x.reused {
			t.mu.Unlock()
			if c.h2 == nil && !c.checkAlive() {
				t.mu.Lock()
				t.removeUser(c)
				t.mu.Unlock()
				c.Conn.Close()
				continue
			}
			return c, nil
		}
		protocols := []string{"h2", "http/1.1"}
		if t.HTTP1 || h.http1 {
			protocols = protocols[1:]
		}
		t.mu.Unlock()

		c, err = t.dial(x.ctx, req.URL, protocols)
		t.mu.Lock()
		if err != nil {
			h.users--
			t.deleteUnused(key, h)
		} else {
			c.key, c.users = key, 1
			if c.h2 != nil {
				if h.h2 != nil {
					t.retire(h.h2)
				}
				h.h2 = c
			}
		}
		t.mu.Unlock()
		return c, err
	}
}

// getOpen returns an open connection of the host, and counts its use. It returns nil if there
// is none or fresh is true, and the error of Admit. The mutex must be held.
func (t *Transport) getOpen(ctx context.Context, h *host, fresh bool) (*conn, error) {
	if c := h.h2; c != nil {
		if !fresh && c.h2.Err() == nil {
			if err := t.admit(ctx, c.ip); err != nil {
				return nil, err
			}
			if c.users++; c.users > 1 {
				h.users-- // get counted the connection a second time
			} else {
				t.idle.Remove(c.place)
				c.place = nil
			}
			return c, nil
		}
		t.retire(c)
	}
	if n := len(h.idle); n > 0 && !fresh {
		c := h.idle[n-1]
		if err := t.admit(ctx, c.ip); err != nil {
			return nil, err
		}
		h.idle = h.idle[:n-1]
		t.idle.Remove(c.place)
		c.place = nil
		c.users++
		return c, nil
	}
	return nil, nil
}

// retire prevents further requests on an HTTP/2 connection. The mutex must be held.
func (t *Transport) retire(c *conn) {
	h := t.hosts[c.key]
	if h != nil && h.h2 == c {
		h.h2 = nil
	}
	c.retired = true
	if c.place != nil {
		t.closeIdle(c)
	}
}

// removeUser ends one use of a connection. The mutex must be held.
func (t *Transport) removeUser(c *conn) {
	if c.users--; c.users > 0 {
		return
	}
	if h := t.hosts[c.key]; h != nil {
		h.users--
		t.deleteUnused(c.key, h)
	}
}

// deleteUnused deletes a host that has no connections. The mutex must be held.
func (t *Transport) deleteUnused(key string, h *host) {
	if h.users == 0 && h.h2 == nil && len(h.idle) == 0 && t.hosts[key] == h {
		delete(t.hosts, key)
	}
}

// putIdle keeps an HTTP/1.1 connection for another request. The mutex must be held.
func (t *Transport) putIdle(c *conn) {
	h := t.hosts[c.key]
	if len(h.idle) >= max(t.MaxIdlePerHost, 1) {
		t.removeUser(c)
		c.Conn.Close()
		return
	}
	c.silent = make(chan bool, 1)
	c.SetDeadline(time.Time{})
	c.SetReadDeadline(time.Now().Add(idleTimeout))
	h.idle = append(h.idle, c)
	c.place = t.idle.PushBack(c)
	c.users--
	h.users--
	go c.watch(c.place)
	t.evictIdle()
}

// release2 ends one use of an HTTP/2 connection. It retires the connection if reusable is false.
func (t *Transport) release2(c *conn, reusable bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !reusable && !c.retired {
		t.retire(c)
	}
	if c.users > 1 {
		c.users--
		return
	}
	if c.retired {
		t.removeUser(c)
		go c.h2.Close() // may block on a write
		return
	}
	c.users--
	t.hosts[c.key].users--
	c.place = t.idle.PushBack(c)
	t.evictIdle()
}

// evictIdle closes the longest idle connections until at most MaxIdle are left. The mutex must
// be held.
func (t *Transport) evictIdle() {
	for t.idle.Len() > max(t.MaxIdle, 1) {
		t.closeIdle(t.idle.Front().Value.(*conn))
	}
}

// closeIdle closes an idle connection. The mutex must be held.
func (t *Transport) closeIdle(c *conn) {
	t.idle.Remove(c.place)
	c.place = nil
	h := t.hosts[c.key]
	if c.h2 != nil {
		if h.h2 == c {
			h.h2 = nil
		}
		go c.h2.Close() // may block on a write
	} else {
		h.idle = slices.DeleteFunc(h.idle, func(other *conn) bool { return other == c })
		c.Conn.Close()
	}
	t.deleteUnused(c.key, h)
}

// close closes an HTTP/1.1 connection that is in use.
func (c *conn) close() {
	c.Conn.Close()
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.t.removeUser(c)
}

// watch reads from a connection while the connection is idle at place. Anything that is received
// then, including EOF, makes the connection unusable: data that arrived before a request must not
// be parsed as the response to that request.
func (c *conn) watch(place *list.Element) {
	n, err := c.Conn.Read(c.peeked[:])
	c.silent <- n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	if c.place == place { // otherwise c is in use, or idle again at another place
		c.t.closeIdle(c)
	}
}

// checkAlive ends watch, and reports whether the connection can still be used.
func (c *conn) checkAlive() bool {
	c.SetReadDeadline(past)
	if !<-c.silent {
		return false
	}
	return c.SetDeadline(time.Time{}) == nil && !pending(c.Conn)
}
