package topic

import (
	"bufio"
	"errors"
	"fmt"

	"spoor/cmd/internal/filter"
	"spoor/internal/measure"
	"spoor/internal/topic"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// errFound stops reading after the page that was looked for.
var errFound = errors.New("found")

// runExplain prints why a page has its scores.
func (c *command) runExplain() error {
	if c.n < 0 {
		return filter.Usagef("-n %d: want a number from 0", c.n)
	}
	o, err := measure.ParseOptions(c.norm, c.learn.Literal)
	if err != nil {
		return filter.Exit(filter.StatusMisuse, err)
	}
	url, err := weburl.Canonical(c.explain)
	if err != nil {
		return filter.Usagef("-explain %q: %w\nhint: the address of a page, such as https://example.org/", c.explain, err)
	}
	t, _, err := topic.LoadOrMake(c.topic)
	if err != nil {
		return filter.Usagef("%w", err)
	}
	names, err := measure.Choose(c.fitness, o)
	if err != nil {
		return filter.Exit(filter.StatusMisuse, err)
	}
	if c.fitness == "" && t.Classifier != nil {
		names = append(names, "classifier")
	}
	set, err := measure.New(t, names, o)
	if err != nil {
		return fmt.Errorf("topic file %s: %w", c.topic, err)
	}
	pages, found := 0, false
	var bad badLines
	out := bufio.NewWriter(c.stdout) // which keeps the first error
	e := measure.Explainer{Set: set, Threshold: t.Threshold, N: c.n, Out: filter.Text(out)}
	err = eachRecord(c.stdin, c.files, false, func(rec *wire.Record) error {
		pages++
		if rec.URL != url && rec.FinalURL != url {
			return nil
		}
		if found {
			fmt.Fprintln(out)
		}
		if found = true; e.Explain(rec) {
			return errFound
		}
		return nil // a failure; a later record may hold the page
	}, func(err *wire.SyntaxError) { bad.add(err) })
	bad.report(c.stderr, "")
	full := out.Flush()
	switch {
	case err != nil && !errors.Is(err, errFound):
		return err
	case found:
		return full
	}
	hint := "topic -explain reads what parse prints"
	if pages > 0 {
		hint += ", and the address is to be as it is there: jq -r .url"
	}
	return fmt.Errorf("%s is not among the %d pages that were read\nhint: %s", url, pages, hint)
}
