package report

import (
	"cmp"
	"html/template"
	"strings"
)

// A Progress collects the generations of a crawl that has not ended, for charts. Its size does not
// depend on the number of generations: they are merged when there are too many.
type Progress struct {
	turns     []generationCounts // at most MaxGenerations; number is that of the first generation
	last      int                // number of the last generation
	size      int                // how many generations each of turns but the last one stands for
	held      int                // how many the last one stands for
	operators *names
	fetched   int
	relevant  int
}

// Add adds the next generation. Its Operators are in any order; only the first 256 names of a crawl are
// counted separately.
func (p *Progress) Add(g *Generation) {
	if p.operators == nil {
		p.operators, p.size = newNames(256), 1
	}
	if len(p.turns) == 0 || p.held == p.size {
		if len(p.turns) == MaxGenerations {
			p.halve()
		}
		p.turns, p.held = append(p.turns, generationCounts{number: g.First, operators: map[int]pair{}}), 0
	}
	t := &p.turns[len(p.turns)-1]
	p.held++
	p.last = g.Last
	p.fetched += g.Fetched
	p.relevant += g.Relevant
	t.fetched += g.Fetched
	t.relevant += g.Relevant
	for _, y := range g.Operators {
		p.operators.count(cmp.Or(y.Name, "unknown"), y.Fetched, y.Relevant, t.operators)
	}
}

// halve merges consecutive pairs of turns, whose number is even.
func (p *Progress) halve() {
	half := p.turns[:0]
	for i := 0; i+1 < len(p.turns); i += 2 {
		t, next := p.turns[i], &p.turns[i+1]
		t.fetched += next.fetched
		t.relevant += next.relevant
		sum(t.operators, next.operators)
		half = append(half, t)
	}
	clear(p.turns[len(half):])
	p.turns = half
	p.size *= 2
}

// Run returns the crawl as far as its charts need it.
func (p *Progress) Run() *Run {
	r := &Run{Fetched: p.fetched, Relevant: p.relevant, SelfRelevant: p.relevant}
	r.Curves.By = ByMeasure
	if len(p.turns) == 0 {
		return r
	}
	operators := p.operators.top(MaxOperators, func(p pair) int { return p.fetched })
	r.Operators = p.operators.yields(operators, p.operators.all())
	cost, found := 0, 0
	for i, t := range p.turns {
		g := Generation{First: t.number, Last: p.last, Fetched: t.fetched, Relevant: t.relevant, Operators: p.operators.yields(operators, t.operators)}
		if i+1 < len(p.turns) {
			g.Last = p.turns[i+1].number - 1
		}
		r.Generations = append(r.Generations, g)
		cost, found = cost+t.fetched, found+t.relevant
		if t.fetched > 0 {
			r.Curves.Cost, r.Curves.Run = append(r.Curves.Cost, cost), append(r.Curves.Run, float64(found))
		}
	}
	return r
}

// Charts are pictures of a crawl; "" for those that would show nothing.
type Charts struct {
	Found     template.HTML // relevant pages found
	Rate      template.HTML // their share of what was fetched
	Operators template.HTML // what each operator found, by generation
	Best      string        // a conclusion about the operators
}

// Charts draws the curves and operators of a run.
func (r *Run) Charts() (c Charts) {
	if r.Fetched == 0 || len(r.Generations) == 0 {
		return c
	}
	c.Found, c.Rate = curves(r)
	c.Operators, c.Best = operators(r)
	return c
}

// Style is the style sheet of reports, for other pages that should look like them.
func Style() string { return pageStyle }

// Text returns untrusted text for display: see clean. It shares no memory with s.
func Text(s string, characters int) string { return strings.Clone(clean(s, characters)) }

// Link returns the address of a record if it may be linked to, and otherwise "".
func Link(url string) string { return address(href(url)) }

// Ended describes why a crawl has ended, given the content of its file stop_reason.
func Ended(reason string) string { return ended(clean(reason, maxName), 0) }

// Number formats a number with commas.
func Number(n int) string { return count(n) }

// Share formats a/b as a percentage.
func Share(a, b int) string { return percent(ratio(a, b)) }

// Plural returns a number with its noun: 1 page, 2 pages.
func Plural(n int, one, more string) string { return plural(n, one, more) }

// Duration formats seconds for people.
func Duration(seconds float64) string { return duration(seconds) }

// PerSecond formats a rate; 0 seconds have none.
func PerSecond(n int, seconds float64) string {
	if seconds <= 0 {
		return none
	}
	return decimalFew(float64(n) / seconds)
}
