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
	Until    time.Time // it is running and nothing is due before this time, if that is in the future
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
	s.Until, _ = time.Parse(time.RFC3339Nano, string(wait)) // it may be half written
	return s, nil
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
