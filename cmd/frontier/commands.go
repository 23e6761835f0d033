package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/frontier"
	"spoor/internal/interchange"
	"spoor/internal/run"
	"spoor/internal/wire"
)

// command is one of the commands with its flags.
type command struct {
	name           string
	flags          *flag.FlagSet
	args           []string // without the flags
	stdin          io.Reader
	stdout, stderr io.Writer
	logger         *slog.Logger

	store string
	wait  time.Duration
	log   string

	strict  bool
	limit   filter.Size
	summary string

	now        time.Time
	n          int
	perHost    int
	recrawl    bool
	perNiche   int
	fair       string
	horizon    time.Duration
	generation int
	lease      time.Duration

	repair bool

	format, states string
	selection      frontier.Selection

	serving
	bars
}

func newCommand(sub subcommand, stdin io.Reader, stdout, stderr io.Writer) *command {
	c := &command{name: sub.name, stdin: stdin, stdout: stdout, stderr: stderr, limit: wire.DefaultLimit}
	c.flags = filter.Flags("frontier "+c.name, sub.manual, stderr)
	fs := c.flags
	fs.StringVar(&c.store, "store", "", "the `directory` of the store")
	fs.DurationVar(&c.wait, "wait", 30*time.Second, "maximum `time` to wait for another process to release the store")
	filter.LogFlag(fs, &c.log)
	switch c.name {
	case "reprioritise", "forget":
		fs.BoolVar(&c.strict, "strict", false, "a line that is no record ends the command with status 1")
		fs.Var(&c.limit, "limit", "longest line accepted, in `bytes` (KiB, MiB)")
		if c.name == "forget" {
			c.selectionFlags(fs)
		}
	case "add", "import":
		fs.BoolVar(&c.strict, "strict", false, "a line that is no record ends the command with status 1")
		fs.Var(&c.limit, "limit", "longest line accepted, in `bytes` (KiB, MiB)")
		fs.StringVar(&c.summary, "summary", "", "write to `file`, as one JSON object, counts of the records that were added and of what the store then holds")
		c.barFlags()
		fs.IntVar(&c.generation, "generation", 0, "with -summary: the `number` of the generation of the outcomes; 0: as given in the records")
		if c.name == "import" {
			c.interchangeFlags()
		}
	case "next":
		c.leaseFlags()
		fs.IntVar(&c.generation, "generation", -1, "lease the addresses for the generation with this `number`, from 0 and ascending, which is written to their records; without it their generation is not changed")
		fs.DurationVar(&c.lease, "lease", 10*time.Minute, "without -generation: `time` after which an address without an outcome is leased again")
	case "export":
		c.interchangeFlags()
	case "serve":
		c.serveFlags()
	case "check":
		fs.BoolVar(&c.repair, "repair", false, "remove damaged places from the log, and keep their bytes in separate files")
	}
	switch c.name {
	case "next", "stats", "skipped", "export", "lineage":
		fs.Func("now", "use this `time` (RFC 3339) in place of the current time, to decide what is due and which leases have ended", func(v string) (err error) {
			c.now, err = time.Parse(time.RFC3339, v)
			return err
		})
	}
	return c
}

// leaseFlags defines the flags that select addresses to lease.
func (c *command) leaseFlags() {
	fs := c.flags
	fs.IntVar(&c.n, "n", 0, "lease at most `n` addresses; required")
	fs.IntVar(&c.perHost, "per-host", 0, "lease at most `n` addresses of one host (and port) at a time; 0 is no limit")
	fs.IntVar(&c.perNiche, "per-niche", 0, "lease at most `n` addresses of one niche at a time; an address without a niche is in the niche of its host; 0 is no limit")
	fs.IntVar(&c.maxPerHost, "max-per-host", 0, "lease at most `n` addresses of one host in the whole crawl, and exclude further ones (host_budget in frontier skipped); 0 is no limit")
	fs.IntVar(&c.maxPerNiche, "max-per-niche", 0, "lease at most `n` addresses of one niche in the whole crawl, and exclude further ones (niche_budget); 0 is no limit")
	fs.StringVar(&c.fair, "fair", "", "share the batch among hosts (`host`) or niches (niche), in proportion to the priorities of their addresses; without it only the priority decides")
	fs.BoolVar(&c.recrawl, "recrawl", false, "also lease visited pages that are due again, which depends on how often they change")
	fs.DurationVar(&c.horizon, "horizon", 0, "also lease addresses that become due within this `time`; fetch waits for their not_before")
}

// run parses the flags and calls do.
func (c *command) run(args []string, do func(*command) error) error {
	var err error
	if c.args, err = filter.ParseMixed(c.flags, args); err != nil {
		return err
	}
	if c.store == "" {
		return filter.Usagef("which store? -store DIR")
	}
	if len(c.args) > 0 && (c.name == "next" || c.name == "serve" || c.name == "skipped" || c.name == "stats" || c.name == "export" || c.name == "check" || c.name == "compact") {
		return filter.Usagef("%s takes no arguments, but got %q", c.name, c.args[0])
	}
	c.logger = filter.Logger(c.stderr, "frontier "+c.name, c.log)
	if c.now.IsZero() {
		c.now = time.Now()
	}
	return do(c)
}

func (c *command) options() frontier.Options {
	return frontier.Options{Wait: c.wait, Holder: fmt.Sprintf("process %d, frontier %s", os.Getpid(), c.name)}
}

// open opens the store and tells what opening found.
func (c *command) open(o frontier.Options) (*frontier.Store, error) {
	s, err := frontier.Open(c.store, o)
	if err != nil {
		return nil, err
	}
	found := s.Opened()
	if found.Snapshot != nil {
		c.logger.Warn("rebuilt the index from the log", "err", found.Snapshot)
	}
	if found.Truncated > 0 && !o.ReadOnly {
		c.logger.Warn("cut off an unfinished write, which was never acknowledged", "bytes", found.Truncated)
	}
	return s, nil
}

// close closes s. That its snapshot could not be written is no failure.
func (c *command) close(s *frontier.Store, err error) error {
	cerr := s.Close()
	if only, ok := errors.AsType[*frontier.SnapshotError](cerr); ok {
		c.logger.Warn("snapshot", "err", only)
		cerr = nil
	}
	if err != nil {
		return err
	}
	return cerr
}

// interruptedAdding is the message of a command that was interrupted while it read records.
const interruptedAdding = "interrupted: what was read until now is in the store\nhint: run the same command again for the rest"

func (c *command) add() (err error) {
	in, err := filter.Open(c.stdin, c.args)
	if err != nil {
		return err
	}
	defer in.Close()
	ctx, stop := filter.NotifyContext(interruptedAdding)
	defer stop()
	// The store is not taken before there is something to add: at the other end
	// of the pipeline it may still be needed for handing out.
	records := bufio.NewReaderSize(&interruptible{ctx: ctx, r: in}, 1<<16)
	r, err := c.reader(records)
	if err != nil {
		return err
	}
	if _, err := records.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	o := c.options()
	o.Create, o.ExcludeTraps = true, c.traps
	s, err := c.open(o)
	if err != nil {
		return err
	}

	tally := filter.NewTally(c.logger)
	var changed, known, queries int64
	sum := run.NewSummary(c.generation)
	malformed := tally.Bad
	if c.strict {
		malformed = nil
	}
	err = s.AddFrom(r, func(rec *wire.Record, verdict frontier.Verdict, err error) {
		tally.In++
		sum.Count(rec)
		switch verdict {
		case frontier.Changed:
			changed++
		case frontier.Known:
			known++
		case frontier.Query:
			queries++
		case frontier.Refused:
			tally.Refuse(rec.URL, err)
		}
	}, malformed)
	ended := err == nil
	if err == nil {
		err = s.Commit()
	}
	if err == nil && c.summary != "" {
		var stats frontier.Stats
		if stats, err = s.Stats(c.now); err == nil {
			err = writeSummary(c.summary, sum, stats)
		}
	}
	err = c.close(s, err)
	if queries > 0 {
		tally.Skipped["query"] = queries // they are for search
	}
	notes := []slog.Attr{slog.Int64("changed", changed), slog.Int64("known", known)}
	if n := s.Shortened(); n > 0 {
		notes = append(notes, slog.Int("shortened", n))
	}
	if other, ok := r.(*interchange.Reader); ok && ended && other.Passed > 0 {
		notes = append(notes, slog.Int64("passed", other.Passed)) // they are about no address
	}
	if n := s.Excluded(); n > 0 {
		notes = append(notes, slog.Int("barred", n))
	}
	tally.Close(notes...)
	if err == nil {
		err = tally.Misfit()
	}
	return err
}

// writeSummary writes a summary, with the counts of the store, as one line.
func writeSummary(name string, sum *run.Summary, store frontier.Stats) error {
	sum.SetStore(store)
	line, err := sum.Line()
	if err != nil {
		return err
	}
	return os.WriteFile(name, line, 0o666)
}

func (c *command) next() error {
	switch {
	case c.n < 1:
		return filter.Usagef("how many? -n N, from 1")
	case c.generation < -1:
		return filter.Usagef("-generation must not be negative")
	}
	q, err := c.request()
	if err != nil {
		return err
	}
	s, err := c.open(c.options())
	if err != nil {
		return err
	}
	lines, err := s.Next(q)
	lines = bytes.Clone(lines) // they belong to the store
	if n := s.Excluded(); n > 0 {
		c.logger.Info("barred what is beyond a budget; frontier skipped lists it", "urls", n)
	}
	err = c.close(s, err) // so that the end of the pipeline can have it
	if _, ok := errors.AsType[*frontier.NothingDue](err); ok {
		return filter.Exit(filter.StatusNothingDue, err)
	}
	if err != nil {
		return err
	}
	if _, err = c.stdout.Write(lines); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	return nil
}

// request is what the flags ask for.
func (c *command) request() (frontier.Request, error) {
	if c.perHost < 0 || c.perNiche < 0 || c.maxPerHost < 0 || c.maxPerNiche < 0 || c.horizon < 0 || c.lease <= 0 {
		return frontier.Request{}, filter.Usagef("limits of hosts and niches and -horizon must not be negative, and -lease must be positive")
	}
	q := frontier.Request{N: c.n, PerHost: c.perHost, PerNiche: c.perNiche, MaxPerHost: c.maxPerHost, MaxPerNiche: c.maxPerNiche, Recrawl: c.recrawl, Horizon: c.horizon, Generation: c.generation, Lease: c.lease, Now: c.now}
	switch c.fair {
	case "":
	case "host":
		q.Fair = frontier.ByHost
	case "niche":
		q.Fair = frontier.ByNiche
	default:
		return q, filter.Usagef("-fair %s: a batch is shared by host or by niche", c.fair)
	}
	return q, nil
}

// read runs f on the store, which is opened for reading only.
func (c *command) read(f func(*frontier.Store, *bufio.Writer) error) error {
	o := c.options()
	o.ReadOnly = true
	s, err := c.open(o)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(c.stdout, 1<<16)
	err = f(s, w)
	if err == nil {
		err = w.Flush()
	}
	return c.close(s, err)
}

func (c *command) stats() error {
	return c.read(func(s *frontier.Store, w *bufio.Writer) error {
		st, err := s.Stats(c.now)
		if err != nil {
			return err
		}
		return json.NewEncoder(w).Encode(st)
	})
}

func (c *command) skipped() error {
	return c.read(func(s *frontier.Store, w *bufio.Writer) error { return s.Skipped(w, c.now) })
}

func (c *command) lineage() error {
	if len(c.args) != 1 {
		return filter.Usagef("lineage of which URL? frontier lineage -store DIR URL")
	}
	return c.read(func(s *frontier.Store, w *bufio.Writer) error { return s.Lineage(w, c.args[0], c.now) })
}

func (c *command) compact() error {
	o := c.options()
	o.Yield = true
	s, err := c.open(o)
	if err != nil {
		return err
	}
	var done frontier.Compaction
	for more := true; more && err == nil; {
		more, err = s.Compact(&done)
	}
	if err = c.close(s, err); err != nil {
		return err
	}
	return json.NewEncoder(c.stdout).Encode(done)
}

func (c *command) check() error {
	found, err := frontier.Check(c.store, c.options(), c.repair)
	if found != nil {
		if err := json.NewEncoder(c.stdout).Encode(found); err != nil {
			return err
		}
	}
	if only, ok := errors.AsType[*frontier.SnapshotError](err); ok {
		c.logger.Warn("snapshot", "err", only)
		err = nil
	}
	if err != nil || !found.Wrong() {
		return err
	}
	if found.Index != "" {
		return fmt.Errorf("%s\nhint: the index was rebuilt from the log; the store is whole again", found.Index)
	}
	return found.Damaged[0]
}
