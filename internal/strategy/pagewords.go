package strategy

import (
	"cmp"
	"math"
	"slices"

	"spoor/internal/topic"
	"spoor/internal/wire"
)

// A pageWord is a stem of a page, with its number of occurrences in title and text.
type pageWord struct {
	word  feature
	count uint8 // 255 stands for more
}

// maxPageWords is the maximum number of stems that are stored of a page: those with the highest
// TF-IDF.
const maxPageWords = 128

// pageWords stores the words of the fetched pages. Inverse document frequencies are from the topic's
// background. A stem that it lacks has the highest of them. Without a background all are 1.
type pageWords struct {
	linkWords
	idfs  map[feature]float64
	rare  float64         // IDF of the stems that idfs lacks
	pages [][]pageWord    // by place, sorted by word
	saved int             // pages in earlier deltas
	count map[feature]int // scratch of add
}

// aim sets the language and the background of the pages to those of the topic.
func (w *pageWords) aim(t *topic.Topic) error {
	if err := w.linkWords.aim(t); err != nil {
		return err
	}
	words, err := t.Analyzer() // a separate one: the background has many words that no page has
	if err != nil {
		return err
	}
	shares, _ := t.Background(words)
	w.idfs, w.rare = make(map[feature]float64, len(shares)), 0
	for stem, share := range shares {
		f, idf := featureOf(inContext, stem), rounded(-math.Log(share))
		w.idfs[f], w.rare = max(w.idfs[f], idf), max(w.rare, idf)
	}
	if len(shares) == 0 {
		w.rare = 1
	}
	return nil
}

func (w *pageWords) idf(word feature) float64 {
	if idf, ok := w.idfs[word]; ok {
		return idf
	}
	return w.rare
}

// add stores the words of the page at place.
func (w *pageWords) add(place int, rec *wire.Record) {
	if w.count == nil {
		w.count = map[feature]int{}
	}
	clear(w.count)
	w.analyzer.Trim()
	for _, part := range [...]string{rec.Title, clip(rec.Text, readPage)} {
		w.terms = w.analyzer.Append(w.terms[:0], part)
		for _, t := range w.terms {
			if !t.Silent() {
				w.count[featureOf(inContext, w.analyzer.Name(t))]++
			}
		}
	}
	words := make([]pageWord, 0, len(w.count))
	for word, n := range w.count {
		words = append(words, pageWord{word, uint8(min(n, math.MaxUint8))})
	}
	w.pages = grown(w.pages, place+1)
	w.pages[place] = slices.Clone(w.reduce(words, maxPageWords))
}

// reduce returns the n words with the highest TF-IDF, or all if there are fewer, sorted by word. It changes
// the order of words.
func (w *pageWords) reduce(words []pageWord, n int) []pageWord {
	if len(words) > n {
		slices.SortFunc(words, func(a, b pageWord) int {
			return cmp.Or(cmp.Compare(float64(b.count)*w.idf(b.word), float64(a.count)*w.idf(a.word)), cmp.Compare(a.word, b.word))
		})
		words = words[:n]
	}
	slices.SortFunc(words, func(a, b pageWord) int { return cmp.Compare(a.word, b.word) })
	return words
}

// of returns the words of the page at place: none if it failed.
func (w *pageWords) of(place int) []pageWord {
	if place < len(w.pages) {
		return w.pages[place]
	}
	return nil
}

// code encodes or decodes the words of the pages since the last delta.
func (w *pageWords) code(c *codec) {
	fresh := each(c, w.pages[w.saved:], func(words *[]pageWord) {
		*words = each(c, *words, func(p *pageWord) {
			c.uint32((*uint32)(&p.word))
			c.byte(&p.count)
		})
	})
	w.pages = append(w.pages[:w.saved], fresh...)
	w.saved = len(w.pages)
}
