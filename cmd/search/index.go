package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/lock"
	"spoor/internal/page"
	"spoor/internal/search"
)

// Pages are taken into the index so many at a time, or when their bodies are this long
// together.
const (
	batchPages = 1000
	batchBytes = 32 << 20
)

// maxText is how many bytes of a page's text are searched.
const maxText = 1 << 20

// openIndex opens an index, and brings it up to date with archives if there are any.
func openIndex(name string, archives []string, log *slog.Logger) (*search.Index, error) {
	if _, err := os.Stat(name); err != nil && len(archives) == 0 {
		return nil, fmt.Errorf("opening the index: %w\nhint: with -archive FILE it is made", err)
	}
	paths, err := files(archives)
	if err != nil {
		return nil, fmt.Errorf("-archive: %w\nhint: give WARC, ARC or WACZ files, or directories of them", err)
	}
	x, err := search.OpenIndex(name, len(archives) > 0)
	if err != nil {
		return nil, err
	}
	u := updater{x: x, log: log, faults: filter.Faults{Log: log}}
	if err := u.all(name, paths); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// files are the files of archives, all of which are there.
func files(names []string) ([]string, error) {
	paths, err := archive.Files(names)
	for _, path := range paths {
		if err == nil {
			_, err = os.Stat(path)
		}
	}
	return paths, err
}

// An updater brings an index up to date.
type updater struct {
	x      *search.Index
	log    *slog.Logger
	faults filter.Faults
	pages  int64 // that were taken in
	faulty bool  // something could not be read
}

// all takes in what the index lacks of the archives.
func (u *updater) all(index string, paths []string) error {
	started := time.Now()
	var behind []string
	for _, path := range paths {
		switch _, fresh, err := u.state(path); {
		case err != nil:
			return err
		case !fresh:
			behind = append(behind, path)
		}
	}
	if len(behind) == 0 {
		return nil
	}
	unlock, err := u.lock(index + ".lock")
	if err != nil {
		return fmt.Errorf("locking the index: %w", err)
	}
	defer unlock()
	for _, path := range behind {
		if err := u.archive(path); err != nil {
			return fmt.Errorf("indexing: %w", err)
		}
	}
	if n, err := u.x.Len(); err != nil {
		return err
	} else if n == 0 && u.faulty {
		return errors.New("no page could be read from the archives\nhint: -archive takes WARC files and ARC files, plain or packed, WACZ files, and directories of them")
	}
	u.log.Info("the index is up to date", "archives", len(behind), "pages", u.pages,
		"seconds", float64(time.Since(started).Milliseconds())/1000)
	return nil
}

// lock keeps other processes from bringing the index up to date, too.
func (u *updater) lock(name string) (unlock func() error, err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err = lock.Try(f, true); errors.Is(err, lock.ErrHeld) {
		u.log.Info("waiting for another process, which brings the index up to date", "lock", name)
		err = lock.Wait(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f.Close, nil
}

// state is how far an archive has been read, and whether that is all of it. Its name
// in the index does not tell whether it is still being written.
func (u *updater) state(path string) (a search.Archive, fresh bool, err error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return a, false, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return a, false, fmt.Errorf("-archive: %w", err)
	}
	if a, err = u.x.Archive(strings.TrimSuffix(full, open)); err != nil {
		return a, false, err
	}
	fresh = a.Mark != "" && a.Size == info.Size() && a.Modified.Equal(info.ModTime())
	a.Size, a.Modified = info.Size(), info.ModTime()
	return a, fresh, nil
}

// open ends the name of a file that is still being written.
const open = ".open"

// archive takes in what the index lacks of one archive.
func (u *updater) archive(path string) error {
	a, fresh, err := u.state(path) // another process may have done it
	if err != nil || fresh {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if a.Mark != "" {
		same, err := mark(f, a.Done)
		if err != nil {
			return err
		}
		if a.Done == 0 || a.Done > a.Size || same != a.Mark {
			if err := u.x.Forget(a.Name); err != nil {
				return err
			}
			a.Done = 0
		}
	}
	take := archive.Filter{MIME: []string{"text/html", "application/xhtml+xml"}, Status: []int{http.StatusOK}}
	pages, base := archive.All([]string{path}, take, archive.Limits{}), int64(0)
	if a.Done > 0 {
		base = a.Done
		pages = archive.Stream(io.NewSectionReader(f, base, 1<<62), path, take, archive.Limits{})
	}
	resumable := appendable(a.Name)
	size, modified := a.Size, a.Modified
	var failed error
	for b := range u.batches(path, pages) {
		if resumable && b.end > 0 {
			a.Done = base + b.end
		}
		// Until the end it is on record as something that is not there any more.
		a.Size, a.Modified = -1, time.Unix(0, 0)
		if failed = b.failed; b.last && failed == nil {
			a.Size, a.Modified = size, modified
		}
		if a.Mark, err = mark(f, a.Done); err != nil {
			return err
		}
		if err := u.x.Add(a, b.documents); err != nil {
			return err
		}
		u.pages += int64(len(b.documents))
	}
	return failed
}

// appendable tells whether an archive is read on from where it was read up to: a WARC
// file whose records can be read without those before them.
func appendable(name string) bool {
	return strings.HasSuffix(name, ".warc") || strings.HasSuffix(name, ".warc.gz")
}

// markBytes is how much of a file is looked at, at its beginning and before the place
// up to which it was read.
const markBytes = 4 << 10

// mark is what the first n bytes of a file look like.
func mark(f io.ReaderAt, n int64) (string, error) {
	h := sha256.New()
	for _, from := range []int64{0, max(n-markBytes, 0)} {
		length := min(markBytes, max(n-from, 0))
		if _, err := io.Copy(h, io.NewSectionReader(f, from, length)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// A batch is some pages of an archive.
type batch struct {
	pages     []raw
	documents []search.Document // what the pages are, one for one
	end       int64             // of the last page, in what was read
	last      bool
	failed    error // why the archive was not read to its end
}

// raw is a page as it came.
type raw struct {
	doc  page.Document
	url  string
	time time.Time
}

// batches reads pages and makes documents of them: one goroutine reads the archive,
// others the pages, while those before go into the index.
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

// read gathers pages into batches, the last of which says so.
//
// The last record of a file that is still being written may be torn. It comes as a
// page and then as a fault at the same place: such a page waits until it is whole.
func (u *updater) read(path string, pages iter.Seq2[*archive.Page, error], yield func(*batch) bool) {
	b, size := &batch{}, 0
	torn := false          // the last page is
	var begin, ahead int64 // of the last page; the end of the one before it
	for p, err := range pages {
		if p == nil {
			if fault, ok := errors.AsType[*archive.FormatError](err); !ok {
				b.failed = err
			} else if fault.Offset == begin && strings.HasSuffix(path, open) {
				torn = true
			}
			u.faulty = true
			if u.faults.Tell(path) {
				u.log.Warn("left out what cannot be read of an archive", "err", err)
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
		sent := p.Header.Get("Content-Type")
		b.pages = append(b.pages, raw{url: p.URL, time: p.Time, doc: page.Document{
			URL: p.URL, ContentType: p.ContentType(), Charset: archive.Charset(sent),
			Language: p.Header.Get("Content-Language"), Body: body,
		}})
		begin, ahead, torn = p.Offset, b.end, false
		if p.Length > 0 {
			b.end = p.Offset + p.Length
		}
	}
	if n := len(b.pages); torn && n > 0 {
		b.pages, b.end = b.pages[:n-1], ahead
	}
	b.last = true
	yield(b)
}

// extract makes documents of the pages.
func (b *batch) extract() {
	b.documents = make([]search.Document, len(b.pages))
	workers := min(runtime.GOMAXPROCS(0), max(len(b.pages), 1))
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			extractor := page.NewExtractor()
			for i := w; i < len(b.pages); i += workers {
				p := &b.pages[i]
				c := extractor.Extract(p.doc)
				b.documents[i] = search.Document{URL: p.url, Title: c.Title, Text: c.Text[:min(len(c.Text), maxText)], Time: p.time}
				p.doc.Body = nil
			}
		})
	}
	all.Wait()
	b.pages = nil
}
