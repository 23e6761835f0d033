package judge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"spoor/internal/wire"
)

// A Label is what people say of a page.
type Label struct {
	URL    string   `json:"url"`
	Labels []string `json:"labels"` // none: the page was looked at, and nothing applies
}

// maxLabel is the longest line that is read, in bytes.
const maxLabel = 1 << 20

// Labels are the labels of an NDJSON file, in its order: an object a line, with the url of
// a page and a list of labels. Other fields are ignored, and so are empty lines.
//
// A line that is no label, or longer than 1 MiB, gives a [*wire.SyntaxError], and
// reading goes on behind it. Any other error is the stream's, and the last.
func Labels(r io.Reader) iter.Seq2[Label, error] {
	return func(yield func(Label, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var line []byte
		for number := int64(1); ; number++ {
			var end error
			line, end = readLine(in, line[:0])
			if end != nil && !errors.Is(end, io.EOF) {
				yield(Label{}, end)
				return
			}
			if len(bytes.TrimSpace(line)) > 0 {
				l, err := parseLabel(line)
				if err != nil {
					err = &wire.SyntaxError{Line: number, Err: err}
				}
				if !yield(l, err) {
					return
				}
			}
			if end != nil {
				return
			}
		}
	}
}

func parseLabel(line []byte) (Label, error) {
	if len(line) > maxLabel {
		return Label{}, fmt.Errorf("it is longer than %d bytes", maxLabel)
	}
	var l Label
	if err := json.Unmarshal(line, &l); err != nil {
		return Label{}, err
	}
	if l.URL == "" {
		return Label{}, errors.New("url is missing")
	}
	return l, nil
}

// readLine appends the next line to line, but no more than shows that it is too long.
// The error is io.EOF behind the last line.
func readLine(in *bufio.Reader, line []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		if room := maxLabel + 1 - len(line); room > 0 {
			line = append(line, part[:min(room, len(part))]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
