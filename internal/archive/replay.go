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

	"spoor/internal/weburl"
)

// MaxRedirects is how many redirects are followed for one address.
const MaxRedirects = 10

// A Hop is one redirect on the way to a page.
type Hop struct {
	URL        string // the address that redirected
	StatusCode int
}

// A Page is an answer out of an archive.
type Page struct {
	*Response
	URL      string // canonical address of the capture: where the redirects ended
	Hops     []Hop  // redirects before it, in order
	Time     time.Time
	IP       string
	Digest   string // of the payload, "sha1:…"; of Raw if the archive has none
	Filename string // of the archive, without directory; x.wacz/archive/y.warc.gz inside a WACZ
	Offset   int64  // of the record in that file; of the revisit if it is one
	Length   int64  // in the file, 0 if the record shares its member with others
	Revisit  bool   // the body is that of an earlier capture
}

// A Replay answers from several archives as the web would have done. It is safe
// for concurrent use.
//
// An address is answered by captures of the same canonical address only. A
// looser match, such as that of the index's key, would answer "/a" for "/A" or
// with another session's page, so that one page came up under many names, and
// the world that is replayed would not be the one that was archived. Spellings
// that the server treated alike are in an archive as redirects.
//
// Of several captures the newest counts, unless a [Pick] says otherwise; of
// those of one second the one in the file whose name is greatest, and there the
// last. So the order in which the archives are given does not matter. A redirect
// of an address to itself counts only if there is nothing else.
type Replay struct {
	limits   Limits
	pick     Pick
	archives []*archived
	scratch  sync.Pool // of *scratch
	records  func() *records
}

// archived is one archive of a Replay.
type archived struct {
	path    string
	inner   string // in a WACZ the one file that is meant; empty: all
	file    *os.File
	sources []source
	*Index
}

// scratch is what reading one capture takes.
type scratch struct {
	reader  Reader
	decoder Decoder
	section io.SectionReader

	again       bool   // the memory of a page is used again for the next
	block, body []byte // that memory
}

// ReplayOptions are the parameters of a Replay.
type ReplayOptions struct {
	Index  IndexOptions
	Limits Limits
	Pick   Pick // of several captures; the zero value is the newest
}

// OpenReplay opens archives, and indexes those that are not indexed yet. A
// directory stands for all archives in it, see [Files]. A file that is named and
// holds bytes but no record, or a directory of nothing else, is [ErrNotWARC].
func OpenReplay(names []string, o ReplayOptions) (*Replay, error) {
	paths, err := Files(names)
	if err != nil {
		return nil, err
	}
	r := &Replay{limits: o.Limits, pick: o.Pick}
	r.records = sync.OnceValue(r.identify)
	hollow := 0 // files without any record
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
		// In a directory that may be a file torn at its beginning; but not all
		// of them, nor one that somebody means.
		if hollow++; hollow == len(paths) || slices.Contains(names, path) {
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
	path, inner := outer(name)
	index, err := OpenIndex(path, o)
	if err != nil {
		return nil, err
	}
	a := &archived{path: path, inner: inner, Index: index}
	err = a.open()
	if err == nil {
		_, err = only(slices.Clone(a.sources), name, inner)
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
	a.sources, _ = sources(filepath.Base(a.path), a.file, info.Size()) // the index has the faults
	for i := range a.sources {
		if err := a.sources[i].look(); err != nil {
			return fmt.Errorf("%s: %w", a.path, err)
		}
	}
	return nil
}

// source is the place of the source with that name, -1 if there is none. A file
// that is renamed with its index is still the same.
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
	err := a.Index.Close()
	if a.file != nil {
		if e := a.file.Close(); err == nil {
			err = e
		}
	}
	return err
}

// Faults is how many faults the archives have, those included that were met when
// they were indexed by an earlier process.
func (r *Replay) Faults() int64 {
	var n int64
	for _, a := range r.archives {
		n += a.Meta.Faults
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

// Has tells whether the archives can answer for a canonical address, be it with
// a redirect whose target they lack.
func (r *Replay) Has(url string) bool {
	for _, a := range r.archives {
		if a.Has(url) && (a.inner == "" || len(r.Lookup(url)) > 0) {
			return true
		}
	}
	return false
}

// Lookup returns the captures of a canonical address, the one that counts first.
func (r *Replay) Lookup(url string) []Capture {
	return slices.DeleteFunc(r.lookup(url, r.pick), func(c Capture) bool {
		a := r.archives[c.archive]
		return a.inner != "" && a.sources[c.source].name != a.inner
	})
}

// lookup returns the captures of a canonical address in the order of a pick. Of a
// file inside a WACZ it has those of its neighbours, too, which may be the originals
// of its revisits.
func (r *Replay) lookup(url string, pick Pick) []Capture {
	var all []Capture
	for i, a := range r.archives {
		n := len(all)
		all = a.Lookup(all, url)
		for j := n; j < len(all); j++ {
			all[j].archive, all[j].source = i, a.source(all[j].Filename)
		}
	}
	all = slices.DeleteFunc(all, func(c Capture) bool { return c.source < 0 })
	pick.sort(all)
	return all
}

// Fetch answers for an address, following redirects. The error is
// [ErrNotArchived], [ErrRedirectLoop] or [ErrTooLarge], one of weburl for what
// is no address, or that of a broken archive. A page comes with the first
// three, too: its URL and Hops say how far it went, and with ErrTooLarge there
// is a body cut at the limit; otherwise its Response is nil.
func (r *Replay) Fetch(address string) (*Page, error) {
	url, err := weburl.Canonical(address)
	if err != nil {
		return nil, err
	}
	var hops []Hop
	seen := map[string]bool{}
	for {
		if seen[url] || len(hops) > MaxRedirects {
			return &Page{URL: url, Hops: hops}, ErrRedirectLoop
		}
		seen[url] = true
		captures := r.Lookup(url)
		if len(captures) == 0 {
			return &Page{URL: url, Hops: hops}, ErrNotArchived
		}
		c := choose(captures)
		if c.Redirect == "" {
			page, err := r.Read(c)
			if page != nil {
				page.Hops = hops
			}
			return page, err
		}
		if err := r.confirm(c); err != nil {
			return nil, err
		}
		hops = append(hops, Hop{url, c.Status})
		url = c.Redirect
	}
}

// confirm reads the header of the record of a capture, for an index that is of
// another archive would lead astray.
func (r *Replay) confirm(c Capture) error {
	s := r.take()
	defer r.scratch.Put(s)
	a := r.archives[c.archive]
	if _, err := a.record(s, c); err != nil {
		return fmt.Errorf("reading %s at byte %d: %w", a.path, c.Offset, err)
	}
	return nil
}

// take takes a scratch out of the pool, where it belongs again.
func (r *Replay) take() *scratch {
	s, _ := r.scratch.Get().(*scratch)
	if s == nil {
		s = new(scratch)
		s.decoder.Limits = r.limits
	}
	return s
}

// choose is the capture that answers: the first that does not redirect to its
// own address. Servers do that until they see a cookie, and archives hold
// redirects between spellings that are one to us ("/%7Ea" to "/~a").
func choose(captures []Capture) Capture {
	for _, c := range captures {
		if c.Redirect != c.URL {
			return c
		}
	}
	return captures[0]
}

// Read reads a capture and decodes it. A revisit gets the body of the capture
// that it refers to; if that is not there the error is [ErrNotArchived].
func (r *Replay) Read(c Capture) (*Page, error) {
	s := r.take()
	defer r.scratch.Put(s)
	return r.read(s, c, 0)
}

func (r *Replay) read(s *scratch, c Capture, depth int) (*Page, error) {
	a := r.archives[c.archive]
	rec, err := a.record(s, c)
	if err != nil {
		return nil, fmt.Errorf("reading %s at byte %d: %w", a.path, c.Offset, err)
	}
	page := newPage(rec, c.URL, a.sources[c.source].label(filepath.Base(a.path)))
	page.Digest, page.Length = c.Digest, c.Length
	if !c.Revisit() {
		page.Response, err = s.response(rec)
		return page, err
	}
	page.Revisit = true
	ref := referral{c, unbracket(rec.Header.Get("WARC-Refers-To-Target-URI")), rec.Header.Get("WARC-Refers-To-Date"), rec.Header.Get("WARC-Refers-To")}
	block, _, err := readAll(nil, rec, rec.ContentLength, maxHeader)
	if err != nil {
		return nil, err
	}
	original, ok := r.original(&ref)
	if !ok || depth == maxRevisits {
		return page, fmt.Errorf("%w: the capture that %s at byte %d refers to (%s)", ErrNotArchived, page.Filename, c.Offset, cmp.Or(ref.url, ref.id, c.Digest))
	}
	first, err := r.read(s, original, depth+1)
	if first == nil || first.Response == nil {
		return page, err
	}
	page.Response = first.Response
	if len(block) > 0 {
		// What the server said this time counts, but how the body is coded is
		// a matter of the body.
		now := parseHead(block)
		page.Proto = now.Proto
		if now.StatusCode != http.StatusNotModified { // else it is as it was
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

// record reads the header of the record of a capture. An index may be of other
// archives than it seems, which had the same size and time: what it says is compared
// with what is there.
func (a *archived) record(s *scratch, c Capture) (*Record, error) {
	rec, err := a.at(s, c)
	if err != nil {
		return nil, err
	}
	url := rec.TargetURI()
	if url != c.URL {
		url, err = weburl.Canonical(url)
	}
	if err != nil || url != c.URL || rec.Date().Format(timestampLayout) != c.Timestamp {
		return nil, fmt.Errorf("the record there is another than %s says (hint: remove that)", cmp.Or(a.Path, "the index"))
	}
	return rec, nil
}

// at reads the header of the record at a place.
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
	if err := s.reader.reset(&s.section, c.Offset, in.format); err != nil {
		return nil, err
	}
	s.reader.m.streaming = c.Length == 0 // other records share its member
	return s.reader.skip(c.Skip)
}

// skip returns the record that stands behind n unpacked bytes of the first member.
func (r *Reader) skip(n int64) (*Record, error) {
	if n > 0 {
		if err := r.enter(); err != nil {
			return nil, err
		}
		if _, err := io.CopyN(io.Discard, r.out, n); err != nil {
			return nil, noEOF(err)
		}
	}
	rec, err := r.Next()
	if err != nil {
		return nil, noEOF(err)
	}
	return rec, nil
}

// newPage is a page without its response.
func newPage(rec *Record, url, filename string) *Page {
	return &Page{
		URL:      url,
		Time:     rec.Date(),
		IP:       rec.Header.Get("WARC-IP-Address"),
		Digest:   rec.Header.Get("WARC-Payload-Digest"),
		Filename: filename,
		Offset:   rec.Offset,
	}
}

// response reads the response in a record, be it of type resource, which has
// only a body.
func (s *scratch) response(rec *Record) (*Response, error) {
	limit := s.decoder.Limits.body() + maxHeader
	block, cut, err := readAll(s.block, rec, rec.ContentLength, limit)
	if err != nil {
		return nil, err
	}
	s.keep(&s.block, block)
	var resp *Response
	if rec.Type() == "resource" {
		resp = &Response{Proto: "HTTP/1.1", StatusCode: http.StatusOK, Reason: "OK", Header: http.Header{}, Raw: block, Body: block}
		if t := rec.Header.Get("Content-Type"); t != "" {
			resp.Header.Set("Content-Type", t)
		}
		if most := s.decoder.Limits.body(); int64(len(block)) > most {
			resp.Body, cut = block[:most], true
		}
	} else {
		resp, err = s.decoder.parse(s.body, block)
		if len(resp.Body) > 0 && len(resp.Raw) > 0 && &resp.Body[0] != &resp.Raw[0] {
			s.keep(&s.body, resp.Body)
		}
	}
	switch why := rec.truncated(); {
	case resp.Truncated == "length": // here and now
	case why == "length", why == "time", why == "disconnect":
		resp.Truncated = why // whoever was there knows why chunks are missing
	case resp.Truncated == "":
		resp.Truncated = why
		if rec.short != nil && why == "" {
			resp.Truncated = "disconnect" // a torn record is all that we have of it
		}
	}
	if cut && err == nil {
		resp.Truncated = "length"
		err = fmt.Errorf("%w: more than %d bytes as received", ErrTooLarge, s.decoder.Limits.body())
	}
	return resp, err
}

// keep keeps memory for the next page, unless it is too much.
func (s *scratch) keep(memory *[]byte, used []byte) {
	const most = 1 << 20
	if s.again && cap(used) <= most {
		*memory = used[:0]
	}
}

// A Filter chooses captures of a whole archive.
type Filter struct {
	MIME   []string // see [ParseMediaTypes]; empty: any
	Status []int    // empty: any
}

func (f *Filter) takes(r *Response) bool {
	return (len(f.Status) == 0 || slices.Contains(f.Status, r.StatusCode)) &&
		(len(f.MIME) == 0 || TakesMediaType(f.MIME, r.ContentType()))
}

// ParseMediaTypes reads media types that are separated by commas; "image/*" stands
// for all that begin so. They come in lower case; of no word there are none.
func ParseMediaTypes(list string) (types []string, err error) {
	for t := range strings.SplitSeq(strings.ToLower(list), ",") {
		if t = strings.TrimSpace(t); t == "" {
			continue
		}
		if kind, sub, _ := strings.Cut(t, "/"); MediaType(t) != t || strings.Contains(kind, "*") || sub != "*" && strings.Contains(sub, "*") {
			return nil, fmt.Errorf("%q is no media type (hint: text/html, or text/* for all that begin so)", t)
		}
		types = append(types, t)
	}
	return types, nil
}

// TakesMediaType tells whether a media type, in lower case, is among those that
// [ParseMediaTypes] read.
func TakesMediaType(types []string, media string) bool {
	return slices.ContainsFunc(types, func(t string) bool {
		kind, all := strings.CutSuffix(t, "*")
		return t == media || all && strings.HasPrefix(media, kind)
	})
}

// All reads the archives from the first byte to the last and yields each
// response and resource of an http or https address that the filter takes, in
// the order of the files as given; redirects are not followed and revisits not
// repeated. An archive needs no index for it. The bytes of a page are valid until
// the next one is asked for; its strings may be kept.
//
// A page may come with [ErrTooLarge]. A *[FormatError], wrapped with the name of
// its file, comes without a page and ends nothing; after any other error the
// rest of its file is left out.
func All(paths []string, filter Filter, limits Limits) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		paths, err := Files(paths)
		if err != nil {
			yield(nil, err)
			return
		}
		s := scratch{decoder: Decoder{Limits: limits}, again: true}
		for _, path := range paths {
			if !s.file(path, &filter, yield) {
				return
			}
		}
	}
}

// Stream is [All] of an archive that is read once, from its first byte to its
// last, as a pipe is. The name is for faults and pages. A WACZ cannot be read
// so, unless r is a regular file: what is in it is told at its end.
func Stream(r io.Reader, name string, filter Filter, limits Limits) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		s := scratch{decoder: Decoder{Limits: limits}, again: true}
		s.archive(r, name, name, &filter, yield)
	}
}

// file yields the pages of one file and tells whether to go on with the next.
func (s *scratch) file(path string, filter *Filter, yield func(*Page, error) bool) bool {
	if _, inner := outer(path); inner != "" {
		for v, err := range Volumes([]string{path}, nil) {
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			if err != nil && !yield(nil, err) || err == nil && !s.records(v.Data, v.Path, v.Name, filter, yield) {
				return false
			}
		}
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return yield(nil, err)
	}
	defer f.Close()
	return s.archive(f, path, filepath.Base(path), filter, yield)
}

// archive yields the pages of one archive, whose faults have its path in front.
func (s *scratch) archive(r io.Reader, path, name string, filter *Filter, yield func(*Page, error) bool) bool {
	f, ok := r.(*os.File)
	if !ok {
		return s.records(r, path, name, filter, yield)
	}
	info, err := f.Stat()
	if err != nil {
		return yield(nil, err)
	}
	if !info.Mode().IsRegular() {
		return s.records(r, path, name, filter, yield)
	}
	all, faults := sources(name, f, info.Size())
	for _, fault := range faults {
		if !yield(nil, fmt.Errorf("%s: %w", path, fault)) {
			return false
		}
	}
	for i := range all {
		if !s.records(all[i].data, all[i].label(path), all[i].label(name), filter, yield) {
			return false
		}
	}
	return true
}

// records yields the pages of a run of records.
func (s *scratch) records(r io.Reader, path, name string, filter *Filter, yield func(*Page, error) bool) bool {
	s.reader.m.dict, s.reader.m.zs = nil, nil
	if err := s.reader.Reset(r); err != nil {
		return yield(nil, fmt.Errorf("%s: %w", path, err))
	}
	for {
		rec, err := s.reader.Next()
		if err == io.EOF {
			return true
		}
		if err == nil {
			var page *Page
			page, err = s.page(rec, name, filter)
			fault := rec.Close()
			if page != nil {
				page.Length = rec.Length
				if !yield(page, err) {
					return false
				}
				err = nil
			}
			if err == nil {
				err = fault
			}
		}
		if err == nil {
			continue
		}
		_, ok := errors.AsType[*FormatError](err)
		if !yield(nil, fmt.Errorf("%s: %w", path, err)) {
			return false
		}
		if !ok {
			return true
		}
	}
}

// page is the page that a record holds, nil if it holds none that the filter takes.
func (s *scratch) page(rec *Record, filename string, filter *Filter) (*Page, error) {
	kind := rec.Type()
	if kind != "response" && kind != "resource" {
		return nil, nil
	}
	url, err := weburl.Canonical(rec.TargetURI())
	if err != nil {
		return nil, unusable(rec, err)
	}
	resp, err := s.response(rec)
	if resp == nil || !filter.takes(resp) {
		if errors.Is(err, ErrTooLarge) {
			err = nil
		}
		return nil, err
	}
	page := newPage(rec, url, filename)
	page.Response = resp
	if page.Digest == "" {
		page.Digest = Digest(resp.Raw)
	}
	return page, err
}
