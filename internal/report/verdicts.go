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

// What a judge can say of a record.
const (
	relevant   = "relevant"
	irrelevant = "irrelevant"
	unlabelled = "unlabelled"
	repeated   = "repeated" // fetched before
	free       = "free"     // it cost nothing
)

// saying is all that a judge can say, in the order in which it is shown.
func saying() []string { return []string{relevant, irrelevant, unlabelled, repeated, free} }

// verdicts are a judge's records, one after the other. A nil one has none.
type verdicts struct {
	lines *bufio.Scanner
	head  *verdict // not used up; nil at the end
	err   error
}

type verdict struct{ URL, Query, Verdict string }

func newVerdicts(r io.Reader) *verdicts {
	if r == nil {
		return nil
	}
	v := &verdicts{lines: bufio.NewScanner(r)}
	v.lines.Buffer(nil, wire.DefaultLimit)
	v.advance()
	return v
}

// advance goes on to the next line that is a record.
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

// of is the verdict of the next record of the run; "" if the judge has none, as of a
// line that the judge could not read or that was not there yet.
func (v *verdicts) of(rec *wire.Record) string {
	if v == nil || v.head == nil || v.head.URL != rec.URL || v.head.Query != rec.Query {
		return ""
	}
	said := v.head.Verdict
	v.advance()
	if !slices.Contains(saying(), said) {
		return ""
	}
	return said
}

// end tells whether all verdicts were of this run.
func (v *verdicts) end() error {
	switch {
	case v == nil:
		return nil
	case v.err != nil:
		return fmt.Errorf("verdicts: %w", v.err)
	case v.head != nil:
		return errors.New("the verdicts are of another run than the records\nhint: judge the run again, or remove its verdicts")
	}
	return nil
}
