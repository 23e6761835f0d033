package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"spoor/internal/lock"
)

// The files of what outlives a run.
const (
	hostsName  = "polite.ndjson" // in -state
	robotsName = "robots.ndjson" // in -cache if that was given, else in -state
)

// robotsFile is where robots.txt is kept; "" if it is not.
func (o *options) robotsFile() string {
	switch {
	case o.cacheGiven:
		return filepath.Join(o.cache, robotsName)
	case o.state != "":
		return filepath.Join(o.state, robotsName)
	}
	return ""
}

// loadState tells the web what earlier runs knew. Where that cannot be read the
// run begins anew, as a first one does: it is reported, and written over.
func (f *fetcher) loadState(log *slog.Logger, now time.Time) error {
	load := func(name string, into func(io.Reader, time.Time) error) {
		if err := read(name, func(file io.Reader) error { return into(file, now) }); err != nil {
			log.Warn("the state cannot be read; beginning without", "file", name, "err", err)
		}
	}
	if f.state != "" {
		load(filepath.Join(f.state, hostsName), f.polite.Load)
	}
	name := f.robotsFile()
	if name == "" {
		return nil
	}
	release, err := lockRobots(name)
	if err != nil {
		return err
	}
	load(name, f.robots.Load)
	return release()
}

// saveState writes what the next run is to know. robots.txt may be shared with
// other runs: what they have written meanwhile is kept.
func (f *fetcher) saveState(now time.Time) error {
	var err error
	if f.state != "" {
		err = replace(filepath.Join(f.state, hostsName), func(file io.Writer) error { return f.polite.Save(file, now) })
	}
	name := f.robotsFile()
	if name == "" {
		return err
	}
	release, e := lockRobots(name)
	if e != nil {
		return errors.Join(err, e)
	}
	// What cannot be read was reported when the run began, and is written over.
	_ = read(name, func(file io.Reader) error { return f.robots.Load(file, now) })
	return errors.Join(err, replace(name, func(file io.Writer) error { return f.robots.Save(file, now) }), release())
}

// lockRobots waits until no other run reads or writes the file of robots.txt, which
// none does for long.
func lockRobots(name string) (release func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, fmt.Errorf("making the directory of %s: %w", robotsName, err)
	}
	f, err := os.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE, 0o666)
	if err == nil {
		if err = lock.Wait(f); err == nil {
			return f.Close, nil
		}
		err = errors.Join(err, f.Close())
	}
	return nil, fmt.Errorf("locking %s: %w", robotsName, err)
}

// read shows a file to load, if there is one.
func read(name string, load func(io.Reader) error) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return load(f)
}

// replace writes a file as a whole, or not at all.
func replace(name string, save func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing the state: %w", err)
		}
	}()
	f, err := os.Create(name + ".part")
	if err != nil {
		return err
	}
	if err = errors.Join(save(f), f.Sync(), f.Close()); err != nil {
		os.Remove(f.Name())
		return err
	}
	return os.Rename(f.Name(), name)
}

// holdState keeps other runs from the state until this process ends: two that did
// not know of each other would ask the same hosts at the same time. It waits for them
// as long as the context lets it.
func (o *options) holdState(ctx context.Context) (release func() error, err error) {
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
	err = lock.Try(f, true)
	for end := time.Now().Add(o.wait); errors.Is(err, lock.ErrHeld) && time.Now().Before(end); err = lock.Try(f, true) {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		}
	}
	if err != nil {
		if errors.Is(err, lock.ErrHeld) {
			err = fmt.Errorf("%s is in use by another fetch\nhint: wait for it to end, or longer (-wait), or end it", o.state)
		}
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
