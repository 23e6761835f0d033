// Search compares the index of search with bleve: the time to build an index of the pages of an archive,
// its size, the time of answers with snippets, and precision at 10 for labelled topics.
//
//	usage: go run ./search [-engines NAMES] ARCHIVE LABELS DIR    (in internal/bench)
//
// LABELS is a file of JSON lines with url and labels. The indexes are made in DIR, and used as they are if they
// exist. The 100 queries for the time of answers are made of titles: of the pages in the order of their
// addresses every n-th, the first three words of its title that are no stop words, if it has so many.
// The queries for precision are in queries.tsv: a label, and words. Those with a label that no page has are left
// out.
package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/search/query"

	"spoor/internal/archive"
	"spoor/internal/page"
	"spoor/internal/pageindex"
	"spoor/internal/search"
	"spoor/internal/text"
)

//go:embed queries.tsv
var labelled string

const (
	numQueries = 100
	numHits    = 10
	rounds     = 3 // each query is asked so often; its time is the median
)

// An engine answers queries.
type engine struct {
	name  string
	build func(path, archive string) error
	open  func(path string) (ask func(words string) (urls []string, err error), close func() error, err error)
}

var engines = []engine{
	{"spoor", buildSpoor, openSpoor},
	{"bleve", buildBleve, openBleve},
}

func main() {
	log.SetFlags(0)
	names := flag.String("engines", "spoor,bleve", "the engines to measure")
	flag.Parse()
	if flag.NArg() != 3 {
		log.Fatal("usage: search [-engines NAMES] ARCHIVE LABELS DIR")
	}
	web, dir := flag.Arg(0), flag.Arg(2)
	labels, err := readLabels(flag.Arg(1))
	if err != nil {
		log.Fatal(err)
	}
	queries, err := titleQueries(web)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("| engine | build, s | build, CPU s | size, MB | median answer, ms | p95, ms | longest, ms | mean, CPU ms |\n|---|--:|--:|--:|--:|--:|--:|--:|")
	var precisions strings.Builder
	for _, e := range engines {
		if slices.Contains(strings.Split(*names, ","), e.name) {
			if err := measure(e, filepath.Join(dir, e.name), web, queries, labels, &precisions); err != nil {
				log.Fatalf("%s: %v", e.name, err)
			}
		}
	}
	fmt.Printf("\n| engine | label | query | precision at %d |\n|---|---|---|--:|\n%s", numHits, &precisions)
}

// measure prints a row for an engine, and appends the rows of its precisions to precisions.
func measure(e engine, path, web string, queries []string, labels map[string][]string, precisions *strings.Builder) error {
	built, processor := "–", "–"
	if _, err := os.Stat(path); err != nil {
		start, cpu := time.Now(), processorTime()
		if err := e.build(path, web); err != nil {
			return err
		}
		built, processor = fmt.Sprintf("%.1f", time.Since(start).Seconds()), fmt.Sprintf("%.1f", (processorTime()-cpu).Seconds())
	}
	ask, closeIndex, err := e.open(path)
	if err != nil {
		return err
	}
	defer closeIndex()
	var times []float64
	cpu := processorTime()
	for _, q := range queries {
		var own []float64
		for range rounds {
			start := time.Now()
			if _, err := ask(q); err != nil {
				return err
			}
			own = append(own, float64(time.Since(start).Microseconds())/1000)
		}
		slices.Sort(own)
		times = append(times, own[len(own)/2])
	}
	mean := (processorTime() - cpu).Seconds() * 1000 / float64(rounds*len(queries))
	slices.Sort(times)
	fmt.Printf("| %s | %s | %s | %.0f | %.1f | %.1f | %.1f | %.1f |\n", e.name, built, processor, float64(size(path))/1e6,
		times[len(times)/2], times[len(times)*95/100], times[len(times)-1], mean)
	used := map[string]bool{} // labels of this web
	for _, list := range labels {
		for _, label := range list {
			used[label] = true
		}
	}
	sum, n := 0, 0
	for line := range strings.Lines(labelled) {
		label, words, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if !used[label] {
			continue
		}
		urls, err := ask(words)
		if err != nil {
			return err
		}
		right := 0
		for _, url := range urls {
			if slices.Contains(labels[url], label) {
				right++
			}
		}
		fmt.Fprintf(precisions, "| %s | %s | %s | %.1f |\n", e.name, label, words, float64(right)/numHits)
		sum, n = sum+right, n+1
	}
	fmt.Fprintf(precisions, "| %s | all | mean of %d queries | %.3f |\n", e.name, n, float64(sum)/float64(max(n, 1)*numHits))
	return nil
}

func readLabels(name string) (map[string][]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	labels := map[string][]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var page struct {
			URL    string   `json:"url"`
			Labels []string `json:"labels"`
		}
		if err := json.Unmarshal(lines.Bytes(), &page); err != nil {
			return nil, err
		}
		labels[page.URL] = page.Labels
	}
	return labels, nil
}

// A document is a page as an engine gets it.
type document struct {
	url         string
	Title, Text string
}

// documents yields the pages that search -archive indexes.
func documents(web string) iter.Seq[document] {
	return func(yield func(document) bool) {
		take := archive.Filter{MIME: []string{"text/html", "application/xhtml+xml"}, Status: []int{http.StatusOK}}
		extractor := page.NewExtractor()
		for p, err := range archive.All([]string{web}, take, archive.Limits{}) {
			if err != nil || p == nil {
				continue
			}
			c := extractor.Extract(page.Document{URL: p.URL, ContentType: p.ContentType(), Charset: p.Charset(), Language: p.Header.Get("Content-Language"), Body: p.Body})
			if !yield(document{p.URL, strings.Clone(c.Title), strings.Clone(c.Text)}) {
				return
			}
		}
	}
}

// titleQueries returns the queries for the time of answers.
func titleQueries(web string) (queries []string, err error) {
	a, err := text.New("en", "")
	if err != nil {
		return nil, err
	}
	titles := map[string]string{}
	for d := range documents(web) {
		var words []string
		terms := a.Append(nil, d.Title)
		for word := range text.Words(d.Title) {
			if t := terms[0]; !t.Silent() && len(words) < 3 {
				words = append(words, word)
			}
			terms = terms[1:]
		}
		if len(words) == 3 {
			titles[d.url] = strings.Join(words, " ")
		}
		a.Trim()
	}
	urls := make([]string, 0, len(titles))
	for url := range titles {
		urls = append(urls, url)
	}
	slices.Sort(urls)
	for i := range numQueries {
		queries = append(queries, titles[urls[i*len(urls)/numQueries]])
	}
	return queries, nil
}

func buildSpoor(path, web string) error {
	x, err := pageindex.Open(path, []string{web}, pageindex.Options{})
	if err != nil {
		return err
	}
	return x.Close()
}

func openSpoor(path string) (ask func(string) ([]string, error), closeIndex func() error, err error) {
	x, err := search.OpenIndex(path, false)
	if err != nil {
		return nil, nil, err
	}
	return func(words string) (urls []string, err error) {
		answer, err := x.Find(context.Background(), search.Query{Words: words, Limit: numHits})
		if err != nil {
			return nil, err
		}
		for _, h := range answer.Hits {
			urls = append(urls, h.URL)
		}
		return urls, nil
	}, x.Close, nil
}

// buildBleve indexes the pages as bleve's documentation recommends: in batches, with the analyzer for
// English, and the texts stored for snippets.
func buildBleve(path, web string) error {
	field := bleve.NewTextFieldMapping()
	field.Analyzer = en.AnalyzerName
	mapping := bleve.NewIndexMapping()
	mapping.DefaultMapping.AddFieldMappingsAt("Title", field)
	mapping.DefaultMapping.AddFieldMappingsAt("Text", field)
	x, err := bleve.New(path, mapping)
	if err != nil {
		return err
	}
	const size = 1000
	batch := x.NewBatch()
	for d := range documents(web) {
		if err := batch.Index(d.url, d); err != nil {
			return err
		}
		if batch.Size() == size {
			if err := x.Batch(batch); err != nil {
				return err
			}
			batch.Reset()
		}
	}
	return cmp.Or(x.Batch(batch), x.Close())
}

func openBleve(path string) (ask func(string) ([]string, error), closeIndex func() error, err error) {
	x, err := bleve.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return func(words string) (urls []string, err error) {
		title, body := bleve.NewMatchQuery(words), bleve.NewMatchQuery(words)
		title.SetField("Title")
		title.SetBoost(2)
		body.SetField("Text")
		request := bleve.NewSearchRequestOptions(query.NewDisjunctionQuery([]query.Query{title, body}), numHits, 0, false)
		request.Highlight = bleve.NewHighlight()
		request.Highlight.AddField("Text")
		result, err := x.Search(request)
		if err != nil {
			return nil, err
		}
		for _, h := range result.Hits {
			urls = append(urls, h.ID)
		}
		return urls, nil
	}, x.Close, nil
}

// processorTime returns the time that this process has used of all processors.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		log.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// size returns the size of a file or directory in bytes.
func size(path string) (n int64) {
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	return n
}
