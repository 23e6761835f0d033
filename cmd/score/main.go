// Score says how near pages are to a topic, and what their links promise.
//
// # Usage
//
//	score -topic FILE [-fitness NAME[,NAME...]] [-norm topic|page] [flags] [FILE...] < parsed
//
// # Records
//
// In: pages as parse leaves them. Out: the same, one for one and in order, with
//
//	score         nearness to the topic by the first measure, in [0, 1]
//	scores        the value of each measure, by name
//	relevant      whether score reaches the threshold
//	links[].score what the link promises, in [0, 1]
//	links[].scores  of its anchor, of the context around it, and of its url
//
// The threshold is the topic's; where the topic has none, the measure's own.
//
// A record with an error has no page and passes as it came, and so does a query.
// A page that came with a status other than 2xx is a page about the failure,
// whatever it says: its score is 0, and its links are not looked at. A record
// without text has the score 0 too.
//
// The result depends on the topic file and the record alone, not on the order of
// records nor on -j.
//
// # Measures
//
//	vsm  words weighed by the tag they stand in (title 5, links 3, meta 2,
//	     others 1), compared with the topic's weights as an angle between
//	     vectors; Fan, Zeng and Li 2009. Threshold 0.05: the paper's, which
//	     any page with one of ten keywords reaches.
//
// With -norm topic, as in the paper, only the topic's own words make the vector
// of a page; with -norm page all its words do, so that a page with much else is
// less near. -compat takes the paper at its word where a word stands in several
// tags: one weight, the largest, for all its occurrences.
//
// A link is scored by the similarity of the topic with its anchor, with the
// words around it and with the words of its address:
//
//	1 − (1 − (0.8·anchor + 0.2·(1 if anchor > 0, else context)))·(1 − url)
//
// What the page is worth that the link stands in is not part of it.
//
// # Example
//
//	$ fetch -archive web.warc.gz -all | parse | score -topic topic.json > scored.ndjson
//
// # Exit status
//
// 0 done, 1 failed, 2 misuse, 3 disk full.
//
// # Limitations
//
// Of each text the first 4 MiB count. Words are analysed in the topic's
// language, whatever the page says of its own.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"spoor/cmd/internal/filter"
	"spoor/cmd/internal/measure"
	"spoor/internal/fitness"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

const manual = `
score - say how near pages are to a topic, and what their links promise

Usage: score -topic FILE [-fitness NAME[,NAME...]] [-norm topic|page] [FILE...] < parsed

In:   pages as parse leaves them
Out:  the same, one for one, with score in [0, 1], scores by measure, relevant
      (score reaches the topic's threshold), links[].score and links[].scores
      (anchor, context, url)

A record with an error passes as it came; with -keep, so does one that another
program has scored (relevant is filled in, if it is missing). A page with a
status other than 2xx has the score 0. The result depends on the topic file and
the record alone.

Measures:

    vsm   words weighed by tag: title 5, links 3, meta 2, others 1; cosine with
          the topic's weights (Fan, Zeng and Li 2009). Threshold, unless the
          topic sets one: 0.05

Links: 1 - (1 - (0.8 anchor + 0.2 (1 if anchor > 0, else context))) (1 - url)

Example:

    topic -query "graphs trees matroids" > topic.json
    fetch -archive web.warc.gz -all | parse | score -topic topic.json > scored.ndjson

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full. go doc ./cmd/score tells more.
`

func main() { filter.Main("score", run) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	fs := filter.Flags("score", manual, stderr)
	name := fs.String("topic", "", "the topic `file`, see topic -h")
	chosen := fs.String("fitness", "vsm", "`measures`, the first of which gives the score: "+strings.Join(measure.Names(), ", "))
	norm := fs.String("norm", "topic", "`which` words make a page's vector: topic or page")
	keep := fs.Bool("keep", false, "a record that has a score keeps it, and its links theirs; only relevant is filled in")
	compat := fs.Bool("compat", false, "weigh a word by the largest of its tags, as the paper has it")
	s := filter.Stream{Name: "score", Stdout: stdout, Stderr: stderr, Want: wire.Address | wire.Fetch | wire.Parse | wire.Score}
	s.Flags(fs)
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	if *name == "" {
		return filter.Usagef("which topic? -topic FILE\nhint: topic -query \"words\" > topic.json makes one")
	}
	names, err := measure.Parse(*chosen)
	if err != nil {
		return filter.Usagef("%w", err)
	}
	o := options{names: names, keep: *keep}
	switch *norm {
	case "topic":
		o.measures.Norm = fitness.TopicNorm
	case "page":
		o.measures.Norm = fitness.PageNorm
	default:
		return filter.Usagef("unknown norm %q: known are topic, page", *norm)
	}
	if o.measures.Literal = *compat; *compat && o.measures.Norm != fitness.TopicNorm {
		return filter.Usagef("-compat is the papers' reading, which is -norm topic")
	}
	if o.topic, err = topic.Load(*name); err != nil {
		return err
	}
	if _, err := newScorer(&o); err != nil {
		return fmt.Errorf("topic: %s: %w", *name, err)
	}
	in, err := filter.Open(stdin, fs.Args())
	if err != nil {
		return err
	}
	defer in.Close()
	s.Stdin = in
	s.Notes = o.notes
	return s.Each(func() func(*wire.Record) error {
		w, err := newScorer(&o)
		if err != nil {
			return func(*wire.Record) error { return err }
		}
		return w.score
	})
}

// options are what all workers share.
type options struct {
	topic    *topic.Topic
	names    []string // of the measures
	measures measure.Options
	keep     bool
	pages    atomic.Int64 // that were looked at
	relevant atomic.Int64
}

// notes are for the closing line. The harvest is what the measure says of
// itself; whether it is right is for judge to say.
func (o *options) notes() []slog.Attr {
	pages, relevant := o.pages.Load(), o.relevant.Load()
	harvest := 0.0
	if pages > 0 {
		harvest = math.Round(1000*float64(relevant)/float64(pages)) / 1000
	}
	return []slog.Attr{slog.Int64("pages", pages), slog.Int64("relevant", relevant), slog.Float64("self_harvest", harvest)}
}

// A scorer is one worker's measures.
type scorer struct {
	*options
	*measure.Set
	threshold float64
	order     []int             // of the measures, by name
	parts     []part            // of a link's scores, by name
	links     []string          // scratch
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
	s := &scorer{options: o, Set: set, threshold: set.Measures[0].Threshold, promises: make([]fitness.Promise, len(set.Measures))}
	if t := o.topic.Threshold; t != nil {
		s.threshold = *t
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

// score fills the score section of rec, and the scores of its links.
func (s *scorer) score(rec *wire.Record) error {
	if rec.URL == "" || rec.Error != "" {
		return nil
	}
	if s.keep && rec.Score.Kind == wire.Present {
		s.judged(rec)
		return nil
	}
	failed := rec.StatusCode != 0 && (rec.StatusCode < 200 || rec.StatusCode > 299)
	s.page(rec, failed)
	rec.Relevant = wire.False
	s.pages.Add(1)
	if !failed && rec.Score.Value >= s.threshold {
		rec.Relevant = wire.True
		s.relevant.Add(1)
	}
	rec.Touch(wire.Score)
	return nil
}

// judged completes a record that another program has scored.
func (s *scorer) judged(rec *wire.Record) {
	s.pages.Add(1)
	if rec.Relevant.Kind != wire.Present {
		rec.Relevant = wire.Bool{Value: rec.Score.Value >= s.threshold, Kind: wire.Present}
		rec.Touch(wire.Score)
	}
	if rec.Relevant.Value {
		s.relevant.Add(1)
	}
}

// page scores a page and its links; of one that failed all is 0, and its links
// are not looked at.
func (s *scorer) page(rec *wire.Record, failed bool) {
	rec.Score, rec.Scores = wire.Num(0), rec.Scores[:0]
	if failed {
		for _, i := range s.order {
			rec.Scores = append(rec.Scores, wire.Scored{Name: s.Measures[i].Name})
		}
		return
	}
	s.links = s.links[:0]
	for i := range rec.Links {
		s.links = append(s.links, rec.Links[i].URL)
	}
	reading := s.Target.Read(&fitness.Page{
		URL:         rec.URL,
		Title:       rec.Title,
		Anchors:     rec.AnchorText,
		Description: rec.Description,
		Keywords:    rec.Keywords,
		Text:        rec.Text,
		Links:       s.links,
	})
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
	l.Score, l.Scores = wire.Num(s.promises[0].Score), l.Scores[:0]
	for _, p := range s.parts {
		l.Scores = append(l.Scores, wire.Scored{Name: p.name, Value: p.of(&s.promises[p.measure])})
	}
}
