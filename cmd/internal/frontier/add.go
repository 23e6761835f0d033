package frontier

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"

	"spoor/cmd/internal/filter"
	"spoor/internal/frontier"
	"spoor/internal/interchange"
	"spoor/internal/run"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file has the commands that read records.

// interrupted is the message of a command that was interrupted while it read records.
const interrupted = "interrupted: what was read until now is in the store\nhint: run the same command again for the rest"

func (c *command) add() (err error) {
	in, err := filter.Open(c.stdin, c.args)
	if err != nil {
		return err
	}
	defer in.Close()
	ctx, stop := filter.NotifyContext(interrupted)
	defer stop()
	// The store is opened only when there is input: the beginning of the pipeline may still
	// need it for leasing.
	records := bufio.NewReaderSize(filter.Interruptible(ctx, in), 1<<16)
	if _, err := records.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	r := c.reader(records)
	o, err := c.scopedOptions()
	if err != nil {
		return err
	}
	o.Create, o.ExcludeTraps = true, c.traps
	s, err := c.open(o)
	if err != nil {
		return err
	}
	tally := filter.NewTally(c.logger)
	var changed, known int64
	sum := run.NewSummary(c.request.Generation)
	malformed := tally.Bad
	if c.strict {
		malformed = nil
	}
	err = s.AddFrom(r, func(rec *wire.Record, verdict frontier.Verdict, err error) {
		tally.In++
		sum.Count(rec)
		switch verdict {
		case frontier.Changed:
			changed++
		case frontier.Known:
			known++
		case frontier.Query:
			tally.Skipped["query"]++
		case frontier.Refused:
			tally.Refuse(rec.URL, err)
			sum.Refuse(rec.URL, err)
		}
	}, malformed)
	complete := err == nil
	if err == nil {
		err = s.Commit()
	}
	if err == nil && c.summary != "" {
		err = c.writeSummary(sum, s)
	}
	err = c.close(s, err)
	notes := []slog.Attr{slog.Int64("changed", changed), slog.Int64("known", known)}
	if n := s.Shortened(); n > 0 {
		notes = append(notes, slog.Int("shortened", n))
	}
	if converted, ok := r.(*interchange.Reader); ok && complete && converted.Passed > 0 {
		notes = append(notes, slog.Int64("passed", converted.Passed)) // lines without an address
	}
	if n := s.Excluded(); n > 0 {
		notes = append(notes, slog.Int("excluded", n))
	}
	return c.conclude(tally, err, notes...)
}

// conclude prints the closing line of a command that read records, and returns err, or an
// error if none of the lines was usable.
func (c *command) conclude(tally *filter.Tally, err error, notes ...slog.Attr) error {
	tally.Close(notes...)
	if err == nil {
		err = tally.ErrIfNoneValid()
	}
	return err
}

// writeSummary writes a summary, with the counts of the store, as one line.
func (c *command) writeSummary(sum *run.Summary, s *frontier.Store) error {
	sum.SetStore(s.Counts(c.request.Now))
	line, err := sum.Line()
	if err != nil {
		return err
	}
	return os.WriteFile(c.summary, line, 0o666)
}

// forgetBatch is the number of URLs of a list that are forgotten at once.
const forgetBatch = 10_000

func (c *command) forget() error {
	if len(c.args)+len(c.selection.Hosts)+len(c.selection.Prefixes) == 0 {
		return filter.Usagef("nothing is selected: name URLs, - for a list of them on stdin, -host or -prefix")
	}
	c.selection.URLs = slices.DeleteFunc(slices.Clone(c.args), func(arg string) bool { return arg == "-" })
	s, err := c.open(c.options())
	if err != nil {
		return err
	}
	tally := filter.NewTally(c.logger)
	var forgotten int64
	forget := func(sel frontier.Selection) error {
		n, err := s.Forget(sel)
		forgotten += int64(n)
		return err
	}
	if err = forget(c.selection); err == nil && slices.Contains(c.args, "-") {
		var urls []string
		err = c.eachRecord(nil, tally, func(rec *wire.Record) error {
			if _, err := weburl.Parse(rec.URL); err != nil {
				tally.Refuse(rec.URL, err)
				return nil
			}
			if urls = append(urls, rec.Clone().URL); len(urls) < forgetBatch {
				return nil
			}
			err := forget(frontier.Selection{URLs: urls})
			urls = urls[:0]
			return err
		})
		if err == nil {
			err = forget(frontier.Selection{URLs: urls})
		}
	}
	return c.conclude(tally, c.close(s, err), slog.Int64("forgotten", forgotten))
}

func (c *command) reprioritise() error {
	s, err := c.open(c.options())
	if err != nil {
		return err
	}
	tally := filter.NewTally(c.logger)
	var changed, known int64
	err = c.eachRecord(c.args, tally, func(rec *wire.Record) error {
		verdict, err := s.Reprioritise(rec)
		switch {
		case verdict == frontier.Failed:
			return err
		case errors.Is(err, frontier.ErrUnknown):
			tally.Skipped["unknown"]++
		case errors.Is(err, frontier.ErrSettled):
			tally.Skipped["settled"]++
		case verdict == frontier.Refused:
			tally.Refuse(rec.URL, err)
		case verdict == frontier.Changed:
			changed++
		default:
			known++
		}
		return nil
	})
	return c.conclude(tally, c.close(s, err), slog.Int64("changed", changed), slog.Int64("known", known))
}

// eachRecord calls f with each record or plain line of the input that has a URL.
func (c *command) eachRecord(files []string, tally *filter.Tally, f func(*wire.Record) error) error {
	in, err := filter.Open(c.stdin, files)
	if err != nil {
		return err
	}
	defer in.Close()
	ctx, stop := filter.NotifyContext(interrupted)
	defer stop()
	r := c.reader(filter.Interruptible(ctx, in))
	var rec wire.Record
	for {
		err := r.Read(&rec)
		if bad, ok := errors.AsType[*wire.SyntaxError](err); ok && !c.strict {
			tally.Bad(bad)
			if !bad.Outcome {
				continue
			}
			err = nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		tally.In++
		if rec.URL == "" {
			tally.Skipped["query"]++
			continue
		}
		if err := f(&rec); err != nil {
			return err
		}
	}
}
