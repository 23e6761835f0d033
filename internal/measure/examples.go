package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"spoor/internal/fitness"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// MaxText is the maximum number of bytes of a text that measures read.
const MaxText = 4 << 20

// Examples are example pages of one kind, positive or negative.
type Examples struct {
	Pages []fitness.Page
	Size  int // total size of the texts, in bytes

	urls      map[string]bool
	languages map[string]int // pages by the code of their language
}

// Add copies the page of a record. It returns "", or the reason why the page is not an example.
func (e *Examples) Add(rec *wire.Record) (reason string) {
	switch {
	case rec.URL == "":
		return "no page, but a query"
	case rec.Error != "":
		return "error " + rec.Error
	case Failed(rec):
		return fmt.Sprintf("status %d", rec.StatusCode)
	case e.urls[rec.URL]:
		return "given twice"
	case Unparsed(rec):
		return NotParsed
	case rec.Title == "" && rec.Text == "":
		return "no words"
	}
	p := Page(rec, nil)
	for _, s := range []*string{&p.URL, &p.Title, &p.Anchors, &p.Description, &p.Keywords, &p.Text} {
		*s = strings.Clone((*s)[:min(len(*s), MaxText)]) // the memory of the record is reused
		e.Size += len(*s)
	}
	for i, l := range p.Links {
		p.Links[i] = strings.Clone(l)
		e.Size += len(l)
	}
	e.Pages = append(e.Pages, p)
	if e.urls == nil {
		e.urls = map[string]bool{}
	}
	e.urls[p.URL] = true
	if code, _, _ := strings.Cut(strings.ToLower(rec.Lang), "-"); code != "" {
		if e.languages == nil {
			e.languages = map[string]int{}
		}
		e.languages[strings.Clone(code)]++
	}
	return ""
}

// Language returns the language of most pages whose language is known: a code that [text.New] accepts, und
// for a language that it does not know. It returns the default if no page has a language.
func (e *Examples) Language() string {
	best := ""
	for _, code := range slices.Sorted(maps.Keys(e.languages)) {
		if e.languages[code] > e.languages[best] {
			best = code
		}
	}
	switch {
	case best == "":
		return text.DefaultLanguage
	case !slices.Contains(text.Languages(), best):
		return "und"
	}
	return best
}

// AddKeywords adds the [topic.ExampleKeywords] words to t that distinguish the positive pages best.
func AddKeywords(t *topic.Topic, positive, negative *Examples) error {
	return t.AddExampleKeywords(positive.topicPages(), negative.topicPages(), topic.ExampleKeywords)
}

// NotParsed is the reason that [Examples.Add] returns for a page that has a body, but no words.
const NotParsed = "not parsed"

// Shared returns the address of a page that is in e and other, "" if there is none.
func (e *Examples) Shared(other *Examples) string {
	for _, p := range e.Pages {
		if other.urls[p.URL] {
			return p.URL
		}
	}
	return ""
}

// topicPages converts the pages for package topic.
func (e *Examples) topicPages() []topic.Page {
	pages := make([]topic.Page, len(e.Pages))
	for i, p := range e.Pages {
		pages[i] = topic.Page{URL: p.URL, Title: p.Title, Text: p.Text, Links: p.Links}
	}
	return pages
}

// LearnBackground computes the background of t from pages; see [topic.Topic.LearnBackground].
func LearnBackground(t *topic.Topic, pages *Examples) error {
	return t.LearnBackground(pages.topicPages())
}

// Learn computes the sections of t from the examples. If there are negative examples, it trains a
// classifier and returns its model; otherwise it returns nil.
func Learn(t *topic.Topic, positive, negative *Examples, o topic.LearnOptions) (*fitness.Model, error) {
	if err := t.Learn(positive.topicPages(), negative.topicPages(), o); err != nil {
		return nil, err
	}
	if len(negative.Pages) == 0 {
		return nil, nil
	}
	set, err := New(t, nil, Options{})
	if err != nil {
		return nil, err
	}
	m, err := fitness.Train(set.Target, positive.Pages, negative.Pages, fitness.TrainOptions{})
	if err != nil {
		return nil, err
	}
	t.Classifier = &topic.Classifier{
		Bias: m.Bias, Slope: m.Slope, Intercept: m.Intercept, Threshold: m.Threshold,
		Positives: m.Training.Positives, Negatives: m.Training.Negatives,
	}
	for _, f := range m.Features {
		t.Classifier.Features = append(t.Classifier.Features, topic.Feature{Name: f.Name, Weight: f.Weight})
	}
	return m, nil
}
