package frontier

import (
	"log/slog"
	"os"
	"time"

	"spoor/cmd/internal/filter"
)

func (c *command) serveFlags() {
	c.leaseFlags()
	c.trapsFlag()
	c.scopeFlags()
	c.inputFlags()
	c.compactAt = 64 << 20
	fs, v := c.flags, &c.server
	fs.BoolVar(&v.Exchange, "exchange", false, "serve one partition of a crawl on several machines; take the size of the next window (n) and the end of the crawl from the returning mark; -n, -pages, -generations, -patience and -timeout have no effect")
	fs.IntVar(&v.Pages, "pages", 0, "end after `n` pages; they include the cost of queries and, with -windows, the pages of earlier runs; 0 is no limit")
	fs.IntVar(&v.MaxWindows, "generations", 0, "end after `n` windows; 0 is no limit")
	fs.DurationVar(&v.Patience, "patience", 10*time.Minute, "maximum `time` to wait for an address to become due")
	fs.DurationVar(&v.Timeout, "timeout", 10*time.Minute, "fail if no record comes back for this `time`; then a stage blocks the loop")
	fs.Var(&c.compactAt, "compact", "compact the log when it has doubled, and grown by this many `bytes` (KiB, MiB)")
	fs.StringVar(&v.Stop, "stop", "", "end after the window if this `file` exists")
	fs.StringVar(&v.Windows, "windows", "", "write a summary of each window G to `DIR`/G/stats.json; it is that of add -summary, and serve starts with the first window that has none")
	fs.StringVar(&c.summary, "summary", "", "append to `file` the summary of add -summary for each window; one per line, and the reason for the end")
}

func (c *command) serve() (err error) {
	v := &c.server
	if v.Exchange {
		c.request.N = 1 // replaced by that of the mark
	}
	switch err := c.checkRequest(); {
	case err != nil:
		return err
	case v.Pages < 0 || v.MaxWindows < 0 || v.Patience < 0 || v.Timeout <= 0:
		return filter.Usagef("-pages, -generations and -patience must not be negative, and -timeout must be positive")
	}
	ctx, stop := filter.NotifyContext("interrupted: what was read until now is in the store\nhint: run the same command again to continue")
	defer stop()
	filter.IgnorePipe() // what is still read must be stored

	tally := filter.NewTally(c.logger)
	if v.Options, err = c.scopedOptions(); err != nil {
		return err
	}
	v.Store, v.Request = c.store, c.request
	v.Options.ExcludeTraps = c.traps
	v.In, v.Out, v.Limit, v.Strict = c.stdin, c.stdout, int(c.limit), c.strict
	v.CompactAt, v.Log, v.Tally = int64(c.compactAt), c.logger, tally
	if c.summary != "" {
		f, err := os.OpenFile(c.summary, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
		defer f.Close()
		v.SummarizeTo(f)
	}
	served, err := v.Serve(ctx)
	tally.Close(slog.Int("window", served.Window), slog.Int64("changed", served.Changed), slog.Int64("known", served.Known), slog.String("end", served.End))
	return err
}
