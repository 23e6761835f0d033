package archive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"spoor/internal/message"
	"spoor/internal/terminal"
)

// A Volume is a WARC or ARC file, which may be inside a WACZ.
type Volume struct {
	Path string    // name of the archive as given by the user, followed by the path inside a WACZ
	Name string    // Path without directories
	Data io.Reader // an [io.SectionReader], unless the volume is a pipe

	source source
}

// Volumes yields the volumes of archives. The names are those of [Files]; [Input] is the name
// of input. Data is valid until the next volume.
//
// Volumes yields a fault of a WACZ as a *[FormatError] with the path of the WACZ, and any other
// error of an archive with the path of the archive. In both cases it continues with the next
// volume. An error without a path concerns the names, and is final.
func Volumes(names []string, input io.Reader) iter.Seq2[Volume, error] {
	return func(yield func(Volume, error) bool) {
		paths, err := Files(names)
		if err != nil {
			yield(Volume{}, err)
			return
		}
		for _, path := range paths {
			if !volumes(path, slices.Contains(names, path), input, yield) {
				return
			}
		}
	}
}

// volumes yields the volumes of one archive, or its error, and reports whether to continue. It
// waits for the writer of a named pipe only if the user named the pipe itself. In a directory, a
// file may have become a pipe after the directory was read.
func volumes(path string, named bool, input io.Reader, yield func(Volume, error) bool) bool {
	if path == Input && input != nil {
		return volumesOf(input, path, path, "", yield)
	}
	file, inner := containerOf(path)
	open := Open
	if _, special := specialMode(file); special && named {
		open = os.Open
	}
	f, err := open(file)
	if err != nil {
		return yield(Volume{Path: path}, err)
	}
	defer f.Close()
	return volumesOf(f, path, file, inner, yield)
}

// volumesOf yields the volumes of the archive that is read from r. If the archive is a WACZ and inner
// is not empty, it yields only the file inner.
func volumesOf(r io.Reader, path, file, inner string, yield func(Volume, error) bool) bool {
	name := filepath.Base(file)
	f, ok := r.(*os.File)
	if !ok {
		return yield(Volume{Path: path, Name: name, Data: r}, nil)
	}
	info, err := f.Stat()
	if err != nil {
		return yield(Volume{Path: path}, err)
	}
	if !info.Mode().IsRegular() {
		return yield(Volume{Path: path, Name: name, Data: r}, nil)
	}
	all, faults := sources(name, f, info.Size())
	for _, fault := range faults {
		if !yield(Volume{Path: file, Name: name}, fault) {
			return false
		}
	}
	if all, err = selectSource(all, path, inner); err != nil {
		return yield(Volume{Path: path}, err)
	}
	for _, s := range all {
		if !yield(Volume{Path: s.label(file), Name: s.label(name), Data: s.data, source: s}, nil) {
			return false
		}
	}
	return true
}

// Records yields the records of a volume. It yields a fault as a *[FormatError], and continues with
// the next record; any other error is final. A fault of a record itself is returned by
// [Record.Close].
func (v *Volume) Records() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		r, err := NewReader(v.Data)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", v.Path, err))
			return
		}
		for rec, err := range r.all() {
			if _, fault := errors.AsType[*FormatError](err); err != nil && !fault {
				err = fmt.Errorf("%s: %w", v.Path, err)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// At returns the record at an offset, or after skip decompressed bytes of the member at the
// offset. It returns [ErrNotArchived] if there is no record.
func (v *Volume) At(offset, skip int64) (*Record, error) {
	r, err := v.from(offset)
	if err != nil {
		return nil, err
	}
	rec, err := r.skip(skip)
	if err == nil && rec.Offset != offset {
		err = errors.New("nothing begins there")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: no record at byte %d of %s: %w", ErrNotArchived, offset, v.Path, err)
	}
	return rec, nil
}

// Check reads the record at an offset, as [Volume.At] does, and returns an error that names it if its
// compression or its length is wrong, or a digest differs.
func (v *Volume) Check(offset, skip int64) error {
	rec, err := v.At(offset, skip)
	if err != nil {
		return err
	}
	var check checker
	check.reset(rec.Header)
	if _, err = io.Copy(&check, onlyReader{rec}); err == nil || err == io.ErrUnexpectedEOF {
		err = rec.damage(rec.Close())
	}
	for _, c := range check.wrong() {
		if err == nil && (c.field != payloadDigest || rec.truncated() == "") { // as in checkRecord
			err = fmt.Errorf("its %s is %.200s, but that is not what the record holds", c.field, c.text)
		}
	}
	if err != nil {
		return fmt.Errorf("%s at byte %d: damaged record of %s: %w", v.Path, offset, cmp.Or(rec.TargetURI(), "no address"), err)
	}
	return nil
}

// from returns a Reader that starts at an offset.
func (v *Volume) from(offset int64) (*Reader, error) {
	data, ok := v.Data.(*io.SectionReader)
	if !ok {
		return nil, fmt.Errorf("%s is a pipe, in which nothing can be looked up (hint: save it to a file)", v.Path)
	}
	if err := v.source.detect(); err != nil {
		return nil, err
	}
	r := new(Reader)
	r.m.dict = v.source.dict
	left := max(data.Size()-offset, 0)
	return r, r.reset(io.NewSectionReader(data, offset, left), offset, v.source.format)
}

// Copy writes a record that was returned by At: its header and block as in the archive, but
// decompressed.
func (v *Volume) Copy(w io.Writer, rec *Record) error {
	r, err := v.from(rec.Offset)
	if err != nil {
		return err
	}
	if r.m.format != plain {
		if err := r.discard(rec.Skip); err != nil {
			return err
		}
	}
	if err := r.blank(); err != nil {
		return err
	}
	for left := rec.head; left > 0; {
		n, err := io.CopyN(w, r.out, left)
		if left -= n; err != nil && (err != io.EOF || !r.openContinuation()) {
			return noEOF(err)
		}
	}
	if _, err := io.Copy(w, onlyReader{rec}); err != nil {
		return err
	}
	_, err = io.WriteString(w, blockEnd)
	return err
}

// Volume returns the volume of a capture. It is valid until the Replay is closed.
func (r *Replay) Volume(c Capture) *Volume {
	a := r.archives[c.archive]
	s := a.sources[c.source]
	return &Volume{Path: s.label(a.path), Name: s.label(filepath.Base(a.path)), Data: s.data, source: s}
}

// WriteIndex writes the sorted index lines of all volumes. If they do not fit in memory, they
// are sorted in temporary files in temp; empty means the directory of the system. Faults are
// reported and counted. If a volume cannot be read to its end, the error is reported too, and the
// lines of the records before it are kept.
func WriteIndex(w io.Writer, volumes iter.Seq2[Volume, error], temp string, report func(path string, err error)) (Meta, error) {
	var meta Meta
	s := sorter{dir: temp, chunk: chunkSize}
	defer s.close()
	var r Reader
	for v, err := range volumes {
		if err == nil {
			err = v.index(&r, &s, &meta, func(path string, err error) {
				meta.Faults++
				report(path, err)
			})
		}
		_, place := errors.AsType[*placeError](err)
		switch {
		case err == nil:
		case v.Path == "" || place:
			return meta, err
		default:
			if _, ok := errors.AsType[*FormatError](err); ok {
				meta.Faults++
			}
			report(v.Path, err)
		}
	}
	return meta, s.write(w)
}

// index adds the lines of a volume to s.
func (v *Volume) index(r *Reader, s *sorter, meta *Meta, fault func(path string, err error)) error {
	r.m.dict, r.m.zs = nil, nil
	err := r.Reset(v.Data)
	if err == nil {
		b := indexer{name: cmp.Or(v.source.name, v.Name), add: s.add, meta: meta}
		err = b.index(r, func(err error) { fault(v.Path, err) })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", v.Path, err)
	}
	return nil
}

// A Summary describes a record for a listing.
type Summary struct {
	File   string `json:"filename"`
	Offset int64  `json:"offset"`
	Skip   int64  `json:"skip,omitempty"` // number of decompressed bytes before the record in its member
	Length int64  `json:"length"`         // 0 if the record shares its member with others
	Type   string `json:"type"`
	ID     string `json:"record_id,omitempty"`
	Date   string `json:"date,omitempty"`   // as in the header
	Status int    `json:"status,omitempty"` // status of an HTTP response
	MIME   string `json:"mime,omitempty"`   // media type of the payload of a response, otherwise of the block
	URL    string `json:"url,omitempty"`
	Digest string `json:"payload_digest,omitempty"` // as in the header

	// The original of a revisit, as in the header.
	RefersTo     string `json:"refers_to,omitempty"`
	RefersToURI  string `json:"refers_to_target_uri,omitempty"`
	RefersToDate string `json:"refers_to_date,omitempty"`
}

// String returns the summary as a line: offset, length, type, date, status, media type, URL and
// file, separated by tabs, with "-" for missing values. The offset of a record that does not begin
// its member is followed by a plus sign and Skip.
func (s Summary) String() string {
	column := func(s string) string { return cmp.Or(terminal.Line(s), "-") }
	status := "-"
	if s.Status > 0 {
		status = strconv.Itoa(s.Status)
	}
	offset := strconv.FormatInt(s.Offset, 10)
	if s.Skip > 0 {
		offset += "+" + strconv.FormatInt(s.Skip, 10)
	}
	return fmt.Sprintf("%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s",
		offset, s.Length, column(s.Type), column(s.Date), status, column(s.MIME), column(s.URL), column(s.File))
}

// Summary returns the summary of a record, and closes the record. It returns the error of Close; the
// summary is valid even then.
func (r *Record) Summary() (Summary, error) {
	s := Summary{Offset: r.Offset, Skip: r.Skip, Type: r.Type(), ID: r.ID(), Date: r.Header.Get("WARC-Date"), URL: r.TargetURI(), MIME: message.MediaType(r.Header.Get("Content-Type")),
		Digest: r.Header.Get(payloadDigest), RefersTo: r.Header.Get("WARC-Refers-To"),
		RefersToURI: unbracket(r.Header.Get("WARC-Refers-To-Target-URI")), RefersToDate: r.Header.Get("WARC-Refers-To-Date")}
	if s.MIME == "application/http" && (s.Type == "response" || s.Type == "revisit") {
		head := make([]byte, min(r.ContentLength, bufferSize))
		n, err := io.ReadFull(r, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return s, err
		}
		if head = head[:n]; bytes.HasPrefix(head, []byte("HTTP/")) {
			resp := parseHead(head)
			s.Status, s.MIME = resp.StatusCode, message.MediaType(resp.Header["Content-Type"]...)
		}
	}
	err := r.Close()
	s.Length = r.Length
	return s, err
}
