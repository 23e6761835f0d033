package report

import (
	"math/bits"
	"strconv"

	"spoor/internal/wire"
)

// A duplicateFinder counts the pages that have nearly the words of an earlier one: their fingerprints
// (simhash, as of parse) differ in at most three of 64 bits. Then at least one of four parts of 16 bits is
// equal, so only pages with an equal part are compared.
//
// Source: G. S. Manku, A. Jain and A. Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007.
type duplicateFinder struct {
	n     int
	known [4]map[uint16][]uint64 // by the value of the part: the fingerprints that are not near-duplicates
}

const (
	maxAlike = 1000
)

// add counts a page.
func (f *duplicateFinder) add(rec *wire.Record) {
	print, err := strconv.ParseUint(rec.Simhash, 16, 64)
	if err != nil || print == 0 {
		return
	}
	for i := range f.known {
		for _, other := range f.known[i][uint16(print>>(16*i))] {
			if bits.OnesCount64(print^other) <= 3 {
				f.n++
				return
			}
		}
	}
	for i := range f.known {
		if f.known[i] == nil {
			f.known[i] = map[uint16][]uint64{}
		}
		part := uint16(print >> (16 * i))
		if alike := f.known[i][part]; len(alike) < maxAlike {
			f.known[i][part] = append(alike, print)
		}
	}
}
