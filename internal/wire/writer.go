package wire

import (
	"errors"
	"io"
)

const (
	flushSize  = 64 << 10 // a buffer of this size is written
	directSize = 64 << 10 // bytes that came in are written from where they are
)

// A Writer writes records, one JSON object a line.
//
// A record of which nothing was touched or dropped leaves as it came, byte for
// byte. Of any other record those members leave first, byte for byte and in
// their order, that are not of a touched or dropped section; then the touched
// sections follow in the order of their fields, and the body is always last. Of
// a record that was not read all sections are written that have something to
// say.
//
// Fields that are absent, empty or zero are left out, except v, which is
// [Version] if nothing else was said; url, generation and depth of an address;
// content_length and fetch_ms of an answer; warc_offset beside warc_filename;
// out_degree and links of a page.
type Writer struct {
	// Limit is how many bytes a line may have, without its end; a longer one
	// is refused. NewWriter sets it to DefaultLimit.
	Limit int

	dst io.Writer
	buf []byte
	err error // of dst; nothing is written after it
}

// NewWriter returns a Writer to dst.
func NewWriter(dst io.Writer) *Writer { return &Writer{Limit: DefaultLimit, dst: dst} }

// Write writes rec, or keeps it to be written with others; see [Writer.Flush].
//
// It refuses a record that no reader would take: one without url and query, one
// with a number that JSON has no word for, and one that is too long
// ([ErrTooLong]). Nothing of it is written then, and other records can follow.
// After any other error, which is that of the destination, nothing more is
// written.
func (w *Writer) Write(rec *Record) error {
	if w.err != nil {
		return w.err
	}
	start := len(w.buf)
	if rec.raw.touched&Parse != 0 {
		w.buf = grow(w.buf, rec.extent())
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

// Flush writes what is kept.
func (w *Writer) Flush() error {
	if w.err != nil || len(w.buf) == 0 {
		return w.err
	}
	_, w.err = w.dst.Write(w.buf)
	w.buf = w.buf[:0]
	return w.err
}

// encode appends the record to dst but for two pieces that follow: a tail that
// is part of the line that the record came from, and the end of the line.
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
		return closed(dst, '}'), nil, "\n", nil
	}
	return dst, tail, "}\n", nil
}
