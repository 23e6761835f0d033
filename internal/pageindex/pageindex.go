// Package pageindex creates full-text indexes of the pages of web archives, and updates them.
package pageindex

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"spoor/internal/archive"
	"spoor/internal/atomicfile"
	"spoor/internal/lock"
	"spoor/internal/page"
	"spoor/internal/search"
)

// Pages are added to the index in batches. A batch ends after batchPages pages, or when the bodies
// of its pages exceed batchBytes.
const (
	batchPages = 4000
	batchBytes = 32 << 20
)

// Options are functions that are called while an index is updated. Each may be nil.
type Options struct {
	// Waiting is called if another process is updating the index, before Open waits for it.
	Waiting func(lockFile string)

	// BadRecord is called for each part of an archive that cannot be read and is left out.
	BadRecord func(archive string, err error)

	// Updated is called after an update with the number of archives that were read and of pages
	// that were added. It is not called if the index was up to date.
	Updated func(archives int, pages int64)
}

// Open opens the index in a file. If archives (files, directories and patterns) are given, it
// creates the file if necessary, and adds the pages that are missing in the index.
func Open(name string, archives []string, o Options) (*search.Index, error) {
	if _, err := os.Stat(name); err != nil && len(archives) == 0 {
		return nil, fmt.Errorf("opening the index: %w\nhint: -archive FILE creates it", err)
	}
	paths, err := existingFiles(archives)
	if err != nil {
		return nil, fmt.Errorf("-archive: %w\nhint: give WARC, ARC or WACZ files, or directories of them", err)
	}
	x, err := search.OpenIndex(name, len(archives) > 0)
	if err != nil {
		return nil, err
	}
	u := updater{index: x, Options: o}
	if err := u.update(name, paths); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// existingFiles returns the files of archives. All of them must exist.
func existingFiles(names []string) ([]string, error) {
	paths, err := archive.Files(names)
	for _, path := range paths {
		if err == nil {
			_, err = os.Stat(path)
		}
	}
	return paths, err
}

// An updater updates an index.
type updater struct {
	index *search.Index
	Options
	pages  int64 // number of pages that were added
	faults int64 // number of parts of archives that could not be read
	empty  error // names an archive without records; nil if there is none
}

// update adds the pages of the archives that are not in the index.
func (u *updater) update(index string, paths []string) error {
	var stale []string
	for _, path := range paths {
		switch _, fresh, err := u.state(path); {
		case err != nil:
			return err
		case !fresh:
			stale = append(stale, path)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	unlock, err := u.lock(index + ".lock")
	if err != nil {
		return fmt.Errorf("locking the index: %w", err)
	}
	defer unlock()
	for _, path := range stale {
		if err := u.archive(path); err != nil {
			return fmt.Errorf("indexing: %w", err)
		}
	}
	if n, err := u.index.Len(); err != nil {
		return err
	} else if n == 0 && u.empty != nil {
		return u.empty
	} else if n == 0 && u.faults > 0 {
		return errors.New("no page could be read from the archives\nhint: -archive takes WARC, ARC and WACZ files, also compressed, and directories of them")
	}
	if u.Updated != nil {
		u.Updated(len(stale), u.pages)
	}
	return nil
}

// lock acquires the lock that a process needs to update the index.
func (u *updater) lock(name string) (unlock func() error, err error) {
	f, err := atomicfile.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err = lock.Try(f, true); errors.Is(err, lock.ErrHeld) {
		if u.Waiting != nil {
			u.Waiting(name)
		}
		err = lock.Wait(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f.Close, nil
}

// state returns how much of an archive is in the index; fresh reports whether that is all of it.
// The index stores an archive that is still being written under its final name.
func (u *updater) state(path string) (a search.Archive, fresh bool, err error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return a, false, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return a, false, fmt.Errorf("-archive: %w", err)
	}
	if a, err = u.index.Archive(strings.TrimSuffix(full, openSuffix)); err != nil {
		return a, false, err
	}
	fresh = a.Mark != "" && a.Size == info.Size() && a.Modified.Equal(info.ModTime())
	a.Size, a.Modified = info.Size(), info.ModTime()
	return a, fresh, nil
}

// openSuffix ends the name of a file that is still being written.
const openSuffix = ".open"

// archive adds the pages of one archive that are not in the index.
func (u *updater) archive(path string) error {
	a, fresh, err := u.state(path) // another process may have added it
	if err != nil || fresh {
		return err
	}
	f, err := archive.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if a.Mark != "" {
		current, err := fingerprint(f, a.Done)
		if err != nil {
			return err
		}
		if a.Done == 0 || a.Done > a.Size || current != a.Mark {
			if err := u.index.Forget(a.Name); err != nil {
				return err
			}
			a.Done = 0
		}
	}
	var records int64
	take := archive.Filter{MIME: []string{"text/html", "application/xhtml+xml"}, Status: []int{http.StatusOK}, Record: func() { records++ }}
	pages, base := archive.All([]string{path}, take, archive.Limits{}), int64(0)
	if a.Done > 0 {
		base = a.Done
		pages = archive.Stream(io.NewSectionReader(f, base, 1<<62), path, take, archive.Limits{})
	}
	resume := resumable(a.Name)
	size, modified := a.Size, a.Modified
	var failed error
	faults := u.faults
	for b := range u.batches(path, pages) {
		if resume && b.end > 0 {
			a.Done = base + b.end
		}
		if b.last && base == 0 && records == 0 && u.faults == faults {
			if err := archive.EmptyError([]string{path}); err != nil {
				u.empty = err // the index does not store it, so that the next update finds it again
				return nil
			}
		}
		// Until the archive is read to its end, the index stores an impossible size and time. So if
		// this process is killed, the next update reads the rest of the archive.
		a.Size, a.Modified = -1, time.Unix(0, 0)
		if failed = b.failed; b.last && failed == nil {
			a.Size, a.Modified = size, modified
		}
		if a.Mark, err = fingerprint(f, a.Done); err != nil {
			return err
		}
		if err := u.index.Add(a, b.documents); err != nil {
			return err
		}
		u.pages += int64(len(b.documents))
	}
	return failed
}

// resumable reports whether an update can continue where an earlier one ended. This is possible in a
// WARC file, because each record can be read without the records before it.
func resumable(name string) bool {
	return strings.HasSuffix(name, ".warc") || strings.HasSuffix(name, ".warc.gz")
}

// fingerprintBytes is the number of bytes that a fingerprint hashes at the beginning of a file, and
// again before the offset up to which the file was read.
const fingerprintBytes = 4 << 10

// fingerprint identifies the first n bytes of a file.
func fingerprint(f io.ReaderAt, n int64) (string, error) {
	h := sha256.New()
	for _, from := range []int64{0, max(n-fingerprintBytes, 0)} {
		length := min(fingerprintBytes, max(n-from, 0))
		if _, err := io.Copy(h, io.NewSectionReader(f, from, length)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// A batch holds consecutive pages of an archive.
type batch struct {
	pages     []rawPage
	documents []search.Document // made from the pages, in the same order
	end       int64             // offset of the end of the last page
	last      bool              // the last batch of the archive
	failed    error             // why the archive was not read to its end
}

// A rawPage is a page before parsing.
type rawPage struct {
	doc  page.Document
	url  string
	time time.Time
}

// batches reads and parses pages on other goroutines, while the caller adds the previous batch to
// the index.
func (u *updater) batches(path string, pages iter.Seq2[*archive.Page, error]) iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		read, stop := make(chan *batch), make(chan struct{})
		var reader sync.WaitGroup
		reader.Go(func() {
			defer close(read)
			u.read(path, pages, func(b *batch) bool {
				b.extract()
				select {
				case read <- b:
					return true
				case <-stop:
					return false
				}
			})
		})
		defer reader.Wait()
		defer close(stop)
		for b := range read {
			if !yield(b) {
				return
			}
		}
	}
}

// read collects pages in batches.
//
// The last record of a file that is still being written may be incomplete. The archive yields it
// as a page, and then an error with the same offset. Such a page is left for the next update.
func (u *updater) read(path string, pages iter.Seq2[*archive.Page, error], yield func(*batch) bool) {
	b, size := &batch{}, 0
	torn := false                // the last page is incomplete
	var begin, previousEnd int64 // the offset of the last page; the end of the page before it
	for p, err := range pages {
		if p == nil {
			if fault, ok := errors.AsType[*archive.FormatError](err); !ok {
				b.failed = err
			} else if fault.Offset == begin && strings.HasSuffix(path, openSuffix) {
				torn = true
			}
			u.faults++
			if u.BadRecord != nil {
				u.BadRecord(path, err)
			}
			continue
		}
		if len(b.pages) > 0 && (len(b.pages) == batchPages || size > batchBytes) {
			if !yield(b) {
				return
			}
			b, size = &batch{end: b.end}, 0
		}
		body := slices.Clone(p.Body)
		size += len(body)
		b.pages = append(b.pages, rawPage{url: p.URL, time: p.Time, doc: page.Document{
			URL: p.URL, ContentType: p.ContentType(), Charset: p.Charset(),
			Language: p.Header.Get("Content-Language"), Body: body,
		}})
		begin, previousEnd, torn = p.Offset, b.end, false
		if p.Length > 0 {
			b.end = p.Offset + p.Length
		}
	}
	if n := len(b.pages); torn && n > 0 {
		b.pages, b.end = b.pages[:n-1], previousEnd
	}
	b.last = true
	yield(b)
}

// extract parses the pages and sets documents.
func (b *batch) extract() {
	b.documents = make([]search.Document, len(b.pages))
	workers := min(runtime.GOMAXPROCS(0), max(len(b.pages), 1))
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			extractor := page.NewExtractor()
			extractor.MainContent = true
			for i := w; i < len(b.pages); i += workers {
				p := &b.pages[i]
				c := extractor.Extract(p.doc)
				b.documents[i] = search.Document{URL: p.url, Title: c.Title, Text: c.Text, Boilerplate: c.Boilerplate, Language: c.Lang, Time: p.time}
				p.doc.Body = nil
			}
		})
	}
	all.Wait()
	b.pages = nil
}
