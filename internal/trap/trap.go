// Package trap detects crawler traps: URLs that a site generates without end and that lead to
// no new content.
//
// [Lexical] checks the length, depth and repetitions of a single URL. The other rules concern
// many URLs or pages and use keys: the caller counts URLs with the same key, and refuses URLs
// beyond a budget. [WithoutSession] removes session identifiers, [WithoutDates] removes dates,
// [Pairs] returns the parameters that a URL combines, and [Links] finds relative links that should
// not be relative. [Condemned] finds the parts of URLs that make no difference, and the forms of
// URLs that all lead to the same page.
//
// The package does no I/O. It is fast enough for every link of a crawl, and its time and
// memory are bounded for any input.
package trap

import (
	"hash/maphash"
	"strings"
)

// A Rule is the reason for refusing a URL.
type Rule string

// The rules. Their values are the values of the error field of records.
const (
	Length     Rule = "trap_length"     // longer than maxLength
	Depth      Rule = "trap_depth"      // more than maxDepth directories
	Repetition Rule = "trap_repetition" // a repeated segment, or a relative link that repeats itself
	Session    Rule = "trap_session"    // a known page in another session
	Calendar   Rule = "trap_calendar"   // too many dates
	Parameters Rule = "trap_parameters" // too many combinations of parameters
	Duplicates Rule = "trap_duplicates" // a copy of a fetched page
)

// The limits of a single URL. Depth and repetitions are the defaults of Heritrix
// (TooManyPathSegmentsDecideRule, PathologicalPathDecideRule). URLs longer than 2 KiB are
// rarely intended: many browsers and servers used not to support them.
const (
	maxLength  = 2 << 10
	maxDepth   = 20
	maxCycles  = 2 // maximum number of times that a run of segments may occur in a row
	maxOccurs  = 4 // maximum number of times that a segment, or a parameter with its value, may occur
	minSegment = 3 // length in bytes from which segments are checked; shorter ones, as in 0/0/0, may repeat
)

// Lexical returns the rule for single URLs that a URL violates, or "" if there is none.
func Lexical(path, query string) Rule {
	if len(path)+len(query) > maxLength {
		return Length
	}
	// The last segment is a file. Empty segments count as directories.
	if strings.Count(path, "/") > maxDepth+1 {
		return Depth
	}
	if repeats(path) || hasRepeatedPart(query, '&', 1) {
		return Repetition
	}
	return ""
}

// repeats reports whether a path has a run of segments more than maxCycles times in a row, or
// a segment more than maxOccurs times.
func repeats(path string) bool {
	var segments [maxDepth + 2]string
	n := 0
	for s := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if n == len(segments) {
			break
		}
		segments[n] = s
		n++
	}
	for cycle := 1; cycle*(maxCycles+1) <= n; cycle++ {
		same := 0 // number of consecutive segments that equal the segment one cycle before
		for i := cycle; i < n; i++ {
			if segments[i] != segments[i-cycle] {
				same = 0
				continue
			}
			same++
			limit := maxCycles
			if cycle == 1 && len(segments[i]) < minSegment {
				limit = maxOccurs
			}
			if same == cycle*limit {
				return true
			}
		}
	}
	return hasRepeatedPart(path, '/', minSegment)
}

// hasRepeatedPart reports whether s, split at separator, contains a part of at least minLen bytes
// more than maxOccurs times.
func hasRepeatedPart(s string, separator byte, minLen int) bool {
	if strings.Count(s, string(rune(separator))) < maxOccurs {
		return false
	}
	var seen [64]string
	var times [64]int
	n := 0
parts:
	for part := range strings.SplitSeq(s, string(rune(separator))) {
		if len(part) < minLen {
			continue
		}
		for i := range n {
			if seen[i] == part {
				if times[i]++; times[i] > maxOccurs {
					return true
				}
				continue parts
			}
		}
		if n < len(seen) {
			seen[n], times[n] = part, 1
			n++
		}
	}
	return false
}

// A Key is a hash of a property that URLs have in common. Every process uses another seed, so
// that sites cannot construct collisions.
type Key uint64

var seed = maphash.MakeSeed()

// KeyOf returns the key of a text. The same text has different keys for different kinds.
func KeyOf(kind byte, host uint32, text string) Key {
	var h maphash.Hash
	h.SetSeed(seed)
	h.Write([]byte{kind, byte(host), byte(host >> 8), byte(host >> 16), byte(host >> 24)})
	h.WriteString(text)
	return Key(h.Sum64())
}
