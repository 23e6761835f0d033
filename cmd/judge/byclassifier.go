package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"

	"spoor/cmd/internal/filter"
	"spoor/internal/measure"
	"spoor/internal/closedweb"
	"spoor/internal/judge"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// A classifierJudge compares what a crawl says about its pages with a classifier, where
// there are no labels.
type classifierJudge struct {
	*options
	closedweb.Account
	set        *measure.Set
	classifier *measure.Measure
	agreement  judge.Agreement

	scored, sameScore int64 // pages with a score, and with the classifier's score
}

// newClassifierJudge reads the classifier from the topic file.
func (o *options) newClassifierJudge() (*classifierJudge, error) {
	t, err := topic.Load(o.topic)
	if err != nil {
		return nil, err
	}
	set, err := measure.New(t, []string{"classifier"}, measure.Options{})
	if err != nil {
		return nil, fmt.Errorf("topic file %s: %w", o.topic, err)
	}
	return &classifierJudge{options: o, set: set, classifier: &set.Measures[0]}, nil
}

// run compares the records of in with the classifier.
func (c *classifierJudge) run(in io.Reader, stdout io.Writer, log *slog.Logger) error {
	tally := filter.NewTally(log)
	c.stream.Want |= wire.Parse
	err := c.copyRecords(in, stdout, tally, func(rec *wire.Record) (closedweb.Verdict, int64) {
		return c.add(rec), c.Spent
	})
	if err != nil {
		tally.Close()
		return err
	}
	f := c.agreement.Figures(c.scored == 0 || c.sameScore < c.scored)
	if f.Pages == 0 {
		log.Warn("no page could be held against the classifier", "hint", "judge -topic reads pages with text and relevant, as score leaves them")
	}
	if !f.HeldOut {
		log.Warn("the crawl went by this classifier itself, so their agreement says nothing", "hint", "train another, with examples that the crawl has not seen")
	}
	log.Info("held against a classifier", "pages", f.Pages, "precision", f.Precision, "recall", f.Recall, "f1", f.F1, "kappa", f.Kappa)
	err = c.writeSummary(judge.AgreementSummary{V: 1, Fetched: c.Spent, Cost: c.Spent, Queries: c.Queries, Free: c.Free, Agreement: f})
	closeTally(tally, &c.Account)
	return err
}

// add adds a record and returns the classifier's verdict.
func (c *classifierJudge) add(rec *wire.Record) closedweb.Verdict {
	withinBudget := c.t == 0 || c.Spent < int64(c.t)
	if v, ok := c.Pay(rec, closedweb.IDWithoutWeb(rec)).Verdict(); ok {
		return v
	}
	if measure.Failed(rec) || rec.Title == "" && rec.Text == "" {
		return closedweb.Unlabelled // there is nothing to classify
	}
	page := measure.Page(rec, nil)
	score := c.classifier.Page(c.set.Target.Read(&page))
	relevant := score >= c.classifier.Threshold()
	if withinBudget {
		if rec.Score.Kind == wire.Present {
			c.scored++
			if math.Abs(rec.Score.Value-score) < 1e-9 {
				c.sameScore++
			}
		}
		if rec.Relevant.Kind == wire.Present {
			c.agreement.Add(rec.Relevant.Value, relevant)
		}
	}
	if relevant {
		return closedweb.Relevant
	}
	return closedweb.Irrelevant
}
