// Table makes a report in Markdown from the output of go test -bench.
//
// Usage: table REPORT < benchmarks > report.md
//
// A REPORT is what scripts/bench calls it: commands, frontier, fetching, costs, politeness
// or archives.
//
// A line "round" begins a round, in which every benchmark runs once. Ratios are computed
// within a round, so that other load on the machine affects both sides. Lines that begin
// with "# " are copied to the head of the report. Figures are medians, with quartiles in
// brackets if there are several rounds.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("table: ")
	reports := map[string]func(*results) string{
		"commands":   (*results).commands,
		"frontier":   (*results).frontier,
		"fetching":   (*results).fetching,
		"costs":      costs.write,
		"politeness": politeness.write,
		"archives":   archives.write,
	}
	write := reports[strings.Join(os.Args[1:], " ")]
	if write == nil {
		log.Printf("usage: table %s", strings.Join(slices.Sorted(maps.Keys(reports)), "|"))
		os.Exit(2)
	}
	r, err := read(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.WriteString(write(r)); err != nil {
		log.Fatal(err)
	}
}

// figures are the figures of a benchmark, by unit.
type figures map[string]float64

// results are the benchmarks of all rounds.
type results struct {
	head   []string
	names  []string             // of benchmarks, package first, in the order of the input
	rounds []map[string]figures // by name
}

// processors is the suffix that go test adds to the name of a benchmark on several processors.
var processors = regexp.MustCompile(`-\d+$`)

func read(in io.Reader) (*results, error) {
	r := &results{}
	pkg := ""
	for lines := bufio.NewScanner(in); ; {
		if !lines.Scan() {
			return r, lines.Err()
		}
		line := lines.Text()
		words := strings.Fields(line)
		switch {
		case line == "round":
			r.rounds = append(r.rounds, map[string]figures{})
		case strings.HasPrefix(line, "# ") && !slices.Contains(r.head, line[2:]):
			r.head = append(r.head, line[2:])
		case strings.HasPrefix(line, "pkg: "):
			pkg = strings.TrimPrefix(words[1], "spoor/")
		case strings.HasPrefix(line, "Benchmark") && len(words) > 3 && len(r.rounds) > 0:
			f := figures{}
			for i := 2; i+1 < len(words); i += 2 {
				v, err := strconv.ParseFloat(words[i], 64)
				if err != nil {
					return nil, fmt.Errorf("%q: %w", line, err)
				}
				f[words[i+1]] = v
			}
			name := pkg + "." + processors.ReplaceAllString(words[0], "")
			if !slices.Contains(r.names, name) {
				r.names = append(r.names, name)
			}
			r.rounds[len(r.rounds)-1][name] = f
		}
	}
}

// each returns f of every round for which it is a number other than 0.
func (r *results) each(f func(round map[string]figures) float64) (all spread) {
	for _, round := range r.rounds {
		if v := f(round); v != 0 && !math.IsNaN(v) && !math.IsInf(v, 0) {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return all
}

// of returns the figures of a benchmark in all rounds.
func (r *results) of(name, unit string) spread {
	return r.each(func(round map[string]figures) float64 { return round[name][unit] })
}

// A spread is a sorted list of figures.
type spread []float64

// at returns a quantile, interpolated linearly.
func (s spread) at(share float64) float64 {
	i, part := math.Modf(share * float64(len(s)-1))
	low, high := s[int(i)], s[min(int(i)+1, len(s)-1)]
	return low + part*(high-low)
}

func (s spread) String() string {
	if len(s) == 0 {
		return ""
	}
	low, median, high := number(s.at(0.25)), number(s.at(0.5)), number(s.at(0.75))
	if low == high {
		return median
	}
	return fmt.Sprintf("%s (%s–%s)", median, low, high)
}

// number formats v with three digits, or all digits before the point.
func number(v float64) string {
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	return strconv.FormatFloat(v, 'f', digits, 64)
}

const cpu = "cpu-s/1000"

func (r *results) commands() string {
	b := r.begin("Performance", "scripts/bench", commandsWords)
	for _, s := range report {
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n%s", s.title, s.words, r.table(s.rows))
	}
	r.memory(b)
	return b.String()
}

// begin returns a report with its head.
func (r *results) begin(title, command, words string) *strings.Builder {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# %s\n\nWritten by `%s`; do not edit.\n%s\n", title, command, strings.Join(r.head, "\n"))
	fmt.Fprintf(b, "Rounds: %d. Figures are medians of the rounds, with quartiles in brackets; a ratio is the median of the\n"+
		"rounds' ratios.\n\n%s\n", len(r.rounds), words)
	return b
}

// table returns the rows without columns that are empty.
func (r *results) table(rows []row) string {
	columns := [][]string{
		{"", "|---"}, {"spoor", "|--:"}, {"CPU s / 1,000", "|--:"}, {"compared with", "|---"}, {"", "|--:"},
		{"ratio", "|--:"}, {"by processor time", "|--:"}, {"target", "|---"},
	}
	for _, w := range rows {
		for i, cell := range r.cells(w) {
			columns[i] = append(columns[i], cell)
		}
	}
	columns = slices.DeleteFunc(columns, func(c []string) bool { return strings.Join(c[2:], "") == "" })
	var b strings.Builder
	for i := range len(rows) + 2 {
		for _, c := range columns {
			if i == 1 {
				b.WriteString(c[1])
			} else {
				b.WriteString("| " + c[i] + " ")
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// cells returns the cells of a row; those without a figure are empty.
func (r *results) cells(w row) []string {
	ours, theirs := r.of(w.ours, w.unit), r.of(w.peer, w.unit)
	ratio := r.each(func(f map[string]figures) float64 { return f[w.ours][w.unit] / f[w.peer][w.unit] })
	costs := r.each(func(f map[string]figures) float64 { return f[w.peer][cpu] / f[w.ours][cpu] })
	judged := ratio
	if w.peer == "" {
		judged = ours
	}
	verdict := ""
	if w.target != 0 && len(judged) > 0 {
		verdict = fmt.Sprintf("%g: reached", w.target)
		if judged.at(0.5) < w.target {
			verdict = fmt.Sprintf("%g: **missed**", w.target)
		}
	}
	if len(ours) == 0 {
		return []string{w.job, "not measured", "", w.as, "", "", "", ""}
	}
	peer := w.as
	if w.peer != "" && len(theirs) == 0 {
		peer += ": not measured"
	}
	return []string{
		w.job, ours.String() + " " + w.unit, r.of(w.ours, cpu).String(),
		peer, theirs.String(), ratio.String(), costs.String(), verdict,
	}
}

// memory appends the figures of BenchmarkMemory.
func (r *results) memory(b *strings.Builder) {
	found := map[string]figures{} // by process, then by number of pages
	for _, round := range r.rounds {
		for unit, v := range round[memory] {
			if process, when, ok := strings.Cut(unit, "-MiB@"); ok {
				if found[process] == nil {
					found[process] = figures{}
				}
				found[process][when] = v
			}
		}
	}
	if len(found) == 0 {
		return
	}
	fmt.Fprintln(b, "\n## Memory\n\nMiB resident after so many pages through `parse | score`: the pages of the three webs, repeated.\nThe maximum is of samples taken every second. One run.")
	fmt.Fprintln(b, "\n| | 10,000 | 20,000 | 50,000 | 100,000 | 200,000 | maximum |\n|---|--:|--:|--:|--:|--:|--:|")
	for _, process := range slices.Sorted(maps.Keys(found)) {
		f := found[process]
		fmt.Fprintf(b, "| `%s` | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f |\n", process,
			f["10000"], f["20000"], f["50000"], f["100000"], f["200000"], f["most"])
	}
}
