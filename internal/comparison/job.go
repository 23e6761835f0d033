package comparison

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/lock"
	"spoor/internal/procgroup"
	"spoor/internal/run"
)

// patience is the time that processes have to end after SIGTERM.
const patience = 10 * time.Second

// command returns a command that is ended, with all its children, when ctx is cancelled.
func (c *Comparison) command(ctx context.Context, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	procgroup.Lead(cmd, syscall.SIGTERM)
	cmd.WaitDelay = patience
	return cmd
}

// output runs a command to its end and returns what it wrote to stdout and stderr.
func (c *Comparison) output(ctx context.Context, stdin []byte, name string, args ...string) (out, messages []byte, err error) {
	cmd := c.command(ctx, c.Prefix.Words(name, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	err = runToEnd(ctx, cmd)
	if err != nil && stderr.Len() > 0 {
		err = errors.New(strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), stderr.Bytes(), err
}

// runToEnd runs a command to its end. If ctx is cancelled, it also kills all children.
func runToEnd(ctx context.Context, cmd *exec.Cmd) error {
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		procgroup.Kill(cmd)
	}
	return err
}

// The names of the files that jobs share.
func (c *Comparison) archives(w *web) string { return c.path("webs", w.name) }
func (c *Comparison) index(w *web) string    { return c.path("webs", w.name+".db") }
func (c *Comparison) budgetFile(j *job) string {
	return c.path("budgets", j.topic.name+"."+j.set+".json")
}
func (c *Comparison) topicFile(j *job) string {
	if j.crawler.track == "E" {
		return c.path("topics", j.topic.name+".E.json")
	}
	return c.queryTopic(j)
}
func (c *Comparison) queryTopic(j *job) string { return c.path("topics", j.topic.name+".K.json") }

func (c *Comparison) seedFile(j *job) string {
	return cmp.Or(j.seeds, c.path("seeds", j.topic.name+"."+j.set+".txt"))
}

// judgeFlags returns the flags of judge for a job.
func (c *Comparison) judgeFlags(j *job) []string {
	return append(c.webFlags(j), "-labels", j.topic.web.labels, "-label", j.topic.label)
}

// webFlags returns the flags of judge that do not depend on the labels.
func (c *Comparison) webFlags(j *job) []string {
	t := j.topic
	args := []string{"-seeds", c.seedFile(j)}
	if t.web.graph != "" {
		args = append(args, "-graph", t.web.graph)
	} else {
		args = append(args, "-archive", c.archives(t.web))
	}
	if t.web.classes != "" {
		args = append(args, "-classes", t.web.classes)
	}
	if c.Plan.pages > 0 {
		args = append(args, "-t", fmt.Sprint(c.Plan.pages))
	}
	return args
}

// prepare creates the files that a job shares with other jobs.
func (c *Comparison) prepare(ctx context.Context, j *job) error {
	w := j.topic.web
	return makeAll([]made{
		{c.archives(w), func(name string) error { return c.linkArchives(ctx, w.archive, name) }},
		{c.topicFile(j), func(name string) error { return c.makeTopic(ctx, j, j.crawler.track, name) }},
		{c.index(w), func(name string) error {
			if j.crawler.track != "Q" && j.results == 0 {
				return nil
			}
			_, _, err := c.output(ctx, nil, "search", "-index", name+".part", "-archive", c.archives(w), "-query", "nothing")
			if err != nil {
				return err
			}
			return os.Rename(name+".part", name)
		}},
		{c.seedFile(j), func(name string) error { return c.searchSeeds(ctx, j, name) }},
		{c.budgetFile(j), func(name string) error { return c.save(ctx, name, nil, "judge", append(c.judgeFlags(j), "-budget")...) }},
	}, c.dir)
}

// A made file is shared by jobs; its function make creates it.
type made struct {
	name string
	make func(name string) error
}

// makeAll makes the files that do not exist.
func makeAll(files []made, dir string) error {
	for _, file := range files {
		if exists(file.name) {
			continue
		}
		if err := file.make(file.name); err != nil {
			return fmt.Errorf("making %s: %w", strings.TrimPrefix(file.name, dir+"/"), err)
		}
	}
	return nil
}

// searchSeeds writes the first results of a search for the words of the topic.
func (c *Comparison) searchSeeds(ctx context.Context, j *job, name string) error {
	query, err := j.topic.words()
	if err != nil {
		return err
	}
	found, _, err := c.output(ctx, nil, "search", "-index", c.index(j.topic.web), "-only", "-results", fmt.Sprint(j.results), "-query", query)
	if err != nil {
		return err
	}
	var seeds bytes.Buffer
	for rec, err := range records(bytes.NewReader(found)) {
		if err != nil {
			return err
		}
		if rec.URL != "" {
			fmt.Fprintln(&seeds, rec.URL)
		}
	}
	if seeds.Len() == 0 {
		return fmt.Errorf("no page of the web %s has a word of the query of the topic %s", j.topic.web.name, j.topic.name)
	}
	return atomicfile.WriteBytes(name, seeds.Bytes())
}

// save runs a command and writes its output to a file.
func (c *Comparison) save(ctx context.Context, name string, stdin []byte, command string, args ...string) error {
	out, _, err := c.output(ctx, stdin, command, args...)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(name, out)
}

// linkArchives makes a directory of links to the archives of a web, and indexes them.
func (c *Comparison) linkArchives(ctx context.Context, from, to string) error {
	part := to + ".part"
	if err := errors.Join(os.RemoveAll(part), os.Mkdir(part, 0o777)); err != nil {
		return err
	}
	files := []string{from}
	if entries, err := os.ReadDir(from); err == nil {
		files = nil
		for _, e := range entries {
			files = append(files, filepath.Join(from, e.Name()))
		}
	}
	for _, file := range files {
		if err := os.Symlink(file, filepath.Join(part, filepath.Base(file))); err != nil {
			return err
		}
	}
	if _, _, err := c.output(ctx, nil, "fetch", "-archive", part); err != nil {
		return err
	}
	return os.Rename(part, to)
}

// words returns the query of a topic.
func (t *topic) words() (string, error) {
	query, err := atomicfile.ReadFile(t.query, maxSmall)
	return strings.TrimRight(string(query), "\n"), err
}

// makeTopic makes the topic file of a job for a track.
func (c *Comparison) makeTopic(ctx context.Context, j *job, track, name string) error {
	query, err := j.topic.words()
	if err != nil {
		return err
	}
	args := []string{"-query", query}
	if track == "E" {
		for flag, file := range map[string]string{"-positive": j.topic.positive, "-negative": j.topic.negative} {
			pages, _, err := c.output(ctx, nil, "fetch", "-archive", c.archives(j.topic.web), file)
			if err != nil {
				return err
			}
			parsed := c.path("topics", flag[1:])
			if err := c.save(ctx, parsed, pages, "parse"); err != nil {
				return err
			}
			args = append(args, flag, parsed)
		}
	}
	return c.save(ctx, name, nil, "topic", args...)
}

// times holds the time and the memory that a job needed.
type times struct {
	Job     string  `json:"job"`
	Seconds float64 `json:"seconds"`
	User    float64 `json:"user"`
	System  float64 `json:"system"`
	Memory  int64   `json:"max_rss_kib,omitempty"` // memory of the largest process of the crawl; 0 if unknown
}

func readTimes(name string) (t times, line []byte, err error) {
	if line, err = atomicfile.ReadFile(name, maxSmall); err != nil {
		return t, nil, err
	}
	if err = json.Unmarshal(line, &t); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return t, line, err
}

// work does a job and returns a line about its result. It moves the results to the directory
// jobs atomically.
func (c *Comparison) work(ctx context.Context, j *job) (line string, err error) {
	work := c.path("work", j.name)
	results, crawled := filepath.Join(work, "results"), run.Dir(filepath.Join(work, "run"))
	if err := os.MkdirAll(work, 0o777); err != nil {
		return "", err
	}
	// The commands inherit the log, and so keep it locked even if this process is killed.
	log, err := atomicfile.OpenFile(filepath.Join(work, "log"), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return "", err
	}
	defer log.Close()
	if err := c.lockLog(ctx, j, log); err != nil {
		return "", err
	}
	if err := errors.Join(os.RemoveAll(results), os.Mkdir(results, 0o777)); err != nil {
		return "", err
	}
	begun, t := time.Now(), times{Job: j.name}
	crawl, err := c.crawl(ctx, j, crawled)
	if err != nil {
		return "", err
	}
	judging := c.command(ctx, c.Prefix.Words("judge", append(c.judgeFlags(j), "-brief", "-tee", filepath.Join(results, orderFile),
		"-summary", filepath.Join(results, judgeFile), string(crawled))...)...)
	for _, cmd := range []*exec.Cmd{crawl, judging} {
		cmd.Stderr = log
		if err := runToEnd(ctx, cmd); err != nil {
			return "", failure(err, log)
		}
		t.User += cmd.ProcessState.UserTime().Seconds()
		t.System += cmd.ProcessState.SystemTime().Seconds()
	}
	t.Memory = maxRSS(crawl.ProcessState)
	t.Seconds = time.Since(begun).Seconds()
	for _, v := range []*float64{&t.Seconds, &t.User, &t.System} {
		*v = math.Round(*v*1000) / 1000
	}
	spent, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	err = atomicfile.WriteBytes(filepath.Join(results, timesFile), append(spent, '\n'))
	for _, name := range keptFiles {
		b, wrong := atomicfile.ReadFile(crawled.Path(name), maxSmall)
		err = errors.Join(err, wrong, atomicfile.WriteBytes(filepath.Join(results, name), b))
	}
	if err == nil {
		err = atomicfile.Rename(results, c.path("jobs", j.name))
	}
	if err == nil {
		err = os.RemoveAll(work)
	}
	if err != nil {
		return "", err
	}
	r, err := c.result(j)
	if err != nil {
		return "", err
	}
	nauc := "unknown"
	if r.NAUC != nil {
		nauc = fmt.Sprint(*r.NAUC)
	}
	return fmt.Sprintf("nAUC %s, %s, in %.3f s", nauc, r.Stop, t.Seconds), nil
}

// lockLog acquires the lock of a job's log. If a killed comparison has left a crawl that still runs,
// it waits until that crawl has ended.
func (c *Comparison) lockLog(ctx context.Context, j *job, log *os.File) error {
	for waited := false; ; waited = true {
		err := lock.Try(log, true)
		if !errors.Is(err, lock.ErrHeld) {
			return err
		}
		if !waited {
			c.Say("waiting for the crawl of %s, which another comparison has started", j.name)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// failure returns the error for a process that failed with err, with the end of its log.
func failure(err error, log *os.File) error {
	status := err.Error()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() >= 0 {
		status = fmt.Sprintf("status %d", e.ExitCode())
	}
	b, _ := atomicfile.ReadFile(log.Name(), maxSmall) // on error, only the status is reported
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return fmt.Errorf("failed with %s:\n  %s", status, strings.Join(lines[max(0, len(lines)-5):], "\n  "))
}

// crawl returns the command that begins or resumes the crawl of a job in dir.
func (c *Comparison) crawl(ctx context.Context, j *job, dir run.Dir) (*exec.Cmd, error) {
	budget, err := c.budget(j)
	if err != nil {
		return nil, err
	}
	args := append([]string{"-run", string(dir), "-topic", c.topicFile(j), "-seeds", c.seedFile(j), "-strategy", j.crawler.strategy}, j.crawler.flags...)
	args = append(args, "-pages", fmt.Sprint(budget), "-seed", fmt.Sprint(j.chance), "-archive", c.archives(j.topic.web))
	if c.Plan.relevant > 0 {
		args = append(args, "-relevant", fmt.Sprint(c.Plan.relevant))
	}
	if j.crawler.track == "Q" {
		args = append(args, "-search", c.index(j.topic.web))
	}
	if j.crawler.evolve == "" && j.crawler.score == "" { // the commands of a plan may read their input to the end of the file
		args = append(args, "-steady")
	}
	cmd := c.command(ctx, append(slices.Clone(c.Crawl), args...)...)
	cmd.Env = os.Environ()
	if j.crawler.evolve != "" {
		cmd.Env = append(cmd.Env, "EVOLVE="+j.crawler.evolve)
	}
	if j.crawler.score != "" {
		cmd.Env = append(cmd.Env, "SCORE="+j.crawler.score)
	}
	return cmd, nil
}

// budget returns the budget of a job, in fetches and queries.
func (c *Comparison) budget(j *job) (int, error) {
	b, err := atomicfile.ReadFile(c.budgetFile(j), maxSmall)
	if err != nil {
		return 0, err
	}
	var budget struct{ T int }
	if err := json.Unmarshal(b, &budget); err != nil {
		return 0, fmt.Errorf("%s: %w", c.budgetFile(j), err)
	}
	return budget.T, nil
}
