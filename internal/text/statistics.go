package text

// Statistics count the terms of a population of documents: how often each
// occurs, in how many documents, and how it is written there. Silent terms are
// not counted. Memory grows with the number of different words.
//
// The terms are those of the analyzer that the population is read with, which
// must not be trimmed meanwhile.
type Statistics struct {
	analyzer  *Analyzer
	documents int
	length    int     // terms counted, over all documents
	tf, df    []int   // by Index
	last      []int   // by Index: the last document that has the term, from 1
	terms     []Term  // in order of appearance
	forms     [][]int // by Index: the forms of the term, by their place in words
	words     []form
	known     map[string]int // the place in words of a form that counts, -1 of another

	one []Term // scratch
	buf []byte
}

// A form is how a word is written, folded, and how often it is.
type form struct {
	word string
	n    int
}

// NewStatistics is an empty population whose documents a reads.
func NewStatistics(a *Analyzer) *Statistics {
	return &Statistics{analyzer: a, known: make(map[string]int)}
}

// Add counts a document, which may have several parts: no word goes from one
// part to the next.
func (s *Statistics) Add(parts ...string) {
	s.documents++
	for _, part := range parts {
		for word := range Words(part) {
			s.add(word)
		}
	}
}

// add counts one word of the last document.
func (s *Statistics) add(word string) {
	s.one = s.analyzer.Append(s.one[:0], word)
	if len(s.one) != 1 || s.one[0].Silent() {
		return
	}
	t := s.one[0]
	i := t.Index()
	if i >= len(s.tf) {
		grow := i + 1 - len(s.tf)
		s.tf, s.df, s.last = append(s.tf, make([]int, grow)...), append(s.df, make([]int, grow)...), append(s.last, make([]int, grow)...)
		s.forms = append(s.forms, make([][]int, grow)...)
	}
	if s.tf[i] == 0 {
		s.terms = append(s.terms, t)
	}
	s.length++
	s.tf[i]++
	if s.last[i] != s.documents {
		s.last[i] = s.documents
		s.df[i]++
	}
	s.buf = s.analyzer.lower.fold(s.buf[:0], word)
	at, ok := s.known[string(s.buf)]
	if !ok {
		at = s.learn(string(s.buf), t)
	}
	if at >= 0 {
		s.words[at].n++
	}
}

// learn is the place of a new form of t, or -1 if the form, read alone, is not
// t again, so that it could not stand for it.
func (s *Statistics) learn(word string, t Term) int {
	at := -1
	s.one = s.analyzer.Append(s.one[:0], word)
	if len(s.one) == 1 && s.one[0] == t {
		at = len(s.words)
		s.words = append(s.words, form{word: word})
		s.forms[t.Index()] = append(s.forms[t.Index()], at)
	}
	s.known[word] = at
	return at
}

// Reset empties the population; what it has learned of words stays.
func (s *Statistics) Reset() {
	for _, t := range s.terms {
		i := t.Index()
		s.tf[i], s.df[i], s.last[i] = 0, 0, 0
		for _, at := range s.forms[i] {
			s.words[at].n = 0
		}
	}
	s.terms, s.documents, s.length = s.terms[:0], 0, 0
}

// Documents is the number of documents.
func (s *Statistics) Documents() int { return s.documents }

// Length is the number of terms in all documents together.
func (s *Statistics) Length() int { return s.length }

// Terms are the terms that occur, in order of appearance. They belong to s.
func (s *Statistics) Terms() []Term { return s.terms }

// TF is how often t occurs.
func (s *Statistics) TF(t Term) int { return count(s.tf, t) }

// DF is the number of documents that have t.
func (s *Statistics) DF(t Term) int { return count(s.df, t) }

// count is the number that belongs to t, 0 if nothing does.
func count(by []int, t Term) int {
	if t.Silent() || t.Index() >= len(by) {
		return 0
	}
	return by[t.Index()]
}

// Form is how t is written most often, in lower case and NFC, the first in
// alphabetical order where several are; empty if t does not occur, or in no form
// that an analyzer reads as t.
func (s *Statistics) Form(t Term) string {
	best := form{}
	if s.TF(t) > 0 {
		for _, at := range s.forms[t.Index()] {
			if w := s.words[at]; w.n > best.n || w.n == best.n && w.n > 0 && w.word < best.word {
				best = w
			}
		}
	}
	return best.word
}
