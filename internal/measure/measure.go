// Package measure creates the measures of package fitness from a topic file, and applies them
// to records. It also learns topics from records, and explains scores.
package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"spoor/internal/fitness"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// Options apply to all measures.
type Options struct {
	Norm    fitness.Norm
	Literal bool // compute exactly as the papers do
}

// ParseOptions returns the options for the values of the flags -norm and -compat. The papers
// have only the norm "topic".
func ParseOptions(norm string, compat bool) (Options, error) {
	switch {
	case norm == "topic":
		return Options{Literal: compat}, nil
	case norm != "page":
		return Options{}, fmt.Errorf("unknown norm %q: known are topic, page", norm)
	case compat:
		return Options{}, errors.New("-compat cannot be used with -norm page")
	}
	return Options{Norm: fitness.PageNorm}, nil
}

// A Measure is a [fitness.Measure] with its name.
type Measure struct {
	fitness.Measure
	Name string
}

// A Set is a list of measures with the same target. The target reads a page once for all of them.
type Set struct {
	Target   *fitness.Target
	Measures []Measure
}

// kinds lists all measures.
var kinds = [...]struct {
	name string
	make func(*topic.Topic, *fitness.Target, Options) (fitness.Measure, error)
	all  bool // the measure counts all words, not only the words of the topic

	section string // section of the topic that the measure needs, if the pages of the seeds suffice to learn it
}{
	{"vsm", vsm, false, ""},
	{"weighttable", symbiosis, false, "table"},
	{"weighttable-tf", tunnel, false, "table"},
	{"bm25", bm25, false, ""},
	{"wordscore", wordscore, true, ""},
	{"jaccard", jaccard, true, "reference"},
	{"classifier", classifier, false, ""},
}

// Section returns the section of a topic that a measure needs, if the pages of the seeds suffice to learn it:
// table or reference, or "" for none.
func Section(name string) string {
	for _, k := range kinds {
		if k.name == name {
			return k.section
		}
	}
	return ""
}

// LearnsLiterally reports whether topic -compat makes the section that the first of these measures needs as
// the paper of the measure has it. The table that it makes is that of Wilson et al. The table of Pal et
// al. is made without -compat.
func LearnsLiterally(names []string) bool {
	for _, name := range names {
		if Section(name) != "" {
			return name != "weighttable-tf"
		}
	}
	return true
}

// Names returns the names of all measures.
func Names() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Choose returns the names in a comma-separated list, as [Parse] does. For an empty list it returns
// the default: bm25 for every topic, or vsm if the norm is page, which bm25 ignores.
func Choose(list string, o Options) ([]string, error) {
	switch {
	case list != "":
		return Parse(list)
	case o.Norm == fitness.PageNorm:
		return []string{"vsm"}, nil
	}
	return []string{"bm25"}, nil
}

// Parse returns the names in a comma-separated list. Unknown names and duplicates are
// errors.
func Parse(list string) ([]string, error) {
	names := strings.Split(list, ",")
	for i, name := range names {
		switch {
		case !slices.Contains(Names(), name):
			return nil, fmt.Errorf("unknown measure %q: known are %s", name, strings.Join(Names(), ", "))
		case slices.Contains(names[:i], name):
			return nil, fmt.Errorf("measure %s is named twice", name)
		}
	}
	return names, nil
}

// New creates the measures with these names for t. The names must be names that [Parse] returns. If
// t lacks a section that a measure needs, the error names the option of the topic command that
// adds the section.
func New(t *topic.Topic, names []string, o Options) (*Set, error) {
	a, err := t.Analyzer()
	if err != nil {
		return nil, err
	}
	keywords := make([]fitness.Keyword, len(t.Keywords))
	for i, k := range t.Keywords {
		keywords[i] = fitness.Keyword{Text: k.Text, Weight: k.Weight}
	}
	target, err := fitness.NewTarget(a, keywords)
	if err != nil {
		return nil, err
	}
	s := &Set{Target: target}
	all := o.Norm == fitness.PageNorm || len(names) == 0 // without names, the target is for training
	for _, name := range names {
		for _, k := range kinds {
			if k.name != name {
				continue
			}
			m, err := k.make(t, target, o)
			if err != nil {
				return nil, fmt.Errorf("measure %s: %w", name, err)
			}
			s.Measures = append(s.Measures, Measure{m, name})
			all = all || k.all
		}
	}
	if !all {
		target.Restrict()
	}
	return s, nil
}

func vsm(_ *topic.Topic, target *fitness.Target, o Options) (fitness.Measure, error) {
	v := fitness.NewVSM(target)
	v.Norm, v.Literal = o.Norm, o.Literal
	return v, nil
}

// symbiosis returns the measure with the table of Wilson et al. If a word of the query is also in
// pages, the entry from the query is used; the entry from pages may have another weight.
func symbiosis(t *topic.Topic, target *fitness.Target, o Options) (fitness.Measure, error) {
	seen := make(map[string]bool)
	var table []fitness.Entry
	for _, query := range []bool{true, false} {
		for _, e := range t.Table {
			if (e.Origin == topic.FromQuery) == query && !seen[e.Term] {
				table = append(table, entry(e))
				seen[e.Term] = true
			}
		}
	}
	if len(table) == 0 {
		return nil, lacking("weight table", "-positive FILE")
	}
	if o.Norm == fitness.PageNorm {
		for _, group := range t.Vocabulary {
			for _, term := range group.Terms {
				if !seen[term] {
					table = append(table, fitness.Entry{Term: term, DF: group.DF})
				}
			}
		}
	}
	w, err := fitness.NewSymbiosisTable(target, table)
	if err != nil {
		return nil, err
	}
	w.Norm, w.Literal = o.Norm, o.Literal
	return w, nil
}

// tunnel returns the measure with the table of Pal et al., without the entries from the query.
func tunnel(t *topic.Topic, target *fitness.Target, o Options) (fitness.Measure, error) {
	var table []fitness.Entry
	for _, e := range t.Table {
		if e.Origin != topic.FromQuery {
			table = append(table, entry(e))
		}
	}
	if len(table) == 0 {
		return nil, lacking("weight table", "-positive FILE")
	}
	w, err := fitness.NewTunnelTable(target, table)
	if err != nil {
		return nil, err
	}
	w.Norm, w.Literal = o.Norm, o.Literal
	return w, nil
}

func entry(e topic.Entry) fitness.Entry {
	return fitness.Entry{Term: e.Term, Word: e.Word, Weight: e.Weight, DF: e.DF}
}

func bm25(t *topic.Topic, target *fitness.Target, o Options) (fitness.Measure, error) {
	s, err := bm25Statistics(t)
	if err != nil {
		return nil, err
	}
	return fitness.NewBM25(target, s, o.Literal)
}

// bm25Statistics returns the statistics of the example pages or, if there are none, of the
// background. The background has document frequencies of single words only. For an expression, the
// frequency of its rarest word is used, which is an upper bound. For a word that is not in the
// background, the frequency is 0. Without a background all words are equally rare.
func bm25Statistics(t *topic.Topic) (fitness.Statistics, error) {
	if t.Statistics != nil {
		s := fitness.Statistics{Documents: t.Statistics.Documents, AverageLength: t.Statistics.AverageLength}
		for _, k := range t.Keywords {
			s.DF = append(s.DF, k.DF)
		}
		return s, nil
	}
	a, err := t.Analyzer()
	if err != nil {
		return fitness.Statistics{}, err
	}
	keywords := make([][]text.Term, len(t.Keywords))
	for i, k := range t.Keywords {
		keywords[i] = a.Append(nil, k.Text)
	}
	a.Restrict()
	shares, documents := t.Background(a)
	if documents == 0 {
		return fitness.Statistics{Documents: 1, AverageLength: t.BackgroundLength(), DF: make([]int, len(t.Keywords))}, nil
	}
	s := fitness.Statistics{Documents: documents, AverageLength: t.BackgroundLength()}
	for _, terms := range keywords {
		share := 1.0
		for _, term := range terms {
			if !term.Silent() {
				share = min(share, shares[a.Name(term)])
			}
		}
		s.DF = append(s.DF, int(math.Round(float64(share*float64(documents)))))
	}
	return s, nil
}

func wordscore(_ *topic.Topic, target *fitness.Target, o Options) (fitness.Measure, error) {
	return fitness.NewWordScore(target, fitness.Alpha, o.Literal), nil
}

func jaccard(t *topic.Topic, target *fitness.Target, o Options) (fitness.Measure, error) {
	r := t.Reference
	if r == nil {
		return nil, lacking("reference page", "-positive FILE")
	}
	j := fitness.NewJaccard(target, fitness.Reference{Links: r.Links, Terms: r.Terms, Counts: r.Counts})
	j.Literal = o.Literal
	return j, nil
}

func classifier(t *topic.Topic, target *fitness.Target, _ Options) (fitness.Measure, error) {
	c := t.Classifier
	if c == nil {
		return nil, lacking("classifier", "-positive FILE -negative FILE")
	}
	m := fitness.Model{Bias: c.Bias, Slope: c.Slope, Intercept: c.Intercept, Threshold: c.Threshold}
	for _, f := range c.Features {
		m.Features = append(m.Features, fitness.Feature{Name: f.Name, Weight: f.Weight})
	}
	return fitness.NewClassifier(target, &m)
}

// lacking returns the error for a missing section. It names the option of the topic command that
// adds the section.
func lacking(section, option string) error {
	return fmt.Errorf("the topic has no %s\nhint: topic %s makes it, from example pages as parse writes them", section, option)
}

// Failed reports whether a record is about a failure. Its text, if any, is not the text of the page.
func Failed(rec *wire.Record) bool {
	return rec.Error != "" || rec.StatusCode != 0 && rec.StatusCode/100 != 2
}

// Unparsed reports whether a record holds a page that has not been parsed.
func Unparsed(rec *wire.Record) bool {
	return rec.Title == "" && rec.Text == "" && (rec.Body != "" || rec.BodyBase64 != "")
}

// Page returns the parts of a record that measures read. It shares the strings of the record, and
// appends the addresses of the links to links.
func Page(rec *wire.Record, links []string) fitness.Page {
	for i := range rec.Links {
		links = append(links, rec.Links[i].URL)
	}
	return fitness.Page{
		URL:         rec.URL,
		Title:       rec.Title,
		Anchors:     rec.AnchorText,
		Description: rec.Description,
		Keywords:    rec.Keywords,
		Text:        rec.Text,
		Links:       links,
	}
}
