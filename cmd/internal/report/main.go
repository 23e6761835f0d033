// Package report is the command report, which makes an HTML page about crawls, or about a comparison of strategies.
package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/metrics"
	"spoor/internal/report"
	"spoor/internal/run"
)

//go:embed manual.md
var manual string

// Command is the command report.
var Command = filter.Command{Name: "report", Manual: manual, Run: makeReport}

func makeReport(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	var out, results string
	var logs filter.LogOptions
	var how comparing
	fs := filter.Flags("report", manual, stderr)
	fs.StringVar(&out, "o", "", "the `file` to write the page to; - is stdout; required")
	fs.StringVar(&results, "results", "", "compare the judged runs in this `file`")
	fs.StringVar(&how.reference, "reference", "", "with -results: the `name` of the strategy to compare others with (default: that of the plan beside the file, if any)")
	fs.StringVar(&how.published, "published", "", "with -results: also draw the curves of all strategies, with the values that papers print in this `file`, as judge published describes it")
	fs.StringVar(&how.measure, "measure", "nauc", "with -results: the `name` of the measure to compare")
	reload := fs.Int("reload", 0, "a browser that shows the page reads it again every `n` seconds; 0: never")
	watched := fs.Bool("metrics", false, "write counts in the text format of Prometheus, instead of a page")
	filter.LogFlags(fs, &logs)
	dirs, err := filter.ParseMixed(fs, args)
	switch {
	case err != nil:
		return err
	case out == "":
		return filter.Usagef("no output: use -o FILE, or -o - for stdout\nhint: report -o page.html %s", cmp.Or(strings.Join(dirs, " "), "RUN"))
	case len(dirs) == 0 && results == "":
		return filter.Usagef("no run: report -o %s RUN..., or -results FILE\nhint: a run is the directory that scripts/crawl was given as -run", out)
	case *watched && results != "":
		return filter.Usagef("-metrics is about runs, not about -results")
	case results == "":
		for _, name := range []string{"reference", "measure", "published"} {
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
