// Words compares how well queries in many languages rank pages: each language as it is guessed, as it
// is stated, and with a background of the language's own pages.
//
//	usage: go run ./words [-bin DIR] [-each] TRANSLATIONS [LANGUAGE...]    (in internal/bench)
//
// TRANSLATIONS is the directory that ./translations writes. The queries of eight topics, and the
// names of their pages, are in queries.tsv. The commands topic and score of DIR (default
// ../../bin) rank all pages of a language; the figures are precision at 10 and mean average precision,
// each the mean of the topics with at least three pages. -each prints a line for every topic, too.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"spoor/internal/text"
)

//go:embed queries.tsv
var queries string

const (
	minPages       = 3   // of a topic
	backgroundSize = 500 // pages of a background
)

// legend explains the table.
const legend = `Eight topics over LibreOffice's help, the same pages in each language (internal/bench/words). P@10 is precision at
10, MAP mean average precision, each the mean of the topics with at least three pages. The language of the query is
guessed, or stated by -language; with own background, the topic also has the frequencies of 500 of the pages.

`

// A page is a record as parse writes it.
type page struct {
	V     int      `json:"v"`
	URL   string   `json:"url"`
	Title string   `json:"title"`
	Text  string   `json:"text"`
	Score *float64 `json:"score,omitempty"`
}

func main() {
	log.SetFlags(0)
	bin := flag.String("bin", "../../bin", "the `directory` of the commands")
	each := flag.Bool("each", false, "print a line for every topic, too")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("usage: words [-bin DIR] [-each] TRANSLATIONS [LANGUAGE...]")
	}
	dir, chosen := flag.Arg(0), flag.Args()[1:]
	rows := strings.Split(strings.TrimSpace(queries), "\n")
	names := strings.Split(rows[0], "\t")[1:]
	fmt.Print(legend)
	fmt.Println("| language | pages | topics | guessed P@10 | MAP | stated P@10 | MAP | own background P@10 | MAP |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, row := range rows[1:] {
		cells := strings.Split(row, "\t")
		if len(chosen) > 0 && !slices.Contains(chosen, cells[0]) {
			continue
		}
		l := language{code: cells[0], bin: *bin}
		if err := l.read(filepath.Join(dir, cells[0])); err != nil {
			log.Fatal(err)
		}
		var sum [3]quality
		topics := 0
		for i, query := range cells[1:] {
			relevant := regexp.MustCompile(names[i])
			if l.count(relevant) < minPages {
				continue
			}
			topics++
			for kind := range sum {
				q, err := l.rank(query, kind, relevant)
				if err != nil {
					log.Fatalf("%s: %v", l.code, err)
				}
				if *each {
					fmt.Printf("%s\t%s\t%d\t%.3f\t%.3f\n", l.code, query, kind, q.precision, q.average)
				}
				sum[kind].precision += q.precision
				sum[kind].average += q.average
			}
		}
		fmt.Printf("| %s | %d | %d |", l.code, len(l.pages), topics)
		for _, q := range sum {
			fmt.Printf(" %.3f | %.3f |", q.precision/float64(topics), q.average/float64(topics))
		}
		fmt.Println()
	}
}

// A language holds the pages of a language.
type language struct {
	code  string
	bin   string
	pages []page
	lines []byte // pages as records
	few   []byte // backgroundSize of them, evenly spread
}

// read reads the pages from a directory.
func (l *language) read(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for i, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		title, body, _ := strings.Cut(string(b), "\n")
		p := page{V: 1, URL: "http://example.org/" + strings.TrimSuffix(f.Name(), ".txt"), Title: title, Text: body}
		line, err := json.Marshal(p)
		if err != nil {
			return err
		}
		l.pages = append(l.pages, p)
		l.lines = append(append(l.lines, line...), '\n')
		if i*backgroundSize/len(files) != (i+1)*backgroundSize/len(files) {
			l.few = append(append(l.few, line...), '\n')
		}
	}
	return nil
}

// name returns the name by which topics are told.
func (p *page) name() string { return strings.TrimPrefix(p.URL, "http://example.org/") }

func (l *language) count(relevant *regexp.Regexp) (n int) {
	for i := range l.pages {
		if relevant.MatchString(l.pages[i].name()) {
			n++
		}
	}
	return n
}

// The kinds of topics.
const (
	guessed = iota
	stated
	background
)

// quality is how well a query ranks the pages of its topic.
type quality struct{ precision, average float64 }

// rank makes a topic of a query, ranks all pages by it, and compares them with the pages that are
// relevant. Pages with equal scores keep the order of their names.
func (l *language) rank(query string, kind int, relevant *regexp.Regexp) (quality, error) {
	args := []string{"-query", query}
	if kind != guessed {
		args = append(args, "-language", l.stated())
	}
	var in []byte
	if kind == background {
		args, in = append(args, "-background", "-"), l.few
	}
	made, err := l.command(in, "topic", args...)
	if err != nil {
		return quality{}, err
	}
	name := filepath.Join(os.TempDir(), fmt.Sprintf("words-%d.json", os.Getpid()))
	defer os.Remove(name)
	if err := os.WriteFile(name, made, 0o600); err != nil {
		return quality{}, err
	}
	out, err := l.command(l.lines, "score", "-q", "-topic", name)
	if err != nil {
		return quality{}, err
	}
	var pages []page
	for lines := bufio.NewReader(bytes.NewReader(out)); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var p page
		if err := json.Unmarshal(line, &p); err != nil {
			return quality{}, err
		}
		pages = append(pages, p)
	}
	slices.SortStableFunc(pages, func(a, b page) int {
		switch {
		case *a.Score > *b.Score:
			return -1
		case *a.Score < *b.Score:
			return 1
		}
		return 0
	})
	var q quality
	found := 0.0
	for i := range pages {
		if relevant.MatchString(pages[i].name()) {
			found++
			q.average += found / float64(i+1)
		}
		if i+1 == 10 {
			q.precision = found / 10
		}
	}
	q.average /= found
	return q, nil
}

// stated returns the code that a user would state.
func (l *language) stated() string {
	if code, _, _ := strings.Cut(l.code, "-"); slices.Contains(text.Languages(), code) {
		return code
	}
	return "und"
}

// command runs a command and returns its output.
func (l *language) command(in []byte, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(l.bin, name), args...)
	var messages bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &messages
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", name, err, messages.Bytes())
	}
	return out, nil
}
