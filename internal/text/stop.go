package text

import (
	"embed"
	"iter"
	"strings"
)

// stopLists contains a file of stop words for each language. The words are folded, and split at
// apostrophes. Every file states its source.
//
//go:embed stop/*.txt
var stopLists embed.FS

// stopWords yields the stop list of a language, which may be empty.
func stopWords(code string) iter.Seq[string] {
	return func(yield func(string) bool) {
		list, _ := stopLists.ReadFile("stop/" + code + ".txt") // embedded: it exists and is complete, or does not exist
		for line := range strings.Lines(string(list)) {
			line, _, _ = strings.Cut(line, "#")
			for w := range strings.FieldsSeq(line) {
				if !yield(w) {
					return
				}
			}
		}
	}
}
