package wire

import (
	"errors"
	"io"
	"strings"
)

const (
	flushSize  = 64 << 10 // size at which the buffer is written
	directSize = 64 << 10 // size from which an unchanged part of a line is written without a copy
)

// A Writer writes records, one JSON object a line.
//
// A record that was read and not changed is written byte for byte as it was read.
// If it was changed, the members of sections that were neither touched nor dropped come
// first, byte for byte and in their order; then the touched sections; the body is last.
// If a record was not read, every section in which at least one field is set is written.
//
// Fields that are absent, empty or zero are omitted, except for v, which defaults to
// [Version]; url, generation and depth if there is a URL; content_length and fetch_ms
// if there is a status code; warc_offset if there is a WARC file name; out_degree and
// links.
type Writer struct {
	// Limit is the maximum length of a line in bytes, without the newline. Longer
	// records are refused. NewWriter sets it to DefaultLimit.
	Limit int

	dst io.Writer
	buf []byte
	err error // error of dst, after which nothing more is written
}

// NewWriter returns a Writer that writes to dst.
func NewWriter(dst io.Writer) *Writer { return &Writer{Limit: DefaultLimit, dst: dst} }

// Write writes rec to the buffer, which it flushes when it is full.
//
// It refuses a record that has neither url nor query, has a number that JSON cannot
// represent, or is too long ([ErrTooLong]). Nothing of a refused record is written, and
// other records can follow. Any other error comes from the destination; after such an
// error nothing more is written.
func (w *Writer) Write(rec *Record) error {
	if w.err != nil {
		return w.err
	}
	start := len(w.buf)
	if rec.raw.touched&Parse != 0 {
		w.buf = grow(w.buf, rec.estimateSize())
	}
	buf, tail, end, err := rec.encode(w.buf)
	w.buf = buf
	if err == nil && len(buf)-start+len(tail)+len(end)-1 > w.Limit {
		err = tooLong(w.Limit)
	}
	if err != nil {
		w.buf = w.buf[:start]
		return err
	}
	if len(tail) >= directSize {
		if err := w.Flush(); err != nil {
			return err
		}
		if _, w.err = w.dst.Write(tail); w.err != nil {
			return w.err
		}
	} else {
		w.buf = append(w.buf, tail...)
	}
	w.buf = append(w.buf, end...)
	if len(w.buf) >= flushSize {
		return w.Flush()
	}
	return nil
}

// WriteOrFail writes rec or, if its line would be too long, a failure in its place, with the error
// [ErrorTooLarge] and the detail: without body and what was made of it or, if other fields are too long,
// with nothing but the address, which is cut if it is longer than a URL may be. One record then does not
// end a crawl.
func (w *Writer) WriteOrFail(rec *Record, detail string) error {
	err := w.Write(rec)
	if errors.Is(err, ErrTooLong) {
		rec.Drop(Parse | Score | Body)
		rec.Error, rec.ErrorDetail = ErrorTooLarge, detail
		rec.Touch(Fetch)
		err = w.Write(rec)
	}
	if errors.Is(err, ErrTooLong) {
		*rec = Record{V: rec.V, URL: cut(rec.URL), Query: cut(rec.Query), Generation: rec.Generation, Depth: rec.Depth, Operator: cut(rec.Operator), Niche: cut(rec.Niche), Error: ErrorTooLarge, ErrorDetail: detail}
		err = w.Write(rec)
	}
	return err
}

// cut returns at most maxURL + 1 bytes of s: too many for a URL.
func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxURL+1)], "") }

// Flush writes the buffer to the destination.
func (w *Writer) Flush() error {
	if w.err != nil || len(w.buf) == 0 {
		return w.err
	}
	_, w.err = w.dst.Write(w.buf)
	w.buf = w.buf[:0]
	return w.err
}

// Append appends the line that a [Writer] would write for r to dst, with its newline.
func (r *Record) Append(dst []byte) ([]byte, error) {
	b, tail, end, err := r.encode(dst)
	if err != nil {
		return dst, err
	}
	return append(append(b, tail...), end...), nil
}

// encode appends the start of the record to dst. It returns the rest of the record as tail and
// end. tail is a part of the line that was read, and may be long.
func (r *Record) encode(dst []byte) (_, tail []byte, end string, err error) {
	changed := r.raw.touched | r.raw.dropped
	if r.raw.line != nil && changed == 0 {
		return dst, r.raw.line, "\n", nil
	}
	if r.URL == "" && r.Query == "" {
		return dst, nil, "", errors.New("the record has neither url nor query")
	}
	dst = append(dst, '{')
	for _, m := range r.raw.members {
		if m.section != Body && m.section&changed == 0 {
			dst = append(append(dst, r.raw.line[m.start:m.end]...), ',')
		}
	}
	if dst, err = r.appendSections(dst, r.raw.touched, r.raw.line == nil); err != nil {
		return dst, nil, "", err
	}
	if changed&Body == 0 {
		for _, m := range r.raw.members {
			if m.section != Body {
				continue
			}
			if tail != nil {
				dst = append(append(dst, tail...), ',')
			}
			tail = r.raw.line[m.start:m.end]
		}
	}
	if tail == nil {
		return closeWith(dst, '}'), nil, "\n", nil
	}
	return dst, tail, "}\n", nil
}
