// Package topic is the target of a crawl: what the pages sought are about, as
// a file that people can read, compare and keep under version control.
//
// A topic file says in the user's words what is sought, and beside each
// expression the terms that it is matched by. How near a page is to a topic is
// not known here; see package fitness.
package topic

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/text"
)

// Format and Version mark a topic file.
const (
	Format  = "spoor-topic"
	Version = 1
)

// maxFile bounds a topic file, in bytes.
const maxFile = 64 << 20

// A Topic is what the pages sought are about.
type Topic struct {
	Format    string    `json:"format"`              // [Format]
	Version   int       `json:"version"`             // [Version]
	Query     string    `json:"query,omitempty"`     // the words as they were asked, for people
	Language  string    `json:"language"`            // ISO 639-1 code of its words
	Stemmer   string    `json:"stemmer"`             // one of the language's stemmers, see package text
	Threshold *float64  `json:"threshold,omitempty"` // pages with this score are relevant; nil: the measure's own
	Keywords  []Keyword `json:"keywords"`            // what is matched, never empty
}

// A Keyword is a word, or several words in a row, that tells of the topic.
type Keyword struct {
	Text   string   `json:"text"`   // as the user wrote it
	Weight float64  `json:"weight"` // above 0
	Terms  []string `json:"terms"`  // how it is matched: its stems, and the stop words between them
}

// New is an empty topic whose words are analysed as language and stemmer say;
// empty names stand for the defaults of package text.
func New(language, stemmer string) (*Topic, error) {
	if language == "" {
		language = text.DefaultLanguage
	}
	if _, err := text.New(language, stemmer); err != nil {
		return nil, err
	}
	if stemmer == "" {
		stemmer = text.Stemmers(language)[0]
	}
	return &Topic{Format: Format, Version: Version, Language: language, Stemmer: stemmer}, nil
}

// Analyzer is a new analyzer for the topic's words and the pages to compare
// with them.
func (t *Topic) Analyzer() (*text.Analyzer, error) { return text.New(t.Language, t.Stemmer) }

// AddKeyword adds an expression of one or more words. The weight must be above
// 0 and finite; an expression without any word that counts, and a second one
// that is matched by the same terms, are refused.
func (t *Topic) AddKeyword(expression string, weight float64) error {
	a, err := t.Analyzer()
	if err != nil {
		return err
	}
	if !(weight > 0) || math.IsInf(weight, 0) {
		return fmt.Errorf("keyword %q: weight %v is not above 0 and finite", expression, weight)
	}
	terms, err := spell(a, expression)
	if err != nil {
		return err
	}
	if i := t.find(terms); i >= 0 {
		return fmt.Errorf("keywords %q and %q are matched by the same terms (%s)\nhint: give one of them",
			t.Keywords[i].Text, expression, strings.Join(terms, " "))
	}
	t.Keywords = append(t.Keywords, Keyword{expression, weight, terms})
	return nil
}

// AddQuery adds every word of query with weight 1, and returns the words that
// do not count, such as stop words. A word whose term the topic has already is
// not added again, whatever its weight there.
func (t *Topic) AddQuery(query string) (ignored []string, err error) {
	a, err := t.Analyzer()
	if err != nil {
		return nil, err
	}
	before := len(t.Keywords)
	known := false
	for word := range text.Words(query) {
		terms, err := spell(a, word)
		switch {
		case err != nil:
			ignored = append(ignored, word)
		case t.find(terms) >= 0:
			known = true
		default:
			t.Keywords = append(t.Keywords, Keyword{word, 1, terms})
		}
	}
	if len(t.Keywords) == before && !known {
		return ignored, fmt.Errorf("query %q: no word of it counts\nhint: use words that pages about the topic have and others have not", query)
	}
	t.Query = strings.Join(strings.Fields(t.Query+" "+query), " ")
	return ignored, nil
}

// find is the index of the keyword with these terms, -1 if there is none.
func (t *Topic) find(terms []string) int {
	return slices.IndexFunc(t.Keywords, func(k Keyword) bool { return slices.Equal(k.Terms, terms) })
}

// spell is the names of the terms that expression is matched by.
func spell(a *text.Analyzer, expression string) ([]string, error) {
	var names []string
	counts := false
	for _, term := range a.Append(nil, expression) {
		if term == text.Gap {
			return nil, fmt.Errorf("keyword %q: a number of more than four digits, or a word too long, is never matched\nhint: leave it out", expression)
		}
		names = append(names, a.Name(term))
		counts = counts || !term.Silent()
	}
	if !counts {
		return nil, fmt.Errorf("keyword %q: only stop words and single characters, which no page is told by\nhint: use a longer expression or leave it out", expression)
	}
	return names, nil
}

// Write writes the topic as indented JSON, a keyword a line.
func (t *Topic) Write(w io.Writer) error {
	var b strings.Builder
	field := func(name string, value any) {
		v, err := marshal(value)
		if err != nil {
			panic(err) // strings and finite numbers
		}
		fmt.Fprintf(&b, "  %q: %s,\n", name, v)
	}
	b.WriteString("{\n")
	field("format", t.Format)
	field("version", t.Version)
	if t.Query != "" {
		field("query", t.Query)
	}
	field("language", t.Language)
	field("stemmer", t.Stemmer)
	if t.Threshold != nil {
		field("threshold", *t.Threshold)
	}
	b.WriteString("  \"keywords\": [")
	for i, k := range t.Keywords {
		v, err := marshal(k)
		if err != nil {
			return fmt.Errorf("keyword %q: %w", k.Text, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    " + v)
	}
	b.WriteString("\n  ]\n}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// marshal is v as JSON on one line, with < and & as they are.
func marshal(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// Read reads a topic file and checks that everything in it holds together. A
// keyword written by hand may leave its terms out.
func Read(r io.Reader) (*Topic, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d MiB\nhint: a topic file is made by topic -query", maxFile>>20)
	}
	var head struct {
		Format  string
		Version int
	}
	err = json.Unmarshal(data, &head)
	if err == nil && head.Format != Format {
		err = fmt.Errorf("its format is %q, not %q", head.Format, Format)
	}
	if err != nil {
		return nil, fmt.Errorf("not a topic file: %w\nhint: topic -query \"words\" makes one", err)
	}
	switch {
	case head.Version > Version:
		return nil, fmt.Errorf("version %d is newer than this program reads (%d)\nhint: install a newer spoor, or make the topic anew with this one's topic command", head.Version, Version)
	case head.Version < 1:
		return nil, fmt.Errorf("version %d does not exist\nhint: this program writes and reads version %d", head.Version, Version)
	}
	t := new(Topic)
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(t); err != nil {
		return nil, err
	}
	return t, t.check()
}

// check reports what is wrong with a topic that was read.
func (t *Topic) check() error {
	a, err := t.Analyzer()
	if err != nil {
		return err
	}
	if t.Threshold != nil && !ValidThreshold(*t.Threshold) {
		return fmt.Errorf("threshold %v is not a number from 0", *t.Threshold)
	}
	if len(t.Keywords) == 0 {
		return errors.New("no keywords: every page would have score 0\nhint: topic -query \"words\" makes a topic that has some")
	}
	seen := make(map[string]string)
	for i := range t.Keywords {
		k := &t.Keywords[i]
		if !(k.Weight > 0) {
			return fmt.Errorf("keyword %q: weight %v is not above 0", k.Text, k.Weight)
		}
		terms, err := spell(a, k.Text)
		if err != nil {
			return err
		}
		if k.Terms == nil {
			k.Terms = terms
		}
		if !slices.Equal(terms, k.Terms) {
			return fmt.Errorf("keyword %q: its terms are %s here, the file says %s\nhint: after a change of the text by hand, remove the terms beside it",
				k.Text, quote(terms), quote(k.Terms))
		}
		key := strings.Join(terms, " ")
		if other, ok := seen[key]; ok {
			return fmt.Errorf("keywords %q and %q are matched by the same terms (%s)\nhint: leave one of them", other, k.Text, key)
		}
		seen[key] = k.Text
	}
	return nil
}

// quote writes terms as the file has them.
func quote(terms []string) string {
	q := make([]string, len(terms))
	for i, s := range terms {
		q[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(q, ",") + "]"
}

// ValidThreshold reports whether v can be a topic's threshold: finite and not
// below 0.
func ValidThreshold(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// Load reads the topic file called name; its errors say which file is meant.
func Load(name string) (*Topic, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("topic: %w\nhint: topic -query \"words\" > %s makes one", err, name)
	}
	defer f.Close()
	t, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("topic: %s: %w", name, err)
	}
	return t, nil
}
