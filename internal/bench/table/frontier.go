package main

import (
	"fmt"
	"strconv"
	"strings"
)

// stores is the package whose benchmarks the frontier's report is of.
const stores = "internal/bench/stores."

// life is the name of the benchmark of a store.
func life(size string, links int, store string) string {
	return fmt.Sprintf("%sBenchmarkStore/%s/fsync=%d/%s", stores, size, links, store)
}

// What the benchmark is run with, in the order of the report. A size is what it is
// called and how many URLs it has.
var (
	lifeSizes = []struct {
		name string
		urls float64
	}{{"1e5", 1e5}, {"1e6", 1e6}, {"1e7", 1e7}}
	lifeLinks  = []int{1000, 28_000}
	lifeStores = []string{"spoor", "pebble", "bbolt", "sqlite"}
)

// A grid is a section whose rows are stores of a size, and whose columns are units.
type grid struct {
	title, words string
	columns      []column
}

// A column holds what was measured in a unit, or a ratio of spoor and the other store
// in the same round.
type column struct {
	head, unit string
	shows      shows
}

// What a column shows.
type shows int

const (
	plain shows = iota
	more        // how many times as much spoor has
	less        // how many times as much the other has
)

// A goal is what a figure of spoor's should come to: at least so much, or at most.
type goal struct {
	what     string
	of, unit string
	over     string // what the figure is divided by, in the same round; empty: nothing
	bound    float64
	most     bool
}

// lives are the sections that have what was measured of the stores.
var lives = []grid{
	{
		title: "Adding",
		words: "Links a second, read as records and added until they are on disk: the last tenth of the way to so many\nURLs, and all of the way from nothing. Processor time, of user and system, has what a database does\nbeside it in it. A database that is not there after a minute of adding is cut: its row, here and below, is\nof the URLs that it had then, \"all the way\" is that minute, and the last tenth that of the way to\nwhere it was cut. spoor is compared with all of its own URLs; the database would have become slower with those that\nit lacks, so such a ratio has > before it.",
		columns: []column{
			{"links/s", "links/s", plain}, {"all the way", "links/s-all", plain},
			{"CPU µs a link", "cpu-us/link", plain}, {"spoor is faster by", "links/s", more}, {"by processor time", "cpu-us/link", less},
		},
	},
	{
		title: "Space",
		words: "Bytes a URL. On disk: the files after a clean close. In memory: what a process has resident more than\nbefore it opened the store; one that opened it and handed out, what of that is not pages of files, and\nthe one that filled it. The most is all that the latter ever had, in MiB, the next links and the program in it.",
		columns: []column{
			{"disk", "disk-B/url", plain}, {"opened", "open-B/url", plain}, {"of that anonymous", "open-anonymous-B/url", plain},
			{"filled", "grown-B/url", plain}, {"the most, MiB", "most-MiB", plain},
		},
	},
	{
		title: "Handing out and opening",
		words: "Milliseconds. A thousand addresses are handed out, at most ten of a host, and are on disk as leased: the\nfirst time after the store was opened, and the median of ten times. It is opened after a clean close,\nafter the process was killed that had opened it and added one generation, and after the one was killed\nthat had filled it. The files are in the system's cache.",
		columns: []column{
			{"1,000 for the first time", "next-first-ms", plain}, {"1,000", "next-ms", plain},
			{"open, closed", "open-ms", plain}, {"open, killed", "open-killed-ms", plain}, {"open, killed as it grew", "open-grown-ms", plain},
			{"close", "close-ms", plain},
		},
	},
	{
		title: "Compaction",
		words: "Every second URL is forgotten, all at once, whether it waits or is leased. Then the files are rid of them:\nspoor rewrites its log and writes a snapshot, Pebble compacts the whole range of keys, bbolt copies itself to a new file,\nSQLite does VACUUM and empties its log. URLs are those that were known before. The files are measured after a clean\nclose before and after it; the most that the process had resident has what it had opened in it. spoor's snapshot keeps the\nplaces of what was forgotten, so that it is the log that becomes shorter.",
		columns: []column{
			{"URLs/s", "compact-urls/s", plain}, {"s", "compact-s", plain},
			{"before, MiB", "long-MiB", plain}, {"after, MiB", "short-MiB", plain}, {"the most, MiB", "compact-most-MiB", plain},
		},
	},
}

// goals are those of the design.
var goals = []goal{
	{"links/s, 100,000 URLs, fsync a generation", life("1e5", 28_000, "spoor"), "links/s", "", 500_000, false},
	{"links/s, 1,000,000 URLs, fsync a generation", life("1e6", 28_000, "spoor"), "links/s", "", 500_000, false},
	{"links/s, 10,000,000 URLs, fsync a generation", life("1e7", 28_000, "spoor"), "links/s", "", 500_000, false},
	{"links/s, 10,000,000 URLs, fsync a batch", life("1e7", 1000, "spoor"), "links/s", "", 500_000, false},
	{"links/s with 1,000,000 URLs over those with 10,000,000", life("1e6", 28_000, "spoor"), "links/s", life("1e7", 28_000, "spoor"), 1.3, true},
	{"bytes a URL on disk, 10,000,000 URLs", life("1e7", 28_000, "spoor"), "disk-B/url", "", 120, true},
	{"MiB resident, filled with 10,000,000 URLs", life("1e7", 28_000, "spoor"), "most-MiB", "", 1024, true},
	{"MiB resident, opened with 10,000,000 URLs", life("1e7", 28_000, "spoor"), "open-MiB", "", 1024, true},
	{"ms for 1,000 addresses, 10,000,000 URLs", life("1e7", 28_000, "spoor"), "next-ms", "", 100, true},
	{"ms to open after a clean close, 10,000,000 URLs", life("1e7", 28_000, "spoor"), "open-ms", "", 1000, true},
}

// frontier is the report of the stores.
func (r *results) frontier() string {
	var b strings.Builder
	r.begin(&b)
	for _, g := range lives {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s", g.title, g.words, r.lives(g.columns))
	}
	fmt.Fprintf(&b, "\n## Targets\n\nAll of them spoor's.\n\n| | n | figure | target |\n|---|--:|--:|---|\n")
	for _, g := range goals {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r.goal(g), " | "))
	}
	if sync := r.of(stores+"BenchmarkFsync", "ms"); len(sync) > 0 {
		fmt.Fprintf(&b, "\nTo append 20 KB to a file and to wait until they are on this disk takes %s ms: whoever does that after\nevery 1,000 links cannot have more than %s links/s.\n",
			sync, thousands(1e6/sync.at(0.5)))
	}
	return b.String()
}

// lives is a table of all stores of which there is something to say.
func (r *results) lives(columns []column) string {
	var b strings.Builder
	b.WriteString("| URLs | fsync after | | n |")
	for _, c := range columns {
		b.WriteString(" " + c.head + " |")
	}
	b.WriteString("\n|--:|--:|---|--:|" + strings.Repeat("--:|", len(columns)) + "\n")
	for _, size := range lifeSizes {
		for _, links := range lifeLinks {
			for _, store := range lifeStores {
				name := life(size.name, links, store)
				urls := r.of(name, "urls")
				if len(urls) == 0 {
					continue
				}
				cells := []string{thousands(size.urls), thousands(float64(links)), store, strconv.Itoa(len(urls))}
				atLeast := ""
				if got := urls.at(0.5); got < size.urls {
					cells[0] += ", cut at " + thousands(got)
					atLeast = "> "
				}
				measured := false
				for _, c := range columns {
					cell := r.life(c, size.name, links, store)
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

// life is a cell, empty where there is nothing to say.
func (r *results) life(c column, size string, links int, store string) string {
	name := life(size, links, store)
	switch {
	case c.shows == plain:
		return r.of(name, c.unit).String()
	case store == lifeStores[0]:
		return ""
	}
	over, under := life(size, links, lifeStores[0]), name
	if c.shows == less {
		over, under = under, over
	}
	return r.each(func(f map[string]figures) float64 { return f[over][c.unit] / f[under][c.unit] }).String()
}

// goal are the cells of a goal.
func (r *results) goal(g goal) []string {
	got := r.each(func(f map[string]figures) float64 {
		if g.over == "" {
			return f[g.of][g.unit]
		}
		return f[g.of][g.unit] / f[g.over][g.unit]
	})
	sign, want := "≥", g.bound
	if g.most {
		sign = "≤"
	}
	verdict := fmt.Sprintf("%s %s", sign, thousands(want))
	if len(got) == 0 {
		return []string{g.what, "0", "not measured", verdict}
	}
	if v := got.at(0.5); v == want || v > want != g.most {
		verdict += ": reached"
	} else {
		verdict += ": **missed**"
	}
	return []string{g.what, strconv.Itoa(len(got)), got.String(), verdict}
}

// thousands is v, rounded, with commas; below ten as it is.
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
