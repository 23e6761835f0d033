package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/frontier"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// A Crawl is an open run: its settings, its stages and its totals so far.
type Crawl struct {
	Dir      Dir
	Settings *Settings
	Stages   Stages // the stages of the pipeline in a steady crawl, otherwise of the steps
	Totals   *Totals
	View     *View
	Log      Log
	Prefix   Prefix // of the names of the commands

	measure  string // the steering measure; "" if it depends on the topic
	unscored bool   // the score does not steer the crawl
	teaches  bool   // the strategy learns from pages that are named as examples during the crawl
	steps    Stages // the stages of the steps; a steady crawl may run steps too, for example to learn the topic
	store    *frontier.Store
	now      now
	full     bool        // the disk has less free space than MinFree
	spentDay string      // the last day for which the user was told that its budget is spent
	examples os.FileInfo // of the file of examples, when it was last read; nil: there was none
	looked   bool        // whether this process has looked for the file
}

// A Log writes messages to stages.log. *slog.Logger implements it.
type Log interface {
	Info(msg string, attrs ...any)
	Warn(msg string, attrs ...any)
}

// Load returns the crawl of a run directory.
func Load(d Dir, view *View, log Log, prefix Prefix, requirements func(strategy string) (Requirements, bool)) (*Crawl, error) {
	s, err := d.LoadSettings()
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, faultf(statusMisuse, "%s is not a run", d)
	}
	c := &Crawl{Dir: d, Settings: s, View: view, Log: log, Prefix: prefix}
	// Use the commands in the settings: the user may edit the stages file at any time, but changes
	// take effect only when the crawl is resumed.
	for _, name := range append(slices.Clone(stageNames), otherNames(s.Ran)...) {
		if command, ok := s.Ran[name]; ok {
			c.Stages = append(c.Stages, Stage{name, command, !slices.Contains(s.Replaced, name)})
		}
	}
	w, _ := requirements(s.Strategy)
	w = s.withMeasures(w)
	evolve := c.Stages.find("evolve")
	c.measure, _, _ = strings.Cut(s.measure(w), ",")
	c.unscored = w.Unscored && evolve != nil && evolve.Own
	c.teaches = w.Examples
	c.steps = c.Stages
	if s.Steady {
		looping := *s
		looping.Steady = false
		c.steps = nil
		for _, stage := range ownStages(&looping, w, prefix) {
			switch steady := c.Stages.find(stage.Name); {
			case steady != nil && !steady.Own:
				c.steps = append(c.steps, *steady)
			case stage.Name == "learn" && steady == nil, stage.Name == "grow" && !c.Stages.find("score").Own:
			default:
				c.steps = append(c.steps, stage)
			}
		}
		for _, stage := range c.Stages {
			if !slices.Contains(stageNames, stage.Name) {
				c.steps = append(c.steps, stage)
			}
		}
	}
	if c.Totals, err = d.LoadTotals(); err != nil {
		return nil, err
	}
	view.begin(c)
	return c, c.now.load(d)
}

// The steps of a generation, in order. A step whose output exists is done.
const (
	stepVisit  = "visit"  // fetch | parse | score
	stepRead   = "read"   // fetch | parse: the seeds, from whose pages the topic is learned
	stepLearn  = "learn"  // topic
	stepScore  = "score"  // score: the pages of stepRead
	stepGrow   = "grow"   // topic -expand
	stepEvolve = "evolve" // evolve
	stepSearch = "search" // search
	stepSteady = "steady" // all generations, by the same processes
)

// now is the step that the shell runs.
type now struct {
	step       string
	in, out    string
	generation int
	topic      string // the topic file that the stages use
	begun      time.Time
	asked      int // number of records that go into the stages
	pages      int // number of pages that came out of score; 0 if it is not known
	logged     int // size of stages.log before the step, in bytes
}

// load reads the file of the current step. If the file does not exist, the step is "".
func (n *now) load(d Dir) error {
	b, err := readSmall(d.Path(stepFile))
	if b == nil || err != nil {
		return err
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) < 8 {
		return nil // an incomplete file: the step is repeated
	}
	n.step, n.in, _ = strings.Cut(lines[0], " ")
	n.out, n.topic = lines[1], lines[2]
	n.generation, _ = strconv.Atoi(lines[3])
	n.asked, _ = strconv.Atoi(lines[4])
	n.pages, _ = strconv.Atoi(lines[5])
	n.begun, _ = time.Parse(time.RFC3339Nano, lines[6])
	n.logged, _ = strconv.Atoi(lines[7])
	return nil
}

// save writes the file of the current step.
func (n *now) save(d Dir) error {
	return d.replace(stepFile, fmt.Sprintf("%s %s\n%s\n%s\n%d\n%d\n%d\n%s\n%d\n", n.step, n.in, n.out, n.topic, n.generation, n.asked, n.pages, n.begun.Format(time.RFC3339Nano), n.logged))
}

// saveStep writes the file of the current step, and the script nowFile, which the shell sources. The
// script sets the step, its input, the number of stages after the first that a signal interrupts too, the
// commands of the stages, and environment variables for them:
//
//	SPOOR_RUN         the run directory
//	SPOOR_TOPIC       the topic file; for the stages of spoor in a steady crawl, the topic file at its start
//	SPOOR_GENERATION  the number of the generation; in a steady crawl [Crawl.Stage] sets it
//	SPOOR_N           the number of addresses in a generation
//	SPOOR_SEED        the random seed
//	SPOOR_ENDED       the file to which spoor's commands append their exit status
func (c *Crawl) saveStep() error {
	n, d := &c.now, c.Dir
	var b bytes.Buffer
	returns := 0
	if n.step == stepSteady && !(c.Settings.Closed() && c.Stages.find("fetch").Own) { // fetch would return pages that an archive has
		returns = 1
	}
	fmt.Fprintf(&b, "step=%s in=%s returns=%d\n", n.step, Quote(d.Path(n.in)), returns)
	fmt.Fprintf(&b, "export SPOOR_RUN=%s SPOOR_TOPIC=%s SPOOR_N=%d SPOOR_SEED=%d", Quote(string(d)), Quote(n.topic), c.Settings.size(c.Totals.Fetched), c.Settings.Seed)
	stages := c.steps
	if n.step == stepSteady {
		stages = c.Stages
	} else {
		fmt.Fprintf(&b, " SPOOR_GENERATION=%d", n.generation)
	}
	if c.Settings.Partition != "" {
		fmt.Fprintf(&b, " SPOOR_PARTITION=%s", c.Settings.Partition)
	}
	fmt.Fprintf(&b, " %s=%s\n", endedVariable, Quote(d.Path(endedFile)))
	for _, stage := range stages {
		command := stage.Command
		if !stage.Own {
			command = c.Prefix.Quote("run") + " stage " + Quote(string(d)) + " " + stage.Name
		}
		fmt.Fprintf(&b, "stages[%s]=%s\n", stage.Name, Quote(command))
	}
	return errors.Join(n.save(d), d.replace(nowFile, b.String()))
}

// replace replaces a file that need not survive a power cut.
func (d Dir) replace(name, content string) error {
	if err := d.overwrite(name+partSuffix, content); err != nil {
		return err
	}
	return os.Rename(d.Path(name+partSuffix), d.Path(name))
}

// overwrite writes a file in place, without a temporary file.
func (d Dir) overwrite(name, content string) error {
	f, err := atomicfile.OpenFile(d.Path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// ErrEnded is returned by [Crawl.Next] if the crawl is over. The file stop_reason holds the reason.
var ErrEnded = errors.New("the crawl has ended")

// Next accepts the output of the step that the shell has run, and prepares the next step. The
// pipeline of the step ended with the given status, -1 if no step was run. If interrupted is not 0,
// the crawl ends as soon as no fetched page can be lost. The error is [ErrEnded] if the crawl is over.
func (c *Crawl) Next(ctx context.Context, status, interrupted int) error {
	defer c.closeStore()
	if status < 0 {
		c.now.step = ""
		if err := c.start(); err != nil {
			return err
		}
	} else if err := c.finishStep(status, interrupted); err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return c.endInterrupted(context.Cause(ctx))
		}
		next, err := c.plan(ctx, interrupted)
		if err != nil {
			return err
		}
		if next {
			if err := c.begin(); err != nil {
				return err
			}
			return c.saveStep()
		}
		if err := c.commit(); err != nil {
			return err
		}
	}
}

// start removes the unfinished files of a killed crawl, and prints where the crawl continues.
func (c *Crawl) start() error {
	d := c.Dir
	if err := d.removeParts(); err != nil {
		return err
	}
	if info, err := os.Lstat(d.Path(stepFile)); err == nil && !c.now.begun.IsZero() { // the killed step is repeated: neither it nor the time since counts
		c.now.begun = c.now.begun.Add(time.Since(info.ModTime()))
	}
	s, t := c.Settings, c.Totals
	reason, err := readSmall(d.Path(StopReason))
	if err != nil {
		return err
	}
	if reason := strings.TrimSpace(string(reason)); reason != "" {
		if s.Partition != "" { // the commits of all partitions decide whether the crawl has ended
		} else if reason == EndEmpty && s.Recrawl && t.Fetched < s.Pages { // it may have been resumed with -recrawl: pages will be due
			t.Empty = 0
		} else if reason == EndInterrupted { // if that was after the last page, the crawl now ends for another reason
		} else if reason == EndEmpty || t.Fetched >= s.Pages || s.Generations > 0 && t.Generation >= s.Generations || s.Relevant > 0 && t.Relevant >= s.Relevant {
			c.View.Note("finished already: %s; %s", reason, c.text())
			c.View.Note("%s", t.byOperator())
			c.View.Note("%s", c.growth())
			c.View.Note("%s", c.notFetched())
			if reason != EndEmpty {
				c.View.Note("%s", c.limitHint())
			}
			c.writeFinalReport()
			return ErrEnded
		}
		if err := os.Remove(d.Path(StopReason)); err != nil {
			return err
		}
	}
	if t.Generation > 0 {
		os.Remove(d.File(t.Generation, Addresses)) // left over if the process was killed at the end of a commit
		if err := c.checkStore(); err != nil {
			return err
		}
		if err := d.removeParts(); err != nil { // those that another process wrote before it closed the store
			return err
		}
		c.View.Note("resuming %s at generation %d, after %s", d, t.Generation+1, plural(t.Fetched, "page"))
	}
	return nil
}

// removeParts removes the unfinished files and directories of killed processes. A stage that is
// still running then writes to a removed file, which does no harm. Parts of report.html are kept:
// the user may be writing it.
func (d Dir) removeParts() error {
	for _, pattern := range []string{"*" + partSuffix, filepath.Join("fetch", "*"+partSuffix), filepath.Join(generations, "*", "*"+partSuffix+"*")} {
		parts, err := filepath.Glob(filepath.Join(escapeGlob(string(d)), pattern))
		if err != nil {
			return err
		}
		for _, name := range parts {
			if !strings.HasPrefix(filepath.Base(name), "report.html.") {
				os.RemoveAll(name)
			}
		}
	}
	return nil
}

// escapeGlob returns a pattern that matches only name.
func escapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// plan sets the next step of the generation that is not committed. It returns false if all
// steps are done.
func (c *Crawl) plan(ctx context.Context, interrupted int) (bool, error) {
	d, g := c.Dir, c.Totals.Generation+1
	has := func(name string) bool { return exists(d.File(g, name)) }
	step := func(name, in, out string) (bool, error) {
		if in != "" {
			in = filepath.Join(generations, generationName(g), in)
		}
		begun, asked, pages := c.now.begun, c.now.asked, c.now.pages
		if c.now.generation != g {
			begun, pages = time.Time{}, 0
		}
		if begun.IsZero() {
			begun = time.Now()
		}
		c.now = now{step: name, in: in, out: out, generation: g, begun: begun, asked: asked, pages: pages}
		var err error
		c.now.topic, err = c.topic(g, name)
		return true, err
	}
	if c.Settings.Partition != "" { // an uncommitted generation is repeated, even if it has files
		if interrupted != 0 {
			return false, c.endInterrupted(faultf(interrupted, ""))
		}
		return step(stepSteady, "", "")
	}
	learned := d.File(0, Topic)
	learns := g == 1 && c.steps.find("learn") != nil
	previous := c.now.step
	if !has(Scored) {
		if !has(Parsed) {
			if err := c.checkEnd(interrupted); err != nil {
				return false, err
			}
			if c.Settings.Steady && !(learns && !exists(learned)) {
				if _, _, err := c.budget(g); err != nil {
					return false, err
				}
				return step(stepSteady, "", "")
			}
			if err := c.keepExamples(g); err != nil {
				return false, err
			}
			if err := c.leaseBatch(ctx, g, learns); err != nil {
				return false, err
			}
			if learns && !exists(learned) {
				return step(stepRead, Addresses, Parsed)
			}
			return step(stepVisit, Addresses, Scored)
		}
		if learns && !exists(learned) {
			return step(stepLearn, Parsed, filepath.Join("..", generationName(0), Topic))
		}
		return step(stepScore, Parsed, Scored)
	}
	os.Remove(d.File(g, Parsed))
	if !has(Next) {
		if c.steps.find("grow") != nil && !has(Topic) && !(previous == stepGrow && c.now.generation == g) {
			return step(stepGrow, Scored, Topic)
		}
		return step(stepEvolve, Scored, Next)
	}
	if c.steps.find("search") != nil && !has(Found) && c.canSearch() {
		return step(stepSearch, Next, Found)
	}
	return false, nil
}

// canSearch reports whether there is an index, a server or a command to search with, or captures
// from which an index can be built.
func (c *Crawl) canSearch() bool {
	s := c.Settings
	if !c.steps.find("search").Own || IsAddress(s.Search) || exists(s.Search) || len(s.Archives) > 0 {
		return true
	}
	captures, err := os.ReadDir(c.Dir.Path(Captures))
	return err == nil && len(captures) > 0
}

// topic returns the topic file for a step of generation g: the newest one from before g or, for evolve
// and search, the newest one including that of g.
func (c *Crawl) topic(g int, step string) (string, error) {
	if step != stepEvolve && step != stepSearch {
		g--
	}
	for ; g >= 0; g-- {
		if name := c.Dir.File(g, Topic); exists(name) {
			return name, nil
		}
		if c.steps.find("grow") == nil && c.steps.find("learn") == nil {
			break
		}
	}
	return c.Dir.Path(Topic), nil
}

// checkEnd ends the crawl, and returns ErrEnded or another error, if there is a reason not to begin
// the next generation.
func (c *Crawl) checkEnd(interrupted int) error {
	s, t := c.Settings, c.Totals
	switch {
	case t.exhausted():
		return c.end(EndEmpty)
	case t.Fetched >= s.Pages:
		return c.end(EndPages)
	case s.Generations > 0 && t.Generation >= s.Generations:
		return c.end(EndGenerations)
	case s.Relevant > 0 && t.Relevant >= s.Relevant:
		return c.end(EndRelevant)
	case interrupted != 0:
		return c.endInterrupted(faultf(interrupted, ""))
	case exists(c.Dir.Path(StopFile)):
		os.Remove(c.Dir.Path(StopFile))
		return c.end(EndStopped)
	}
	return nil
}

// leaseBatch writes the batch of a generation: the answered queries of the previous generation,
// whose cost is charged to this one, and addresses leased from the frontier. It waits until an
// address is due.
func (c *Crawl) leaseBatch(ctx context.Context, g int, learns bool) error {
	d, s, t := c.Dir, c.Settings, c.Totals
	if err := c.await(ctx); err != nil {
		return err
	}
	c.now = now{generation: g, begun: time.Now()}
	queries, left, err := c.budget(g)
	if err != nil {
		return err
	}
	if left <= 0 {
		return c.end(EndPages)
	}
	q := s.request()
	q.N, q.Generation = s.size(t.Fetched), g
	if t.Generation > 0 && t.Last.Cost == 0 && t.Last.Errors[wire.ErrorBudget] > 0 {
		q.Horizon = 0 // otherwise the addresses that fetch returned untried would be leased again at once
	}
	if learns {
		if err := c.openStore(); err != nil {
			return err
		}
		stats, err := c.store.Stats(time.Now())
		if err != nil {
			return err
		}
		q.N = max(q.N, stats.URLs) // the topic is learned from all seeds
	}
	q.N = min(q.N, left, c.leaseLimit())
	q.KnownOnly = s.Keep > 0 && t.Last.Visited >= s.Keep
	lines, err := c.lease(ctx, q)
	if err != nil {
		return err
	}
	batch := append(queries, firstLines(lines, q.N)...)
	c.now.asked = bytes.Count(batch, []byte("\n"))
	if err := os.MkdirAll(d.File(g, ""), 0o777); err != nil {
		return err
	}
	return atomicfile.WriteBytes(d.File(g, Addresses), batch)
}

// budget returns the answered queries of the generation before g, whose cost is charged to g, and the
// number of fetches that are left.
func (c *Crawl) budget(g int) (queries []byte, left int, err error) {
	queries, cost, err := c.answeredQueries(g - 1)
	left = c.Settings.Pages - c.Totals.Fetched - cost
	if err == nil && left <= 0 && c.Totals.Fetched == 0 {
		err = faultf(statusMisuse, "-pages %d is no more than the search for seeds costs: use a larger number", c.Settings.Pages)
	}
	return queries, left, err
}

// firstLines returns the first n lines. An interrupted generation leases the same batch again, which may
// now exceed the remaining budget.
func firstLines(lines []byte, n int) []byte {
	end := 0
	for ; n > 0 && end < len(lines); n-- {
		end += bytes.IndexByte(lines[end:], '\n') + 1
	}
	return lines[:end]
}

// lease leases a batch from the frontier. It waits until an address is due. The batch is nil if no
// address waits.
func (c *Crawl) lease(ctx context.Context, q frontier.Request) ([]byte, error) {
	waited := false
	defer func() {
		if waited {
			os.Remove(c.Dir.Path(waitFile))
		}
	}()
	for {
		if err := c.openStore(); err != nil {
			return nil, err
		}
		q.Now = time.Now()
		lines, err := c.store.Next(q)
		nothing, ok := errors.AsType[*frontier.NothingDue](err)
		switch {
		case err == nil:
			return bytes.Clone(lines), nil
		case !ok:
			return nil, err
		case nothing.Earliest.IsZero():
			return nil, nil
		case time.Until(nothing.Earliest) > c.Settings.Patience:
			return nil, c.end(EndNotDue)
		}
		if err := c.closeStore(); err != nil { // others may use it meanwhile
			return nil, err
		}
		c.wait(nothing.Earliest)
		waited = true
		for time.Now().Before(nothing.Earliest) {
			select {
			case <-ctx.Done():
				return nil, c.endInterrupted(context.Cause(ctx))
			case <-time.After(min(time.Second, time.Until(nothing.Earliest))):
			}
			if exists(c.Dir.Path(StopFile)) {
				return nil, c.checkEnd(0)
			}
			c.View.Waiting(nothing.Earliest, c.Totals)
		}
	}
}

// request returns the request to the frontier that the settings specify.
func (s *Settings) request() frontier.Request {
	q := frontier.Request{PerHost: s.PerHost, PerNiche: s.PerNiche, MaxPerHost: s.MaxPerHost, MaxPerNiche: s.MaxPerNiche, Recrawl: s.Recrawl, Horizon: s.Horizon, Lease: 10 * time.Minute}
	switch s.Fair {
	case "host":
		q.Fair = frontier.ByHost
	case "niche":
		q.Fair = frontier.ByNiche
	}
	return q
}

// answeredQueries returns the queries that a generation has answered, and their cost.
func (c *Crawl) answeredQueries(g int) (lines []byte, cost int, err error) {
	b, err := readSmall(c.Dir.File(g, Found))
	if err != nil {
		return nil, 0, err
	}
	r := wire.NewReader(bytes.NewReader(b), wire.Address)
	var rec wire.Record
	for line := range bytes.Lines(b) {
		if r.Read(&rec) != nil {
			break
		}
		if rec.URL == "" && rec.Query != "" {
			lines = append(lines, bytes.TrimRight(line, "\n")...)
			lines = append(lines, '\n')
			cost += rec.Cost
		}
	}
	return lines, cost, nil
}

// begin prepares the run directory for the next step.
func (c *Crawl) begin() error {
	if err := errors.Join(c.Dir.overwrite(endedFile, ""), c.Dir.limitLog()); err != nil {
		return err
	}
	if info, err := os.Stat(c.Dir.Path(StagesLog)); err == nil {
		c.now.logged = int(info.Size())
	}
	c.View.Step(c, c.now.step)
	if c.now.step == stepSteady {
		return c.makeLoop()
	}
	if c.now.step == stepVisit || c.now.step == stepScore {
		// A steady crawl that was killed before it kept the pages may have left a topic.
		os.Remove(c.Dir.File(c.now.generation, Topic))
	}
	out := c.outFile()
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	os.Remove(out + partSuffix)
	return nil
}

func (c *Crawl) outFile() string { return c.Dir.File(c.now.generation, c.now.out) }

// finishStep accepts the output of the step that was run, if all its stages succeeded.
func (c *Crawl) finishStep(status, interrupted int) error {
	n := &c.now
	if n.step == "" || n.step == stepSteady {
		return c.finishSteady(status, interrupted)
	}
	ended, err := c.Dir.loadEnded()
	if err != nil {
		return err
	}
	part := c.outFile() + partSuffix
	kept := ended.kept()
	switch {
	case status == 0:
	case interrupted != 0 && !c.keepsInterrupted(ended, kept):
		return c.endInterrupted(faultf(interrupted, ""))
	case interrupted != 0:
	case c.contactMissing(ended, kept):
	default:
		return c.blame(status, ended)
	}
	if err := c.checkCounts(kept); err != nil {
		return err
	}
	if n.step == stepVisit || n.step == stepScore {
		n.pages = kept.Pages
	}
	if n.step == stepGrow {
		grown, err := c.hasGrown(part)
		if err != nil || !grown {
			return errors.Join(err, os.Remove(part))
		}
	}
	return atomicfile.Rename(part, c.outFile())
}

// keepsInterrupted reports whether to keep the output of an interrupted step: fetch has returned
// the addresses that it did not fetch, and the other stages have processed all of its output. In
// a crawl of archives the step is repeated instead, so that the interruption changes nothing.
func (c *Crawl) keepsInterrupted(e ended, kept Kept) bool {
	fetch, ok := e["fetch"]
	return c.now.step != stepLearn && !c.Settings.Closed() && c.steps.find("fetch").Own && kept.Records > 0 && ok && fetch.status > 128 && e.others("fetch") == 0
}

// contactMissing reports whether fetch failed only because no host of this batch may be
// requested without -contact. In generation 1 this ends the crawl; later it is only the outcome
// of these addresses.
func (c *Crawl) contactMissing(e ended, kept Kept) bool {
	return c.now.step == stepVisit && c.now.generation != 1 && c.steps.find("fetch").Own && kept.Records > 0 && e["fetch"].status == statusMisuse && e.others("fetch") == 0
}

// hasGrown reports whether the topic in the file part differs from the topic of the step in more
// than the formatting.
func (c *Crawl) hasGrown(part string) (bool, error) {
	before, err := topic.Load(c.now.topic)
	if err != nil {
		return false, err
	}
	var canonical bytes.Buffer
	if err := before.Write(&canonical); err != nil {
		return false, err
	}
	after, err := atomicfile.ReadFile(part, maxSmall)
	return !bytes.Equal(after, canonical.Bytes()), err
}

// commit adds what evolve and search wrote to the frontier and writes the summary.
func (c *Crawl) commit() error {
	d, g := c.Dir, c.Totals.Generation+1
	if err := c.openStore(); err != nil {
		return err
	}
	sum := c.newSummary(g)
	for _, name := range []string{Next, Found} {
		if err := c.add(d.File(g, name), sum); err != nil {
			return fmt.Errorf("adding to the frontier: %w", err)
		}
	}
	if err := c.store.Commit(); err != nil {
		return err
	}
	counts := c.store.Counts(time.Now())
	sum.SetStore(counts)
	if err := sum.setGrowth(d.File(g, Topic)); err != nil {
		return err
	}
	sum.Day = c.Settings.today(time.Now())
	if c.Settings.Keep > 0 {
		sum.Visited = counts.Visited
	}
	if !c.now.begun.IsZero() {
		sum.Seconds = seconds(time.Since(c.now.begun).Seconds())
	}
	if err := c.writeSummary(sum, true); err != nil {
		return err
	}
	os.Remove(d.File(g, Addresses))
	return nil
}

// writeSummary stores the summary of a generation and shows it. If commits is true, it writes
// stats.json, which commits the generation; otherwise the caller has written that file.
func (c *Crawl) writeSummary(sum *Summary, commits bool) error {
	line, err := sum.Line()
	if err != nil {
		return err
	}
	if commits {
		if err := atomicfile.WriteBytes(c.Dir.File(sum.Generation, Stats), line); err != nil {
			return err
		}
	}
	if err := c.Dir.appendTo(LogFile, line); err != nil {
		return err
	}
	first, firstUnjudged := c.Totals.Fetched <= c.Totals.Failed, c.Totals.Unjudged == 0
	c.Totals.Add(sum)
	c.warnNotHandedOver()
	if err := c.Totals.save(c.Dir); err != nil { // if the process ends before this, LoadTotals rewrites the log from the summaries
		return err
	}
	c.now = now{}
	c.View.Generation(c)
	if first && c.Totals.Fetched > c.Totals.Failed && !c.Settings.Steady {
		c.warnGuessedThreshold()
	}
	if firstUnjudged {
		c.View.Say("%s", c.unjudged(sum.Unjudged))
	}
	if n := sum.Errors[wire.ErrorMalformed]; n > 0 {
		c.View.Say("a stage made the records of %d pages of generation %d malformed, so these pages are lost; %s names the fields", n, sum.Generation, c.Dir.Path(StagesLog))
	}
	c.publish()
	return nil
}

func (d Dir) appendTo(name string, lines []byte) error {
	f, err := atomicfile.OpenFile(d.Path(name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Close())
}

// add adds the records of a file to the store, if the file exists, and counts them.
func (c *Crawl) add(name string, sum *Summary) error {
	f, err := openRecords(name)
	if f == nil || err != nil {
		return err
	}
	defer f.Close()
	malformed := func(bad *wire.SyntaxError) {
		if bad.Outcome {
			c.Log.Warn("a page is a failure: its record has malformed fields", "file", name, "line", bad.Line, "err", bad.Err)
			return
		}
		c.Log.Warn("skipped a line that is not a record", "file", name, "line", bad.Line, "err", bad.Err)
	}
	return c.store.AddFrom(wire.NewReader(f, frontier.Sections), func(rec *wire.Record, verdict frontier.Verdict, err error) {
		sum.Count(rec)
		if verdict == frontier.Refused {
			c.Log.Warn("refused", "url", rec.URL, "err", err)
		}
	}, malformed)
}

func (c *Crawl) openStore() error {
	if c.store == nil {
		scope, err := c.Dir.loadScope(c.Settings)
		if err != nil {
			return err
		}
		name := c.Dir.Path("frontier")
		if c.Totals.Generation > 0 && !exists(name) { // somebody has removed it: a new one would lack addresses
			return fmt.Errorf("the frontier %s is lost\nhint: restore it from a copy of the same time, or begin another run", name)
		}
		c.store, err = frontier.Open(name, frontier.Options{
			Create: true, ExcludeTraps: c.Settings.Traps, Scope: scope, Wait: 30 * time.Second, Holder: fmt.Sprintf("process %d, crawl", os.Getpid()),
		})
		return err
	}
	return nil
}

// checkStore returns an error if the store holds none of the pages of the last generation with
// pages: the store was lost, or replaced by an older copy.
func (c *Crawl) checkStore() error {
	if err := c.openStore(); err != nil {
		return err
	}
	for g := c.Totals.Generation; g > 0 && c.store.LastGeneration() < g; g-- {
		pages, held, err := c.countHeld(g)
		if err != nil {
			return err
		}
		if held > 0 {
			break
		}
		if pages > 0 {
			return fmt.Errorf("the frontier %s holds none of the %d pages of generation %d of %s: part of the frontier is lost\nhint: restore it from a copy of the same time, or begin another run", c.Dir.Path("frontier"), pages, g, c.Dir)
		}
	}
	return nil
}

// countHeld returns the number of pages that generation g has fetched, and how many of these the
// store holds as visited.
func (c *Crawl) countHeld(g int) (pages, held int, err error) {
	f, err := openRecords(c.Dir.File(g, Scored))
	if f == nil || err != nil {
		return 0, 0, err
	}
	defer f.Close()
	r := wire.NewReader(f, wire.Address|wire.Fetch)
	var rec wire.Record
	for {
		err := r.Read(&rec)
		if errors.Is(err, io.EOF) {
			return pages, held, nil
		} else if _, malformed := errors.AsType[*wire.SyntaxError](err); malformed {
			continue
		} else if err != nil {
			return 0, 0, err
		}
		if rec.StatusCode == 200 && rec.Error == "" {
			pages++
			if c.store.HasVisited(rec.URL) {
				held++
			}
		}
	}
}

// maxOutside is the largest number of fetched pages whose links linksOutside counts: reading all pages of a
// large crawl would take minutes, and its end does not surprise.
const maxOutside = 1000

// linksOutside returns the number of links on the pages of a crawl of archives that lead to pages that the
// archives do not hold, as parse -within has marked them. It is 0 for other crawls, and for those of more
// than maxOutside pages.
func (c *Crawl) linksOutside() (n int, err error) {
	if !c.Settings.Closed() || c.Totals.Fetched > maxOutside {
		return 0, nil
	}
	for g := 1; g <= c.Totals.Generation; g++ {
		more, err := countOutside(c.Dir.File(g, Scored))
		if err != nil {
			return 0, err
		}
		n += more
	}
	return n, nil
}

// countOutside returns the number of links in a file of records that are marked as not archived.
func countOutside(name string) (n int, err error) {
	f, err := openRecords(name)
	if f == nil || err != nil {
		return 0, err
	}
	defer f.Close()
	r := wire.NewReader(f, wire.Address|wire.Parse)
	var rec wire.Record
	for {
		err := r.Read(&rec)
		if errors.Is(err, io.EOF) {
			return n, nil
		} else if _, malformed := errors.AsType[*wire.SyntaxError](err); malformed {
			continue
		} else if err != nil {
			return n, err
		}
		for i := range rec.Links {
			if rec.Links[i].Archived == wire.False {
				n++
			}
		}
	}
}

// closeStore closes the frontier. An error that concerns only the snapshot is logged, because a
// later process writes the snapshot.
func (c *Crawl) closeStore() error {
	if c.store == nil {
		return nil
	}
	err := c.store.Close()
	c.store = nil
	if snapshot, ok := errors.AsType[*frontier.SnapshotError](err); ok {
		c.Log.Warn("snapshot", "err", snapshot)
		return nil
	}
	return err
}

// The reasons for which a crawl ends.
const (
	EndPages       = "pages"
	EndGenerations = "generations"
	EndRelevant    = "relevant"
	EndEmpty       = "frontier_empty"
	EndNotDue      = "not_due"
	EndStopped     = "stop_file"
	EndInterrupted = "interrupted"
	EndNoPage      = "no_page" // if such a crawl is resumed, it begins anew
)

// warnGuessedThreshold prints a warning if score, according to stages.log, had to assume a threshold for
// the scores of the user's command. Such a crawl often has no relevant page.
func (c *Crawl) warnGuessedThreshold() {
	if score := c.Stages.find("score"); score == nil || score.Own {
		return
	}
	log, err := readSmall(c.Dir.Path(StagesLog))
	if err == nil && bytes.Contains(log, []byte(GuessedThreshold)) {
		c.View.Say("%s, because the topic has none\nhint: topic -threshold sets one", GuessedThreshold)
	}
}

// GuessedThreshold is the message that score logs if the scores are from another program and the topic
// has no threshold.
const GuessedThreshold = "scores of another program were compared with a threshold of 0.5"

// endsWithoutPage reports whether a crawl that ends for this reason has no page, so that it begins anew when it is
// resumed.
func (c *Crawl) endsWithoutPage(reason string) bool {
	return c.Settings.Partition == "" && c.Totals.Fetched <= c.Totals.Failed && reason != EndGenerations && reason != EndStopped
}

func (c *Crawl) end(reason string) error {
	if c.endsWithoutPage(reason) {
		return c.noPage()
	}
	if err := c.Dir.writeReason(reason); err != nil {
		return err
	}
	c.View.Final(c, "done: "+reason)
	c.View.Note("done: %s; %s", reason, c.text())
	c.View.Note("%s", c.Totals.byOperator())
	c.View.Note("%s", c.growth())
	c.View.Note("%s", c.notFetched())
	c.View.Note("%s", c.unreadPDF())
	if reason == EndEmpty {
		n, err := c.linksOutside()
		if err != nil {
			return err
		}
		c.View.Note("%s", outsideText(n))
	}
	if c.Totals.Last.Unjudged > 0 { // otherwise the stage has been mended
		c.View.Say("%s", c.unjudged(c.Totals.Unjudged))
	}
	if c.Settings.Partition == "" { // a partition sees only part of the addresses
		c.View.Note("hint: %sreport -o FILE.html %s draws the crawl, zstdcat %s prints its pages", c.Prefix, Quote(string(c.Dir)), c.Dir.Path(filepath.Join("generations", "*", "scored.ndjson.zst")))
		unused, err := c.unusedExcludes()
		if err != nil {
			return err
		}
		if len(unused) > 0 {
			c.View.Say("no address was excluded by these rules: %s", showRules(unused))
		}
	}
	if (reason == EndGenerations || reason == EndRelevant) && c.Settings.Partition == "" {
		c.View.Note("%s", c.limitHint())
	}
	if c.Settings.Steady { // its stages log their counts only when they end
		c.warnGuessedThreshold()
	}
	left, newest := c.capturesLeft()
	if left > 0 {
		c.View.Say("%d finished captures were not handed over: %s tells why, and the same command tries again when the crawl is resumed", left, c.Dir.Path(StagesLog))
	}
	if newest != "" {
		c.View.Note("the newest capture %s stays, because a resumed crawl appends to it", newest)
	}
	c.writeFinalReport()
	return ErrEnded
}

// endInterrupted ends the crawl after a signal. The error has the exit status of the cause.
func (c *Crawl) endInterrupted(cause error) error {
	status := statusTerminated
	if s, ok := errors.AsType[interface {
		error
		ExitStatus() int
	}](cause); ok {
		status = s.ExitStatus()
	}
	if f, ok := errors.AsType[*Fault](cause); ok {
		status = f.Status
	}
	if err := c.Dir.writeReason(EndInterrupted); err != nil {
		return err
	}
	c.View.Final(c, EndInterrupted)
	c.View.Clear()
	c.View.Note("%s", c.notFetched())
	c.writeFinalReport()
	return faultf(status, "interrupted after %s: the same command resumes the crawl", plural(c.Totals.Fetched, "page"))
}
