package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/run"
	"spoor/internal/strategy"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// windowLoop reads one window after the other, each ended by a mark, as run reads one
// generation to the end of the file, and gives for each what run would give.
type windowLoop struct {
	*options
	s     strategy.Strategy
	grows bool // the topic may grow by a window, before the strategy is shown it
	w     *wire.Writer
	out   fork
	tally *filter.Tally

	journal    *strategy.Journal
	generation int          // of the window that is read; 0: nothing was read yet
	seen       int          // outcomes in it
	scored     *wire.Writer // the records as they came
	scoredFile io.WriteCloser

	windows    int64
	unfollowed int64
}

// fork writes to stdout and to a file, if there is one.
type fork struct {
	stdout io.Writer
	file   io.WriteCloser
}

func (f *fork) Write(p []byte) (int, error) {
	if f.file != nil {
		if _, err := f.file.Write(p); err != nil {
			return 0, err
		}
	}
	return f.stdout.Write(p)
}

// runWindows reads windows until the end of in. What stands behind the last mark is
// passed on and decided by a later run, which is shown it again.
func (o *options) runWindows(in io.Reader, stdout, stderr io.Writer, s strategy.Strategy) (err error) {
	out, closeTee, err := filter.Tee(stdout, o.stream.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTee()) }()
	l := &windowLoop{options: o, s: s, out: fork{stdout: out}, tally: filter.NewTally(filter.Logger(stderr, "evolve", o.stream.Log))}
	l.grows = o.dir != "" && slices.ContainsFunc(strategy.Kinds(), func(k strategy.Kind) bool { return k.Name == o.strategy && k.Stages.Expand != "" })
	l.w = wire.NewWriter(&l.out)
	defer l.abandon()
	if err := l.all(in); err != nil {
		return err
	}
	if !o.marks && l.seen > 0 {
		if err := l.decide(); err != nil {
			return err
		}
	}
	if err := l.w.Flush(); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	notes := []slog.Attr{slog.Int64("windows", l.windows)}
	if l.unfollowed > 0 {
		notes = append(notes, slog.Int64("nofollow", l.unfollowed))
	}
	if l.seen > 0 {
		notes = append(notes, slog.Int("undecided", l.seen))
	}
	l.tally.Close(notes...)
	return l.tally.Misfit()
}

func (l *windowLoop) all(in io.Reader) error {
	r := wire.NewReader(in, sections)
	r.Limit = int(l.stream.Limit)
	var rec wire.Record
	for {
		err := l.stream.Read(r, l.tally, &rec)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if rec.IsMark() {
			err = l.mark(&rec)
		} else {
			err = l.record(&rec)
		}
		if err == nil && !r.Buffered() {
			if err = l.w.Flush(); err != nil {
				err = fmt.Errorf("writing records: %w", err)
			}
		}
		if err != nil {
			return err
		}
	}
}

// record shows a record to the strategy, and passes it on in brief.
func (l *windowLoop) record(rec *wire.Record) error {
	if l.generation == 0 {
		if err := l.begin(0); err != nil { // whoever sends this sends no mark ahead
			return err
		}
	}
	if err := l.openFiles(); err != nil {
		return err
	}
	if l.scored != nil {
		if err := l.scored.Write(rec); err != nil {
			return fmt.Errorf("writing records: %w", err)
		}
	}
	if !l.grows {
		l.see(rec)
	}
	rec.Brief()
	if rec.URL != "" {
		l.seen++
	}
	if err := l.w.Write(rec); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	l.tally.Out++
	if !l.marks && l.seen >= l.n {
		return l.decide()
	}
	return nil
}

// see shows the strategy a record.
func (l *windowLoop) see(rec *wire.Record) {
	if l.show(rec, l.s) {
		l.unfollowed++
	}
}

// mark decides the window that the mark ends. The first one, before any record, says
// which window was the last: what the state has learned since did not happen.
func (l *windowLoop) mark(rec *wire.Record) error {
	switch generation := rec.Generation; {
	case !l.marks:
	case l.generation == 0:
		if err := l.begin(generation + 1); err != nil {
			return err
		}
	case generation != l.generation:
		return fmt.Errorf("a mark ends window %d, but window %d is being read\nhint: frontier serve and evolve -window begin together: end both, and start them again", generation, l.generation)
	default:
		if err := l.openFiles(); err != nil {
			return err
		}
		if err := l.decide(); err != nil {
			return err
		}
	}
	if err := l.w.Write(rec); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	l.tally.Out++
	return nil
}

// begin takes the state up that generation is read with; 0 is the one after the last.
func (l *windowLoop) begin(generation int) (err error) {
	l.generation = max(1, generation)
	if l.state == "" {
		if generation > 1 {
			return fmt.Errorf("window %d is not the first, and there is no -state that knows what came before\nhint: give -state DIR, or begin with a new store", generation)
		}
		return nil
	}
	l.journal, l.generation, err = strategy.OpenJournal(l.state, strategy.Signature(l.strategy, l.s), l.s, generation)
	return err
}

// decide ends the window: what the strategy breeds goes out, and then its state is
// saved. Whoever is killed in between is shown the window again and gives the same.
func (l *windowLoop) decide() error {
	if l.dir != "" {
		if err := l.scored.Flush(); err != nil {
			return fmt.Errorf("writing records: %w", err)
		}
		if err := l.keep(scoredName, &l.scoredFile); err != nil {
			return err
		}
	}
	if l.grows {
		if err := l.grow(); err != nil {
			return err
		}
	}
	if _, err := l.breed(l.w, l.s, l.generation, l.tally); err != nil {
		return err
	}
	if l.journal != nil {
		if err := l.journal.Append(l.generation, l.s); err != nil {
			return fmt.Errorf("saving the state: %w", err)
		}
	}
	if l.dir != "" { // that it is there says that the state is
		if err := l.keep(nextName, &l.out.file); err != nil {
			return err
		}
	}
	l.generation++
	l.windows++
	l.seen = 0
	return nil
}

// grow takes up the topic that the window has made, if it has grown, and shows the
// strategy the window, whose records it has not seen yet.
func (l *windowLoop) grow() error {
	t, err := topic.Load(run.File(l.dir, l.generation, run.Topic))
	if err == nil {
		err = strategy.Aim(l.s, t)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	in, err := filter.Open(nil, []string{l.path(scoredName, true)})
	if err != nil {
		return err
	}
	defer in.Close()
	r := wire.NewReader(in, sections)
	r.Limit = int(l.stream.Limit)
	var rec wire.Record
	for {
		switch err := r.Read(&rec); {
		case err == nil:
			l.see(&rec)
		case errors.Is(err, io.EOF):
			return nil
		default:
			return fmt.Errorf("%s: %w", l.path(scoredName, true), err)
		}
	}
}

// The files of a window, as scripts/crawl has them of a generation.
const (
	scoredName = "scored"
	nextName   = "next"
)

// path returns the file of the window that is read, whole or in the making.
func (l *windowLoop) path(name string, whole bool) string {
	if whole {
		name += ".ndjson.zst"
	} else {
		name = fmt.Sprintf("%s.%d.part.zst", name, os.Getpid())
	}
	return run.File(l.dir, l.generation, name)
}

// openFiles begins the files of the window.
func (l *windowLoop) openFiles() (err error) {
	if l.dir == "" || l.out.file != nil {
		return nil
	}
	if err := l.w.Flush(); err != nil { // what belongs to the last window
		return fmt.Errorf("writing records: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(l.path("", true)), 0o777); err != nil {
		return err
	}
	if l.scoredFile, err = filter.Create(l.path(scoredName, false)); err != nil {
		return err
	}
	l.scored = wire.NewWriter(l.scoredFile)
	l.out.file, err = filter.Create(l.path(nextName, false))
	return err
}

// keep closes a file of the window, which then has its name.
func (l *windowLoop) keep(name string, file *io.WriteCloser) error {
	f := *file
	*file = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", l.path(name, false), err)
	}
	return atomicfile.Rename(l.path(name, false), l.path(name, true))
}

// abandon removes the files of a window that was not decided.
func (l *windowLoop) abandon() {
	for name, f := range map[string]io.WriteCloser{scoredName: l.scoredFile, nextName: l.out.file} {
		if f != nil {
			f.Close()
			os.Remove(l.path(name, false))
		}
	}
}
