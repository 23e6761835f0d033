package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/cmd/internal/measure"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// runExpand writes a topic grown by the scored pages that are read.
func (c *command) runExpand() error {
	name, score, own := strings.Cut(c.expand, "=")
	i := slices.IndexFunc(rules[:], func(r rule) bool { return r.name == name })
	if i < 0 {
		return filter.Usagef("-expand %s: known rules are symbiosis, tunnel", name)
	}
	r := rules[i]
	threshold := r.Threshold()
	if c.learn.Literal {
		threshold -= r.bias
	}
	if own {
		var err error
		if threshold, err = strconv.ParseFloat(score, 64); err != nil || !topic.ValidThreshold(threshold) {
			return filter.Usagef("-expand %s: %q is not a number from 0\nhint: -expand %s=%g", c.expand, score, name, r.Threshold())
		}
	}
	t, err := topic.Load(c.topic)
	if err != nil {
		return err
	}
	expansion, err := t.Expand(r.Rule)
	if err != nil {
		return fmt.Errorf("topic file %s: %w", c.topic, err)
	}
	scored, pages, near, added := 0, 0, 0, 0
	var others strays
	err = eachRecord(c.stdin, c.files, func(rec *wire.Record) error {
		if rec.URL == "" || measure.Failed(rec) {
			return nil
		}
		pages++
		j := slices.IndexFunc(rec.Scores, func(s wire.Scored) bool { return s.Name == r.measure })
		if j < 0 {
			return nil
		}
		scored++
		if relevance := rec.Scores[j].Value; relevance >= threshold {
			near++
			p := topic.Page{URL: strings.Clone(rec.URL), Title: cut(rec.Title), Text: cut(rec.Text)} // the record is read into again
			if expansion.Add(&p, relevance) != nil {
				added++
			}
		}
		return nil
	}, func(bad *wire.SyntaxError) { others.add(bad) })
	others.report(c.stderr, "")
	switch {
	case err != nil:
		return err
	case pages > 0 && scored == 0:
		return fmt.Errorf("none of %d pages has scores.%s\nhint: score -topic %s -fitness %[2]s gives it", pages, r.measure, c.topic)
	}
	fmt.Fprintf(c.stderr, "topic: %d of %d pages have a %s of %.4g or more; words added: %d\n", near, scored, r.measure, threshold, added)
	return t.Write(c.stdout)
}

// A rule is what -expand may be.
type rule struct {
	topic.Rule
	name    string
	measure string  // whose score decides
	bias    float64 // what the paper adds to that score before it compares
}

var rules = [...]rule{
	{topic.Symbiosis, "symbiosis", "weighttable", 0.05},
	{topic.Tunnel, "tunnel", "weighttable-tf", 0},
}
