package judge

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Form selects the columns of a table.
type Form string

// The forms of a table.
const (
	Overall Form = "overall" // mean, interval, and comparison with the reference
	Topics  Form = "topics"  // one column for each topic
	Seeds   Form = "seeds"   // one column for each seed set
	Costs   Form = "costs"   // one column for each cost: the curve, as papers print it
	Ranks   Form = "ranks"   // the rank in each topic, and the mean rank
)

// ParseForm returns the form called name. It returns an error if the form cannot show c.
func ParseForm(name string, c Criterion) (Form, error) {
	switch f := Form(name); f {
	case Overall, Topics, Seeds, Ranks:
		return f, nil
	case Costs:
		if c.at == nil {
			return "", fmt.Errorf("%s is not known at every cost, but harvest and recall are", c.Name)
		}
		return f, nil
	}
	return "", fmt.Errorf("no form %q; there are %s, %s, %s, %s, %s", name, Overall, Topics, Seeds, Ranks, Costs)
}

// A column is a title and a cell for each row. Numbers are aligned to the right.
type column struct {
	title  string
	number bool
	cells  []string
}

// WriteMarkdown writes the tables of one comparison as aligned Markdown, each followed by a
// paragraph of details.
func WriteMarkdown(w io.Writer, tables []*Table, form Form) error {
	var b strings.Builder
	for i, t := range tables {
		if form == Ranks {
			t = t.byRank()
		}
		if i > 0 {
			b.WriteString("\n")
		}
		if len(tables) > 1 {
			b.WriteString("**Track " + escape(t.Track) + "**\n\n")
		}
		b.WriteString(markdown(append([]column{t.names()}, t.columnsOf(form)...)))
		b.WriteString("\n" + paragraph(t.details(form)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteLegend explains the columns of the tables that WriteMarkdown writes.
func WriteLegend(w io.Writer, tables []*Table, form Form) error {
	var b strings.Builder
	if len(tables) > 0 {
		b.WriteString("\n" + paragraph(tables[0].legend(form)))
	}
	if form == Overall && slices.ContainsFunc(tables, func(t *Table) bool { return t.compared() > 0 }) {
		b.WriteString("\n" + paragraph(tables[0].legendOfReference()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// byRank returns t with its rows sorted by mean rank; rows without a rank come last.
func (t *Table) byRank() *Table {
	sorted := *t
	sorted.Rows = slices.Clone(t.Rows)
	slices.SortStableFunc(sorted.Rows, func(a, b Row) int {
		if (a.Rank == 0) != (b.Rank == 0) {
			return cmp.Compare(b.Rank, a.Rank)
		}
		return cmp.Compare(grains(a.Rank), grains(b.Rank))
	})
	return &sorted
}

// columnsOf returns the columns after the names.
func (t *Table) columnsOf(form Form) []column {
	switch form {
	case Topics:
		return t.cellColumns(t.Topics, func(r *Row) []Cell { return r.Topics })
	case Seeds:
		return t.cellColumns(t.Seeds, func(r *Row) []Cell { return r.Seeds })
	case Costs:
		return t.curve()
	case Ranks:
		return t.rankColumns()
	default:
		return t.overallColumns()
	}
}

func (t *Table) names() column {
	c := column{title: "strategy"}
	for _, row := range t.Rows {
		name := escape(row.Name)
		if row.Name == t.Reference {
			name = "*" + name + "*"
		}
		c.cells = append(c.cells, name)
	}
	return c
}

func (t *Table) each(title string, cell func(*Row) string) column {
	c := column{title: title, number: true}
	for i := range t.Rows {
		c.cells = append(c.cells, cell(&t.Rows[i]))
	}
	return c
}

const (
	nothing     = "–"
	fewUnits    = 6    // with fewer, the legend warns of intervals
	significant = 0.05 // smaller p-values are printed in bold
)

func (t *Table) overallColumns() []column {
	columns := []column{
		t.each(t.By.Title, func(r *Row) string { return t.By.format(r.Mean) }),
		t.each("95 % interval", func(r *Row) string { return r.Interval.format(t.By.format) }),
	}
	for i, c := range t.Also {
		columns = append(columns, t.each(c.Title, func(r *Row) string { return r.Also[i].format(c) }))
	}
	if t.compared() > 0 {
		against := func(title string, cell func(*Against) string) column {
			return t.each(title, func(r *Row) string {
				if r.Against == nil {
					return nothing
				}
				return cell(r.Against)
			})
		}
		signed := t.By
		signed.Signed = true
		columns = append(columns,
			against("− "+escape(t.Reference), func(a *Against) string {
				if a.Equivalent {
					return "≈ " + signed.format(a.Difference)
				}
				return signed.format(a.Difference)
			}),
			against("95 % interval", func(a *Against) string { return a.Interval.format(signed.format) }),
			against("p (Holm)", func(a *Against) string {
				if a.Holm < significant {
					return bold(probability(a.Holm))
				}
				return probability(a.Holm)
			}),
			against("A12", func(a *Against) string { return strconv.FormatFloat(a.A12, 'f', 2, 64) }),
			against("better / same / worse", func(a *Against) string { return fmt.Sprintf("%d / %d / %d", a.Wins, a.Ties, a.Losses) }),
		)
	}
	return append(columns, t.each("units", func(r *Row) string { return t.formatUnits(r.Units) }))
}

// cellColumns returns a column for each title, the best cells in bold, and the mean of all.
func (t *Table) cellColumns(titles []string, cells func(*Row) []Cell) []column {
	var columns []column
	for i, title := range titles {
		columns = append(columns, t.best(escape(title), func(r *Row) (Mean, string) {
			cell := cells(r)[i]
			return cell.Mean, t.formatCell(cell)
		}))
	}
	return append(columns, t.best("all", func(r *Row) (Mean, string) {
		all := Cell{Mean{r.Mean, r.Units}, r.Also}
		return all.Mean, t.formatCell(all)
	}))
}

// curve returns a column for each cost, and one for the end of the budget.
func (t *Table) curve() []column {
	var columns []column
	for i, cost := range t.Costs {
		columns = append(columns, t.best(thousands(cost), func(r *Row) (Mean, string) {
			mean := t.By.at(r)[i]
			s := mean.format(t.By)
			if 0 < mean.Units && mean.Units < t.unitsAt(i) {
				s += " (" + t.formatUnits(mean.Units) + ")"
			}
			return mean, s
		}))
	}
	columns = append(columns, t.best("T", func(r *Row) (Mean, string) {
		return Mean{r.Mean, r.Units}, t.By.format(r.Mean)
	}))
	return columns
}

// rankColumns returns the ranks. Mean ranks within the critical distance of the best are bold.
func (t *Table) rankColumns() []column {
	best := 0.0
	if len(t.Rows) > 0 {
		best = t.Rows[0].Rank
	}
	columns := []column{t.each("mean rank", func(r *Row) string {
		switch s := strconv.FormatFloat(r.Rank, 'f', 2, 64); {
		case r.Rank == 0:
			return nothing
		case grains(r.Rank-best) <= grains(t.Distance) && t.Friedman < significant:
			return bold(s)
		default:
			return s
		}
	})}
	for i, title := range t.Topics {
		columns = append(columns, t.each(escape(title), func(r *Row) string {
			if r.Ranks == nil {
				return nothing
			}
			return strconv.FormatFloat(r.Ranks[i], 'f', -1, 64)
		}))
	}
	return columns
}

// best returns a column with the best cells in bold; only rows with the most units can be best.
func (t *Table) best(title string, cell func(*Row) (Mean, string)) column {
	var top Mean
	for i := range t.Rows {
		m, _ := cell(&t.Rows[i])
		if m.Units > top.Units || m.Units > 0 && m.Units == top.Units && t.compareValues(m.Value, top.Value) > 0 {
			top = m
		}
	}
	return t.each(title, func(r *Row) string {
		m, s := cell(r)
		if m.Units > 0 && m.Units == top.Units && t.compareValues(m.Value, top.Value) == 0 && len(t.Rows) > 1 {
			return bold(s)
		}
		return s
	})
}

func (t *Table) formatCell(c Cell) string {
	parts := []string{c.Mean.format(t.By)}
	for i, m := range c.Also {
		parts = append(parts, m.format(t.Also[i]))
	}
	return strings.Join(parts, " / ")
}

// compared returns the number of rows that are compared with the reference.
func (t *Table) compared() (n int) {
	for _, row := range t.Rows {
		if row.Against != nil {
			n++
		}
	}
	return n
}

// ranked returns the number of rows that have a rank.
func (t *Table) ranked() (n int) {
	for _, row := range t.Rows {
		if row.Rank > 0 {
			n++
		}
	}
	return n
}

// formatUnits formats a number of units, with the total if some are missing.
func (t *Table) formatUnits(units int) string {
	if units < t.Units {
		return fmt.Sprintf("%d of %d", units, t.Units)
	}
	return strconv.Itoa(units)
}

// details returns the details of a table: the number of runs, the values of crawlers that see
// more than a real one can, and what is missing.
func (t *Table) details(form Form) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s", count(len(t.Topics), "topic"), count(t.Units, "unit"))
	if t.Random > 1 {
		fmt.Fprintf(&b, ", up to %d random seeds each", t.Random)
		if t.constant > 0 {
			fmt.Fprintf(&b, " (%d of %d rows do not vary with the seed)", t.constant, t.repeated)
		}
	}
	if n := t.compared(); form == Overall && n > 0 {
		fmt.Fprintf(&b, "; %s with %s", count(n, "comparison"), escape(t.Reference))
		one, pairs := "unit", t.Units
		if t.ByTopic {
			one, pairs = "topic", len(t.Topics)
		}
		if least := math.Ldexp(1, 1-pairs); least > significant {
			fmt.Fprintf(&b, ", whose p is at least %s with so few %ss", probability(least), one)
		}
	}
	b.WriteString(".")
	if n := t.ranked(); form == Ranks && n > 1 {
		sign := "= "
		if t.Friedman < minPrintedP {
			sign = "" // the number already has a sign
		}
		fmt.Fprintf(&b, " Friedman's test: p %s%s. Two of the %d mean ranks differ significantly if they are more than %.2f apart.", sign, probability(t.Friedman), n, t.Distance)
	}
	if t.Seeing != nil && form != Costs && form != Ranks {
		fmt.Fprintf(&b, " A greedy crawler that sees the relevance of waiting links reaches %s", t.By.format(*t.Seeing))
		if t.SeeingChildren != nil {
			fmt.Fprintf(&b, "; one that also sees the relevance of the links on their pages, %s", t.By.format(*t.SeeingChildren))
		}
		b.WriteString(".")
	}
	if form == Costs {
		b.WriteString(t.budgetNote())
	}
	if t.Without > 0 {
		fmt.Fprintf(&b, " Left out: %s without %s.", count(t.Without, "run"), t.By.Name)
	}
	var names []string
	for _, r := range t.Rows {
		if r.Units < t.Units {
			names = append(names, fmt.Sprintf("%s (%s)", escape(r.Name), t.formatUnits(r.Units)))
		}
	}
	if names != nil {
		consequence := "their means are of fewer units"
		if form == Ranks {
			consequence = "they have no rank"
		}
		fmt.Fprintf(&b, " Not run in all units, so %s: %s.", consequence, strings.Join(names, ", "))
	}
	return b.String()
}

// budgetNote returns the number of units that have values at each cost, or "" if all units do: the
// budget of a unit may be smaller than a cost.
func (t *Table) budgetNote() string {
	var units []string
	short := false
	for i, cost := range t.Costs {
		n := t.unitsAt(i)
		short = short || n < t.Units
		units = append(units, fmt.Sprintf("%d at %s", n, thousands(cost)))
	}
	if !short {
		return ""
	}
	return " Budgets differ, so the columns have different numbers of units: " + strings.Join(units, ", ") + "."
}

// unitsAt returns the number of units that have a value at the i-th cost, in the row that has the most.
func (t *Table) unitsAt(i int) (n int) {
	for r := range t.Rows {
		n = max(n, t.By.at(&t.Rows[r])[i].Units)
	}
	return n
}

func (t *Table) legend(form Form) string {
	titles := []string{t.By.Title}
	for _, c := range t.Also {
		titles = append(titles, c.Title)
	}
	var b strings.Builder
	switch form {
	case Topics:
		fmt.Fprintf(&b, "Cells: %s in each topic, and the mean of the topics. ", strings.Join(titles, " / "))
	case Seeds:
		fmt.Fprintf(&b, "Cells: %s from each set of seeds, and the mean of the topics. ", strings.Join(titles, " / "))
	case Ranks:
		fmt.Fprintf(&b, "Cells: the rank by %s in each topic, 1 for the best, and the mean of the ranks. "+
			"The hypothesis of Friedman's test is that all mean ranks are equal. Under it, two of them are further apart than the critical distance in 5 %% of %s random permutations, after Nemenyi. "+
			"If it is rejected, the mean ranks within that distance of the best are bold. ", t.By.Title, thousands(draws))
	case Costs:
		fmt.Fprintf(&b, "Cells: %s at each cost, in fetched pages and queries, and at T, the budget. A crawl that ended before a cost has no value there: the number of units that have one is in parentheses if others have more. ", t.By.Title)
	}
	fmt.Fprintf(&b, "Measure: %s, %s.", t.By.Title, t.By.Meaning)
	if t.By.Lower {
		b.WriteString(" Less is better.")
	}
	b.WriteString(" A unit is a topic with a set of seeds; its runs with different random seeds are averaged. A mean is the mean of the topics' means.")
	if form == Overall {
		fmt.Fprintf(&b, " The interval contains the means of 95 %% of %s bootstrap samples, in which topics, their sets of seeds, and the random seeds of these are drawn with replacement. "+
			"With few topics it is too narrow; with one it says nothing about others.", thousands(draws))
		if t.Units < fewUnits {
			fmt.Fprintf(&b, " With fewer than %d units it is hardly more than the range of their values.", fewUnits)
		}
	}
	return b.String()
}

// legendOfReference explains the columns of the comparison.
func (t *Table) legendOfReference() string {
	one, many := "unit", "units"
	if t.ByTopic {
		one, many = "topic", "topics"
	}
	name, tie := escape(t.Reference), strconv.FormatFloat(t.Tie, 'g', -1, 64)
	s := fmt.Sprintf("Comparison with %s, in the units that both have: the difference of the means, and its interval (≈: the difference is at most %s, by two one-sided tests at 5 %%); "+
		"the p-value of Wilcoxon's signed-rank test over %s, two-sided, adjusted for all rows by Holm's method, bold below %g; "+
		"A12, the probability that a %s is better than one of %s; the numbers of %s that are better, the same within %s, and worse.",
		name, tie, many, significant, one, name, many, tie)
	if !t.ByTopic && len(t.Topics) > 1 {
		s += " The p-value is about these topics only, the interval about all topics like them. Where they disagree, the interval is more reliable."
	}
	return s
}

func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return thousands(n) + " " + thing
}

func paragraph(s string) string {
	const width = 100
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case at == 0:
		case at+1+n > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String() + "\n"
}

// thousands formats n with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// format formats a value. It never returns −0.
func (c Criterion) format(v float64) string {
	s := strconv.FormatFloat(v, 'f', c.Digits, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	if c.Signed && s[0] != '-' {
		s = "+" + s
	}
	return s
}

func (m Mean) format(c Criterion) string {
	if m.Units == 0 {
		return nothing
	}
	return c.format(m.Value)
}

func (i *Interval) format(number func(float64) string) string {
	if i == nil {
		return nothing
	}
	return number(i.Low) + " to " + number(i.High)
}

// minPrintedP is the smallest p-value that is printed as a number.
const minPrintedP = 0.0001

func probability(p float64) string {
	if p < minPrintedP {
		return "< 0.0001"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

func bold(s string) string { return "**" + s + "**" }

// escape returns a name on one line, with the special characters of Markdown escaped.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unicode.IsPrint(r):
			b.WriteByte(' ')
		case strings.ContainsRune("\\|*<&[]`~", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func markdown(columns []column) string {
	var b strings.Builder
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = max(3, utf8.RuneCountInString(c.title))
		for _, cell := range c.cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(cell func(column) string) {
		for i, c := range columns {
			s := cell(c)
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s))
			if c.number {
				s = space + s
			} else {
				s += space
			}
			b.WriteString("| " + s + " ")
		}
		b.WriteString("|\n")
	}
	line(func(c column) string { return c.title })
	for i, c := range columns {
		dashes := strings.Repeat("-", widths[i]+1)
		if c.number {
			b.WriteString("|" + dashes + ":")
		} else {
			b.WriteString("|-" + dashes)
		}
	}
	b.WriteString("|\n")
	for i := range columns[0].cells {
		line(func(c column) string { return c.cells[i] })
	}
	return b.String()
}
