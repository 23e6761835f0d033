package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"

	"spoor/cmd/internal/filter"
	"spoor/cmd/internal/measure"
	"spoor/internal/topic"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// A hearing holds what a crawl says of its pages against a classifier, where there are
// no labels. It tells how far two measures agree, not how good the crawl is.
type hearing struct {
	account
	*measure.Set
	threshold float64
	t         int64 // the cost up to which pages count; 0: all of it

	both, crawl, classifier, neither int64 // who calls the page relevant
	scored, same                     int64 // pages that have a score, and those whose score is the classifier's
}

// newHearing takes the classifier out of the topic file.
func (o *options) newHearing() (*hearing, error) {
	t, err := topic.Load(o.topic)
	if err != nil {
		return nil, err
	}
	set, err := measure.New(t, []string{"classifier"}, measure.Options{})
	if err != nil {
		return nil, fmt.Errorf("topic file %s: %w", o.topic, err)
	}
	return &hearing{Set: set, threshold: set.Measures[0].Threshold(), t: int64(o.t)}, nil
}

// run holds the records of in against the classifier.
func (h *hearing) run(o *options, in io.Reader, stdout io.Writer, log *slog.Logger) error {
	tally := filter.NewTally(log)
	o.stream.Want |= wire.Parse
	err := o.each(in, stdout, tally, h.say)
	if err == nil {
		err = tally.Misfit()
	}
	if err != nil {
		tally.Close()
		return err
	}
	a := h.agreement()
	if a.Pages == 0 {
		log.Warn("no page could be held against the classifier", "hint", "judge -topic reads pages with text and relevant, as score leaves them")
	}
	if !a.HeldOut {
		log.Warn("the crawl went by this classifier itself, so their agreement says nothing", "hint", "train another, with examples that the crawl has not seen")
	}
	log.Info("held against a classifier", a.attrs()...)
	if o.summary != "" {
		err = writeJSON(o.summary, hearingSummary{1, h.spent, h.spent, h.queries, h.free, a})
	}
	tally.Close(slog.Int64("spent", h.spent), slog.Int64("free", h.free), slog.Int64("queries", h.queries))
	return err
}

// say is the classifier's verdict on a record, and what was spent until then.
func (h *hearing) say(rec *wire.Record) (verdict string, spent int64) {
	within := h.t == 0 || h.spent < h.t
	p := h.buy(rec, addressed(rec))
	switch {
	case p.query:
		return "", h.spent
	case p.cost == 0:
		return sayFree, h.spent
	case p.repeated:
		return sayRepeated, h.spent
	case measure.Failed(rec), rec.Title == "" && rec.Text == "":
		return sayUnlabelled, h.spent // there is nothing to be judged
	}
	page := measure.Page(rec, nil)
	value := h.Measures[0].Page(h.Target.Read(&page))
	says := value >= h.threshold
	if within {
		h.compare(rec, value, says)
	}
	if says {
		return sayRelevant, h.spent
	}
	return sayIrrelevant, h.spent
}

// compare counts who calls the page relevant.
func (h *hearing) compare(rec *wire.Record, value float64, says bool) {
	if rec.Score.Kind == wire.Present {
		h.scored++
		if math.Abs(rec.Score.Value-value) < 1e-9 {
			h.same++
		}
	}
	if rec.Relevant.Kind != wire.Present {
		return
	}
	switch {
	case says && rec.Relevant.Value:
		h.both++
	case says:
		h.classifier++
	case rec.Relevant.Value:
		h.crawl++
	default:
		h.neither++
	}
}

// addressed is the identity of a record's page without a web: where redirects ended.
func addressed(rec *wire.Record) identity {
	address := rec.FinalURL
	if address == "" {
		address = rec.URL
	}
	if url, err := weburl.Canonical(address); err == nil {
		address = url
	}
	return identity{none, address}
}

// A hearingSummary is what is said in the end. It has no measure of a crawl.
type hearingSummary struct {
	V         int       `json:"v"`
	Fetched   int64     `json:"fetched"`
	Cost      int64     `json:"cost"`
	Queries   int64     `json:"queries"`
	Free      int64     `json:"free"`
	Agreement agreement `json:"agreement"`
}

// An agreement is how far the crawl's own verdicts are a classifier's.
type agreement struct {
	With           string  `json:"with"`
	HeldOut        bool    `json:"held_out"` // the classifier's scores are not those of the crawl
	Pages          int64   `json:"pages"`
	Both           int64   `json:"both"`
	OnlyCrawl      int64   `json:"only_crawl"`
	OnlyClassifier int64   `json:"only_classifier"`
	Neither        int64   `json:"neither"`
	Precision      float64 `json:"precision"` // of what the crawl calls relevant, the classifier does
	Recall         float64 `json:"recall"`    // of what the classifier calls relevant, the crawl does
	F1             float64 `json:"f1"`
	Kappa          float64 `json:"kappa"` // agreement beyond chance: J. Cohen, Educ. Psychol. Meas. 20(1), 1960
}

func (h *hearing) agreement() agreement {
	a := agreement{
		With: "classifier", HeldOut: h.scored == 0 || h.same < h.scored,
		Pages: h.both + h.crawl + h.classifier + h.neither,
		Both:  h.both, OnlyCrawl: h.crawl, OnlyClassifier: h.classifier, Neither: h.neither,
	}
	crawl, classifier, n := float64(h.both+h.crawl), float64(h.both+h.classifier), float64(a.Pages)
	a.Precision = quotient(float64(h.both), crawl)
	a.Recall = quotient(float64(h.both), classifier)
	a.F1 = quotient(2*float64(h.both), crawl+classifier)
	observed := float64(h.both+h.neither) / max(1, n)
	chance := (crawl*classifier + (n-crawl)*(n-classifier)) / max(1, n*n)
	a.Kappa = quotient(observed-chance, 1-chance)
	return a
}

// attrs are the agreement for the log.
func (a *agreement) attrs() []any {
	return []any{slog.Int64("pages", a.Pages), slog.Float64("precision", a.Precision), slog.Float64("recall", a.Recall),
		slog.Float64("f1", a.F1), slog.Float64("kappa", a.Kappa)}
}

// quotient is a/b rounded, and 0 where b is.
func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return round(a / b)
}
