// Judge says how good a crawl was: how many of the pages that people call relevant it
// found at what cost, beside chance, and beside a crawler that knows everything.
//
// # Usage
//
//	judge -archive FILE... -labels FILE -label NAME [-seeds FILE] [flags] [RUN-DIR | FILE...] < records
//	judge -graph FILE [-labels FILE] -label NAME [-seeds FILE] [flags] [RUN-DIR | FILE...] < records
//	judge -topic FILE [flags] [RUN-DIR | FILE...] < records
//	judge -budget -archive FILE... -labels FILE -label NAME -seeds FILE
//	judge overlap [-relevant] [-t N] [-format ndjson|markdown] RUN RUN...
//	judge table [flags] [FILE...]
//
// Overlap says how much crawls have in common, table compares many of them; judge
// overlap -h and judge table -h are their manuals. The rest of this is about one crawl.
//
// # Records
//
// In: what a crawl has fetched, in that order, as score leaves it. Of a run directory of
// scripts/crawl all generations are read. A plain list of addresses is a crawl, too, that
// fetched them one after the other.
//
// Out: every record, as it came (-brief: without text, links and body), with
//
//	verdict  relevant    it has the label
//	         irrelevant  it has other labels, or an empty list of them
//	         unlabelled  labels do not say what it is about, or it is not in the web; it
//	                     counts as not relevant
//	         repeated    the crawl had this page already
//	         free        nobody was asked: not_archived, robots, blocked_address, bad_url, budget
//	spent    units of cost, up to this record and with it
//
// A query, which has no url, has no verdict. What an earlier judge said is replaced. When
// all have been read the measures go to stderr, and with -summary into a file.
//
// # The web, and what a crawl costs
//
// The world is closed: there are the pages of the archives, and links that leave them do
// not exist. A fetch costs 1, whatever came of it, a page that was had already included,
// and so does an address that the web does not have. A query costs what its record says,
// 1 for ten results; a record that is free costs nothing.
//
// With -archive the links are those that parse finds on each page that fetch -archive
// answers with, redirects resolved in the same way; -capture says which of several
// captures counts. Reading them takes as long as parsing all the pages. They are kept, so
// this is done once: in one file beside the first of the archives, its name with .graph
// behind it, or in -cache where that cannot be; it is made anew when one of the archives
// has changed, or it is damaged.
//
// With -graph the web, and the labels unless -labels is given, are those of a file, which
// may be packed:
//
//	{"out": {PAGE: [PAGE, ...]}, "redirects": {NAME: NAME}, "labels": {PAGE: [LABEL, ...]}}
//
// A PAGE is an address without scheme and "://", in lower case, its path without escapes,
// without index.html and the like (index, home, default, welcome) and without a slash at
// its end, such as a.example/jazz for http://a.example/Jazz/index.html. Addresses are held
// against these names after the same changes; archives are not read.
//
// Labels are lines as
//
//	{"url":"http://a.example/jazz","labels":["music","history"]}
//
// An address that redirects labels the page that it leads to. Those that are not in the
// web are counted on stderr. Seeds are addresses, a line each, or records; of a run
// directory they are its seeds.txt.
//
// # Measures
//
// A crawl is judged by its first T units of cost (-t): the larger of 200 and the smaller
// of a quarter of the pages that can be reached from the seeds, and five times the R
// relevant ones among them. -budget prints T and R and ends, {"v":1,"T":...,"R":...}, for
// those who set out to crawl. -summary writes one object:
//
//	v               1
//	T R reachable   as above
//	fetched cost    units of cost in all, beyond T too (the same number: the one is the
//	                name that other judges give it)
//	queries free    records of queries, and of what cost nothing
//	harvest         relevant pages found, of what was spent, up to T
//	recall          relevant pages found up to T, of R
//	auc             area under recall, that is its mean over the costs from 1 to T
//	auc_random      the same of random crawls
//	nauc            (auc − auc_random) / (that of a clairvoyant crawler − auc_random)
//	auc_clairvoyant auc, as a share of the clairvoyant crawler's
//	auc_bound       auc, as a share of what no crawler passes
//	cost_50 cost_80 cost_90   cost of so many percent recall, 0 if never up to T
//	relevant_hosts  hosts of the relevant pages found
//	self_harvest    pages of which the records themselves say "relevant", of what was
//	                spent, up to T: the crawl's own opinion of itself, which is not its harvest
//	mean_score      mean of the score in the records
//	seeing          nauc, auc_clairvoyant and recall of a crawler that sees whether a link
//	                that waits is relevant, and takes those first
//	seeing_children the same of one that sees one step further, and adds 0.6·min(1, k/5)
//	                for k relevant pages that the page links to
//	clairvoyant_recall   recall of the clairvoyant crawler at T
//	label seeds graph    the label, how many seeds are in the web, archive or graph file
//	harvest_at recall_at by cost: 100, 200, 500, 1000 and so on, up to T
//	curves          relevant pages found at up to 200 costs, of the run, the mean, 5 % and
//	                95 % quantile of random crawls, the clairvoyant crawler, the bound and
//	                the two that see
//
// Random crawls are 400 (20 where T is above 5,000) that take any waiting link with the
// same probability. The clairvoyant crawler is the better, at each cost, of two that know
// the web and the labels; there may be better ones, but none passes the bound. Package
// judge tells how they go.
//
// # Without labels
//
// With -topic the crawl is held against the classifier of a topic file (topic -positive
// FILE -negative FILE), which gives the verdicts. The classifier must be held out: trained
// on examples that the crawl did not know, and not its own measure. That is no judgement:
// two measures may agree in being wrong. What is printed, and is under agreement in
// -summary, says how far the crawl's own relevant is the classifier's:
//
//	with held_out pages      classifier; false if every score of the crawl is that of this
//	                         very classifier; pages that both speak of, -t counted
//	both only_crawl only_classifier neither   pages, by who calls them relevant
//	precision recall f1      of the crawl's opinion, should the classifier be right
//	kappa                    Cohen's: 1 always of one opinion, 0 as often as by chance
//
// Pages without text, and failures, are unlabelled and do not count.
//
// # Example
//
//	$ judge -archive web.warc.gz -labels labels.ndjson -label jazz -summary run/judge.json \
//	    -brief -tee run/verdicts.ndjson.zst run > /dev/null
//	$ judge -archive web.warc.gz -labels labels.ndjson -label jazz -seeds seeds.txt -budget
//	{"v":1,"T":1145,"R":290,"reachable":4583,"seeds":5}
//
// # Exit status
//
// 0 done; 1 failed, which is also that no relevant page can be reached; 2 misuse; 3 disk full.
//
// # Limitations
//
// The archive of one crawl holds what that crawl chose, and in such a web any crawler does
// well: judge in an archive that is larger than the crawls.
//
// What came of a fetch is not looked at: a page that could not be had counts as had, if the
// web has it. Links are in memory: a million pages and ten million links take some 750 MiB.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/judge"
	"spoor/internal/wire"
)

func main() { filter.Main("judge", run) }

type options struct {
	stream   filter.Stream
	brief    bool
	archives filter.Strings
	graph    string
	labels   string
	label    string
	seeds    string
	topic    string
	summary  string
	budget   bool
	t        int
	capture  archive.Pick
	cache    string
	workers  int
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "table":
			return table(args[1:], stdin, stdout, stderr)
		case "overlap":
			return overlap(args[1:], stdin, stdout, stderr)
		}
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
		return l.printBudget(stdout)
	}
	if files, err = recordFiles(files); err != nil {
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
	fs.Var(&o.archives, "archive", "the web is what this WARC, ARC or WACZ `file`, directory or pattern holds; may be repeated")
	fs.StringVar(&o.graph, "graph", "", "the web is what this graph `file` draws")
	fs.StringVar(&o.labels, "labels", "", "the `file` that says what pages are about (default with -graph: the labels in it)")
	fs.StringVar(&o.label, "label", "", "pages with the label `name` are relevant")
	fs.StringVar(&o.seeds, "seeds", "", "the `file` of the crawl's seeds (default: seeds.txt of the run directory)")
	fs.StringVar(&o.topic, "topic", "", "without labels: hold the crawl against the classifier of this topic `file`")
	fs.StringVar(&o.summary, "summary", "", "write the measures into `file`, as one JSON object")
	fs.BoolVar(&o.brief, "brief", false, "leave out text, links and body")
	fs.BoolVar(&o.budget, "budget", false, "print what a crawl may spend, and end")
	fs.IntVar(&o.t, "t", 0, "judge the first `n` units of cost (default: see T in the manual)")
	fs.Func("capture", "of several captures take `which`: newest (default), first, or near a date", func(s string) (err error) {
		o.capture, err = archive.ParsePick(s)
		return err
	})
	fs.StringVar(&o.cache, "cache", filter.Cache(), "`directory` for indexes and links of archives beside which nothing can be written")
	fs.IntVar(&o.workers, "j", runtime.GOMAXPROCS(0), "read `n` pages of the archives at a time")
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
		return filter.Usagef("-t %d: it is a number from 0 to %d", o.t, judge.MaxBudget)
	}
	if o.topic != "" {
		for _, name := range []string{"archive", "graph", "labels", "label", "seeds", "capture", "budget"} {
			if given(fs, name) {
				return filter.Usagef("-%s is for labels: without them -topic FILE is enough", name)
			}
		}
		return nil
	}
	if o.seeds == "" && len(files) == 1 && isRunDir(files[0]) {
		if name := filepath.Join(files[0], "seeds.txt"); exists(name) {
			o.seeds = name
		}
	}
	switch {
	case len(o.archives) == 0 && o.graph == "":
		return filter.Usagef("which web? -archive FILE\nhint: without labels, -topic FILE holds a crawl against a classifier; judge -h tells more")
	case o.labels == "" && o.graph == "":
		return filter.Usagef("what is relevant? -labels FILE -label NAME\nhint: without labels, -topic FILE holds a crawl against a classifier")
	case o.label == "":
		return filter.Usagef("which label? -label NAME")
	case o.seeds == "" && len(files) == 1 && files[0] != "-" && !exists(files[0]):
		return fmt.Errorf("there is no %s\nhint: a crawl is the directory that scripts/crawl was given as -run, or a file of records", files[0])
	case o.seeds == "":
		return filter.Usagef("where does the crawl begin? -seeds FILE")
	case o.budget && len(files) > 0:
		return filter.Usagef("-budget reads no crawl, but %s was given", files[0])
	case o.budget && (o.summary != "" || o.stream.Tee != ""):
		return filter.Usagef("-budget prints what a crawl may spend, and nothing else")
	}
	return nil
}

// given reports whether a flag is on the command line.
func given(fs *flag.FlagSet, name string) (found bool) {
	fs.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// exists reports whether there is a file or directory of that name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
