// Content compares the main content of pages that parse -main finds with that of the libraries
// go-trafilatura and go-readability.
//
//	usage: go run ./content LABELS < pages       (in internal/bench)
//	       go run ./content -published
//	       go run ./content -replace NAME < pages
//
// Pages are records as fetch writes them. LABELS has a line of JSON for each page that is judged: its
// url, phrases of its content (with) and phrases of its boilerplate (without). With -published, pages
// and labels are those that go-trafilatura publishes in its module. It prints a table: the shares of
// content phrases that are kept and of boilerplate phrases that are dropped, the precision of the kept
// phrases and F1 (their recall is the first share), the number of pages in which an extractor finds
// nothing, which then count with all their text, as in parse, and the difference of F1 from that of
// parse -main, with a 95 % interval of 10,000 bootstrap samples of the pages.
//
// -replace is a filter after parse -keep-body: it replaces the text of each record by that of an
// extractor, and removes the body.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A label says which phrases of a page are content, and which are boilerplate.
type label struct {
	URL     string   `json:"url"`
	With    []string `json:"with"`
	Without []string `json:"without"`
}

func main() {
	log.SetFlags(0)
	published := flag.Bool("published", false, "judge by the pages of go-trafilatura")
	replace := flag.String("replace", "", "replace the text of records by that of the extractor `NAME`")
	flag.Parse()
	var err error
	switch {
	case *replace != "" && flag.NArg() == 0:
		err = filter(*replace)
	case *published && flag.NArg() == 0:
		var pages []document
		var labels map[string]label
		if pages, labels, err = publishedPages(); err == nil {
			err = table(pages, labels)
		}
	case flag.NArg() == 1 && !*published && *replace == "":
		var pages []document
		var labels map[string]label
		if labels, err = readLabels(flag.Arg(0)); err == nil {
			if pages, err = readPages(os.Stdin); err == nil {
				err = table(pages, labels)
			}
		}
	default:
		log.Fatal("usage: content LABELS < pages, content -published, or content -replace NAME < pages")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// A tally counts the phrases of pages that an extractor keeps.
type tally struct{ kept, content, left, boilerplate int }

func (t *tally) add(o tally) {
	t.kept += o.kept
	t.content += o.content
	t.left += o.left
	t.boilerplate += o.boilerplate
}

func (t *tally) f1() float64 { return 2 * float64(t.kept) / float64(t.kept+t.left+t.content) }

// table judges all extractors and prints the table.
func table(pages []document, labels map[string]label) error {
	var judged []document
	for _, d := range pages {
		if _, ok := labels[d.url]; ok {
			judged = append(judged, d)
		}
	}
	if len(judged) != len(labels) {
		return fmt.Errorf("%d pages of %d labels", len(judged), len(labels))
	}
	all := extractors()
	tallies := make([][]tally, len(all)) // of each page
	empty := make([]int, len(all))
	for i, x := range all {
		for _, d := range judged {
			text := x.extract(d)
			if text == "" {
				empty[i]++
				text = all[0].extract(d)
			}
			l := labels[d.url]
			text = plain(text)
			tallies[i] = append(tallies[i], tally{count(text, l.With), len(l.With), count(text, l.Without), len(l.Without)})
		}
	}
	fmt.Printf("%d pages\n\n", len(judged))
	fmt.Println("| | content kept | boilerplate dropped | precision | F1 | nothing found | difference |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|")
	for i, x := range all {
		var t tally
		for _, o := range tallies[i] {
			t.add(o)
		}
		fmt.Printf("| %s | %.3f | %.3f | %.3f | %.3f | %d |", x.name, float64(t.kept)/float64(t.content),
			1-float64(t.left)/float64(t.boilerplate), float64(t.kept)/float64(t.kept+t.left), t.f1(), empty[i])
		if i == reference {
			fmt.Println(" |")
			continue
		}
		differences := bootstrap(tallies[i], tallies[reference])
		fmt.Printf(" %+.3f to %+.3f |\n", differences[len(differences)*25/1000], differences[len(differences)*975/1000])
	}
	return nil
}

// bootstrap returns the differences of F1 of two extractors in random samples of the pages, sorted.
func bootstrap(a, b []tally) []float64 {
	const samples = 10_000
	random := rand.New(rand.NewPCG(1, 0))
	differences := make([]float64, samples)
	for i := range differences {
		var x, y tally
		for range a {
			page := random.IntN(len(a))
			x.add(a[page])
			y.add(b[page])
		}
		differences[i] = x.f1() - y.f1()
	}
	slices.Sort(differences)
	return differences
}

// plain removes all space, because programs differ in the space around elements.
func plain(text string) string { return strings.Join(strings.Fields(text), "") }

// count returns the number of phrases that a plain text has.
func count(text string, phrases []string) (n int) {
	for _, phrase := range phrases {
		if strings.Contains(text, plain(phrase)) {
			n++
		}
	}
	return n
}

func readLabels(name string) (map[string]label, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	labels := map[string]label{}
	for in := json.NewDecoder(file); ; {
		var l label
		if err := in.Decode(&l); errors.Is(err, io.EOF) {
			return labels, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		labels[l.URL] = l
	}
}

// A body is the part of a record that extractors need.
type body struct {
	URL         string `json:"url"`
	ContentType string `json:"content_type"`
	Body        string `json:"body"`
	Base64      []byte `json:"body_base64"`
}

func (b body) document() document {
	d := document{b.URL, b.ContentType, b.Base64}
	if d.body == nil {
		d.body = []byte(b.Body)
	}
	if !strings.Contains(d.contentType, "charset") && d.body != nil && b.Base64 == nil {
		d.contentType += "; charset=utf-8" // fetch writes a body as text if it is UTF-8
	}
	return d
}

func readPages(in io.Reader) (pages []document, err error) {
	for lines := json.NewDecoder(in); ; {
		var b body
		if err := lines.Decode(&b); errors.Is(err, io.EOF) {
			return pages, nil
		} else if err != nil {
			return nil, err
		}
		pages = append(pages, b.document())
	}
}

// filter replaces the texts of records. It writes one record for each, at once.
func filter(name string) error {
	var x extractor
	for _, e := range extractors() {
		if e.name == name {
			x = e
		}
	}
	if x.extract == nil {
		return fmt.Errorf("no extractor is named %s", name)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if _, err := out.Write(replaced(x, line)); err != nil {
				return err
			}
			if err := out.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// replaced returns a record with the text of the extractor, or unchanged if it has no text.
func replaced(x extractor, line []byte) []byte {
	var record map[string]json.RawMessage
	var b body
	if json.Unmarshal(line, &record) != nil || json.Unmarshal(line, &b) != nil || record["text"] == nil {
		return line
	}
	if text := x.extract(b.document()); text != "" {
		record["text"], _ = json.Marshal(text)
	}
	delete(record, "body")
	delete(record, "body_base64")
	line, err := json.Marshal(record)
	if err != nil {
		log.Fatal(err)
	}
	return append(line, '\n')
}

// publishedPages returns the pages and labels in the module of go-trafilatura: its program
// scripts/comparison has a map from addresses to the name of a file and phrases.
func publishedPages() ([]document, map[string]label, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/markusmobius/go-trafilatura").Output()
	if err != nil {
		return nil, nil, err
	}
	dir := string(bytes.TrimSpace(out))
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "scripts/comparison/data.go"), nil, 0)
	if err != nil {
		return nil, nil, err
	}
	var pages []document
	labels := map[string]label{}
	ast.Inspect(file, func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		entry, ok := pair.Value.(*ast.CompositeLit)
		key, isString := pair.Key.(*ast.BasicLit)
		if !ok || !isString {
			return true
		}
		l := label{URL: text(key)}
		name := ""
		for _, e := range entry.Elts {
			field := e.(*ast.KeyValueExpr)
			switch field.Key.(*ast.Ident).Name {
			case "File":
				name = text(field.Value)
			case "With":
				l.With = texts(field.Value)
			case "Without":
				l.Without = texts(field.Value)
			}
		}
		content, e := os.ReadFile(filepath.Join(dir, "test-files/comparison", name))
		if e != nil {
			content, e = os.ReadFile(filepath.Join(dir, "test-files/mock", name))
		}
		if e != nil {
			err = e
			return false
		}
		pages = append(pages, document{l.URL, "text/html", content})
		labels[l.URL] = l
		return false
	})
	return pages, labels, err
}

// text returns the value of a string literal, or "".
func text(e ast.Expr) string {
	if literal, ok := e.(*ast.BasicLit); ok {
		if s, err := strconv.Unquote(literal.Value); err == nil {
			return s
		}
	}
	return ""
}

func texts(e ast.Expr) (list []string) {
	literal, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, e := range literal.Elts {
		list = append(list, text(e))
	}
	return list
}
