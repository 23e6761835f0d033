package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"spoor/cmd/internal/measure"
	"spoor/internal/fitness"
	"spoor/internal/topic"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// Limits of the examples of one kind.
const (
	maxExamples = 256 << 20 // bytes of all texts
	maxReasons  = 20        // that are told why records are left out
)

// ofPages adds to t what the example pages tell.
func (c *command) ofPages(t *topic.Topic) error {
	positive, err := readExamples("positive", c.positive, c.stdin, c.stderr)
	if err != nil {
		return err
	}
	negative := new(examples)
	if len(c.negative) > 0 {
		if negative, err = readExamples("negative", c.negative, c.stdin, c.stderr); err != nil {
			return err
		}
		if url := both(positive, negative); url != "" {
			return fmt.Errorf("%s is among the positive and among the negative pages\nhint: take it out of one of them", url)
		}
	}
	c.learn.Reference = canonical(c.learn.Reference)
	if err := t.Learn(positive.forTopic(), negative.forTopic(), c.learn); err != nil {
		return err
	}
	words := 0
	for _, e := range t.Table {
		if e.Origin == topic.FromPages {
			words++
		}
	}
	fmt.Fprintf(c.stderr, "topic: %d positive and %d negative pages: a table of %d words besides the query's, reference page %s\n",
		len(positive.pages), len(negative.pages), words, t.Reference.URL)
	if len(negative.pages) == 0 {
		return nil
	}
	set, err := measure.New(t, nil, measure.Options{})
	if err != nil {
		return err
	}
	m, err := fitness.Train(set.Target, positive.pages, negative.pages, fitness.TrainOptions{})
	if err != nil {
		return err
	}
	t.Classifier = classifier(m)
	quality := "too few pages to tell how good it is"
	switch tr := m.Training; {
	case m.Slope == 0:
		quality = "it cannot tell the positive pages from the negative ones, and gives all the same probability"
	case tr.Folds > 0:
		quality = fmt.Sprintf("it calls %d of %d pages right that it was not trained on, %d if it always said the same",
			tr.Right, tr.Positives+tr.Negatives, max(tr.Positives, tr.Negatives))
	}
	fmt.Fprintf(c.stderr, "topic: a classifier of %d features; %s\n", len(t.Classifier.Features), quality)
	return nil
}

// classifier is a model as a topic file has it.
func classifier(m *fitness.Model) *topic.Classifier {
	t := &topic.Classifier{
		Bias: m.Bias, Slope: m.Slope, Intercept: m.Intercept, Threshold: m.Threshold,
		Positives: m.Training.Positives, Negatives: m.Training.Negatives,
	}
	for _, f := range m.Features {
		t.Features = append(t.Features, topic.Feature{Name: f.Name, Weight: f.Weight})
	}
	return t
}

// examples are the pages of some files, as parse leaves them.
type examples struct {
	pages []fitness.Page
	urls  map[string]bool
	size  int
	out   map[string]int // records left out, by reason
	raw   int            // of those: pages that have not been parsed
	strays
}

// readExamples reads the pages of files given with the flag called name. A page
// that is there twice counts once.
func readExamples(name string, files []string, stdin io.Reader, stderr io.Writer) (*examples, error) {
	e := &examples{urls: make(map[string]bool), out: make(map[string]int)}
	for _, file := range files {
		if err := e.read(file, stdin); err != nil {
			return nil, fmt.Errorf("-%s %s: %w", name, file, err)
		}
	}
	e.report(stderr, "-"+name+": ")
	for _, reason := range slices.Sorted(maps.Keys(e.out)) {
		fmt.Fprintf(stderr, "topic: -%s: left out %d: %s\n", name, e.out[reason], reason)
	}
	switch {
	case len(e.pages) > 0:
		return e, nil
	case e.raw > 0:
		return nil, fmt.Errorf("-%s: no page in %s has been parsed\nhint: parse %[2]s > parsed.ndjson, and give that", name, strings.Join(files, " "))
	}
	return nil, fmt.Errorf("-%s: no page with words in %s\nhint: example pages are what parse prints: fetch urls.txt | parse > pages.ndjson", name, strings.Join(files, " "))
}

func (e *examples) read(file string, stdin io.Reader) error {
	return eachRecord(stdin, []string{file}, func(rec *wire.Record) error {
		if reason := oneLine(e.add(rec)); reason != "" {
			if e.out[reason] == 0 && len(e.out) >= maxReasons {
				reason = "for other reasons"
			}
			e.out[reason]++
		}
		if e.size > maxExamples {
			return fmt.Errorf("more than %d MiB of text\nhint: some hundred pages are enough", maxExamples>>20)
		}
		return nil
	}, func(bad *wire.SyntaxError) { e.strays.add(fmt.Errorf("%s: %w", file, bad)) })
}

// add keeps the page of a record, or says why not.
func (e *examples) add(rec *wire.Record) string {
	switch {
	case rec.URL == "":
		return "no page, but a query"
	case rec.Error != "":
		return "error " + rec.Error
	case measure.Failed(rec):
		return fmt.Sprintf("status %d", rec.StatusCode)
	case e.urls[rec.URL]:
		return "given twice"
	case raw(rec):
		e.raw++
		return "not parsed"
	case rec.Title == "" && rec.Text == "":
		return "no words"
	}
	p := measure.Page(rec, nil)
	for _, s := range []*string{&p.URL, &p.Title, &p.Anchors, &p.Description, &p.Keywords, &p.Text} {
		*s = strings.Clone(cut(*s)) // the record is read into again
		e.size += len(*s)
	}
	for i, l := range p.Links {
		p.Links[i] = strings.Clone(l)
		e.size += len(l)
	}
	e.pages = append(e.pages, p)
	e.urls[p.URL] = true
	return ""
}

// canonical is an address of the command line as records have it; what is none
// is left as it is, and will not be found.
func canonical(url string) string {
	if c, err := weburl.Canonical(url); err == nil {
		return c
	}
	return url
}

// forTopic is the pages as package topic reads them.
func (e *examples) forTopic() []topic.Page {
	pages := make([]topic.Page, len(e.pages))
	for i, p := range e.pages {
		pages[i] = topic.Page{URL: p.URL, Title: p.Title, Text: p.Text, Links: p.Links}
	}
	return pages
}

// both is the address of a page that is in both sets, if there is one.
func both(a, b *examples) string {
	for _, p := range a.pages {
		if b.urls[p.URL] {
			return p.URL
		}
	}
	return ""
}
