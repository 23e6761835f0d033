package strategy

import (
	"cmp"
	"math"
	"slices"
)

// A bayes is a multinomial naive Bayes classifier. With N(w, c) occurrences of the feature w in the examples
// of class c, and the vocabulary V,
//
//	P(w|c) = (1 + N(w, c)) / (|V| + Σ_v N(v, c))
//
// The priors are left to the caller.
type bayes struct {
	classes int
	words   []feature // V
	counts  []uint32  // N, by word and class

	index map[feature]int // places in words
	logs  []float64       // ln P(w|c), by word and class
}

// maxVocabulary is the maximum number of words of a classifier, so that a model in a delta has at
// most about 200 kB.
const maxVocabulary = 1 << 13

// newBayes returns a classifier of the given vocabulary without examples.
func newBayes(words []feature, classes int) bayes {
	b := bayes{classes: classes, words: words, counts: make([]uint32, len(words)*classes)}
	b.prepare()
	return b
}

// heaviest returns the words with the greatest weights, the greatest first: at most maxVocabulary.
func heaviest(weights map[feature]float64) (words []feature) {
	for w := range weights {
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b feature) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	return words[:min(maxVocabulary, len(words))]
}

// learn adds n occurrences of w to a class. A word that is not in the vocabulary is ignored. After the last
// call, prepare must be called.
func (b *bayes) learn(class int, w feature, n int) {
	if at, ok := b.index[w]; ok {
		b.counts[at*b.classes+class] += uint32(n)
	}
}

// prepare computes what is derived from the counts.
func (b *bayes) prepare() {
	b.index = make(map[feature]int, len(b.words))
	for i, w := range b.words {
		b.index[w] = i
	}
	totals := make([]float64, b.classes)
	for i, n := range b.counts {
		totals[i%b.classes] += float64(n)
	}
	b.logs = make([]float64, len(b.counts))
	for i, n := range b.counts {
		b.logs[i] = rounded(math.Log((1 + float64(n)) / (float64(len(b.words)) + totals[i%b.classes])))
	}
}

// of returns ln P(w|c) of all classes, or nil if w is not in the vocabulary.
func (b *bayes) of(w feature) []float64 {
	at, ok := b.index[w]
	if !ok {
		return nil
	}
	return b.logs[at*b.classes:][:b.classes]
}

// code encodes or decodes the words and counts. The number of classes must be set.
func (b *bayes) code(c *codec) {
	at := 0
	if c.reading {
		b.counts = b.counts[:0]
	}
	b.words = each(c, b.words, func(w *feature) {
		c.uint32((*uint32)(w))
		if c.reading {
			b.counts = append(b.counts, make([]uint32, b.classes)...)
		}
		for range b.classes {
			integer(c, &b.counts[at])
			at++
		}
	})
	if c.check(true) {
		b.prepare()
	}
}
