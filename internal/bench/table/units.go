package main

import (
	"fmt"
	"strings"
)

// A unitReport is a report with a row for each benchmark and a column for each unit.
type unitReport struct {
	title, command, words string
	tables                [][]string // units
}

var costs = &unitReport{
	title: "CPU and memory of strategies", command: "scripts/bench costs",
	words: `The first table is of generations of 200 pages with 100,000 known links, on a synthetic web of pages with 30
links and 200 words (BenchmarkBreed). ns/page is the time of evolve per page without reading and writing
records; breed-ms is the time of Breed; delta-B is the state that a generation adds; start-ms is the time to
read the state, once per generation.

The second table is of 2,000 generations of 20 pages in one process, about 1.1 million known links at the end
(BenchmarkLongCrawl): time and state of a generation after 500, 1,000, 1,500 and 2,000, memory of the strategy
at the end (MB), and the time to read its state then (replay-ms).`,
	tables: [][]string{
		{"ns/page", "breed-ms", "delta-B", "start-ms"},
		{"ms/gen@500", "ms/gen@1000", "ms/gen@1500", "ms/gen@2000", "B/gen@500", "B/gen@1000", "B/gen@1500", "B/gen@2000", "MB", "replay-ms"},
	},
}

var politeness = &unitReport{
	title: "Fetching in one process, and politely", command: "scripts/bench politeness",
	words: `Live compares the crawler with a loop over net/http that reads each page into memory, pages of 100 KiB.
Replay reads WebKB from its archive by address, and all of it. PoliteCrawl requests pages of 200 hosts on
loopback with a minimum delay of 200 ms and slowness 5, and measures at the server the share of the
permitted requests that are made.`,
	tables: [][]string{{"pages/s"}, {"%-of-permitted", "%-by-host", "requests/s"}},
}

var archives = &unitReport{
	title: "Reading and writing archives", command: "scripts/bench archives",
	words: `Pages of the shared webs. *Write* stores one exchange (response, request and metadata, with two digests) in a
file; *member* only compresses the response as one gzip member; *stdlib* does that with the standard library at
level 6.`,
	tables: [][]string{{"MB/s", "pages/s", "ns/op", "allocs/op"}},
}

// write returns the report.
func (u *unitReport) write(r *results) string {
	b := r.begin(u.title, u.command, u.words)
	for _, units := range u.tables {
		fmt.Fprintf(b, "\n%s", r.units(units))
	}
	return b.String()
}

// units returns a table with a row for each benchmark that has at least one of the units.
func (r *results) units(units []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| benchmark | %s |\n|---|%s\n", strings.Join(units, " | "), strings.Repeat("--:|", len(units)))
	for _, name := range r.names {
		_, short, _ := strings.Cut(name, ".Benchmark")
		cells := []string{short}
		for _, unit := range units {
			cells = append(cells, r.of(name, unit).String())
		}
		if strings.Join(cells[1:], "") != "" {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	return b.String()
}
