package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"spoor/internal/archive"
	"spoor/internal/sitemap"
	"spoor/internal/web"
	"spoor/internal/wire"
)

// everywhere resolves every name to loopback.
type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func TestWhoWaitsForItsTurnHasNoPlace(t *testing.T) {
	const hosts = 100
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
	met.Wait() // though one at a time can be asked
	cancel()
	fetching.Wait()
}

func TestPagesThatWereWrittenTakeNoMemory(t *testing.T) {
	const pages, size = 64, 1 << 20
	page := strings.Repeat("<p>page</p>\n", size/12)
	var asked, first, most atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		switch n := asked.Add(1); {
		case n == pages/4: // what earlier tests have left is gone by then
			first.Store(int64(m.HeapAlloc))
		case n > pages/4:
			most.Store(max(most.Load(), int64(m.HeapAlloc)))
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page)
	}))
	defer server.Close()
	var in strings.Builder
	for i := range pages {
		fmt.Fprintf(&in, "%s/%d\n", server.URL, i)
	}
	if err := run(append(loopback, "-j", "1"), strings.NewReader(in.String()), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if asked.Load() <= pages {
		t.Fatalf("%d pages were asked for", asked.Load())
	}
	if grew := most.Load() - first.Load(); grew > pages*size/4 {
		t.Errorf("after %d pages of %d bytes there were %d bytes more", pages, size, grew)
	}
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
			v := &visit{f: f, tape: &web.Tape{Start: time.Now()}}
			if _, err := drain(t.Context(), strings.NewReader(strings.Repeat("x", 3*freeBody/2)), 2*freeBody-1, v); err != want {
				t.Errorf("memory after %v: %v, want %v", after, err, want)
			}
		})
	}
	if got := classify(t.Context(), fmt.Errorf("robots.txt: %w", errCrowded)); got != wire.ErrorBudget {
		t.Errorf("the error is %s", got)
	}
}

// Memory of sitemaps that are longer than pages is had by one at a time, which waits for
// nobody who waits for it.
func TestOneLongSitemapIsReceivedAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFetcher(&options{timeout: time.Hour, workers: 1, maxBody: 1 << 20}, nil, nil).forSitemaps()
		first, second := &visit{f: f, tape: &web.Tape{Start: time.Now()}}, &visit{f: f, tape: &web.Tape{Start: time.Now()}}
		for _, v := range []*visit{first, second} {
			if err := v.grow(t.Context(), archive.DefaultBody); err != nil || v.debt {
				t.Fatalf("as long as a page: on debt %v, %v", v.debt, err)
			}
		}
		if err := first.grow(t.Context(), sitemap.MaxSize); err != nil || !first.debt {
			t.Fatalf("as long as may be: on debt %v, %v", first.debt, err)
		}
		var done sync.WaitGroup
		done.Go(func() {
			if err := errors.Join(second.grow(t.Context(), sitemap.MaxSize), second.weigh(t.Context())); err != nil || second.heavy != maxHeavy {
				t.Errorf("the second: %v, %d heavy places", err, second.heavy)
			}
			second.leave()
		})
		synctest.Wait()
		if second.debt {
			t.Error("two at a time")
		}
		if err := first.weigh(t.Context()); err != nil || first.heavy != maxHeavy {
			t.Errorf("the first: %v, %d heavy places", err, first.heavy)
		}
		first.leave()
		done.Wait()
		if n := len(f.memory) + len(f.debt) + len(f.heavy); n != 0 {
			t.Errorf("%d places are lost", n)
		}
	})
}
