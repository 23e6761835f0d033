package judge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// This file compares the values that papers print with those of our crawls in the set-up of the paper.

// Published holds the published values of some papers.
type Published struct {
	Papers []Paper `json:"papers"`
}

// A Paper is a paper with its set-up and its tables.
type Paper struct {
	Name   string           `json:"name"`
	Source string           `json:"source"`
	Setup  string           `json:"setup"` // how the paper's crawls were made, and what differs here
	Tables []PublishedTable `json:"tables"`
	Cannot []Unrepeated     `json:"cannot"`
}

// A PublishedTable holds values of one measure. The first row is the paper's own crawler. Every other row claims
// that the first crawler is better, if the mean of its values is greater, or else that it is worse.
type PublishedTable struct {
	Title  string         `json:"title"`
	Plan   string         `json:"plan"`   // the comparison: a directory
	Judge  string         `json:"judge"`  // a judge of the plan, "" for labels
	Own    string         `json:"own"`    // the paper's measure: a criterion, by the judge
	Labels string         `json:"labels"` // the same by labels; "" if there is no such measure
	Cost   int            `json:"cost"`   // the cost at which both measures are read; 0: the budget
	Rows   []PublishedRow `json:"rows"`
	Ours   bool           `json:"ours"` // the claim is not in the paper, and is not counted
}

// A PublishedRow holds the values of one crawler: several if the paper has several topics, none if it prints only
// which crawler is better.
type PublishedRow struct {
	Name    string    `json:"name"`    // in the paper
	Crawler string    `json:"crawler"` // in the plan
	Values  []float64 `json:"values"`
	Better  *bool     `json:"better"` // without values: whether the first row is better
}

// An Unrepeated is a result that no crawl can repeat.
type Unrepeated struct {
	What   string `json:"what"`
	Values int    `json:"values"` // number of printed values
	Why    string `json:"why"`
}

// A Verdict says whether a published claim holds.
type Verdict string

// The verdicts, the strongest first. A claim holds if the difference of the means has the published sign, and
// the 95 % interval of the difference excludes 0; a value that is compared with no other, if the mean is within
// 0.1 of it.
const (
	Reproduced Verdict = "reproduced"              // by the paper's measure and by labels
	OnlyOwn    Verdict = "only by its own measure" // not by labels, or there is no such measure by labels
	NotShown   Verdict = "not"                     // not by the paper's measure
	CannotBe   Verdict = "cannot be"               // there is nothing to repeat
)

// verdicts are all verdicts, the strongest first.
var verdicts = [...]Verdict{Reproduced, OnlyOwn, NotShown, CannotBe}

// near is the distance within which a value that is compared with no other is reproduced.
const near = 0.1

// The rows of a table of overlaps are pairs of crawlers: their names with PairSeparator between them.
const (
	OverlapMeasure = "overlap"
	PairSeparator  = " and "
)

// ReadPublished reads published values, a JSON object. It returns an error for unknown fields, and for tables
// that [PublishedTable.Compare] cannot compare.
func ReadPublished(r io.Reader) (*Published, error) {
	p := new(Published)
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, err
	}
	for _, paper := range p.Papers {
		for _, t := range paper.Tables {
			if err := t.check(); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", paper.Name, t.Title, err)
			}
		}
	}
	return p, nil
}

func (t *PublishedTable) check() error {
	for _, name := range []string{t.Own, t.Labels} {
		if _, err := t.criterion(name); name != "" && err != nil {
			return err
		}
	}
	switch {
	case t.Own == "" || len(t.Rows) == 0:
		return errors.New("a table needs own, the paper's measure, and rows")
	case t.Cost < 0 || t.Cost > MaxBudget:
		return fmt.Errorf("the cost %d is not a number of fetches", t.Cost)
	case t.Cost > 0 && t.Own == OverlapMeasure:
		return errors.New("an overlap has no value at a cost")
	}
	for i, r := range t.Rows {
		switch {
		case t.Own == OverlapMeasure && strings.Count(r.Crawler, PairSeparator) != 1:
			return fmt.Errorf("%q does not name two crawlers: A%sB", r.Crawler, PairSeparator)
		case i > 0 && (len(r.Values) == 0 || len(t.Rows[0].Values) == 0) && r.Better == nil:
			return fmt.Errorf("%s has neither values nor better", r.Name)
		}
	}
	return nil
}

// criterion returns a measure at the cost of the table.
func (t *PublishedTable) criterion(name string) (Criterion, error) {
	if name == OverlapMeasure {
		name = "harvest"
	}
	c, err := ParseCriterion(name)
	if err != nil || t.Cost == 0 {
		return c, err
	}
	switch name {
	case "harvest":
		c.value = func(r *Result) *float64 { return known(r.HarvestAt, t.Cost) }
	case "recall":
		c.value = func(r *Result) *float64 { return known(r.RecallAt, t.Cost) }
	default:
		return c, fmt.Errorf("%s has no value at a cost", name)
	}
	return c, nil
}

// mean returns the mean of the values of a row. There must be some.
func (r *PublishedRow) mean() float64 {
	sum := 0.0
	for _, v := range r.Values {
		sum += v
	}
	return sum / float64(len(r.Values))
}

// A Finding is the comparison of a published table with our crawls.
type Finding struct {
	Table *PublishedTable
	Rows  []FoundRow
	Units int
}

// A FoundRow is the comparison of one row.
type FoundRow struct {
	Published *PublishedRow
	Own       Side // by the paper's measure
	Labels    Side
	Verdict   Verdict

	// Crawls, and those of them that ended before the cost. These have no value.
	Crawls, Ended int

	operators map[string]int64 // cost by operator
}

// A Side is a row by one measure.
type Side struct {
	Mean
	Less *Against // by how much it is less than the first row, in the units of both; nil in the first row
}

// Compare compares a published table with the results of crawls: own by the judge of the paper, labels by
// labels. Crawls of different tracks are compared: some crawlers of a paper have a search, others have none. The
// seed is that of [CompareOptions].
func (t *PublishedTable) Compare(own, labels []*Result, seed uint64) (*Finding, error) {
	f := &Finding{Table: t}
	for i := range t.Rows {
		f.Rows = append(f.Rows, FoundRow{Published: &t.Rows[i]})
	}
	if err := f.measure(own, t.Own, seed, func(r *FoundRow) *Side { return &r.Own }); err != nil {
		return nil, err
	}
	if t.Labels != "" {
		if err := f.measure(labels, t.Labels, seed, func(r *FoundRow) *Side { return &r.Labels }); err != nil {
			return nil, err
		}
	}
	first := &f.Rows[0]
	if first.Verdict = first.near(t); len(f.Rows) > 1 { // it claims what all others claim
		first.Verdict = Reproduced
	}
	for i := range f.Rows[1:] {
		r := &f.Rows[i+1]
		r.Verdict = r.claim(t)
		if slices.Index(verdicts[:], r.Verdict) > slices.Index(verdicts[:], first.Verdict) {
			first.Verdict = r.Verdict
		}
	}
	return f, nil
}

// measure sets one side of all rows.
func (f *Finding) measure(results []*Result, name string, seed uint64, side func(*FoundRow) *Side) error {
	c, err := f.Table.criterion(name)
	if err != nil {
		return err
	}
	var some []*Result
	for i := range f.Rows {
		row := &f.Rows[i]
		row.Ended, row.Crawls, row.operators = 0, 0, map[string]int64{}
		for _, r := range results {
			if r.Name != row.Published.Crawler {
				continue
			}
			if row.Crawls++; !r.Reaches(cmp.Or(f.Table.Cost, r.T)) && name != OverlapMeasure {
				row.Ended++
				continue
			}
			for name, cost := range r.Operators {
				row.operators[name] += cost
			}
			r := *r
			r.Track = ""
			some = append(some, &r)
		}
	}
	reference := f.Table.Rows[0].Crawler
	if !slices.ContainsFunc(some, func(r *Result) bool { return r.Name == reference }) {
		reference = "" // all its crawls ended before the cost
	}
	if some == nil {
		return nil
	}
	tables, err := Compare(some, CompareOptions{By: c, Reference: reference, Tie: 0.01, Seed: seed})
	if err != nil {
		return err
	}
	f.Units = max(f.Units, tables[0].Units)
	for i := range f.Rows {
		for _, row := range tables[0].Rows {
			if row.Name == f.Rows[i].Published.Crawler {
				*side(&f.Rows[i]) = Side{Mean{row.Mean, row.Units}, row.Against}
			}
		}
	}
	return nil
}

// near returns the verdict on a row that is compared with no other.
func (r *FoundRow) near(t *PublishedTable) Verdict {
	if len(r.Published.Values) == 0 {
		return NotShown
	}
	is := func(s Side) bool { return s.Units > 0 && math.Abs(s.Value-r.Published.mean()) <= near }
	return verdict(is(r.Own), t.Own == OverlapMeasure || t.Labels != "" && is(r.Labels))
}

// claim returns the verdict on the claim that the first row is better, or worse.
func (r *FoundRow) claim(t *PublishedTable) Verdict {
	better := r.Published.Better
	if better == nil {
		better = new(t.Rows[0].mean() > r.Published.mean())
	}
	holds := func(s Side) bool {
		return s.Less != nil && s.Less.Interval != nil && (*better && s.Less.Interval.High < 0 || !*better && s.Less.Interval.Low > 0)
	}
	return verdict(holds(r.Own), t.Own == OverlapMeasure || holds(r.Labels))
}

func verdict(own, labels bool) Verdict {
	switch {
	case !own:
		return NotShown
	case labels:
		return Reproduced
	}
	return OnlyOwn
}

// table returns a finding as a Markdown table.
func (f *Finding) table() string {
	less := func(s Side) string {
		if s.Less == nil {
			return nothing
		}
		signed := Criterion{Signed: true, Digits: 3}
		difference := signed.format(-s.Less.Difference)
		if i := s.Less.Interval; i != nil {
			difference += fmt.Sprintf(" (%s to %s)", signed.format(-i.High), signed.format(-i.Low))
		}
		return difference
	}
	of := func(title string, cell func(*FoundRow) string) column {
		c := column{title: title, number: title != "crawler" && title != "verdict"}
		for i := range f.Rows {
			c.cells = append(c.cells, cell(&f.Rows[i]))
		}
		return c
	}
	three := Criterion{Digits: 3}
	own := "by its own measure"
	if f.Table.Own == OverlapMeasure {
		own = "here"
	}
	columns := []column{
		of("crawler", func(r *FoundRow) string { return escape(r.Published.Name) }),
		of("paper", func(r *FoundRow) string { return r.Published.format() }),
		of(own, func(r *FoundRow) string { return r.Own.Mean.format(three) }),
		of("first − this", func(r *FoundRow) string { return less(r.Own) }),
	}
	if f.Table.Labels != "" {
		columns = append(columns,
			of("by labels", func(r *FoundRow) string { return r.Labels.Mean.format(three) }),
			of("first − this", func(r *FoundRow) string { return less(r.Labels) }))
	}
	columns = append(columns, of("verdict", func(r *FoundRow) string { return string(r.Verdict) }))
	return markdown(columns)
}

// shares returns the share of each operator in the cost of the crawls, the largest first; "" if there are none.
func (r *FoundRow) shares() string {
	names := slices.SortedFunc(maps.Keys(r.operators), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.operators[b], r.operators[a]), cmp.Compare(a, b))
	})
	sum := int64(0)
	for _, cost := range r.operators {
		sum += cost
	}
	var words []string
	for _, name := range names {
		words = append(words, fmt.Sprintf("%s %.0f %%", escape(name), 100*float64(r.operators[name])/float64(sum)))
	}
	return strings.Join(words, ", ")
}

// format returns the values, and their mean if there are several.
func (r *PublishedRow) format() string {
	if len(r.Values) == 0 {
		if r.Better == nil {
			return nothing
		} else if *r.Better {
			return "worse"
		}
		return "better"
	}
	var words []string
	for _, v := range r.Values {
		words = append(words, strconv.FormatFloat(v, 'g', -1, 64))
	}
	s := strings.Join(words, ", ")
	if len(words) > 1 {
		s += fmt.Sprintf(": mean %.3f", r.mean())
	}
	return s
}

// WritePublished writes papers with their findings, one for each table, as Markdown: first the number of values
// and of statements without a value by verdict.
func WritePublished(w io.Writer, p *Published, findings [][]*Finding) error {
	var b, all strings.Builder
	counts, values, statements := map[Verdict]int{}, 0, 0
	for i, paper := range p.Papers {
		fmt.Fprintf(&all, "\n## %s\n\n%s\n\n%s", paper.Name, strings.TrimSuffix(paragraph(paper.Source), "\n"), paragraph(paper.Setup))
		for _, f := range findings[i] {
			fmt.Fprintf(&all, "\n**%s** (plan [%s](../plans/papers/%s.plan)%s, %s)\n\n", f.Table.Title, f.Table.Plan, f.Table.Plan, f.judged(), count(f.Units, "unit"))
			all.WriteString(f.table())
			if shares := f.Rows[0].shares(); shares != "" && f.Table.Own != OverlapMeasure {
				fmt.Fprintf(&all, "\nOperators of %s: %s.\n", escape(f.Rows[0].Published.Name), shares)
			}
			for _, r := range f.Rows {
				if r.Ended > 0 {
					fmt.Fprintf(&all, "\n%s: %d of %s ended before, and have no value.\n", escape(r.Published.Name), r.Ended, count(r.Crawls, "crawl"))
				}
			}
			for i, r := range f.Rows {
				n := len(r.Published.Values)
				if values += n; n == 0 && i > 0 && !f.Table.Ours {
					n, statements = 1, statements+1
				}
				counts[r.Verdict] += n
			}
		}
		if len(paper.Cannot) > 0 {
			all.WriteString("\nCannot be compared:\n\n")
		}
		for _, c := range paper.Cannot {
			fmt.Fprintf(&all, "* %s: %s\n", c.What, c.Why)
			counts[CannotBe] += c.Values
			values += c.Values
		}
	}
	fmt.Fprintf(&b, "\n%s of the papers, and %s without one: ", count(values, "value"), count(statements, "statement"))
	for i, v := range verdicts {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s", counts[v], v)
	}
	b.WriteString(".\n")
	_, err := io.WriteString(w, b.String()+all.String())
	return err
}

// judged names the measures of a finding.
func (f *Finding) judged() string {
	t := f.Table
	s := ": " + t.Own
	if t.Judge != "" {
		s += " judged by " + t.Judge
	}
	if t.Cost > 0 {
		s += " at " + thousands(t.Cost)
	}
	return s
}
