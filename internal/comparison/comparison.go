// Package comparison runs the crawls of a plan, judges each of them by labels, and collects
// the results in a directory:
//
//	plan, inputs     the plan, and digests of everything else that the results depend on
//	webs/            links to the archives, beside which indexes are written
//	topics/          topic files
//	seeds/           seeds that a search has found, by topic and set
//	budgets/         the output of judge -budget, by topic and set of seeds
//	judges/          topics and labels of the plan's judges, by judge, topic and set of seeds
//	work/JOB/        crawls that have not succeeded: run directory, log
//	jobs/JOB/        crawls that are done; a directory appears when it is complete
//	results.ndjson   a [judge.Result] for each crawl, in the order of the plan
//	times.ndjson     the time and the memory of each crawl
//	table.md         the output of judge table
//	results.NAME.ndjson, table.NAME.md
//	                 the same by a judge of the plan
//	lock             held while a comparison runs
//
// Crawls are processes of scripts/crawl, so this package does not import strategies, which must
// not see labels.
package comparison

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"spoor/internal/atomicfile"
	"spoor/internal/judge"
	"spoor/internal/run"
)

// A Comparison is a plan and a directory for its results.
type Comparison struct {
	Plan     *Plan
	Dir      string
	Parallel int        // maximum number of crawls at a time
	Crawl    []string   // the words of the command crawl
	Prefix   run.Prefix // of the names of the commands
	Say      func(format string, args ...any)

	dir string // Dir, absolute
}

// The files of a job that a comparison writes itself.
const (
	judgeFile = "judge.json"
	orderFile = "order.ndjson.zst"
	timesFile = "times.json"
)

// keptFiles are the files of run directories that are kept with the results.
var keptFiles = []string{run.LogFile, run.StopReason, run.SettingsFile}

// Run runs the crawls that are not done yet and writes the table of all results to stdout. If
// ctx is cancelled, it ends the running crawls; the next call resumes them.
func (c *Comparison) Run(ctx context.Context, stdout io.Writer) error {
	var err error
	if c.dir, err = filepath.Abs(c.Dir); err != nil {
		return err
	}
	for _, name := range []string{"webs", "topics", "seeds", "budgets", "judges", "work", "jobs"} {
		if err := os.MkdirAll(c.path(name), 0o777); err != nil {
			return fmt.Errorf("cannot write to %s: choose another -into, or correct its permissions", c.Dir)
		}
	}
	lock, err := run.Dir(c.Dir).Hold()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := c.checkInputs(); err != nil {
		return err
	}
	todo := map[*job]bool{}
	for _, j := range c.Plan.jobs {
		if exists(c.path("jobs", j.name)) {
			continue
		}
		if err := c.prepare(ctx, j); err != nil {
			return cmp.Or(context.Cause(ctx), fmt.Errorf("%s cannot begin: %w", j.name, err))
		}
		todo[j] = true
	}
	c.crawlAll(ctx, todo)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.sumUp(ctx, stdout)
}

// path returns the name of a file of the comparison.
func (c *Comparison) path(elem ...string) string {
	return filepath.Join(append([]string{c.dir}, elem...)...)
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// checkInputs returns an error if the results in the directory are from other inputs of the same
// names. Otherwise it records the inputs of the plan.
func (c *Comparison) checkInputs() error {
	inputs := map[string]string{}
	if b, err := atomicfile.ReadFile(c.path("inputs"), maxSmall); err == nil {
		if json.Unmarshal(b, &inputs) != nil {
			return misusef("%s was begun by another version of compare: give another -into", c.Dir)
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	now, err := c.Plan.inputs()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if before, ok := inputs[name]; ok && before != now[name] {
			return misusef("%s was begun with another %s: give another -into", c.Dir, name)
		}
		inputs[name] = now[name]
	}
	b, err := json.MarshalIndent(inputs, "", "  ")
	if err != nil {
		return err
	}
	plan, err := atomicfile.ReadFile(c.Plan.file, maxSmall)
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.WriteBytes(c.path("inputs"), append(b, '\n')), atomicfile.WriteBytes(c.path("plan"), plan))
}

// inputs returns a description of everything that the results depend on, except the crawlers and
// the random seeds, by name: mostly digests of files.
func (p *Plan) inputs() (map[string]string, error) {
	in := map[string]string{"number of pages": fmt.Sprint(p.pages), "number of relevant pages": fmt.Sprint(p.relevant)}
	files := map[string]string{}
	for _, w := range p.webs {
		digest, err := run.DigestArchives([]string{w.archive})
		if err != nil {
			return nil, err
		}
		in["archive of the web "+w.name] = digest
		files["file of labels of the web "+w.name] = w.labels
		files["graph of the web "+w.name] = w.graph
		if w.classes != "" {
			files["classes of the web "+w.name] = w.classes
		}
	}
	for _, j := range p.jobs {
		t := j.topic
		in["label of the topic "+t.name] = t.label + " in " + t.web.name
		files["query of the topic "+t.name] = t.query
		if seeds := "set " + j.set + " of seeds for the topic " + t.name; j.results > 0 {
			in[seeds] = fmt.Sprintf("%d results of a search", j.results)
		} else {
			files[seeds] = j.seeds
		}
		if t.positive != "" {
			files["file of positive examples of the topic "+t.name] = t.positive
			files["file of negative examples of the topic "+t.name] = t.negative
		}
	}
	for _, m := range p.judges {
		in["judge "+m.name] = fmt.Sprintf("%s=%s, compat %t", m.measure, m.limit, m.compat)
	}
	for name, line := range p.evolve {
		in["command of the strategy "+name] = line
	}
	for name, line := range p.score {
		in["command of the score "+name] = line
	}
	for what, name := range files {
		if in[what] = ""; name == "" {
			continue
		}
		digest, err := run.DigestFile(name)
		if err != nil {
			return nil, err
		}
		in[what] = digest
	}
	return in, nil
}

// crawlAll runs jobs, several at a time, and prints the outcome of each.
func (c *Comparison) crawlAll(ctx context.Context, todo map[*job]bool) {
	var group sync.WaitGroup
	slots := make(chan struct{}, c.Parallel)
	for i, j := range c.Plan.jobs {
		if !todo[j] {
			continue
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			line, err := c.work(ctx, j)
			switch {
			case err == nil:
				c.Say("%d/%d  %s: %s", i+1, len(c.Plan.jobs), j.name, line)
			case ctx.Err() == nil:
				c.Say("%s %v", j.name, err)
			}
		})
	}
	group.Wait()
}

// sumUp judges by measures, and writes the results of all finished jobs, their tables, and their times.
func (c *Comparison) sumUp(ctx context.Context, stdout io.Writer) error {
	var times bytes.Buffer
	var finished []*job
	spent, most := 0.0, int64(0)
	for _, j := range c.Plan.jobs {
		dir := c.path("jobs", j.name)
		if !exists(dir) {
			continue
		}
		finished = append(finished, j)
		t, line, err := readTimes(filepath.Join(dir, timesFile))
		if err != nil {
			return c.damaged(err, j)
		}
		times.Write(line)
		spent += t.User + t.System
		most = max(most, t.Memory)
	}
	all, done := len(c.Plan.jobs), len(finished)
	if done == 0 {
		return errors.New("all crawls failed: see above")
	}
	if err := atomicfile.WriteBytes(c.path("times.ndjson"), times.Bytes()); err != nil {
		return err
	}
	if err := c.tabulate(ctx, "", finished, c.result, stdout); err != nil {
		return err
	}
	failed, err := c.judgeByMeasures(ctx)
	if err != nil {
		return err
	}
	for i := range c.Plan.judges {
		m := &c.Plan.judges[i]
		judged := slices.DeleteFunc(slices.Clone(finished), func(j *job) bool { return !exists(c.path("jobs", j.name, m.file())) })
		if len(judged) == 0 {
			continue
		}
		fmt.Fprintf(stdout, "\nJudged by %s: %s\n\n", m.name, m)
		if err := c.tabulate(ctx, "."+m.name, judged, func(j *job) (*judge.Result, error) { return c.measuredResult(m, j) }, stdout); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("judging by a measure failed %d times: see above", failed)
	}
	if done < all {
		return fmt.Errorf("%d of %d crawls failed: see above and %s/work; the same command tries them again", all-done, all, c.Dir)
	}
	if err := os.RemoveAll(c.path("work")); err != nil {
		return err
	}
	memory := ""
	if most > 0 {
		memory = fmt.Sprintf(", and no process of a crawl took more than %d MiB", most/1024+1)
	}
	c.Say("%d crawls, in %s; %.1f s of CPU time each%s", all, c.Dir, spent/float64(all), memory)
	return nil
}

// damaged returns the error for a job whose results cannot be read.
func (c *Comparison) damaged(err error, j *job) error {
	return fmt.Errorf("%w\nhint: remove %s and run the same command again", err, c.path("jobs", j.name))
}

// tabulate writes the results of jobs, and their table. The names of the files have the suffix.
func (c *Comparison) tabulate(ctx context.Context, suffix string, jobs []*job, result func(*job) (*judge.Result, error), stdout io.Writer) error {
	var results bytes.Buffer
	lines := json.NewEncoder(&results)
	lines.SetEscapeHTML(false)
	for _, j := range jobs {
		r, err := result(j)
		if err == nil {
			err = lines.Encode(r)
		}
		if err != nil {
			return c.damaged(err, j)
		}
	}
	file := c.path("results" + suffix + ".ndjson")
	if err := atomicfile.WriteBytes(file, results.Bytes()); err != nil {
		return err
	}
	args := []string{"table"}
	if c.Plan.reference != "" {
		args = append(args, "-reference", c.Plan.reference)
	}
	table, messages, err := c.output(ctx, nil, "judge", append(args, file)...)
	if err != nil {
		return fmt.Errorf("no table could be made of the results: %w", err)
	}
	if err := atomicfile.WriteBytes(c.path("table"+suffix+".md"), table); err != nil {
		return err
	}
	if _, err := stdout.Write(table); err != nil {
		return err
	}
	if len(messages) > 0 {
		return fmt.Errorf("the table is not of all results:\n%s", messages)
	}
	return nil
}

// result returns the result of a finished job.
func (c *Comparison) result(j *job) (*judge.Result, error) { return c.resultIn(j, judgeFile) }

// resultIn returns the result that a judge has written to a file of a finished job.
func (c *Comparison) resultIn(j *job, file string) (*judge.Result, error) {
	dir := c.path("jobs", j.name)
	b, err := atomicfile.ReadFile(filepath.Join(dir, file), maxSmall)
	if err != nil {
		return nil, err
	}
	stop, err := atomicfile.ReadFile(filepath.Join(dir, run.StopReason), maxSmall)
	if err != nil {
		return nil, err
	}
	r := new(judge.Result)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s is not as judge writes it: %w", filepath.Join(dir, file), err)
	}
	r.Name, r.Strategy, r.Track = j.crawler.name, j.crawler.strategy, j.crawler.track
	r.EvolveCommand, r.ScoreCommand = j.crawler.evolve, j.crawler.score
	r.Web, r.Topic, r.Label, r.Seeds, r.Seed = j.topic.web.name, j.topic.name, j.topic.label, judge.SeedSet(j.set), int64(j.chance)
	r.SeedDigest = "" // the set has a name
	r.Stop = strings.TrimSpace(string(stop))
	return r, nil
}
