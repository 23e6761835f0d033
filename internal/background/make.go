//go:build ignore

// This program writes english.txt.gz, and prints the constants of background.go that belong to
// it. It reads texts that are installed with Go and with Debian:
//
//	apt-get update && go generate ./internal/background
//
// A document is a piece of at most 800 words of
//
//   - the comments of one directory of the Go tree, or a file of its documentation,
//   - a manual page in English (/usr/share/man),
//   - a file of documentation (/usr/share/doc), or a node of an Info file (/usr/share/info),
//   - the descriptions of all Debian packages, in alphabetical order.
//
// To prevent that many similar pages dominate, at most 60 documents of a Debian package or a
// directory of Go are used, and texts that mostly repeat other texts are omitted.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"hash/fnv"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"spoor/internal/page"
	"spoor/internal/text"
)

const (
	size         = 12_000 // number of words in the table
	minDF        = 5      // minimum number of documents that contain a word of the table
	maxDocuments = 60     // maximum number of documents of a Debian package or a directory of Go
	maxWords     = 800    // maximum number of words of a document
	minWords     = 50     // minimum number of words of a document
	minStop      = 0.2    // minimum share of stop words in a document; lists, code and other languages have fewer
)

func main() {
	log.SetFlags(0)
	lists := flag.String("lists", "/var/lib/apt/lists", "the `directory` of the package lists of apt")
	flag.Parse()
	analyzer, err := text.New("en", "")
	if err != nil {
		log.Fatal(err)
	}
	c := &collection{analyzer: analyzer, statistics: text.NewStatistics(analyzer), seen: map[uint64]bool{}}
	release, err := os.ReadFile("/etc/debian_version")
	if err != nil {
		log.Fatalf("no Debian release: %v\nhint: run this on Debian", err)
	}
	sources := fmt.Sprintf("%d documents of %s", c.add(goTree(runtime.GOROOT())), runtime.Version())
	owners := packages()
	for _, s := range []struct {
		name, pattern string
		read          func(file string, data []byte) []string
	}{
		{"manual pages", "/usr/share/man/man?/*", manual},
		{"documents", "/usr/share/doc", document},
		{"Info files", "/usr/share/info/*.info*", info},
	} {
		n := c.add(debian(s.pattern, owners, s.read))
		sources += fmt.Sprintf(", %d of the %s", n, s.name)
	}
	sources += fmt.Sprintf(", %d of the package descriptions", c.addPieces(split(strings.Join(descriptions(*lists), "\n"))))
	sources += " of Debian " + strings.TrimSpace(string(release))
	if err := c.write("english.txt.gz", sources); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Documents     = %d\nAverageLength = %.1f\n", c.statistics.Documents(), averageLength(c.statistics))
}

func averageLength(s *text.Statistics) float64 { return float64(s.Length()) / float64(s.Documents()) }

// A collection counts the words of documents.
type collection struct {
	analyzer   *text.Analyzer
	statistics *text.Statistics
	seen       map[uint64]bool // hashes of runs of words
	terms      []text.Term     // scratch
}

// add counts the documents of texts, which are grouped by package, and returns their number.
func (c *collection) add(texts map[string][]string) (documents int) {
	names := make([]string, 0, len(texts))
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var pieces []string
		for _, t := range texts[name] {
			pieces = append(pieces, split(t)...)
		}
		documents += c.addPieces(sample(pieces))
	}
	return documents
}

// addPieces counts the documents that are English and new, and returns their number.
func (c *collection) addPieces(pieces []string) (documents int) {
	for _, p := range pieces {
		if c.isProse(p) && c.isNew(p) {
			c.statistics.Add(p)
			documents++
		}
	}
	return documents
}

// split splits a text into documents.
func split(s string) (pieces []string) {
	words := slices.Collect(text.Words(s))
	for n := 1 + (len(words)-1)/maxWords; n > 0 && len(words) >= minWords; n-- {
		k := len(words) / n
		pieces = append(pieces, strings.Join(words[:k], " "))
		words = words[k:]
	}
	return pieces
}

// sample returns at most maxDocuments elements, evenly spaced.
func sample[T any](list []T) []T {
	n := len(list)
	if n <= maxDocuments {
		return list
	}
	some := make([]T, maxDocuments)
	for i := range some {
		some[i] = list[i*n/maxDocuments]
	}
	return some
}

// isProse reports whether a document is in English sentences.
func (c *collection) isProse(s string) bool {
	c.terms = c.analyzer.Append(c.terms[:0], s)
	stop := 0
	for _, t := range c.terms {
		if t.Silent() && len(c.analyzer.Name(t)) > 1 {
			stop++
		}
	}
	return float64(stop) >= minStop*float64(len(c.terms))
}

// isNew reports whether at most half of the runs of eight words in s have occurred before.
func (c *collection) isNew(s string) bool {
	words := strings.Fields(strings.ToLower(s))
	var fresh []uint64
	runs := 0
	for ; len(words) >= 8; words = words[1:] {
		h := fnv.New64a()
		for _, w := range words[:8] {
			io.WriteString(h, w+" ")
		}
		runs++
		if sum := h.Sum64(); !c.seen[sum] {
			fresh = append(fresh, sum)
		}
	}
	for _, sum := range fresh {
		c.seen[sum] = true
	}
	return 2*len(fresh) >= runs
}

// write writes the most frequent words.
func (c *collection) write(name, sources string) error {
	type entry struct {
		word string
		df   int
	}
	var entries []entry
	s := c.statistics
	for _, t := range s.Terms() {
		if w := s.Form(t); s.DF(t) >= minDF && isWord(w) {
			entries = append(entries, entry{w, s.DF(t)})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(b.df-a.df, strings.Compare(a.word, b.word)) })
	log.Printf("%d words are in %d documents or more", len(entries), minDF)
	entries = entries[:min(size, len(entries))]
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(z)
	fmt.Fprintf(w, "%d documents, %.1f words on average: %s\n", s.Documents(), averageLength(s), sources)
	for _, e := range entries {
		fmt.Fprintf(w, "%s %d\n", e.word, e.df)
	}
	if err := cmp.Or(w.Flush(), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
}

// isWord reports whether w consists of two or more letters.
func isWord(w string) bool {
	return len([]rune(w)) >= 2 && !strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
}

// goTree returns the comments of each directory of a Go tree, without comments in tests, and
// the files of its documentation.
func goTree(root string) map[string][]string {
	texts := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		dir := filepath.Dir(name)
		switch base := filepath.Base(name); {
		case err != nil:
			return err
		case e.IsDir() && (base == "testdata" || base == "pkg" || base == "test"):
			return fs.SkipDir
		case strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go"):
			texts[dir] = append(texts[dir], comments(name))
		case strings.HasSuffix(base, ".md") || strings.HasSuffix(base, ".html"):
			data, err := os.ReadFile(name)
			texts[name] = append(texts[name], document(name, data)...)
			return err
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	for dir, list := range texts {
		texts[dir] = []string{strings.Join(list, "\n")}
	}
	return texts
}

// comments returns the comments of a Go file.
func comments(name string) string {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, c := range f.Comments {
		if s := c.Text(); !strings.Contains(s, "Copyright") && !strings.Contains(s, "DO NOT EDIT") {
			b.WriteString(s + "\n")
		}
	}
	return b.String()
}

// packages returns the package of each file that Debian has installed.
func packages() map[string]string {
	owners := map[string]string{}
	lists, _ := filepath.Glob("/var/lib/dpkg/info/*.list")
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			log.Fatal(err)
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(list), ".list"), ":")
		for file := range strings.Lines(string(data)) {
			owners[strings.TrimSuffix(file, "\n")] = name
		}
	}
	return owners
}

// debian returns the texts of files, by package.
func debian(pattern string, owners map[string]string, read func(string, []byte) []string) map[string][]string {
	files := map[string][]string{} // by package
	matches, err := filepath.Glob(pattern)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range matches {
		err := filepath.WalkDir(m, func(name string, e fs.DirEntry, err error) error {
			if owner := owners[name]; err == nil && e.Type().IsRegular() && owner != "" {
				files[owner] = append(files[owner], name)
			}
			return err
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	texts := map[string][]string{}
	for owner, list := range files {
		for _, name := range sample(list) {
			data, err := os.ReadFile(name)
			if err != nil {
				log.Fatal(err)
			}
			if plain, ok := strings.CutSuffix(name, ".gz"); ok {
				z, err := gzip.NewReader(bytes.NewReader(data))
				if err != nil {
					log.Fatalf("%s: %v", name, err)
				}
				if data, err = io.ReadAll(z); err != nil {
					log.Fatalf("%s: %v", name, err)
				}
				name = plain
			}
			texts[owner] = append(texts[owner], read(name, data)...)
		}
	}
	return texts
}

// descriptions returns the descriptions of all packages. Most packages of one source have the
// first paragraphs in common; a repeated paragraph is omitted.
func descriptions(lists string) (texts []string) {
	files, err := filepath.Glob(lists + "/*_dists_*_main_i18n_Translation-en*")
	if err != nil || len(files) == 0 {
		log.Fatalf("no descriptions of packages in %s: %v\nhint: apt-get update -o Acquire::Languages=en", lists, err)
	}
	data, err := exec.Command("/usr/lib/apt/apt-helper", append([]string{"cat-file"}, files...)...).Output()
	if err != nil {
		log.Fatalf("reading the descriptions of packages: %v", err)
	}
	seen := map[string]bool{}
	for stanza := range strings.SplitSeq(string(data), "\n\n") {
		_, description, _ := strings.Cut(stanza, "\nDescription-en: ")
		for paragraph := range strings.SplitSeq(description, "\n .\n") {
			if !seen[paragraph] {
				seen[paragraph] = true
				texts = append(texts, paragraph)
			}
		}
	}
	return texts
}

// document returns the text of a file of documentation.
func document(name string, data []byte) []string {
	base := strings.ToLower(filepath.Base(name))
	switch ext := filepath.Ext(base); {
	case strings.HasPrefix(base, "changelog") || strings.HasPrefix(base, "copyright") || strings.HasPrefix(base, "license"):
		return nil
	case ext == ".html":
		return []string{page.NewExtractor().Extract(page.Document{Body: data}).Text}
	case ext == ".txt" || ext == ".md" || ext == ".rst" || strings.HasPrefix(base, "readme") || strings.HasPrefix(base, "faq"):
		return []string{string(data)}
	}
	return nil
}

// info returns the nodes of an Info file.
func info(name string, data []byte) []string { return strings.Split(string(data), "\x1f") }

var (
	macros    = regexp.MustCompile(`^[.'][ \t]*[A-Za-z]*`)                                                             // at the beginning of a line
	requests  = regexp.MustCompile(`^[.'][ \t]*(ds|nr|ie|if|el|ft|sp|ad|hy|nh|in|ta|ps|tr|so|TH|Dd|Dt|Os|TS|PSPIC)\b`) // lines without text
	callable  = regexp.MustCompile(`\b[A-Z][a-z]\b`)                                                                   // macros of mdoc within a line
	escapes   = regexp.MustCompile(`\\(?:"[^\n]*|[fm*n](?:\[[^]\n]*\]|\(..|.)|s[-+]?\d+|[hvwlLo]'[^'\n]*'|\[[^]\n]*\]|\(..|.)`)
	invisible = regexp.MustCompile(`^\\[fsm&|^/,%:c"]`) // escapes that do not separate words
)

// manual returns the text of a manual page, without its macros.
func manual(name string, data []byte) []string {
	mdoc := bytes.Contains(data, []byte("\n.Dd "))
	var b strings.Builder
	defining := false
	for line := range strings.Lines(string(data)) {
		switch {
		case defining || strings.HasPrefix(line, ".de") || strings.HasPrefix(line, ".ig"):
			defining = !strings.HasPrefix(line, "..")
			continue
		case strings.HasPrefix(line, `.\"`) || strings.HasPrefix(line, `'\"`) || requests.MatchString(line):
			continue
		case line[0] == '.' || line[0] == '\'':
			line = macros.ReplaceAllString(line, "")
			if mdoc {
				line = callable.ReplaceAllString(line, "")
			}
		}
		b.WriteString(escapes.ReplaceAllStringFunc(line, func(e string) string {
			switch {
			case e == `\-`:
				return "-"
			case invisible.MatchString(e):
				return ""
			}
			return " "
		}))
	}
	return []string{b.String()}
}
