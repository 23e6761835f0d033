package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
)

// readArchives is the links of the archives, from where they are kept if they have
// been read before.
func (o *options) readArchives(log *slog.Logger) (*linked, error) {
	if slices.Contains(o.archives, archive.Input) {
		return nil, filter.Usagef("the links of an archive are looked up in files, not in what comes through a pipe\nhint: save the archive to a file")
	}
	paths, err := archive.Files(o.archives)
	if err != nil {
		return nil, noArchive(err)
	}
	files, err := archiveFiles(paths)
	if err != nil {
		return nil, noArchive(err)
	}
	header := graphHeader{Version: graphVersion, Capture: o.capture.String(), Archives: files}
	return cached(places(paths[0], o.cache), header, func() (*linked, error) {
		started := time.Now()
		faults := filter.Faults{Log: log}
		replay, err := archive.OpenReplay(o.archives, archive.ReplayOptions{
			Index: archive.IndexOptions{Cache: o.cache, Report: func(name string, err error) {
				if faults.Tell(name) {
					log.Warn("left out what cannot be read of an archive", "archive", name, "err", err)
				}
			}},
			Pick: o.capture,
		})
		if err != nil {
			return nil, noArchive(err)
		}
		defer replay.Close()
		g, err := readLinks(paths, replay, o.workers)
		if err != nil {
			return nil, fmt.Errorf("reading the links of the archives: %w", err)
		}
		log.Info("read the links of the archives", append(g.attrs(),
			slog.Float64("seconds", float64(time.Since(started).Milliseconds())/1000))...)
		return g, nil
	})
}

// noArchive says what to do about an archive that cannot be opened.
func noArchive(err error) error {
	err = fmt.Errorf("opening an archive: %w", err)
	if errors.Is(err, archive.ErrNotWARC) || errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w\nhint: -archive takes WARC files and ARC files, plain or packed, WACZ files, and directories of them", err)
	}
	return err
}
