package trap

import (
	"bytes"
	"iter"
	"strings"
)

// maxPairs limits the number of parameters that are used, and thereby the memory for a site.
const maxPairs = 16

// Pairs yields the parameters of a query, each with its value.
//
// A shop in which visitors choose colour, size and order has a URL for every combination: few
// pairs, but a vast number of URLs. A page that shows one of many items by number has as many
// pairs as URLs. Therefore the caller counts the URLs of a path whose pairs all occur in other
// URLs.
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

// ParametersLead reports whether a link from one URL to another only changes parameters, that is,
// whether both have the same path. A page of settings links to itself with other settings, whereas
// items are linked from lists at other paths.
func ParametersLead(fromPath, _, path, _ string) bool { return fromPath == path }

// PagesOn reports whether two URLs are pages of the same list: they differ only in the page
// number.
func PagesOn(fromPath, fromQuery, path, query string) bool {
	if fromPath != path || fromQuery == query {
		return false
	}
	var toBuf, fromBuf [256]byte
	return bytes.Equal(withoutPage(fromBuf[:0], fromQuery), withoutPage(toBuf[:0], query))
}

// withoutPage appends the parameters other than the page number.
func withoutPage(buf []byte, query string) []byte {
	for pair := range Pairs(query) {
		if name, _, _ := strings.Cut(pair, "="); !IsPage(name) {
			buf = append(append(buf, pair...), '&')
		}
	}
	return buf
}

// IsPage reports whether a parameter is the page number of a list, or the index of the first item
// on a page.
func IsPage(name string) bool {
	for _, word := range [...]string{"page", "paged", "p", "pg", "pageno", "pagenum", "pagenumber", "start", "st", "offset", "from", "skip"} {
		if fold(name, word) {
			return true
		}
	}
	return false
}

// names appends the names of a query's parameters, in order.
func names(buf []byte, query string) []byte {
	for pair := range Pairs(query) {
		name, _, _ := strings.Cut(pair, "=")
		buf = append(append(buf, name...), '&')
	}
	return buf
}
