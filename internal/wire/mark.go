package wire

import (
	"encoding/json"
	"fmt"
)

// A window mark is a record that ends a window of an endless stream, as end of file ends a
// finite stream. frontier serve sends the mark after the addresses of the window; every stage
// passes the mark on after its output for those addresses; when the mark returns, the window is
// complete. A mark has the form of a query, so stages that do not recognise marks pass them on
// like queries. No search answers a mark.
const (
	markOperator = "mark"
	markQuery    = "mark"
)

// IsMark reports whether r, read with [Address], is a window mark. Its Generation is the
// number of the window that it ends.
func (r *Record) IsMark() bool { return r.URL == "" && r.Operator == markOperator }

// SetMark makes r the mark of window.
func (r *Record) SetMark(window int) {
	r.Reset()
	r.V, r.Generation, r.Operator, r.Query = Version, window, markOperator, markQuery
}

// A Mark holds the additional fields of a window mark in a crawl on several machines. The stages
// treat them as unknown fields, and copy them.
//
// From the server of a partition to exchange: Best, Stop, and Due of an empty window. From exchange back to the
// server: N and, if the crawl ends, End or, if it pauses, Due.
type Mark struct {
	N    *int      `json:"n,omitempty"`    // number of addresses to lease for the next window
	End  string    `json:"end,omitempty"`  // why the crawl ends with this window
	Due  string    `json:"due,omitempty"`  // RFC 3339: from the server of an empty window, when an address becomes due; from exchange, when to continue
	Best []float64 `json:"best,omitempty"` // highest priorities of the waiting addresses, in descending order
	Stop bool      `json:"stop,omitempty"` // the user has requested the end of the crawl
}

// MaxBest is the maximum length of [Mark.Best].
const MaxBest = 1024

// Mark returns the additional fields of a mark that was read.
func (r *Record) Mark() (m Mark, err error) {
	if len(r.raw.line) == 0 {
		return m, nil
	}
	if err := json.Unmarshal(r.raw.line, &m); err != nil {
		return m, fmt.Errorf("window mark %d: %w", r.Generation, err)
	}
	switch {
	case m.N != nil && (*m.N < 0 || *m.N > MaxCount):
		return m, fmt.Errorf("window mark %d: n is %d: want a number from 0 to %d", r.Generation, *m.N, MaxCount)
	case len(m.Best) > MaxBest:
		return m, fmt.Errorf("window mark %d: best has %d priorities: at most %d are permitted", r.Generation, len(m.Best), MaxBest)
	}
	return m, nil
}

// AppendMark appends the mark of window with additional fields to b, as a line.
func AppendMark(b []byte, window int, m Mark) ([]byte, error) {
	line, err := json.Marshal(struct {
		V          int    `json:"v"`
		Generation int    `json:"generation,omitempty"`
		Operator   string `json:"operator"`
		Query      string `json:"query"`
		Mark
	}{Version, window, markOperator, markQuery, m})
	if err != nil {
		return b, fmt.Errorf("window mark %d: %w", window, err)
	}
	return append(append(b, line...), '\n'), nil
}
