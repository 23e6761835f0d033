// Package interchange converts between records and the formats in which other crawlers store
// addresses: the dump of a url-frontier, the logs of Heritrix, the results of katana, plain
// lists.
//
// It converts line by line. Data that a format cannot express is lost; [ToURLFrontier] lists
// this data.
package interchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"spoor/internal/wire"
)

// A Converter converts a line of one format to another, both without newline. It returns nil
// without an error for a line without an address: a comment, a resolved name, a heading.
type Converter func(line []byte) ([]byte, error)

// A Writer converts lines and writes them to W. Each call of Write must pass one line, with
// its newline.
type Writer struct {
	W       io.Writer
	Convert Converter // nil: lines are written as they are
	Omitted int       // lines that Convert omitted
}

// Write implements io.Writer.
func (w *Writer) Write(line []byte) (int, error) {
	if w.Convert == nil {
		return w.W.Write(line)
	}
	converted, err := w.Convert(bytes.TrimSuffix(line, []byte("\n")))
	switch {
	case err != nil:
		return 0, fmt.Errorf("converting a record: %w", err)
	case converted == nil:
		w.Omitted++
		return len(line), nil
	}
	_, err = w.W.Write(append(converted, '\n'))
	return len(line), err
}

// A Reader reads records from lines in another format.
type Reader struct {
	Limit  int   // maximum length of a line, in bytes
	Passed int64 // lines without an address

	src     *bufio.Reader
	want    wire.Section
	convert Converter
	number  int64
	buf     []byte
}

// NewReader returns a Reader that converts the lines of src to records, and decodes their
// wanted sections.
func NewReader(src io.Reader, want wire.Section, convert Converter) *Reader {
	return &Reader{Limit: wire.DefaultLimit, src: bufio.NewReaderSize(src, 1<<16), want: want, convert: convert}
}

// Read reads the next record into rec. It returns the same errors as a [wire.Reader]: for a line
// that cannot be converted, a [*wire.SyntaxError]; the next Read continues after this line.
func (r *Reader) Read(rec *wire.Record) error {
	for {
		rec.Reset()
		line, err := r.line()
		if err != nil {
			return err
		}
		if line, err = r.convert(line); err == nil && line == nil {
			r.Passed++
			continue
		}
		if err == nil {
			err = rec.Unmarshal(line, r.want)
		}
		if err != nil {
			return &wire.SyntaxError{Line: r.number, Err: err}
		}
		return nil
	}
}

// line returns the next non-empty line, without surrounding white space.
func (r *Reader) line() ([]byte, error) {
	for {
		r.buf = r.buf[:0]
		long := false
		var err error
		for more := true; more; more = errors.Is(err, bufio.ErrBufferFull) {
			var piece []byte
			piece, err = r.src.ReadSlice('\n')
			if long = long || len(r.buf)+len(piece) > r.Limit+2; !long {
				r.buf = append(r.buf, piece...)
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		r.number++
		if long {
			return nil, &wire.SyntaxError{Line: r.number, Err: fmt.Errorf("%w of %d bytes", wire.ErrTooLong, r.Limit)}
		}
		if line := bytes.TrimSpace(wire.TrimBOM(r.buf)); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// A record holds the members of a record that other formats can express. Key, CrawlID, Created and
// Metadata are not members of a [wire.Record]; stores keep them unchanged.
type record struct {
	V            int      `json:"v"`
	URL          string   `json:"url"`
	Generation   int      `json:"generation"`
	Depth        int      `json:"depth"`
	Via          string   `json:"via,omitempty"`
	Parents      []string `json:"parents,omitempty"`
	Operator     string   `json:"operator,omitempty"`
	Priority     *float64 `json:"priority,omitempty"`
	Niche        string   `json:"niche,omitempty"`
	Query        string   `json:"query,omitempty"`
	Retries      int      `json:"retries,omitempty"`
	ETag         string   `json:"etag,omitempty"`
	LastModified string   `json:"last_modified,omitempty"`

	Timestamp   string `json:"timestamp,omitempty"`
	StatusCode  int    `json:"status_code,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Length      int64  `json:"content_length,omitempty"`
	Digest      string `json:"digest,omitempty"`
	NotBefore   string `json:"not_before,omitempty"`
	Error       string `json:"error,omitempty"`

	Key      string              `json:"key,omitempty"`
	CrawlID  string              `json:"crawl_id,omitempty"`
	Created  seconds             `json:"creation_date,omitempty"`
	Metadata map[string][]string `json:"metadata,omitempty"`

	State string `json:"state,omitempty"` // set only in exported records
}

// parseExported parses an exported record. A store keeps unknown members unchanged, so a member
// may have the wrong type; it is ignored.
func parseExported(line []byte) (rec record, err error) {
	members, err := lowerCaseMembers(line)
	if err != nil {
		return rec, err
	}
	if line, err = json.Marshal(members); err == nil && json.Unmarshal(line, &rec) != nil {
		for name, value := range members { // a member of the wrong type may have ended the decoding
			json.Unmarshal(fmt.Appendf(nil, "{%q:%s}", name, value), &rec)
		}
	}
	return rec, err
}

// lowerCaseMembers returns the members of an object that have lower-case names, like the members of
// a record: encoding/json ignores case, and would decode URL as url.
func lowerCaseMembers(line []byte) (members map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(line, &members); err != nil {
		return nil, err
	}
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool {
		return strings.ContainsFunc(name, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	})
	return members, nil
}

// marshal returns v as a line without newline.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
