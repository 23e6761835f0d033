// Bleve scores pages as one would with encoding/json and bleve's analyzer for
// English. It reads parsed pages as NDJSON, adds a score, the cosine of the words
// of the text and of a query, and writes them.
//
// Usage: bleve WORD… < pages
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log"
	"math"
	"os"
	"strings"

	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/registry"
)

func main() {
	english, err := registry.NewCache().AnalyzerNamed(en.AnalyzerName)
	if err != nil {
		log.Fatal(err)
	}
	count := func(text string) map[string]float64 {
		terms := map[string]float64{}
		for _, token := range english.Analyze([]byte(text)) {
			terms[string(token.Term)]++
		}
		return terms
	}
	query := count(strings.Join(os.Args[1:], " "))
	in := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for {
		var page map[string]any
		if err := in.Decode(&page); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		text, _ := page["text"].(string)
		page["score"] = cosine(query, count(text))
		if err := lines.Encode(page); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func cosine(query, page map[string]float64) float64 {
	var dot, q, p float64
	for term, n := range query {
		dot += n * page[term]
		q += n * n
	}
	for _, n := range page {
		p += n * n
	}
	if p == 0 {
		return 0
	}
	return dot / math.Sqrt(q*p)
}
