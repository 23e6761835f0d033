package archive

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// unmodified returns a revisit of the profile server-not-modified, with further fields.
func unmodified(url, date string, fields ...string) string {
	const block = "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n"
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: Revisit\r\nWARC-Record-ID: <urn:x:n-%s>\r\nWARC-Date: %s\r\nWARC-Target-URI: %s\r\nWARC-Profile: %s\r\n%sContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		date, date, url, serverNotModified, strings.Join(append(fields, ""), "\r\n"), len(block), block)
}

// partOf returns a response 206 with that Content-Range.
func partOf(url, date, contentRange, body string) string {
	return strings.Replace(capture(url, date, 206, "", body), "X\r\nContent-Type", "X\r\nContent-Range: "+contentRange+"\r\nContent-Type", 1)
}

// resized corrects the length of a record whose block was changed.
func resized(record string) string {
	head, rest, _ := strings.Cut(record, "\r\n\r\n")
	before, _, _ := strings.Cut(head, "Content-Length: ")
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", before, len(rest)-len(blockEnd), rest)
}

// TestTheBestCaptureIsNotAlwaysTheNewest checks which of several captures answers.
func TestTheBestCaptureIsNotAlwaysTheNewest(t *testing.T) {
	const u, newest = "http://a/", "2022-01-01T00:00:00Z"
	page := capture(u, old, 200, "", "page")
	truncated := strings.Replace(capture(u, newest, 200, "", "pa"), "\r\nContent-Length", "\r\nWARC-Truncated: disconnect\r\nContent-Length", 1)
	for name, c := range map[string]struct {
		records []string
		want    string // body, or error
	}{
		"a 304 without reference":           {[]string{page, capture(u, newest, 304, "", "")}, "page"},
		"only a 304":                        {[]string{capture(u, newest, 304, "", "")}, ""},
		"a part":                            {[]string{page, resized(partOf(u, newest, "bytes 0-1/4", "pa"))}, "page"},
		"a part in the middle":              {[]string{page, resized(partOf(u, newest, "bytes 1-3/4", "age"))}, "page"},
		"a part that is the whole":          {[]string{page, resized(partOf(u, newest, "bytes 0-3/4", "news"))}, "news"},
		"a part of unknown size":            {[]string{page, resized(partOf(u, newest, "bytes 0-1/*", "pa"))}, "page"},
		"only a part":                       {[]string{resized(partOf(u, newest, "bytes 0-1/4", "pa"))}, "pa"},
		"a part rather than a 304":          {[]string{resized(partOf(u, old, "bytes 0-1/4", "pa")), capture(u, newest, 304, "", "")}, "pa"},
		"a truncated page":                  {[]string{page, truncated}, "page"},
		"a truncated page after an error":   {[]string{capture(u, old, 503, "", "busy"), truncated}, "pa"},
		"a truncated page after a redirect": {[]string{capture(u, old, 302, "http://a/gone", ""), truncated}, "pa"},
		"a revisit of the address":          {[]string{page, unmodified(u, newest, "WARC-Refers-To-Target-URI: "+u)}, "page"},
		"a revisit of another address":      {[]string{capture("http://a/b", old, 200, "", "b"), unmodified(u, newest, "WARC-Refers-To-Target-URI: http://a/b")}, "b"},
		"a revisit without reference":       {[]string{page, unmodified(u, newest)}, "page"},
		"the newest page before a revisit":  {[]string{page, capture(u, newer, 200, "", "newer"), unmodified(u, newest)}, "newer"},
		"a revisit before the only page":    {[]string{unmodified(u, old), capture("http://b/", newer, 200, "", "x")}, "not archived"},
		"no revisit of a later page":        {[]string{page, unmodified(u, "2019-01-01T00:00:00Z")}, "page"},
		"a revisit of what is not archived": {[]string{page, unmodified(u, newest, "WARC-Refers-To-Target-URI: http://a/gone", "WARC-Refers-To-Date: "+newer)}, "page"},
		"only such a revisit":               {[]string{unmodified(u, newest, "WARC-Refers-To-Target-URI: http://a/gone", "WARC-Refers-To-Date: "+newer)}, "not archived"},
	} {
		r := replay(t, archiveOf(t, t.TempDir(), "x.warc.gz", c.records...))
		page, err := r.Fetch(u)
		switch {
		case c.want == "not archived":
			if !errors.Is(err, ErrNotArchived) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || string(page.Body) != c.want:
			t.Errorf("%s: %q, %v, want %q", name, page.Body, err, c.want)
		}
	}
}

// TestRedirectsThatComeBack checks a chain of redirects that ends, because a cookie was set on the way.
func TestRedirectsThatComeBack(t *testing.T) {
	archive := archiveOf(t, t.TempDir(), "x.warc.gz",
		capture("http://a/there", old, 302, "/set", ""), capture("http://a/set", old, 302, "/there", ""), capture("http://a/there", newer, 200, "", "page"),
		capture("http://a/loop", old, 302, "/back", ""), capture("http://a/back", old, 302, "/loop", ""))
	for _, pick := range []string{"newest", "first"} {
		p, err := ParsePick(pick)
		if err != nil {
			t.Fatal(err)
		}
		r, err := OpenReplay([]string{archive}, ReplayOptions{Index: IndexOptions{Beside: true}, Pick: p})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if page, err := r.Fetch("http://a/there"); err != nil || string(page.Body) != "page" || len(page.Hops) != map[string]int{"newest": 0, "first": 2}[pick] {
			t.Errorf("%s: %+v, %v", pick, page, err)
		}
		if url, err := r.Resolve("http://a/there"); err != nil || url != "http://a/there" {
			t.Errorf("%s: %s, %v", pick, url, err)
		}
		if _, err := r.Fetch("http://a/loop"); !errors.Is(err, ErrRedirectLoop) {
			t.Errorf("%s: %v", pick, err)
		}
	}
}

// TestDatesOfRecords checks dates of low precision and without a zone (WARC 1.1, section 5.4).
func TestDatesOfRecords(t *testing.T) {
	for date, want := range map[string]string{
		"2024-05-01T10:00:00Z": "20240501100000", "2024-05-01T10:00:00.123456Z": "20240501100000", "2024-05-01T12:00:00+02:00": "20240501100000",
		"2024-05-01T10:00:00": "20240501100000", "2024-05-01 10:00:00": "20240501100000", "2024-05-01T10:00Z": "20240501100000", "2024-05-01T10:00": "20240501100000",
		"2024-05-01": "20240501000000", "2024-05": "20240501000000", "2024": "20240101000000", "20240501100000": "20240501100000",
	} {
		r := replay(t, archiveOf(t, t.TempDir(), "x.warc.gz", capture("http://a/", date, 200, "", "page")))
		if all := r.Lookup("http://a/"); len(all) != 1 || all[0].Timestamp != want {
			t.Errorf("%s: %+v, want %s", date, all, want)
		}
		if page, err := r.Fetch("http://a/"); err != nil || string(page.Body) != "page" {
			t.Errorf("%s: %v", date, err)
		}
	}
}
