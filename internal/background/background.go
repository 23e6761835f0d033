// Package background contains a table of how frequent English words are on the Web. With this table the
// words of a topic can be weighted without example pages: "theorem" distinguishes pages, "number" does
// not.
//
// The table has the 12,000 most frequent words of a dictionary of 82,765 words, with their numbers of
// occurrences. See doc/design/decisions/0071-words-of-the-web.md for its source and its limits: the
// counts are of 2006 or earlier, and names are rare in it.
package background

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"math"
	"strconv"
	"strings"
)

// The table has numbers of occurrences. [English] derives shares of documents from them, for documents of
// AverageLength words. Documents is large enough that rounding these shares to documents matters little.
const (
	Documents     = 10_000 // number of documents
	AverageLength = 427.0  // mean number of words in a document
)

const (
	occurrences = 10_249_083 // of all words of the source, in the unit of the table, 100,000

	// burst is the factor by which a word seems rarer if its documents are counted instead of its
	// occurrences: a word that occurs in a document is likely to occur there again. On four webs its median
	// is 0.4 to 0.5 for the most frequent 200 words, and 0.7 to 0.8 after the first 1,000.
	burst = 0.6
)

// table consists of a line "word count" for each word, the most frequent first.
//
//go:embed english.txt.gz
var table []byte

// English returns the share of documents that contain a stem, in (0, 1), by stem: 1 - exp(-b L p), for
// documents of L words in which a word is one of 1/p words. A word for which the function stem
// returns "" is omitted. If several words have the same stem, the result is the share of the most
// frequent word, so it may be too low. A missing stem occurs in at most one of 1,200 documents.
func English(stem func(word string) string) (shares map[string]float64) {
	shares = make(map[string]float64)
	z, _ := gzip.NewReader(bytes.NewReader(table)) // embedded: it is complete
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		word, text, _ := strings.Cut(lines.Text(), " ")
		count, _ := strconv.Atoi(text)
		if s := stem(word); s != "" {
			expected := burst * AverageLength * float64(count) / occurrences
			share := float64(float32(1 - math.Exp(-expected))) // the same on every machine
			shares[s] = max(shares[s], share)
		}
	}
	return shares
}
