package crawler

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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

// Names with one address, as from a wildcard in DNS, must not direct a flood at the server there.
func TestAllNamesOfAnAddressShareItsRate(t *testing.T) {
	const hosts, perSecond = 40, 100
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		fmt.Fprint(w, "<p>page")
	}))
	defer server.Close()
	var in strings.Builder
	names := webOf{}
	for i := range hosts {
		name := fmt.Sprintf("n%d.wild.example", i)
		names[name] = "8.8.8.8"
		fmt.Fprintf(&in, "http://%s/\n", name)
	}
	through := []option{contact, delay(time.Millisecond), proxyAt(socksTo(t, server.Listener.Addr().String())), func(o *Options) {
		o.Resolver, o.AddressRate, o.Slowness = names, perSecond, 0
	}}
	begun := time.Now()
	if recs, _ := fetch(t, in.String(), through...); len(recs) != hosts {
		t.Errorf("%d records", len(recs))
	}
	took := time.Since(begun)
	if n := requests.Load(); n != 2*hosts { // robots.txt and the page
		t.Errorf("%d requests", n)
	}
	if least := (2*hosts - addressBurst) * time.Second / perSecond; took < least {
		t.Errorf("took %v, not %v", took, least)
	}
}

func TestOnlyPublicAddressesHaveARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(func(o *Options) {
			o.AddressRate = 10
			o.Resolver = webOf{"a.example": "8.8.8.8", "b.example": "8.8.8.8", "c.example": "8.8.4.4", "inside.example": "10.0.0.1"}
		})
		f := newFetcher(&o, nil, nil)
		times := func(n int, address string) time.Duration {
			begun := time.Now()
			for range n {
				u, err := url.Parse(address)
				if err != nil {
					t.Fatal(err)
				}
				if err := f.awaitAddresses(t.Context(), u); err != nil {
					t.Fatal(err)
				}
			}
			return time.Since(begun)
		}
		for _, test := range []struct {
			n       int
			address string
			want    time.Duration
		}{
			{addressBurst, "http://a.example/", 0},
			{10, "http://b.example/", time.Second},
			{addressBurst, "http://c.example/", 0},
			{10, "http://8.8.4.4/", time.Second},
			{1000, "http://inside.example/", 0},
			{1000, "http://127.0.0.1/", 0},
			{1000, "http://localhost/", 0}, // webOf says 127.0.0.1
		} {
			if took := times(test.n, test.address); took.Round(time.Millisecond) != test.want {
				t.Errorf("%d requests to %s took %v, not %v", test.n, test.address, took, test.want)
			}
		}
	})
}
