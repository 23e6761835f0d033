package archive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"spoor/internal/message"
	"spoor/internal/weburl"
)

// MaxRedirects is the largest number of redirects that are followed.
const MaxRedirects = 10

// A Hop is a redirect on the way to a page.
type Hop struct {
	URL        string // the URL that redirected
	StatusCode int
}

// A Page is a response from an archive.
type Page struct {
	*Response
	URL      string // canonical URL of the capture, at the end of the redirects
	Target   string // the same as archived
	Hops     []Hop  // redirects, in order
	Time     time.Time
	IP       string
	Digest   string // digest of the payload, "sha1:…"; computed from Raw if the record has none
	Filename string // name of the archive without directory; x.wacz/archive/y.warc.gz inside a WACZ
	Offset   int64  // offset of the record (the revisit, if Revisit is set) in that file
	Length   int64  // length of the record in the file; 0 if it shares its member with others
	Revisit  bool   // the body comes from an earlier capture
	Damage   error  // why the record, or that of the original, is not whole; nil if no fault was noticed. Digests are not compared
}

// A Replay answers requests from several archives. It is safe for concurrent use.
//
// Only captures with exactly the same canonical URL answer a request. A fuzzy match, for
// instance by the key of the index, would return "/a" for "/A", or the page of another session.
// Then one page would have several URLs that it did not have on the archived site. If the server
// redirected variants of a URL to one page, the archive contains these redirects.
//
// If there are several captures, the newest is used, unless a [Pick] selects another. Whole pages
// are preferred to partial ones (status 206, WARC-Truncated), and both to 304 responses, which have
// no page. Redirects of a URL to itself come last. Among captures of the same second, the last in
// the file with the greatest name is used. The order in which the archives are given has no
// influence. A revisit without an archived original is skipped if there is another capture.
type Replay struct {
	limits   Limits
	pick     Pick
	archives []*archived
	scratch  sync.Pool // of *scratch
	records  func() *records
	long     longLists
}

type archived struct {
	path    string
	inner   string // the only file in a WACZ to use; empty: all files
	file    *os.File
	sources []source
	*Index

	temp     string // directory for temporary files; empty means the directory of the system
	unpacked unpackedMembers
}

// A scratch holds the buffers for reading one capture.
type scratch struct {
	reader  Reader
	decoder Decoder
	section io.SectionReader
	head    []byte // start of a block, to compare the record with the index

	reuse          bool   // reuse the buffers of a page for the next one
	blockBuf, body []byte // the buffers
}

// ReplayOptions are the parameters of a Replay.
type ReplayOptions struct {
	Index  IndexOptions
	Limits Limits
	Pick   Pick // selects one of several captures; the zero value selects the newest
}

// OpenReplay opens archives, and indexes them if necessary. A directory stands for all archives
// in it, see [Files]. OpenReplay returns [ErrNotWARC] if a named file is not empty but has no
// records, or if all files of a directory are like that.
func OpenReplay(names []string, o ReplayOptions) (*Replay, error) {
	paths, err := Files(names)
	if err != nil {
		return nil, err
	}
	r := &Replay{limits: o.Limits, pick: o.Pick}
	r.records = sync.OnceValue(r.identify)
	withoutRecords := 0 // number of files without records
	for _, path := range paths {
		a, err := openArchive(path, o.Index)
		if err != nil {
			r.Close()
			return nil, err
		}
		r.archives = append(r.archives, a)
		if a.Meta.Records > 0 || a.Meta.Faults == 0 {
			continue
		}
		// In a directory, a single such file may be truncated.
		if withoutRecords++; withoutRecords == len(paths) || slices.Contains(names, path) {
			r.Close()
			return nil, fmt.Errorf("%s: %w: there is no record in it", path, ErrNotWARC)
		}
	}
	slices.SortStableFunc(r.archives, func(a, b *archived) int {
		return cmp.Or(cmp.Compare(filepath.Base(a.path), filepath.Base(b.path)), cmp.Compare(a.path, b.path))
	})
	return r, nil
}

func openArchive(name string, o IndexOptions) (*archived, error) {
	path, inner := containerOf(name)
	index, err := OpenIndex(path, o)
	if err != nil {
		return nil, err
	}
	a := &archived{path: path, inner: inner, Index: index, temp: o.Cache}
	err = a.open()
	if err == nil {
		_, err = selectSource(slices.Clone(a.sources), name, inner)
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *archived) open() (err error) {
	a.file, err = openFile(a.path, os.O_RDONLY)
	if err != nil {
		return err
	}
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	a.sources, _ = sources(filepath.Base(a.path), a.file, info.Size()) // faults are counted in the index
	for i := range a.sources {
		if err := a.sources[i].detect(); err != nil {
			return fmt.Errorf("%s: %w", a.path, err)
		}
	}
	return nil
}

// source returns the index of the source with that name, or -1. It ignores the name of the archive, so
// that an archive can be renamed together with its index.
func (a *archived) source(name string) int {
	if len(a.sources) == 1 && !a.sources[0].inside {
		return 0
	}
	i, ok := slices.BinarySearchFunc(a.sources, name, func(s source, name string) int { return cmp.Compare(s.name, name) })
	if !ok {
		return -1
	}
	return i
}

func (a *archived) Close() error {
	err := errors.Join(a.Index.Close(), a.unpacked.Close())
	if a.file != nil {
		if e := a.file.Close(); err == nil {
			err = e
		}
	}
	return err
}

// Faults returns the number of faults in the archives, including those found when they were
// indexed earlier.
func (r *Replay) Faults() int64 {
	var n int64
	for _, a := range r.archives {
		n += a.current().Meta.Faults
	}
	return n
}

// Close closes the archives.
func (r *Replay) Close() error {
	var errs []error
	for _, a := range r.archives {
		errs = append(errs, a.Close())
	}
	return errors.Join(errs...)
}

// Has reports whether the archives have a capture of a canonical URL. If the capture is a redirect,
// the target may be missing.
func (r *Replay) Has(url string) bool {
	key := newIndexKey(url)
	for _, a := range r.archives {
		if a.hasKey(key) && (a.inner == "" || len(r.candidates(url)) > 0) {
			return true
		}
	}
	return false
}

// Lookup returns the captures of a canonical URL. The first is the capture that Fetch would use.
// Lookup compares the index with the records of the captures.
func (r *Replay) Lookup(url string) []Capture {
	var all []Capture
	r.retry(func() error {
		key := r.listKey(url, r.pick)
		all = slices.Clone(r.candidates(url))
		if r.long.isConfirmed(key) {
			return nil
		}
		for _, c := range all {
			if err := r.confirm(c); errors.Is(err, errOtherRecord) {
				return err
			}
		}
		r.long.confirm(key)
		return nil
	})
	return all
}

// candidates is like Lookup, but without the comparison. Callers must not change the result.
func (r *Replay) candidates(url string) []Capture {
	all := r.lookup(url, r.pick)
	other := func(c Capture) bool {
		a := r.archives[c.archive]
		return a.inner != "" && a.sources[c.source].name != a.inner
	}
	if slices.ContainsFunc(all, other) {
		all = slices.DeleteFunc(slices.Clone(all), other)
	}
	return all
}

// lookup returns the captures of a canonical URL in the order of pick. If only one file of a WACZ is
// used, captures in its other files are included, because they may be originals of revisits. Callers
// must not change the result.
func (r *Replay) lookup(url string, pick Pick) []Capture {
	return r.long.get(r.listKey(url, pick), func() []Capture { return r.find(url, pick) })
}

func (r *Replay) listKey(url string, pick Pick) listKey {
	key := listKey{url: url, pick: pick}
	for _, a := range r.archives {
		if a.rebuilt.Load() != nil {
			key.rebuilt++
		}
	}
	return key
}

// find is lookup by reading the indexes.
func (r *Replay) find(url string, pick Pick) []Capture {
	var all []Capture
	key := newIndexKey(url)
	for i, a := range r.archives {
		n := len(all)
		all = a.lookupKey(all, key)
		if err := a.locate(all[n:], i); err != nil {
			a.rebuild(err)
			all = a.lookupKey(all[:n], key)
			a.locate(all[n:], i) // a file that was added to a growing archive meanwhile has no source
		}
	}
	all = slices.DeleteFunc(all, func(c Capture) bool { return c.source < 0 })
	pick.sort(all)
	return all
}

// locate sets the sources of captures. If the archive does not contain the place of a capture, locate
// sets the source to -1 and returns an error.
func (a *archived) locate(captures []Capture, number int) (err error) {
	for i := range captures {
		c := &captures[i]
		c.archive, c.source = number, a.source(c.Filename)
		if c.source < 0 || c.Offset >= a.sources[c.source].data.Size() {
			c.source = -1
			err = fmt.Errorf("it has a line for byte %d of %q, which does not exist", c.Offset, c.Filename)
		}
	}
	return err
}

// retry calls f until its error is not errOtherRecord. At each such error the index of an archive has
// been rebuilt, so there is at most one for each archive, unless an archive changes while it is read.
func (r *Replay) retry(f func() error) error {
	err := f()
	for range r.archives {
		if !errors.Is(err, errOtherRecord) {
			break
		}
		err = f()
	}
	return err
}

// Fetch returns the page for a URL, and follows redirects. It returns [ErrNotArchived],
// [ErrRedirectLoop], [ErrTooLarge], [ErrCoding], an error of weburl for a malformed URL, or the
// error of reading a broken archive. With the first three errors, it returns a page in which URL
// and Hops are set; with ErrTooLarge, the page also has a Response, with a body cut at the limit.
func (r *Replay) Fetch(address string) (*Page, error) {
	return r.follow(address, r.confirm, r.Read)
}

// Resolve returns the URL to which the redirects of a URL lead, which is the URL itself if it does
// not redirect, and the captures that [Replay.Fetch] uses: those of the redirects, then that of the
// page. It reads only revisits; it does not compare the index with the archive. Its errors are those of
// Fetch.
func (r *Replay) Resolve(address string) (url string, used []Capture, err error) {
	use := func(c Capture) error {
		used = append(used, c)
		return nil
	}
	page, err := r.follow(address, use, func(c Capture) (*Page, error) {
		if c.Revisit() {
			if page, err := r.Read(c); err != nil {
				return page, err
			}
		}
		return &Page{URL: c.URL}, use(c)
	})
	if page != nil {
		url = page.URL
	}
	return url, used, err
}

// follow follows the redirects of a URL, which it passes to confirm, to a page that read returns.
func (r *Replay) follow(address string, confirm func(Capture) error, read func(Capture) (*Page, error)) (*Page, error) {
	url, err := weburl.Canonical(address)
	if err != nil {
		return nil, err
	}
	var hops []Hop
	seen := map[string]bool{}
	for {
		if len(hops) > MaxRedirects {
			return &Page{URL: url, Hops: hops}, ErrRedirectLoop
		}
		var page *Page
		var redirect Capture
		err := r.retry(func() (err error) {
			page, redirect, err = r.answer(url, seen[url], confirm, read)
			return err
		})
		if page != nil {
			page.Hops = hops
		}
		if page != nil || err != nil {
			return page, err
		}
		seen[url] = true
		hops = append(hops, Hop{url, redirect.Status})
		url = redirect.Redirect
	}
}

// answer returns the best capture of a canonical URL: a page, or a redirect without a page. It
// passes over revisits whose original is missing. If redirects lead to the URL again, because they
// set a cookie on the way, it also passes over captures that redirect.
func (r *Replay) answer(url string, seen bool, confirm func(Capture) error, read func(Capture) (*Page, error)) (first *Page, redirect Capture, err error) {
	const maxMissing = 10 // the time to find that an original is missing is proportional to the captures of a URL
	first, err = &Page{URL: url}, ErrNotArchived
	missing := 0
	for _, c := range r.candidates(url) {
		switch {
		case c.Redirect != "" && !seen:
			return nil, c, confirm(c)
		case c.Redirect != "", c.Revisit() && missing == maxMissing:
			continue
		}
		page, e := read(c)
		if !errors.Is(e, ErrNotArchived) {
			return page, Capture{}, e
		}
		if missing++; missing == 1 {
			first, err = page, e
		}
	}
	if seen {
		first, err = &Page{URL: url}, ErrRedirectLoop
	}
	return first, Capture{}, err
}

// Target returns the URL of a capture as archived, without fragment.
func (r *Replay) Target(c Capture) (string, error) {
	s := r.take()
	defer r.scratch.Put(s)
	rec, err := r.archives[c.archive].record(s, c)
	if err != nil {
		return "", err
	}
	return rec.target(), nil
}

// RecordID returns the identifier of the record of a capture, in angle brackets. It may be empty.
func (r *Replay) RecordID(c Capture) (string, error) {
	s := r.take()
	defer r.scratch.Put(s)
	rec, err := r.archives[c.archive].record(s, c)
	if err != nil {
		return "", err
	}
	return rec.ID(), nil
}

// confirm checks that the index describes the record of a capture correctly. If not, it returns
// errOtherRecord.
func (r *Replay) confirm(c Capture) error {
	s := r.take()
	defer r.scratch.Put(s)
	a := r.archives[c.archive]
	rec, err := a.record(s, c)
	if err != nil {
		return err
	}
	return a.confirmRecord(s, rec, c)
}

// confirmRecord is confirm for a record whose header was read.
func (a *archived) confirmRecord(s *scratch, rec *Record, c Capture) error {
	b := indexer{name: c.Filename, buf: s.head}
	e, err := b.entry(rec)
	s.head = b.buf
	if err != nil {
		return fmt.Errorf("reading %s at byte %d: %w", a.path, c.Offset, err)
	}
	e.finish(rec) // its faults were reported when it was indexed
	return a.compare(c, e.Capture)
}

func (r *Replay) take() *scratch {
	s, _ := r.scratch.Get().(*scratch)
	if s == nil {
		s = new(scratch)
		s.decoder.Limits = r.limits
	}
	return s
}

// Read reads and decodes a capture. A revisit gets the body of its original; if the original is
// missing, Read returns [ErrNotArchived].
func (r *Replay) Read(c Capture) (*Page, error) {
	s := r.take()
	defer r.scratch.Put(s)
	return r.read(s, c, 0)
}

func (r *Replay) read(s *scratch, c Capture, depth int) (*Page, error) {
	a := r.archives[c.archive]
	rec, err := a.record(s, c)
	if err != nil {
		return nil, err
	}
	return r.readRecord(s, rec, c, depth)
}

// readRecord is read for a record whose header was read. The reader of s may be another one.
func (r *Replay) readRecord(s *scratch, rec *Record, c Capture, depth int) (*Page, error) {
	a := r.archives[c.archive]
	page := newPage(rec, c.URL, a.sources[c.source].label(filepath.Base(a.path)))
	page.Digest, page.Length, page.Revisit = c.Digest, c.Length, c.Revisit()
	var block []byte
	var cut bool
	var err error
	if page.Revisit {
		block, cut, err = readAll(nil, rec, rec.ContentLength, maxHeader)
	} else {
		block, cut, err = s.block(rec)
	}
	if err != nil {
		return page, err
	}
	if page.Damage, err = a.check(c, rec, block, cut); err != nil {
		return nil, err
	}
	if !page.Revisit {
		page.Response, err = s.decode(rec, block, cut)
		return page, err
	}
	ref := newReferral(c, rec)
	original, ok := r.original(&ref)
	named := cmp.Or(ref.url, ref.id, c.Digest)
	if !ok && named == "" {
		return page, fmt.Errorf("%w: the original of the revisit in %s at byte %d, which does not identify it", ErrNotArchived, page.Filename, c.Offset)
	}
	if !ok || depth == maxRevisits {
		return page, fmt.Errorf("%w: the capture that %s at byte %d refers to (%s)", ErrNotArchived, page.Filename, c.Offset, named)
	}
	first, err := r.read(s, original, depth+1)
	if first == nil || first.Response == nil {
		return page, err
	}
	page.Response, page.Damage = first.Response, cmp.Or(page.Damage, first.Damage)
	if len(block) > 0 {
		// The header of the revisit replaces that of the original, except for the fields that
		// describe the body.
		now := parseHead(block)
		if now.StatusCode == 0 {
			page.Response, err = s.decoder.parse(nil, block)
			return page, err
		}
		page.Proto = now.Proto
		if now.StatusCode != http.StatusNotModified { // 304 keeps the status of the original
			page.StatusCode, page.Reason = now.StatusCode, now.Reason
		}
		for _, name := range []string{"Content-Type", "Content-Encoding", "Transfer-Encoding", "Content-Length"} {
			if v, ok := first.Header[name]; ok && (name != "Content-Type" || now.Header[name] == nil) {
				now.Header[name] = v
			} else if !ok && name != "Content-Type" {
				delete(now.Header, name)
			}
		}
		page.Header = now.Header
	}
	return page, err
}

// record reads the header of the record of a capture. It returns errOtherRecord if the record has
// another URL or time: the index may belong to another archive of the same size and modification
// time, or may have been forged.
func (a *archived) record(s *scratch, c Capture) (*Record, error) {
	rec, err := a.at(s, c)
	if _, fault := errors.AsType[*FormatError](err); fault || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, a.otherRecord(c)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s at byte %d: %w", a.path, c.Offset, err)
	}
	if !rec.isOf(c) {
		return nil, a.otherRecord(c)
	}
	return rec, nil
}

// isOf reports whether the record has the URL and the time of a capture.
func (r *Record) isOf(c Capture) bool {
	url, err := r.TargetURI(), error(nil)
	if url != c.URL {
		url, err = weburl.Canonical(url)
	}
	return err == nil && url == c.URL && r.Date().Format(timestampLayout) == c.Timestamp
}

// check compares a record whose block was read with its capture, and closes the record. It returns why
// the record is not whole. If the block was cut, check notices no damage, and cannot compare the length
// of the record, nor a digest that is not in the header.
func (a *archived) check(c Capture, rec *Record, block []byte, cut bool) (damage, err error) {
	head := block[:min(len(block), bufferSize)]
	found, resp := describeCapture(rec, c.URL, head)
	if found.Digest == "" && !found.Revisit() {
		if found.Digest = c.Digest; !cut {
			resp.Raw = block[len(head)-len(resp.Raw):]
			found.Digest = resp.Digest()
		}
	}
	if !cut {
		damage = rec.damage(found.finish(rec))
	} else {
		found.Length, found.Partial = c.Length, c.Partial
	}
	return damage, a.compare(c, found)
}

// damage returns the reason of a fault that ends the record: err is the error of Close.
func (r *Record) damage(err error) error {
	fault, ok := errors.AsType[*FormatError](err)
	if !ok {
		return err
	}
	return fault.Err
}

// Check reads the record of a capture again and, for a revisit, that of its original. It returns the
// error of [Volume.Check].
func (r *Replay) Check(c Capture) error { return r.checkCapture(c, 0) }

// Damaged reports whether the record of a capture, or that of its original, cannot be read to its end.
func (r *Replay) Damaged(c Capture) bool {
	if c.Length > 0 {
		return false // as found when the record was indexed
	}
	page, _ := r.Read(c)
	return page != nil && page.Damage != nil
}

func (r *Replay) checkCapture(c Capture, depth int) error {
	v := r.Volume(c)
	if err := v.Check(c.Offset, c.Skip); err != nil || !c.Revisit() || depth == maxRevisits {
		return err
	}
	rec, err := v.At(c.Offset, c.Skip)
	if err != nil {
		return err
	}
	ref := newReferral(c, rec)
	if original, ok := r.original(&ref); ok {
		return r.checkCapture(original, depth+1)
	}
	return nil
}

// compare returns errOtherRecord if a capture in the index differs from the capture in the archive.
func (a *archived) compare(c, found Capture) error {
	found.Filename, found.archive, found.source = c.Filename, c.archive, c.source
	if found.indexed() != c {
		return a.otherRecord(c)
	}
	return nil
}

// errOtherRecord is returned for a record that the index describes differently.
var errOtherRecord = errors.New("the archive has changed, or its index is of another archive")

// otherRecord rebuilds the index and returns errOtherRecord.
func (a *archived) otherRecord(c Capture) error {
	err := fmt.Errorf("%w: the record of %s at byte %d is not as the index says", errOtherRecord, c.URL, c.Offset)
	a.rebuild(err)
	return fmt.Errorf("reading %s: %w (hint: try again when nothing changes it)", a.path, err)
}

// at reads the header of the record at the position of a capture.
func (a *archived) at(s *scratch, c Capture) (*Record, error) {
	in := &a.sources[c.source]
	length := c.Length
	if length == 0 {
		length = max(0, in.data.Size()-c.Offset)
	}
	s.section = *io.NewSectionReader(in.data, c.Offset, length)
	if !bytes.Equal(s.reader.m.dict, in.dict) {
		s.reader.m.dict, s.reader.m.zs = in.dict, nil
	}
	member := a.unpacked.get(c, in, a.temp)
	if err := s.reader.reset(&s.section, c.Offset, in.format); err != nil {
		return nil, err
	}
	if member == nil {
		return s.reader.skip(c.Skip)
	}
	if err := s.reader.enterUnpacked(member, c.Skip); err != nil {
		return nil, noEOF(err)
	}
	return s.reader.skip(0)
}

// skip returns the first record after n decompressed bytes of the first member.
func (r *Reader) skip(n int64) (*Record, error) {
	if n > 0 {
		if r.m.format == plain {
			return nil, &FormatError{r.m.base, errors.New("a file that is not compressed has no members")}
		}
		if err := r.discard(n); err != nil {
			return nil, noEOF(err)
		}
	}
	rec, err := r.Next()
	if err != nil {
		return nil, noEOF(err)
	}
	return rec, nil
}

// discard skips n decompressed bytes of the first member.
func (r *Reader) discard(n int64) error {
	if err := r.enter(); err != nil {
		return err
	}
	_, err := io.CopyN(io.Discard, r.out, n)
	return err
}

// newPage returns a page without a response.
func newPage(rec *Record, url, filename string) *Page {
	return &Page{
		URL:      url,
		Target:   rec.target(),
		Time:     rec.Date(),
		IP:       rec.Header.Get("WARC-IP-Address"),
		Digest:   rec.Header.Get("WARC-Payload-Digest"),
		Filename: filename,
		Offset:   rec.Offset,
	}
}

func (s *scratch) response(rec *Record) (*Response, error) {
	block, cut, err := s.block(rec)
	if err != nil {
		return nil, err
	}
	return s.decode(rec, block, cut)
}

// block reads the block of a record, but not more than the limit.
func (s *scratch) block(rec *Record) (block []byte, cut bool, err error) {
	limit := s.decoder.Limits.body() + maxHeader
	if block, cut, err = readAll(s.blockBuf, rec, rec.ContentLength, limit); err != nil {
		return nil, false, err
	}
	s.keep(&s.blockBuf, block)
	return block, cut, nil
}

// decode returns the response in a record with the given block. A resource is only a body, so decode
// adds a header.
func (s *scratch) decode(rec *Record, block []byte, cut bool) (resp *Response, err error) {
	if rec.Type() == "resource" {
		resp = &Response{Head: message.Head{Proto: "HTTP/1.1", StatusCode: http.StatusOK, Reason: "OK", Header: http.Header{}}, Raw: block, Body: block}
		if t := rec.Header.Get("Content-Type"); t != "" {
			resp.Header.Set("Content-Type", t)
		}
		if limit := s.decoder.Limits.body(); int64(len(block)) > limit {
			resp.Body, cut = block[:limit], true
		}
	} else {
		resp, err = s.decoder.parse(s.body, block)
		if len(resp.Body) > 0 && len(resp.Raw) > 0 && &resp.Body[0] != &resp.Raw[0] {
			s.keep(&s.body, resp.Body)
		}
	}
	switch why := rec.truncated(); {
	case resp.Truncated == "length": // truncated because of the limit of this Replay
	case why == "length", why == "time", why == "disconnect":
		resp.Truncated = why // the record contains the reason why chunks are missing
	case resp.Truncated == "":
		resp.Truncated = why
		if rec.short != nil && why == "" {
			resp.Truncated = "disconnect" // the record itself is truncated
		}
	}
	if cut && err == nil {
		resp.Truncated = "length"
		err = fmt.Errorf("%w: more than %d bytes as received", ErrTooLarge, s.decoder.Limits.body())
	}
	return resp, err
}

// keep keeps a buffer for the next page, unless it is too large.
func (s *scratch) keep(memory *[]byte, used []byte) {
	const maxKept = 8 << 20
	if s.reuse && cap(used) <= maxKept {
		*memory = used[:0]
	}
}

// A Filter selects responses.
type Filter struct {
	MIME   []string // media types, see [ParseMediaTypes]; empty: any
	Status []int    // statuses; empty: any

	Revisit func() // called for each revisit, because revisits are not yielded; may be nil
	Record  func() // called for each record of any type; may be nil
}

func (f *Filter) takes(r *Response) bool {
	return (len(f.Status) == 0 || slices.Contains(f.Status, r.StatusCode)) &&
		(len(f.MIME) == 0 || TakesMediaType(f.MIME, r.ContentType()))
}

// ParseMediaTypes parses a comma-separated list of media types; "image/*" stands for all
// images. The result is in lower case.
func ParseMediaTypes(list string) (types []string, err error) {
	for t := range strings.SplitSeq(strings.ToLower(list), ",") {
		if t = strings.TrimSpace(t); t == "" {
			continue
		}
		if kind, sub, _ := strings.Cut(t, "/"); message.MediaType(t) != t || strings.Contains(kind, "*") || sub != "*" && strings.Contains(sub, "*") {
			return nil, fmt.Errorf("%q is no media type (hint: text/html, or text/* for all that begin so)", t)
		}
		types = append(types, t)
	}
	return types, nil
}

// TakesMediaType reports whether a media type, in lower case, matches one of the types that
// [ParseMediaTypes] returned.
func TakesMediaType(types []string, media string) bool {
	return slices.ContainsFunc(types, func(t string) bool {
		kind, all := strings.CutSuffix(t, "*")
		return t == media || all && strings.HasPrefix(media, kind)
	})
}

// All reads the archives sequentially and yields each response and resource with an http or
// https URL that the filter selects. It does not follow redirects, does not yield revisits, and
// needs no index. The bytes of a page are valid until the next one; its strings may be kept.
//
// A page may be yielded together with [ErrTooLarge] or [ErrStatus]. A fault is yielded as a
// *[FormatError], wrapped with the name of the file, without a page, and reading continues. After any
// other error the rest of the file is skipped.
func All(paths []string, filter Filter, limits Limits) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		files, err := Files(paths)
		if err != nil {
			yield(nil, err)
			return
		}
		s := scratch{decoder: Decoder{Limits: limits}, reuse: true}
		for _, path := range files {
			if !volumes(path, slices.Contains(paths, path), nil, s.volume(path, &filter, yield)) {
				return
			}
		}
	}
}

// Stream is like [All] for one archive that is read from r, which may be a pipe. Faults and pages
// contain the name. A WACZ can be read only from a regular file, because its directory is at the
// end.
func Stream(r io.Reader, name string, filter Filter, limits Limits) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		s := scratch{decoder: Decoder{Limits: limits}, reuse: true}
		volumesOf(r, name, name, "", s.volume(name, &filter, yield))
	}
}

// volume returns a function that yields the pages of a volume of the archive at path, and
// reports whether to continue with the next volume.
func (s *scratch) volume(path string, filter *Filter, yield func(*Page, error) bool) func(Volume, error) bool {
	return func(v Volume, err error) bool {
		if _, fault := errors.AsType[*FormatError](err); fault {
			err = fmt.Errorf("%s: %w", path, err)
		}
		if err != nil {
			return yield(nil, err)
		}
		return s.pages(&v, filter, yield)
	}
}

func (s *scratch) pages(v *Volume, filter *Filter, yield func(*Page, error) bool) bool {
	s.reader.m.dict, s.reader.m.zs = nil, nil
	if err := s.reader.Reset(v.Data); err != nil {
		return yield(nil, fmt.Errorf("%s: %w", v.Path, err))
	}
	for rec, err := range s.reader.all() {
		if err == nil {
			var page *Page
			page, err = s.page(rec, v.Name, filter)
			fault := rec.Close()
			if page != nil {
				page.Length, page.Damage = rec.Length, rec.damage(fault)
				if !yield(page, err) {
					return false
				}
				err = nil
			}
			err = cmp.Or(err, fault)
		}
		if err == nil {
			continue
		}
		_, ok := errors.AsType[*FormatError](err)
		if !yield(nil, fmt.Errorf("%s: %w", v.Path, err)) {
			return false
		}
		if !ok {
			return true
		}
	}
	return true
}

// page returns the page in a record, or nil if the record contains no page or the filter does not
// select it.
func (s *scratch) page(rec *Record, filename string, filter *Filter) (*Page, error) {
	if filter.Record != nil {
		filter.Record()
	}
	kind := rec.Type()
	if kind == "revisit" && filter.Revisit != nil {
		filter.Revisit()
	}
	if kind != "response" && kind != "resource" {
		return nil, nil
	}
	url, err := weburl.Canonical(rec.TargetURI())
	if err != nil {
		return nil, unusable(rec, err)
	}
	resp, err := s.response(rec)
	if resp == nil || !filter.takes(resp) {
		if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrStatus) {
			err = nil
		}
		return nil, err
	}
	page := newPage(rec, url, filename)
	page.Response = resp
	if page.Digest == "" {
		page.Digest = resp.Digest()
	}
	return page, err
}
