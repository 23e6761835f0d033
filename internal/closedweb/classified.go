package closedweb

import (
	"math"

	"spoor/internal/judge"
	"spoor/internal/measure"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// A ClassifiedCrawl is a crawl whose pages are judged by the classifier of a topic, because
// there are no labels.
type ClassifiedCrawl struct {
	Account

	budget     int64 // cost up to which pages are counted; 0 for no limit
	set        *measure.Set
	classifier *measure.Measure
	agreement  judge.Agreement

	scored, sameScore int64 // numbers of pages with a score, and with the same score as the classifier's
}

// NewClassifiedCrawl returns a crawl without records. It returns an error if the topic has no
// classifier. Pages after the first budget units of cost are not counted; 0 means no limit.
func NewClassifiedCrawl(t *topic.Topic, budget int) (*ClassifiedCrawl, error) {
	set, err := measure.New(t, []string{"classifier"}, measure.Options{})
	if err != nil {
		return nil, err
	}
	return &ClassifiedCrawl{budget: int64(budget), set: set, classifier: &set.Measures[0]}, nil
}

// Add adds the next record, which must have section Parse, and returns its verdict.
func (c *ClassifiedCrawl) Add(rec *wire.Record) Verdict {
	withinBudget := c.budget == 0 || c.Spent < c.budget
	if v, ok := c.Pay(rec, IDWithoutWeb(rec)).Verdict(); ok {
		return v
	}
	if measure.Failed(rec) || rec.Title == "" && rec.Text == "" {
		return Unlabelled // there is nothing to classify
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
		return Relevant
	}
	return Irrelevant
}

// Summary returns the figures of the crawl.
func (c *ClassifiedCrawl) Summary() judge.AgreementSummary {
	return judge.AgreementSummary{
		V: 1, Fetched: c.Spent, Cost: c.Spent, Queries: c.Queries, Free: c.Free,
		Agreement: c.agreement.Figures(c.scored == 0 || c.sameScore < c.scored),
	}
}
