package text

import (
	"embed"
	"iter"
	"strings"
)

// stopLists are words that carry no meaning, a file a language: folded, and
// without apostrophes, at which words are split. Every file names its source.
//
//go:embed stop/*.txt
var stopLists embed.FS

// stopWords yields the stop list of a language; none, if it has no list.
func stopWords(code string) iter.Seq[string] {
	return func(yield func(string) bool) {
		list, _ := stopLists.ReadFile("stop/" + code + ".txt") // absent or whole: it is in the program
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
