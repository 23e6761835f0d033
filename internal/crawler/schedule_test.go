package crawler

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"spoor/internal/polite"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// lines gives n lines, each made when it is read, and then tells so.
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

func TestWhatWaitsTakesNoMemoryForOldBodies(t *testing.T) {
	const number, size = 400, 200 << 10
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	read := make(chan struct{})
	var once sync.Once
	var before, after uint64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { // everything waits behind robots.txt
			<-read
			after = heap()
		})
	}))
	defer server.Close()
	body := strings.Repeat("old ", size/4)
	in := &lines{n: number, done: func() { close(read) }, line: func(i int) string {
		return fmt.Sprintf(`{"url":"%s/%d","mine":%d,"status_code":200,"body":"%s","text":"%[4]s"}`+"\n", server.URL, i, i, body)
	}}
	before = heap()
	var out strings.Builder
	if _, err := crawl(t.Context(), in, &out, loopback); err != nil {
		t.Fatal(err)
	}
	if grown := int64(after) - int64(before); grown > 16<<20 {
		t.Errorf("%d addresses that wait take %d bytes", number, grown)
	}
	if n := strings.Count(out.String(), `"mine":`); n != number || strings.Contains(out.String(), "old ") {
		t.Errorf("%d of %d records", n, number)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	line := func(h http.Header) (int, []wire.Values, int) {
		all, left := headers(h)
		var out strings.Builder
		w := wire.NewWriter(&out)
		if err := w.Write(&wire.Record{URL: "http://a.test/", Headers: all}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		return out.Len(), all, left
	}
	many := http.Header{}
	for i := range 50_000 {
		many[fmt.Sprintf("X-%d", i)] = []string{"y"}
	}
	for name, h := range map[string]http.Header{
		"one":        {"Set-Cookie": {strings.Repeat("x", 300<<10)}, "Content-Type": {"text/html"}},
		"one, twice": {"Set-Cookie": slices.Repeat([]string{strings.Repeat("x", 1<<10)}, 200), "Content-Type": {"text/html"}},
		"escaped":    {"X": {strings.Repeat("\x01", maxHeaders-100)}, "Y": {strings.Repeat("\x02", maxHeaders)}, "Content-Type": {"text/html"}},
		"no UTF-8":   {"X": {strings.Repeat("\xff\x01", 10<<10)}, "Content-Type": {"text/html"}},
		"empty":      {"X": make([]string, 200<<10), "Content-Type": {"text/html"}},
		"many":       many,
	} {
		n, all, left := line(h)
		if n > 256<<10 || left == 0 || left+len(all) != len(h) || len(all) > maxNames {
			t.Errorf("%s: %d headers left out of %d, a line of %d bytes", name, left, len(h), n)
		}
		if name != "many" && !slices.ContainsFunc(all, func(v wire.Values) bool { return v.Name == "content-type" }) {
			t.Errorf("%s: the short ones are gone", name)
		}
		if !slices.IsSortedFunc(all, func(a, b wire.Values) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%s: out of order", name)
		}
	}
	// Of many that are as long as others always the same are there.
	_, want, _ := line(many)
	for range 3 {
		if _, all, _ := line(maps.Clone(many)); !slices.EqualFunc(all, want, func(a, b wire.Values) bool { return a.Name == b.Name }) {
			t.Error("others are left out")
		}
	}
	if want[0].Name != "x-0" || len(want) != maxNames || want[maxNames-1].Name != "x-999" {
		t.Errorf("%d are there, %s to %s", len(want), want[0].Name, want[len(want)-1].Name)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", strings.Repeat("x", 100<<10))
		w.Header().Set("Location", "/"+strings.Repeat("x", 100<<10))
	}))
	defer server.Close()
	recs, _ := fetch(t, server.URL+"/page", loopback)
	if r := recs[server.URL+"/page"]; r.Error != "" || r.StatusCode != 200 || !strings.HasPrefix(r.ErrorDetail, "2 of 5 headers left out") {
		t.Errorf("%d %s %s", r.StatusCode, r.Error, r.ErrorDetail)
	}
}

func TestTheSeedIsThatOfTheJitter(t *testing.T) {
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

// failing is a web that is out of reach.
type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
