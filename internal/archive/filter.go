package archive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/weburl"
)

// A RecordFilter selects records by their [Summary]. The zero value selects all.
type RecordFilter struct {
	Types  []string      // values of WARC-Type
	MIME   []string      // see [ParseMediaTypes]
	Status []StatusRange // statuses of responses
	Prefix string        // prefix of the URL, or of its SURT
}

// Match reports whether the filter selects a record.
func (f *RecordFilter) Match(s *Summary) bool {
	return (len(f.Types) == 0 || slices.Contains(f.Types, s.Type)) &&
		(len(f.MIME) == 0 || TakesMediaType(f.MIME, s.MIME)) &&
		(len(f.Status) == 0 || slices.ContainsFunc(f.Status, func(r StatusRange) bool { return r.From <= s.Status && s.Status <= r.To })) &&
		f.matchURL(s.URL)
}

// matchURL reports whether a URL has the prefix. A prefix with a bracket or a comma before
// the first slash is compared with the SURT.
func (f *RecordFilter) matchURL(url string) bool {
	if strings.HasPrefix(url, f.Prefix) {
		return true
	}
	if host, _, _ := strings.Cut(f.Prefix, "/"); !strings.ContainsAny(host, ",)") {
		return false
	}
	canonical, err := weburl.Canonical(url)
	return err == nil && strings.HasPrefix(weburl.SURT(canonical), f.Prefix)
}

// A StatusRange is a range of HTTP status codes, both ends included.
type StatusRange struct{ From, To int }

// ParseStatus parses a status code, such as 404, or a class of status codes, such as 4xx.
func ParseStatus(s string) (StatusRange, error) {
	if len(s) == 3 && '1' <= s[0] && s[0] <= '9' {
		if strings.EqualFold(s[1:], "xx") {
			from := int(s[0]-'0') * 100
			return StatusRange{from, from + 99}, nil
		}
		if n, err := strconv.Atoi(s); err == nil {
			return StatusRange{n, n}, nil
		}
	}
	return StatusRange{}, fmt.Errorf("%s: no status\nhint: -status 200,404, or 4xx for all from 400 to 499", s)
}
