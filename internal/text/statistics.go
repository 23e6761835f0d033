package text

// Statistics count the terms of a collection of documents: how often each term occurs, in how many
// documents, and in which spellings. Silent terms are not counted. Memory grows with the number of
// distinct words.
//
// All terms belong to one analyzer, which must not be trimmed while the Statistics are used.
type Statistics struct {
	analyzer  *Analyzer
	documents int
	length    int     // number of terms in all documents
	tf, df    []int   // numbers of occurrences and of documents, by Index
	last      []int   // number, from 1, of the last document with the term, by Index
	terms     []Term  // in order of appearance
	forms     [][]int // forms of the term as indexes of words, by Index
	words     []form
	known     map[string]int // index in words of each form; -1 if the form cannot represent its term

	one []Term // scratch
	buf []byte
}

// A form is a spelling of a word, folded, and its number of occurrences.
type form struct {
	word string
	n    int
}

// NewStatistics returns an empty collection whose documents are analyzed by a.
func NewStatistics(a *Analyzer) *Statistics {
	return &Statistics{analyzer: a, known: make(map[string]int)}
}

// Add counts a document, which may have several parts. Words do not span parts.
func (s *Statistics) Add(parts ...string) {
	s.documents++
	for _, part := range parts {
		for word := range Words(part) {
			s.add(word)
		}
	}
}

// add counts one word of the current document.
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

// learn returns the index of a new form of t. It returns -1 if analyzing the form alone does not
// result in t, so that the form cannot represent t.
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

// Reset empties the collection, but keeps the cache of forms.
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

// Documents returns the number of documents.
func (s *Statistics) Documents() int { return s.documents }

// Length returns the number of terms in all documents together.
func (s *Statistics) Length() int { return s.length }

// Terms returns the terms that occur, in order of appearance. The slice belongs to s.
func (s *Statistics) Terms() []Term { return s.terms }

// TF returns the number of occurrences of t.
func (s *Statistics) TF(t Term) int { return count(s.tf, t) }

// DF returns the number of documents that contain t.
func (s *Statistics) DF(t Term) int { return count(s.df, t) }

// count returns by[t.Index()], or 0 if the index is out of range.
func count(by []int, t Term) int {
	if t.Silent() || t.Index() >= len(by) {
		return 0
	}
	return by[t.Index()]
}

// Form returns the most frequent spelling of t, folded. Among equally frequent
// spellings it returns the alphabetically first. It returns "" if t does not occur, or if the
// analyzer maps no spelling of t to t.
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
