package main

import (
	"fmt"
	"strings"
)

const fetchingWords = `Whole processes get the same pages from loopback, 32 at a time: 1,000 of modern, 3,000 of PlanetMath and
6,000 of WebKB, each made unique, uncompressed, in gzip and in br. Output goes to a pipe whose reader
discards it, and files are in memory ([decision 42](../decisions/0042-speed-targets-of-fetch.md)). wget requests one page at a time;
wget2 writes plain files and no WARC. The loops over net/http decode gzip and discard pages (` + "`nethttp`" + `),
write them (` + "`pipe`" + `), write them with their SHA-1, or also compress them at level 1. Neither they nor wget decode br.`

// fetching returns the report of BenchmarkLiveFetch.
func (r *results) fetching() string {
	b := r.begin("Fetching", "scripts/bench fetching", fetchingWords)
	b.WriteString("\n| served | KiB/page | client | pages/s | of wget2 | of compressed | of hashed | of discarded | CPU s / 1,000 | of wget2 |\n" +
		"|---|--:|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, name := range r.names {
		path, ok := strings.CutPrefix(name, "spoor.BenchmarkLiveFetch/")
		if !ok {
			continue
		}
		slash := strings.LastIndex(path, "/")
		served, client := path[:slash], path[slash+1:]
		ratio := func(unit, peer string) string {
			peer = strings.TrimSuffix(name, client) + peer
			return r.each(func(f map[string]figures) float64 { return f[name][unit] / f[peer][unit] }).String()
		}
		cells := []string{strings.ReplaceAll(served, "/", " "), r.of(name, "KiB/page").String(), client, r.of(name, "pages/s").String()}
		for _, peer := range []string{"wget2", "nethttp+pipe+sha1+gzip", "nethttp+pipe+sha1", "nethttp"} {
			cells = append(cells, ratio("pages/s", peer))
		}
		cells = append(cells, r.of(name, cpu).String(), ratio(cpu, "wget2"))
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}
