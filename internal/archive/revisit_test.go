package archive

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
)

// A written is a record that was written: its header without random values, and its block.
type written struct {
	kind, url string
	header    Header
	block     string
}

// recordsIn returns the records of all files in a directory, in order.
func recordsIn(t testing.TB, dir string) (all []written) {
	t.Helper()
	for _, name := range names(t, dir) {
		f := testfile.Open(t, filepath.Join(dir, name))
		for rec := range wholeRecords(t, f) {
			block, err := io.ReadAll(rec)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, written{rec.Type(), rec.TargetURI(), slices.Clone(rec.Header), string(block)})
		}
	}
	return all
}

// capturesIn returns the responses and revisits among them.
func capturesIn(t testing.TB, dir string) []written {
	t.Helper()
	return slices.DeleteFunc(recordsIn(t, dir), func(r written) bool { return r.kind != "response" && r.kind != "revisit" })
}

// referral returns what a record refers to.
func (r *written) referral() string {
	return strings.Join([]string{r.kind, r.header.Get("WARC-Refers-To-Target-URI"), r.header.Get("WARC-Refers-To-Date"), r.header.Get("WARC-Refers-To")}, " ")
}

// notModified returns an exchange with a response 304.
func notModified(url string) *Exchange {
	x := exchange(url, 0)
	x.Head = []byte("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n")
	x.NotModified = true
	return x
}

func TestRevisitOfEarlierProcess(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		dir := t.TempDir()
		o := testOptions(dir)
		o.Zstd = zstd
		o.MaxSize = 2500
		first := newWriter(t, o)
		write(t, first, exchange("http://example.com/a", 3000))
		b := exchange("http://example.com/b", 3000)
		write(t, first, b)
		write(t, first, exchange("http://example.com/c", 3000)) // in the next file
		first.Close()

		o.Random = nil
		second := newWriter(t, o)
		for i, url := range []string{"http://example.com/a", "http://example.com/b", "http://example.com/c"} {
			x := exchange(url, 3000)
			x.URL, x.Time = fmt.Sprint("http://example.com/again/", i), noon.Add(time.Hour)
			if at := write(t, second, x); !at.Revisit {
				t.Errorf("zstd=%t: %s is written twice", zstd, url)
			}
		}
		second.Close()
		if n := len(names(t, dir)); n < 2 {
			t.Errorf("zstd=%t: %d files", zstd, n)
		}
		all := capturesIn(t, dir)
		for i := range 3 {
			want := "revisit " + all[i].url + " " + all[i].header.Get("WARC-Date") + " " + all[i].header.Get("WARC-Record-ID")
			if diff := cmp.Diff(want, all[3+i].referral()); diff != "" {
				t.Error(diff)
			}
		}
		r := replay(t, dir)
		for i := range 3 {
			page, err := r.Fetch(fmt.Sprint("http://example.com/again/", i))
			if err != nil || len(page.Body) != 3000 {
				t.Fatalf("zstd=%t: %v", zstd, err)
			}
		}
	}
}

// TestNoRevisitOfMissingRecord removes, replaces and truncates the file that the list of
// captures refers to.
func TestNoRevisitOfMissingRecord(t *testing.T) {
	x := exchange("http://example.com/a", 3000)
	for what, spoil := range map[string]func(path string) error{
		"gone": os.Remove,
		"cut": func(path string) error {
			return os.Truncate(path, 700)
		},
		"rubbish": func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i := range data[600:] {
				data[600+i] = byte(i)
			}
			return os.WriteFile(path, data, 0o666)
		},
		"another file": func(path string) error {
			dir, err := os.MkdirTemp(filepath.Dir(path), "other")
			if err != nil {
				return err
			}
			w, err := NewWriter(testOptions(dir))
			if err != nil {
				return err
			}
			other := *x
			other.Body = []byte(strings.ReplaceAll(string(x.Body), "example", "elpmaxe"))
			if _, err := w.Write(&other); err != nil {
				return err
			}
			if err := w.Close(); err != nil {
				return err
			}
			if err := os.Rename(filepath.Join(dir, names(t, dir)[0]), path); err != nil {
				return err
			}
			return os.RemoveAll(dir)
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			o := testOptions(dir)
			o.MaxSize = 1 // so that nobody goes on with the file
			w := newWriter(t, o)
			at := write(t, w, x)
			w.Close()
			if err := spoil(filepath.Join(dir, at.Filename)); err != nil {
				t.Fatal(err)
			}
			w = newWriter(t, o)
			if at := write(t, w, x); at.Revisit {
				t.Error("it is referred to")
			}
			if at := write(t, w, x); !at.Revisit {
				t.Error("the second time it is not")
			}
			if at := write(t, w, notModified(x.URL)); !at.Revisit {
				t.Error("304 is no revisit")
			}
		})
	}
}

// TestNoRevisitOfOpenFile checks that the open file of another writer is not referred to: it
// may be lost in a crash of the machine.
func TestNoRevisitOfOpenFile(t *testing.T) {
	dir := t.TempDir()
	a, b := newWriter(t, testOptions(dir)), newWriter(t, testOptions(dir))
	x := exchange("http://example.com/", 3000)
	if write(t, a, x).Revisit || write(t, b, x).Revisit {
		t.Error("a revisit")
	}
}

func TestRevisitOfEarlierArchive(t *testing.T) {
	dir := t.TempDir()
	o := testOptions(dir)
	then := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	x := exchange("http://example.com/", 3000)
	var asked []string
	o.Known = func(url, digest string) (Original, bool) {
		asked = append(asked, url+" "+digest)
		return Original{"http://example.com/original", then, "<urn:x:1>"}, url == x.URL
	}
	w := newWriter(t, o)
	write(t, w, x)
	write(t, w, exchange("http://example.com/other", 3000))
	write(t, w, exchange("http://example.com/small", 30))
	write(t, w, notModified(x.URL))
	write(t, w, notModified("http://example.com/never"))
	w.Close()
	var got []string
	for _, r := range capturesIn(t, dir) {
		got = append(got, r.referral())
	}
	const original = "http://example.com/original 2020-01-02T03:04:05Z <urn:x:1>"
	want := []string{"revisit " + original, "response   ", "response   ", "revisit " + original, "revisit   "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantAsked := []string{
		x.URL + " " + Digest(x.Body),
		"http://example.com/other " + Digest(exchange("http://example.com/other", 3000).Body),
		"http://example.com/never ",
	}
	// The newest capture of the URL is a revisit in our own file, which refers to the original.
	if diff := cmp.Diff(wantAsked, asked); diff != "" {
		t.Error(diff)
	}
}

func TestNotModified(t *testing.T) {
	const url = "http://example.com/"
	at := func(x *Exchange, hours int) *Exchange {
		x.Time = noon.Add(time.Duration(hours) * time.Hour)
		return x
	}
	missing := exchange(url, 2000)
	missing.Head = []byte("HTTP/1.1 404 Not Found\r\n\r\n")
	same := exchange("http://example.com/twin", 5000)
	same.URL = url
	kept := exchange(url, 3000)
	kept.NoArchive = "robots meta tag"
	cut := exchange(url, 4000)
	cut.Truncated = "length"
	for _, c := range []struct {
		name string
		what []*Exchange
		want string // date, or all of the reference
	}{
		{"nothing before", nil, "revisit   "},
		{"a small page", []*Exchange{at(exchange(url, 10), 1)}, "13:00"},
		{"the newest of two", []*Exchange{at(exchange(url, 10), 1), at(exchange(url, 2000), 2)}, "14:00"},
		{"a page, then 404", []*Exchange{at(exchange(url, 10), 1), at(missing, 2)}, "13:00"},
		{"a page, then 304", []*Exchange{at(exchange(url, 10), 1), at(notModified(url), 2)}, "13:00"},
		{"a page, then one that was cut", []*Exchange{at(exchange(url, 10), 1), at(cut, 2)}, "14:00"},
		{"a page, then one that must not be kept", []*Exchange{at(exchange(url, 10), 1), at(kept, 2)}, "revisit   "},
		{"a page, then its twin", []*Exchange{at(exchange(url, 10), 1), at(exchange("http://example.com/twin", 5000), 2), at(same, 3)}, "http://example.com/twin 2026-11-20T14:00"},
		{"another page", []*Exchange{at(exchange("http://example.com/twin", 5000), 2)}, "revisit   "},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, x := range append(c.what, at(notModified(url), 9)) {
				w := newWriter(t, testOptions(dir)) // a process for each
				write(t, w, x)
				w.Close()
			}
			all := capturesIn(t, dir)
			last := all[len(all)-1]
			if got := last.referral(); !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
			for name, want := range map[string]string{
				"WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/server-not-modified", "WARC-Payload-Digest": "", "WARC-Truncated": "", "WARC-Date": "2026-11-20T21:00:00.000Z",
			} {
				if got := last.header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if !strings.HasPrefix(last.block, "HTTP/1.1 304 ") {
				t.Errorf("block %q", last.block)
			}
		})
	}
}

func TestNoArchive(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, testOptions(dir))
	x := exchange("http://example.com/secret", 3000)
	x.NoArchive = "X-Robots-Tag: noarchive"
	at := write(t, w, x)
	if diff := cmp.Diff(Location{Digest: Digest(x.Body)}, at); diff != "" {
		t.Error(diff)
	}
	w.Close()
	all := recordsIn(t, dir)
	if len(all) != 2 || all[1].kind != "metadata" || all[1].url != x.URL {
		t.Fatalf("%+v", all)
	}
	const want = "noarchive: X-Robots-Tag: noarchive\r\nvia: http://example.com/via\r\n"
	if !strings.HasPrefix(all[1].block, want) || strings.Contains(all[1].block, "secret\n") {
		t.Errorf("%q", all[1].block)
	}
	// Once it is allowed, it is written in full.
	w = newWriter(t, testOptions(dir))
	x.NoArchive = ""
	if write(t, w, x).Revisit {
		t.Error("a revisit of what is not there")
	}
}

func TestReplayNotModified(t *testing.T) {
	const url = "http://example.com/"
	dir := t.TempDir()
	w := newWriter(t, testOptions(dir))
	page, again := exchange(url, 10), notModified(url)
	again.Time = page.Time.Add(time.Hour)
	write(t, w, page)
	write(t, w, again)
	w.Close()
	got, err := replay(t, dir).Fetch(url)
	if err != nil {
		t.Fatal(err)
	}
	if got.StatusCode != 200 || got.Reason != "OK" || string(got.Body) != string(page.Body) || !got.Revisit || !got.Time.Equal(again.Time) || got.Header.Get("ETag") == "" {
		t.Errorf("%d %s, %q, %v, %v", got.StatusCode, got.Reason, got.Body, got.Time, got.Header)
	}
}
