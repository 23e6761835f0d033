package archive

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// revisit returns a revisit record without a block.
func revisit(url string, fields ...string) string {
	return record("revisit", url, newer, "", fields...)
}

const (
	refersURI  = "WARC-Refers-To-Target-URI"
	refersDate = "WARC-Refers-To-Date"
	refersID   = "WARC-Refers-To"
	payloadIs  = "WARC-Payload-Digest"
)

func TestRevisitHasBodyOfOriginal(t *testing.T) {
	one, two := Digest([]byte("one")), Digest([]byte("two"))
	id := "<urn:x:http://a/1-" + old + ">" // of the first record below
	originals := []string{
		capture("http://a/1", old, 200, "", "one"),
		capture("http://a/2", old, 200, "", "one"),
		capture("http://a/2", "2020-06-01T00:00:00Z", 200, "", "two"),
		capture("http://a/2", "2022-06-01T00:00:00Z", 200, "", "one"),
	}
	for _, c := range []struct {
		name   string
		record string
		body   string // empty: none
	}{
		{"by address and date", revisit("http://b/", refersURI, "http://a/1", refersDate, old, payloadIs, one), "one"},
		{"by address and date in brackets", revisit("http://b/", refersURI, "<http://a/1>", refersDate, old, payloadIs, one), "one"},
		{"by address and date without a digest", revisit("http://b/", refersURI, "http://a/1", refersDate, old), "one"},
		{"by address and date, digests of two kinds", revisit("http://b/", refersURI, "http://a/1", refersDate, old, payloadIs, "sha256:ab"), "one"},
		{"by address and digest", revisit("http://b/", refersURI, "http://a/1", payloadIs, one), "one"},
		{"by address and digest in hexadecimal", revisit("http://b/", refersURI, "http://a/1", payloadIs, hexadecimal(t, one)), "one"},
		{"by address and digest, the date wrong", revisit("http://b/", refersURI, "http://a/1", refersDate, newer, payloadIs, one), "one"},
		{"by its own address and digest", revisit("http://a/2", payloadIs, two), "two"},
		{"the newest before it", revisit("http://a/2", payloadIs, one), "one"},
		{"by its own address, the other being unknown", revisit("http://a/1", refersURI, "http://c/", refersDate, old, payloadIs, one), "one"},
		{"by identifier", revisit("http://b/", refersID, id, payloadIs, one), "one"},
		{"by identifier without a digest", revisit("http://b/", refersID, id), "one"},
		{"by identifier, with another digest", revisit("http://b/", refersID, id, payloadIs, two), ""},
		{"by an identifier that nobody has", revisit("http://b/", refersID, "<urn:x:none>", payloadIs, one), ""},
		{"to itself", revisit("http://b/", refersURI, "http://b/", refersDate, newer, refersID, "<urn:x:http://b/-"+newer+">"), ""},
		{"with another digest", revisit("http://b/", refersURI, "http://a/1", refersDate, old, payloadIs, two), ""},
		{"without anything", revisit("http://b/"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, where := range []string{"in one file", "in two files"} {
				dir := t.TempDir()
				if where == "in one file" {
					archiveOf(t, dir, "x.warc.gz", append([]string{c.record}, originals...)...)
				} else {
					archiveOf(t, dir, "y.warc.gz", originals...)
					archiveOf(t, dir, "x.warc.gz", c.record)
				}
				r := replay(t, dir)
				var captures []Capture
				for _, u := range []string{"http://b/", "http://a/1", "http://a/2"} {
					for _, capture := range r.Lookup(u) {
						if capture.Revisit() {
							captures = append(captures, capture)
						}
					}
				}
				if len(captures) != 1 {
					t.Fatalf("%d revisits", len(captures))
				}
				page, err := r.Read(captures[0])
				if c.body == "" {
					if !errors.Is(err, ErrNotArchived) || page == nil || page.Response != nil {
						t.Errorf("%s: %v, %v", where, page, err)
					} else if none := strings.Contains(err.Error(), "which does not identify it"); none != (c.name == "without anything") || strings.Contains(err.Error(), "()") {
						t.Errorf("%s: %v", where, err)
					}
					continue
				}
				if err != nil || !page.Revisit || page.Time.Format(time.RFC3339) != newer {
					t.Fatalf("%s: %+v, %v", where, page, err)
				}
				if string(page.Body) != c.body {
					t.Errorf("%s: %q, want %q", where, page.Body, c.body)
				}
			}
		})
	}
}

// hexadecimal returns a digest in hexadecimal, as some programs write it.
func hexadecimal(t *testing.T, digest string) string {
	t.Helper()
	c, err := parseClaim("", digest)
	if err != nil || len(c.sum) != 20 {
		t.Fatal(digest, err)
	}
	return "SHA-1:" + hex.EncodeToString(c.sum)
}

func TestRevisitOfRevisit(t *testing.T) {
	records := []string{capture("http://a/0", newer, 200, "", "payload")}
	for i := range 8 {
		records = append(records, revisit(fmt.Sprint("http://a/", i+1), refersURI, fmt.Sprint("http://a/", i), refersDate, newer))
	}
	r := replay(t, archiveOf(t, t.TempDir(), "x.warc.gz", records...))
	for i := range 9 {
		page, err := r.Fetch(fmt.Sprint("http://a/", i))
		if i <= maxRevisits {
			if err != nil || string(page.Body) != "payload" || page.Revisit != (i > 0) {
				t.Errorf("%d: %+v, %v", i, page, err)
			}
		} else if !errors.Is(err, ErrNotArchived) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestOriginal(t *testing.T) {
	dir := t.TempDir()
	one := Digest([]byte("one"))
	archiveOf(t, dir, "a.warc.gz", capture("http://a/", old, 200, "", "one"), capture("http://a/", newer, 200, "", "two"))
	archiveOf(t, dir, "b.warc.gz", capture("http://a/", "2020-06-01T00:00:00Z", 404, "", "one"), revisit("http://a/", payloadIs, one))
	// A response 304 does not refer to a failure.
	archiveOf(t, dir, "c.warc.gz", capture("http://a/", "2021-06-01T00:00:00Z", 500, "", "three"))
	first := parsePick(t, "first")
	r := replayWith(t, ReplayOptions{Index: IndexOptions{Beside: true}, Pick: first}, dir) // which is no matter of originals
	for digest, want := range map[string]string{"": newer, one: "2020-06-01T00:00:00Z", hexadecimal(t, one): "2020-06-01T00:00:00Z", "sha1:none": ""} {
		c, ok := r.Original("http://a/", digest)
		if ok != (want != "") || ok && c.Time().Format(time.RFC3339) != want {
			t.Errorf("%q: %+v, %v, want %s", digest, c, ok, want)
		}
	}
}
