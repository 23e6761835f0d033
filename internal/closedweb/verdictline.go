package closedweb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"spoor/internal/wire"
)

// AppendVerdict appends to dst a line that holds a record as a JSON object, with the
// verdict, unless it is NoVerdict, and the units of cost spent so far. They replace those
// of an earlier judge, and come before the body, which stays last.
func AppendVerdict(dst, line []byte, v Verdict, spent int64) []byte {
	dst = append(dst, '{')
	var bodies [][]byte
	for name, member := range eachMember(line) {
		switch string(name) {
		case `"verdict"`, `"spent"`:
		case `"body"`, `"body_base64"`:
			bodies = append(bodies, member)
		default:
			dst = append(append(dst, member...), ',')
		}
	}
	if v != NoVerdict {
		dst = append(append(append(dst, `"verdict":"`...), v.String()...), `",`...)
	}
	dst = strconv.AppendInt(append(dst, `"spent":`...), spent, 10)
	for _, body := range bodies {
		dst = append(append(dst, ','), body...)
	}
	return append(dst, "}\n"...)
}

// A Writer writes records with their verdicts.
type Writer struct {
	Brief bool // leave out text, links and body

	out       io.Writer
	line      bytes.Buffer // the current record
	w         *wire.Writer // which writes to line
	unwritten []byte
}

// flushSize is how many bytes of lines are written at once.
const flushSize = 64 << 10

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: out}
	w.w = wire.NewWriter(&w.line)
	return w
}

// Write writes a record with its verdict and the units of cost spent so far. It may drop
// sections of the record.
func (w *Writer) Write(rec *wire.Record, v Verdict, spent int64) error {
	if w.Brief {
		rec.Drop(wire.Parse | wire.Body)
	}
	w.line.Reset()
	if err := errors.Join(w.w.Write(rec), w.w.Flush()); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	w.unwritten = AppendVerdict(w.unwritten, w.line.Bytes(), v, spent)
	if len(w.unwritten) < flushSize {
		return nil
	}
	return w.Flush()
}

// Flush writes what is buffered.
func (w *Writer) Flush() error {
	if _, err := w.out.Write(w.unwritten); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	w.unwritten = w.unwritten[:0]
	return nil
}

// lineVerdict returns the verdict in a line, "" if there is none.
func lineVerdict(line []byte) (verdict string) {
	for name, member := range eachMember(line) {
		if string(name) == `"verdict"` {
			value := bytes.TrimLeft(member[len(name):], " \t:")
			verdict = string(bytes.Trim(value, `"`))
		}
	}
	return verdict
}

// eachMember yields the members of a JSON object: the quoted name, and name and value
// together. It stops where the object is malformed.
func eachMember(line []byte) func(yield func(name, member []byte) bool) {
	return func(yield func(name, member []byte) bool) {
		i := bytes.IndexByte(line, '{') + 1
		for i > 0 {
			if i = skipSpace(line, i); i == len(line) || line[i] != '"' {
				return
			}
			start := i
			nameEnd := skipValue(line, i)
			i = skipSpace(line, nameEnd)
			if i == len(line) || line[i] != ':' {
				return
			}
			i = skipValue(line, skipSpace(line, i+1))
			if !yield(line[start:nameEnd], line[start:i]) {
				return
			}
			if i = skipSpace(line, i); i == len(line) || line[i] != ',' {
				return
			}
			i++
		}
	}
}

// skipSpace returns the index after the white space that begins at i.
func skipSpace(line []byte, i int) int {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r' || line[i] == '\n') {
		i++
	}
	return i
}

// skipValue returns the index after the JSON value that begins at i.
func skipValue(line []byte, i int) int {
	for depth := 0; i < len(line); {
		switch line[i] {
		case '"':
			i = skipString(line, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',':
			if depth == 0 {
				return i
			}
			i++
		default:
			for i++; i < len(line) && !bytes.ContainsRune([]byte(`"{}[],: `+"\t\r\n"), rune(line[i])); i++ {
			}
			if depth > 0 {
				continue
			}
			return i
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// skipString returns the index after the JSON string that begins at i.
func skipString(line []byte, i int) int {
	for i++; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}
