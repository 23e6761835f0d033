package page

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/archive"
	"spoor/internal/testfile"
	"spoor/internal/wire"
)

// The tests of this file read archives of real webs, which are not part of the project. They
// are in ../shared, or in $SPOOR_SHARED.

// slow skips a long test with -short, and with the race detector, which takes minutes and
// finds nothing in a single goroutine.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long test")
	}
	if racing {
		t.Skip("the race detector is on (make test runs this test without it)")
	}
}

// unzip opens a gzip file of one or several members.
func unzip(tb testing.TB, path string) *bufio.Reader {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		tb.Fatal(err)
	}
	return bufio.NewReaderSize(z, 1<<20)
}

// archived calls f for each response with status 200 in a WARC file.
func archived(tb testing.TB, path string, f func(Document)) {
	tb.Helper()
	for p, err := range archive.All([]string{path}, archive.Filter{Status: []int{200}}, archive.Limits{}) {
		if err != nil {
			tb.Fatal(err)
		}
		contentType := p.Header.Get("Content-Type")
		_, charset, _ := strings.Cut(contentType, "charset=")
		f(Document{URL: p.Target, ContentType: contentType, Charset: charset, Body: bytes.Clone(p.Body)})
	}
}

var (
	indexPage = regexp.MustCompile(`(?i)/(index|home|default|welcome)\.html?$`)
	slashes   = regexp.MustCompile(`/+`)
)

// judged returns the identity of a URL in the graphs of the shared data: no scheme, no index
// page, and case ignored in the path.
func judged(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	host := strings.ToLower(u.Hostname())
	if p := u.Port(); p != "" && p != "80" && p != "443" {
		host += ":" + p
	}
	path := u.Path
	if path == "" {
		path = "/"
	}
	path = indexPage.ReplaceAllString(path, "/")
	path = slashes.ReplaceAllString(path, "/")
	if len(path) > 1 {
		path = strings.TrimRight(path, "/")
	}
	path = strings.ToLower(path)
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return host + path
}

// TestOutLinksAgreeWithJudge compares links with the graphs of the shared data, which a parser
// in another language made from the same archives.
//
// Where they differ, this package follows browsers: "--!>" ends a comment, ".." above the root
// and empty path segments are resolved by the URL standard, and "<! … !>" ends at the first
// ">".
func TestOutLinksAgreeWithJudge(t *testing.T) {
	slow(t)
	for _, web := range []string{"webkb", "planetmath"} {
		t.Run(web, func(t *testing.T) {
			var graph struct {
				Out map[string][]string `json:"out"`
			}
			if err := json.NewDecoder(unzip(t, testfile.Shared(t, "webs/"+web+".graph.json.gz"))).Decode(&graph); err != nil {
				t.Fatal(err)
			}
			pages, differ, links := 0, 0, 0
			x := NewExtractor()
			archived(t, testfile.Shared(t, "webs/"+web+".warc.gz"), func(doc Document) {
				key := judged(doc.URL)
				theirs, ok := graph.Out[key]
				if !ok {
					return
				}
				pages++
				c := x.Extract(doc)
				if c.Flat {
					t.Errorf("%s is read without a tree", doc.URL)
				}
				var ours []string
				for _, l := range c.Links {
					k := judged(l.URL)
					if _, inside := graph.Out[k]; inside && k != key {
						ours = append(ours, k)
					}
				}
				slices.Sort(ours)
				ours = slices.Compact(ours)
				theirs = slices.Sorted(slices.Values(theirs))
				links += len(theirs)
				if !slices.Equal(ours, theirs) {
					differ++
					t.Logf("%s: only ours %q, only theirs %q", doc.URL, without(ours, theirs), without(theirs, ours))
				}
			})
			t.Logf("%d pages, %d links, %d pages differ (%.2f %% agree)", pages, links, differ, 100*(1-float64(differ)/float64(pages)))
			if differ*200 > pages {
				t.Errorf("%d of %d pages differ, more than 0.5 %%", differ, pages)
			}
		})
	}
}

// without returns the elements of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// TestWebsAgreeWithTree compares all content of real pages with that by the tree of
// golang.org/x/net/html.
func TestWebsAgreeWithTree(t *testing.T) {
	slow(t)
	for _, web := range []string{"webkb", "planetmath", "modern"} {
		t.Run(web, func(t *testing.T) {
			var pages, links, size, outlined, outlinedSize, hasFrames, differ int
			var reasons [numReorderings]int
			x := NewExtractor()
			archived(t, testfile.Shared(t, "webs/"+web+".warc.gz"), func(doc Document) {
				c := x.Extract(doc)
				check(t, c)
				if c.Charset == "" {
					return // no text
				}
				pages++
				size += len(doc.Body)
				links += len(c.Links)
				if c.Flat {
					t.Errorf("%s: no tree", doc.URL)
				}
				if o := x.construction.outline; o != nil {
					reasons[o.why]++
					outlined++
					outlinedSize += len(doc.Body)
				}
				if x.construction.frames {
					hasFrames++
				}
				if want, ok := byTree(&doc, x); !ok || !reflect.DeepEqual(want, c) {
					differ++
					t.Errorf("%s (-tree +scan):\n%.2000s", doc.URL, cmp.Diff(want, c, cmp.AllowUnexported(wire.Link{})))
				}
			})
			t.Logf("%d pages, %.1f MB, %d links; with nodes %d pages (%.1f %%, %.1f %% of the bytes): %d something before a table, %d formatting across blocks, %d attributes that come late; frames %d; differing %d",
				pages, float64(size)/1e6, links, outlined, 100*float64(outlined)/float64(pages), 100*float64(outlinedSize)/float64(size),
				reasons[fostered], reasons[adopted], reasons[lateAttrs], hasFrames, differ)
		})
	}
}
