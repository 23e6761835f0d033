// Package interchange reads and writes what other crawlers know of addresses:
// the dump of a url-frontier, the logs of a Heritrix, the results of a katana,
// plain lists.
//
// It knows lines and nothing of stores: a line of theirs becomes a record, a
// record becomes a line of theirs. What a format has no place for is lost;
// [ToURLFrontier] says what that is.
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

// A Converter makes the line of a record of a line in another format, neither
// with its newline. A nil line without an error means that there is nothing of
// the web in it: a comment, a name that was resolved, a heading.
type Converter func(line []byte) ([]byte, error)

// A Reader reads records out of lines in another format.
type Reader struct {
	Limit  int   // how many bytes a line may have
	Passed int64 // lines that said nothing of any address

	src     *bufio.Reader
	convert Converter
	number  int64
	buf     []byte
	feed    feed
	records *wire.Reader
}

// NewReader returns a Reader that decodes the wanted sections of the records that
// convert makes of the lines of src.
func NewReader(src io.Reader, want wire.Section, convert Converter) *Reader {
	r := &Reader{Limit: wire.DefaultLimit, src: bufio.NewReaderSize(src, 1<<16), convert: convert}
	r.records = wire.NewReader(&r.feed, want)
	return r
}

// Read reads the next record into rec. The errors are those of a [wire.Reader]: a
// line that cannot be converted is a [*wire.SyntaxError] with its number, and the
// next Read goes on behind it.
func (r *Reader) Read(rec *wire.Record) error {
	for {
		rec.Reset()
		line, err := r.line()
		if err != nil {
			return err
		}
		if line, err = r.convert(line); err != nil {
			return &wire.SyntaxError{Line: r.number, Err: err}
		}
		if line == nil {
			r.Passed++
			continue
		}
		r.feed = append(append(r.feed[:0], line...), '\n')
		r.records.Limit = len(line)
		err = r.records.Read(rec)
		if bad, ok := errors.AsType[*wire.SyntaxError](err); ok {
			bad.Line = r.number
		}
		return err
	}
}

// line returns the next line that is not empty, without the space around it.
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
		if line := bytes.TrimSpace(r.buf); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// feed is what a reader of records is given, one line at a time.
type feed []byte

func (f *feed) Read(p []byte) (int, error) {
	if len(*f) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, *f)
	*f = (*f)[n:]
	return n, nil
}

// A record is as much of a record as other formats have a place for. The last
// four members have no name in ours; they pass through a store as they are.
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

	State string `json:"state,omitempty"` // of an exported record
}

// exported reads an exported record. A store keeps members that it does not know as
// strangers wrote them: one that is not of our type is as good as absent.
func exported(line []byte) (rec record, err error) {
	members, err := exact(line)
	if err != nil {
		return rec, err
	}
	if line, err = json.Marshal(members); err == nil && json.Unmarshal(line, &rec) != nil {
		for name, value := range members { // one that is wrong may have ended the reading
			json.Unmarshal(fmt.Appendf(nil, "{%q:%s}", name, value), &rec)
		}
	}
	return rec, err
}

// exact leaves out the members of an object whose names are not all of small letters, as
// ours are: URL is not url, for which encoding/json takes it.
func exact(line []byte) (members map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(line, &members); err != nil {
		return nil, err
	}
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool {
		return strings.ContainsFunc(name, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	})
	return members, nil
}

// marshal is v as a line without its newline.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
