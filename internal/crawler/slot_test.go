package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	"spoor/internal/wire"
)

// everywhere is a resolver that resolves every name to loopback.
type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func TestWaitingHostsHoldNoSlot(t *testing.T) {
	const hosts = 100
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var met sync.WaitGroup
	met.Add(hosts)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			defer met.Done()
		}
		fmt.Fprint(w, strings.Repeat("#", 64<<10))
	})
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := options(allowPrivate, contact, delay(time.Hour), workers(1))
	o.Resolver = everywhere{}
	f := newFetcher(&o, nil, nil)
	var fetching sync.WaitGroup
	for i := range hosts {
		fetching.Go(func() {
			rec := &wire.Record{URL: fmt.Sprintf("http://h%d.test:%s/", i, at.Port())}
			leave, err := f.fetch(ctx, rec, rec.SetBody)
			if err != nil || rec.Error != wire.ErrorBudget {
				t.Errorf("%s: %q, %v", rec.URL, rec.Error, err)
			}
			leave()
		})
	}
	met.Wait() // although there is one slot
	cancel()
	fetching.Wait()
}

func TestWrittenPagesAreFreed(t *testing.T) {
	pages, size := int64(64), 1<<20
	if testing.Short() {
		pages = 32
	}
	page := strings.Repeat("<p>page</p>\n", size/12)
	var asked, first, most atomic.Int64
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		switch n := asked.Add(1); {
		case n == pages/4: // the garbage of earlier tests has been freed
			first.Store(int64(m.HeapAlloc))
		case n > pages/4:
			most.Store(max(most.Load(), int64(m.HeapAlloc)))
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page)
	})
	var in strings.Builder
	for i := range pages {
		fmt.Fprintf(&in, "%s/%d\n", server.URL, i)
	}
	if _, err := crawl(t.Context(), strings.NewReader(in.String()), io.Discard, loopback, workers(1)); err != nil {
		t.Fatal(err)
	}
	if asked.Load() <= pages {
		t.Fatalf("%d pages were requested", asked.Load())
	}
	if grew := most.Load() - first.Load(); grew > pages*int64(size)/4 {
		t.Errorf("%d pages of %d bytes: the heap grew by %d bytes", pages, size, grew)
	}
}

// newSlot returns a slot whose request has just begun.
func newSlot(t *testing.T, f *fetcher) *slot {
	s := &slot{f: f}
	if err := s.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.tape.Start = time.Now()
	return s
}

func TestNoMemoryWithinTimeout(t *testing.T) {
	for after, want := range map[time.Duration]error{time.Second: nil, 3 * time.Second: errNoMemory} {
		synctest.Test(t, func(t *testing.T) {
			f := newFetcher(&Options{Timeout: 2 * time.Second, Workers: 2}, nil, nil)
			for range cap(f.memory.receiving) {
				f.memory.receiving <- struct{}{}
			}
			f.memory.overdraft <- struct{}{}
			go func() {
				time.Sleep(after)
				<-f.memory.receiving
			}()
			v := newSlot(t, f)
			if _, err := drain(t.Context(), strings.NewReader(strings.Repeat("x", 3*freeBody/2)), 2*freeBody-1, v); err != want {
				t.Errorf("memory after %v: %v, want %v", after, err, want)
			}
		})
	}
	if got := classify(t.Context(), fmt.Errorf("robots.txt: %w", errNoMemory)); got != wire.ErrorBudget {
		t.Errorf("the error is %s", got)
	}
}

// Only one sitemap at a time may be longer than a page; it does not deadlock with others.
func TestLongSitemapsAreReceivedOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFetcher(&Options{Timeout: time.Hour, Workers: 2, MaxBody: 1 << 20}, nil, nil).forSitemaps()
		first, second := newSlot(t, f), newSlot(t, f)
		for _, v := range []*slot{first, second} {
			if err := v.reserve(t.Context(), archive.DefaultBody); err != nil || v.overdraft {
				t.Fatalf("as long as a page: overdraft %v, %v", v.overdraft, err)
			}
		}
		if err := first.reserve(t.Context(), sitemap.MaxSize); err != nil || !first.overdraft {
			t.Fatalf("as long as may be: overdraft %v, %v", first.overdraft, err)
		}
		var done sync.WaitGroup
		done.Go(func() {
			if err := errors.Join(second.reserve(t.Context(), sitemap.MaxSize), second.reserveDecoding(t.Context())); err != nil || second.decoding != maxDecoding {
				t.Errorf("the second: %v, %d decoding tokens", err, second.decoding)
			}
			second.release()
		})
		synctest.Wait()
		if second.overdraft {
			t.Error("two overdrafts at a time")
		}
		if err := first.reserveDecoding(t.Context()); err != nil || first.decoding != maxDecoding {
			t.Errorf("the first: %v, %d decoding tokens", err, first.decoding)
		}
		first.release()
		done.Wait()
		if n := len(f.memory.receiving) + len(f.memory.overdraft) + len(f.memory.decoding); n != 0 {
			t.Errorf("%d tokens are lost", n)
		}
	})
}
