package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/frontier"
	"spoor/internal/wire"
)

// This file is the loop of an endless crawl: what comes in is the end of the
// pipeline, what goes out its beginning.
//
// Three goroutines: one reads records, whatever happens; one writes addresses; and the
// one that has the store takes what was read into its log at once, and never waits
// for the writer. So two full pipes cannot wait for each other: what the pipeline holds
// up is a window at most, which is bounded by -n, and everything else is on disk.

// A server is frontier serve at work.
type server struct {
	*command
	s     *frontier.Store
	q     frontier.Request
	tally *filter.Tally

	window  int // that is out, or to be handed out next
	phase   phase
	from    int       // the window that the greeting names
	greeted bool      // the mark that was sent ahead has come back
	due     time.Time // when to ask the store again
	heard   time.Time // when something last came in or went out
	begun   time.Time // of the window
	asked   int       // addresses in it
	writing bool      // what went out is being written
	empty   int       // windows without an outcome, one behind the other

	untried bool // the last outcome was none: it was handed back

	out map[string]time.Time // without windows: what has no outcome, and until when that is awaited

	spent int     // what all windows have cost
	sum   summary // of the window
	found []byte  // the queries that were answered in the window, and what they found
	heads []byte  // of these the queries, which stand at the head of the next window
	owed  int     // what heads cost

	end         string // why the crawl ends
	interrupted int    // with this status
	lines       chan []byte
	written     chan error
	summaries   *os.File
	changed     int64
	known       int64
	length      int64 // of the log when it was made shorter
	compaction  *frontier.Compaction
}

// phase is what a server waits for.
type phase int

const (
	awaiting phase = iota // for the mark of the window
	pausing               // until something is due
	ending                // for the end of what comes in
)

// The reasons for which a crawl ends.
const (
	endPages       = "pages"
	endGenerations = "generations"
	endEmpty       = "frontier_empty"
	endNotDue      = "not_due"
	endStopped     = "stop_file"
)

// serving are the flags of serve.
type serving struct {
	marks             bool
	pages             int
	generations       int
	patience, timeout time.Duration
	windows, stop     string
	compactAt         filter.Size
}

// serveFlags gives the flags.
func (c *command) serveFlags() {
	fs := c.flags
	c.handOutFlags()
	c.barFlags()
	fs.BoolVar(&c.marks, "marks", true, "a window ends when its mark comes back; -marks=false: none are sent, and so many addresses as were answered follow")
	fs.DurationVar(&c.lease, "lease", 10*time.Minute, "with -marks=false: how `long` to wait for the outcome of an address before handing it out again")
	fs.IntVar(&c.pages, "pages", 0, "end after so `many` pages, what queries cost counted; with -windows those of earlier runs too; 0 is no limit")
	fs.IntVar(&c.generations, "generations", 0, "end after so `many` windows; 0 is no limit")
	fs.DurationVar(&c.patience, "patience", 10*time.Minute, "how `long` to wait when nothing is due, before ending")
	fs.DurationVar(&c.timeout, "timeout", 10*time.Minute, "how `long` nothing may come back before giving up: a stage holds up the loop")
	c.compactAt = 64 << 20
	fs.Var(&c.compactAt, "compact", "make the log shorter once it has doubled, and grown by so many `bytes` (KiB, MiB)")
	fs.StringVar(&c.stop, "stop", "", "end after the window if this `file` is there")
	fs.StringVar(&c.windows, "windows", "", "write what each window G was to `DIR`/G/stats.json, as add -summary, and begin with the first that has none")
	fs.StringVar(&c.summary, "summary", "", "append to `file` what add -summary tells, a line a window, and the reason for the end")
	fs.BoolVar(&c.strict, "strict", false, "a line that is no record ends the command with status 1")
	fs.Var(&c.limit, "limit", "longest line accepted, in `bytes` (KiB, MiB)")
}

func (c *command) serve() (err error) {
	switch {
	case c.n < 1:
		return filter.Usagef("how many addresses has a window? -n N, from 1")
	case c.pages < 0 || c.generations < 0 || c.patience < 0 || c.timeout <= 0:
		return filter.Usagef("-pages, -generations and -patience must not be negative, and -timeout must be positive")
	case !c.marks && (c.windows != "" || c.generations > 0):
		return filter.Usagef("-windows and -generations count windows, of which there are none with -marks=false")
	}
	q, err := c.request()
	if err != nil {
		return err
	}
	signals, stop := interrupts()
	defer stop()
	// That the reader of stdout went away is an error of the write: what still comes in
	// is to be kept.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	v := &server{command: c, q: q, tally: filter.NewTally(c.logger), lines: make(chan []byte, 1), written: make(chan error, 1)}
	if err := v.resume(); err != nil {
		return err
	}
	if c.summary != "" {
		if v.summaries, err = os.OpenFile(c.summary, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, v.summaries.Close()) }()
	}
	o := c.options()
	o.ExcludeTraps = c.traps
	if v.s, err = c.open(o); err != nil {
		return err
	}
	if v.window == 0 && c.marks {
		if err := v.follow(); err != nil {
			return c.close(v.s, err)
		}
	}
	v.length = v.s.Compacted()
	go v.write()
	err = c.close(v.s, v.loop(signals))
	v.tally.Close(slog.Int("window", v.window), slog.Int64("changed", v.changed), slog.Int64("known", v.known), slog.String("end", v.end))
	if err == nil && v.interrupted != 0 {
		return filter.Exit(v.interrupted, errors.New("interrupted: what came in until now is in the store\nhint: run the same command again to go on"))
	}
	return err
}

// resume finds the first window that is not done, by the summaries in -windows.
func (v *server) resume() error {
	if v.windows == "" {
		return nil
	}
	for v.window = 1; ; v.window++ {
		b, err := os.ReadFile(v.file(v.window, "stats.json"))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		var sum summary
		if err == nil {
			err = json.Unmarshal(b, &sum)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.file(v.window, "stats.json"), err)
		}
		v.spent += sum.Cost
	}
	b, err := os.ReadFile(v.file(v.window-1, "found.ndjson"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r := wire.NewReader(bytes.NewReader(b), wire.Address)
	var rec wire.Record
	for r.Read(&rec) == nil {
		if err := v.charge(&rec); err != nil {
			return err
		}
	}
	v.found = nil
	return nil
}

// follow finds the window behind the last one that is done, by the store. What was
// handed out since then and has not come back is handed out again.
func (v *server) follow() error {
	stats, err := v.s.Stats(time.Now())
	if err != nil {
		return err
	}
	b, err := os.ReadFile(v.lastDone())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	done := 0
	r := wire.NewReader(bytes.NewReader(b), wire.Address)
	var rec wire.Record
	for r.Read(&rec) == nil {
		if rec.IsMark() {
			done = rec.Generation
		} else if err := v.charge(&rec); err != nil {
			return err
		}
	}
	v.window = max(1, stats.LastGeneration, done+1)
	if v.found = nil; done == 0 || done < v.window-1 {
		v.heads, v.owed = nil, 0
	}
	return nil
}

// lastDone is the file of the store that says, where there are no -windows, which
// window was the last that is done: the queries for the head of the next one, and behind
// them its mark.
func (v *server) lastDone() string { return filepath.Join(v.store, "window") }

// leaveDone writes that file.
func (v *server) leaveDone() error {
	if v.windows != "" {
		return nil
	}
	return atomicfile.Write(v.lastDone(), func(w io.Writer) error {
		b := bytes.NewBuffer(bytes.Clone(v.heads))
		if err := appendMark(b, v.window); err != nil {
			return err
		}
		_, err := w.Write(b.Bytes())
		return err
	})
}

// file is a file of a window.
func (v *server) file(window int, name string) string {
	return filter.WindowFile(v.windows, window, name)
}

// charge keeps a query that was answered for the head of the next window, which pays
// for it, and what it found beside it.
func (v *server) charge(rec *wire.Record) error {
	query := rec.URL == "" && rec.Cost > 0
	if !query && (rec.Operator != "search" || rec.Query == "") {
		return nil
	}
	var line bytes.Buffer
	w := wire.NewWriter(&line)
	if err := cmp.Or(w.Write(rec), w.Flush()); err != nil {
		return err
	}
	v.found = append(v.found, line.Bytes()...)
	if query {
		v.heads = append(v.heads, line.Bytes()...)
		v.owed += rec.Cost
	}
	return nil
}

// write gives the windows to stdout, which it closes when there are no more.
func (v *server) write() {
	var err error
	for lines := range v.lines {
		if err == nil {
			_, err = v.stdout.Write(lines)
			v.written <- err
		}
	}
	if out, ok := v.stdout.(io.Closer); ok && err == nil {
		out.Close()
	}
}

// A parcel is some records that were read together.
type parcel struct {
	recs [parcelLength]wire.Record
	n    int
	err  error // what came behind them
}

const parcelLength = 64

// read reads until the end, as long as there are parcels to read into.
func (v *server) read(free, full chan *parcel) {
	r := wire.NewReader(v.stdin, frontier.Sections)
	r.Limit = int(v.limit)
	for p := range free {
		for p.n, p.err = 0, nil; p.n < parcelLength; {
			p.err = r.Read(&p.recs[p.n])
			if bad, ok := errors.AsType[*wire.SyntaxError](p.err); ok && !v.strict {
				v.tally.Bad(bad)
				p.err = nil
				continue
			}
			if p.err != nil {
				break
			}
			p.n++
			if !r.Buffered() {
				break
			}
		}
		full <- p
		if p.err != nil {
			return
		}
	}
}

// loop is the crawl: it takes in what comes, and at every mark decides what goes out.
func (v *server) loop(signals <-chan os.Signal) error {
	defer func() {
		if v.phase != ending {
			close(v.lines)
		}
	}()
	const parcels = 4
	free, full := make(chan *parcel, parcels), make(chan *parcel, parcels)
	for range parcels {
		free <- new(parcel)
	}
	go v.read(free, full)

	next := v.handOut
	if v.from = v.window - 1; !v.marks {
		v.out, next = map[string]time.Time{}, v.topUp
		v.phase = pausing
	}
	if err := next(); err != nil {
		return err
	}
	v.heard = time.Now()
	warned := time.Duration(0)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case p := <-full:
			v.heard, warned = time.Now(), 0
			for i := range p.n {
				if err := v.take(&p.recs[i]); err != nil {
					return err
				}
			}
			if errors.Is(p.err, io.EOF) {
				return v.over()
			} else if p.err != nil {
				return fmt.Errorf("reading records: %w", p.err)
			}
			free <- p
			if !v.marks {
				if err := next(); err != nil {
					return err
				}
			}
		case err := <-v.written:
			v.writing = false
			if err != nil && v.phase != ending {
				v.logger.Warn("nobody reads the addresses any more: a stage has ended", "err", err)
				v.finish("")
			}
		case sig := <-signals:
			switch {
			case v.interrupted != 0:
			case sig == syscall.SIGTERM:
				v.interrupted = filter.StatusTerminated
			default:
				v.interrupted = filter.StatusInterrupted
			}
			if v.phase == pausing {
				v.finish("")
			}
		case <-tick.C:
			if v.phase == pausing {
				if err := next(); err != nil {
					return err
				}
				if v.phase == pausing && len(v.out) == 0 {
					continue // nothing is to come back
				}
			}
			silence := time.Since(v.heard)
			if silence > v.timeout {
				return fmt.Errorf("nothing has come back for %v\n%s", silence.Round(time.Second), v.silenceHint())
			}
			if silence > max(time.Minute, 2*warned) {
				warned = silence
				v.logger.Warn("nothing has come back for a while", "seconds", int(silence.Seconds()), "window", v.window)
			}
		}
	}
}

// silenceHint is what may be the matter when nothing comes back.
func (v *server) silenceHint() string {
	return "hint: a stage that keeps what it reads to itself holds up the loop: jq --unbuffered, sed -u, grep --line-buffered, awk with fflush(); one that leaves out queries keeps the marks: let lines without a url pass, or use -marks=false; evolve needs -window"
}

// take takes in a record.
func (v *server) take(rec *wire.Record) error {
	if rec.IsMark() {
		return v.mark(rec.Generation)
	}
	v.tally.Count()
	if v.marks && !v.greeted && rec.IsOutcome() {
		return errors.New("a page came back before the mark that was sent ahead of it: a stage keeps marks, or changes the order\nhint: let lines without a url pass, in their order, as fetch, parse, score and evolve -window do; or use -marks=false")
	}
	if rec.IsOutcome() {
		v.untried = rec.Error == wire.ErrorBudget
	}
	if v.marks {
		v.sum.count(rec)
	} else if rec.IsOutcome() && !rec.Free() {
		v.spent++
	} else if rec.URL == "" {
		v.spent += rec.Cost
	}
	delete(v.out, rec.URL)
	if v.marks && rec.Generation > v.window {
		if err := v.charge(rec); err != nil {
			return err
		}
	}
	verdict, err := v.s.Add(rec)
	switch verdict {
	case frontier.Changed:
		v.changed++
	case frontier.Known:
		v.known++
	case frontier.Query:
		v.tally.Skip("query")
	case frontier.Failed:
		return err
	default:
		if err != nil {
			v.tally.Refuse(rec.URL, err)
		}
	}
	return nil
}

// mark ends the window, if it is its mark.
func (v *server) mark(window int) error {
	switch {
	case !v.greeted && window == v.from:
		v.greeted = true
		return nil
	case v.phase != awaiting || window != v.window:
		v.logger.Warn("passed over a mark of another window", "mark", window, "window", v.window)
		return nil
	}
	if err := v.s.Commit(); err != nil {
		return err
	}
	if v.sum.Outcomes == 0 && v.asked > 0 {
		return fmt.Errorf("window %d: %d addresses went out, and their mark came back without a record\nhint: which stage loses them?", v.window, v.asked)
	}
	if err := v.report(); err != nil {
		return err
	}
	if err := v.leaveDone(); err != nil {
		return err
	}
	v.spent += v.sum.Cost
	if v.sum.Outcomes > 0 {
		v.empty = 0
	} else if v.empty++; v.empty > 1 || v.sum.Addresses == 0 {
		v.window++
		return v.finish(endEmpty)
	}
	v.window++
	return v.handOut()
}

// report writes what the window was.
func (v *server) report() error {
	if v.windows == "" && v.summaries == nil {
		return nil
	}
	stats, err := v.s.Stats(time.Now())
	if err != nil {
		return err
	}
	v.sum.store(stats)
	b, err := json.Marshal(struct {
		*summary
		Seconds json.RawMessage `json:"seconds"`
	}{&v.sum, fmt.Appendf(nil, "%.6f", time.Since(v.begun).Seconds())})
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if v.windows != "" {
		if err := os.MkdirAll(v.file(v.window, ""), 0o777); err != nil {
			return err
		}
		if len(v.found) > 0 {
			if err := v.keep("found.ndjson", v.found); err != nil {
				return err
			}
		}
		if err := v.keep("stats.json", b); err != nil {
			return err
		}
	}
	return v.say(b)
}

func (v *server) keep(name string, b []byte) error {
	return atomicfile.Write(v.file(v.window, name), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// say adds a line to -summary.
func (v *server) say(line []byte) error {
	if v.summaries == nil {
		return nil
	}
	_, err := v.summaries.Write(line)
	return err
}

// handOut begins the window: what it is to fetch goes out, and its mark. It ends the
// crawl if there is a reason to, and leaves it pausing if nothing is due.
func (v *server) handOut() error {
	left := v.pages - v.spent
	switch {
	case v.interrupted != 0:
		return v.finish("")
	case v.pages > 0 && left <= 0, v.pages > 0 && left <= v.owed:
		return v.finish(endPages)
	case v.generations > 0 && v.window > v.generations:
		return v.finish(endGenerations)
	case v.stopped():
		return v.finish(endStopped)
	case time.Now().Before(v.due):
		return nil
	}
	n := v.n
	if v.pages > 0 {
		n = min(n, left-v.owed)
	}
	if v.begun.IsZero() || v.phase != pausing {
		v.begun = time.Now()
	}
	lines, err := v.ask(n, v.window)
	if nothing, ok := errors.AsType[*frontier.NothingDue](err); ok {
		if !nothing.Earliest.IsZero() {
			return v.pause(nothing.Earliest)
		}
	} else if err != nil {
		return err
	}
	v.sum = summary{Generation: v.window, Errors: map[string]int{}, Operators: map[string]yield{}}
	var batch bytes.Buffer
	if v.marks && !v.greeted {
		if err := appendMark(&batch, v.from); err != nil {
			return err
		}
	}
	batch.Write(v.heads)
	batch.Write(lines)
	v.asked = bytes.Count(lines, []byte("\n"))
	if v.marks {
		if err := appendMark(&batch, v.window); err != nil {
			return err
		}
	}
	v.heads, v.found, v.owed = nil, nil, 0
	v.phase = awaiting
	v.send(batch.Bytes()) // there is room: the last window has come back
	return v.tidy()
}

// tidy makes the log shorter by a few segments, if it has become much longer since the
// last time, while others have what was sent. That it fails, for want of room, ends no crawl.
func (v *server) tidy() error {
	size, err := v.s.LogSize()
	if err != nil {
		return err
	}
	if v.compaction == nil {
		if size-v.length < max(v.length, int64(v.compactAt)) {
			return nil
		}
		v.compaction = new(frontier.Compaction)
	}
	more, err := v.s.Compact(v.compaction)
	v.heard = time.Now() // nobody has listened
	if err != nil {
		v.logger.Warn("the log was not made shorter", "err", err)
	}
	if err != nil || !more {
		v.compaction = nil
		v.length, err = v.s.LogSize()
		return err
	}
	return nil
}

// ask asks the store for n addresses. It does not look ahead once more where fetch does
// not wait so long: what is handed back at once would go round and round.
func (v *server) ask(n, generation int) ([]byte, error) {
	q := v.q
	q.N, q.Generation, q.Now = n, generation, time.Now()
	if v.untried {
		q.Horizon = 0
	}
	return v.s.Next(q)
}

func (v *server) send(lines []byte) {
	v.writing, v.heard = true, time.Now()
	v.lines <- lines
}

// topUp hands out as many addresses as have been answered, or given up, since it did
// last: that is the loop without windows.
func (v *server) topUp() error {
	now := time.Now()
	for url, until := range v.out {
		if now.After(until) {
			delete(v.out, url)
		}
	}
	n := v.n - len(v.out)
	if v.pages > 0 {
		n = min(n, v.pages-v.spent-len(v.out))
	}
	switch {
	case v.phase == ending:
		return nil
	case v.pages > 0 && v.spent >= v.pages:
		return v.finish(endPages)
	case v.stopped():
		return v.finish(endStopped)
	case n <= 0 || v.writing || now.Before(v.due):
		return nil
	}
	lines, err := v.ask(n, -1)
	if nothing, ok := errors.AsType[*frontier.NothingDue](err); ok {
		switch {
		case len(v.out) > 0:
		case !nothing.Earliest.IsZero():
			return v.pause(nothing.Earliest)
		case now.Sub(v.heard) > v.patience:
			return v.finish(endEmpty)
		}
		v.due = now.Add(100 * time.Millisecond) // more may come in
		return nil
	} else if err != nil {
		return err
	}
	r := wire.NewReader(bytes.NewReader(lines), wire.Address)
	var rec wire.Record
	for r.Read(&rec) == nil {
		v.out[strings.Clone(rec.URL)] = now.Add(v.lease)
	}
	v.send(bytes.Clone(lines)) // they belong to the store
	return v.tidy()
}

func appendMark(b *bytes.Buffer, window int) error {
	var rec wire.Record
	rec.SetMark(window)
	w := wire.NewWriter(b)
	return cmp.Or(w.Write(&rec), w.Flush())
}

// pause waits until something is due, or ends the crawl if that is too long.
func (v *server) pause(until time.Time) error {
	if time.Until(until) > v.patience {
		return v.finish(endNotDue)
	}
	if v.phase != pausing || !until.Equal(v.due) {
		v.logger.Info("nothing is due yet", "until", until.UTC().Format(time.RFC3339))
		if err := v.say(fmt.Appendf(nil, "{\"waiting_until\":%q}\n", until.UTC().Format(time.RFC3339))); err != nil {
			return err
		}
	}
	v.phase, v.due = pausing, until
	return nil
}

// stopped tells whether the stop file is there.
func (v *server) stopped() bool {
	if v.stop == "" {
		return false
	}
	_, err := os.Stat(v.stop)
	return err == nil
}

// finish hands out no more: the stages see the end, one behind the other, and what
// they still have is taken in.
func (v *server) finish(reason string) error {
	if v.phase == ending {
		return nil
	}
	v.phase, v.end, v.heard = ending, reason, time.Now()
	close(v.lines)
	if reason == "" {
		return nil
	}
	return v.say(fmt.Appendf(nil, "{\"end\":%q}\n", reason))
}

// over ends the crawl when nothing comes in any more.
func (v *server) over() error {
	if err := v.s.Commit(); err != nil {
		return err
	}
	if v.end == "" && v.interrupted == 0 {
		return fmt.Errorf("the pipeline ended in window %d: a stage has ended\nhint: see what it said; run the same command again to begin the window anew", v.window)
	}
	return nil
}
