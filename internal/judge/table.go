package judge

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Form is which columns a table has.
type Form string

// The forms of a table.
const (
	Overall Form = "overall" // mean, interval, and how it stands against the reference
	Topics  Form = "topics"  // a column a topic
	Seeds   Form = "seeds"   // a column a set of seeds
	Costs   Form = "costs"   // a column a cost: the curve, as papers print it
)

// ParseForm is the form called name, if it can show c.
func ParseForm(name string, c Criterion) (Form, error) {
	switch f := Form(name); f {
	case Overall, Topics, Seeds:
		return f, nil
	case Costs:
		if c.at == nil {
			return "", fmt.Errorf("%s is not known at every cost; harvest and recall are", c.Name)
		}
		return f, nil
	}
	return "", fmt.Errorf("no form %q; there are %s, %s, %s, %s", name, Overall, Topics, Seeds, Costs)
}

// A column is a title and a cell a row; numbers stand on the right.
type column struct {
	title  string
	number bool
	cells  []string
}

// WriteMarkdown writes t as a table of Markdown that is also readable as it stands,
// with what its columns mean below.
func (t *Table) WriteMarkdown(w io.Writer, form Form) error {
	columns := []column{t.names()}
	var notes []string
	switch form {
	case Topics:
		columns = append(columns, t.split(t.Topics, func(r *Row) []Cell { return r.Topics })...)
		notes = append(notes, t.explainCells("a topic"))
	case Seeds:
		columns = append(columns, t.split(t.Seeds, func(r *Row) []Cell { return r.Seeds })...)
		notes = append(notes, t.explainCells("a set of seeds"))
	case Costs:
		columns = append(columns, t.curve()...)
		notes = append(notes, t.explainCosts())
	default:
		columns = append(columns, t.overall()...)
		notes = append(notes, t.explain())
		if t.compared() > 0 {
			notes = append(notes, t.explainAgainst())
		}
	}
	if n := t.gaps(); n != "" {
		notes = append(notes, n)
	}
	_, err := io.WriteString(w, markdown(columns)+"\n"+strings.Join(notes, "\n\n")+"\n")
	return err
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

// each is a column of numbers.
func (t *Table) each(title string, cell func(*Row) string) column {
	c := column{title: title, number: true}
	for i := range t.Rows {
		c.cells = append(c.cells, cell(&t.Rows[i]))
	}
	return c
}

const (
	nothing     = "–"
	significant = 0.05 // what is less likely than this by chance is printed bold
)

func (t *Table) overall() []column {
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
			against("p", func(a *Against) string {
				if a.Holm < significant {
					return bold(probability(a.Holm))
				}
				return probability(a.Holm)
			}),
			against("A12", func(a *Against) string { return strconv.FormatFloat(a.A12, 'f', 2, 64) }),
			against("better / same / worse", func(a *Against) string { return fmt.Sprintf("%d / %d / %d", a.Wins, a.Ties, a.Losses) }),
		)
	}
	return append(columns, t.each("units", func(r *Row) string { return t.of(r.Units) }))
}

// split is columns of cells, the best of each in bold, and the mean of all.
func (t *Table) split(titles []string, cells func(*Row) []Cell) []column {
	var columns []column
	for i, title := range titles {
		columns = append(columns, t.best(escape(title), func(r *Row) (Mean, string) {
			cell := cells(r)[i]
			return cell.Mean, t.join(cell)
		}))
	}
	return append(columns, t.best("all", func(r *Row) (Mean, string) {
		all := Cell{Mean{r.Mean, r.Units}, r.Also}
		return all.Mean, t.join(all)
	}))
}

// curve is a column a cost, and one for the end of the budget.
func (t *Table) curve() []column {
	var columns []column
	for i, cost := range t.Costs {
		columns = append(columns, t.best(thousands(cost), func(r *Row) (Mean, string) {
			return t.By.at(r)[i], t.By.at(r)[i].format(t.By)
		}))
	}
	columns = append(columns, t.best("T", func(r *Row) (Mean, string) {
		return Mean{r.Mean, r.Units}, t.By.format(r.Mean)
	}))
	return columns
}

// best is a column with what is best in it in bold: of those rows that were run
// wherever anyone was.
func (t *Table) best(title string, cell func(*Row) (Mean, string)) column {
	var top Mean
	for i := range t.Rows {
		m, _ := cell(&t.Rows[i])
		if m.Units > top.Units || m.Units > 0 && m.Units == top.Units && t.better(m.Value, top.Value) > 0 {
			top = m
		}
	}
	return t.each(title, func(r *Row) string {
		m, s := cell(r)
		if m.Units > 0 && m.Units == top.Units && t.better(m.Value, top.Value) == 0 && len(t.Rows) > 1 {
			return bold(s)
		}
		return s
	})
}

// join is a cell with all that is shown in it.
func (t *Table) join(c Cell) string {
	parts := []string{c.Mean.format(t.By)}
	for i, m := range c.Also {
		parts = append(parts, m.format(t.Also[i]))
	}
	return strings.Join(parts, " / ")
}

// compared is the number of rows that are held against the reference.
func (t *Table) compared() (n int) {
	for _, row := range t.Rows {
		if row.Against != nil {
			n++
		}
	}
	return n
}

// of is a number of units, and of how many if some are missing.
func (t *Table) of(units int) string {
	if units < t.Units {
		return fmt.Sprintf("%d of %d", units, t.Units)
	}
	return strconv.Itoa(units)
}

// explain says what the columns of means are.
func (t *Table) explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s.", t.By.Title, t.By.Meaning)
	if t.By.Lower {
		b.WriteString(" Less is better.")
	}
	fmt.Fprintf(&b, " The mean of the means of %s, in all %s (a topic and a set of seeds)", count(len(t.Topics), "topic"), count(t.Units, "unit"))
	if t.Chance > 1 {
		fmt.Fprintf(&b, ", up to %d chance seeds averaged in each", t.Chance)
	}
	fmt.Fprintf(&b, "; its interval by %s draws of topics, of sets of seeds in them", thousands(draws))
	if t.Chance > 1 {
		b.WriteString(", and of chance seeds in those")
	}
	b.WriteString(".")
	if len(t.Topics) == 1 {
		b.WriteString(" Of one topic the intervals say nothing about others.")
	}
	if t.Seeing != nil {
		fmt.Fprintf(&b, " A greedy crawler that sees the relevance of the links that wait has %s", t.By.format(*t.Seeing))
		if t.SeeingChildren != nil {
			fmt.Fprintf(&b, ", one that sees the links behind them too %s", t.By.format(*t.SeeingChildren))
		}
		b.WriteString(".")
	}
	return b.String()
}

// explainAgainst says what the columns of comparison are.
func (t *Table) explainAgainst() string {
	one, many, pairs := "unit", "units", t.Units
	if t.ByTopic {
		one, many, pairs = "topic", "topics", len(t.Topics)
	}
	name, tie := escape(t.Reference), strconv.FormatFloat(t.Tie, 'g', -1, 64)
	s := fmt.Sprintf("Against %s, in the units that both have: the difference of the means and its interval; "+
		"p of Wilcoxon's signed-rank test over %s, two-sided, adjusted by Holm for %s; "+
		"A12, how often a %s is better than one of %s; %s that are better, the same within %s, worse.",
		name, many, count(t.compared(), "comparison"), one, name, many, tie)
	if slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Against != nil && r.Against.Equivalent }) {
		s += fmt.Sprintf(" ≈ is a difference of no more than %s, by two one-sided tests at 5 %%.", tie)
	}
	if !t.ByTopic {
		s += " Units of one topic are more alike than units of two, which p does not know and the interval does: where they disagree, believe the interval."
	}
	if least := math.Ldexp(1, 1-pairs); least > significant {
		s += fmt.Sprintf(" No p of %s can be below %s.", count(pairs, one), probability(least))
	}
	return s
}

// explainCells says what stands in the cells of a table that is split.
func (t *Table) explainCells(column string) string {
	titles := []string{t.By.Title}
	for _, c := range t.Also {
		titles = append(titles, c.Title)
	}
	s := fmt.Sprintf("Cells: %s, the mean of what was run in %s. %s is %s.", strings.Join(titles, " / "), column, t.By.Title, t.By.Meaning)
	if t.By.Lower {
		s += " Less is better."
	}
	return s
}

// explainCosts says what stands in the cells of a table of costs.
func (t *Table) explainCosts() string {
	s := fmt.Sprintf("Cells: %s (%s) at so many units of cost, pages or queries; T is the budget.", t.By.Title, t.By.Meaning)
	var units []string
	short := false
	for i, cost := range t.Costs {
		n := 0
		for r := range t.Rows {
			n = max(n, t.By.at(&t.Rows[r])[i].Units)
		}
		short = short || n < t.Units
		units = append(units, fmt.Sprintf("%d at %s", n, thousands(cost)))
	}
	if short {
		s += fmt.Sprintf(" Budgets differ, and so do the units whose mean a column is: %s, %d at T.", strings.Join(units, ", "), t.Units)
	}
	return s
}

// gaps says what is missing, if anything is.
func (t *Table) gaps() string {
	var s []string
	if t.Without > 0 {
		s = append(s, fmt.Sprintf("%s left out, which %s no number for %s.", count(t.Without, "run"), have(t.Without), t.By.Name))
	}
	if slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Units < t.Units }) {
		var names []string
		for _, r := range t.Rows {
			if r.Units < t.Units {
				names = append(names, fmt.Sprintf("%s (%s)", escape(r.Name), t.of(r.Units)))
			}
		}
		s = append(s, "Not run everywhere, so that their means are of other units: "+strings.Join(names, ", ")+".")
	}
	return strings.Join(s, " ")
}

func have(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

// count is a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return thousands(n) + " " + thing
}

// thousands is n with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// format is v as a reader wants to see it. Nothing is −0.
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

// probability is p as far as it matters.
func probability(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

func bold(s string) string { return "**" + s + "**" }

// escape is a name that was given by somebody, in Markdown: on one line, and
// without meaning.
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

// markdown is columns as a table.
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

// tableLine is a row as NDJSON.
type tableLine struct {
	V         int               `json:"v"`
	Track     string            `json:"track"`
	Measure   string            `json:"measure"`
	Name      string            `json:"name"`
	Strategy  string            `json:"strategy"`
	Mean      number            `json:"mean"`
	Low       *number           `json:"low"` // null for a single run
	High      *number           `json:"high"`
	Units     int               `json:"units"`
	Of        int               `json:"of"`
	Also      map[string]number `json:"also,omitempty"`
	Against   *againstLine      `json:"against,omitempty"`
	Topics    map[string]number `json:"topics"`
	Seeds     map[string]number `json:"seeds"`
	HarvestAt map[int]number    `json:"harvest_at,omitempty"`
	RecallAt  map[int]number    `json:"recall_at,omitempty"`
}

type againstLine struct {
	Reference  string  `json:"reference"`
	Units      int     `json:"units"`
	Difference number  `json:"difference"`
	Low        *number `json:"low"`
	High       *number `json:"high"`
	P          number  `json:"p"`
	Holm       number  `json:"p_holm"`
	A12        number  `json:"a12"`
	Wins       int     `json:"wins"`
	Ties       int     `json:"ties"`
	Losses     int     `json:"losses"`
	Equivalent bool    `json:"equivalent"`
}

// number is a number of six digits on the wire.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	short, err := strconv.ParseFloat(strconv.FormatFloat(float64(n), 'g', 6, 64), 64)
	if err != nil {
		return nil, err
	}
	return json.Marshal(short)
}

// ends are the ends of an interval, nil where there is none.
func (i *Interval) ends() (low, high *number) {
	if i == nil {
		return nil, nil
	}
	return new(number(i.Low)), new(number(i.High))
}

// put adds a mean, if there is one.
func put[K comparable](to map[K]number, key K, m Mean) {
	if m.Units > 0 {
		to[key] = number(m.Value)
	}
}

// WriteNDJSON writes a line a row, the best first.
func (t *Table) WriteNDJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, row := range t.Rows {
		line := tableLine{
			V: 1, Track: t.Track, Measure: t.By.Name, Name: row.Name, Strategy: row.Strategy,
			Mean: number(row.Mean), Units: row.Units, Of: t.Units,
			Also: map[string]number{}, Topics: map[string]number{}, Seeds: map[string]number{},
			HarvestAt: map[int]number{}, RecallAt: map[int]number{},
		}
		line.Low, line.High = row.Interval.ends()
		for i, m := range row.Also {
			put(line.Also, t.Also[i].Name, m)
		}
		for i, c := range row.Topics {
			put(line.Topics, t.Topics[i], c.Mean)
		}
		for i, c := range row.Seeds {
			put(line.Seeds, t.Seeds[i], c.Mean)
		}
		for i, cost := range t.Costs {
			put(line.HarvestAt, cost, row.HarvestAt[i])
			put(line.RecallAt, cost, row.RecallAt[i])
		}
		if a := row.Against; a != nil {
			line.Against = &againstLine{
				Reference: t.Reference, Units: a.Units, Difference: number(a.Difference), P: number(a.P), Holm: number(a.Holm),
				A12: number(a.A12), Wins: a.Wins, Ties: a.Ties, Losses: a.Losses, Equivalent: a.Equivalent,
			}
			line.Against.Low, line.Against.High = a.Interval.ends()
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
