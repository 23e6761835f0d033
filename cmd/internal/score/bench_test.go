package score

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"spoor/internal/fitness"
	"spoor/internal/measure"
	"spoor/internal/page"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// parsed returns the records of parse for the first 24 MiB of a shared web, or made-up ones if the
// shared data is absent.
func parsed(b *testing.B, web string) []*wire.Record {
	root := os.Getenv("SPOOR_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(root, "webs", web+".warc.gz"))
	if err != nil {
		b.Logf("made-up pages: %v", err)
		return madeUp()
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := io.ReadAll(io.LimitReader(z, 24<<20))
	if err != nil {
		b.Fatal(err)
	}
	x := page.NewExtractor()
	var all []*wire.Record
	for capture := range strings.SplitSeq(string(raw), "WARC/1.") {
		head, rest, _ := strings.Cut(capture, "\r\n\r\n")
		_, url, _ := strings.Cut(head, "WARC-Target-URI: ")
		url, _, _ = strings.Cut(url, "\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(rest)), nil)
		if err != nil || resp.StatusCode != 200 {
			continue
		}
		body, _ := io.ReadAll(resp.Body) // a capture that is cut short will do
		c := x.Extract(page.Document{URL: url, ContentType: "text/html", Body: body})
		all = append(all, &wire.Record{
			V: wire.Version, URL: url, StatusCode: 200,
			Title: c.Title, Description: c.Description, Keywords: c.Keywords,
			Text: c.Text, AnchorText: c.AnchorText, OutDegree: c.OutDegree, Links: c.Links,
		})
	}
	return all
}

// madeUp returns pages of 1,600 words and 140 links.
func madeUp() []*wire.Record {
	word := func(n int) string { return "w" + strconv.Itoa(n*n%4999) }
	var all []*wire.Record
	for i := range 100 {
		var text strings.Builder
		for j := range 1600 {
			text.WriteString(word(i*17+j) + " ")
		}
		rec := &wire.Record{V: wire.Version, URL: fmt.Sprintf("http://%d.example/", i), StatusCode: 200, Title: word(i), Text: text.String()}
		for j := range 140 {
			rec.Links = append(rec.Links, wire.Link{
				URL:     fmt.Sprintf("http://%d.example/%s/%s.html", j, word(i), word(j)),
				Anchor:  "course " + word(i+j),
				Context: strings.Repeat(word(j)+" homework ", 10),
			})
		}
		all = append(all, rec)
	}
	return all
}

// benchmarkTopic returns a topic with all sections, made from the first pages.
func benchmarkTopic(b *testing.B, recs []*wire.Record) *topic.Topic {
	t, err := topic.New("", "")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := t.AddQuery("university course homework lecture syllabus assignments instructor exam"); err != nil {
		b.Fatal(err)
	}
	var positive, negative []topic.Page
	for i, r := range recs[:60] {
		p := topic.Page{URL: r.URL, Title: r.Title, Text: r.Text}
		for _, l := range r.Links {
			p.Links = append(p.Links, l.URL)
		}
		if i%3 == 0 {
			positive = append(positive, p)
		} else {
			negative = append(negative, p)
		}
	}
	if err := t.Learn(positive, negative, topic.LearnOptions{Size: topic.TableSize}); err != nil {
		b.Fatal(err)
	}
	t.Classifier = &topic.Classifier{Bias: -1, Slope: 1, Threshold: 0.5, Positives: 20, Negatives: 40}
	for _, group := range t.Vocabulary { // as many features as training gives
		for _, term := range group.Terms {
			if len(t.Classifier.Features) < 4000 {
				t.Classifier.Features = append(t.Classifier.Features, topic.Feature{Name: term, Weight: float64(group.DF) / 20})
			}
		}
	}
	return t
}

// BenchmarkScore measures scoring alone, on one core, including links.
func BenchmarkScore(b *testing.B) {
	for _, web := range []string{"modern", "webkb"} {
		recs := parsed(b, web)
		size, links := 0, 0
		for _, r := range recs {
			size += len(r.Title) + len(r.Description) + len(r.Keywords) + len(r.Text) + len(r.AnchorText)
			for _, l := range r.Links {
				size += len(l.URL) + len(l.Anchor) + len(l.Context)
			}
			links += len(r.Links)
		}
		t := benchmarkTopic(b, recs)
		run := func(name string, names []string, norm fitness.Norm) {
			b.Run(web+"/"+name, func(b *testing.B) {
				s, err := newScorer(&options{topic: t, names: names, measures: measure.Options{Norm: norm}})
				if err != nil {
					b.Fatal(err)
				}
				for _, r := range recs {
					if err := s.score(r); err != nil {
						b.Fatal(err)
					}
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					for _, r := range recs {
						s.score(r)
					}
				}
				b.ReportMetric(float64(len(recs)*b.N)/b.Elapsed().Seconds(), "pages/s")
				b.ReportMetric(float64(links)/float64(len(recs)), "links/page")
			})
		}
		for _, name := range measure.Names() {
			run(name, []string{name}, fitness.TopicNorm)
		}
		run("vsm,norm=page", []string{"vsm"}, fitness.PageNorm)
		run("all", measure.Names(), fitness.TopicNorm)
	}
}
