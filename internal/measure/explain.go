package measure

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"spoor/internal/fitness"
	"spoor/internal/wire"
)

// An Explainer prints, for people to read, why a page has its scores.
type Explainer struct {
	Set       *Set
	Threshold *float64 // threshold of the topic for the first measure; nil for the default of the measure
	N         int      // maximum number of reasons of a measure, and of links, to print
	Out       io.Writer
}

// Explain prints an explanation of the scores of a record. It reports whether the record holds a
// parsed page.
func (e *Explainer) Explain(rec *wire.Record) bool {
	fmt.Fprintln(e.Out, clean(rec.URL))
	if rec.FinalURL != "" && rec.FinalURL != rec.URL {
		fmt.Fprintln(e.Out, "redirected to", clean(rec.FinalURL))
	}
	if rec.Title != "" {
		fmt.Fprintln(e.Out, OneLine(rec.Title))
	}
	switch {
	case rec.Error != "":
		fmt.Fprintf(e.Out, "\nThe fetch failed with the error %s, so there is no page and no score.\n", clean(rec.Error))
		return false
	case Failed(rec):
		fmt.Fprintf(e.Out, "\nThe status is %d: this is a page about a failure, and its score is 0.\n", rec.StatusCode)
		return false
	case Unparsed(rec):
		fmt.Fprintf(e.Out, "\nThe page has not been parsed, so it has no words: parse it first.\n")
		return false
	}
	p := Page(rec, nil)
	reading := e.Set.Target.Read(&p)
	for i := range e.Set.Measures {
		e.measure(&e.Set.Measures[i], i == 0, reading)
	}
	e.links(rec)
	return true
}

// measure prints the score of one measure and its largest parts.
func (e *Explainer) measure(m *Measure, first bool, r *fitness.Reading) {
	score, threshold := m.Page(r), m.Threshold()
	if first && e.Threshold != nil {
		threshold = *e.Threshold
	}
	verdict := "not relevant"
	if score >= threshold {
		verdict = "relevant"
	}
	fmt.Fprintf(e.Out, "\n%s %.4f, threshold %.4g: %s\n", m.Name, score, threshold, verdict)
	reasons := m.Explain(r)
	slices.SortStableFunc(reasons, func(a, b fitness.Reason) int { // by absolute value
		return cmp.Compare(math.Abs(b.Part), math.Abs(a.Part))
	})
	if len(reasons) == 0 {
		fmt.Fprintln(e.Out, "  nothing of the topic is in the page")
		return
	}
	part := "part"
	if m.Name == "classifier" {
		part = "log-odds"
	}
	fmt.Fprintf(e.Out, "  %9s %9s %9s  %s\n", part, "weight", "count", "what")
	for _, reason := range reasons[:min(e.N, len(reasons))] {
		fmt.Fprintf(e.Out, "  %9.4f %9.4g %9.4g  %s\n", reason.Part, reason.Weight, reason.Count, OneLine(reason.What))
	}
	if rest := reasons[min(e.N, len(reasons)):]; len(rest) > 0 {
		sum := 0.0
		for _, reason := range rest {
			sum += reason.Part
		}
		fmt.Fprintf(e.Out, "  %9.4f %9s %9s  %d more%s\n", sum, "", "", len(rest), withZero(rest[0].Part))
	}
}

// links prints the links to which the first measure gives the highest predicted scores. It omits
// links whose prediction is 0.
func (e *Explainer) links(rec *wire.Record) {
	type promise struct {
		*wire.Link
		fitness.Promise
	}
	var links []promise
	m := e.Set.Measures[0]
	for i := range rec.Links {
		l := &rec.Links[i]
		links = append(links, promise{l, m.Link(e.Set.Target.ReadLink(&fitness.Link{URL: l.URL, Anchor: l.Anchor, Context: l.Context}))})
	}
	if len(links) == 0 {
		return
	}
	slices.SortStableFunc(links, func(a, b promise) int {
		return cmp.Or(cmp.Compare(b.Promise.Score, a.Promise.Score), strings.Compare(a.Link.URL, b.Link.URL))
	})
	fmt.Fprintf(e.Out, "\nlinks by %s, %d in all\n  %9s %9s %9s %9s  %s\n", m.Name, len(links), "score", "anchor", "context", "url", "to")
	best := links[:min(e.N, len(links))]
	for len(best) > 0 && best[len(best)-1].Promise == (fitness.Promise{}) {
		best = best[:len(best)-1]
	}
	for _, l := range best {
		fmt.Fprintf(e.Out, "  %9.4f %9.4f %9.4f %9.4f  %s %s\n", l.Promise.Score, l.Promise.Anchor, l.Promise.Context, l.Promise.URL, clean(l.Link.URL), OneLine(l.Link.Anchor))
	}
	if rest := len(links) - len(best); rest > 0 {
		fmt.Fprintf(e.Out, "  %9s %9s %9s %9s  %d more%s\n", "", "", "", "", rest, withZero(links[len(best)].Promise.Score))
	}
}

// withZero returns the words that follow the number of omitted values; v is the largest of them.
func withZero(v float64) string {
	if v == 0 {
		return " with 0"
	}
	return ""
}

// clean returns s on one line.
func clean(s string) string {
	return strings.Join(strings.Fields(s), " ")
}

// OneLine returns the beginning of s on one line.
func OneLine(s string) string {
	const maxLength = 72
	s = clean(s)
	if runes := []rune(s); len(runes) > maxLength {
		return string(runes[:maxLength-1]) + "…"
	}
	return s
}
