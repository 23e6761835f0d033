package main

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/run"
)

// serving are the flags of serve.
type serving struct {
	marks             bool
	pages             int
	generations       int
	patience, timeout time.Duration
	windows, stop     string
	compactAt         filter.Size
}

// serveFlags defines the flags.
func (c *command) serveFlags() {
	fs := c.flags
	c.leaseFlags()
	c.barFlags()
	fs.BoolVar(&c.marks, "marks", true, "a window ends when its mark comes back; -marks=false: write no marks, and a new address for each outcome")
	fs.DurationVar(&c.lease, "lease", 10*time.Minute, "with -marks=false: `time` after which an address without an outcome is leased again")
	fs.IntVar(&c.pages, "pages", 0, "end after `n` pages, including the cost of queries and, with -windows, the pages of earlier runs; 0 is no limit")
	fs.IntVar(&c.generations, "generations", 0, "end after `n` windows; 0 is no limit")
	fs.DurationVar(&c.patience, "patience", 10*time.Minute, "maximum `time` to wait for an address to become due")
	fs.DurationVar(&c.timeout, "timeout", 10*time.Minute, "fail if no record comes back for this `time`, because a stage blocks the loop")
	c.compactAt = 64 << 20
	fs.Var(&c.compactAt, "compact", "compact the log when it has doubled, and grown by this many `bytes` (KiB, MiB)")
	fs.StringVar(&c.stop, "stop", "", "end after the window if this `file` exists")
	fs.StringVar(&c.windows, "windows", "", "write a summary of each window G to `DIR`/G/stats.json, as add -summary does, and start with the first window that has none")
	fs.StringVar(&c.summary, "summary", "", "append to `file` the summary of add -summary for each window, one per line, and the reason for the end")
	fs.BoolVar(&c.strict, "strict", false, "a line that is no record ends the command with status 1")
	fs.Var(&c.limit, "limit", "longest line accepted, in `bytes` (KiB, MiB)")
}

func (c *command) serve() (err error) {
	switch {
	case c.n < 1:
		return filter.Usagef("how many addresses has a window? -n N, from 1")
	case c.pages < 0 || c.generations < 0 || c.patience < 0 || c.timeout <= 0:
		return filter.Usagef("-pages, -generations and -patience must not be negative, and -timeout must be positive")
	case !c.marks && (c.windows != "" || c.generations > 0):
		return filter.Usagef("-windows and -generations count windows, of which there are none with -marks=false")
	}
	q, err := c.request()
	if err != nil {
		return err
	}
	ctx, stop := filter.NotifyContext("interrupted: what came in until now is in the store\nhint: run the same command again to go on")
	defer stop()
	filter.IgnorePipe() // what still comes in is to be kept

	tally := filter.NewTally(c.logger)
	o := c.options()
	o.ExcludeTraps = c.traps
	v := &run.Server{
		Store: c.store, Options: o, Request: q, In: c.stdin, Out: c.stdout, Limit: int(c.limit), Strict: c.strict,
		Windows: c.windows, Stop: c.stop, NoMarks: !c.marks, Pages: c.pages, MaxWindows: c.generations,
		Patience: c.patience, Timeout: c.timeout, CompactAt: int64(c.compactAt), Log: c.logger, Tally: tally,
	}
	if c.summary != "" {
		f, err := os.OpenFile(c.summary, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
		defer f.Close()
		v.Committed = func(sum *run.Summary) error {
			line, err := sum.Line()
			if err != nil {
				return err
			}
			_, err = f.Write(line)
			return err
		}
		v.Waiting = func(until time.Time) error {
			_, err := fmt.Fprintf(f, "{\"waiting_until\":%q}\n", until.UTC().Format(time.RFC3339))
			return err
		}
		v.Ended = func(reason string) error {
			_, err := fmt.Fprintf(f, "{\"end\":%q}\n", reason)
			return err
		}
	}
	served, err := v.Serve(ctx)
	tally.Close(slog.Int("window", served.Window), slog.Int64("changed", served.Changed), slog.Int64("known", served.Known), slog.String("end", served.End))
	return err
}
