// Package judge is the command judge, which measures a crawl of a closed web by labels, and compares
// crawls.
package judge

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/judge"
	"spoor/internal/run"
	"spoor/internal/wire"
)

//go:embed manual.md
var manual string

// Command is the command judge.
var Command = filter.Command{Name: "judge", Manual: manual, Run: judgeMain}

type options struct {
	stream   filter.Stream
	brief    bool
	archives filter.Strings
	graph    string
	labels   string
	label    string
	classes  string
	seeds    string
	topic    string
	summary  string
	budget   bool
	t        int
	capture  archive.Pick
	cache    string
	workers  int

	estimates  *run.Estimates // of the strategy of a run directory; nil if there are none
	stopReason string         // why the crawl of a run directory ended; "" if unknown
}

func judgeMain(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	switch {
	case len(args) > 0 && args[0] == "table":
		return table(args[1:], stdin, stdout, stderr)
	case len(args) > 0 && args[0] == "overlap":
		return overlap(args[1:], stdin, stdout, stderr)
	case len(args) > 0 && args[0] == "published":
		return published(args[1:], stdin, stdout, stderr)
	}
	o, files, err := parse(args, stderr)
	if err != nil {
		return err
	}
	log := filter.Logger(stderr, "judge", o.stream.Log)
	if o.budget {
		l, err := o.newLabelJudge(log)
		if err != nil {
			return err
		}
		return json.NewEncoder(stdout).Encode(l.judge.Budget())
	}
	o.stopReason = stopReason(crawlDirs(files))
	if o.estimates, err = estimates(crawlDirs(files)); err != nil {
		return err
	}
	if files, err = recordFiles(files, log); err != nil {
		return err
	}
	in, err := filter.Open(stdin, files)
	if err != nil {
		return err
	}
	defer in.Close()
	if o.topic != "" {
		return o.judgeByClassifier(in, stdout, log)
	}
	l, err := o.newLabelJudge(log)
	if err != nil {
		return err
	}
	return l.run(in, stdout, log)
}

// parse reads the command line.
func parse(args []string, stderr io.Writer) (o *options, files []string, err error) {
	o = new(options)
	fs := filter.Flags("judge", manual, stderr)
	fs.Var(&o.archives, "archive", "read the web from this WARC, ARC or WACZ `file`, directory or pattern; may be repeated")
	fs.StringVar(&o.graph, "graph", "", "read the web from this graph `file`")
	fs.StringVar(&o.labels, "labels", "", "`file` of labels (default with -graph: the labels in it)")
	fs.StringVar(&o.label, "label", "", "pages with the label `name` are relevant")
	fs.StringVar(&o.classes, "classes", "", "`file` that says which pages are near-duplicates, and which are traps")
	fs.StringVar(&o.seeds, "seeds", "", "the `file` of the crawl's seeds (default: seeds.txt of the run directory)")
	fs.StringVar(&o.topic, "topic", "", "without labels: compare the crawl with the classifier of this topic `file`")
	fs.StringVar(&o.summary, "summary", "", "write the measures to `file`, as one JSON object")
	fs.BoolVar(&o.brief, "brief", false, "omit text, links and body")
	fs.BoolVar(&o.budget, "budget", false, "print what a crawl may spend, and exit")
	fs.IntVar(&o.t, "t", 0, "judge the first `n` units of cost: what the crawl was given to spend (default: T of -budget)")
	fs.Func("capture", "`which` of several captures to use; newest (default), first, or nearest to a date", func(s string) (err error) {
		o.capture, err = archive.ParsePick(s)
		return err
	})
	filter.CacheFlag(fs, &o.cache, "indexes and links of archives")
	fs.IntVar(&o.workers, "j", runtime.GOMAXPROCS(0), "read `n` pages of the archives at a time")
	fs.Lookup("j").DefValue = "one for each processor"
	o.stream.CommonFlags(fs)
	if files, err = filter.ParseMixed(fs, args); err == nil {
		err = o.check(fs, files)
	}
	o.stream.Want = wire.Address | wire.Fetch | wire.Score
	return o, files, err
}

// check returns an error for flags that are missing or contradict each other.
func (o *options) check(fs *flag.FlagSet, files []string) error {
	if o.t < 0 || o.t > judge.MaxBudget {
		return filter.Usagef("-t %d: want a number from 0 to %d", o.t, judge.MaxBudget)
	}
	if o.topic != "" {
		for _, name := range []string{"archive", "graph", "labels", "label", "classes", "seeds", "capture", "budget"} {
			if filter.Given(fs)[name] {
				return filter.Usagef("-%s cannot be used with -topic: it is for labels", name)
			}
		}
		return nil
	}
	if dirs := crawlDirs(files); o.seeds == "" && dirs != nil {
		if name := dirs.Find("seeds.txt"); exists(name) {
			o.seeds = name
		}
	}
	switch {
	case len(o.archives) == 0 && o.graph == "":
		return filter.Usagef("no web: use -archive FILE or -graph FILE\nhint: without labels, -topic FILE compares a crawl with a classifier; see judge -help=all")
	case o.labels == "" && o.graph == "":
		return filter.Usagef("no labels: use -labels FILE -label NAME\nhint: without labels, -topic FILE compares a crawl with a classifier")
	case o.label == "":
		return filter.Usagef("no label: use -label NAME")
	case o.seeds == "" && len(files) == 1 && files[0] != "-" && !exists(files[0]):
		return fmt.Errorf("there is no %s\nhint: a crawl is the directory that scripts/crawl was given as -run, or a file of records", files[0])
	case o.seeds == "":
		return filter.Usagef("no seeds: use -seeds FILE")
	case o.budget && len(files) > 0:
		return filter.Usagef("-budget reads no crawl: unexpected argument %s", files[0])
	case o.budget && (o.summary != "" || o.stream.Tee != ""):
		return filter.Usagef("-budget cannot be used with -summary or -tee")
	}
	return nil
}

// exists reports whether there is a file or directory of that name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
