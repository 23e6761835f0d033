package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/lock"
)

// A State says whether a crawl is running.
type State struct {
	Running  bool      // a process holds the lock of the run
	Stopping bool      // it is running, and will end after the current generation
	Step     string    // the step that is running, such as steady, visit or evolve; "" between two steps
	Until    time.Time // until when it waits, because no address is due; it does not wait if this is zero or past
	Reason   string    // the content of the file stop_reason, which a running crawl removes; "" if the crawl was killed, too
}

// State returns the state of the crawl. It changes no file, and holds the lock of a run that is not
// running only for a moment: a crawl that starts then tries again.
func (d Dir) State() (s State, err error) {
	if s.Running, err = d.held(); err != nil {
		return s, err
	}
	if !s.Running {
		reason, err := atomicfile.ReadFile(d.Path(StopReason), 1024)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
		s.Reason = strings.TrimSpace(string(reason))
		return s, nil
	}
	s.Stopping = exists(d.Path(StopFile))
	var n now
	err = n.load(d)
	s.Step = n.step
	if err != nil {
		return s, err
	}
	wait, err := atomicfile.ReadFile(d.Path(waitFile), 1024)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s.Until, _ = time.Parse(time.RFC3339Nano, string(wait)) // it may be only partly written
	return s, nil
}

// waitFile holds the time until which a crawl waits, because no address is due (RFC 3339).
const waitFile = "wait" + partSuffix

// wait shows that the crawl waits, and writes it to waitFile. If that fails, for instance because the disk is full,
// the crawl goes on.
func (c *Crawl) wait(until time.Time) {
	c.View.Waiting(until, c.Totals)
	if err := c.Dir.overwrite(waitFile, until.UTC().Format(time.RFC3339Nano)); err != nil {
		c.Log.Warn("serve does not show that the crawl waits", "err", err)
	}
}

// held reports whether a process holds the lock of the run.
func (d Dir) held() (bool, error) {
	f, err := atomicfile.OpenFile(d.Path(lockFile), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err = lock.Try(f, false); errors.Is(err, lock.ErrHeld) {
		return true, nil
	}
	return false, err
}

// writeReason writes the reason why the crawl has ended, one of the constants End….
func (d Dir) writeReason(reason string) error {
	return atomicfile.WriteBytes(d.Path(StopReason), []byte(reason+"\n"))
}

// Stop makes a running crawl end after the current generation. It creates the file .stop.
func (d Dir) Stop() error {
	running, err := d.held()
	if err != nil {
		return err
	}
	if !running { // the file would stop the next crawl
		return fmt.Errorf("the crawl of %s is not running", d)
	}
	f, err := atomicfile.OpenFile(d.Path(StopFile), os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	return f.Close()
}
