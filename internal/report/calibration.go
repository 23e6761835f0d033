package report

import (
	"fmt"
	"html/template"
	"math"

	"spoor/internal/wire"
)

// estimateBins is the number of bins of a calibration.
const estimateBins = 10

// estimates sums up the estimates of the strategy.
type estimates struct {
	sums [estimateBins]struct {
		pair
		all float64
	}
}

// add counts the estimate of a page that is relevant if numRelevant is 1.
func (e *estimates) add(rec *wire.Record, strategy string, numRelevant int) {
	v, ok := rec.ScoreOf(strategy)
	if !ok || strategy == "" || !(0 <= v && v <= 1) {
		return
	}
	bin := &e.sums[min(int(v*estimateBins), estimateBins-1)]
	bin.pair.add(pair{1, numRelevant})
	bin.all += v
}

func (e *estimates) calibration() Calibration {
	c := Calibration{}
	sum := 0.0
	for i, s := range e.sums {
		c.Pages += s.fetched
		sum += s.all
		if s.fetched > 0 {
			c.Bins = append(c.Bins, Estimated{float64(i) / estimateBins, float64(i+1) / estimateBins, s.fetched, s.all / float64(s.fetched), s.relevant})
		}
	}
	if c.Pages > 0 {
		c.Mean = sum / float64(c.Pages)
	}
	return c
}

// calibration draws which share of the pages is relevant, by their estimate. It is empty without
// labels: another measure says nothing about the estimates.
func calibration(r *Run) (picture template.HTML, sentence string) {
	c := &r.Calibration
	if !r.Judged || len(c.Bins) < 2 {
		return "", ""
	}
	share := line{name: "labels", class: "s1"}
	ideal := line{name: "equal", class: "random"}
	p := plot{title: "Share of relevant pages, by estimate", description: "For pages of similar estimate the share that is relevant by labels, and for comparison their mean estimate.",
		unit: "estimate, %", top: 1, format: percent}
	relevant := 0
	for _, b := range c.Bins {
		p.x = append(p.x, 100*b.Mean)
		share.y = append(share.y, ratio(b.Relevant, b.Pages))
		ideal.y = append(ideal.y, b.Mean)
		relevant += b.Relevant
	}
	p.lines = []line{ideal, share}
	p.tip = func(i int) string {
		b := c.Bins[i]
		return fmt.Sprintf("Estimate %s to %s: %s, %s relevant (%s)", decimal(b.From), decimal(b.To), plural(b.Pages, "page", "pages"), count(b.Relevant), percent(ratio(b.Relevant, b.Pages)))
	}
	sentence = fmt.Sprintf("%s estimated the relevance of %s, at %s in the mean; %s of them are relevant by labels. An estimate orders pages: it is no probability.",
		r.Strategy, plural(c.Pages, "page", "pages"), fixed(c.Mean, 2), percent(float64(relevant)/math.Max(1, float64(c.Pages))))
	own, known := 0.0, false
	if r.Measures != nil {
		own, known = r.Measures.AveragePrecision[r.Strategy], true
	}
	if known && own > 0 {
		sentence += fmt.Sprintf(" Its average precision is %s", fixed(own, 2))
		if by, ok := r.Measures.AveragePrecision[r.Fitness.Measure]; ok && r.Fitness.Measure != r.Strategy {
			sentence += fmt.Sprintf(", that of %s on the same pages %s", r.Fitness.Measure, fixed(by, 2))
		}
		sentence += "."
	}
	return wideAndNarrow(half, func(width float64, class string) template.HTML { return p.draw(width, 330, class) }), sentence
}
