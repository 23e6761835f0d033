package run

import (
	"context"
	"math"
	"time"
)

// spaceInterval is how often a crawl that waits for room on the disk looks for it.
const spaceInterval = 2 * time.Second

// lacksSpace reports whether the disk has less room than the settings want, and says when that changes.
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

// today returns the day of now, in UTC, if the crawl has a budget for each day.
func (s *Settings) today(now time.Time) string {
	if s.PerDay == 0 {
		return ""
	}
	return now.UTC().Format(time.DateOnly)
}

// most returns how many addresses may be leased now, by the room on the disk and the budget of the day. It
// says when there is a reason to wait.
func (c *Crawl) most() int {
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
	for c.most() == 0 {
		select {
		case <-ctx.Done():
			return c.interrupted(context.Cause(ctx))
		case <-time.After(spaceInterval):
		}
		if exists(c.Dir.Path(StopFile)) {
			return c.checkEnd(0)
		}
	}
	return nil
}
