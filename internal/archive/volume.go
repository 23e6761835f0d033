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
)

// A Volume is a run of records: a file, or a file inside a WACZ.
type Volume struct {
	Path string    // of the archive as it was named, and of a file in a WACZ the path in there
	Name string    // the same without directories, which is what pages say they come from
	Data io.Reader // an [io.SectionReader] unless it is a pipe

	source source
}

// Volumes yields the volumes of archives, named as for [Files], one after the
// other; the name [Input] is that of input. Data is good until the next.
//
// A fault of a WACZ comes as *[FormatError], with the path of the WACZ, and any other
// error of an archive with its path; neither ends anything. One without a path, of the
// names, is the end.
func Volumes(names []string, input io.Reader) iter.Seq2[Volume, error] {
	return func(yield func(Volume, error) bool) {
		paths, err := Files(names)
		if err != nil {
			yield(Volume{}, err)
			return
		}
		for _, path := range paths {
			if !volumes(path, input, yield) {
				return
			}
		}
	}
}

// volumes yields those of one archive, or why it cannot be read, and tells whether to go on.
func volumes(path string, input io.Reader, yield func(Volume, error) bool) bool {
	file, inner := path, ""
	r := input
	if path != Input {
		file, inner = outer(path)
		f, err := os.Open(file)
		if err != nil {
			return yield(Volume{Path: path}, err)
		}
		defer f.Close()
		r = f
	}
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
	if all, err = only(all, path, inner); err != nil {
		return yield(Volume{Path: path}, err)
	}
	for _, s := range all {
		if !yield(Volume{Path: s.label(file), Name: s.label(name), Data: s.data, source: s}, nil) {
			return false
		}
	}
	return true
}

// Records yields the records of a volume. Faults of it come as *[FormatError] and
// end nothing; any other error is the end. Whoever wants to know of the fault of
// one record calls its Close.
func (v *Volume) Records() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		r, err := NewReader(v.Data)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", v.Path, err))
			return
		}
		for {
			rec, err := r.Next()
			if err == io.EOF {
				return
			}
			_, fault := errors.AsType[*FormatError](err)
			final := err != nil && !fault
			if final {
				err = fmt.Errorf("%s: %w", v.Path, err)
			}
			if !yield(rec, err) || final {
				return
			}
		}
	}
}

// At reads the record that begins at an offset, or behind skip unpacked bytes in
// the member that does. The error is [ErrNotArchived] if there is none.
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

// from is a Reader that begins at an offset.
func (v *Volume) from(offset int64) (*Reader, error) {
	data, ok := v.Data.(*io.SectionReader)
	if !ok {
		return nil, fmt.Errorf("%s is a pipe, in which nothing can be looked up (hint: save it to a file)", v.Path)
	}
	if err := v.source.look(); err != nil {
		return nil, err
	}
	r := new(Reader)
	r.m.dict = v.source.dict
	left := max(data.Size()-offset, 0)
	return r, r.reset(io.NewSectionReader(data, offset, left), offset, v.source.format)
}

// Copy writes a record that At has read as it stands in the archive, header and
// all, but unpacked.
func (v *Volume) Copy(w io.Writer, rec *Record) error {
	r, err := v.from(rec.Offset)
	if err != nil {
		return err
	}
	header := rec.begin - rec.Skip
	if r.m.format == plain {
		header = rec.begin - rec.Offset
	} else if err := r.enter(); err != nil {
		return err
	} else if _, err := io.CopyN(io.Discard, r.out, rec.Skip); err != nil {
		return err
	}
	if _, err := io.CopyN(w, r.out, header); err != nil {
		return err
	}
	if _, err := io.Copy(w, onlyReader{rec}); err != nil {
		return err
	}
	_, err = io.WriteString(w, blockEnd)
	return err
}

// Volume is the volume that a capture is in. It is good until the Replay is closed.
func (r *Replay) Volume(c Capture) *Volume {
	a := r.archives[c.archive]
	s := a.sources[c.source]
	return &Volume{Path: s.label(a.path), Name: s.label(filepath.Base(a.path)), Data: s.data, source: s}
}

// WriteIndex writes the lines of the index of all volumes, sorted together, with
// what does not fit in memory in temporary files in temp; empty: in that of the
// system. Faults are reported and counted. A volume that cannot be read, or not to its
// end, is reported, too, and its index is that of what could be read.
func WriteIndex(w io.Writer, volumes iter.Seq2[Volume, error], temp string, report func(path string, err error)) (Meta, error) {
	var meta Meta
	s := sorter{dir: temp, chunk: chunkSize}
	defer s.close()
	var r Reader
	for v, err := range volumes {
		if err == nil {
			err = v.index(&r, &s, &meta, report)
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

// index gives the lines of the index of a volume to s.
func (v *Volume) index(r *Reader, s *sorter, meta *Meta, report func(path string, err error)) error {
	r.m.dict, r.m.zs = nil, nil
	err := r.Reset(v.Data)
	if err == nil {
		b := indexer{name: cmp.Or(v.source.name, v.Name), add: s.add, meta: meta}
		err = b.index(r, func(fault error) {
			meta.Faults++
			report(v.Path, fault)
		})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", v.Path, err)
	}
	return nil
}

// A Summary is what a listing says of a record.
type Summary struct {
	File   string `json:"filename"`
	Offset int64  `json:"offset"`
	Skip   int64  `json:"skip,omitempty"` // unpacked bytes in front of it in its member
	Length int64  `json:"length"`         // 0 if it shares its member
	Type   string `json:"type"`
	ID     string `json:"record_id,omitempty"`
	Date   string `json:"date,omitempty"`   // as in the record
	Status int    `json:"status,omitempty"` // of an HTTP response
	MIME   string `json:"mime,omitempty"`   // media type: of the payload in a response, else of the block
	URL    string `json:"url,omitempty"`
}

// Summary sums a record up, and closes it. The error is its fault, which does not
// make the summary worthless.
func (r *Record) Summary() (Summary, error) {
	s := Summary{Offset: r.Offset, Skip: r.Skip, Type: r.Type(), ID: r.ID(), Date: r.Header.Get("WARC-Date"), URL: r.TargetURI(), MIME: MediaType(r.Header.Get("Content-Type"))}
	if s.MIME == "application/http" && (s.Type == "response" || s.Type == "revisit") {
		head := make([]byte, min(r.ContentLength, bufferSize))
		n, err := io.ReadFull(r, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return s, err
		}
		if head = head[:n]; bytes.HasPrefix(head, []byte("HTTP/")) {
			resp := parseHead(head)
			s.Status, s.MIME = resp.StatusCode, MediaType(resp.Header.Get("Content-Type"))
		}
	}
	err := r.Close()
	s.Length = r.Length
	return s, err
}
