package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/frontier"
	"spoor/internal/interchange"
	"spoor/internal/wire"
)

// The formats of import and export.
const (
	formatRecords     = "ndjson"
	formatURLFrontier = "url-frontier"
	formatList        = "list"
)

// interchangeFlags defines what import and export have in common.
func (c *command) interchangeFlags() {
	c.flags.StringVar(&c.format, "format", formatRecords, "the `format`: ndjson, url-frontier or list")
	if c.name == "export" {
		c.flags.StringVar(&c.states, "state", "", "only what is in one of these `states`, separated by commas: waiting, leased, visited, skipped, withdrawn")
	}
}

// reader reads what add and import are given.
func (c *command) reader(r io.Reader) (frontier.RecordReader, error) {
	var convert interchange.Converter
	switch c.format {
	case "", formatRecords:
		records := wire.NewReader(filter.Seeds(r), frontier.Sections)
		records.Limit = int(c.limit)
		return records, nil
	case formatURLFrontier:
		convert = interchange.FromURLFrontier
	case formatList:
		convert = interchange.FromList()
	default:
		return nil, c.noFormat()
	}
	records := interchange.NewReader(r, frontier.Sections, convert)
	records.Limit = int(c.limit)
	return records, nil
}

func (c *command) noFormat() error {
	return filter.Usagef("no format %q; there are %s, %s and %s", c.format, formatRecords, formatURLFrontier, formatList)
}

// exported is a writer of records that passes on those in some states, in a format.
type exported struct {
	w       *bufio.Writer
	convert interchange.Converter // nil: as they are
	states  []string              // nil: all
	line    []byte                // without its end
	left    int                   // out, because the format has no word for them
}

// exportTo is the writer that the flags ask for.
func (c *command) exportTo(w *bufio.Writer) (*exported, error) {
	e := &exported{w: w}
	switch c.format {
	case formatRecords:
	case formatURLFrontier:
		e.convert = interchange.ToURLFrontier
	case formatList:
		e.convert = interchange.ToList
	default:
		return nil, c.noFormat()
	}
	if c.states != "" {
		e.states = strings.Split(c.states, ",")
		for _, state := range e.states {
			if !slices.Contains(frontier.States(), state) {
				return nil, filter.Usagef("no state %q; there are %s", state, strings.Join(frontier.States(), ", "))
			}
		}
	}
	return e, nil
}

// Write takes whole lines or pieces of them.
func (e *exported) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			e.line = append(e.line, p...)
			break
		}
		line := p[:i]
		if len(e.line) > 0 {
			line = append(e.line, line...)
			e.line = line[:0]
		}
		p = p[i+1:]
		if err := e.write(line); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (e *exported) write(line []byte) (err error) {
	if e.states != nil && !slices.Contains(e.states, stateOf(line)) {
		return nil
	}
	if e.convert != nil {
		if line, err = e.convert(line); err != nil {
			return fmt.Errorf("converting a record: %w", err)
		}
		if line == nil {
			e.left++
			return nil
		}
	}
	e.w.Write(line)
	return e.w.WriteByte('\n')
}

// stateOf is the state at the end of an exported line.
func stateOf(line []byte) string {
	_, state, _ := bytes.Cut(line[max(0, bytes.LastIndexByte(line, ':')):], []byte(`"`))
	state, _, _ = bytes.Cut(state, []byte(`"`))
	return string(state)
}

func (c *command) export() error {
	return c.read(func(s *frontier.Store, w *bufio.Writer) error {
		to, err := c.exportTo(w)
		if err != nil {
			return err
		}
		err = s.Export(to, c.now)
		if to.left > 0 {
			c.logger.Warn("left out what the format has no word for", slog.Int("withdrawn", to.left))
		}
		return err
	})
}
