package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// names is a resolver of a few names.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, name string) (addrs []netip.Addr, err error) {
	for _, s := range n[name] {
		addrs = append(addrs, netip.MustParseAddr(s))
	}
	return addrs, nil
}

// A resolve is a resolver that calls a function.
type resolve func(ctx context.Context, name string) ([]netip.Addr, error)

func (r resolve) LookupNetIP(ctx context.Context, _, name string) ([]netip.Addr, error) {
	return r(ctx, name)
}

func TestCacheTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		var fails error
		c := &Cache{Resolver: resolve(func(ctx context.Context, name string) ([]netip.Addr, error) {
			asked++
			time.Sleep(time.Second)
			return []netip.Addr{netip.MustParseAddr("::ffff:192.0.2.1")}, fails
		})}
		look := func(name string, want error, times int) {
			t.Helper()
			addrs, err := c.LookupNetIP(t.Context(), "ip", name)
			if !errors.Is(err, want) || err == nil && (len(addrs) != 1 || addrs[0].String() != "192.0.2.1") || asked != times {
				t.Errorf("%s: %v, %v, asked %d times, want %d", name, addrs, err, asked, times)
			}
			if _, ok := errors.AsType[*net.DNSError](err); err != nil && !ok {
				t.Errorf("%s: %v is not a *net.DNSError", name, err)
			}
		}
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { look("a.test", nil, 1) })
		}
		wg.Wait()
		time.Sleep(NameTTL - time.Second)
		look("a.test", nil, 1)
		time.Sleep(time.Second)
		look("a.test", nil, 2)

		fails = errors.New("no such luck")
		look("b.test", fails, 3)
		time.Sleep(FailureTTL - time.Second)
		look("b.test", fails, 3)
		time.Sleep(time.Second)
		fails = nil
		look("b.test", nil, 4)
	})
}

func TestLookUpContinuesAfterItsCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Cache{Resolver: resolve(func(ctx context.Context, name string) ([]netip.Addr, error) {
			select {
			case <-time.After(5 * time.Second):
				return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.LookupNetIP(ctx, "ip", "a.test"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if addrs, err := c.LookupNetIP(t.Context(), "ip", "a.test"); len(addrs) != 1 || err != nil {
			t.Error(addrs, err)
		}
		if took := lookupTimeout; took < 5*time.Second {
			t.Error("lookupTimeout is too short for this test")
		}
	})
}

func TestLookUpTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Cache{Resolver: resolve(func(ctx context.Context, name string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})}
		_, err := c.LookupNetIP(t.Context(), "ip", "a.test")
		if dns, ok := errors.AsType[*net.DNSError](err); !ok || !dns.IsTimeout {
			t.Error(err)
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	asked := map[string]int{}
	c := &Cache{Resolver: resolve(func(_ context.Context, name string) ([]netip.Addr, error) {
		asked[name]++
		return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
	})}
	for i := range MaxNames + 1 {
		c.LookupNetIP(t.Context(), "ip", fmt.Sprint(i))
	}
	if len(c.names) != MaxNames || len(c.order) != MaxNames {
		t.Errorf("%d names, %d in order", len(c.names), len(c.order))
	}
	c.LookupNetIP(t.Context(), "ip", "1")
	c.LookupNetIP(t.Context(), "ip", "0")
	if asked["1"] != 1 || asked["0"] != 2 {
		t.Errorf("asked %d and %d times", asked["1"], asked["0"])
	}
}

func TestInterleave(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1":                                  "192.0.2.1",
		"::ffff:192.0.2.1 192.0.2.2":                 "192.0.2.1 192.0.2.2",
		"2001:db8::1 2001:db8::2 192.0.2.1":          "2001:db8::1 192.0.2.1 2001:db8::2",
		"192.0.2.1 192.0.2.2 2001:db8::1 192.0.2.3":  "192.0.2.1 2001:db8::1 192.0.2.2 192.0.2.3",
		strings.Repeat("192.0.2.1 ", 40) + "fe80::1": "192.0.2.1 fe80::1" + strings.Repeat(" 192.0.2.1", maxAddrs-2),
	} {
		var addrs, all []netip.Addr
		for s := range strings.FieldsSeq(in) {
			addrs = append(addrs, netip.MustParseAddr(s))
		}
		for s := range strings.FieldsSeq(want) {
			all = append(all, netip.MustParseAddr(s))
		}
		if got := interleave(addrs); !slices.Equal(got, all) {
			t.Errorf("%s: %v", in, got)
		}
	}
}

var errPrivate = errors.New("private")

// public is a guard that refuses private addresses.
func public(at netip.AddrPort) error {
	if a := at.Addr().Unmap(); a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() {
		return errPrivate
	}
	return nil
}

// DNS rebinding does not work: the address that the guard checks is the one that is
// connected to.
func TestGuardChecksEveryAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := [][]string{{"192.0.2.1"}, {"127.0.0.1"}, {"10.0.0.1", "192.0.2.2"}, {"fe80::1"}}
		n := 0
		var connected []string
		w := pipes(func(_ int, c net.Conn) {
			readRequest(bufio.NewReader(c))
			io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
		})
		dial := w.connect
		w.connect = func(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
			connected = append(connected, at.String())
			return dial(ctx, at)
		}
		w.Guard = public
		w.Resolver = &Cache{Resolver: resolve(func(context.Context, string) (addrs []netip.Addr, err error) {
			for _, s := range answers[n] {
				addrs = append(addrs, netip.MustParseAddr(s))
			}
			n++
			return addrs, nil
		})}
		for _, c := range []struct {
			url  string
			wait time.Duration
			err  error
		}{
			{"http://a.test/", 0, nil},
			{"http://a.test/", 0, nil}, // cached
			{"http://a.test/", NameTTL, errPrivate},
			{"http://a.test/", NameTTL, nil}, // by the second address
			{"http://a.test/", NameTTL, errPrivate},
			{"http://127.0.0.1/", 0, errPrivate},
			{"http://[::1]/", 0, errPrivate},
			{"http://[::ffff:10.0.0.1]/", 0, errPrivate},
			{"http://169.254.169.254/", 0, errPrivate},
		} {
			time.Sleep(c.wait)
			if _, _, err := get(t, w, c.url, new(Tape)); !errors.Is(err, c.err) || c.err == nil && err != nil {
				t.Errorf("%s: %v, want %v", c.url, err, c.err)
			}
		}
		if got := strings.Join(connected, " "); got != "192.0.2.1:80 192.0.2.1:80 192.0.2.2:80" {
			t.Errorf("connected to %s", got)
		}
	})
}

// Admit is asked before each connection to a server, and before each request on an open one.
func TestAdmitIsAskedBeforeEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		w := pipes(func(n int, c net.Conn) {
			made = n + 1
			for br := bufio.NewReader(c); readRequest(br) != ""; {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		})
		w.Resolver = names{"a.test": {"192.0.2.1", "192.0.2.2"}}
		var asked []string
		refused := errors.New("refused")
		var answer error
		w.Admit = func(ctx context.Context, a netip.Addr) error {
			if ctx.Value(askedKey{}) != "the request" {
				t.Error("the context is not that of the request")
			}
			asked = append(asked, a.String())
			return answer
		}
		fetch := func(want error) {
			t.Helper()
			req, err := http.NewRequestWithContext(context.WithValue(t.Context(), askedKey{}, "the request"), "GET", "http://a.test/", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := w.RoundTrip(req)
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%v, want %v", err, want)
			}
			if err == nil {
				resp.Body.Close()
			}
			synctest.Wait()
		}
		answer = refused
		fetch(refused) // before the first connection
		answer = nil
		fetch(nil)
		fetch(nil)
		answer = refused
		fetch(refused) // on the open connection
		answer = nil
		fetch(nil)
		if got := strings.Join(asked, " "); got != strings.TrimSpace(strings.Repeat("192.0.2.1 ", 5)) || made != 1 {
			t.Errorf("asked for %s, %d connections", got, made)
		}
		w.CloseIdleConnections()
		synctest.Wait()
		if len(w.hosts) != 0 {
			t.Errorf("%d hosts remain", len(w.hosts))
		}
	})
}

type askedKey struct{}

func TestNextAddressIsTriedAfterAFailure(t *testing.T) {
	w := respond("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	dial := w.connect
	w.Resolver = names{"a.test": {"192.0.2.1", "192.0.2.2"}, "b.test": {"192.0.2.1"}, "none.test": {}}
	refused := errors.New("refused")
	w.connect = func(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
		if at.Addr() == netip.MustParseAddr("192.0.2.1") {
			return nil, refused
		}
		return dial(ctx, at)
	}
	tape := new(Tape)
	if _, _, err := get(t, w, "http://a.test:8080/", tape); err != nil || tape.IP != "192.0.2.2" {
		t.Errorf("%v, from %s", err, tape.IP)
	}
	if _, _, err := get(t, w, "http://b.test/", tape); !errors.Is(err, refused) {
		t.Error(err)
	}
	_, _, err := get(t, w, "http://none.test/", tape)
	if dns, ok := errors.AsType[*net.DNSError](err); !ok || !dns.IsNotFound {
		t.Error(err)
	}
}
