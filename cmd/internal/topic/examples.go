package topic

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"spoor/internal/atomicfile"
	"spoor/internal/measure"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

const (
	maxExamples = 256 << 20 // bytes of all texts of one kind of examples
	maxReasons  = 20        // different reasons for leaving records out that are reported
)

// readBoth reads the positive and the negative pages. It is an error if a page is among both.
func (c *command) readBoth() (positive, negative *measure.Examples, err error) {
	if positive, err = c.readExamples("positive", c.positive); err != nil {
		return nil, nil, err
	}
	negative = new(measure.Examples)
	if len(c.negative) == 0 {
		return positive, negative, nil
	}
	if negative, err = c.readExamples("negative", c.negative); err != nil {
		return nil, nil, err
	}
	if url := positive.Shared(negative); url != "" {
		err = fmt.Errorf("%s is among the positive and among the negative pages\nhint: take it out of one of them", url)
	}
	return positive, negative, err
}

// setLanguage sets the language of a topic without keywords, and the first stemmer of this language.
func (c *command) setLanguage(t *topic.Topic, language string) error {
	empty, err := topic.New(language, "")
	if err != nil {
		return err
	}
	t.Language, t.Stemmer = empty.Language, empty.Stemmer
	if language != text.DefaultLanguage {
		fmt.Fprintf(c.stderr, "topic: the language of the example pages seems to be %s; -language says which it is\n", language)
	}
	return nil
}

// addKeywords adds words of the examples to a topic without keywords.
func (c *command) addKeywords(t *topic.Topic, positive, negative *measure.Examples) error {
	if err := measure.AddKeywords(t, positive, negative); err != nil {
		return err
	}
	words := make([]string, len(t.Keywords))
	for i, k := range t.Keywords {
		words[i] = fmt.Sprintf("%s %.2g", k.Text, k.Weight)
	}
	fmt.Fprintf(c.stderr, "topic: keywords of the examples, with their weights: %s\n", strings.Join(words, ", "))
	return nil
}

// learnFromExamples adds the sections that are made from example pages to t.
func (c *command) learnFromExamples(t *topic.Topic, positive, negative *measure.Examples) error {
	if url, err := weburl.Canonical(c.learn.Reference); err == nil {
		c.learn.Reference = url // as records have it
	}
	model, err := measure.Learn(t, positive, negative, c.learn)
	if err != nil {
		return err
	}
	words := 0
	for _, e := range t.Table {
		if e.Origin == topic.FromPages {
			words++
		}
	}
	fmt.Fprintf(c.stderr, "topic: %d positive and %d negative pages: a table of %d words in addition to the query's, reference page %s\n",
		len(positive.Pages), len(negative.Pages), words, t.Reference.URL)
	if model == nil {
		return nil
	}
	quality := "too few pages to tell how good it is"
	switch tr := model.Training; {
	case model.Slope == 0:
		quality = "it cannot tell the positive pages from the negative ones, and gives all the same probability"
	case tr.Folds > 0:
		quality = fmt.Sprintf("it calls %d of %d pages right that it was not trained on, %d if it always said the same",
			tr.Right, tr.Positives+tr.Negatives, max(tr.Positives, tr.Negatives))
	}
	fmt.Fprintf(c.stderr, "topic: a classifier of %d features; %s\n", len(t.Classifier.Features), quality)
	return nil
}

// learnBackground adds the document frequencies of pages on all topics to t.
func (c *command) learnBackground(t *topic.Topic) error {
	pages, err := c.readExamples("background", c.background)
	if err != nil {
		return err
	}
	if err := measure.LearnBackground(t, pages); err != nil {
		return fmt.Errorf("-background: %w", err)
	}
	terms := 0
	for _, s := range t.General.Vocabulary {
		terms += len(s.Terms)
	}
	fmt.Fprintf(c.stderr, "topic: a background of %d words from %d pages\n", terms, t.General.Documents)
	return nil
}

// readExamples reads the pages of files given with the flag called name.
func (c *command) readExamples(name string, files []string) (*measure.Examples, error) {
	e := new(measure.Examples)
	leftOut := map[string]int{} // records, by reason
	unparsed := 0
	var bad badLines
	for _, file := range files {
		if file != "-" { // a named pipe would be waited for
			f, err := atomicfile.OpenInput(file, math.MaxInt64)
			if err != nil {
				return nil, fmt.Errorf("-%s %s: %w", name, file, err)
			}
			f.Close()
		}
		err := eachRecord(c.stdin, []string{file}, c.archived != nil, func(rec *wire.Record) error {
			if c.archived != nil {
				c.archived.fill(rec)
			}
			if reason := measure.OneLine(e.Add(rec)); reason != "" {
				if reason == measure.NotParsed {
					unparsed++
				}
				if leftOut[reason] == 0 && len(leftOut) >= maxReasons {
					reason = "for other reasons"
				}
				leftOut[reason]++
			}
			if e.Size > maxExamples {
				return fmt.Errorf("more than %d MiB of text\nhint: a random sample of the pages is enough", maxExamples>>20)
			}
			return nil
		}, func(err *wire.SyntaxError) { bad.add(fmt.Errorf("%s: %w", file, err)) })
		if err != nil {
			return nil, fmt.Errorf("-%s %s: %w", name, file, err)
		}
	}
	bad.report(c.stderr, "-"+name+": ")
	for _, reason := range slices.Sorted(maps.Keys(leftOut)) {
		fmt.Fprintf(c.stderr, "topic: -%s: left out %d: %s\n", name, leftOut[reason], reason)
	}
	switch {
	case len(e.Pages) > 0:
		return e, nil
	case unparsed > 0:
		return nil, fmt.Errorf("-%s: no page in %s has been parsed\nhint: parse %[2]s > parsed.ndjson, and give that", name, strings.Join(files, " "))
	}
	return nil, fmt.Errorf("-%s: no page with words in %s\nhint: example pages are what parse prints: fetch urls.txt | parse > pages.ndjson; with -archive they may be addresses", name, strings.Join(files, " "))
}
