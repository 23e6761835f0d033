package topic

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/measure"
	"spoor/internal/run"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// An expander grows the table of a topic by scored pages.
type expander struct {
	rule
	file      string // the topic file
	topic     *topic.Topic
	expansion *topic.Expansion
	threshold float64
	literal   bool

	pages, scored int
	before        topic.Growth // at the start of the window
}

// newExpander parses the value of -expand.
func (c *command) newExpander() (*expander, error) {
	name, score, own := strings.Cut(c.expand, "=")
	i := slices.IndexFunc(rules[:], func(r rule) bool { return r.name == name })
	if i < 0 {
		return nil, filter.Usagef("-expand %s: known rules are symbiosis, tunnel", name)
	}
	e := &expander{rule: rules[i], file: c.topic, threshold: rules[i].Threshold(), literal: c.learn.Literal}
	if e.literal {
		e.threshold -= e.bias
	}
	var err error
	if own {
		if e.threshold, err = strconv.ParseFloat(score, 64); err != nil || !topic.ValidThreshold(e.threshold) {
			return nil, filter.Usagef("-expand %s: %q is not a number from 0\nhint: -expand %s=%g", c.expand, score, name, e.Threshold())
		}
	}
	if e.topic, err = topic.Load(c.topic); err != nil {
		return nil, filter.Usagef("%w", err)
	}
	return e, e.beginWindow()
}

// beginWindow starts a new window: it resets the counters, and keeps the table.
func (e *expander) beginWindow() (err error) {
	e.pages, e.scored, e.before = 0, 0, e.growth()
	if e.expansion, err = e.topic.Expand(e.Rule, e.threshold, e.literal); err != nil {
		return fmt.Errorf("topic file %s: %w", e.file, err)
	}
	return nil
}

// add adds the word of a page, if its score is high enough.
func (e *expander) add(rec *wire.Record) {
	if rec.URL == "" || measure.Failed(rec) {
		return
	}
	e.pages++
	i := slices.IndexFunc(rec.Scores, func(s wire.Scored) bool { return s.Name == e.measure })
	if i < 0 {
		return
	}
	e.scored++
	if relevance := rec.Scores[i].Value; relevance >= e.threshold {
		p := topic.Page{URL: strings.Clone(rec.URL), Title: rec.Title[:min(len(rec.Title), measure.MaxText)], Text: rec.Text[:min(len(rec.Text), measure.MaxText)]} // the record is read into again
		e.expansion.Add(&p, relevance)
	}
}

// growth returns the counts of the topic.
func (e *expander) growth() topic.Growth {
	if g := e.topic.Growth; g != nil {
		return *g
	}
	return topic.Growth{}
}

// grown returns the counts of the window.
func (e *expander) grown() topic.Growth {
	g := e.growth()
	g.Pages -= e.before.Pages
	g.Known -= e.before.Known
	g.Words -= e.before.Words
	return g
}

// checkScores returns an error if no page had the score that is needed.
func (e *expander) checkScores() error {
	if e.pages > 0 && e.scored == 0 {
		return fmt.Errorf("none of %d pages has scores.%s\nhint: score -topic %s -fitness %[2]s gives it", e.pages, e.measure, e.file)
	}
	return nil
}

// runExpand writes the topic, grown by the scored pages that it reads.
func (c *command) runExpand() error {
	e, err := c.newExpander()
	if err != nil {
		return err
	}
	if c.windows != "" {
		return c.expandWindows(e)
	}
	var bad badLines
	err = eachRecord(c.stdin, c.files, false, func(rec *wire.Record) error {
		e.add(rec)
		return nil
	}, func(err *wire.SyntaxError) { bad.add(err) })
	bad.report(c.stderr, "")
	if err == nil {
		err = e.checkScores()
	}
	if err != nil {
		return err
	}
	g := e.grown()
	fmt.Fprintf(c.stderr, "topic: %d of %d pages have a %s of %.4g or more; words added: %d; the best word was in the table already: %d\n", g.Pages, e.scored, e.measure, e.threshold, g.Words, g.Known)
	return e.topic.Write(c.stdout)
}

// expandWindows passes records on. At the window mark of each window it writes the topic
// before it passes the mark on, so that later stages find it. A mark before all records
// ends no window.
func (c *command) expandWindows(e *expander) error {
	in, err := filter.Open(c.stdin, c.files)
	if err != nil {
		return err
	}
	defer in.Close()
	begun, first := false, e.growth()
	last := first // the counts at the end of the last window
	s := filter.Stream{
		Name: "topic", Stdin: in, Stdout: c.stdout, Stderr: c.stderr, Want: wire.Address | wire.Fetch | wire.Parse | wire.Score,
		Notes: func() []slog.Attr {
			return []slog.Attr{
				slog.Int("pages_at_limit", last.Pages-first.Pages), slog.Int("words_known", last.Known-first.Known), slog.Int("words_added", last.Words-first.Words),
			}
		},
	}
	return s.Each(func() func(*wire.Record) error {
		return func(rec *wire.Record) error {
			mark, leading := rec.IsMark(), !begun
			begun = true
			switch {
			case !mark:
				e.add(rec)
				return nil
			case leading:
				return nil
			}
			last = e.growth()
			return e.endWindow(run.File(c.windows, rec.Generation, run.Topic))
		}
	})
}

// endWindow ends a window.
func (e *expander) endWindow(file string) error {
	if err := e.checkScores(); err != nil {
		return err
	}
	if err := e.writeTopic(file); err != nil {
		return err
	}
	return e.beginWindow()
}

// writeTopic writes the topic to file if a page of the window was relevant enough to add a word. If
// not, it removes a file that a killed run has left.
func (e *expander) writeTopic(file string) error {
	if e.grown().Pages == 0 {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(file, e.topic.Write)
}

// A rule is a possible value of -expand.
type rule struct {
	topic.Rule
	name    string
	measure string  // the measure whose score is compared
	bias    float64 // added to that score by the paper before it compares
}

var rules = [...]rule{
	{topic.Symbiosis, "symbiosis", "weighttable", 0.05},
	{topic.Tunnel, "tunnel", "weighttable-tf", 0},
}
