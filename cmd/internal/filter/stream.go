package filter

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"spoor/internal/wire"
)

// A Stream is the loop of a filter that writes one record for each record it reads, in the
// same order.
//
// A malformed line is counted and skipped, and the first malformed lines are reported by number; with
// Strict the first ends the command. If the address and the outcome in a line are valid, only the page
// is skipped: the record is a failure ([wire.SyntaxError]). It is an error if all lines are malformed
// and none is a failure. Reading stops at the first error of the stream.
type Stream struct {
	Name           string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Want           wire.Section // the sections that the worker function reads or changes
	Workers        int
	NoBatching     bool // pass each record to the next free worker: for slow work, or work that makes records much longer
	Strict         bool
	Limit          Size   // maximum length of a line in bytes
	Tee            string // a file that gets a copy of the output
	Log            LogOptions

	Notes func() []slog.Attr // further attributes of the closing line; may be nil

	// OnWindowEnd, if not nil, is called with the window of a mark when the first record after
	// the mark has been read. At that time all records before the mark are finished, and processing
	// of later records has not begun.
	OnWindowEnd func(window int) error
}

// Flags defines the flags that all filters share.
func (s *Stream) Flags(fs *flag.FlagSet) {
	s.Limit = wire.DefaultLimit
	fs.IntVar(&s.Workers, "j", runtime.GOMAXPROCS(0), "work on `n` records at a time; the output does not depend on it")
	fs.Lookup("j").DefValue = "one for each processor"
	s.CommonFlags(fs)
}

// CommonFlags defines the flags of every command that reads records.
func (s *Stream) CommonFlags(fs *flag.FlagSet) {
	s.Limit = wire.DefaultLimit
	fs.BoolVar(&s.Strict, "strict", false, "fail with status 1 at a line that is not a record")
	fs.Var(&s.Limit, "limit", "longest line accepted, in `bytes` (KiB, MiB)")
	fs.StringVar(&s.Tee, "tee", "", "write a copy of the output to `file` (.gz and .zst compress)")
	LogFlags(fs, &s.Log)
}

// LogOptions say how a command logs. The zero value is text, with messages of level INFO.
type LogOptions struct{ JSON, Quiet bool }

// LogFlags defines the flags for the log.
func LogFlags(fs *flag.FlagSet, o *LogOptions) {
	fs.Func("log", "log `format`, text or json (default text)", func(s string) error {
		if s != "text" && s != "json" {
			return errors.New("neither text nor json")
		}
		o.JSON = s == "json"
		return nil
	})
	fs.BoolVar(&o.Quiet, "q", false, "log only warnings and errors, not the closing line with the counts")
	fs.BoolVar(&o.Quiet, "quiet", false, "the same as -q")
}

// Logger returns the log of a command, which goes to stderr. Lines in text format have no
// time, so that two runs can be compared.
func Logger(stderr io.Writer, name string, o LogOptions) *slog.Logger {
	options := &slog.HandlerOptions{}
	if o.Quiet {
		options.Level = slog.LevelWarn
	}
	if o.JSON {
		return slog.New(slog.NewJSONHandler(stderr, options)).With("cmd", name)
	}
	options.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return slog.New(slog.NewTextHandler(stderr, options)).With("cmd", name)
}

// A Tally counts records for the closing line of a command.
type Tally struct {
	In, Out  int64
	Skipped  map[string]int64 // number of skipped records by reason
	Started  time.Time
	log      *slog.Logger
	warnings LineWarnings
	mu       sync.Mutex // guards In, Skipped and warnings: one goroutine reads and another writes
}

// NewTally returns a Tally that starts now.
func NewTally(log *slog.Logger) *Tally {
	return &Tally{Skipped: map[string]int64{}, Started: time.Now(), log: log, warnings: LineWarnings{Log: log}}
}

// Count counts a record that was read.
func (t *Tally) Count() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.In++
}

// CountRead counts a record that was read, and its links that were dropped.
func (t *Tally) CountRead(rec *wire.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.In++
	if n := rec.DroppedLinks(); n > 0 {
		t.Skipped["links"] += int64(n)
	}
}

// Skip counts a skipped record without logging it.
func (t *Tally) Skip(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Skipped[reason]++
}

// Bad counts and logs a malformed line. If it is the failed outcome of an address, only the page
// is skipped, and the caller counts the record as read.
func (t *Tally) Bad(bad *wire.SyntaxError) {
	if bad.Outcome {
		t.report("pages", "skipped a page: its record has malformed fields", "line", bad.Line, "err", bad.Err)
		return
	}
	t.report("malformed", "skipped a line that is no record", "line", bad.Line, "err", bad.Err)
}

// Refuse counts and logs a record that was read, and counted in In, but cannot be used.
func (t *Tally) Refuse(url string, err error) {
	const longest = 200 // maximum length of a URL in the log, in bytes
	if len(url) > longest {
		url = url[:longest] + "…"
	}
	t.report("refused", "refused", "url", url, "err", err)
}

func (t *Tally) report(reason, msg string, attrs ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Skipped[reason]++
	t.warnings.Report(msg, attrs...)
}

// lines returns the numbers of valid and of invalid lines.
func (t *Tally) lines() (good, bad int64) {
	refused := t.Skipped["refused"]
	return t.In - refused, t.Skipped["malformed"] + refused
}

// ErrIfNoneValid returns an error if there were lines, but none of them was valid.
func (t *Tally) ErrIfNoneValid() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch good, bad := t.lines(); {
	case good > 0 || bad == 0:
		return nil
	case t.Skipped["refused"] > 0:
		return fmt.Errorf("none of %d lines has a valid address\nhint: an address is an http or https URL, alone on a line or in a record", bad)
	default:
		return fmt.Errorf("none of %d lines is a record\nhint: a record is a JSON object on one line, as fetch and jq -c print it; an archive is read by fetch -archive FILE -all", bad)
	}
}

// Close prints the closing line.
func (t *Tally) Close(more ...slog.Attr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if good, _ := t.lines(); good > 0 { // otherwise the error of ErrIfNoneValid contains the number
		t.warnings.Close()
	}
	attrs := []slog.Attr{slog.Int64("in", t.In), slog.Int64("out", t.Out)}
	for _, reason := range slices.Sorted(maps.Keys(t.Skipped)) {
		attrs = append(attrs, slog.Int64("skipped_"+reason, t.Skipped[reason]))
	}
	attrs = append(attrs, more...)
	attrs = append(attrs, slog.Float64("seconds", float64(time.Since(t.Started).Milliseconds())/1000))
	t.log.LogAttrs(context.Background(), slog.LevelInfo, "done", attrs...)
}

// A batch is a number of records for one worker. Passing a record to a worker takes longer
// than processing a small page, so small records are passed together.
type batch struct {
	recs [batchLength]wire.Record
	n    int // number of records
	good int // number of records that were processed
	done chan error
}

const (
	batchLength = 32
	batchSize   = 128 << 10 // size in bytes at which a batch is full
	// keepRecord is the maximum memory that a record keeps for reuse. It does not apply to the
	// first record of a batch, because a long record is usually alone in its batch.
	keepRecord = 128 << 10
)

// fill reads records until the batch is full, reading would block, or a window ends. If there are no
// more records, it returns io.EOF.
func (b *batch) fill(s *Stream, r *wire.Reader, tally *Tally) (err error) {
	size := 0
	for b.n = 0; b.n < batchLength; {
		if err = s.Read(r, tally, &b.recs[b.n]); err != nil {
			return err
		}
		size += b.recs[b.n].Size()
		b.n++
		if s.NoBatching || size >= batchSize || !r.Buffered() || s.windowEnded(&b.recs[b.n-1]) != nil {
			break
		}
	}
	return nil
}

// windowEnded returns the window that rec ends, if it is a mark and OnWindowEnd is set.
func (s *Stream) windowEnded(rec *wire.Record) *int {
	if s.OnWindowEnd == nil || !rec.IsMark() {
		return nil
	}
	return new(rec.Generation)
}

// each calls work for the records of the batch, up to the first error.
func (b *batch) each(work func(*wire.Record) error) error {
	for b.good = 0; b.good < b.n; b.good++ {
		if err := work(&b.recs[b.good]); err != nil {
			return err
		}
	}
	return nil
}

// empty prepares the batch for other records.
func (b *batch) empty() {
	for i := 1; i < b.n; i++ {
		if b.recs[i].Memory() > keepRecord {
			b.recs[i] = wire.Record{}
		}
	}
}

// Each calls a worker function for every record of the stream. newWork is called once for each
// worker and returns its function, which may have its own scratch memory. An error of the
// function ends the command; errors of single pages belong in their records.
func (s *Stream) Each(newWork func() func(*wire.Record) error) (err error) {
	log := Logger(s.Stderr, s.Name, s.Log)
	tally := NewTally(log)
	out, closeTee, err := Tee(s.Stdout, s.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTee()) }()
	r := wire.NewReader(s.Stdin, s.Want)
	if s.Limit > 0 {
		r.Limit = int(s.Limit)
	}
	w := wire.NewWriter(out)

	if s.Workers <= 1 {
		err = s.serial(r, w, tally, newWork())
	} else {
		err = s.parallel(r, w, tally, newWork)
	}
	if ferr := w.Flush(); err == nil && ferr != nil {
		err = fmt.Errorf("writing records: %w", ferr)
	}
	var notes []slog.Attr
	if s.Notes != nil {
		notes = s.Notes()
	}
	tally.Close(notes...)
	if err == nil {
		err = tally.ErrIfNoneValid()
	}
	return err
}

// Read reads the next record, skips malformed lines that are not outcomes, and counts both. It
// returns io.EOF at the end.
func (s *Stream) Read(r *wire.Reader, tally *Tally, rec *wire.Record) error {
	for {
		err := r.Read(rec)
		bad, isBad := errors.AsType[*wire.SyntaxError](err)
		switch {
		case err == nil:
			tally.CountRead(rec)
			return nil
		case isBad && !s.Strict:
			tally.Bad(bad)
			if bad.Outcome {
				tally.CountRead(rec)
				return nil
			}
		case errors.Is(err, io.EOF):
			return io.EOF
		default:
			return err
		}
	}
}

// write writes a record or, if its line would exceed the limit, a failure in its place.
func (s *Stream) write(w *wire.Writer, tally *Tally, rec *wire.Record) error {
	if err := w.WriteOrFail(rec, s.Name+": the record is longer than a line may be"); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	tally.Out++
	return nil
}

func (s *Stream) serial(r *wire.Reader, w *wire.Writer, tally *Tally, work func(*wire.Record) error) error {
	var rec wire.Record
	var ended *int // the window that the latest record has ended
	for {
		if err := s.Read(r, tally, &rec); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if ended != nil {
			if err := s.OnWindowEnd(*ended); err != nil {
				return err
			}
		}
		ended = s.windowEnded(&rec)
		if err := work(&rec); err != nil {
			return err
		}
		if err := s.write(w, tally, &rec); err != nil {
			return err
		}
		if !r.Buffered() {
			if err := w.Flush(); err != nil {
				return fmt.Errorf("writing records: %w", err)
			}
		}
	}
}

// parallel passes batches of records to workers and writes them in their order. There are only
// a few batches for each worker, so memory is bounded. When it returns, all workers have
// stopped, so the caller may close what they use.
func (s *Stream) parallel(r *wire.Reader, w *wire.Writer, tally *Tally, newWork func() func(*wire.Record) error) error {
	depth := 2*s.Workers - 1         // with two workers a fourth batch would only use memory
	free := make(chan *batch, depth) // batches to read into
	todo := make(chan *batch, depth)
	order := make(chan *batch, depth) // the same batches, in the order of the input
	for range depth {
		free <- &batch{done: make(chan error, 1)}
	}
	stop := make(chan struct{})
	var ready sync.WaitGroup // waits for newWork, which may read data that OnWindowEnd changes
	ready.Add(s.Workers)
	var readErr error // valid when order is closed
	go func() {
		defer close(todo)
		defer close(order)
		var ended *int // the window that the latest batch has ended
		for readErr == nil {
			var b *batch
			select {
			case b = <-free:
			case <-stop:
				return
			}
			if readErr = b.fill(s, r, tally); b.n == 0 {
				return
			}
			if ended != nil {
				if !await(free, depth-1, stop) {
					return
				}
				ready.Wait()
				if err := s.OnWindowEnd(*ended); err != nil {
					readErr = err
					return
				}
			}
			ended = s.windowEnded(&b.recs[b.n-1])
			order <- b // never blocks: the capacity of order is the number of batches
			todo <- b
		}
	}()
	var workers sync.WaitGroup
	for range s.Workers {
		workers.Go(func() {
			work := newWork()
			ready.Done()
			for {
				select {
				case b, ok := <-todo:
					if !ok {
						return
					}
					b.done <- b.each(work)
				case <-stop:
					return
				}
			}
		})
	}
	err := func() error {
		for b := range order {
			err := <-b.done
			for i := range b.good {
				if err := s.write(w, tally, &b.recs[i]); err != nil {
					return err
				}
			}
			if err != nil {
				return err
			}
			b.empty()
			free <- b
			if len(order) == 0 {
				if err := w.Flush(); err != nil {
					return fmt.Errorf("writing records: %w", err)
				}
			}
		}
		return nil
	}()
	close(stop)
	workers.Wait()
	switch {
	case err != nil: // do not wait for the reader, which may be blocked in a read
		return err
	case errors.Is(readErr, io.EOF):
		return nil
	}
	return readErr
}

// await waits until n batches are free, and returns false if stop is closed first.
func await(free chan *batch, n int, stop <-chan struct{}) bool {
	batches := make([]*batch, n)
	for i := range batches {
		select {
		case batches[i] = <-free:
		case <-stop:
			return false
		}
	}
	for _, b := range batches {
		free <- b
	}
	return true
}
