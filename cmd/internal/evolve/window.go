package evolve

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

// A windowLoop processes windows, each ended by a window mark, and writes for each what run
// writes for a generation.
type windowLoop struct {
	*options
	s      strategy.Strategy
	stderr io.Writer
	taught int  // window for which the examples were read
	grows  bool // whether windows extend the topic before the strategy reads them
	w      *wire.Writer
	out    fork
	tally  *filter.Tally

	journal    *strategy.Journal
	generation int          // of the current window; 0: none yet
	seen       int          // outcomes in the current window
	given      *int         // addresses that the partition was given in it; nil if it is not said
	scored     *wire.Writer // the input of the current window, to scoredFile
	scoredFile io.WriteCloser

	windows    int64
	unfollowed int64
}

// fork writes to stdout and, if there is one, to a file.
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

// runWindows processes windows until the end of in. Records after the last mark are passed on
// but not decided; a later run reads them again.
func (o *options) runWindows(in io.Reader, stdout, stderr io.Writer, s strategy.Strategy) (err error) {
	out, closeTee, err := filter.Tee(stdout, o.stream.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTee()) }()
	l := &windowLoop{options: o, s: s, out: fork{stdout: out}, stderr: stderr, tally: filter.NewTally(filter.Logger(stderr, "evolve", o.stream.Log))}
	l.grows = o.dir != "" && slices.ContainsFunc(strategy.Kinds(), func(k strategy.Kind) bool { return k.Name == o.strategy && k.Stages.Expand != "" })
	l.w = wire.NewWriter(&l.out)
	defer l.abandon()
	if err := l.all(in); err != nil {
		return err
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
	if n := strategy.Copies(s); n > 0 {
		notes = append(notes, slog.Int("held_copies", n))
	}
	l.warnUnscored(stderr)
	l.tally.Close(notes...)
	return l.tally.ErrIfNoneValid()
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

// record passes a record to the strategy and writes it in brief.
func (l *windowLoop) record(rec *wire.Record) error {
	if l.generation == 0 {
		if err := l.begin(0); err != nil { // the sender sends no mark first
			return err
		}
	}
	if err := l.openWindow(); err != nil {
		return err
	}
	if l.scored != nil {
		if err := l.scored.WriteOrFail(rec, tooLong); err != nil {
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
	if err := l.w.WriteOrFail(rec, tooLong); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	l.tally.Out++
	return nil
}

// see passes a record to the strategy.
func (l *windowLoop) see(rec *wire.Record) {
	if l.show(rec, l.s) {
		l.unfollowed++
	}
}

// mark decides the window that the mark ends. A mark before any record says which window was
// the last; later state is discarded.
func (l *windowLoop) mark(rec *wire.Record) error {
	switch generation := rec.Generation; {
	case l.generation == 0:
		if err := l.begin(generation + 1); err != nil {
			return err
		}
	case generation != l.generation:
		return fmt.Errorf("window mark %d received in window %d\nhint: frontier serve and evolve -window must be started together: stop and restart both", generation, l.generation)
	default:
		if err := l.openWindow(); err != nil {
			return err
		}
		m, err := rec.Mark()
		if err != nil {
			return err
		}
		l.given = m.N
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

// begin restores the state for reading generation; 0 is the one after the last.
func (l *windowLoop) begin(generation int) (err error) {
	l.generation = max(1, generation)
	if l.state == "" {
		if generation > 1 {
			return fmt.Errorf("window %d is not the first, and there is no -state of the earlier ones\nhint: use -state DIR, or start with a new store", generation)
		}
		return nil
	}
	l.journal, l.generation, err = strategy.OpenJournal(l.state, strategy.Signature(l.strategy, l.s), l.s, generation)
	return err
}

// proposals returns how many addresses to propose. In a crawl on several machines it is twice as many
// as this partition was given in the window, at least -window and at most -window for each
// partition; and none if it was given none, which would look like an empty frontier.
func (l *windowLoop) proposals() int {
	switch {
	case l.given == nil:
		return l.n
	case *l.given == 0:
		return 0
	}
	return min(max(l.n, 2**l.given), l.n*max(1, l.partition.Of))
}

// decide ends the window: it writes the proposals and then saves the state. If evolve is
// killed in between, the window is read again, with the same output.
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
	if n := l.proposals(); n > 0 {
		if _, err := l.breed(l.w, l.s, n, l.generation, l.tally); err != nil {
			return err
		}
	}
	if l.journal != nil {
		if err := l.journal.Append(l.generation, l.s); err != nil {
			return fmt.Errorf("saving the state: %w", err)
		}
	}
	if l.dir != "" { // its presence means that the state is saved
		if err := l.keep(nextName, &l.out.file); err != nil {
			return err
		}
	}
	l.generation++
	l.windows++
	l.seen = 0
	return nil
}

// grow sets the topic to the one that the window has made, if it has grown, and passes the
// records of the window to the strategy, which has not seen them yet.
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

// The files of a window, as scripts/crawl names those of a generation.
const (
	scoredName = "scored"
	nextName   = "next"
)

// path returns the name of a file of the current window, finished or temporary.
func (l *windowLoop) path(name string, whole bool) string {
	if whole {
		name += ".ndjson.zst"
	} else {
		name = fmt.Sprintf("%s.%d.part.zst", name, os.Getpid())
	}
	return run.File(l.dir, l.generation, name)
}

// openWindow prepares for the first record of the window; for the others it does nothing.
func (l *windowLoop) openWindow() error {
	if l.taught < l.generation {
		if err := l.readExamples(); err != nil {
			return err
		}
		l.taught = l.generation
	}
	return l.openFiles()
}

// readExamples gives the strategy the examples: at the start those of earlier windows too, then those of the window.
func (l *windowLoop) readExamples() error {
	if l.taught > 0 {
		name := run.File(l.examples, l.generation, run.ExamplesFile)
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return nil
		}
	}
	return l.teach(l.s, l.generation, l.stderr)
}

// openFiles creates the files of the window.
func (l *windowLoop) openFiles() (err error) {
	if l.dir == "" || l.out.file != nil {
		return nil
	}
	if err := l.w.Flush(); err != nil { // output of the last window
		return fmt.Errorf("writing records: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(l.path("", true)), 0o777); err != nil {
		return err
	}
	for _, name := range []string{scoredName, nextName} {
		os.Remove(l.path(name, false)) // it may be a link to a file elsewhere
	}
	if l.scoredFile, err = filter.Create(l.path(scoredName, false)); err != nil {
		return err
	}
	l.scored = wire.NewWriter(l.scoredFile)
	l.out.file, err = filter.Create(l.path(nextName, false))
	return err
}

// keep closes a file of the window and gives it its final name.
func (l *windowLoop) keep(name string, file *io.WriteCloser) error {
	f := *file
	*file = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", l.path(name, false), err)
	}
	return atomicfile.Rename(l.path(name, false), l.path(name, true))
}

// abandon removes the files of an undecided window.
func (l *windowLoop) abandon() {
	for name, f := range map[string]io.WriteCloser{scoredName: l.scoredFile, nextName: l.out.file} {
		if f != nil {
			f.Close()
			os.Remove(l.path(name, false))
		}
	}
}
