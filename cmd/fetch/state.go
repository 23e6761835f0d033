package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"spoor/internal/lock"
	"spoor/internal/polite"
)

// stateName is the file of -state, in its directory.
const stateName = "polite.ndjson"

// loadState tells the web what the last run knew. Where that cannot be read the
// run begins anew, as a first one does: it is reported, and written over.
func (f *fetcher) loadState(log *slog.Logger, now time.Time) error {
	if f.state == "" {
		return nil
	}
	name := filepath.Join(f.state, stateName)
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer file.Close()
		err = polite.Load(file, f.polite, f.robots, now)
	}
	if err != nil {
		log.Warn("the state cannot be read; beginning without", "file", name, "err", err)
	}
	return nil
}

// holdState keeps other runs from the state until this process ends: two that did
// not know of each other would ask the same hosts at the same time.
func (o *options) holdState() (release func() error, err error) {
	if o.state == "" {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(o.state, 0o777); err != nil {
		return nil, fmt.Errorf("making the directory of -state: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(o.state, "lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("locking -state: %w", err)
	}
	if err := lock.Try(f, true); err != nil {
		if errors.Is(err, lock.ErrHeld) {
			err = fmt.Errorf("%s is in use by another fetch\nhint: wait for it to end, or end it", o.state)
		}
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// saveState writes what the next run is to know: as a whole, or not at all.
func (f *fetcher) saveState(now time.Time) (err error) {
	if f.state == "" {
		return nil
	}
	name := filepath.Join(f.state, stateName)
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing the state: %w", err)
		}
	}()
	file, err := os.Create(name + ".part")
	if err != nil {
		return err
	}
	err = polite.Save(file, f.polite, f.robots, now)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		os.Remove(file.Name())
		return err
	}
	return os.Rename(file.Name(), name)
}
