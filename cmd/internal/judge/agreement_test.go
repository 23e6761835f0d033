package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"spoor/cmd/internal/filter"
	"spoor/internal/closedweb"
	"spoor/internal/judge"
	"spoor/internal/testfile"
)

// topics are the webs and labels of the shared data.
var topics = []struct{ web, label string }{
	{"planetmath", "msc05"}, {"planetmath", "msc20"}, {"planetmath", "msc54"}, {"webkb", "course"}, {"webkb", "project"},
}

var seedSets = []string{"easy-1", "easy-2", "easy-3", "hard-1", "hard-2", "hard-3"}

// crawls are the kinds of crawls that both judges measure.
var crawls = []string{"breadth-first", "random walk", "best-first"}

// independent runs the independent judge on a topic. It reads lines with the names of a file
// of seeds and of runs, separated by tabs, and writes its results for each run.
const independent = `
import sys, json
sys.path.insert(0, sys.argv[1])
import judge
graph, label = sys.argv[2:4]
web = judge.Web(graph, label)
judge.Web = lambda *_: web
for line in sys.stdin:
    seeds, *runs = line.rstrip('\n').split('\t')
    j = judge.Judge(graph, label, seeds)
    for run in runs:
        order = judge.read_run(web, run)
        says = j.score(order)
        done, first = set(), []
        for k in order:
            first.append(k if k not in done else None)
            done.add(k)
        says.update(reachable=len(j.reach), random=j.auc(j.random), clairvoyant=j.oracle[-1] / j.R, curve=j.curve(first))
        print(json.dumps(says), flush=True)
`

// A saying holds the independent judge's results for a run.
type saying struct {
	T, R           int
	Reachable      int     `json:"reachable"`
	Fetched        int64   `json:"fetched"`
	Harvest        float64 `json:"harvest"`
	Recall         float64 `json:"recall"`
	NAUC           float64 `json:"nauc"`
	AUCClairvoyant float64 `json:"auc/oracle"`
	AUCBound       float64 `json:"auc/bound"`
	AUCRandom      float64 `json:"random"`
	Clairvoyant    float64 `json:"clairvoyant"`
	Curve          []int   `json:"curve"`
}

// TestAgreementWithTheIndependentJudge judges crawls with all irregularities: repeated pages,
// also in another spelling, unknown addresses, free records, and queries.
func TestAgreementWithTheIndependentJudge(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 here, which the independent judge is written in")
	}
	testfile.Shared(t, "judge/judge.py")
	archives := map[string]string{}
	for _, topic := range topics {
		if archives[topic.web] == "" {
			archives[topic.web] = testfile.SharedLink(t, "webs/"+topic.web+".warc.gz")
		}
	}
	tables := make([][]differences, len(topics))
	var group sync.WaitGroup
	for i, topic := range topics {
		group.Go(func() {
			c := contest{
				graph:   testfile.Shared(t, "webs/"+topic.web+".graph.json.gz"),
				labels:  testfile.Shared(t, "webs/"+topic.web+".labels.ndjson"),
				archive: archives[topic.web],
				label:   topic.label,
				dir:     t.TempDir(),
			}
			for _, set := range seedSets {
				c.seeds = append(c.seeds, testfile.Shared(t, "webs/"+topic.web+"-"+topic.label+"/seeds-"+set+".txt"))
			}
			table, err := c.hold(python, filepath.Dir(testfile.Shared(t, "judge/judge.py")))
			if err != nil {
				t.Errorf("%s %s: %v", topic.web, topic.label, err)
			}
			tables[i] = table
		})
	}
	group.Wait()
	var table strings.Builder
	fmt.Fprint(&table, "| topic | crawl | nAUC, independent | nAUC, judge | difference | AUC / clairvoyant | others | own graph: nAUC | AUC / clairvoyant | recall curve |\n",
		"|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for i, topic := range topics {
		for _, c := range tables[i] {
			fmt.Fprintf(&table, "| %s %s | %s | %+.4f | %+.4f | %.6f | %.6f | %.6f | %.4f | %.4f | %.4f |\n", topic.web, topic.label, c.crawl,
				c.theirs/float64(len(seedSets)), c.ours/float64(len(seedSets)),
				c.nauc, c.clairvoyant, c.others, c.ownNAUC, c.ownClairvoyant, c.ownCurve)
			if c.nauc > 0.001 || c.clairvoyant > 0.001 || c.others > 0.001 {
				t.Errorf("%s %s, %s: with the same graph they differ by more than 0.001", topic.web, topic.label, c.crawl)
			}
			if c.ownNAUC > 0.02 || c.ownClairvoyant > 0.005 || c.ownCurve > 0.005 {
				t.Errorf("%s %s, %s: with its own graph it differs by more than 0.005, of nAUC 0.02", topic.web, topic.label, c.crawl)
			}
		}
	}
	if testing.Verbose() || t.Failed() {
		fmt.Print(table.String())
	}
}

// differences are the largest differences of the judges for a kind of crawl, over all sets
// of seeds.
type differences struct {
	crawl                             string
	theirs, ours                      float64 // sums of nAUC
	nauc, clairvoyant, others         float64 // with the same graph
	ownNAUC, ownClairvoyant, ownCurve float64
}

// A contest is a topic for which both judges measure crawls.
type contest struct {
	graph, labels, archive, label, dir string
	seeds                              []string
}

// hold compares the results of the judges.
func (c *contest) hold(python, judgeDir string) ([]differences, error) {
	w, err := c.web()
	if err != nil {
		return nil, err
	}
	var input strings.Builder
	var runs [][]string
	for i, seeds := range c.seeds {
		files, err := c.crawl(w, seeds, uint64(i))
		if err != nil {
			return nil, err
		}
		runs = append(runs, files)
		fmt.Fprintln(&input, strings.Join(append([]string{seeds}, files...), "\t"))
	}
	cmd := exec.Command(python, "-c", independent, judgeDir, c.graph, c.label)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(input.String()), &stderr
	said, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the independent judge: %w: %s", err, stderr.String())
	}
	sayings := json.NewDecoder(bytes.NewReader(said))
	table := make([]differences, len(crawls))
	for i, seeds := range c.seeds {
		given, err := c.judge(runs[i], "-graph", c.graph, "-seeds", seeds)
		if err != nil {
			return nil, err
		}
		own, err := c.judge(runs[i], "-archive", c.archive, "-labels", c.labels, "-seeds", seeds)
		if err != nil {
			return nil, err
		}
		for k := range crawls {
			var theirs saying
			if err := sayings.Decode(&theirs); err != nil {
				return nil, err
			}
			table[k].crawl = crawls[k]
			table[k].add(&theirs, given[k], own[k])
		}
	}
	return table, nil
}

// judge returns our results for crawls from the same seeds.
func (c *contest) judge(files []string, args ...string) (all []*judge.Summary, err error) {
	var stderr bytes.Buffer
	o, _, err := parse(append(args, "-label", c.label, "-cache", ""), &stderr)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.String())
	}
	log := filter.Logger(&stderr, "judge", filter.LogOptions{})
	l, err := o.newLabelJudge(log) // what crawls are compared with is computed once
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		in, err := filter.Open(nil, []string{file})
		if err != nil {
			return nil, err
		}
		crawl, err := l.crawl(in, io.Discard, filter.NewTally(log))
		if err := errors.Join(err, in.Close()); err != nil {
			return nil, fmt.Errorf("%w: %s", err, stderr.String())
		}
		all = append(all, crawl.Summary())
	}
	return all, nil
}

// add adds the results for one more crawl.
func (c *differences) add(theirs *saying, given, own *judge.Summary) {
	grow := func(worst *float64, a, b float64) { *worst = max(*worst, math.Abs(a-b)) }
	c.theirs += theirs.NAUC
	c.ours += *given.NAUC
	grow(&c.nauc, theirs.NAUC, *given.NAUC)
	grow(&c.clairvoyant, theirs.AUCClairvoyant, *given.AUCClairvoyant)
	for _, pair := range [][2]float64{
		{float64(theirs.T), float64(given.T)},
		{float64(theirs.R), float64(given.R)},
		{float64(theirs.Reachable), float64(given.Reachable)},
		{float64(theirs.Fetched), float64(given.Fetched)},
		{theirs.Harvest, *given.Harvest},
		{theirs.Recall, *given.Recall},
		{theirs.AUCBound, *given.AUCBound},
		{theirs.AUCRandom, *given.AUCRandom},
		{theirs.Clairvoyant, *given.ClairvoyantRecall},
	} {
		grow(&c.others, pair[0], pair[1])
	}
	for i, cost := range given.Curves.Cost {
		grow(&c.others, float64(theirs.Curve[cost-1])/float64(theirs.R), float64(given.Curves.Run[i])/float64(given.R))
	}
	grow(&c.ownNAUC, theirs.NAUC, *own.NAUC)
	grow(&c.ownClairvoyant, theirs.AUCClairvoyant, *own.AUCClairvoyant)
	for i, cost := range own.Curves.Cost {
		if cost <= theirs.T {
			grow(&c.ownCurve, float64(theirs.Curve[cost-1])/float64(theirs.R), float64(own.Curves.Run[i])/float64(own.R))
		}
	}
}

// A graphed is a web in the format of the independent judge.
type graphed struct {
	Out    map[string][]string `json:"out"`
	Labels map[string][]string `json:"labels"`
	URL    map[string]string   `json:"url"`
}

func (c *contest) web() (*graphed, error) {
	f, err := filter.Open(nil, []string{c.graph})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w := new(graphed)
	return w, json.NewDecoder(f).Decode(w)
}

// crawl writes a file for each kind of crawl from the seeds.
func (c *contest) crawl(w *graphed, seeds string, seed uint64) (files []string, err error) {
	text, err := os.ReadFile(seeds)
	if err != nil {
		return nil, err
	}
	var start []string
	for line := range strings.Lines(string(text)) {
		if key := closedweb.PageName(line); w.Out[key] != nil && !slices.Contains(start, key) {
			start = append(start, key)
		}
	}
	if len(start) == 0 {
		return nil, errors.New("no seed is in the web")
	}
	for i, order := range [][]string{
		w.first(start, 1500, func(string) bool { return false }),
		w.walk(start, 900, rand.New(rand.NewPCG(seed, 1))),
		w.first(start, 1500, func(page string) bool { return slices.Contains(w.Labels[page], c.label) }),
	} {
		name := filepath.Join(c.dir, fmt.Sprintf("%d-%d.ndjson", seed, i))
		if err := os.WriteFile(name, w.stumble(order), 0o666); err != nil {
			return nil, err
		}
		files = append(files, name)
	}
	return files, nil
}

// first returns a breadth-first crawl that follows the links of good pages before others.
func (w *graphed) first(start []string, pages int, good func(page string) bool) (order []string) {
	waiting := map[bool][]string{false: start}
	seen := map[string]bool{}
	for _, page := range start {
		seen[page] = true
	}
	for len(order) < pages && len(waiting[true])+len(waiting[false]) > 0 {
		from := len(waiting[true]) > 0
		page := waiting[from][0]
		waiting[from] = waiting[from][1:]
		order = append(order, page)
		for _, to := range w.Out[page] {
			if !seen[to] {
				seen[to] = true
				waiting[good(page)] = append(waiting[good(page)], to)
			}
		}
	}
	return order
}

// walk returns a random walk, which sometimes, and on pages without links, jumps to a seed.
func (w *graphed) walk(start []string, pages int, rng *rand.Rand) (order []string) {
	page := start[0]
	for range pages {
		order = append(order, page)
		if links := w.Out[page]; len(links) > 0 && rng.IntN(20) > 0 {
			page = links[rng.IntN(len(links))]
		} else {
			page = start[rng.IntN(len(start))]
		}
	}
	return order
}

// stumble returns the records of a crawl with failures, queries and repetitions added.
func (w *graphed) stumble(order []string) []byte {
	var b bytes.Buffer
	for i, page := range order {
		url := w.URL[page]
		switch {
		case i%50 == 7:
			fmt.Fprintf(&b, "{\"v\":1,\"query\":\"some words\",\"cost\":%d}\n", 1+i%3)
		case i%50 == 17:
			fmt.Fprintf(&b, "{\"v\":1,\"url\":%q,\"error\":\"not_archived\"}\n", url)
		case i%50 == 27:
			fmt.Fprintf(&b, "{\"v\":1,\"url\":\"http://nowhere.example/%d\",\"error\":\"timeout\"}\n", i)
		case i%50 == 37:
			scheme, rest, _ := strings.Cut(url, "://")
			host, path, _ := strings.Cut(rest, "/")
			url = strings.ToUpper(scheme+"://"+host) + ":80/" + path + "#again"
		}
		fmt.Fprintf(&b, "{\"v\":1,\"url\":%q,\"status_code\":200}\n", url)
	}
	return b.Bytes()
}
