package run

import (
	"context"
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

// awaitSpace waits until the disk has room, or the user ends the crawl.
func (c *Crawl) awaitSpace(ctx context.Context) error {
	for c.lacksSpace() {
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
