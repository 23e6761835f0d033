package trap

import (
	"bytes"
	"iter"
	"strings"
)

// maxPairs bounds the parameters that are looked at, and with them the memory that a
// site which makes parameters up can cost.
const maxPairs = 16

// Pairs yields the parameters of a query, each with its value.
//
// A shop that lets visitors choose colour, size and order has an address for every
// combination: few pairs, and addresses without number. A page that shows one of
// many things by its number has as many pairs as addresses. So what is counted
// is addresses of a path that only combine pairs of others.
func Pairs(query string) iter.Seq[string] {
	return func(yield func(string) bool) {
		n := 0
		for part := range strings.SplitSeq(query, "&") {
			if part == "" {
				continue
			}
			if n++; n > maxPairs || !yield(part) {
				return
			}
		}
	}
}

// ParametersLead tells whether it is by parameters that one address leads to another:
// they have the same path. A list of what there is stands somewhere else; settings
// are chosen one after the other.
func ParametersLead(fromPath, _, path, _ string) bool { return fromPath == path }

// PagesOn tells whether one address leads to another page of the list that it is a
// page of itself: they differ in nothing but the number of the page.
func PagesOn(fromPath, fromQuery, path, query string) bool {
	if fromPath != path || fromQuery == query {
		return false
	}
	var room, fromRoom [256]byte
	return bytes.Equal(withoutPage(fromRoom[:0], fromQuery), withoutPage(room[:0], query))
}

// withoutPage appends the parameters that are not the number of a page.
func withoutPage(buf []byte, query string) []byte {
	for pair := range Pairs(query) {
		if name, _, _ := strings.Cut(pair, "="); !IsPage(name) {
			buf = append(append(buf, pair...), '&')
		}
	}
	return buf
}

// IsPage tells whether a parameter is the number of a page of a list, or of what
// stands first on it.
func IsPage(name string) bool {
	for _, word := range [...]string{"page", "paged", "p", "pg", "pageno", "pagenum", "pagenumber", "start", "st", "offset", "from", "skip"} {
		if fold(name, word) {
			return true
		}
	}
	return false
}

// names are the names of a query's parameters, in their order.
func names(buf []byte, query string) []byte {
	for pair := range Pairs(query) {
		name, _, _ := strings.Cut(pair, "=")
		buf = append(append(buf, name...), '&')
	}
	return buf
}
