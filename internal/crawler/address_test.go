package crawler

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"spoor/internal/polite"
	"spoor/internal/wire"
)

// socksTo returns the URL of a SOCKS5 proxy (RFC 1928) that sends everything to one server.
func socksTo(t *testing.T, server string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(c net.Conn) {
		defer c.Close()
		in := bufio.NewReader(c)
		io.CopyN(io.Discard, in, 3) // version and one method
		io.WriteString(c, "\x05\x00")
		io.CopyN(io.Discard, in, 4+4+2) // the request with an IPv4 address
		to, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		defer to.Close()
		io.WriteString(c, "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
		go io.Copy(to, in)
		io.Copy(c, to)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return "socks5://" + l.Addr().String()
}

// Names with one address, as from a wildcard in DNS, must not direct a flood at the server there. Nor must
// requests on connections that are open already.
func TestAllNamesOfAnAddressShareItsRate(t *testing.T) {
	const hosts, pages, perSecond = 20, 2, 100
	var requests atomic.Int32
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		fmt.Fprint(w, "<p>page")
	})
	var in strings.Builder
	names := webOf{}
	for i := range hosts {
		name := fmt.Sprintf("n%d.wild.example", i)
		names[name] = "8.8.8.8"
		for j := range pages {
			fmt.Fprintf(&in, "http://%s/%d\n", name, j)
		}
	}
	through := []option{contact, delay(time.Millisecond), workers(4), proxyAt(socksTo(t, server.Listener.Addr().String())), func(o *Options) {
		o.Resolver, o.AddressRate, o.Slowness = names, perSecond, 0
	}}
	begun := time.Now()
	recs, _ := fetch(t, in.String(), through...)
	took := time.Since(begun)
	for url, rec := range recs {
		if rec.StatusCode != 200 || rec.IP != "8.8.8.8" {
			t.Errorf("%s: %d %s %s from %s", url, rec.StatusCode, rec.Error, rec.ErrorDetail, rec.IP)
		}
	}
	n := requests.Load()
	if len(recs) != hosts*pages || n != hosts*(pages+1) { // with robots.txt
		t.Errorf("%d records, %d requests", len(recs), n)
	}
	if least := time.Duration(n-1) * time.Second / perSecond; took < least {
		t.Errorf("took %v, not %v", took, least)
	}
}

// While requests wait for their turn, the only slot is free for other hosts, and a signal ends them.
func TestRequestsThatWaitForTheirTurnHoldNoSlot(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<p>page") })
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	o := options(contact, delay(time.Millisecond), workers(1), proxyAt(socksTo(t, server.Listener.Addr().String())), func(o *Options) {
		o.Resolver = webOf{"busy1.example": "8.8.8.8", "busy2.example": "8.8.8.8", "free.example": "8.8.4.4"}
		o.AddressRate, o.AddressBurst, o.Slowness = 0.02, 2, 0
	})
	f := newFetcher(&o, nil, nil)
	get := func(address string) *wire.Record {
		rec := &wire.Record{URL: address}
		leave, err := f.fetch(ctx, rec, rec.SetBody)
		if err != nil {
			t.Error(err)
		}
		leave()
		return rec
	}
	if rec := get("http://busy1.example/"); rec.StatusCode != 200 { // with robots.txt, the burst
		t.Errorf("%+v", rec)
	}
	ended := make(chan *wire.Record)
	later := make(chan struct{})
	f.web.Admit = func(ctx context.Context, a netip.Addr) error {
		err := f.admit(ctx, a)
		if _, ok := errors.AsType[*laterError](err); ok {
			close(later)
		}
		return err
	}
	go func() { ended <- get("http://busy2.example/") }() // its turn is in 50 s
	<-later
	if rec := get("http://free.example/"); rec.StatusCode != 200 {
		t.Errorf("%+v", rec)
	}
	cancel(stopped)
	if rec := <-ended; rec.Error == "" || rec.StatusCode != 0 {
		t.Errorf("%+v", rec)
	}
	if len(f.slots) != 1 {
		t.Errorf("%d slots are free", len(f.slots))
	}
}

// A turn that is too far away costs the host neither a pause nor a hold.
func TestAHostWhoseTurnIsTooLateIsReturned(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<p>page") })
	o := options(contact, delay(time.Millisecond), proxyAt(socksTo(t, server.Listener.Addr().String())), func(o *Options) {
		o.Resolver = webOf{"a.example": "8.8.8.8", "b.example": "8.8.8.8"}
		o.AddressRate, o.AddressBurst, o.Slowness = 0.01, 3, 0
	})
	f := newFetcher(&o, nil, nil)
	for _, test := range []struct{ url, want string }{
		{"http://a.example/", ""}, {"http://b.example/", wire.ErrorBudget}, {"http://b.example/", wire.ErrorBudget},
	} {
		rec := &wire.Record{URL: test.url}
		leave, err := f.fetch(t.Context(), rec, rec.SetBody)
		if err != nil {
			t.Fatal(err)
		}
		leave()
		if rec.Error != test.want || (rec.Error == "") != (rec.NotBefore == "") {
			t.Errorf("%s: %q, %s, not before %q", test.url, rec.Error, rec.ErrorDetail, rec.NotBefore)
		}
		if held := f.polite.HeldUntil("b.example"); !held.IsZero() {
			t.Errorf("the host is held until %v", held)
		}
	}
}

func TestTurnsAtAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(func(o *Options) { o.AddressRate, o.AddressBurst = 10, 5 })
		f := newFetcher(&o, nil, nil)
		admit := func(a string, end time.Time) (wait time.Duration, held bool) {
			request := &turns{end: end}
			ctx := context.WithValue(t.Context(), turnsKey{}, request)
			err := f.admit(ctx, netip.MustParseAddr(a))
			if later, ok := errors.AsType[*laterError](err); ok {
				wait, err = time.Until(later.at), f.admit(ctx, netip.MustParseAddr(a)) // the turn is reserved
			}
			if hold, ok := errors.AsType[*polite.HoldError](err); ok {
				return time.Until(hold.Until), true
			} else if err != nil {
				t.Errorf("%s: %v", a, err)
			}
			return wait, false
		}
		for _, a := range []string{"8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "8.8.8.8"} {
			if wait, held := admit(a, time.Time{}); wait != 0 || held {
				t.Errorf("the first requests to %s wait for %v, %v", a, wait, held)
			}
		}
		for i := range 600 {
			if wait, held := admit("8.8.8.8", time.Time{}); held || wait.Round(time.Millisecond) != time.Duration(i+1)*100*time.Millisecond {
				t.Fatalf("request %d waits for %v, %v", i, wait, held)
			}
		}
		for range 1000 {
			if wait, held := admit("8.8.8.8", time.Time{}); !held || wait < maxTurn || wait > maxTurn+time.Second {
				t.Fatalf("a request that is too late: %v, %v", wait, held)
			}
		}
		time.Sleep(30 * time.Second)
		if wait, held := admit("8.8.8.8", time.Now().Add(time.Second)); !held {
			t.Errorf("a request whose turn is after its deadline: %v", wait)
		}
		for _, a := range []string{"8.8.4.4", "2606:4700::1111", "10.0.0.1", "127.0.0.1", "fe80::1%eth0"} {
			if wait, held := admit(a, time.Now()); wait != 0 || held {
				t.Errorf("%s waits for %v, %v", a, wait, held)
			}
		}
		for range 1000 {
			if wait, held := admit("10.0.0.1", time.Time{}); wait != 0 || held {
				t.Fatal("a private address has a rate")
			}
		}
	})
}
