package closedweb

import (
	"strings"

	"spoor/internal/judge"
	"spoor/internal/wire"
)

// A Crawl is a crawl that is judged record by record.
type Crawl struct {
	Account
	Class string // the class of the page that was added last: [NearDuplicate], a kind of trap, or ""

	web    *Web
	labels *Labels
	judge  *judge.Judge
	order  []int32 // the page of each unit of cost, up to T

	// Sums over the pages up to T, from the scores and verdicts of the crawl itself.
	decided, selfRelevant, scored int64
	scoreSum                      float64
	opinions                      opinions
	classes                       classCount
	operators                     map[string]int64 // cost up to T
}

// Records may have any operators. Those beyond these limits are counted together, as otherOperator.
const (
	maxOperators    = 50  // operators that are counted by name
	maxOperatorName = 100 // length of a name, in bytes
	otherOperator   = "other"
)

// NewCrawl returns a crawl through w without records. The judge must be a judge of w.
func NewCrawl(w *Web, l *Labels, j *judge.Judge) *Crawl { return &Crawl{web: w, labels: l, judge: j} }

// Classify makes Add name the class of pages.
func (c *Crawl) Classify(classes *Classes) { c.classes.classes = classes }

// Add adds the next record and returns its verdict.
func (c *Crawl) Add(rec *wire.Record) Verdict {
	id := c.web.FindRecord(rec)
	withinBudget := c.Spent < int64(c.judge.T)
	p := c.Pay(rec, id)
	c.Class = ""
	cost := max(0, min(p.Cost, int64(c.judge.T-len(c.order))))
	for range cost {
		c.order = append(c.order, id.Page)
	}
	if cost > 0 && rec.Operator != "" {
		c.countOperator(rec.Operator, cost)
	}
	if v, ok := p.Verdict(); ok {
		return v
	}
	c.Class = c.classes.add(id.Page, withinBudget)
	v := c.labels.Verdict(id.Page)
	if withinBudget {
		c.addOpinion(rec, v == Relevant)
	}
	return v
}

func (c *Crawl) countOperator(name string, cost int64) {
	if c.operators == nil {
		c.operators = map[string]int64{}
	}
	if _, known := c.operators[name]; !known && (len(c.operators) >= maxOperators || len(name) > maxOperatorName) {
		name = otherOperator
	}
	c.operators[strings.Clone(name)] += cost // the assignment may replace the key, and name is in the memory of the record
}

// addOpinion counts the scores and the field relevant that the crawl itself gave a page. relevant is the verdict
// by labels.
func (c *Crawl) addOpinion(rec *wire.Record, relevant bool) {
	if rec.Error == "" {
		c.opinions.add(rec.Scores, relevant)
	}
	if rec.Relevant.Kind == wire.Present {
		c.decided++
		if rec.Relevant.Value {
			c.selfRelevant++
		}
	}
	if rec.Score.Kind == wire.Present {
		c.scored++
		c.scoreSum += rec.Score.Value
	}
}

// Unreachable returns the number of relevant pages, up to T, that cannot be reached from the seeds.
func (c *Crawl) Unreachable() int { return c.judge.Unreachable(c.order) }

// Summary returns the figures of the crawl.
func (c *Crawl) Summary() *judge.Summary {
	s := c.judge.Summary(c.order, c.Spent)
	s.Queries, s.Free = c.Queries, c.Free
	s.Label, s.Graph = c.labels.label, c.web.Source
	if c.decided > 0 {
		s.SelfHarvest = judge.Rounded(float64(c.selfRelevant) / float64(max(1, min(int64(s.T), c.Spent))))
	}
	if c.scored > 0 {
		s.MeanScore = judge.Rounded(c.scoreSum / float64(c.scored))
	}
	if c.classes.classes != nil {
		s.NearDuplicates, s.Traps = new(float64(c.classes.nearDuplicates)), new(float64(c.classes.traps))
	}
	s.AveragePrecision, s.Operators = c.opinions.averagePrecision(), c.operators
	return s
}
