package fitness

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"spoor/internal/text"
)

// This file turns example pages into a matrix with a row for each page and a column for each
// feature.

// Limits of the training data. A sketch of the number of pages with each feature decides which
// features are counted, so that memory does not grow with the number of features.
const (
	maxColumns  = 1 << 16 // approximate maximum number of features; those on the most pages are used
	maxTrained  = 1 << 23 // words of all examples, shared equally
	maxSketch   = 22      // bits of the hashes
	fewExamples = 10      // with fewer examples, features that are on one page only are used
)

// A corpus is the matrix of the examples.
type corpus struct {
	names     []string // names of the columns, in order
	prior     []float64
	x         *matrix // a row for each example
	offset    []float64
	positive  []bool // by row
	positives int
}

type example struct {
	page     *Page
	positive bool
	digest   [sha256.Size]byte // digest of the content
}

// newExamples returns the distinct pages, in an order determined by their content.
func newExamples(positive, negative []Page) []example {
	var list []example
	for _, kind := range []struct {
		pages    []Page
		positive bool
	}{{positive, true}, {negative, false}} {
		for i := range kind.pages {
			p := &kind.pages[i]
			h := sha256.New()
			for _, s := range []string{p.Title, p.Description, p.Keywords, p.Text} {
				var length [8]byte
				binary.LittleEndian.PutUint64(length[:], uint64(len(s)))
				h.Write(length[:])
				h.Write([]byte(s))
			}
			list = append(list, example{p, kind.positive, [sha256.Size]byte(h.Sum(nil))})
		}
	}
	slices.SortStableFunc(list, func(a, b example) int { return bytes.Compare(a.digest[:], b.digest[:]) }) // positive ones first
	return slices.CompactFunc(list, func(a, b example) bool { return a.digest == b.digest && a.positive == b.positive })
}

// newCorpus reads the examples twice: first to find the features that are in enough examples, and
// then to store these features by name.
func newCorpus(t *Target, positive, negative []Page) (*corpus, error) {
	examples := newExamples(positive, negative)
	share := min(maxWords, maxTrained/max(len(examples), 1))
	var g grams
	size := 0
	for _, e := range examples {
		size += len(e.page.Title) + len(e.page.Description) + len(e.page.Keywords) + len(e.page.Text)
	}
	s := newSketch(size)
	kinds := [2]int{}
	examples = slices.DeleteFunc(examples, func(e example) bool {
		g.read(t.Read(e.page), share)
		for _, key := range g.keys {
			s.add(g.name(t, key))
		}
		switch {
		case g.length == 0:
			return true
		case e.positive:
			kinds[0]++
		default:
			kinds[1]++
		}
		return false
	})
	for i, kind := range []string{"positive", "negative"} {
		if kinds[i] == 0 {
			return nil, fmt.Errorf("no %s example has words\nhint: give pages about the topic and pages about something else", kind)
		}
	}
	least := 2
	if len(examples) < fewExamples {
		least = 1
	}
	least = s.least(least)

	v := newVocabulary(t)
	x := &matrix{start: []int{0}}
	c := &corpus{positives: kinds[0]}
	for _, e := range examples {
		g.read(t.Read(e.page), share)
		for _, key := range g.keys {
			name := g.name(t, key)
			if _, known := v.index[string(name)]; !known && s.count(name) < least {
				continue
			}
			column := v.column(name)
			v.pages[column]++
			x.index = append(x.index, column)
			x.value = append(x.value, math.Sqrt(float64(g.counts[key])/float64(g.length)))
		}
		x.end()
		c.positive = append(c.positive, e.positive)
	}
	c.arrange(x, v, least)
	return c, nil
}

// arrange makes the columns from the vocabulary, ordered by name, without features whose frequency
// was overestimated by the sketch.
func (c *corpus) arrange(x *matrix, v *vocabulary, least int) {
	var order []int32
	for k, n := range v.pages {
		if n >= least || v.prior[k] > 0 {
			order = append(order, int32(k))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(v.names[a], v.names[b]) })
	place := make([]int32, len(v.names))
	for k := range place {
		place[k] = none
	}
	for k, old := range order {
		place[old] = int32(k)
		c.names = append(c.names, v.names[old])
		c.prior = append(c.prior, v.prior[old])
	}
	c.x = &matrix{start: []int{0}, width: len(order)}
	type entry struct {
		column int32
		value  float64
	}
	var row []entry
	for i := range x.rows() {
		row = row[:0]
		for k := x.start[i]; k < x.start[i+1]; k++ {
			if column := place[x.index[k]]; column != none {
				row = append(row, entry{column, x.value[k]})
			}
		}
		slices.SortFunc(row, func(a, b entry) int { return cmp.Compare(a.column, b.column) })
		for _, e := range row {
			c.x.index, c.x.value = append(c.x.index, e.column), append(c.x.value, e.value)
		}
		c.x.end()
		c.offset = append(c.offset, c.x.dot(i, c.prior))
	}
}

type vocabulary struct {
	index map[string]int32
	names []string
	prior []float64
	pages []int // number of pages with the feature
}

// newVocabulary returns a vocabulary of the features of the target's keywords. A keyword of several
// words is represented by its pairs of consecutive words, which share its weight.
func newVocabulary(t *Target) *vocabulary {
	v := &vocabulary{index: make(map[string]int32)}
	sum := 0.0
	for _, k := range t.keywords {
		sum += k.weight / float64(len(t.keywords))
	}
	var g grams
	for _, k := range t.keywords {
		g.reset()
		g.add(k.terms, maxWords)
		keys := g.keys
		if g.length > 1 {
			keys = slices.DeleteFunc(keys, func(key uint64) bool { return key>>32 == uint64(text.Gap) })
		}
		total := 0.0
		for _, key := range keys {
			total += float64(g.counts[key])
		}
		for _, key := range keys {
			column := v.column(g.name(t, key))
			v.prior[column] += k.weight / sum * float64(g.counts[key]) / total
		}
	}
	return v
}

// column returns the number of a feature, which is added if it is new.
func (v *vocabulary) column(name []byte) int32 {
	column, known := v.index[string(name)]
	if !known {
		column = int32(len(v.names))
		v.index[string(name)] = column
		v.names, v.prior, v.pages = append(v.names, string(name)), append(v.prior, 0), append(v.pages, 0)
	}
	return column
}

// grams counts the stems and the pairs of consecutive stems of a page.
type grams struct {
	counts map[uint64]uint32 // by pair; a single stem is a pair whose first term is [text.Gap]
	keys   []uint64          // keys with a count, in order of appearance
	length int               // number of stems
	spare  []byte
}

// read counts the first stems of a page, as the classifier does.
func (g *grams) read(r *Reading, limit int) {
	g.reset()
	for _, z := range prose {
		g.add(r.zones[z].terms, limit)
	}
}

func (g *grams) reset() {
	if len(g.counts) > 1<<16 || g.counts == nil {
		g.counts = make(map[uint64]uint32) // clear does not shrink a map
	}
	clear(g.counts)
	g.keys, g.length = g.keys[:0], 0
}

func (g *grams) add(terms []text.Term, limit int) {
	before := text.Gap
	for _, term := range terms {
		switch {
		case term.Silent():
			continue
		case g.length == limit:
			return
		}
		g.length++
		g.count(pair(text.Gap, term))
		if before != text.Gap {
			g.count(pair(before, term))
		}
		before = term
	}
}

func (g *grams) count(key uint64) {
	n := g.counts[key]
	if n == 0 {
		g.keys = append(g.keys, key)
	}
	g.counts[key] = n + 1
}

// name returns the name of a feature, valid until the next call.
func (g *grams) name(t *Target, key uint64) []byte {
	g.spare = g.spare[:0]
	if first := text.Term(key >> 32); first != text.Gap {
		g.spare = append(append(g.spare, t.analyzer.Name(first)...), ' ')
	}
	g.spare = append(g.spare, t.analyzer.Name(text.Term(key))...)
	return g.spare
}

// A sketch counts pages by hashes of their features. Counts are never too low. They are too high if
// hashes collide.
type sketch struct {
	counts []uint16
	shift  int
}

// newSketch returns a sketch for texts with a total of size bytes.
func newSketch(size int) *sketch {
	n := min(bits.Len(uint(size)), maxSketch)
	return &sketch{make([]uint16, 1<<n), 64 - n}
}

// slot returns the count of a feature, by a mixed Fowler–Noll–Vo hash.
func (s *sketch) slot(name []byte) *uint16 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range name {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return &s.counts[h*0x9e3779b97f4a7c15>>s.shift]
}

func (s *sketch) add(name []byte) {
	if n := s.slot(name); *n < math.MaxUint16 {
		*n++
	}
}

func (s *sketch) count(name []byte) int { return int(*s.slot(name)) }

// least returns the smallest n, at least from, such that at most maxColumns counts of the sketch
// are n or more.
func (s *sketch) least(from int) int {
	features := make([]int, int(slices.Max(s.counts))+1) // by count
	for _, n := range s.counts {
		features[n]++
	}
	columns := 0
	for least := len(features) - 1; least >= from; least-- {
		if columns += features[least]; columns > maxColumns {
			return least + 1
		}
	}
	return from
}
