package main

import (
	"fmt"
	"strconv"
	"strings"
)

// stores is the package of the benchmarks of the frontier.
const stores = "internal/bench/stores."

// storeBenchmark returns the name of the benchmark of a store.
func storeBenchmark(size string, links int, store string) string {
	return fmt.Sprintf("%sBenchmarkStore/%s/fsync=%d/%s", stores, size, links, store)
}

// The parameters of the benchmark, in the order of the report.
var (
	storeSizes = []struct {
		name string
		urls float64
	}{{"1e5", 1e5}, {"1e6", 1e6}, {"1e7", 1e7}}
	storeLinks = []int{1000, 28_000}
	storeNames = []string{"spoor", "pebble", "bbolt", "sqlite"}
)

// A grid is a section with a row for each store and size, and a column for each unit.
type grid struct {
	title, words string
	columns      []column
}

// A column shows figures in a unit, or the ratio of the figures of spoor and of the other store.
type column struct {
	head, unit string
	shows      shows
}

type shows int

const (
	plain   shows = iota // the figure
	ratio                // spoor's figure divided by the other's
	inverse              // the other's figure divided by spoor's
)

// A goal is a bound for a figure of spoor.
type goal struct {
	what     string
	of, unit string
	over     string // the benchmark to divide by, if not empty
	bound    float64
	isUpper  bool // bound is an upper bound
}

const frontierWords = `The benchmark adds the links of a simulated crawl to the frontier. Links arrive in generations of
28,000. Four fifths of them are known; the others are queued by priority. Batches of 1,000 are
committed, with an fsync after every batch or after every generation. For all stores, one goroutine
reads the records. The web is synthetic: 50,000 hosts of very different sizes, URLs of 78 bytes. The
databases store a fingerprint, the priority and the URL; spoor stores whole records. Pebble and SQLite
have a cache of 256 MiB and compact after 64 MiB of log. A database is stopped after a minute of
adding; spoor is not.`

// storeSections are the sections about stores.
var storeSections = []grid{
	{
		title: "Adding",
		words: "Links per second, read as records and added durably: over the last tenth, and over all. CPU time\nincludes background work of a database. If a database was cut off, its rows here and below are for the\nURLs added until then, and ratios with spoor's full run are lower bounds (>).",
		columns: []column{
			{"links/s", "links/s", plain}, {"links/s, all", "links/s-all", plain},
			{"CPU µs/link", "cpu-us/link", plain}, {"spoor faster by", "links/s", ratio}, {"by CPU time", "cpu-us/link", inverse},
		},
	},
	{
		title: "Space",
		words: "Bytes per URL: files after a clean close; growth of resident memory by opening and leasing (and the\npart of it that is not file pages), and by filling. The maximum is the peak of the process that filled\nthe store, in MiB.",
		columns: []column{
			{"disk", "disk-B/url", plain}, {"opened", "open-B/url", plain}, {"anonymous", "open-anonymous-B/url", plain},
			{"filled", "grown-B/url", plain}, {"maximum, MiB", "most-MiB", plain},
		},
	},
	{
		title: "Leasing and opening",
		words: "Milliseconds. A thousand addresses are leased durably, at most ten of a host: the first time after\nopening, and the median of ten times. The store is opened after a clean close; after a kill of the\nprocess that had opened it and added one generation; and after a kill of the process that filled it.\nThe files are in the page cache.",
		columns: []column{
			{"first 1,000", "next-first-ms", plain}, {"1,000", "next-ms", plain},
			{"open, closed", "open-ms", plain}, {"open, killed", "open-killed-ms", plain}, {"open, killed filling", "open-grown-ms", plain},
			{"close", "close-ms", plain},
		},
	},
	{
		title: "Compaction",
		words: "Every second URL is forgotten, then the store is compacted: spoor rewrites its log and writes a\nsnapshot, Pebble compacts the whole key range, bbolt copies itself to a new file, SQLite runs VACUUM and\nempties its log. URLs/s counts those known before; sizes are of the files after a clean close; the\nmaximum is resident memory. spoor's snapshot keeps the places of forgotten URLs.",
		columns: []column{
			{"URLs/s", "compact-urls/s", plain}, {"s", "compact-s", plain},
			{"before, MiB", "long-MiB", plain}, {"after, MiB", "short-MiB", plain}, {"maximum, MiB", "compact-most-MiB", plain},
		},
	},
}

// goals are the targets of the design.
var goals = []goal{
	{"links/s, 100,000 URLs, fsync a generation", storeBenchmark("1e5", 28_000, "spoor"), "links/s", "", 500_000, false},
	{"links/s, 1,000,000 URLs, fsync a generation", storeBenchmark("1e6", 28_000, "spoor"), "links/s", "", 500_000, false},
	{"links/s, 10,000,000 URLs, fsync a generation", storeBenchmark("1e7", 28_000, "spoor"), "links/s", "", 500_000, false},
	{"links/s, 10,000,000 URLs, fsync a batch", storeBenchmark("1e7", 1000, "spoor"), "links/s", "", 500_000, false},
	{"links/s with 1,000,000 URLs over those with 10,000,000", storeBenchmark("1e6", 28_000, "spoor"), "links/s", storeBenchmark("1e7", 28_000, "spoor"), 1.3, true},
	{"bytes a URL on disk, 10,000,000 URLs", storeBenchmark("1e7", 28_000, "spoor"), "disk-B/url", "", 120, true},
	{"MiB resident, filled with 10,000,000 URLs", storeBenchmark("1e7", 28_000, "spoor"), "most-MiB", "", 1024, true},
	{"MiB resident, opened with 10,000,000 URLs", storeBenchmark("1e7", 28_000, "spoor"), "open-MiB", "", 1024, true},
	{"ms for 1,000 addresses, 10,000,000 URLs", storeBenchmark("1e7", 28_000, "spoor"), "next-ms", "", 100, true},
	{"ms to open after a clean close, 10,000,000 URLs", storeBenchmark("1e7", 28_000, "spoor"), "open-ms", "", 1000, true},
}

func (r *results) frontier() string {
	b := r.begin("Performance of the frontier", "scripts/bench frontier", frontierWords)
	for _, g := range storeSections {
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n%s", g.title, g.words, r.storeTable(g.columns))
	}
	fmt.Fprintf(b, "\n## Targets of spoor\n\n| | figure | target |\n|---|--:|---|\n")
	for _, g := range goals {
		fmt.Fprintf(b, "| %s |\n", strings.Join(r.goal(g), " | "))
	}
	if sync := r.of(stores+"BenchmarkFsync", "ms"); len(sync) > 0 {
		fmt.Fprintf(b, "\nAppending 20 KB and an fsync take %s ms on this disk, which limits an fsync after every 1,000 links to\n%s links/s.\n",
			sync, thousands(1e6/sync.at(0.5)))
	}
	return b.String()
}

// storeTable returns a table of the stores that have a figure in one of the columns.
func (r *results) storeTable(columns []column) string {
	var b strings.Builder
	b.WriteString("| URLs | fsync after | |")
	for _, c := range columns {
		b.WriteString(" " + c.head + " |")
	}
	b.WriteString("\n|--:|--:|---|" + strings.Repeat("--:|", len(columns)) + "\n")
	for _, size := range storeSizes {
		for _, links := range storeLinks {
			for _, store := range storeNames {
				name := storeBenchmark(size.name, links, store)
				urls := r.of(name, "urls")
				if len(urls) == 0 {
					continue
				}
				cells := []string{thousands(size.urls), thousands(float64(links)), store}
				atLeast := ""
				if got := urls.at(0.5); got < size.urls {
					cells[0] += ", cut at " + thousands(got)
					atLeast = "> "
				}
				measured := false
				for _, c := range columns {
					cell := r.storeCell(c, size.name, links, store)
					measured = measured || cell != ""
					if c.shows != plain && cell != "" {
						cell = atLeast + cell
					}
					cells = append(cells, cell)
				}
				if measured {
					fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
				}
			}
		}
	}
	return b.String()
}

// storeCell returns a cell of that table, empty without a figure.
func (r *results) storeCell(c column, size string, links int, store string) string {
	name := storeBenchmark(size, links, store)
	switch {
	case c.shows == plain:
		return r.of(name, c.unit).String()
	case store == storeNames[0]:
		return ""
	}
	over, under := storeBenchmark(size, links, storeNames[0]), name
	if c.shows == inverse {
		over, under = under, over
	}
	return r.each(func(f map[string]figures) float64 { return f[over][c.unit] / f[under][c.unit] }).String()
}

// goal returns the cells of a goal.
func (r *results) goal(g goal) []string {
	got := r.each(func(f map[string]figures) float64 {
		if g.over == "" {
			return f[g.of][g.unit]
		}
		return f[g.of][g.unit] / f[g.over][g.unit]
	})
	sign, want := "≥", g.bound
	if g.isUpper {
		sign = "≤"
	}
	verdict := fmt.Sprintf("%s %s", sign, thousands(want))
	if len(got) == 0 {
		return []string{g.what, "not measured", verdict}
	}
	if v := got.at(0.5); v == want || v > want != g.isUpper {
		verdict += ": reached"
	} else {
		verdict += ": **missed**"
	}
	return []string{g.what, got.String(), verdict}
}

// thousands formats v with commas: rounded from ten on.
func thousands(v float64) string {
	if v < 10 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
