package archive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Pick says which of several captures of an address answers: the newest, which
// is the zero value, the first, or the nearest to a date. A date of fewer than 14
// digits is a time of some length, 2024 all of that year: what was captured
// within it is as near as can be, and of captures that are equally near the
// newest is picked.
type Pick struct {
	text     string
	first    bool
	from, to time.Time // not zero: nearest to that
}

// ParsePick reads "newest", "first", or a date: 4, 6, 8, 10, 12 or 14 digits in
// UTC, as in the address of a web archive (20240131120000), or RFC 3339
// (2024-01-31T12:00:00Z, 2024-01-31).
func ParsePick(s string) (Pick, error) {
	switch s {
	case "", "newest":
		return Pick{}, nil
	case "first":
		return Pick{text: s, first: true}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		t = t.UTC().Truncate(time.Second)
		return Pick{text: s, from: t, to: t}, nil
	}
	digits := s
	if _, err := time.Parse(time.DateOnly, s); err == nil {
		digits = strings.ReplaceAll(s, "-", "")
	}
	if n := len(digits); n >= 4 && n <= len(timestampLayout) && n%2 == 0 {
		if t, err := time.Parse(timestampLayout[:n], digits); err == nil {
			end := map[int]time.Time{
				4: t.AddDate(1, 0, 0), 6: t.AddDate(0, 1, 0), 8: t.AddDate(0, 0, 1),
				10: t.Add(time.Hour), 12: t.Add(time.Minute), 14: t.Add(time.Second),
			}[n]
			return Pick{text: s, from: t, to: end.Add(-time.Second)}, nil
		}
	}
	return Pick{}, fmt.Errorf("%q is neither newest nor first nor a date (hint: 2024, 20240131 or 2024-01-31T12:00:00Z)", s)
}

// String is the text that [ParsePick] read.
func (p Pick) String() string { return cmp.Or(p.text, "newest") }

// sort puts the capture that is picked first, and the others behind it in the
// order in which they would be.
func (p Pick) sort(captures []Capture) {
	// Archives are sorted by name, and so is what is inside them: places compare
	// like names.
	newest := func(a, b Capture) int {
		return -cmp.Or(
			cmp.Compare(a.Timestamp, b.Timestamp),
			cmp.Compare(a.archive, b.archive),
			cmp.Compare(a.source, b.source),
			cmp.Compare(a.Offset, b.Offset),
			cmp.Compare(a.Skip, b.Skip),
		)
	}
	switch {
	case p.first:
		slices.SortFunc(captures, func(a, b Capture) int { return newest(b, a) })
	case p.text == "":
		slices.SortFunc(captures, newest)
	default:
		slices.SortFunc(captures, func(a, b Capture) int {
			return cmp.Or(cmp.Compare(p.distance(a), p.distance(b)), newest(a, b))
		})
	}
}

// distance is how far a capture is from what is wanted, in seconds.
func (p Pick) distance(c Capture) int64 {
	t := c.Time().Unix()
	return max(0, p.from.Unix()-t, t-p.to.Unix())
}
