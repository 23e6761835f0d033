package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"spoor/internal/frontier"
	"spoor/internal/wire"
)

// A steady crawl is one pipeline whose output is its input, through a named pipe: the processes
// frontier, fetch, parse, score and evolve run for all generations.

// loopFile is the named pipe. If this process is killed, the next run removes it because of its suffix.
const loopFile = "loop" + partSuffix

// jobsFile is the named pipe through which the script reads the numbers of its processes after a signal:
// unlike a file, it can be written when the disk is full. Once the script has opened it, run next
// removes it because of its suffix.
const jobsFile = "jobs" + partSuffix

// endFile holds the reason why the server has ended a steady crawl.
const endFile = "end" + partSuffix

// makeLoop creates the named pipe, and removes the files that a killed crawl has left.
func (c *Crawl) makeLoop() error {
	for _, name := range []string{loopFile, endFile, waitFile} {
		if err := os.Remove(c.Dir.Path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return makeFIFO(c.Dir.Path(loopFile))
}

// ServeSteady runs the frontier of a steady crawl: it leases, commits and shows one generation
// after the other.
func (c *Crawl) ServeSteady(ctx context.Context, in io.Reader, out io.Writer, tally Tally) error {
	s := c.Settings
	scope, err := c.Dir.loadScope(s)
	if err != nil {
		return err
	}
	v := &Server{
		Strategy:      c.Settings.Strategy,
		Store:         c.Dir.Path("frontier"),
		Options:       frontier.Options{ExcludeTraps: s.Traps, Scope: scope, Wait: 30 * time.Second, Holder: fmt.Sprintf("process %d, crawl -steady", os.Getpid())},
		Request:       s.request(),
		In:            in,
		Out:           out,
		Limit:         wire.DefaultLimit,
		Windows:       c.Dir.Generations(),
		Done:          c.Totals,
		Stop:          c.Dir.Path(StopFile),
		Pages:         s.Pages,
		MaxWindows:    s.Generations,
		Relevant:      s.Relevant,
		Patience:      s.Patience,
		Timeout:       c.timeout(),
		CompactAt:     64 << 20,
		EndWithParent: true,
		Exact:         !c.Stages.addsSitemaps(),
		Log:           c.Log,
		Tally:         tally,
		Committed:     func(sum *Summary) error { return c.writeSummary(sum, false) },
		Most:          c.leaseLimit,
		Progress: func(sum *Summary, asked int) {
			what := "choosing what is next"
			if sum.Outcomes < asked {
				what = fmt.Sprintf("fetching: %d of %d done", sum.Outcomes, asked)
			}
			c.View.Progress(c, what, sum)
		},
		Keep:    s.Keep,
		Day:     s.today,
		Waiting: func(until time.Time) error { c.wait(until); return nil },
	}
	v.Request.N, v.Size = s.Size, s.size
	v.Begin = c.keepExamples
	if s.Partition != "" {
		if err := v.Begin(c.Totals.Generation + 1); err != nil { // says that they are not used
			return err
		}
		v.Exchange = true
		v.Stop = c.Dir.nodeStop()
	}
	parent := os.Getppid()
	v.Ended = func(reason string) error { // called before the store is closed; the next crawl waits for that
		if os.Getppid() != parent { // the script was killed and cannot read the file
			return nil
		}
		return c.Dir.overwrite(endFile, reason)
	}
	_, err = v.Serve(ctx)
	return err
}

// timeout returns how long a steady crawl waits for a record to come back: longer than fetch may wait
// for an address that is due later, and without limit if a command that replaces a stage may keep a whole
// generation.
func (c *Crawl) timeout() time.Duration {
	if c.Settings.Form != FormSteady && len(c.Settings.Replaced) > 0 {
		return math.MaxInt64
	}
	wait := time.Duration(0)
	for _, flag := range c.Settings.Live {
		if value, ok := strings.CutPrefix(flag, "-deadline="); ok {
			if wait, _ = time.ParseDuration(value); wait == 0 { // no deadline
				wait = 24 * time.Hour // as long as fetch waits for a host
			}
		}
	}
	return max(10*time.Minute, wait+time.Minute)
}

// finishSteady ends a steady crawl whose pipeline has ended.
func (c *Crawl) finishSteady(status, interrupted int) error {
	name := c.Dir.Path(endFile)
	reason, err := readSmall(name)
	if err != nil {
		return err
	}
	for _, file := range []string{loopFile, endFile, waitFile} {
		os.Remove(c.Dir.Path(file))
	}
	if c.now.step == "" {
		return nil
	}
	ended, err := c.Dir.loadEnded()
	if err != nil {
		return err
	}
	// Without -contact fetch may refuse to request any host. If the crawl has no page, this ends the
	// crawl; later it is only the outcome of these addresses.
	contact := ended["fetch"].status == statusMisuse && c.Totals.Fetched > 0 && ended.others("fetch") == 0
	switch {
	case interrupted != 0:
		return c.endInterrupted(faultf(interrupted, ""))
	case status != 0 && !contact, len(reason) == 0:
		// A stage may fail because nothing could be fetched. Resumed with other flags, the crawl begins anew.
		if len(reason) > 0 && c.endsWithoutPage(string(reason)) {
			if err := c.Dir.writeReason(EndNoPage); err != nil {
				return err
			}
		}
		return c.blame(status, ended)
	}
	if string(reason) == EndStopped {
		os.Remove(c.Dir.Path(StopFile))
		if c.Settings.Partition != "" {
			os.Remove(c.Dir.nodeStop())
		}
	}
	return c.end(string(reason))
}
