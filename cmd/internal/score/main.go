// Package score is the command score, which computes how near pages are to a topic, and predicts the scores of links.
package score

import (
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"spoor/cmd/internal/filter"
	"spoor/internal/fitness"
	"spoor/internal/measure"
	"spoor/internal/run"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

//go:embed manual.md
var manual string

// Command is the command score.
var Command = filter.Command{Name: "score", Manual: manual, Run: invoke}

func invoke(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	fs := filter.Flags("score", manual, stderr)
	name := fs.String("topic", "", "the topic, required: a `file` made by topic, or words")
	chosen := fs.String("fitness", "", "compute these `measures`, separated by commas; the first one gives score: "+strings.Join(measure.Names(), ", ")+" (default: bm25)")
	norm := fs.String("norm", "topic", "words that cosines use: those of the `topic|page`")
	keep := fs.Bool("keep", false, "keep the scores of records that have one, and of their links; only add relevant")
	compat := fs.Bool("compat", false, "implement the papers literally")
	windows := fs.String("windows", "", "after the mark of window G, use the topic in `DIR`/G/topic.json; if topic -expand has written it there")
	s := filter.Stream{Name: "score", Stdout: stdout, Stderr: stderr, Want: wire.Address | wire.Fetch | wire.Parse | wire.Score}
	s.Flags(fs)
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	if *name == "" {
		return filter.Usagef("no topic\nhint: -topic 'WORDS', or -topic FILE with a file that topic makes")
	}
	o := options{unnamed: *chosen == "", keep: *keep}
	var err error
	if o.measures, err = measure.ParseOptions(*norm, *compat); err != nil {
		return filter.Exit(filter.StatusMisuse, err)
	}
	var made bool
	switch o.topic, made, err = topic.LoadOrMake(*name); {
	case err != nil:
		return filter.Usagef("%w", err)
	case made: // perhaps the mistyped name of a file
		filter.Logger(stderr, "score", s.Log).Info("the topic is words", "words", *name, "language", o.topic.Language)
	}
	if o.names, err = measure.Choose(*chosen, o.measures); err != nil {
		return filter.Usagef("%w", err)
	}
	if _, err := newScorer(&o); err != nil {
		return filter.Usagef("topic file %s: %w", *name, err)
	}
	in, err := filter.Open(stdin, fs.Args())
	if err != nil {
		return err
	}
	defer in.Close()
	s.Stdin = in
	s.Notes = o.notes
	if *windows != "" {
		s.OnWindowEnd = func(window int) error { return o.loadWindowTopic(*windows, window) }
	}
	err = s.Each(func() func(*wire.Record) error {
		w, err := newScorer(&o)
		if err != nil {
			return func(*wire.Record) error { return err }
		}
		return w.score
	})
	if n := o.unparsed.Load(); err == nil && n > 0 && n == o.readable.Load() {
		return filter.Usagef("no page was parsed: all %d have a body, and no text or links\nhint: parse comes before score", n)
	}
	if n := o.withoutText.Load(); n > 0 && n == o.readable.Load() {
		filter.Logger(stderr, "score", s.Log).Warn("no page has a title or text", "pages", n, "hint", "parse comes before score")
	}
	if n := o.readable.Load(); made && n > 0 && o.matching.Load() == 0 {
		filter.Logger(stderr, "score", s.Log).Warn("no page has a word of the topic", "pages", n, "words", *name, "hint", "is it the name of a file?")
	}
	if n := o.guessed.Load(); n > 0 {
		filter.Logger(stderr, "score", s.Log).Warn(run.GuessedThreshold, "pages", n, "hint", "topic -threshold sets one")
	}
	return err
}

// foreignThreshold is the threshold of scores of another program, if the user names none.
const foreignThreshold = 0.5

// options are shared by all workers.
type options struct {
	topic       *topic.Topic // replaced only while no worker is running
	names       []string     // of the measures
	measures    measure.Options
	unnamed     bool // the user has named no measure
	keep        bool
	guessed     atomic.Int64 // scores of another program that were compared with foreignThreshold
	pages       atomic.Int64 // pages that were scored
	relevant    atomic.Int64
	readable    atomic.Int64 // pages that were scored by their words
	matching    atomic.Int64 // those with a score above 0
	withoutText atomic.Int64 // those without title and text
	unparsed    atomic.Int64 // those with a body, and no field of parse
}

// loadWindowTopic switches to the topic file that the window has left, if there is one.
func (o *options) loadWindowTopic(dir string, window int) error {
	t, err := topic.Load(run.File(dir, window, run.Topic))
	switch {
	case err == nil:
		o.topic = t
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// notes returns attributes of the closing line. The harvest is the measure's own opinion.
func (o *options) notes() []slog.Attr {
	pages, relevant := o.pages.Load(), o.relevant.Load()
	harvest := 0.0
	if pages > 0 {
		harvest = math.Round(1000*float64(relevant)/float64(pages)) / 1000
	}
	return []slog.Attr{slog.Int64("pages", pages), slog.Int64("relevant", relevant), slog.Float64("self_harvest", harvest)}
}

// A scorer scores records for one worker.
type scorer struct {
	*options
	*measure.Set
	of        *topic.Topic // the topic of the measures
	threshold float64
	foreign   float64           // the threshold of what another program has scored
	order     []int             // indexes of the measures, sorted by name
	parts     []part            // the scores of a link, sorted by name
	subject   fitness.Page      // scratch
	promises  []fitness.Promise // scratch
}

// A part is one of the scores of a link.
type part struct {
	name    string
	measure int
	of      func(*fitness.Promise) float64
}

func newScorer(o *options) (*scorer, error) {
	set, err := measure.New(o.topic, o.names, o.measures)
	if err != nil {
		return nil, err
	}
	s := &scorer{options: o, Set: set, of: o.topic, threshold: set.Measures[0].Threshold(), promises: make([]fitness.Promise, len(set.Measures))}
	if t := o.topic.Threshold; t != nil {
		s.threshold = *t
	}
	s.foreign = s.threshold
	if o.unnamed && o.topic.Threshold == nil {
		s.foreign = foreignThreshold
	}
	for i, m := range set.Measures {
		s.order = append(s.order, i)
		prefix := ""
		if i > 0 {
			prefix = m.Name + "."
			s.parts = append(s.parts, part{m.Name, i, func(p *fitness.Promise) float64 { return p.Score }})
		}
		s.parts = append(s.parts,
			part{prefix + "anchor", i, func(p *fitness.Promise) float64 { return p.Anchor }},
			part{prefix + "context", i, func(p *fitness.Promise) float64 { return p.Context }},
			part{prefix + "url", i, func(p *fitness.Promise) float64 { return p.URL }})
	}
	slices.SortFunc(s.order, func(i, j int) int { return strings.Compare(set.Measures[i].Name, set.Measures[j].Name) })
	slices.SortFunc(s.parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return s, nil
}

// score sets the score section of rec, and the scores of its links.
func (s *scorer) score(rec *wire.Record) error {
	if rec.URL == "" || rec.Error != "" {
		return nil
	}
	if s.of != s.topic { // the topic has grown
		grown, err := newScorer(s.options)
		if err != nil {
			return err
		}
		*s = *grown
	}
	if s.keep && rec.Score.Kind == wire.Present {
		s.completeScored(rec)
		return nil
	}
	failed := measure.Failed(rec)
	s.page(rec, failed)
	rec.Relevant = wire.False
	s.pages.Add(1)
	if rec.Score.Value > 0 {
		s.matching.Add(1)
	}
	if !failed && rec.Score.Value >= s.threshold {
		rec.Relevant = wire.True
		s.relevant.Add(1)
	}
	rec.Touch(wire.Score)
	return nil
}

// completeScored completes a record that another program has scored.
func (s *scorer) completeScored(rec *wire.Record) {
	s.pages.Add(1)
	if rec.Relevant.Kind != wire.Present {
		rec.Relevant = wire.Bool{Value: rec.Score.Value >= s.foreign, Kind: wire.Present}
		if s.unnamed && s.of.Threshold == nil {
			s.guessed.Add(1)
		}
		rec.Touch(wire.Score)
	}
	if rec.Relevant.Value {
		s.relevant.Add(1)
	}
}

// page scores a page and its links. The scores of a failed page are 0, and its links are not
// scored.
func (s *scorer) page(rec *wire.Record, failed bool) {
	rec.Score, rec.Scores = wire.Num(0), rec.Scores[:0]
	if failed {
		for _, i := range s.order {
			rec.Scores = append(rec.Scores, wire.Scored{Name: s.Measures[i].Name})
		}
		return
	}
	s.readable.Add(1)
	if rec.Title == "" && rec.Text == "" {
		s.withoutText.Add(1)
		if rec.Has(wire.Body) && !rec.Has(wire.Parse) {
			s.unparsed.Add(1)
		}
	}
	s.subject = measure.Page(rec, s.subject.Links[:0])
	reading := s.Target.Read(&s.subject)
	for _, i := range s.order {
		m := &s.Measures[i]
		value := m.Page(reading)
		rec.Scores = append(rec.Scores, wire.Scored{Name: m.Name, Value: value})
		if i == 0 {
			rec.Score = wire.Num(value)
		}
	}
	for i := range rec.Links {
		s.link(&rec.Links[i])
	}
	if len(rec.Links) > 0 {
		rec.Touch(wire.Parse)
	}
}

// link scores a link of the page that was read last.
func (s *scorer) link(l *wire.Link) {
	reading := s.Target.ReadLink(&fitness.Link{URL: l.URL, Anchor: l.Anchor, Context: l.Context})
	for i := range s.Measures {
		s.promises[i] = s.Measures[i].Link(reading)
	}
	l.Score, l.Scores = wire.Num(s.promises[0].Score), slices.Grow(l.Scores[:0], len(s.parts))
	for _, p := range s.parts {
		l.Scores = append(l.Scores, wire.Scored{Name: p.name, Value: p.of(&s.promises[p.measure])})
	}
}
