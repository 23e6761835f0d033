// Judge measures a crawl of a closed web by labels: how many relevant pages it found, and
// at what cost, compared with random crawls and with a crawler that knows all links and
// labels.
//
// # Usage
//
//	judge -archive FILE... -labels FILE -label NAME [-seeds FILE] [flags] [RUN-DIR... | FILE...] < records
//	judge -graph FILE [-labels FILE] -label NAME [-seeds FILE] [flags] [RUN-DIR... | FILE...] < records
//	judge -topic FILE [flags] [RUN-DIR... | FILE...] < records
//	judge -budget -archive FILE... -labels FILE -label NAME -seeds FILE
//	judge overlap [-relevant] [-t N] [-format ndjson|markdown] RUN RUN...
//	judge table [flags] [FILE...]
//
// judge overlap computes how much crawls have in common, and judge table compares many of
// them; judge overlap -h and judge table -h are their manuals. The rest of this manual is
// about one crawl.
//
// # Records
//
// Input: the records of a crawl in the order of fetching, as score writes them. If it is a
// run directory of scripts/crawl, all its generations are read. A plain list of addresses
// is taken as a crawl in that order.
//
// A crawl on several machines is judged as one crawl if the run directories of all its nodes
// are given. Its order is by generation, then by partition. Generations missing from a
// partition are logged: the crawl has not reached them, or a directory is missing.
//
// Output: every record unchanged (with -brief: without text, links and body), with
//
//	verdict  relevant    the page has the label
//	         irrelevant  the page has other labels, or an empty list of them
//	         unlabelled  the page has no labels, or is not in the web; it counts as not
//	                     relevant
//	         repeated    the crawl has fetched this page before
//	         free        no server was asked: not_archived, robots, blocked_address,
//	                     bad_url, budget
//	spent    cost of the crawl up to and including this record
//
// A query, which has no url, gets no verdict. Verdicts of an earlier judge are replaced.
// At the end the measures are logged and, with -summary, written to a file.
//
// # Web and cost
//
// The web is closed: it consists of the pages of the archives, and links that leave it do
// not exist. A fetch costs 1, whatever its outcome, also if the crawl has fetched the page
// before or the web does not have the address. A query costs what its record says, 1 for
// ten results. A free record costs nothing.
//
// With -archive the links are those that parse finds on each page that fetch -archive
// returns, with redirects resolved. -capture selects one of several captures. Reading the
// links takes as long as parsing all pages. They are cached in a file in -cache, which is
// rebuilt if an archive has changed or the file is damaged.
//
// With -graph the web and, without -labels, the labels come from a file, which may be
// compressed:
//
//	{"out": {PAGE: [PAGE, ...]}, "redirects": {NAME: NAME}, "labels": {PAGE: [LABEL, ...]}}
//
// A PAGE is an address without scheme and "://", in lower case, with its path unescaped,
// without index.html and the like (index, home, default, welcome) and without trailing
// slash, such as a.example/jazz for http://a.example/Jazz/index.html. Addresses are changed
// in the same way before they are looked up. Archives are not read.
//
// Labels are lines such as
//
//	{"url":"http://a.example/jazz","labels":["music","history"]}
//
// If an address redirects, its labels apply to the page that it leads to. Addresses outside the web
// are counted in the log. Seeds are addresses or records, one a line; the default is seeds.txt of
// the (first) run directory.
//
// # Measures
//
// A crawl is judged by its first T units of cost (-t). By default T = max(200, min(P/4, 5·R)),
// where P is the number of pages that can be reached from the seeds, and R the number of
// relevant ones among them. -budget prints T and R, {"v":1,"T":...,"R":...}, for use before
// a crawl. -summary writes one object:
//
//	v               1
//	T R reachable   as above
//	fetched cost    cost of the whole crawl (two names of the same number)
//	queries free    numbers of queries, and of free records
//	harvest         relevant pages per unit of cost, up to T
//	recall          relevant pages found up to T, divided by R: may exceed 1 if the crawl found
//	                pages that cannot be reached by links from the seeds (judge warns)
//	auc             area under recall: its mean over the costs 1 to T
//	auc_random      auc of random crawls
//	nauc            (auc − auc_random) / (auc of a clairvoyant crawler − auc_random)
//	auc_clairvoyant_ratio   auc divided by that of the clairvoyant crawler
//	auc_bound_ratio         auc divided by that of an upper bound
//	auc_clairvoyant auc_bound   older names of these two ratios; they are not areas
//	cost_50 cost_80 cost_90   cost of 50, 80 and 90 % recall, 0 if it was not reached
//	relevant_hosts  hosts of the relevant pages found
//	self_harvest    harvest by the field relevant of the records: the crawl's own opinion
//	mean_score      mean of the field score of the records
//	seeing          nauc, auc_clairvoyant_ratio and recall of a crawler that sees whether a
//	                waiting link is relevant, and fetches relevant ones first
//	seeing_children the same for a crawler that also sees the links of the target: it ranks a link by
//	                1 if its target is relevant, plus 0.6·min(1, k/5) if the target links to k
//	                relevant pages that are neither fetched nor waiting
//	clairvoyant_recall   recall of the clairvoyant crawler at T
//	label seeds graph    the label; number of seeds in the web; archive or graph file
//	seed_digest     digest of the addresses of these seeds; judge table tells sets apart by it
//	harvest_at recall_at by cost: 100, 200, 500, 1000 and so on, up to T
//	curves          relevant pages found at up to 200 costs: of the crawl, of random crawls
//	                (mean, 5 % and 95 % quantile), of the clairvoyant crawler, the bound
//	                and the two seeing crawlers
//
// There are 400 random crawls (20 if T is above 5,000), which choose any waiting link with
// the same probability. The clairvoyant crawler is, at each cost, the better of two
// heuristics that know all links and labels. It need not be optimal; the bound is an upper
// limit. Package judge documents how they work. judge table reads summaries.
//
// # Without labels
//
// With -topic the verdicts are those of the classifier of a topic file (topic -positive
// FILE -negative FILE), and the crawl's own opinion is compared with them. The classifier
// must be held out: trained on examples that the crawl did not have, and not the measure
// that steered it. This does not measure how good the crawl is: two measures may agree and
// both be wrong. The results are logged and, with -summary, written as agreement:
//
//	with                     the classifier
//	held_out                 false if all scores of the crawl come from this classifier
//	pages                    pages, up to -t, on which both have a verdict
//	both only_crawl only_classifier neither   pages, by who calls them relevant
//	precision recall f1      of the crawl's verdicts, if the classifier is right
//	kappa                    Cohen's kappa: 1 for full agreement, 0 for chance
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
// 0 done; 1 failed, also if no relevant page can be reached; 2 misuse; 3 disk full.
//
// # Limitations
//
// An archive of one crawl holds what that crawl chose, and any crawler does well in such a
// web: use an archive that is larger than the crawls.
//
// The outcome of a fetch is ignored: a page that could not be fetched counts as fetched if
// the web has it. Links are in memory: a million pages and ten million links take some 750
// MiB.
package judge

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/judge"
	"spoor/internal/wire"
)

// Command is the command judge.
var Command = filter.Command{Name: "judge", Manual: manual, Run: judgeMain}

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

func judgeMain(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	switch {
	case len(args) > 0 && args[0] == "table":
		return table(args[1:], stdin, stdout, stderr)
	case len(args) > 0 && args[0] == "overlap":
		return overlap(args[1:], stdin, stdout, stderr)
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
	fs.StringVar(&o.seeds, "seeds", "", "the `file` of the crawl's seeds (default: seeds.txt of the run directory)")
	fs.StringVar(&o.topic, "topic", "", "without labels: compare the crawl with the classifier of this topic `file`")
	fs.StringVar(&o.summary, "summary", "", "write the measures to `file`, as one JSON object")
	fs.BoolVar(&o.brief, "brief", false, "omit text, links and body")
	fs.BoolVar(&o.budget, "budget", false, "print what a crawl may spend, and exit")
	fs.IntVar(&o.t, "t", 0, "judge the first `n` units of cost (default: see T in the manual)")
	fs.Func("capture", "`which` of several captures to use: newest (default), first, or nearest to a date", func(s string) (err error) {
		o.capture, err = archive.ParsePick(s)
		return err
	})
	fs.StringVar(&o.cache, "cache", filter.Cache(), "`directory` for indexes and links of archives")
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
		for _, name := range []string{"archive", "graph", "labels", "label", "seeds", "capture", "budget"} {
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
		return filter.Usagef("no web: use -archive FILE or -graph FILE\nhint: without labels, -topic FILE compares a crawl with a classifier; see judge -h")
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
