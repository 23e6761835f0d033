package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/lock"
)

// The files that hold the state between runs.
const (
	hostsFile    = "polite.ndjson" // in State
	robotsFile   = "robots.ndjson" // in RobotsDir
	sitemapsFile = "sitemaps.json" // in State
)

// hostsInterval is the interval at which the state of the hosts is stored during a run. A process that
// is killed loses the changes since then.
const hostsInterval = 10 * time.Second

// loadState loads what earlier runs have stored about hosts and robots.txt. If the last run was killed,
// all hosts are treated as if they were requested at now.
func (f *fetcher) loadState(now time.Time, killed bool) error {
	if f.State != "" {
		loadFile(filepath.Join(f.State, hostsFile), f.Warn, func(r io.Reader) error { return f.polite.Load(r, now) })
	}
	if killed {
		f.polite.RequestedAt(now)
	}
	if f.RobotsDir == "" {
		return nil
	}
	name := filepath.Join(f.RobotsDir, robotsFile)
	unlock, err := lockRobots(name)
	if err != nil {
		return err
	}
	loadFile(name, f.Warn, func(r io.Reader) error { return f.robots.Load(r, now) })
	return unlock()
}

// saveState stores the state of hosts and robots.txt for the next run. Entries that other runs
// have written to the file of robots.txt in the meantime are kept.
func (f *fetcher) saveState(now time.Time) error {
	err := f.saveHosts(now)
	if f.RobotsDir == "" {
		return err
	}
	name := filepath.Join(f.RobotsDir, robotsFile)
	unlock, e := lockRobots(name)
	if e != nil {
		return errors.Join(err, e)
	}
	// An unreadable file was reported when the run began, and is replaced.
	_ = readFile(name, func(r io.Reader) error { return f.robots.Load(r, now) })
	return errors.Join(err, saveFile(name, func(w io.Writer) error { return f.robots.Save(w, now) }), unlock())
}

func (f *fetcher) saveHosts(now time.Time) error {
	if f.State == "" {
		return nil
	}
	return saveFile(filepath.Join(f.State, hostsFile), func(w io.Writer) error { return f.polite.Save(w, now) })
}

// saveHostsUntil stores the state of the hosts every hostsInterval until ctx ends.
func (f *fetcher) saveHostsUntil(ctx context.Context) {
	for tick := time.Tick(hostsInterval); ; {
		select {
		case now := <-tick:
			if err := f.saveHosts(now); err != nil {
				f.Warn("the state of the hosts is not stored", "err", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// loadFile passes a file to load, if it exists. If the file is unreadable, the run starts
// without this state and replaces the file at its end.
func loadFile(name string, warn func(string, ...any), load func(io.Reader) error) {
	if err := readFile(name, load); err != nil {
		warn("the state cannot be read; starting without it", "file", name, "err", err)
	}
}

// readFile passes a file to load, if it exists.
func readFile(name string, load func(io.Reader) error) error {
	f, err := atomicfile.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return load(f)
}

func saveFile(name string, save func(io.Writer) error) error {
	if err := atomicfile.Replace(name, save); err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	return nil
}

// lockRobots waits until no other process reads or writes the file of robots.txt, and locks
// it. Processes hold this lock only for a short time.
func lockRobots(name string) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, fmt.Errorf("making the directory of %s: %w", robotsFile, err)
	}
	f, err := atomicfile.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE, 0o666)
	if err == nil {
		if err = lock.Wait(f); err == nil {
			return f.Close, nil
		}
		err = errors.Join(err, f.Close())
	}
	return nil, fmt.Errorf("locking %s: %w", robotsFile, err)
}

// A stateLock is the lock of the directory of the state. Without it, two processes could request the
// same host at the same time. The zero value locks nothing.
type stateLock struct {
	file   *os.File // not empty while a run requests pages, and after it was killed
	killed bool     // the last run was killed
}

// lockState locks a directory. It waits up to wait for another process to unlock it, or until
// ctx ends.
func lockState(ctx context.Context, dir string, wait time.Duration) (l stateLock, err error) {
	if dir == "" {
		return l, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return l, fmt.Errorf("making the directory of -state: %w", err)
	}
	f, err := atomicfile.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return l, fmt.Errorf("locking -state: %w", err)
	}
	err = lock.Try(f, true)
	for end := time.Now().Add(wait); errors.Is(err, lock.ErrHeld) && time.Now().Before(end); err = lock.Try(f, true) {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return l, errors.Join(context.Cause(ctx), f.Close())
		}
	}
	var info fs.FileInfo
	if err == nil {
		info, err = f.Stat()
	}
	if err != nil {
		if errors.Is(err, lock.ErrHeld) {
			err = fmt.Errorf("%s is in use by another fetch\nhint: wait for it to end, or longer (-wait), or end it", dir)
		}
		return l, errors.Join(err, f.Close())
	}
	return stateLock{f, info.Size() > 0}, nil
}

// begin notes that a run requests pages from now on.
func (l stateLock) begin() error {
	if l.file == nil {
		return nil
	}
	_, err := l.file.WriteAt([]byte("requesting\n"), 0)
	return err
}

// end notes that a run has stored its state.
func (l stateLock) end() error {
	if l.file == nil {
		return nil
	}
	return l.file.Truncate(0)
}

func (l stateLock) unlock() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
