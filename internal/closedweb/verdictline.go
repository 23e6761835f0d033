package closedweb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"spoor/internal/wire"
)

// AppendVerdict appends to dst the record in line, as a JSON object on one line, with the
// verdict (except NoVerdict), the class of the page if it has one, and the units of cost spent so far.
// These members replace the members of an earlier judge. The body stays last.
func AppendVerdict(dst, line []byte, v Verdict, class string, spent int64) []byte {
	dst = append(dst, '{')
	var bodies [][]byte
	for name, member := range wire.Members(line) {
		switch name {
		case "verdict", "class", "spent":
		case "body", "body_base64":
			bodies = append(bodies, member)
		default:
			dst = append(append(dst, member...), ',')
		}
	}
	if v != NoVerdict {
		dst = append(append(append(dst, `"verdict":"`...), v.String()...), `",`...)
	}
	if class != "" {
		text, _ := json.Marshal(class) // of a string, which does not fail
		dst = append(append(append(dst, `"class":`...), text...), ',')
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
	w         *wire.Writer // writes to line
	unwritten []byte
}

// flushSize is the number of bytes from which lines are written.
const flushSize = 64 << 10

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: out}
	w.w = wire.NewWriter(&w.line)
	return w
}

// Write writes a record with its verdict, its class ("" for none) and the units of cost spent so far. It
// may drop sections of the record.
func (w *Writer) Write(rec *wire.Record, v Verdict, class string, spent int64) error {
	if w.Brief {
		rec.Drop(wire.Parse | wire.Body)
	}
	w.line.Reset()
	if err := errors.Join(w.w.Write(rec), w.w.Flush()); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	w.unwritten = AppendVerdict(w.unwritten, w.line.Bytes(), v, class, spent)
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
	for name, member := range wire.Members(line) {
		if name == "verdict" {
			_, value, _ := bytes.Cut(member, []byte(":"))
			verdict = string(bytes.Trim(value, "\" \t"))
		}
	}
	return verdict
}
