package archive

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

// census reads all records of a file and describes them.
func census(t *testing.T, path string) string {
	t.Helper()
	f := testfile.Open(t, path)
	types, faults := tally(t, f)
	var words []string
	for kind, n := range types {
		words = append(words, fmt.Sprintf("%s %d", kind, n))
	}
	slices.Sort(words)
	for _, err := range faults {
		words = append(words, err.Error())
	}
	return strings.Join(words, ", ")
}

// tally counts the records of src by type, and collects the faults.
func tally(t testing.TB, src io.Reader) (types map[string]int, faults []error) {
	t.Helper()
	types = map[string]int{}
	for rec, err := range recordsOf(t, src) {
		if err != nil {
			faults = append(faults, err)
			continue
		}
		types[rec.Type()]++
	}
	return types, faults
}

func TestSharedFaultyArchives(t *testing.T) {
	files := map[string]string{
		"bad.arc": "response 1, at byte 0: length \"-1\" of an ARC record is no length, " +
			"at byte 134: length \"-1\" of an ARC record is no length, at byte 262: length \"abc\" of an ARC record is no length",
		"example.arc":                         "response 1, warcinfo 1",
		"example.arc.gz":                      "response 1, warcinfo 1",
		"example-space-in-url.arc":            "response 1, warcinfo 1, at byte 151: Content-Length is 1591 but the file ends after 1579 bytes",
		"example.warc":                        "request 2, response 1, revisit 1, warcinfo 2",
		"example.warc.gz":                     "request 2, response 1, revisit 1, warcinfo 2",
		"example-bad-non-chunked.warc.gz":     "request 2, response 1, revisit 1, warcinfo 2",
		"example-bad.warc.gz.bad":             "request 2, response 2, revisit 1, warcinfo 1",
		"example-digest.warc":                 "request 4",
		"example-iana.org-chunked.warc":       "request 1, response 1, warcinfo 1",
		"example-resource.warc.gz":            "resource 1, warcinfo 2",
		"example-space-in-target-uri.warc.gz": "resource 1, warcinfo 1",
		"example-trunc.warc":                  "request 1, response 1, warcinfo 2, at byte 1197: Content-Length is 973 but no record begins behind the block",
		"example-wget-bad-target-uri.warc.gz": "metadata 1, request 1, resource 2, response 1, warcinfo 1",
		"example-wrong-chunks.warc.gz":        "request 1, response 1",
		"post-test.warc.gz":                   "request 3, response 3",
	}
	const dir = "suites/warcio/test/data/"
	for _, name := range names(t, testfile.Shared(t, dir)) {
		t.Run(name, func(t *testing.T) {
			want, ok := files[name]
			if got := census(t, testfile.Shared(t, dir+name)); got != want || !ok {
				t.Errorf("read %s\nwant %s", got, want)
			}
		})
	}
}

func TestReplaySharedFaultyArchives(t *testing.T) {
	for _, c := range []struct {
		name, url string
		status    int
		body      string // begins with
		length    int
	}{
		{"example.arc", "http://example.com/", 200, "<!doctype html>", 1270},
		{"example.arc.gz", "http://example.com/", 200, "<!doctype html>", 1270},
		{"example-space-in-url.arc", "http://example.com/index.cfm?FuseAction=Email&EmailTitle=Examples From The Live Web&IsPopUp=False", 200, "<!doctype html>", 1271}, // torn, and taken to its end
		{"example.warc", "http://example.com/", 200, "<!doctype html>", 1270},
		{"example.warc.gz", "http://example.com/", 200, "<!doctype html>", 1270},
		{"example-bad-non-chunked.warc.gz", "http://example.com/", 200, "<!doctype html>", 1270},
		{"example-bad.warc.gz.bad", "http://example.com?example=1", 200, "<!doctype html>", 1270},
		{"example-bad.warc.gz.bad", "http://www.iana.org/domains/example", 302, "<!DOCTYPE HTML", 201},
		{"example-iana.org-chunked.warc", "http://www.iana.org/", 200, "<!doctype html>", 7223},
		{"example-resource.warc.gz", "http://example.com/", 200, "<!DOCTYPE html>", 1303},
		{"example-wget-bad-target-uri.warc.gz", "http://example.com/", 200, "<!doctype html>", 1270},
		{"example-wrong-chunks.warc.gz", "http://example.com/", 200, "<!doctype html>", 1270},
	} {
		t.Run(c.name+" "+c.url, func(t *testing.T) {
			r := replay(t, testfile.SharedLink(t, "suites/warcio/test/data/"+c.name))
			captures := r.Lookup(canonical(t, c.url))
			if len(captures) == 0 {
				t.Fatal("no capture")
			}
			for _, capture := range captures {
				page, err := r.Read(capture)
				if err != nil {
					t.Fatal(err)
				}
				if page.StatusCode != c.status || len(page.Body) != c.length || !strings.HasPrefix(string(page.Body), c.body) {
					t.Errorf("%+v\ngot status %d, %d bytes, %.40q", capture, page.StatusCode, len(page.Body), page.Body)
				}
			}
		})
	}
}

func TestPOSTIsNotIndexed(t *testing.T) {
	r := replay(t, testfile.SharedLink(t, "suites/warcio/test/data/post-test.warc.gz"))
	if c := r.Lookup("http://httpbin.org/post"); len(c) > 0 {
		t.Errorf("the answer to a POST would be given to GET: %+v", c)
	}
}

// TestReplaySharedWebs fetches every URL of the webs. The number of pages must be that of their
// README, and every redirect must end at a page.
func TestReplaySharedWebs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, c := range []struct {
		name                    string
		pages, redirects, fault int
	}{
		{"webs/webkb.warc.gz", 8189, 1387, 0},
		{"webs/planetmath.warc.gz", 5254, 0, 0},
	} {
		t.Run(filepath.Base(c.name), func(t *testing.T) {
			path := testfile.SharedLink(t, c.name)
			r := replay(t, path)
			pages, redirects, bytes := 0, 0, 0
			for page, err := range All([]string{path}, Filter{}, Limits{}) {
				if err != nil {
					t.Fatal(err)
				}
				if !r.Has(page.URL) {
					t.Fatalf("%s is not there", page.URL)
				}
				got, err := r.Fetch(page.URL)
				if err != nil {
					t.Fatalf("%s: %v after %v", page.URL, err, got.Hops)
				}
				switch page.StatusCode {
				case 200:
					pages++
					bytes += len(page.Body)
					if string(got.Body) != string(page.Body) || got.Offset != page.Offset || got.Length != page.Length || got.Digest != page.Digest {
						t.Fatalf("%s: asked for and read in order are two pages", page.URL)
					}
				case 301:
					redirects++
					// Three differ from their target only by an unnecessary escape: they have
					// the same canonical URL.
					if got.StatusCode != 200 {
						t.Fatalf("%s leads to %d %s", page.URL, got.StatusCode, got.URL)
					}
				}
			}
			if pages != c.pages || redirects != c.redirects {
				t.Errorf("%d pages and %d redirects, want %d and %d", pages, redirects, c.pages, c.redirects)
			}
			html := 0
			for _, err := range All([]string{path}, Filter{MIME: []string{"text/html"}, Status: []int{200}}, Limits{}) {
				if err != nil {
					t.Fatal(err)
				}
				html++
			}
			t.Logf("%d pages of %d bytes, %d of them HTML, %d redirects", pages, bytes, html, redirects)
			if html != c.pages {
				t.Errorf("%d pages of HTML, want %d", html, c.pages)
			}
		})
	}
}
