// Package trap tells addresses that lead nowhere: those of which a site makes
// more than anyone could fetch, without there being more to read.
//
// What one address tells is in [Lexical]: its length, its depth, and what it
// repeats. The rest takes many addresses, or pages, and comes as keys: addresses
// with the same key are counted together, by whoever knows them all, and those
// beyond a budget are refused. [Session] gives the page behind a session,
// [Calendar] what is left of an address without its dates, [Pairs] the settings
// that an address combines, [Links] the links that are relative and should not be.
// [Copies] finds pages that say what another page says, and [Condemned] the parts of
// a host that consist of such pages.
//
// Everything here is arithmetic on what it is given. It is fast enough for every
// link of a crawl, and bounded whatever strangers write.
package trap

import (
	"hash/maphash"
	"strings"
)

// A Rule is why an address is refused.
type Rule string

// The rules. The words are those of the record's error.
const (
	Length     Rule = "trap_length"     // longer than maxLength
	Depth      Rule = "trap_depth"      // more than maxDepth directories
	Repetition Rule = "trap_repetition" // the same again and again, or where a link makes it so
	Session    Rule = "trap_session"    // a known page under another session
	Calendar   Rule = "trap_calendar"   // one more date
	Parameters Rule = "trap_parameters" // one more combination of settings
	Duplicates Rule = "trap_duplicates" // where pages are copies of others
)

// Rules are all of them.
var Rules = []Rule{Length, Depth, Repetition, Session, Calendar, Parameters, Duplicates}

// The limits of a single address. Depth and repetitions are those with which
// Heritrix comes (TooManyPathSegmentsDecideRule, PathologicalPathDecideRule);
// browsers and servers have long had trouble with addresses longer than 2 KiB, so
// hardly anyone means to make such.
const (
	maxLength  = 2 << 10
	maxDepth   = 20
	maxCycles  = 2 // a run of segments may stand twice in a row, not three times
	maxOccurs  = 4 // a segment, or a parameter with its value, may stand so often anywhere
	minSegment = 3 // bytes; 0/0/0 is no circle yet, and a may stand beside others as often as it likes
)

// Lexical tells what is wrong with an address by itself; "" if nothing is.
func Lexical(path, query string) Rule {
	if len(path)+len(query) > maxLength {
		return Length
	}
	// Of the segments, which lie between slashes, the last is a file; an empty one
	// is counted too, or a//b would hide a depth.
	if strings.Count(path, "/") > maxDepth+1 {
		return Depth
	}
	if repeats(path) || overdone(query, '&', 1) {
		return Repetition
	}
	return ""
}

// repeats tells whether a path goes in circles: a run of segments more than
// maxCycles times in a row, or a segment more than maxOccurs times.
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
		same := 0 // so many segments in a row are what stands a cycle before them
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
	return overdone(path, '/', minSegment)
}

// overdone tells whether a part of s, of those between separators that have at
// least so many bytes, stands in it more than maxOccurs times.
func overdone(s string, separator byte, least int) bool {
	if strings.Count(s, string(rune(separator))) < maxOccurs {
		return false
	}
	var seen [64]string
	var times [64]int
	n := 0
parts:
	for part := range strings.SplitSeq(s, string(rune(separator))) {
		if len(part) < least {
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

// A Key stands for what addresses have in common. Keys are of this process: its
// seed is chosen anew each time, so that nobody can make addresses whose keys
// collide.
type Key uint64

var seed = maphash.MakeSeed()

// KeyOf is the key of a text, in a space of its own for every kind.
func KeyOf(kind byte, host uint32, text string) Key {
	var h maphash.Hash
	h.SetSeed(seed)
	h.Write([]byte{kind, byte(host), byte(host >> 8), byte(host >> 16), byte(host >> 24)})
	h.WriteString(text)
	return Key(h.Sum64())
}
