package comparison

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/lock"
	"spoor/internal/run"
)

// patience is how long processes may take to end after they have been told to.
const patience = 10 * time.Second

// command returns a program that ends, with all its children, when ctx is cancelled.
func (c *Comparison) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	ownGroup(cmd)
	cmd.WaitDelay = patience
	return cmd
}

// output runs a command to its end and returns what it wrote to stdout and stderr.
func (c *Comparison) output(ctx context.Context, stdin []byte, name string, args ...string) (out, words []byte, err error) {
	cmd := c.command(ctx, c.Prefix+name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	err = start(ctx, cmd)
	if err != nil && stderr.Len() > 0 {
		err = errors.New(strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), stderr.Bytes(), err
}

// start runs a program to its end. None of its children survives a cancelled ctx.
func start(ctx context.Context, cmd *exec.Cmd) error {
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		killGroup(cmd)
	}
	return err
}

// The files that jobs share.
func (c *Comparison) world(w *web) string { return c.path("webs", w.name) }
func (c *Comparison) index(w *web) string { return c.path("webs", w.name+".db") }
func (c *Comparison) budgetFile(j *job) string {
	return c.path("budgets", j.topic.name+"."+j.set+".json")
}
func (c *Comparison) topicFile(j *job) string {
	kind := "K"
	if j.crawler.track == "E" {
		kind = "E"
	}
	return c.path("topics", j.topic.name+"."+kind+".json")
}

// judging returns the flags of judge for a job.
func (c *Comparison) judging(j *job) []string {
	t := j.topic
	args := []string{"-labels", t.web.labels, "-label", t.label, "-seeds", j.seeds}
	if t.web.graph != "" {
		args = append(args, "-graph", t.web.graph)
	} else {
		args = append(args, "-archive", c.world(t.web))
	}
	if c.Plan.pages > 0 {
		args = append(args, "-t", fmt.Sprint(c.Plan.pages))
	}
	return args
}

// prepare makes the files that a job shares with others.
func (c *Comparison) prepare(ctx context.Context, j *job) error {
	w := j.topic.web
	for _, file := range []struct {
		name string
		make func(name string) error
	}{
		{c.world(w), func(name string) error { return c.linkArchives(ctx, w.archive, name) }},
		{c.topicFile(j), func(name string) error { return c.makeTopic(ctx, j, name) }},
		{c.budgetFile(j), func(name string) error { return c.save(ctx, name, nil, "judge", append(c.judging(j), "-budget")...) }},
		{c.index(w), func(name string) error {
			if j.crawler.track != "Q" {
				return nil
			}
			_, _, err := c.output(ctx, nil, "search", "-index", name+".part", "-archive", c.world(w), "-query", "nothing")
			if err != nil {
				return err
			}
			return os.Rename(name+".part", name)
		}},
	} {
		if exists(file.name) {
			continue
		}
		if err := file.make(file.name); err != nil {
			return fmt.Errorf("making %s: %w", strings.TrimPrefix(file.name, c.dir+"/"), err)
		}
	}
	return nil
}

// save writes what a command writes to stdout to a file.
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

// makeTopic makes the topic file of a job.
func (c *Comparison) makeTopic(ctx context.Context, j *job, name string) error {
	query, err := os.ReadFile(j.topic.query)
	if err != nil {
		return err
	}
	args := []string{"-query", strings.TrimRight(string(query), "\n")}
	if j.crawler.track == "E" {
		for flag, file := range map[string]string{"-positive": j.topic.positive, "-negative": j.topic.negative} {
			pages, _, err := c.output(ctx, nil, "fetch", "-archive", c.world(j.topic.web), file)
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

// times is what a job took.
type times struct {
	Job     string  `json:"job"`
	Seconds float64 `json:"seconds"`
	User    float64 `json:"user"`
	System  float64 `json:"system"`
	Memory  int64   `json:"max_rss_kib,omitempty"` // of the largest process of the crawl; 0 if unknown
}

func readTimes(name string) (t times, line []byte, err error) {
	if line, err = os.ReadFile(name); err != nil {
		return t, nil, err
	}
	if err = json.Unmarshal(line, &t); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return t, line, err
}

// add counts a process that has ended.
func (t *times) add(p *os.ProcessState) {
	t.User += p.UserTime().Seconds()
	t.System += p.SystemTime().Seconds()
}

// work does a job and returns what came of it. Its results appear in jobs all at once.
func (c *Comparison) work(ctx context.Context, j *job) (said string, err error) {
	work := c.path("work", j.name)
	// Processes of a comparison that was killed may still write to results of another name.
	results := filepath.Join(work, fmt.Sprintf("results.%d", os.Getpid()))
	if err := errors.Join(os.RemoveAll(results), os.MkdirAll(results, 0o777)); err != nil {
		return "", err
	}
	log, err := os.OpenFile(filepath.Join(work, "log"), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return "", err
	}
	defer log.Close()
	begun, t := time.Now(), times{Job: j.name}
	if err := c.crawl(ctx, j, run.Dir(filepath.Join(work, "run")), log, &t); err != nil {
		return "", failure(err, log)
	}
	judging := c.command(ctx, c.Prefix+"judge", append(c.judging(j), "-brief", "-tee", filepath.Join(results, orderFile),
		"-summary", filepath.Join(results, judgeFile), filepath.Join(work, "run"))...)
	judging.Stderr = log
	if err := start(ctx, judging); err != nil {
		return "", failure(err, log)
	}
	t.add(judging.ProcessState)
	for _, name := range keptFiles {
		b, err := os.ReadFile(filepath.Join(work, "run", name))
		if err == nil {
			err = atomicfile.WriteBytes(filepath.Join(results, name), b)
		}
		if err != nil {
			return "", err
		}
	}
	t.Seconds = time.Since(begun).Seconds()
	for _, v := range []*float64{&t.Seconds, &t.User, &t.System} {
		*v = math.Round(*v*1000) / 1000
	}
	line, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	if err := atomicfile.WriteBytes(filepath.Join(results, timesFile), append(line, '\n')); err != nil {
		return "", err
	}
	if err := atomicfile.Rename(results, c.path("jobs", j.name)); err != nil {
		return "", err
	}
	if err := os.RemoveAll(work); err != nil {
		return "", err
	}
	r, err := c.result(j)
	if err != nil {
		return "", err
	}
	nauc := "null"
	if r.NAUC != nil {
		nauc = fmt.Sprint(*r.NAUC)
	}
	return fmt.Sprintf("nAUC %s, %s, in %.3f s", nauc, r.Stop, t.Seconds), nil
}

// failure describes a process that failed, with the end of its log.
func failure(err error, log *os.File) error {
	status := err.Error()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() >= 0 {
		status = fmt.Sprintf("status %d", e.ExitCode())
	}
	var b []byte
	if b, err = os.ReadFile(log.Name()); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return fmt.Errorf("failed with %s:\n  %s", status, strings.Join(lines[max(0, len(lines)-5):], "\n  "))
}

// crawl runs or resumes the crawl of a job in dir. If a crawl is at work there, which a
// comparison left when it was killed, it waits for that one and resumes it.
func (c *Comparison) crawl(ctx context.Context, j *job, dir run.Dir, log *os.File, t *times) error {
	b, err := os.ReadFile(c.budgetFile(j))
	if err != nil {
		return err
	}
	var budget struct{ T int }
	if err := json.Unmarshal(b, &budget); err != nil {
		return fmt.Errorf("%s: %w", c.budgetFile(j), err)
	}
	world := c.world(j.topic.web)
	args := []string{"-run", string(dir), "-topic", c.topicFile(j), "-seeds", j.seeds, "-strategy", j.crawler.strategy}
	args = append(append(args, j.crawler.flags...), "-pages", fmt.Sprint(budget.T), "-seed", fmt.Sprint(j.chance), "-archive", world)
	if j.crawler.track == "Q" {
		args = append(args, "-search", c.index(j.topic.web))
	}
	env := os.Environ()
	if j.crawler.evolve != "" {
		env = append(env, "EVOLVE="+j.crawler.evolve)
	}
	if j.crawler.score != "" {
		env = append(env, "SCORE="+j.crawler.score)
	}
	for {
		cmd := c.command(ctx, c.Crawl, args...)
		cmd.Env, cmd.Stdout, cmd.Stderr = env, log, log
		err := start(ctx, cmd)
		if cmd.ProcessState != nil {
			t.add(cmd.ProcessState)
			t.Memory = max(t.Memory, maxRSS(cmd.ProcessState))
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		if waited, waitErr := c.await(ctx, j, dir); waitErr != nil || !waited {
			return errors.Join(waitErr, err)
		}
	}
}

// await waits until no process holds the lock of a run directory. It reports whether one did.
func (c *Comparison) await(ctx context.Context, j *job, dir run.Dir) (waited bool, err error) {
	f, err := os.Open(dir.Path("lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer f.Close()
	for {
		err := lock.Try(f, false)
		if !errors.Is(err, lock.ErrHeld) {
			return waited, err
		}
		if !waited {
			c.Say("waiting for the crawl of %s, which another comparison has started", j.name)
		}
		waited = true
		select {
		case <-ctx.Done():
			return true, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
