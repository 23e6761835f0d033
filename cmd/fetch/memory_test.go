package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"spoor/internal/web"
	"spoor/internal/wire"
)

// everywhere resolves every name to loopback.
type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func TestWhoWaitsForItsTurnHasNoBuffers(t *testing.T) {
	const hosts = 100
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it empties pools
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var met sync.WaitGroup
	met.Add(hosts)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			defer met.Done()
		}
		fmt.Fprint(w, strings.Repeat("#", 64<<10))
	}))
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	o, err := parseFlags([]string{"-allow-private", "-contact", "a@b.example", "-delay", "1h", "-j", "1"}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	o.resolver = everywhere{}
	f := newFetcher(o, nil, nil)
	var made atomic.Int64
	f.buffers.New = func() any {
		made.Add(1)
		return new(buffers)
	}
	var fetching sync.WaitGroup
	for i := range hosts {
		fetching.Go(func() {
			rec := &wire.Record{URL: fmt.Sprintf("http://h%d.test:%s/", i, at.Port())}
			leave, err := f.fetch(ctx, rec)
			if err != nil || rec.Error != wire.ErrorBudget {
				t.Errorf("%s: %q, %v", rec.URL, rec.Error, err)
			}
			leave()
		})
	}
	met.Wait()
	if n := made.Load(); n > hosts*3/4 {
		t.Errorf("%d hosts, one of which is asked at a time, have %d buffers", hosts, n)
	}
	cancel()
	fetching.Wait()
}

func TestAnAnswerForWhichThereIsNoMemoryInTimeIsNoFaultOfItsHost(t *testing.T) {
	for after, want := range map[time.Duration]error{time.Second: nil, 3 * time.Second: errCrowded} {
		synctest.Test(t, func(t *testing.T) {
			f := newFetcher(&options{timeout: 2 * time.Second, workers: 1}, nil, nil)
			for range cap(f.memory) {
				f.memory <- struct{}{}
			}
			f.debt <- struct{}{}
			go func() {
				time.Sleep(after)
				<-f.memory
			}()
			v := &visit{f: f, buffers: &buffers{tape: web.Tape{Start: time.Now()}}}
			if _, err := drain(t.Context(), strings.NewReader(strings.Repeat("x", 3*freeBody/2)), 2*freeBody-1, v); err != want {
				t.Errorf("memory after %v: %v, want %v", after, err, want)
			}
		})
	}
	if got := classify(t.Context(), fmt.Errorf("robots.txt: %w", errCrowded)); got != wire.ErrorBudget {
		t.Errorf("the error is %s", got)
	}
}
