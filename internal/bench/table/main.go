// Table makes a report of what benchmarks printed.
//
// Usage: table [frontier] < benchmarks > report.md
//
// The report is that of the commands, or that of the frontier and other stores.
//
// It reads what go test -bench prints, of one round after the other. A line
// "round" begins a round: what is held against each other is taken from one round
// each time, so that what else the machine did is shared. Other lines that begin
// with "# " are words for the head of the report. Figures are medians, with
// quartiles in brackets.
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
	report := (*results).report
	switch {
	case len(os.Args) == 2 && os.Args[1] == "frontier":
		report = (*results).frontier
	case len(os.Args) > 1:
		log.Print("usage: table [frontier] < benchmarks > report.md")
		os.Exit(2)
	}
	r, err := read(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.WriteString(report(r)); err != nil {
		log.Fatal(err)
	}
}

// figures are those of a benchmark, by unit.
type figures map[string]float64

// results are what was read.
type results struct {
	head   []string
	rounds []map[string]figures // by benchmark, its package before its name
}

// processors is what go test adds to the name of a benchmark that has several.
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
		case strings.HasPrefix(line, "# "):
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
			r.rounds[len(r.rounds)-1][pkg+"."+processors.ReplaceAllString(words[0], "")] = f
		}
	}
}

// each is what f makes of every round that has what it needs.
func (r *results) each(f func(round map[string]figures) float64) (all spread) {
	for _, round := range r.rounds {
		if v := f(round); v != 0 && !math.IsNaN(v) && !math.IsInf(v, 0) {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return all
}

// of are the figures of a benchmark.
func (r *results) of(name, unit string) spread {
	return r.each(func(round map[string]figures) float64 { return round[name][unit] })
}

// A spread is figures, the least first.
type spread []float64

// at is the figure that a share of the others is not larger than, between two
// figures the mean, weighted by how near they are.
func (s spread) at(share float64) float64 {
	i, part := math.Modf(share * float64(len(s)-1))
	low, high := s[int(i)], s[min(int(i)+1, len(s)-1)]
	return low + part*(high-low)
}

func (s spread) String() string {
	if len(s) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s–%s)", number(s.at(0.5)), number(s.at(0.25)), number(s.at(0.75)))
}

// number is v with three digits, or what it has before the point.
func number(v float64) string {
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	return strconv.FormatFloat(v, 'f', digits, 64)
}

const cpu = "cpu-s/1000"

func (r *results) report() string {
	var b strings.Builder
	r.begin(&b)
	for _, s := range report {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s", s.title, s.words, r.table(s.rows))
	}
	r.memory(&b)
	return b.String()
}

// begin writes the head.
func (r *results) begin(b *strings.Builder) {
	for _, line := range r.head {
		fmt.Fprintln(b, line)
	}
}

// table is rows with those of the columns that have something in them.
func (r *results) table(rows []row) string {
	columns := [][]string{
		{"", "|---"}, {"n", "|--:"}, {"spoor", "|--:"}, {"CPU s / 1,000", "|--:"}, {"beside it", "|---"}, {"", "|--:"},
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

// cells are those of a row, empty where there is nothing to say.
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
		return []string{w.job, "0", "not measured", "", w.as, "", "", "", ""}
	}
	peer := w.as
	if w.peer != "" && len(theirs) == 0 {
		peer += ": not measured"
	}
	return []string{
		w.job, strconv.Itoa(len(ours)), ours.String() + " " + w.unit, r.of(w.ours, cpu).String(),
		peer, theirs.String(), ratio.String(), costs.String(), verdict,
	}
}

// memory tells what BenchmarkMemory found.
func (r *results) memory(b *strings.Builder) {
	found := map[string]figures{} // by process, then by when
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
	fmt.Fprintln(b, "\n## Memory\n\nMiB resident after so many pages through `parse | score`: those of the three webs again and\nagain; the most is of a look every second. One run.")
	fmt.Fprintln(b, "\n| | 10,000 | 20,000 | 50,000 | 100,000 | 200,000 | most |\n|---|--:|--:|--:|--:|--:|--:|")
	for _, process := range slices.Sorted(maps.Keys(found)) {
		f := found[process]
		fmt.Fprintf(b, "| `%s` | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f |\n", process,
			f["10000"], f["20000"], f["50000"], f["100000"], f["200000"], f["most"])
	}
}
