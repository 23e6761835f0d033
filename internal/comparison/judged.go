package comparison

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"spoor/internal/atomicfile"
	"spoor/internal/judge"
	"spoor/internal/measure"
	"spoor/internal/wire"
)

// This file judges crawls a second time, by a measure instead of labels, as most papers do. A page is
// relevant if its score reaches a limit. The measure is the same for all crawlers of a topic with a set of
// seeds. If it needs a table or a reference page, that is learned from the pages of the seeds.

// judgedLabel is the label of the pages that are relevant by a measure.
const judgedLabel = "relevant"

// The names of the files that jobs with the same topic and seeds share.
func (c *Comparison) labelFile(m *measured, j *job) string {
	return c.path("judges", m.name+"."+j.topic.name+"."+j.set+".ndjson")
}
func (c *Comparison) measureTopic(m *measured, j *job) string {
	return strings.TrimSuffix(c.labelFile(m, j), ".ndjson") + ".json"
}
func (c *Comparison) parsedFile(w *web) string { return c.path("webs", w.name+".parsed.zst") }

// String describes the judge.
func (m *measured) String() string {
	s := m.measure
	if m.limit != "" {
		s += " ≥ " + m.limit
	}
	if m.compat {
		s += ", literally (-compat)"
	}
	return s
}

// judgeByMeasures judges the finished jobs by the judges of the plan, several at a time. It returns the
// number of judgements that failed.
func (c *Comparison) judgeByMeasures(ctx context.Context) (failed int, err error) {
	var group sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan struct{}, c.Parallel)
	defer group.Wait()
	for i := range c.Plan.judges {
		m := &c.Plan.judges[i]
		for _, j := range c.Plan.jobs {
			if !exists(c.path("jobs", j.name)) || exists(c.path("jobs", j.name, m.file())) {
				continue
			}
			if err := c.prepareJudge(ctx, m, j); err != nil {
				return 0, fmt.Errorf("the pages cannot be judged by %s: %w", m.name, err)
			}
			slots <- struct{}{}
			if ctx.Err() != nil {
				return 0, context.Cause(ctx)
			}
			group.Go(func() {
				defer func() { <-slots }()
				if err := c.judgeByMeasure(ctx, m, j); err != nil {
					c.Say("%s, judged by %s: %v", j.name, m.name, err)
					mu.Lock()
					failed++
					mu.Unlock()
				}
			})
		}
	}
	group.Wait()
	return failed, nil
}

// file is the name of the file of a job with the result by the judge.
func (m *measured) file() string { return "judge." + m.name + ".json" }

func (c *Comparison) judgeByMeasure(ctx context.Context, m *measured, j *job) error {
	budget, err := c.budget(j)
	if err != nil {
		return err
	}
	labels, err := atomicfile.ReadFile(c.labelFile(m, j), maxSmall)
	if err != nil {
		return err
	}
	if !bytes.Contains(labels, []byte(judgedLabel+`"]`)) {
		return fmt.Errorf("no page of the web %s is relevant by %s", j.topic.web.name, m)
	}
	dir := c.path("jobs", j.name)
	part := filepath.Join(dir, m.file()+".part")
	args := append(c.webFlags(j), "-labels", c.labelFile(m, j), "-label", judgedLabel, "-t", fmt.Sprint(budget), "-brief", "-summary", part)
	if _, _, err := c.output(ctx, nil, "judge", append(args, filepath.Join(dir, orderFile))...); err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(dir, m.file()))
}

// prepareJudge creates the files that judging by a measure needs.
func (c *Comparison) prepareJudge(ctx context.Context, m *measured, j *job) error {
	w := j.topic.web
	return makeAll([]made{
		{c.parsedFile(w), func(name string) error {
			part := name + ".part"
			if err := c.pipe(ctx, io.Discard, c.Prefix.Words("fetch", "-archive", c.archives(w), "-all", "-quiet"),
				c.Prefix.Words("parse", "-quiet", "-tee", part+".zst")); err != nil {
				return err
			}
			return os.Rename(part+".zst", name)
		}},
		{c.queryTopic(j), func(name string) error { return c.makeTopic(ctx, j, "K", name) }},
		{c.measureTopic(m, j), func(name string) error { return c.makeMeasureTopic(ctx, m, j, name) }},
		{c.labelFile(m, j), func(name string) error { return c.makeLabels(ctx, m, j, name) }},
	}, c.dir)
}

// makeMeasureTopic makes the topic by which a judge scores pages.
func (c *Comparison) makeMeasureTopic(ctx context.Context, m *measured, j *job, name string) error {
	args := append([]string{"-topic", c.queryTopic(j)}, m.topicFlags(c.seedFile(j), c.archives(j.topic.web))...)
	if len(args) == 2 { // topic refuses to copy a topic
		topic, err := atomicfile.ReadFile(c.queryTopic(j), maxSmall)
		if err != nil {
			return err
		}
		return atomicfile.WriteBytes(name, topic)
	}
	return c.save(ctx, name, nil, "topic", args...)
}

// topicFlags returns the flags of topic that make what the measure needs from the pages of the seeds.
func (m *measured) topicFlags(seeds, archives string) (flags []string) {
	if measure.Section(m.measure) != "" {
		flags = append(flags, "-positive", seeds, "-archive", archives)
		if m.compat && measure.LearnsLiterally([]string{m.measure}) {
			flags = append(flags, "-compat")
		}
	}
	if m.limit != "" {
		flags = append(flags, "-threshold", m.limit)
	}
	return flags
}

// makeLabels scores all pages of the web, and labels those that are relevant.
func (c *Comparison) makeLabels(ctx context.Context, m *measured, j *job, name string) error {
	args := []string{"-topic", c.measureTopic(m, j), "-fitness", m.measure, "-quiet"}
	if m.compat {
		args = append(args, "-compat")
	}
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := c.pipe(ctx, write, c.Prefix.Words("score", append(args, c.parsedFile(j.topic.web))...))
		write.CloseWithError(err)
		done <- err
	}()
	var labels bytes.Buffer
	lines := json.NewEncoder(&labels)
	for rec, err := range records(read) {
		if err != nil {
			read.CloseWithError(err)
			return errors.Join(err, <-done)
		}
		line := struct {
			URL    string   `json:"url"`
			Labels []string `json:"labels"`
		}{rec.URL, []string{}}
		if rec.Relevant == wire.True {
			line.Labels = append(line.Labels, judgedLabel)
		}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	if err := <-done; err != nil {
		return err
	}
	return atomicfile.WriteBytes(name, labels.Bytes())
}

// records yields the records of src. Each is overwritten by the next one. An error is the last thing that
// it yields.
func records(src io.Reader) iter.Seq2[*wire.Record, error] {
	return func(yield func(*wire.Record, error) bool) {
		r := wire.NewReader(src, wire.Score)
		rec := new(wire.Record)
		for {
			err := r.Read(rec)
			if err == io.EOF || !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// pipe runs a pipeline of commands, copies its output to out, and returns when all have exited.
func (c *Comparison) pipe(ctx context.Context, out io.Writer, commands ...[]string) error {
	var started []*exec.Cmd
	var messages []*bytes.Buffer
	var errs []error
	var from *os.File
	for i, words := range commands {
		cmd, said := c.command(ctx, words...), new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, said
		if from != nil {
			cmd.Stdin = from
		}
		var to *os.File
		if i < len(commands)-1 {
			var err error
			if from, to, err = os.Pipe(); err != nil {
				errs = append(errs, err)
				break
			}
			cmd.Stdout = to
		}
		err := cmd.Start()
		if f, ok := cmd.Stdin.(*os.File); ok {
			f.Close()
		}
		if to != nil {
			to.Close()
		}
		if err != nil {
			errs = append(errs, err)
			break
		}
		started, messages = append(started, cmd), append(messages, said)
	}
	for i, cmd := range started {
		if err := cmd.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, strings.TrimSpace(messages[i].String())))
		}
	}
	return errors.Join(errs...)
}

// measuredResult returns the result of a finished job by a judge of the plan.
func (c *Comparison) measuredResult(m *measured, j *job) (*judge.Result, error) {
	r, err := c.resultIn(j, m.file())
	if err != nil {
		return nil, err
	}
	r.Label = m.String()
	return r, nil
}
