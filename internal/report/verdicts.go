package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"spoor/internal/wire"
)

// The verdicts of a judge.
const (
	relevant   = "relevant"
	irrelevant = "irrelevant"
	unlabelled = "unlabelled"
	repeated   = "repeated" // fetched before
	free       = "free"     // no cost
)

// allVerdicts lists all verdicts in the order in which they are shown.
func allVerdicts() []string { return []string{relevant, irrelevant, unlabelled, repeated, free} }

// verdicts reads a judge's records. A nil pointer has no records.
type verdicts struct {
	lines *bufio.Scanner
	head  *verdict // the next record; nil at the end
	err   error
}

type verdict struct{ URL, Query, Verdict, Class string }

func newVerdicts(r io.Reader) *verdicts {
	if r == nil {
		return nil
	}
	v := &verdicts{lines: bufio.NewScanner(r)}
	v.lines.Buffer(nil, wire.DefaultLimit)
	v.advance()
	return v
}

func (v *verdicts) advance() {
	for v.head = nil; v.err == nil && v.lines.Scan(); {
		var next verdict
		if json.Unmarshal(v.lines.Bytes(), &next) == nil && (next.URL != "" || next.Query != "") {
			v.head = &next
			return
		}
	}
	v.err = v.lines.Err()
}

// of returns the verdict and the class of the next record of the run. They are "" if there are none,
// because the judge could not read the line, or the record was added later.
func (v *verdicts) of(rec *wire.Record) (said, class string) {
	if v == nil || v.head == nil || v.head.URL != rec.URL || v.head.Query != rec.Query {
		return "", ""
	}
	said, class = v.head.Verdict, v.head.Class
	v.advance()
	if !slices.Contains(allVerdicts(), said) {
		return "", ""
	}
	return said, class
}

// end returns an error if there are verdicts without a record.
func (v *verdicts) end() error {
	switch {
	case v == nil:
		return nil
	case errors.Is(v.err, bufio.ErrTooLong):
		return fmt.Errorf("a line of the verdicts is longer than %d MiB\nhint: judge the run again, or remove its verdicts", wire.DefaultLimit>>20)
	case v.err != nil:
		return fmt.Errorf("verdicts: %w", v.err)
	case v.head != nil:
		return errors.New("the verdicts do not belong to the records\nhint: judge the run again, or remove its verdicts")
	}
	return nil
}
