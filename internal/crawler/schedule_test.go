package crawler

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"spoor/internal/polite"
	"spoor/internal/weburl"
)

// lines is a reader of n lines, each made when it is read, that calls done at the end.
type lines struct {
	n, i int
	line func(i int) string
	rest string
	done func()
}

func (l *lines) Read(p []byte) (int, error) {
	if l.rest == "" {
		if l.i == l.n {
			l.done()
			return 0, io.EOF
		}
		l.rest = l.line(l.i)
		l.i++
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func TestWaitingRecordsHaveNoBodies(t *testing.T) {
	number, size := 400, 200<<10
	if testing.Short() {
		number = 200
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	read := make(chan struct{})
	var once sync.Once
	var before, after uint64
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { // all pages wait for robots.txt
			<-read
			after = heap()
		})
	})
	body := strings.Repeat("old ", size/4)
	in := &lines{n: number, done: func() { close(read) }, line: func(i int) string {
		return fmt.Sprintf(`{"url":"%s/%d","mine":%d,"status_code":200,"body":"%s","text":"%[4]s"}`+"\n", server.URL, i, i, body)
	}}
	before = heap()
	var out strings.Builder
	if _, err := crawl(t.Context(), in, &out, loopback); err != nil {
		t.Fatal(err)
	}
	if grown := int64(after) - int64(before); grown > int64(number*size/5) {
		t.Errorf("%d waiting addresses take %d bytes", number, grown)
	}
	if n := strings.Count(out.String(), `"mine":`); n != number || strings.Contains(out.String(), "old ") {
		t.Errorf("%d of %d records", n, number)
	}
}

func TestSeedDeterminesJitter(t *testing.T) {
	u, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	held := func(seed uint64) time.Duration {
		o := options(func(o *Options) { o.Seed = seed })
		var held time.Duration
		synctest.Test(t, func(t *testing.T) {
			f := newFetcher(&o, nil, nil)
			f.polite.Base = failing{}
			resp, err := f.polite.RoundTrip(polite.NewRequest(t.Context(), u))
			if err == nil {
				resp.Body.Close()
				t.Fatal("an answer")
			}
			held = time.Until(f.polite.HeldUntil("a.test"))
		})
		return held
	}
	if a, b, again := held(1), held(2), held(1); a == b || a != again {
		t.Errorf("held for %v, %v, and with the first seed again %v", a, b, again)
	}
}

// failing is a transport that always fails.
type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
