package trap

import (
	"bytes"
	"strings"
)

// WithoutDates appends a URL without days, months and years to buf, and reports whether the URL
// contains a date. A calendar has a page for every day, without end, and the URLs of these pages
// differ only in dates. From the URL of an article under a date, the name of the article remains.
//
// A date is a year with a month, in digits or by its English name; digits that contain both
// (20240531, 202405); or a number in a parameter such as month. Any other number of three or of
// more than four digits is treated as the number of an article, and is not removed.
func WithoutDates(buf []byte, path, query string) ([]byte, bool) {
	if !hasYear(path) && !hasYear(query) && strings.IndexByte(query, '=') < 0 {
		return buf, false
	}
	start := len(buf)
	buf, inPath := withoutDates(buf, path)
	buf, inQuery := withoutDates(append(buf, '?'), query)
	if found := inPath | inQuery; found&dated != 0 || found&(aYear|aMonth) == aYear|aMonth {
		return buf, true
	}
	return buf[:start], false
}

// The parts of a date that were found.
const (
	aYear = 1 << iota
	aMonth
	dated // both
)

// withoutDates appends s with 0 in place of months and of numbers that may be in a date, and
// returns the parts of a date that were found.
func withoutDates(buf []byte, s string) (_ []byte, found int) {
	for i := 0; i < len(s); {
		n := 1
		switch c := s[i]; {
		case isDigit(c):
			for i+n < len(s) && isDigit(s[i+n]) {
				n++
			}
			run := s[i : i+n]
			number := n == 3 || n > 4
			switch {
			case i > 0 && s[i-1] == '=' && isDateName(nameBefore(s[:i-1])):
				found |= dated
				number = false
			case n == 4 && isYear(run):
				found |= aYear
			case n <= 2 && between(run, "01", "12"):
				found |= aMonth
			case n == 6 && isYear(run[:4]) && between(run[4:], "01", "12"),
				n == 8 && isYear(run[:4]) && between(run[4:6], "01", "12") && between(run[6:], "01", "31"):
				found |= dated
				number = false
			}
			if number {
				buf = append(buf, run...)
			} else {
				buf = append(buf, '0')
			}
		case isLetter(c):
			for i+n < len(s) && isLetter(s[i+n]) {
				n++
			}
			if isMonth(s[i : i+n]) {
				found |= aMonth
				buf = append(buf, '0')
			} else {
				buf = append(buf, s[i:i+n]...)
			}
		default:
			buf = append(buf, c)
		}
		i += n
	}
	return buf, found
}

// DatesLead reports whether two URLs have dates, and paths that are otherwise equal. In a
// calendar each date links to the next date, so a crawl never ends. The dates of an archive, in
// contrast, are linked from its list, whose URL has no date.
func DatesLead(fromPath, fromQuery, path, query string) bool {
	var toBuf, fromBuf [256]byte
	if _, ok := WithoutDates(toBuf[:0], path, query); !ok {
		return false
	}
	if _, ok := WithoutDates(fromBuf[:0], fromPath, fromQuery); !ok {
		return false
	}
	to, _ := withoutDates(toBuf[:0], path)
	from, _ := withoutDates(fromBuf[:0], fromPath)
	return bytes.Equal(words(to), words(from))
}

// words removes separators, and digits that stand for dates.
func words(b []byte) []byte {
	n := 0
	for _, c := range b {
		if isLetter(c) || c >= 0x80 || c == '%' {
			b[n] = c
			n++
		}
	}
	return b[:n]
}

// hasYear reports whether s contains 19, 20 or 21 followed by a digit. It is a quick check.
func hasYear(s string) bool {
	for i := 0; i+2 < len(s); i++ {
		if c := s[i]; (c == '1' && s[i+1] == '9' || c == '2' && s[i+1] <= '1' && s[i+1] >= '0') && isDigit(s[i+2]) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isYear reports whether four digits are a plausible year of a page or a calendar.
func isYear(s string) bool { return "1900" <= s && s <= "2199" }

// between reports whether a number of one or two digits is in the range of two numbers of two
// digits.
func between(s, low, high string) bool {
	if len(s) == 1 {
		return low[0] == '0' && low[1:] <= s
	}
	return low <= s && s <= high
}

// nameBefore returns the name of the parameter whose "=" follows s.
func nameBefore(s string) string { return s[strings.LastIndexAny(s, "?&;/")+1:] }

func isDateName(name string) bool {
	for _, word := range [...]string{"date", "day", "week", "month", "year", "yr", "mon", "calmonth", "calyear", "caldate", "eventdate"} {
		if fold(name, word) {
			return true
		}
	}
	return false
}

// isMonth reports whether word is the English name of a month, or its first three letters.
func isMonth(word string) bool {
	const short = "janfebmaraprmayjunjulaugsepoctnovdec"
	if len(word) < 3 || len(word) > len("september") {
		return false
	}
	start := [3]byte{word[0] | 0x20, word[1] | 0x20, word[2] | 0x20}
	at := strings.Index(short, string(start[:]))
	return at%3 == 0 && (len(word) == 3 || fold(word, months[at/3]))
}

var months = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
