// Report makes a page of crawls, or of a comparison of strategies, that can be looked at
// in a browser.
//
// # Usage
//
//	report -o FILE RUN...
//	report -o FILE -results FILE [-reference NAME] [-measure NAME] [RUN...]
//
// # Runs
//
// A RUN is a run directory of scripts/crawl, whether the crawl has ended or not. Of it
// are read, as far as they are there:
//
//	generations/*/scored.ndjson.zst   the records, in the order of fetching
//	generations/*/stats.json          what the crawl says of each generation
//	settings topic.json stop_reason stages.log
//	judge.json                        the summary of judge -summary
//	verdicts.ndjson.zst               the records that judge wrote (judge -brief)
//
// or what scripts/compare keeps of a crawl, DIR/jobs/NAME: order.ndjson.zst, which is the
// records in brief with their verdicts, log.ndjson, and the small files of the above.
//
// With judge.json the page has the curves of the run between chance and the clairvoyant
// crawler; with verdicts.ndjson.zst pages count as relevant that the labels call so.
// Without them the measure that steered the crawl says which pages are relevant, and the
// page says that this is a judge in its own cause.
//
// What else is on the page: what every operator brought in each generation, niches, hosts
// and which of them are slow, scores against verdicts, what failed and what was skipped,
// and the relevant pages by their score, each with its lineage: the pages, operators and
// numbers that brought it, back to a seed or a query. Of all lists the page has the head,
// and says what was left out. A lineage is found in the records of the run alone.
//
// Verdicts are matched to records by address. A run that went on after it was judged is
// shown with what was judged, and that is reported; verdicts of another run are an error.
//
// # Comparisons
//
// -results FILE has a line of JSON for each run that was judged, as scripts/compare
// writes them. The page has a table and a chart for each track: means with their 95 %
// bootstrap intervals, and how each strategy stands against the one that -reference
// names. -measure names what is compared (nauc unless another is given; judge table -h
// lists them). A line that is no result is reported and left out.
//
// # The page
//
// One file of HTML, with everything in it: it asks no server for anything. It is written
// under another name and renamed when it is whole, so a page that is being looked at is
// never half of one. -o - writes it to stdout. The same files give the same bytes: it
// has no date but that of the records.
//
// Of paths that the settings name only the last part is shown.
//
// # Example
//
//	$ scripts/crawl -run jazz -topic topic.json -seeds seeds.txt -archive web.warc.gz
//	$ judge -archive web.warc.gz -labels labels.ndjson -label jazz \
//	>   -brief -summary jazz/judge.json -tee jazz/verdicts.ndjson.zst jazz >/dev/null
//	$ report -o jazz.html jazz
//
// # Exit status
//
// 0 done, 1 failed, 2 misuse, 3 disk full.
package main

import (
	"flag"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/report"
)

const manual = `
report - make a page of crawls, or of a comparison of strategies

Usage: report -o FILE RUN...
       report -o FILE -results FILE [-reference NAME] [-measure NAME] [RUN...]

In:   run directories of scripts/crawl, ended or not; judge.json (judge -summary) and
      verdicts.ndjson.zst (judge -brief) in them, if they are there; or what
      scripts/compare keeps of a crawl (DIR/jobs/NAME)
      -results: a line of JSON for each judged run, as scripts/compare writes them
Out:  one file of HTML that asks no server for anything: curves of harvest and recall,
      generations by operator, niches, hosts, scores against verdicts, errors, and the
      relevant pages with their lineage

Without a judge relevant means what the measure that steered the crawl calls so, and
the page says so. The file is renamed into place when it is whole; -o - is stdout. The
same files give the same bytes.

Example:

    report -o jazz.html jazz

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full. go doc ./cmd/report tells more.
`

func main() { filter.Main("report", makeReport) }

func makeReport(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	var out, results, format string
	var how comparing
	fs := filter.Flags("report", manual, stderr)
	fs.StringVar(&out, "o", "", "the `file` to write the page to; - is stdout")
	fs.StringVar(&results, "results", "", "compare the judged runs in this `file`")
	fs.StringVar(&how.reference, "reference", "", "with -results: the `name` of the strategy that the others are held against")
	fs.StringVar(&how.measure, "measure", "nauc", "with -results: the `name` of the measure to compare")
	filter.LogFlag(fs, &format)
	dirs, err := filter.ParseMixed(fs, args)
	switch {
	case err != nil:
		return err
	case out == "":
		return filter.Usagef("where to? -o FILE\nhint: report -o page.html RUN")
	case len(dirs) == 0 && results == "":
		return filter.Usagef("a report of what? report -o %s RUN..., or -results FILE\nhint: a run is the directory of a crawl, as its -run", out)
	case results == "":
		for _, name := range []string{"reference", "measure"} {
			if given(fs, name) {
				return filter.Usagef("-%s needs -results FILE", name)
			}
		}
	}
	started := time.Now()
	log := filter.Logger(stderr, "report", format)
	var page report.Page
	records := 0
	for i, name := range names(dirs) {
		run, err := readRun(dirs[i], name, log)
		if err != nil {
			return err
		}
		records += run.Records
		page.Runs = append(page.Runs, run)
	}
	if results != "" {
		if page.Comparison, err = how.read(results, log); err != nil {
			return err
		}
	}
	if out == "-" {
		err = report.Write(stdout, &page)
	} else {
		err = atomicfile.Write(out, func(w io.Writer) error { return report.Write(w, &page) })
	}
	if err != nil {
		return err
	}
	log.Info("done", "runs", len(page.Runs), "records", records, "seconds", float64(time.Since(started).Milliseconds())/1000)
	return nil
}

// given reports whether a flag is on the command line.
func given(fs *flag.FlagSet, name string) (found bool) {
	fs.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// names returns the names of runs on the page: the last element of the path, or the whole
// path if several have the same last element.
func names(dirs []string) []string {
	count := map[string]int{}
	list := make([]string, len(dirs))
	for i, dir := range dirs {
		list[i] = filepath.Base(dir)
		if abs, err := filepath.Abs(dir); err == nil {
			list[i] = filepath.Base(abs) // also for "."
		}
		count[list[i]]++
	}
	for i, dir := range dirs {
		if count[list[i]] > 1 {
			list[i] = filepath.ToSlash(filepath.Clean(dir))
		}
	}
	return list
}

// warner returns a function that logs errors that do not end the report.
func warner(log *slog.Logger, what, name string) func(error) {
	return func(err error) { log.Warn("left out", what, name, "err", err) }
}
