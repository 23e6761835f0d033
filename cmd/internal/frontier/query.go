package frontier

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"spoor/cmd/internal/filter"
	"spoor/internal/frontier"
	"spoor/internal/interchange"
)

// This file has the commands that do not add records.

func (c *command) next() error {
	if err := c.checkRequest(); err != nil {
		return err
	}
	o, err := c.scopedOptions()
	if err != nil {
		return err
	}
	s, err := c.open(o)
	if err != nil {
		return err
	}
	lines, err := s.Next(c.request)
	lines = bytes.Clone(lines) // they belong to the store
	if n := s.Excluded(); n > 0 && o.Scope != nil {
		c.logger.Info("excluded URLs out of scope or beyond a budget; frontier skipped lists them", "urls", n)
	} else if n > 0 {
		c.logger.Info("excluded URLs beyond a budget; frontier skipped lists them", "urls", n)
	}
	err = c.close(s, err) // before writing, so that the end of the pipeline can open it
	if _, ok := errors.AsType[*frontier.NothingDue](err); ok {
		return filter.Exit(filter.StatusNothingDue, err)
	}
	if err != nil {
		return err
	}
	if _, err = c.stdout.Write(lines); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	return nil
}

func (c *command) stats() error {
	return c.read(func(s *frontier.Store, w *bufio.Writer) error {
		st, err := s.Stats(c.request.Now)
		if err != nil {
			return err
		}
		return json.NewEncoder(w).Encode(st)
	})
}

func (c *command) skipped() error {
	c.states = []frontier.State{frontier.Skipped}
	return c.export()
}

func (c *command) export() error {
	return c.read(func(s *frontier.Store, w *bufio.Writer) error {
		to := &interchange.Writer{W: w}
		switch c.format {
		case formatURLFrontier:
			to.Convert = interchange.ToURLFrontier
		case formatList:
			to.Convert = interchange.ToList
		}
		err := s.Export(to, c.request.Now, c.states...)
		if to.Omitted > 0 {
			c.logger.Warn("omitted URLs in a state that the format does not have", slog.Int("withdrawn", to.Omitted))
		}
		return err
	})
}

func (c *command) lineage() error {
	if len(c.args) != 1 {
		return filter.Usagef("lineage takes one URL: frontier lineage -store DIR URL")
	}
	return c.read(func(s *frontier.Store, w *bufio.Writer) error { return s.Lineage(w, c.args[0], c.request.Now) })
}

func (c *command) compact() error {
	o := c.options()
	o.Yield = true
	s, err := c.open(o)
	if err != nil {
		return err
	}
	var done frontier.Compaction
	for more := true; more && err == nil; {
		more, err = s.Compact(&done)
	}
	if err = c.close(s, err); err != nil {
		return err
	}
	return json.NewEncoder(c.stdout).Encode(done)
}

func (c *command) check() error {
	found, err := frontier.Check(c.store, c.options(), c.repair)
	if found != nil {
		if err := json.NewEncoder(c.stdout).Encode(found); err != nil {
			return err
		}
	}
	if err = c.warnSnapshot(err); err != nil || !found.Wrong() {
		return err
	}
	if found.Index != "" {
		return fmt.Errorf("%s\nhint: the index was rebuilt from the log; the store can be used again", found.Index)
	}
	return found.Damaged[0]
}
