package archive

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A Pick selects one of several captures of a URL: the newest (the zero value), the first, or the
// nearest to a date. A date of fewer than 14 digits is a period; for example, 2024 is a year.
// Captures within the period have the distance zero. Among captures with the same distance, the
// newest is selected. A whole page is preferred to a part of one, whatever the dates.
type Pick struct {
	text     string
	first    bool
	from, to time.Time // period; there is none if from is zero
}

// ParsePick parses "newest", "first", or a date: 4, 6, 8, 10, 12 or 14 digits in UTC, as in
// URLs of web archives (20240131120000), or RFC 3339 (2024-01-31T12:00:00Z, 2024-01-31).
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

// String returns the text that [ParsePick] parsed.
func (p Pick) String() string { return cmp.Or(p.text, "newest") }

// A rank orders captures by completeness. A lower rank is preferred.
type rank int

const (
	wholePage rank = iota
	partOfPage
	noPage // a 304 response that refers to no page

	// A redirect to the URL of the capture. Such redirects occur if a server redirects until it
	// receives a cookie, or if variants with the same canonical URL ("/%7Ea" and "/~a") redirect to
	// each other.
	selfRedirect
)

// rank returns the rank of a capture. A revisit has the page of its original.
func (c *Capture) rank() rank {
	switch {
	case c.Redirect == c.URL:
		return selfRedirect
	case c.Status == http.StatusNotModified && !c.Revisit():
		return noPage
	case c.Partial:
		return partOfPage
	}
	return wholePage
}

// sort sorts captures by preference. The rank counts before the date. A partial page ranks below a
// whole page, but not below an error or a redirect.
func (p Pick) sort(captures []Capture) {
	hasPage := slices.ContainsFunc(captures, func(c Capture) bool {
		return c.rank() == wholePage && (c.Status/100 == 2 || c.Revisit())
	})
	rank := func(c Capture) rank {
		if r := c.rank(); r != partOfPage || hasPage {
			return r
		}
		return wholePage
	}
	slices.SortFunc(captures, func(a, b Capture) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), p.compare(a, b)) })
}

// compare compares captures by their dates.
func (p Pick) compare(a, b Capture) int {
	// Archives and the files inside them are sorted by name, so their indexes are compared.
	oldest := cmp.Or(
		cmp.Compare(a.Timestamp, b.Timestamp),
		cmp.Compare(a.archive, b.archive),
		cmp.Compare(a.source, b.source),
		cmp.Compare(a.Offset, b.Offset),
		cmp.Compare(a.Skip, b.Skip),
	)
	switch {
	case p.first:
		return oldest
	case p.text == "":
		return -oldest
	}
	return cmp.Or(cmp.Compare(p.distance(a), p.distance(b)), -oldest)
}

// distance returns the distance in seconds of a capture from the period.
func (p Pick) distance(c Capture) int64 {
	t := c.Time().Unix()
	return max(0, p.from.Unix()-t, t-p.to.Unix())
}
