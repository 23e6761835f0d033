// Package background says how frequent English words are in general, in a table of document
// frequencies that is part of the program. With it a word of a topic can be weighed without
// any example pages: "theorem" distinguishes pages, "number" does not.
//
// The table is made by make.go from the documentation of Go and of Debian, since anybody can
// get these texts. It has the 12,000 words that are in the most documents, each in the most
// frequent written form of its stem. See doc/decisions/0051-background-frequencies.md for
// its limits: its English is technical, and three of four documents have the word "file". To
// make it again, run "go generate" on Debian and copy the constants that it prints to this
// file.
package background

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"strconv"
	"strings"
)

//go:generate go run make.go

// Documents and AverageLength describe the documents that the table was made from.
const (
	Documents     = 10691 // number of documents
	AverageLength = 426.9 // words that are not stop words, for each document
)

// table has a line about its sources, and a line "word df" for each word, the most frequent
// first.
//
//go:embed english.txt.gz
var table []byte

// English returns the share of documents that contain a stem, in (0, 1]. A word for which
// stem returns "" is omitted. If several words have the same stem, the share is that of the
// most frequent one, so it may be too low. A stem that is missing is in at most one document
// of two thousand.
func English(stem func(word string) string) (shares map[string]float64) {
	shares = make(map[string]float64)
	z, _ := gzip.NewReader(bytes.NewReader(table)) // embedded: it is complete
	lines := bufio.NewScanner(z)
	lines.Scan() // the sources
	for lines.Scan() {
		word, count, _ := strings.Cut(lines.Text(), " ")
		df, _ := strconv.Atoi(count)
		if s := stem(word); s != "" {
			shares[s] = max(shares[s], float64(df)/Documents)
		}
	}
	return shares
}
