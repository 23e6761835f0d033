// Report makes an HTML page about crawls, or about a comparison of strategies.
//
// # Usage
//
//	report -o FILE RUN...
//	report -o FILE -results FILE [-reference NAME] [-measure NAME] [RUN...]
//	report -metrics -o FILE RUN...
//
// # Runs
//
// A RUN is a run directory of scripts/crawl, whether the crawl has ended or not. Report
// reads these files, if they exist:
//
//	generations/*/scored.ndjson.zst   the records, in the order of fetching
//	generations/*/stats.json          the crawl's summary of each generation
//	settings topic.json stop_reason stages.log
//	judge.json                        the summary of judge -summary
//	verdicts.ndjson.zst               the records that judge -brief has written
//
// The run directories of the nodes of a crawl on several machines are one run. Its judge.json and
// verdicts.ndjson.zst are in the directory that is given first. Generations missing from a
// partition are logged.
//
// A RUN may also be what scripts/compare keeps of a crawl, DIR/jobs/NAME: order.ndjson.zst,
// which has the brief records with their verdicts, log.ndjson, and the small files above.
//
// With judge.json the page shows the curves of the run between random crawls and the
// clairvoyant crawler; with verdicts.ndjson.zst labels decide which pages are relevant.
// Without verdicts, the steering measure decides which pages are relevant; the page
// warns that this measure judges itself.
//
// The page also shows what every operator found in each generation, niches, hosts and the
// slowest of them, scores by verdict, failures, skipped records, and the relevant pages by
// score, each with its lineage: the pages, operators and numbers that led to it, back to a
// seed or a query. Lists are shortened, and the page says how many entries were left out.
// Lineages use the records of the run only.
//
// Verdicts are matched to records by address. If a run has continued after it was judged,
// report warns and shows what was judged; verdicts of another run are an error.
//
// # Comparisons
//
// -results FILE has a line of JSON for each judged run, as scripts/compare writes them. The
// page has a table and a chart for each track: means with their 95 % bootstrap intervals,
// and how each strategy compares with -reference. -measure is the measure to compare, nauc
// by default (judge table -h lists them). Lines that are not results are reported and
// skipped.
//
// # The page
//
// The page is one self-contained HTML file, which makes no requests. The file is replaced
// atomically, so a reader never sees half of it. -o - writes it to stdout. The same files
// give the same bytes: all dates are those of the records. With -reload N a browser that shows the file
// reads it again every N seconds; crawl -watch writes such a page until the crawl ends.
//
// Only the last element of a path in the settings is shown.
//
// # Metrics
//
// -metrics writes the progress of the crawls in the text format of Prometheus, for example for the
// textfile collector of its node_exporter: pages fetched, failed, relevant and by operator, errors,
// the last generation and when it was committed, addresses, hosts, captures, and whether the crawl
// has ended. Every metric has the label run. The nodes of a crawl on several machines are one run;
// for nodes on other machines, use exchange status.
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
package report

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/metrics"
	"spoor/internal/report"
	"spoor/internal/run"
)

const manual = `
report - make an HTML page about crawls, or about a comparison of strategies

Usage: report -o FILE RUN...
       report -o FILE -results FILE [-reference NAME] [-measure NAME] [RUN...]
       report -metrics -o FILE RUN...

In:   each RUN is one of
      - a run directory of scripts/crawl, whether the crawl has ended or not; judge.json
        (judge -summary) and verdicts.ndjson.zst (judge -brief) in it are optional
      - the run directory of a node: all of them together are one crawl on several
        machines
      - what scripts/compare keeps of a crawl (DIR/jobs/NAME)
      -results FILE has a line of JSON for each judged run, as scripts/compare writes them
Out:  one self-contained HTML file: curves of harvest and recall, generations by
      operator, niches, hosts, scores by verdict, errors, and the relevant pages with
      their lineage; with -metrics, counts of each run in the text format of Prometheus

Without verdicts, the steering measure decides which pages are relevant; the report says so.
The file is replaced atomically; -o - is stdout. The same files give the same bytes.

Example:

    report -o jazz.html jazz

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

// Command is the command report.
var Command = filter.Command{Name: "report", Manual: manual, Run: makeReport}

func makeReport(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	var out, results string
	var logs filter.LogOptions
	var how comparing
	fs := filter.Flags("report", manual, stderr)
	fs.StringVar(&out, "o", "", "the `file` to write the page to; - is stdout; required")
	fs.StringVar(&results, "results", "", "compare the judged runs in this `file`")
	fs.StringVar(&how.reference, "reference", "", "with -results: the `name` of the strategy to compare others with (default: no comparison)")
	fs.StringVar(&how.measure, "measure", "nauc", "with -results: the `name` of the measure to compare")
	reload := fs.Int("reload", 0, "a browser that shows the page reads the file again every `n` seconds; 0: never")
	watched := fs.Bool("metrics", false, "write the progress of the crawls in the text format of Prometheus, instead of a page")
	filter.LogFlags(fs, &logs)
	dirs, err := filter.ParseMixed(fs, args)
	switch {
	case err != nil:
		return err
	case out == "":
		return filter.Usagef("no output: use -o FILE\nhint: report -o page.html RUN")
	case len(dirs) == 0 && results == "":
		return filter.Usagef("no run: report -o %s RUN..., or -results FILE\nhint: a run is the directory that scripts/crawl was given as -run", out)
	case *watched && results != "":
		return filter.Usagef("-metrics is about runs, not about -results")
	case results == "":
		for _, name := range []string{"reference", "measure"} {
			if filter.Given(fs)[name] {
				return filter.Usagef("-%s needs -results FILE", name)
			}
		}
	}
	started := time.Now()
	log := filter.Logger(stderr, "report", logs)
	if *watched {
		return writeMetrics(out, stdout, groupNodes(dirs), started, log)
	}
	page := report.Page{Reload: max(0, *reload)}
	records := 0
	crawls := groupNodes(dirs)
	for i, name := range names(crawls) {
		r, err := readRun(crawls[i], name, log)
		if err != nil {
			return err
		}
		records += r.Records
		page.Runs = append(page.Runs, r)
	}
	if results != "" {
		if page.Comparison, err = how.read(results, log); err != nil {
			return err
		}
	}
	if err := writeFile(out, stdout, func(w io.Writer) error { return report.Write(w, &page) }); err != nil {
		return err
	}
	log.Info("done", "runs", len(page.Runs), "records", records, "seconds", float64(time.Since(started).Milliseconds())/1000)
	return nil
}

// writeMetrics writes the metrics of crawls to the file out. It returns an error if it has left some out.
func writeMetrics(out string, stdout io.Writer, crawls []run.Dirs, now time.Time, log *slog.Logger) error {
	var list []metrics.Crawl
	for i, name := range names(crawls) {
		list = append(list, metrics.Crawl{Name: name, Dirs: crawls[i]})
	}
	missing := 0
	failed := func(name string, err error) {
		missing++
		warner(log, "run", name)(err)
	}
	err := writeFile(out, stdout, func(w io.Writer) error { return metrics.Write(w, list, now, failed) })
	if err == nil && missing > 0 {
		err = fmt.Errorf("%d of %d runs were left out: see above", missing, len(list))
	}
	return err
}

// writeFile replaces the file out, or writes to stdout if it is a dash.
func writeFile(out string, stdout io.Writer, write func(io.Writer) error) error {
	if out == "-" {
		return write(stdout)
	}
	return atomicfile.Write(out, write)
}

// groupNodes returns the directories of each crawl: all nodes belong to one crawl, and other directories
// are crawls of their own.
func groupNodes(dirs []string) (list []run.Dirs) {
	nodes := -1
	for _, name := range dirs {
		dir := run.Dir(name)
		isNode := dir.IsNode()
		if isNode && nodes >= 0 {
			list[nodes] = append(list[nodes], dir)
			continue
		}
		if isNode {
			nodes = len(list)
		}
		list = append(list, run.Dirs{dir})
	}
	return list
}

// names returns the names of crawls on the page: the last element of the path of the first directory, or
// the whole path if several have the same last element.
func names(crawls []run.Dirs) []string {
	count := map[string]int{}
	list := make([]string, len(crawls))
	for i, dirs := range crawls {
		dir := string(dirs[0])
		list[i] = filepath.Base(dir)
		if abs, err := filepath.Abs(dir); err == nil {
			list[i] = filepath.Base(abs) // also for "."
		}
		count[list[i]]++
	}
	for i, dirs := range crawls {
		if count[list[i]] > 1 {
			list[i] = filepath.ToSlash(filepath.Clean(string(dirs[0])))
		}
	}
	return list
}

// warner returns a function that logs errors that do not end the report.
func warner(log *slog.Logger, what, name string) func(error) {
	return func(err error) { log.Warn("left out", what, name, "err", err) }
}
