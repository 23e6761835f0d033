package web

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// A Resolver resolves names to addresses. It is called with the network "ip". *net.Resolver
// implements it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Limits of a [Cache].
const (
	MaxNames   = 10_000           // number of names; the oldest are dropped first
	NameTTL    = 5 * time.Minute  // how long addresses are cached; the system resolver does not return the TTL of DNS
	FailureTTL = 30 * time.Second // how long failures are cached

	lookupTimeout = 10 * time.Second
	maxAddrs      = 16 // number of addresses that are kept for one name
)

// A Cache is a [Resolver] that caches the answers of another one. Concurrent look-ups of a
// name share one query. A Cache is safe for concurrent use.
type Cache struct {
	Resolver Resolver // nil means the system's resolver

	mu    sync.Mutex
	names map[string]*lookup
	order []string // keys of names, oldest first
}

// A lookup holds the answer for one name. Its other fields are valid once ready is closed.
type lookup struct {
	ready   chan struct{}
	addrs   []netip.Addr
	err     error
	expires time.Time
}

// LookupNetIP implements [Resolver]. The caller must not modify the addresses.
func (c *Cache) LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error) {
	l := c.lookup(ctx, network, name)
	select {
	case <-l.ready:
		return l.addrs, l.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// lookup returns the current look-up of a name, and starts one if there is none. The look-up
// continues after ctx ends, because other callers may be waiting for the answer.
func (c *Cache) lookup(ctx context.Context, network, name string) *lookup {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, known := c.names[name]
	if known {
		select {
		case <-old.ready:
			if time.Now().Before(old.expires) {
				return old
			}
		default:
			return old
		}
	}
	l := &lookup{ready: make(chan struct{})}
	if c.names == nil {
		c.names = map[string]*lookup{}
	}
	c.names[name] = l
	if !known {
		c.order = append(c.order, name)
	}
	if len(c.order) > MaxNames {
		delete(c.names, c.order[0])
		c.order = c.order[1:]
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
	go func() {
		defer cancel()
		l.addrs, l.err = lookUp(ctx, c.Resolver, network, name)
		l.expires = time.Now().Add(NameTTL)
		if l.err != nil {
			l.expires = time.Now().Add(FailureTTL)
		}
		close(l.ready)
	}()
	return l
}

// lookUp queries a resolver. The error is a *net.DNSError.
func lookUp(ctx context.Context, r Resolver, network, name string) ([]netip.Addr, error) {
	if r == nil {
		r = net.DefaultResolver
	}
	addrs, err := r.LookupNetIP(ctx, network, name)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no addresses", Name: name, IsNotFound: true}
	}
	if _, ok := errors.AsType[*net.DNSError](err); err != nil && !ok {
		timeout := errors.Is(err, context.DeadlineExceeded)
		err = &net.DNSError{UnwrapErr: err, Err: err.Error(), Name: name, IsTimeout: timeout}
	}
	if err != nil {
		return nil, err
	}
	return interleave(addrs), nil
}

// interleave returns addresses in the order in which to try them: IPv6 and IPv4 alternately,
// starting with the family of the first address (RFC 8305, section 4).
func interleave(addrs []netip.Addr) []netip.Addr {
	var families [2][]netip.Addr
	first := addrs[0].Unmap().Is4()
	for _, a := range addrs {
		a = a.Unmap()
		n := 0
		if a.Is4() != first {
			n = 1
		}
		families[n] = append(families[n], a)
	}
	all := make([]netip.Addr, 0, min(len(addrs), maxAddrs))
	for i := 0; len(all) < min(len(addrs), maxAddrs); i++ {
		for _, f := range families {
			if i < len(f) && len(all) < maxAddrs {
				all = append(all, f[i])
			}
		}
	}
	return all
}
