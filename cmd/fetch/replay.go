package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/wire"
)

// replay answers addresses from archives, in the order in which they come.
func replay(o *options) error {
	log := filter.Logger(o.stream.Stderr, "fetch", o.stream.Log)
	r, err := openArchives(o, log)
	if err != nil {
		return err
	}
	defer r.Close()

	o.stream.Notes = func() []slog.Attr {
		if n := r.Faults(); n > 0 { // met now, or when the index was built
			return []slog.Attr{slog.Int64("archive_faults", n)}
		}
		return nil
	}
	return o.stream.Each(func() func(*wire.Record) error {
		return func(rec *wire.Record) error {
			if rec.URL != "" {
				answer(r, rec, o)
			}
			return nil
		}
	})
}

// openArchives opens the archives for look-ups.
func openArchives(o *options, log *slog.Logger) (*archive.Replay, error) {
	if slices.Contains(o.archives, archive.Input) {
		return nil, filter.Usagef("addresses are looked up in files, not in what comes through a pipe\nhint: save the archive to a file, or take all that is in it with -all")
	}
	faults := filter.Faults{Log: log}
	r, err := archive.OpenReplay(o.archives, archive.ReplayOptions{
		Index: archive.IndexOptions{Cache: o.cache, Report: func(name string, err error) {
			if faults.Tell(name) {
				log.Warn("left out what cannot be read of an archive", "archive", name, "err", err)
			}
		}},
		Limits: o.limits(),
		Pick:   o.capture,
	})
	if err != nil {
		return nil, noArchive(err)
	}
	return r, nil
}

// answer looks one address up.
func answer(r *archive.Replay, rec *wire.Record, o *options) {
	begin(rec)
	page, err := r.Fetch(rec.URL)
	if page == nil {
		code := classify(context.Background(), err)
		if code == wire.ErrorHTTP {
			// The archive says that it has it, but what is there is no capture.
			code = wire.ErrorNotArchived
		}
		fail(rec, code, err)
		return
	}
	if page.Response == nil {
		arrive(rec, page.URL, page.Hops)
		fail(rec, classify(context.Background(), err), err)
		return
	}
	o.fill(rec, page, err)
	if rec.Error == "" && !o.takes(page.ContentType()) {
		refuseType(rec)
	}
}

// batch gives every response in the archives, of which stdin may be one.
func batch(o *options, stdin io.Reader) (err error) {
	log := filter.Logger(o.stream.Stderr, "fetch", o.stream.Log)
	tally := filter.NewTally(log)
	faults := filter.Faults{Log: log}
	out, closeOut, err := filter.Tee(o.stream.Stdout, o.stream.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeOut()) }()
	paths, err := archive.Files(o.archives)
	if err != nil {
		return noArchive(err)
	}

	w := wire.NewWriter(out)
	var rec wire.Record
	var failed error
	take := archive.Filter{MIME: o.mime, Status: o.status}
	for _, path := range paths {
		pages := archive.All([]string{path}, take, o.limits())
		if path == archive.Input {
			pages = archive.Stream(stdin, path, take, o.limits())
		}
		for page, err := range pages {
			if page == nil {
				tally.Skipped["fault"]++
				if faults.Tell(path) {
					log.Warn("left out what cannot be read of an archive", "err", err)
				}
				if !isFault(err) {
					failed = err
				}
				continue
			}
			tally.In++
			rec.Reset()
			rec.URL, rec.V = page.URL, wire.Version
			o.fill(&rec, page, err)
			if err := w.Write(&rec); err != nil {
				return fmt.Errorf("writing records: %w", err)
			}
			tally.Out++
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	tally.Close()
	if failed == nil && tally.In == 0 && tally.Skipped["fault"] > 0 {
		return errors.New("no page could be read from the archives\n" + archiveHint)
	}
	return failed
}

const archiveHint = "hint: -archive takes WARC files and ARC files, plain or packed, WACZ files, and directories of them"

// noArchive says what to do about an archive that cannot be opened.
func noArchive(err error) error {
	if errors.Is(err, archive.ErrNotWARC) || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("opening an archive: %w\n%s", err, archiveHint)
	}
	return fmt.Errorf("opening an archive: %w", err)
}
