package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/cmd/internal/measure"
	"spoor/internal/fitness"
	"spoor/internal/topic"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// errFound ends the reading: what was looked for is there.
var errFound = errors.New("found")

// runExplain prints why a page scores as it does.
func (c *command) runExplain() error {
	if c.n < 0 {
		return filter.Usagef("-n %d: how many reasons?", c.n)
	}
	names, err := measure.Parse(c.fitness)
	if err != nil {
		return filter.Exit(filter.StatusMisuse, err)
	}
	o, err := measure.ParseOptions(c.norm, c.learn.Literal)
	if err != nil {
		return filter.Exit(filter.StatusMisuse, err)
	}
	url, err := weburl.Canonical(c.explain)
	if err != nil {
		return filter.Usagef("-explain %q: %w\nhint: the address of a page, such as https://example.org/", c.explain, err)
	}
	t, err := topic.Load(c.topic)
	if err != nil {
		return err
	}
	set, err := measure.New(t, names, o)
	if err != nil {
		return fmt.Errorf("topic file %s: %w", c.topic, err)
	}
	pages, found := 0, false
	var others strays
	out := bufio.NewWriter(c.stdout) // which remembers that it could not write
	e := explainer{topic: t, set: set, n: c.n, out: out}
	err = eachRecord(c.stdin, c.files, func(rec *wire.Record) error {
		pages++
		if rec.URL != url && rec.FinalURL != url {
			return nil
		}
		if found {
			fmt.Fprintln(out)
		}
		if found = true; e.explain(rec) {
			return errFound
		}
		return nil // a failure; the page may come yet
	}, func(bad *wire.SyntaxError) { others.add(bad) })
	others.report(c.stderr, "")
	full := out.Flush()
	switch {
	case err != nil && !errors.Is(err, errFound):
		return err
	case found:
		return full
	}
	hint := "topic -explain reads what parse prints"
	if pages > 0 {
		hint += ", and the address is to be as it is there: jq -r .url"
	}
	return fmt.Errorf("%s is not among the %d pages that were read\nhint: %s", url, pages, hint)
}

// An explainer prints why a page scores as it does.
type explainer struct {
	topic *topic.Topic
	set   *measure.Set
	n     int // reasons of a measure, and links, that are printed
	out   io.Writer
}

// explain prints what there is to say of a record, and reports whether that is a
// page.
func (e *explainer) explain(rec *wire.Record) bool {
	fmt.Fprintln(e.out, clean(rec.URL))
	if rec.FinalURL != "" && rec.FinalURL != rec.URL {
		fmt.Fprintln(e.out, "redirected to", clean(rec.FinalURL))
	}
	if rec.Title != "" {
		fmt.Fprintln(e.out, oneLine(rec.Title))
	}
	switch {
	case rec.Error != "":
		fmt.Fprintf(e.out, "\nThere is no page, but the error %s, so there is no score.\n", clean(rec.Error))
		return false
	case measure.Failed(rec):
		fmt.Fprintf(e.out, "\nThe status is %d: this is a page about a failure, and its score is 0.\n", rec.StatusCode)
		return false
	case raw(rec):
		fmt.Fprintf(e.out, "\nThe page has not been parsed, so it has no words: parse it first.\n")
		return false
	}
	p := measure.Page(rec, nil)
	reading := e.set.Target.Read(&p)
	for i := range e.set.Measures {
		e.measure(&e.set.Measures[i], i == 0, reading)
	}
	e.links(rec)
	return true
}

// measure prints what one measure says. The topic's threshold is for the first.
func (e *explainer) measure(m *measure.Measure, first bool, r *fitness.Reading) {
	score, threshold := m.Page(r), m.Threshold()
	if first && e.topic.Threshold != nil {
		threshold = *e.topic.Threshold
	}
	verdict := "not relevant"
	if score >= threshold {
		verdict = "relevant"
	}
	fmt.Fprintf(e.out, "\n%s %.4f, threshold %.4g: %s\n", m.Name, score, threshold, verdict)
	reasons := m.Explain(r)
	slices.SortStableFunc(reasons, func(a, b fitness.Reason) int { // what speaks against the topic, too
		return cmp.Compare(math.Abs(b.Part), math.Abs(a.Part))
	})
	if len(reasons) == 0 {
		fmt.Fprintln(e.out, "  nothing of the topic is in the page")
		return
	}
	part := "part"
	if m.Name == "classifier" {
		part = "log-odds"
	}
	fmt.Fprintf(e.out, "  %9s %9s %9s  %s\n", part, "weight", "count", "what")
	for _, reason := range reasons[:min(e.n, len(reasons))] {
		fmt.Fprintf(e.out, "  %9.4f %9.4g %9.4g  %s\n", reason.Part, reason.Weight, reason.Count, oneLine(reason.What))
	}
	if rest := reasons[min(e.n, len(reasons)):]; len(rest) > 0 {
		sum := 0.0
		for _, reason := range rest {
			sum += reason.Part
		}
		fmt.Fprintf(e.out, "  %9.4f %9s %9s  %d more\n", sum, "", "", len(rest))
	}
}

// links prints the links that promise most by the first measure, without those
// that promise nothing.
func (e *explainer) links(rec *wire.Record) {
	type promise struct {
		*wire.Link
		fitness.Promise
	}
	var links []promise
	m := e.set.Measures[0]
	for i := range rec.Links {
		l := &rec.Links[i]
		links = append(links, promise{l, m.Link(e.set.Target.ReadLink(&fitness.Link{URL: l.URL, Anchor: l.Anchor, Context: l.Context}))})
	}
	if len(links) == 0 {
		return
	}
	slices.SortStableFunc(links, func(a, b promise) int {
		return cmp.Or(cmp.Compare(b.Promise.Score, a.Promise.Score), strings.Compare(a.Link.URL, b.Link.URL))
	})
	fmt.Fprintf(e.out, "\nlinks by %s, %d in all\n  %9s %9s %9s %9s  %s\n", m.Name, len(links), "score", "anchor", "context", "url", "to")
	best := links[:min(e.n, len(links))]
	for len(best) > 0 && best[len(best)-1].Promise == (fitness.Promise{}) {
		best = best[:len(best)-1]
	}
	for _, l := range best {
		fmt.Fprintf(e.out, "  %9.4f %9.4f %9.4f %9.4f  %s %s\n", l.Promise.Score, l.Promise.Anchor, l.Promise.Context, l.Promise.URL, clean(l.Link.URL), oneLine(l.Link.Anchor))
	}
	if rest := len(links) - len(best); rest > 0 {
		fmt.Fprintf(e.out, "  %9s %9s %9s %9s  %d more\n", "", "", "", "", rest)
	}
}

// clean is s on one line, without anything that a terminal would obey.
func clean(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || 0x7F <= r && r < 0xA0 {
			return ' '
		}
		return r
	}, s)), " ")
}

// oneLine is the beginning of s, clean.
func oneLine(s string) string {
	const most = 72
	s = clean(s)
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}
