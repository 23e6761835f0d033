// Package background contains the general frequencies of English words: a table of document
// frequencies that is part of the program. With this table the words of a topic can be weighted
// without example pages: "theorem" distinguishes pages, "number" does not.
//
// The table was generated from the documentation of Go and of Debian, because these texts are available
// to everybody. It has the 12,000 words that occur in the most documents, each in the most frequent
// written form of its stem. See doc/design/decisions/0051-background-frequencies.md for how it was generated
// and for its limits: the English is technical, and three of four documents contain the word "file".
package background

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"strconv"
	"strings"
)

// Documents and AverageLength describe the documents from which the table was generated.
const (
	Documents     = 10691 // number of documents
	AverageLength = 426.9 // mean number of words in a document, without stop words
)

// table consists of a line about its sources, and a line "word df" for each word, the most
// frequent first.
//
//go:embed english.txt.gz
var table []byte

// English returns the share of documents that contain a stem, in (0, 1], by stem. A word for which
// the function stem returns "" is omitted. If several words have the same stem, the result is the
// share of the most frequent word, so it may be too low. A missing stem occurs in at most one of
// two thousand documents.
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
