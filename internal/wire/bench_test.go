package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"spoor/internal/archive"
)

// The benchmarks use four kinds of input: "page" is a real page with its body, as
// written by fetch; "parsed" is the same page as written by parse, with text and links
// and without body; "address" is a URL as written by the frontier; "synthetic" is a
// generated page, for when the archive of real pages is missing.

const modern = "webs/modern.warc.gz"

// webPages returns the first pages of the archive, in UTF-8.
func webPages(b *testing.B) (pages []string) {
	b.Helper()
	shared := cmp.Or(os.Getenv("SPOOR_SHARED"), filepath.Join("..", "..", "..", "shared"))
	size := 0
	for p, err := range archive.All([]string{filepath.Join(shared, modern)}, archive.Filter{}, archive.Limits{}) {
		if err != nil {
			b.Skipf("no real pages: %v", err)
		}
		pages = append(pages, strings.ToValidUTF8(string(p.Body), "\uFFFD"))
		if size += len(p.Body); size >= 20<<20 {
			break
		}
	}
	return pages
}

func syntheticPages() []string {
	paragraph := "<div class=\"entry\">\n\t<p>The track an animal leaves, <a href=\"https://example.org/a/b?c=d&amp;e=f\" title=\"Spur\">f\u00fcr</a> those who follow it.</p>\n</div>\n"
	return []string{"<!DOCTYPE html>\n<html lang=\"en\">\n" + strings.Repeat(paragraph, 1000)}
}

// pageRecord returns the record of a page as fetch writes it.
func pageRecord(i int, page string) *Record {
	return &Record{
		V: 1, URL: fmt.Sprintf("https://www.example.org/articles/%d/index.html", i), Generation: 3, Depth: 2,
		Via: "https://www.example.org/articles/", Operator: "link", Priority: Num(0.4375), Niche: "www.example.org/articles",
		Timestamp: "2026-11-20T07:11:00.000Z", StatusCode: 200,
		Headers: []Values{
			{"cache-control", []string{"max-age=300, public"}},
			{"content-type", []string{"text/html; charset=utf-8"}},
			{"date", []string{"Fri, 20 Nov 2026 07:11:00 GMT"}},
			{"etag", []string{`W/"5c1e-abcdef"`}},
			{"server", []string{"nginx"}},
			{"vary", []string{"Accept-Encoding", "Cookie"}},
		},
		ContentType: "text/html", Charset: "utf-8", ContentLength: int64(len(page)), FetchMS: 131, IP: "192.0.2.7",
		Digest: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", WARCFilename: "crawl-00000.warc.gz", WARCOffset: 190283, WARCLength: 40112,
		Body: page,
	}
}

var (
	tags   = regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>|<[^>]*>|\s+`)
	anchor = regexp.MustCompile(`(?s)<a [^>]*href="([^"]*)"[^>]*>(.*?)</a>`)
)

// addressRecord returns the record of a URL as the frontier writes it.
func addressRecord(i int, _ string) *Record {
	r := pageRecord(i, "")
	return &Record{
		V: 1, URL: r.URL, Generation: r.Generation, Depth: r.Depth, Via: r.Via,
		Operator: r.Operator, Priority: r.Priority, Niche: r.Niche,
	}
}

// parsedRecord returns the record of a page similar to what parse writes.
func parsedRecord(i int, page string) *Record {
	plain := func(s string) string {
		return strings.Join(strings.Fields(tags.ReplaceAllString(s, " ")), " ")
	}
	r := pageRecord(i, page)
	r.Body = ""
	r.Title = "The track an animal leaves"
	r.Lang = "en"
	r.Text = plain(page)
	for _, m := range anchor.FindAllStringSubmatchIndex(page, 500) {
		before := plain(page[max(0, m[0]-200):m[0]])
		r.Links = append(r.Links, Link{
			URL: strings.ToValidUTF8(page[m[2]:m[3]], ""), Anchor: plain(page[m[4]:m[5]]),
			Context: strings.ToValidUTF8(before, ""), Tag: "a", Path: "html body div div ul li a",
			Score: Num(float64(m[0]%1000) / 999),
		})
	}
	r.OutDegree = len(r.Links)
	r.Score = Num(0.2718281828459045)
	r.Scores = []Scored{{"bm25", 0.31}, {"vsm", 0.2718281828459045}}
	return r
}

func encodeAll(b *testing.B, recs []*Record) []byte {
	b.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, r := range recs {
		if err := w.Write(r); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// inputs runs a benchmark over each kind of record.
func inputs(b *testing.B, run func(b *testing.B, recs []*Record, ndjson []byte)) {
	kind := func(name string, record func(int, string) *Record, pages func(*testing.B) []string) {
		b.Run(name, func(b *testing.B) {
			var recs []*Record
			for i, p := range pages(b) {
				recs = append(recs, record(i, p).Clone()) // in one piece, as when just read
			}
			run(b, recs, encodeAll(b, recs))
		})
	}
	kind("page", pageRecord, webPages)
	kind("parsed", parsedRecord, webPages)
	kind("address", addressRecord, func(*testing.B) []string { return make([]string, 1000) })
	kind("synthetic", pageRecord, func(*testing.B) []string { return syntheticPages() })
}

func measure(b *testing.B, name string, size int, f func() error) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	inputs(b, func(b *testing.B, recs []*Record, ndjson []byte) {
		src := bytes.NewReader(nil)
		r := NewReader(src, All)
		var rec Record
		measure(b, "spoor", len(ndjson), func() error {
			src.Reset(ndjson)
			r.err = nil
			for {
				if err := r.Read(&rec); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
			}
		})
		measure(b, "encoding/json", len(ndjson), func() error {
			for line := range bytes.Lines(ndjson) {
				var p peer
				if err := json.Unmarshal(line, &p); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func BenchmarkEncode(b *testing.B) {
	inputs(b, func(b *testing.B, recs []*Record, ndjson []byte) {
		var peers []*peer
		for _, r := range recs {
			peers = append(peers, asPeer(r))
		}
		w := NewWriter(io.Discard)
		measure(b, "spoor", len(ndjson), func() error {
			for _, r := range recs {
				if err := w.Write(r); err != nil {
					return err
				}
			}
			return w.Flush()
		})
		measure(b, "encoding/json", len(ndjson), func() error {
			e := json.NewEncoder(io.Discard)
			e.SetEscapeHTML(false)
			for _, p := range peers {
				if err := e.Encode(p); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// BenchmarkCopy reads records, changes one field and writes them.
func BenchmarkCopy(b *testing.B) {
	inputs(b, func(b *testing.B, recs []*Record, ndjson []byte) {
		src := bytes.NewReader(nil)
		r := NewReader(src, Address)
		w := NewWriter(io.Discard)
		var rec Record
		measure(b, "spoor", len(ndjson), func() error {
			src.Reset(ndjson)
			r.err = nil
			for {
				if err := r.Read(&rec); err == io.EOF {
					return w.Flush()
				} else if err != nil {
					return err
				}
				rec.Score = Num(0.5)
				rec.Touch(Score)
				if err := w.Write(&rec); err != nil {
					return err
				}
			}
		})
		measure(b, "encoding/json", len(ndjson), func() error {
			e := json.NewEncoder(io.Discard)
			e.SetEscapeHTML(false)
			for line := range bytes.Lines(ndjson) {
				var m map[string]json.RawMessage
				if err := json.Unmarshal(line, &m); err != nil {
					return err
				}
				m["score"] = json.RawMessage("0.5")
				if err := e.Encode(m); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
