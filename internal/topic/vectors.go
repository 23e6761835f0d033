package topic

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/text"
)

// This file adds words to a topic that are near to words of the topic in a table of word vectors.

const (
	nearWords     = 5   // largest number of near words of a keyword
	nearCosine    = 0.5 // lowest similarity of a near word
	nearWeight    = 0.5 // weight of a near word with similarity 1, relative to the keyword
	maxVectorLine = 64 << 10
	maxVectors    = 10_000_000 // lines
	maxDimensions = 4096
)

// Near is the result of [Topic.AddNear].
type Near struct {
	Added   []string // added keywords
	Missing []string // keywords that are not in the table
	Skipped int      // number of lines of the table that are not vectors
}

// AddNear adds, for every keyword of one word, the words whose vectors are nearest to the vector of the
// keyword: at most five, with a cosine of at least 0.5. The weight is half the cosine times the weight
// of the keyword, so a page needs several near words for the effect of the keyword. Other inflections
// of keywords are not added; a word near to several keywords gets the highest of the weights.
//
// The table is text. Each line has a word and its numbers, and all lines have equally many numbers. A
// first line of two numbers (word2vec) is ignored. open opens the table, which is read twice. Case is
// ignored. If a word has several lines, the first is used. Lines of more than 64 KiB or 4096 numbers,
// and tables of more than ten million lines, are errors.
func (t *Topic) AddNear(open func() (io.ReadCloser, error)) (n Near, err error) {
	a, err := t.Analyzer()
	if err != nil {
		return n, err
	}
	words := map[string]int{} // indexes of single-word keywords, by word
	for i, k := range t.Keywords {
		if word := strings.ToLower(k.Text); len(k.Terms) == 1 && !strings.Contains(word, " ") {
			words[word] = i
		}
	}
	vectors := map[int][]float64{}
	n.Skipped, err = eachVector(open, func(word string, vector []float64) {
		if i, ok := words[word]; ok && vectors[i] == nil {
			vectors[i] = slices.Clone(vector)
		}
	})
	if err != nil {
		return n, err
	}
	near := make([][]nearWord, len(t.Keywords))
	_, err = eachVector(open, func(word string, vector []float64) {
		var terms []string
		for i := range near {
			v := vectors[i]
			if v == nil {
				continue
			}
			c := cosine(v, vector)
			if !(c >= nearCosine) || len(near[i]) == nearWords && c <= near[i][nearWords-1].cosine {
				continue
			}
			if terms == nil {
				terms = nearTerms(a, word)
			}
			if len(terms) == 1 && t.find(terms) < 0 {
				near[i] = insertNear(near[i], nearWord{word, terms[0], c})
			}
		}
	})
	if err != nil {
		return n, err
	}
	weights := map[string]float64{}
	for i, list := range near {
		if words[strings.ToLower(t.Keywords[i].Text)] == i && vectors[i] == nil && len(t.Keywords[i].Terms) == 1 {
			n.Missing = append(n.Missing, t.Keywords[i].Text)
		}
		for _, w := range list {
			weight := max(minWeight, math.Round(1000*float64(float64(nearWeight*w.cosine)*t.Keywords[i].Weight))/1000)
			if weight > weights[w.term] {
				if weights[w.term] == 0 {
					n.Added = append(n.Added, w.word)
				}
				weights[w.term] = weight
			}
		}
	}
	for _, word := range n.Added {
		if err := t.AddKeyword(word, weights[nearTerms(a, word)[0]]); err != nil {
			return n, err
		}
	}
	return n, nil
}

// A nearWord is a word near to a keyword.
type nearWord struct {
	word, term string
	cosine     float64
}

// nearTerms returns the terms of a word, or none if the word cannot be matched.
func nearTerms(a *text.Analyzer, word string) []string {
	terms, err := spell(a, word)
	if err != nil {
		return []string{}
	}
	return terms
}

// insertNear inserts a word into a list with the nearest word first. It does nothing if an inflection
// of the word that is at least as near is in the list.
func insertNear(list []nearWord, w nearWord) []nearWord {
	if i := slices.IndexFunc(list, func(o nearWord) bool { return o.term == w.term }); i >= 0 {
		if list[i].cosine >= w.cosine {
			return list
		}
		list = slices.Delete(list, i, i+1)
	}
	i, _ := slices.BinarySearchFunc(list, w, func(a, b nearWord) int { // after words that are as near
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), -1)
	})
	list = slices.Insert(list, i, w)
	return list[:min(len(list), nearWords)]
}

// cosine returns the cosine of two vectors of the same length, or NaN if one of them is 0.
func cosine(a, b []float64) float64 {
	var aa, bb, ab float64
	for i := range a {
		aa += float64(a[i] * a[i])
		bb += float64(b[i] * b[i])
		ab += float64(a[i] * b[i])
	}
	return ab / math.Sqrt(float64(aa*bb))
}

// eachVector calls do for each word of a table, in lower case, and returns the number of skipped lines.
// The vector is valid until do returns.
func eachVector(open func() (io.ReadCloser, error), do func(word string, vector []float64)) (skipped int, err error) {
	f, err := open()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, maxVectorLine), maxVectorLine)
	var vector []float64
	read, number := 0, 0
	for lines.Scan() {
		if number++; number > maxVectors {
			return skipped, fmt.Errorf("the table has more than %d lines\nhint: give the most frequent words only, head -n 400000", maxVectors)
		}
		fields := bytes.Fields(lines.Bytes())
		if number == 1 && len(fields) == 2 {
			continue
		}
		if read == 0 && len(fields) > 2 && len(fields) <= maxDimensions+1 {
			vector = make([]float64, len(fields)-1)
		}
		if vector == nil || len(fields) != len(vector)+1 || !parseVector(vector, fields[1:]) {
			skipped++
			continue
		}
		read++
		do(strings.ToLower(string(fields[0])), vector)
	}
	switch {
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		return skipped, fmt.Errorf("line %d has more than %d bytes: not a table of word vectors\nhint: the text format is needed, a word and its numbers on a line", number+1, maxVectorLine)
	case lines.Err() != nil:
		return skipped, lines.Err()
	case read == 0:
		return skipped, errors.New("no line is a word followed by its vector\nhint: the text format of word2vec or GloVe is needed, plain or compressed")
	}
	return skipped, nil
}

// parseVector reads numbers. It rejects numbers that are too large to sum their squares.
func parseVector(vector []float64, fields [][]byte) bool {
	for i, f := range fields {
		x, err := strconv.ParseFloat(string(f), 64)
		if err != nil || !(math.Abs(x) < 1e6) {
			return false
		}
		vector[i] = x
	}
	return true
}
