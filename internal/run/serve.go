package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/frontier"
	"spoor/internal/wire"
)

// A Server is the loop of a steady crawl. It adds the output of the last stage to the store,
// and writes the addresses to fetch next to the first stage.
//
// One goroutine reads records, another writes addresses, and a third, which owns the store,
// adds records as soon as they are read and never waits for the writer. So two full pipes
// cannot deadlock: the pipeline holds at most one window, which is bounded by N, and
// everything else is on disk.
type Server struct {
	Store         string           // the directory of the store
	Options       frontier.Options // how to open it
	Request       frontier.Request // how to lease the N addresses of a window
	In            io.Reader
	Out           io.Writer     // closed at the end if it is an io.Closer
	Limit         int           // maximum length of a line, in bytes
	Strict        bool          // a line that is not a record ends the loop
	Windows       string        // the directory of the generations; "" if summaries are not kept
	Done          *Totals       // of the committed generations in Windows; nil: read all their summaries
	Stop          string        // a file that ends the loop; "" if there is none
	Exact         bool          // fail if the number of outcomes differs from the number of addresses sent
	Exchange      bool          // returning marks say how many addresses to lease and when to end, see package exchange
	Pages         int           // maximum number of fetches; 0 is no limit
	MaxWindows    int           // 0 is no limit
	Relevant      int           // end when so many outcomes are relevant; 0 is no limit
	Keep          int           // number of visited pages from which only visited pages are leased; 0 is no limit
	Patience      time.Duration // how long to wait when nothing is due
	Timeout       time.Duration // fail if no record comes back for this long
	Strategy      string        // the summaries count the estimates of this strategy
	EndWithParent bool          // end when the parent process has ended
	CompactAt     int64         // bytes by which the log must have grown before it is compacted

	Log       Log
	Tally     Tally
	Committed func(*Summary) error      // called after every window
	Progress  func(*Summary, int)       // called every drawEvery during a window and at its first and last outcome, with the number of its addresses; may be nil
	Waiting   func(time.Time) error     // called with the time when the next address is due, if none is due now
	Begin     func(window int) error    // called before the addresses of a window are written; may be nil
	Size      func(fetched int) int     // returns the number of addresses to lease after so many fetches; may be nil: Request.N
	Most      func() int                // returns the maximum number of addresses that may be leased now; may be nil
	Day       func(time.Time) string    // returns the day to store in the summary; may be nil
	Ended     func(reason string) error // called once, with the reason for the end
}

// SummarizeTo makes the server write to w, as one JSON object per line, the summary of each window,
// the time until which the server waits, and the reason for the end.
func (o *Server) SummarizeTo(w io.Writer) {
	o.Committed = func(sum *Summary) error {
		line, err := sum.Line()
		if err != nil {
			return err
		}
		_, err = w.Write(line)
		return err
	}
	o.Waiting = func(until time.Time) error {
		_, err := fmt.Fprintf(w, "{\"waiting_until\":%q}\n", until.UTC().Format(time.RFC3339))
		return err
	}
	o.Ended = func(reason string) error {
		_, err := fmt.Fprintf(w, "{\"end\":%q}\n", reason)
		return err
	}
}

// A Tally counts the records that a command reads.
type Tally interface {
	Count()
	Skip(reason string)
	Bad(*wire.SyntaxError)
	Refuse(url string, err error)
}

// Served describes what a server has done.
type Served struct {
	Window         int // the last window, or the one that was not finished
	Changed, Known int64
	End            string // the reason for the end, "" if it was interrupted
}

type server struct {
	*Server
	s *frontier.Store

	window        int // number of the current window, or of the next one
	phase         phase
	from          int           // window of the mark that is sent before the first window
	firstMarkSeen bool          // whether that mark has come back
	due           time.Time     // when to try to lease again
	idle          time.Duration // since the last input or output; the time in which this process was stopped (SIGSTOP) does not count
	begun         time.Time     // start of the window
	shown         int           // outcomes in the window when its progress was last shown
	asked         int           // number of addresses in the window
	visited       int           // number of visited pages in the store, if Keep is set
	empty         int           // consecutive windows without an outcome

	untried bool // fetch returned the last address without trying it

	spent       int       // cost of all windows
	relevant    int       // relevant outcomes of all windows
	sum         *Summary  // summary of the window
	found       []byte    // the answered queries of the window and their results
	paidQueries []byte    // answered queries whose cost is charged to the next window; sent before its addresses
	n           int       // with Exchange: addresses to lease in the window
	endReason   string    // with Exchange: why the crawl ends before the window; "" if it does not
	nextDue     time.Time // with Exchange: when to lease, if no partition has an address that is due
	queryCost   int       // the cost of paidQueries

	interrupted error
	lines       chan []byte
	closed      bool // no more lines are written
	written     chan error
	length      int64 // length of the log after the last compaction
	compaction  *frontier.Compaction
	served      Served
}

// Serve runs the loop until the crawl ends or ctx is cancelled. When ctx is cancelled, it
// finishes the window in the pipeline and returns the cause.
func (o *Server) Serve(ctx context.Context) (*Served, error) {
	v := &server{Server: o, lines: make(chan []byte, 1), written: make(chan error, 1)}
	if !v.Exchange {
		if err := v.resume(); err != nil {
			return &v.served, err
		}
	}
	var err error
	if v.s, err = frontier.Open(o.Store, o.Options); err != nil {
		return &v.served, err
	}
	if v.window == 0 {
		if err := v.resumeFromStore(); err != nil {
			return &v.served, v.closeStore(err)
		}
	}
	v.length = v.s.Compacted()
	go v.write()
	err = v.closeStore(v.loop(ctx))
	v.served.Window = v.window
	if err == nil {
		err = v.interrupted
	}
	return &v.served, err
}

// closeStore closes the store after the loop ended with err.
func (v *server) closeStore(err error) error {
	if v.s == nil {
		return err
	}
	cerr := v.s.Close()
	if snapshot, ok := errors.AsType[*frontier.SnapshotError](cerr); ok {
		v.Log.Warn("snapshot", "err", snapshot)
		cerr = nil
	}
	return cmp.Or(err, cerr)
}

// yieldPatience is how long the server waits for a process to which it has left the store.
const yieldPatience = 10 * time.Minute

// yield leaves the store to another process that waits for it, if there is one: a command that reads
// the frontier of a running crawl, or adds to it. If ctx is cancelled while the other process has the
// store, the error is the cause.
func (v *server) yield(ctx context.Context) error {
	if v.Exchange || ctx.Err() != nil || !frontier.IsAwaited(v.Store) {
		return nil
	}
	err := v.closeStore(nil)
	if v.s = nil; err != nil {
		return err
	}
	o := v.Options // without Yield: only this method leaves the store to others, compaction does not
	o.Wait = time.Second
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		late := time.Since(begun) > yieldPatience
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !late && frontier.IsAwaited(v.Store): // others first
			continue
		}
		s, err := frontier.Open(v.Store, o)
		if err == nil {
			v.s = s
			break
		}
		if _, locked := errors.AsType[*frontier.Locked](err); !locked || late {
			return err
		}
	}
	v.compaction, v.length, v.idle = nil, v.s.Compacted(), 0
	return nil
}

// phase is what a server waits for.
type phase int

const (
	awaiting phase = iota // the mark of the window
	pausing               // an address to become due
	ending                // the end of the input
)

// resume finds the first window that is not committed.
func (v *server) resume() error {
	if v.Windows == "" {
		return nil
	}
	if v.Done != nil {
		v.window, v.spent, v.relevant, v.visited = v.Done.Generation+1, v.Done.Fetched, v.Done.Relevant, v.Done.Last.Visited
	} else if err := v.readSummaries(); err != nil {
		return err
	}
	_, err := v.readCharges(File(v.Windows, v.window-1, Found))
	return err
}

// readSummaries finds the first window that is not committed, by the summaries in Windows.
func (v *server) readSummaries() error {
	for v.window = 1; ; v.window++ {
		name := File(v.Windows, v.window, Stats)
		b, err := readSmall(name)
		if b == nil || err != nil {
			return err
		}
		var sum Summary
		if err := json.Unmarshal(b, &sum); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		v.spent += sum.Cost
		v.relevant += sum.Relevant
		v.visited = sum.Visited
	}
}

// readCharges reads from a file, if it exists, the queries whose cost is charged to the next window.
// It returns the window of the last mark in the file, 0 if there is none.
func (v *server) readCharges(name string) (window int, err error) {
	b, err := readSmall(name)
	if err != nil {
		return 0, err
	}
	r := wire.NewReader(bytes.NewReader(b), wire.Address)
	var rec wire.Record
	for r.Read(&rec) == nil {
		if rec.IsMark() {
			window = rec.Generation
		} else if err := v.charge(&rec); err != nil {
			return 0, err
		}
	}
	v.found = nil
	return window, nil
}

// resumeFromStore finds the window after the last committed one in the store, if no summaries
// are kept. Addresses that were leased since then and have no outcome are leased again.
func (v *server) resumeFromStore() error {
	stats, err := v.s.Stats(time.Now())
	if err != nil {
		return err
	}
	done, err := v.readCharges(v.lastWindow())
	if err != nil {
		return err
	}
	v.window = max(1, stats.LastGeneration, done+1)
	if done == 0 || done < v.window-1 {
		v.paidQueries, v.queryCost = nil, 0
	}
	return nil
}

// lastWindow returns the name of the file that identifies the last committed window if no
// summaries are kept. The file holds the queries whose cost is charged to the next window, and then
// the mark of the last window.
func (v *server) lastWindow() string { return filepath.Join(v.Store, "window") }

// writeLastWindow writes the file lastWindow, if no summaries are kept or Exchange is set.
func (v *server) writeLastWindow() error {
	if v.Windows != "" && !v.Exchange {
		return nil
	}
	b := bytes.NewBuffer(bytes.Clone(v.paidQueries))
	if err := appendMark(b, v.window); err != nil {
		return err
	}
	return atomicfile.WriteBytes(v.lastWindow(), b.Bytes())
}

// charge stores rec if it is an answered query, whose cost is charged to the next window, or a
// result of a query.
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
		v.paidQueries = append(v.paidQueries, line.Bytes()...)
		v.queryCost += rec.Cost
	}
	return nil
}

// write writes the windows in lines to Out until lines is closed, and then closes Out.
func (v *server) write() {
	var err error
	for lines := range v.lines {
		if err == nil {
			_, err = v.Out.Write(lines)
			v.written <- err
		}
	}
	if out, ok := v.Out.(io.Closer); ok && err == nil {
		out.Close()
	}
}

// A recordBatch holds records that were read together.
type recordBatch struct {
	recs [batchLength]wire.Record
	n    int
	err  error // error of the read after these records
}

const batchLength = 64

// read reads records into free batches until the end of the input.
func (v *server) read(free, full chan *recordBatch) {
	r := wire.NewReader(v.In, frontier.Sections)
	r.Limit = v.Limit
	for p := range free {
		for p.n, p.err = 0, nil; p.n < batchLength; {
			p.err = r.Read(&p.recs[p.n])
			if bad, ok := errors.AsType[*wire.SyntaxError](p.err); ok && !v.Strict {
				v.Tally.Bad(bad)
				if p.err = nil; !bad.Outcome {
					continue
				}
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

// loop adds the records of the input to the store, and writes the next window at every mark.
func (v *server) loop(ctx context.Context) error {
	defer v.closeLines()
	const batches = 4
	free, full := make(chan *recordBatch, batches), make(chan *recordBatch, batches)
	for range batches {
		free <- new(recordBatch)
	}
	go v.read(free, full)

	v.from = v.window - 1
	next := v.lease
	if v.Exchange {
		next = v.leaseGiven
	}
	if err := next(); err != nil {
		return err
	}
	v.idle = 0
	parent := os.Getppid()
	warned := time.Duration(0)
	tick := time.NewTicker(drawEvery)
	defer tick.Stop()
	interrupts := ctx.Done()
	for {
		select {
		case p := <-full:
			v.idle, warned = 0, 0
			for i := range p.n {
				if err := v.process(ctx, &p.recs[i]); err != nil {
					return err
				}
			}
			if errors.Is(p.err, io.EOF) {
				return v.endOfInput()
			} else if p.err != nil {
				return p.err
			}
			free <- p
		case err := <-v.written:
			if err != nil && v.phase != ending {
				v.Log.Warn("the addresses are no longer read: a stage has ended", "err", err)
				v.finish("")
			}
		case <-interrupts:
			interrupts = nil
			v.interrupted = context.Cause(ctx)
			switch {
			case v.phase == pausing:
				v.finish("")
			case v.Exchange: // when its input has ended, exchange does not wait for the other partitions
				v.closeLines()
			}
		case <-tick.C:
			if v.interrupted == nil && v.EndWithParent && os.Getppid() != parent {
				v.interrupted = errors.New("the crawl that started this command is gone")
			}
			if v.phase == pausing {
				if err := v.yield(ctx); err != nil {
					return err
				}
				if err := next(); err != nil {
					return err
				}
				if v.phase == pausing {
					continue // no outcome is missing
				}
			}
			if v.phase == awaiting && v.sum != nil && v.sum.Outcomes < v.asked {
				v.showProgress()
			}
			v.idle += drawEvery
			if v.idle > v.Timeout && !v.Exchange { // exchange may wait for other machines for any time
				return fmt.Errorf("nothing has come back for %v\n%s", v.idle.Round(time.Second), silenceHint)
			}
			if v.idle > max(30*time.Second, 2*warned) && !v.Exchange {
				warned = v.idle
				v.Log.Warn("nothing has come back for a while", "seconds", int(v.idle.Seconds()), "window", v.window)
			}
		}
	}
}

// ErrStageEnded is the error of [Server.Serve] if its input ends although the crawl has not.
var ErrStageEnded = errors.New("a stage has ended")

// showProgress shows the window so far, if that has changed.
func (v *server) showProgress() {
	if v.Progress == nil || v.sum.Outcomes == v.shown {
		return
	}
	v.shown = v.sum.Outcomes
	v.sum.Seconds = seconds(time.Since(v.begun).Seconds())
	v.Progress(v.sum, v.asked)
}

const silenceHint = "hint: a stage must not buffer its output (use jq --unbuffered, python3 -u, sed -u, grep --line-buffered, gawk with fflush(), mawk -W interactive), and must pass on lines without a url, which include the marks; evolve needs -window"

// process adds a record of the input to the store, or handles it if it is a mark.
func (v *server) process(ctx context.Context, rec *wire.Record) error {
	if rec.IsMark() {
		if v.Exchange {
			if err := v.readMark(rec); err != nil {
				return err
			}
		}
		return v.mark(ctx, rec.Generation)
	}
	v.Tally.Count()
	if !v.firstMarkSeen && rec.IsOutcome() {
		return errors.New("a page came back before the mark that precedes it: a stage drops marks, or changes the order of lines\nhint: pass on lines without a url in their order, as fetch, parse, score and evolve -window do")
	}
	if rec.IsOutcome() {
		v.untried = rec.Error == wire.ErrorBudget
	}
	v.sum.Count(rec)
	if rec.IsOutcome() && (v.sum.Outcomes == 1 || v.sum.Outcomes == v.asked) {
		v.showProgress()
	}
	if rec.Generation > v.window {
		if err := v.charge(rec); err != nil {
			return err
		}
	}
	verdict, err := v.s.Add(rec)
	switch verdict {
	case frontier.Changed:
		v.served.Changed++
	case frontier.Known:
		v.served.Known++
	case frontier.Query:
		v.Tally.Skip("query")
	case frontier.Failed:
		return err
	default:
		if err != nil {
			v.Tally.Refuse(rec.URL, err)
		}
	}
	return nil
}

// mark commits the window that ends with the mark, and leases the next one.
func (v *server) mark(ctx context.Context, window int) error {
	switch {
	case !v.firstMarkSeen && window == v.from:
		v.firstMarkSeen = true
		if v.Exchange {
			return v.leaseGiven()
		}
		return nil
	case v.phase != awaiting || window != v.window:
		v.Log.Warn("ignored the mark of another window", "mark", window, "window", v.window)
		return nil
	}
	if v.Exact && v.sum.Outcomes != v.asked {
		return fmt.Errorf("window %d: %d addresses went out, and %d pages came back\nhint: %s", v.window, v.asked, v.sum.Outcomes, countHint)
	}
	if err := v.s.Commit(); err != nil {
		return err
	}
	if v.sum.Outcomes == 0 && v.asked > 0 {
		return fmt.Errorf("window %d: %d addresses were written, and their mark came back without a record of them\nhint: find the stage that drops records", v.window, v.asked)
	}
	if err := v.commit(); err != nil {
		return err
	}
	if err := v.writeLastWindow(); err != nil {
		return err
	}
	v.spent += v.sum.Cost
	v.relevant += v.sum.Relevant
	if v.Exchange {
		v.window++
		return v.leaseGiven()
	}
	v.window++
	if err := v.yield(ctx); err != nil {
		return err
	}
	if v.sum.Outcomes > 0 {
		v.empty = 0
		return v.lease()
	}
	v.sum.SetStore(v.s.Counts(time.Now()))
	if v.empty++; exhausted(v.empty, v.sum) {
		return v.finish(EndEmpty)
	}
	return v.lease()
}

// commit writes the summary of the window and the results of its queries.
func (v *server) commit() error {
	if v.Windows == "" && v.Committed == nil {
		return nil
	}
	counts := v.s.Counts(time.Now())
	v.sum.SetStore(counts)
	if v.Keep > 0 {
		v.visited = counts.Visited
		v.sum.Visited = v.visited
	}
	if v.Day != nil {
		v.sum.Day = v.Day(time.Now())
	}
	v.sum.Seconds = seconds(time.Since(v.begun).Seconds())
	if v.Windows != "" {
		if err := v.sum.setGrowth(File(v.Windows, v.window, Topic)); err != nil {
			return err
		}
	}
	line, err := v.sum.Line()
	if err != nil {
		return err
	}
	if v.Windows != "" {
		if err := os.MkdirAll(File(v.Windows, v.window, ""), 0o777); err != nil {
			return err
		}
		if len(v.found) > 0 {
			if err := atomicfile.WriteBytes(File(v.Windows, v.window, Found), v.found); err != nil {
				return err
			}
		}
		if err := atomicfile.WriteBytes(File(v.Windows, v.window, Stats), line); err != nil {
			return err
		}
	}
	if v.Committed == nil {
		return nil
	}
	return v.Committed(v.sum)
}

// lease writes the addresses of the next window and its mark. If there is a reason to end the crawl,
// it ends the crawl instead. If no address is due, it only sets the phase to pausing.
func (v *server) lease() error {
	left := v.Pages - v.spent
	switch {
	case v.interrupted != nil:
		return v.finish("")
	case v.Pages > 0 && left <= v.queryCost:
		return v.finish(EndPages)
	case v.MaxWindows > 0 && v.window > v.MaxWindows:
		return v.finish(EndGenerations)
	case v.Relevant > 0 && v.relevant >= v.Relevant:
		return v.finish(EndRelevant)
	case v.stopped():
		return v.finish(EndStopped)
	case time.Now().Before(v.due):
		return nil
	}
	n := v.Request.N
	if v.Size != nil {
		n = v.Size(v.spent)
	}
	if v.Most != nil {
		if n = min(n, v.Most()); n == 0 {
			v.phase, v.due = pausing, time.Now().Add(spaceInterval)
			return nil
		}
	}
	if v.Pages > 0 {
		n = min(n, left-v.queryCost)
	}
	if v.begun.IsZero() || v.phase != pausing {
		v.begun = time.Now()
	}
	lines, err := v.leaseAddresses(n, v.window)
	if nothing, ok := errors.AsType[*frontier.NothingDue](err); ok {
		if !nothing.Earliest.IsZero() {
			return v.pause(nothing.Earliest)
		}
	} else if err != nil {
		return err
	}
	if v.Pages > 0 { // a window that was interrupted is leased as it was, and the budget may be smaller now
		lines = firstLines(lines, left-v.queryCost)
	}
	if v.Begin != nil {
		if err := v.Begin(v.window); err != nil {
			return err
		}
	}
	v.sum, v.shown = newSummary(v.window, v.Strategy), 0
	var batch bytes.Buffer
	if !v.firstMarkSeen {
		if err := appendMark(&batch, v.from); err != nil {
			return err
		}
	}
	batch.Write(v.paidQueries)
	batch.Write(lines)
	v.asked = bytes.Count(lines, []byte("\n"))
	if err := appendMark(&batch, v.window); err != nil {
		return err
	}
	v.paidQueries, v.found, v.queryCost = nil, nil, 0
	v.phase = awaiting
	v.send(batch.Bytes()) // does not block: the last window has come back
	return v.compactLog()
}

// compactLog compacts a few segments of the log, if the log has doubled since the last compaction,
// while the stages process the window. If compaction fails, for example on a full disk, the crawl
// continues.
func (v *server) compactLog() error {
	size, err := v.s.LogSize()
	if err != nil {
		return err
	}
	if v.compaction == nil {
		if size-v.length < max(v.length, v.CompactAt) {
			return nil
		}
		v.compaction = new(frontier.Compaction)
	}
	more, err := v.s.Compact(v.compaction)
	v.idle = 0 // no input was read meanwhile
	if err != nil {
		v.Log.Warn("the log was not compacted", "err", err)
	}
	if err != nil || !more {
		v.compaction = nil
		v.length, err = v.s.LogSize()
		return err
	}
	return nil
}

// leaseAddresses leases n addresses. It ignores Horizon if fetch has returned the last address because
// it was due too late: otherwise the same addresses would be leased and returned in an endless loop.
func (v *server) leaseAddresses(n, generation int) ([]byte, error) {
	q := v.Request
	q.N, q.Generation, q.Now = n, generation, time.Now()
	q.KnownOnly = v.Keep > 0 && v.visited >= v.Keep
	if v.untried {
		q.Horizon = 0
	}
	return v.s.Next(q)
}

func (v *server) send(lines []byte) {
	v.idle = 0
	v.lines <- lines
}

func appendMark(b *bytes.Buffer, window int) error {
	var rec wire.Record
	rec.SetMark(window)
	w := wire.NewWriter(b)
	return cmp.Or(w.Write(&rec), w.Flush())
}

// pause sets the phase to pausing until an address is due, or ends the crawl if Patience is shorter.
func (v *server) pause(until time.Time) error {
	if time.Until(until) > v.Patience {
		return v.finish(EndNotDue)
	}
	if v.phase != pausing || !until.Equal(v.due) {
		v.Log.Info("nothing is due yet", "until", until.UTC().Format(time.RFC3339))
		if v.Waiting != nil {
			if err := v.Waiting(until); err != nil {
				return err
			}
		}
	}
	v.phase, v.due = pausing, until
	return nil
}

// stopped reports whether the stop file exists.
func (v *server) stopped() bool {
	if v.Stop == "" {
		return false
	}
	_, err := os.Stat(v.Stop)
	return err == nil
}

// finish closes the output, so that the stages end one after the other. Their remaining output is
// still added.
func (v *server) finish(reason string) error {
	if v.phase == ending {
		return nil
	}
	v.phase, v.served.End, v.idle = ending, reason, 0
	v.closeLines()
	if reason == "" || v.Ended == nil {
		return nil
	}
	return v.Ended(reason)
}

// closeLines closes the output, once.
func (v *server) closeLines() {
	if !v.closed {
		v.closed = true
		close(v.lines)
	}
}

func (v *server) endOfInput() error {
	if err := v.s.Commit(); err != nil {
		return err
	}
	if v.served.End == "" && v.interrupted == nil {
		return fmt.Errorf("the pipeline ended in window %d: %w\nhint: see its error message; run the same command again to repeat the window", v.window, ErrStageEnded)
	}
	return nil
}
