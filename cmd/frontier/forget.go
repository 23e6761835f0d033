package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"spoor/cmd/internal/filter"
	"spoor/internal/frontier"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// selectionFlags defines the flags of forget.
func (c *command) selectionFlags(fs *flag.FlagSet) {
	fs.Var((*filter.Strings)(&c.selection.Hosts), "host", "every URL of this `host` (host:port if the port is not the usual one); may be given several times")
	fs.Var((*filter.Strings)(&c.selection.Prefixes), "prefix", "every URL that begins with this `URL`; may be given several times")
}

// forgetBatch is how many URLs of a list are forgotten at once.
const forgetBatch = 10_000

func (c *command) forget() error {
	sel := c.selection
	list := slices.Index(c.args, "-")
	sel.URLs = c.args
	if list >= 0 {
		sel.URLs = slices.Delete(slices.Clone(c.args), list, list+1)
	}
	if len(c.args)+len(sel.Hosts)+len(sel.Prefixes) == 0 {
		return filter.Usagef("forget what? URLs, - for a list of them on stdin, -host or -prefix")
	}
	s, err := c.open(c.options())
	if err != nil {
		return err
	}
	tally := filter.NewTally(c.logger)
	var forgotten int64
	drop := func(sel frontier.Selection) error {
		n, err := s.Forget(sel)
		forgotten += int64(n)
		return err
	}
	if err = drop(sel); err == nil && list >= 0 {
		var urls []string
		err = c.eachRecord(nil, tally, func(rec *wire.Record) error {
			if _, err := weburl.Parse(rec.URL); err != nil {
				tally.Refuse(rec.URL, err)
				return nil
			}
			if urls = append(urls, rec.Clone().URL); len(urls) < forgetBatch {
				return nil
			}
			err := drop(frontier.Selection{URLs: urls})
			urls = urls[:0]
			return err
		})
		if err == nil {
			err = drop(frontier.Selection{URLs: urls})
		}
	}
	err = c.close(s, err)
	tally.Close(slog.Int64("forgotten", forgotten))
	if err == nil {
		err = tally.Misfit()
	}
	return err
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
	err = c.close(s, err)
	tally.Close(slog.Int64("changed", changed), slog.Int64("known", known))
	if err == nil {
		err = tally.Misfit()
	}
	return err
}

// eachRecord reads addresses, records or plain lines, and calls do with each.
func (c *command) eachRecord(files []string, tally *filter.Tally, do func(*wire.Record) error) error {
	in, err := filter.Open(c.stdin, files)
	if err != nil {
		return err
	}
	defer in.Close()
	ctx, stop := filter.NotifyContext(interruptedAdding)
	defer stop()
	r, err := c.reader(&interruptible{ctx: ctx, r: in})
	if err != nil {
		return err
	}
	var rec wire.Record
	for {
		err := r.Read(&rec)
		if bad, ok := errors.AsType[*wire.SyntaxError](err); ok && !c.strict {
			tally.Bad(bad)
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return cmp.Or(context.Cause(ctx), fmt.Errorf("reading records: %w", err))
		}
		tally.In++
		if rec.URL == "" {
			tally.Skipped["query"]++
			continue
		}
		if err := do(&rec); err != nil {
			return err
		}
	}
}
