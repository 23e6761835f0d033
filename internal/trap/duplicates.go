package trap

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// A Page is a fetched page of a host.
type Page struct {
	Path, Query string
	Hash        uint64 // simhash of the text
}

// The limits of near-duplicates. A part of a host is condemned if at least maxCopies of its pages
// and at least three quarters of them are copies. A directory, which may contain pages of all kinds,
// is condemned if at least maxDirCopies of its pages and at least seven eighths of them are copies.
const (
	maxDistance = 3  // maximum number of bits in which the hashes of near-duplicates differ
	maxCompared = 64 // maximum number of pages with a common block with which a page is compared

	maxCopies    = 8
	maxDirCopies = 16
)

// isTooMany reports whether a part of a host with the given numbers of pages and copies is
// condemned.
func isTooMany(level, pages, copies int) bool {
	if level < firstDir {
		return copies >= maxCopies && 4*copies >= 3*pages
	}
	return copies >= maxDirCopies && 8*copies >= 7*pages
}

// Copies reports, for each page of a host, whether the page is a near-duplicate of a page with a
// shorter URL, or with a URL of the same length that sorts first. The result does not depend on
// the order of the pages.
//
// Hashes of near-duplicates differ in at most three of 64 bits, so at least one of four blocks
// of 16 bits is equal. Only pages with an equal block are compared. To limit the time, a page is
// compared with at most 64 others.
//
// Source: G. S. Manku, A. Jain and A. Das Sarma, "Detecting Near-Duplicates for Web Crawling",
// WWW 2007, sections 2 and 3.
func Copies(pages []Page) []bool {
	copied := make([]bool, len(pages))
	order := make([]int, len(pages))
	for i := range order {
		order[i] = i
	}
	// The first of several pages with the same hash is the original.
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(pages[a].Hash, pages[b].Hash), compare(pages[a], pages[b]))
	})
	distinct := order[:0]
	for i, p := range order {
		if i > 0 && pages[p].Hash == pages[distinct[len(distinct)-1]].Hash {
			copied[p] = true
		} else {
			distinct = append(distinct, p)
		}
	}
	slices.SortFunc(distinct, func(a, b int) int { return compare(pages[a], pages[b]) })
	blocks := map[uint32][]int{}
	for _, p := range distinct {
		h := pages[p].Hash
		for block := range uint32(4) {
			key := block<<16 | uint32(h>>(16*block))&0xffff
			others := blocks[key]
			for _, q := range others {
				if bits.OnesCount64(h^pages[q].Hash) <= maxDistance {
					copied[p] = true
					break
				}
			}
			if len(others) < maxCompared {
				blocks[key] = append(others, p)
			}
		}
	}
	return copied
}

// compare orders pages. The first of two near-duplicates in this order is the original.
func compare(a, b Page) int {
	return cmp.Or(
		cmp.Compare(len(a.Path)+len(a.Query), len(b.Path)+len(b.Query)),
		strings.Compare(a.Path, b.Path), strings.Compare(a.Query, b.Query))
}

// levels is the maximum number of parts of a host to which a URL belongs.
const (
	firstDir = 4
	levels   = firstDir + maxDepth
)

// parts appends the keys of the parts of a host to which a URL belongs, in the order in which they
// are checked. The key 0 means that there is no such part. The parts are
//
//   - the URLs with the same parameter names,
//   - the URLs with the same path and parameter names,
//   - the URLs whose paths differ only in numbers, with the same parameter names,
//   - the URLs with the same file name and parameter names,
//   - the directories from the innermost to the outermost, without the root, which is the host.
func parts(keys []Key, host uint32, path, query string) []Key {
	var buf [512]byte
	keys = append(keys, 0, 0, 0, 0)
	base := len(keys) - firstDir
	if query != "" {
		b := names(buf[:0], query)
		keys[base] = KeyOf('n', host, string(b))
		b = append(append(b, '?'), path...)
		keys[base+1] = KeyOf('p', host, string(b))
	}
	b, digits := buf[:0], false
	for i := range len(path) {
		if isDigit(path[i]) {
			digits = true
			if i > 0 && isDigit(path[i-1]) {
				continue
			}
			b = append(b, '0')
			continue
		}
		b = append(b, path[i])
	}
	if digits {
		keys[base+2] = KeyOf('s', host, string(names(append(b, '?'), query)))
	}
	if name := strings.TrimSuffix(path, "/"); len(name) > 1 {
		at := strings.LastIndexByte(name, '/')
		keys[base+3] = KeyOf('l', host, string(names(append(append(b[:0], path[at+1:]...), '?'), query)))
	}
	for n, at := 0, strings.LastIndexByte(path, '/'); at > 0 && n < maxDepth; n++ {
		keys = append(keys, KeyOf('d', host, path[:at+1]))
		at = strings.LastIndexByte(path[:at], '/')
	}
	return keys
}

// Condemned returns the parts of a host that consist of copies, according to the given pages.
// Pages of a condemned part are not counted in the parts that contain it.
func Condemned(host uint32, pages []Page) Condemnation {
	c := Condemnation{host: host}
	if len(pages) < maxCopies {
		return c
	}
	copied := Copies(pages)
	keys := make([][]Key, len(pages))
	for i, p := range pages {
		keys[i] = parts(nil, host, p.Path, p.Query)
		// Directories are compared at their depth, innermost first.
		if n := levels - len(keys[i]); n > 0 {
			keys[i] = slices.Insert(keys[i], firstDir, make([]Key, n)...)
		}
	}
	type count struct{ pages, copies int }
	for level := range levels {
		counts := map[Key]count{}
		for i := range pages {
			k := keys[i][level]
			if k == 0 {
				continue
			}
			n := counts[k]
			n.pages++
			if copied[i] {
				n.copies++
			}
			counts[k] = n
		}
		for k, n := range counts {
			if isTooMany(level, n.pages, n.copies) {
				if c.keys == nil {
					c.keys = map[Key]bool{}
				}
				c.keys[k] = true
			}
		}
		for i := range pages {
			if c.keys[keys[i][level]] {
				clear(keys[i])
			}
		}
	}
	return c
}

// A Condemnation is a set of parts of a host that should not be crawled further.
type Condemnation struct {
	host uint32
	keys map[Key]bool
}

// Any reports whether the set is not empty.
func (c Condemnation) Any() bool { return len(c.keys) > 0 }

// Has reports whether a URL belongs to one of the parts.
func (c Condemnation) Has(path, query string) bool {
	if !c.Any() {
		return false
	}
	var buf [levels]Key
	for _, k := range parts(buf[:0], c.host, path, query) {
		if k != 0 && c.keys[k] {
			return true
		}
	}
	return false
}
