package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"spoor/internal/archive"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// ArchiveHint is the hint at the end of errors about archives that cannot be read.
const ArchiveHint = "hint: -archive takes WARC files and ARC files, plain or packed, WACZ files, and directories of them"

// OpenReplay opens Archives for look-ups by [Options.Answer].
func (o *Options) OpenReplay() (*archive.Replay, error) { return o.openReplay(o.Archives) }

func (o *Options) openReplay(paths []string) (*archive.Replay, error) {
	r, err := archive.OpenReplay(paths, archive.ReplayOptions{
		Index:  archive.IndexOptions{Cache: o.ArchiveCache, Report: o.Fault},
		Limits: archive.Limits{Body: o.MaxBody},
		Pick:   o.Capture,
	})
	return r, openingError(err)
}

// openingError returns the error for an archive that could not be opened because of err, with a hint.
func openingError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, archive.ErrNotWARC) || errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("opening an archive: %w\n%s", err, ArchiveHint)
	}
	return fmt.Errorf("opening an archive: %w", err)
}

// Answer looks up the address of rec in archives and puts the outcome into rec. MaxBody and MIME
// apply.
func (o *Options) Answer(r *archive.Replay, rec *wire.Record) {
	reset(rec)
	if u, err := weburl.Parse(rec.URL); err == nil {
		if e := o.checkScope(rec, u, false); e != nil {
			failScope(rec, nil, e)
			return
		}
	}
	defer o.checkArchived(rec)
	page, err := r.Fetch(rec.URL)
	if page != nil && o.endAtPartition(rec, page.Hops, page.URL) {
		return
	}
	if page == nil {
		code := classify(context.Background(), err)
		if code == wire.ErrorHTTP { // the index has the address, but the archive has no capture at that offset
			code = wire.ErrorNotArchived
		}
		fail(rec, code, err)
		return
	}
	if page.Response == nil {
		setRedirects(rec, page.URL, page.Hops)
		fail(rec, classify(context.Background(), err), err)
		return
	}
	describe(rec, page, err, o.MaxBody, rec.SetBody)
	if rec.Error == "" && !accepts(o.MIME, page.ContentType()) {
		refuseType(rec)
	}
}

// Responses returns the records of all responses in Archives with a media type of MIME
// and one of the given status codes (any status, if status is empty), in the order of the
// files. The archive called [archive.Input] is read from stdin. A record is valid until the
// next one. Errors are of type *[ArchiveError]. If such an error wraps an
// *[archive.FormatError], a part of the archive was skipped, otherwise the rest of it.
func (o *Options) Responses(stdin io.Reader, status []int) (iter.Seq2[*wire.Record, error], error) {
	files, err := archive.Files(o.Archives)
	if err != nil {
		return nil, openingError(err)
	}
	filter, limits := archive.Filter{MIME: o.MIME, Status: status, Revisit: o.Revisit, Record: o.ArchiveRecord}, archive.Limits{Body: o.MaxBody}
	return func(yield func(*wire.Record, error) bool) {
		var rec wire.Record
		for _, path := range files {
			pages := archive.All([]string{path}, filter, limits)
			if path == archive.Input {
				pages = archive.Stream(stdin, path, filter, limits)
			}
			for page, err := range pages {
				if page == nil {
					if !yield(nil, &ArchiveError{path, err}) {
						return
					}
					continue
				}
				rec.Reset()
				rec.URL, rec.V = page.URL, wire.Version
				describe(&rec, page, err, o.MaxBody, rec.SetBody)
				if !yield(&rec, nil) {
					return
				}
			}
		}
	}, nil
}

// An ArchiveError is the error of reading a response from an archive.
type ArchiveError struct {
	Archive string // path of the archive
	Err     error
}

func (e *ArchiveError) Error() string { return e.Err.Error() }
func (e *ArchiveError) Unwrap() error { return e.Err }
