package crawler

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"spoor/internal/archive"
	"spoor/internal/polite"
	"spoor/internal/testfile"
	"spoor/internal/wire"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // of the servers
	os.Exit(m.Run())
}

// An option changes the options of a crawl.
type option func(*Options)

// options returns those of a test: the defaults of the fetch command, changed.
func options(changes ...option) Options {
	o := Options{
		Version: "0", Agent: "spoor", Workers: 64, MaxBody: archive.DefaultBody, Seed: 1,
		Delay: polite.DefaultDelay, MaxDelay: polite.DefaultMaxDelay, Slowness: polite.DefaultSlowness,
		ConnectTimeout: 10 * time.Second, HeaderTimeout: 30 * time.Second, Timeout: time.Minute,
		MIME:  []string{"text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml"},
		Fault: func(string, error) {},
	}
	for _, change := range changes {
		change(&o)
	}
	return o
}

func allowPrivate(o *Options) { o.AllowPrivate = true }
func loopback(o *Options)     { o.AllowPrivate, o.Delay = true, 0 }
func contact(o *Options)      { o.Contact = "me@example.org" }
func withSitemaps(o *Options) { o.Sitemaps = true }
func strict(o *Options)       { o.Malformed = nil }

func delay(d time.Duration) option  { return func(o *Options) { o.Delay = d } }
func workers(n int) option          { return func(o *Options) { o.Workers = n } }
func maxBody(n int64) option        { return func(o *Options) { o.MaxBody = n } }
func warcTo(prefix string) option   { return func(o *Options) { o.WARC.Prefix = prefix } }
func dedup(dir string) option       { return func(o *Options) { o.Dedup = []string{dir} } }
func stateIn(dir string) option     { return func(o *Options) { o.State, o.RobotsDir = dir, dir } }
func robotsIn(dir string) option    { return func(o *Options) { o.RobotsDir = dir } }
func proxyAt(address string) option { return func(o *Options) { o.Proxy, _ = url.Parse(address) } }

// An outcome is what a run did and reported.
type outcome struct {
	Stats
	log string
}

// crawl runs a crawler from in to out, in which plain addresses stand for records.
func crawl(ctx context.Context, in io.Reader, out io.Writer, changes ...option) (_ outcome, err error) {
	var text bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&text, nil))
	o := options(append([]option{func(o *Options) {
		o.Warn = logger.Warn
		o.Malformed = func(err *wire.SyntaxError) { logger.Warn("malformed", "line", err.Line) }
	}}, changes...)...)
	c, err := Open(ctx, o)
	if err != nil {
		return outcome{log: text.String()}, err
	}
	records, w := io.Pipe()
	go func() {
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadBytes('\n')
			if address := bytes.TrimSpace(line); len(address) > 0 && address[0] != '{' {
				quoted, _ := json.Marshal(string(address))
				line = []byte(`{"v":1,"url":` + string(quoted) + "}\n")
			}
			if _, failed := w.Write(line); failed != nil || err != nil {
				w.CloseWithError(err)
				return
			}
		}
	}()
	stats, err := c.Run(ctx, wire.NewReader(records, wire.Address|wire.Fetch), out)
	err = errors.Join(err, c.Close())
	return outcome{stats, text.String()}, err
}

// fetchAll returns the records of a run, in order.
func fetchAll(t testing.TB, in string, changes ...option) ([]*wire.Record, outcome, error) {
	t.Helper()
	var out bytes.Buffer
	o, err := crawl(t.Context(), strings.NewReader(in), &out, changes...)
	return records(t, &out), o, err
}

// fetch returns the records of a run by URL.
func fetch(t testing.TB, in string, changes ...option) (map[string]*wire.Record, outcome) {
	t.Helper()
	recs, o, err := fetchAll(t, in, changes...)
	if err != nil {
		t.Fatalf("%v\n%s", err, o.log)
	}
	return byURL(recs), o
}

func records(t testing.TB, out io.Reader) (recs []*wire.Record) {
	t.Helper()
	for r := wire.NewReader(out, wire.All); ; {
		rec := new(wire.Record)
		if err := r.Read(rec); errors.Is(err, io.EOF) {
			return recs
		} else if err != nil {
			t.Fatalf("the output is malformed: %v", err)
		}
		recs = append(recs, rec)
	}
}

func byURL(recs []*wire.Record) map[string]*wire.Record {
	m := map[string]*wire.Record{}
	for _, r := range recs {
		m[r.URL] = r
	}
	return m
}

// replay answers addresses from archives, and returns the number of faults in them.
func replay(t testing.TB, in string, paths ...string) (map[string]*wire.Record, int64) {
	t.Helper()
	return replayUpTo(t, archive.DefaultBody, in, paths...)
}

func replayUpTo(t testing.TB, maxBody int64, in string, paths ...string) (map[string]*wire.Record, int64) {
	t.Helper()
	o := options()
	o.Archives, o.MaxBody, o.MIME = paths, maxBody, nil
	r, err := o.OpenReplay()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var recs []*wire.Record
	for address := range strings.Lines(in) {
		rec := &wire.Record{URL: strings.TrimSpace(address)}
		o.Answer(r, rec)
		recs = append(recs, rec)
	}
	return byURL(recs), r.Faults()
}

// allOf returns the records of all pages of an archive, and the number of faults in it.
func allOf(t testing.TB, path string) (recs []*wire.Record, faults int) {
	t.Helper()
	o := options()
	o.Archives, o.MIME = []string{path}, []string{"text/html", "application/xhtml+xml"}
	all, err := o.Responses(nil, []int{200})
	if err != nil {
		t.Fatal(err)
	}
	for rec, err := range all {
		if err != nil {
			faults++
			continue
		}
		recs = append(recs, rec.Clone())
	}
	return recs, faults
}

// unpack returns the content of a compressed WARC file.
func unpack(t testing.TB, name string) string {
	t.Helper()
	f := testfile.Open(t, name)
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// serve starts a server on loopback that ends with the test.
func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

// redirecting starts a server that redirects every page to the same path at another server.
func redirecting(t testing.TB, to string) *httptest.Server {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
		} else {
			http.Redirect(w, r, to+r.URL.Path, http.StatusFound)
		}
	})
}
