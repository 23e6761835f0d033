package run

import (
	"context"
	"math"
	"time"
)

// spaceInterval is how often a crawl that waits for free disk space, or for the next day, checks again.
const spaceInterval = 2 * time.Second

// lacksSpace reports whether the disk has less free space than MinFree. It prints a message when this
// changes.
func (c *Crawl) lacksSpace() bool {
	if c.Settings.MinFree == 0 {
		return false
	}
	free, err := freeSpace(string(c.Dir))
	lacks := err == nil && free < int64(c.Settings.MinFree)
	switch {
	case lacks && !c.full:
		c.View.Say("the disk of %s has only %d bytes left, and -min-free wants %d: waiting\nhint: make room there; all files of %s but the newest may be moved away", c.Dir, free, c.Settings.MinFree, c.Dir.Path("warc"))
	case !lacks && c.full:
		c.View.Say("there is room on the disk again")
	}
	c.full = lacks
	return lacks
}

// today returns the day of now, in UTC; "" if the crawl has no budget per day.
func (s *Settings) today(now time.Time) string {
	if s.PerDay == 0 {
		return ""
	}
	return now.UTC().Format(time.DateOnly)
}

// leaseLimit returns how many addresses may be leased now, given the free disk space and the budget of the
// day. It prints a message when the crawl has to wait.
func (c *Crawl) leaseLimit() int {
	if c.lacksSpace() {
		return 0
	}
	if c.Settings.PerDay == 0 {
		return math.MaxInt
	}
	left, day := c.Settings.PerDay, c.Settings.today(time.Now())
	if c.Totals.Last.Day == day {
		left = max(0, left-c.Totals.Today)
	}
	if left == 0 && c.spentDay != day {
		c.spentDay = day
		c.View.Say("the %d pages of %s are fetched: waiting for the next day (UTC)", c.Settings.PerDay, day)
	}
	return left
}

// await waits until addresses may be leased, or the user ends the crawl.
func (c *Crawl) await(ctx context.Context) error {
	for c.leaseLimit() == 0 {
		select {
		case <-ctx.Done():
			return c.endInterrupted(context.Cause(ctx))
		case <-time.After(spaceInterval):
		}
		if exists(c.Dir.Path(StopFile)) {
			return c.checkEnd(0)
		}
	}
	return nil
}
