package sitemap

import (
	"strings"
	"time"
)

// The layouts of the W3C profile of ISO 8601 (https://www.w3.org/TR/NOTE-datetime), used by
// sitemaps and Atom, and of RFC 822, used by RSS, and common variations of both. time.Parse
// accepts fractions of seconds in all of them.
var (
	days = []string{"2006-01-02", "2006-01", "2006", "20060102", "2006/01/02", "2006/1/2"}

	times = []string{
		time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07",
		"2006-01-02T15:04:05", "2006-01-02T15:04",
		"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05", "2006-01-02 15:04",
		"20060102T150405Z07:00", "20060102T150405",
	}

	// Without the name of the day.
	mails = []string{"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 06 15:04:05", "2 Jan 06 15:04", "2 January 2006 15:04:05", "2-Jan-06 15:04:05"}
)

// zones holds the offsets, in hours, of the names in RFC 822, section 5.1. Other names have no
// certain meaning, and are treated as UTC (RFC 2822, section 4.3).
var zones = map[string]int{"EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8}

// earliest is the earliest plausible date. Earlier dates are placeholders for "no date".
var earliest = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

const maxDate = 64

// lastMod parses a date and returns it in one of the two forms of LastMod in [Entry], or "" if s
// is not a date. For a year or month it returns the first day; a time without zone is UTC.
func lastMod(s string) string {
	if len(s) < 4 || len(s) > maxDate {
		return ""
	}
	if s[0] < '0' || s[0] > '9' || len(s) > 2 && (s[1] == ' ' || s[2] == ' ' || s[2] == '-') {
		return mailed(s)
	}
	if len(s) <= len(time.DateOnly) {
		for _, layout := range days {
			if t, err := time.Parse(layout, s); err == nil {
				return format(t, time.DateOnly, s)
			}
		}
		return ""
	}
	for _, layout := range times {
		if t, err := time.Parse(layout, s); err == nil {
			return format(t, time.RFC3339, s)
		}
	}
	return ""
}

// mailed is like lastMod, for dates in the form of RFC 822.
func mailed(s string) string {
	if _, after, ok := strings.Cut(s, ","); ok {
		s = after
	}
	s = strings.Join(strings.Fields(s), " ")
	zone := 0
	if i := strings.LastIndexByte(s, ' '); i > 0 && strings.IndexByte(s[i:], ':') < 0 {
		name := s[i+1:]
		if t, err := time.Parse("-0700", name); err == nil {
			_, zone = t.Zone()
		} else {
			zone = zones[strings.ToUpper(name)] * 3600
		}
		s = s[:i]
	}
	for _, layout := range mails {
		if t, err := time.Parse(layout, s); err == nil {
			return format(t.Add(-time.Duration(zone)*time.Second), time.RFC3339, s)
		}
	}
	return ""
}

// format formats t in UTC, and returns "" if t is not plausible. read is the string from which t was
// parsed. If the result equals read, format returns read and does not allocate.
func format(t time.Time, layout, read string) string {
	t = t.UTC()
	if t.Before(earliest) || t.Year() > 9999 {
		return ""
	}
	var buf [len(time.RFC3339)]byte
	if b := t.AppendFormat(buf[:0], layout); string(b) != read {
		return string(b)
	}
	return read
}
