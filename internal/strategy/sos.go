package strategy

// This file defines the organisms and objectives of the symbiotic organisms search of
// symbiosis.go. The operators are in internal/genetic.
//
// An organism has a gene from −1 to 1 for every word of a vocabulary; the words whose genes
// are not negative are a query. Initially it is a document of the population.
//
//	paper          here         meaning
//	vocabulary     vocabulary   the user's words, and the most frequent word of every document
//	X_i            organisms    a document: 1 for a word that occurs in it (row h), −1 for another
//	round(σ(x))    active       a word is active if x ≥ 0: rounding a sigmoid tests the sign
//	fitness        likeness     Jaccard coefficient of the active words and the user's
//
// Likeness, the paper's objective, has one maximum: the user's own query, which SOS finds
// within a few iterations. So SOS ends early, the user's query is not in the ecosystem, and no
// query is issued twice (row g). By default the objective is the expected use of a query:
//
//	f(S) = .4 cos(S, C) + .4 Ŷ(S) + .2 (1 − max over issued Q of Jaccard(S, Q))
//
//	S      the words of the query, at most 6, with Jaccard(S, user's) ≥ .15
//	C      centroid of the relevant pages
//	Ŷ(S)   yield: new relevant pages per result; the mean over the words of a draw
//	       from the belief about each (Thompson sampling)

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"spoor/internal/text"
	"spoor/internal/wire"
)

// The objectives.
const (
	forYield    = "yield"
	forLikeness = "literal"
)

// Weights of the parts of the yield objective, and the minimum likeness.
const (
	centroidShare = 0.4
	yieldShare    = 0.4
	noveltyShare  = 0.2
	leastLikeness = 0.15
)

// A habitat is the vocabulary of a generation and the data about its words. Words are
// identified by their index in the vocabulary.
type habitat struct {
	objective  string
	maxWords   int      // maximum number of words of a query
	vocabulary []string // terms in their order in a query
	forms      []string // their written forms
	user       []bool   // whether the word is in the user's query
	users      int
	organisms  [][]float64
	tops       []int // by document: its most frequent word, or -1

	direction []float64 // of C: cos({word}, C)
	yield     []float64 // by word: a draw from its belief
	issued    []askedQuery
}

// An askedQuery is an issued query with words of the vocabulary.
type askedQuery struct {
	words []int
	size  int // number of words, including words outside the vocabulary
}

// habitat returns the habitat of the population. It has no organisms if the population has no
// words.
func (s *queries) habitat(rng *rand.Rand) *habitat {
	h := &habitat{
		objective: s.Objective,
		maxWords:  cmp.Or(s.Words, map[string]int{forYield: 6, forLikeness: 8}[s.Objective]),
		users:     len(s.user),
	}
	rank := func(term string) int { // among the user's words
		if i := slices.Index(s.user, term); i >= 0 {
			return i
		}
		return len(s.user)
	}
	form := map[string]string{}
	add := func(term text.Term, name string) {
		if f := cmp.Or(s.form[name], s.population.Form(term)); f != "" && form[name] == "" {
			form[name] = f
			h.vocabulary = append(h.vocabulary, name)
		}
	}
	for _, name := range s.user {
		add(s.analyzer.Stem(name), name)
	}
	for _, d := range s.documents {
		add(d.top, s.analyzer.Name(d.top))
	}
	slices.SortFunc(h.vocabulary, func(a, b string) int { // row k
		return cmp.Or(cmp.Compare(s.weight[b], s.weight[a]), cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	place := map[string]int{}
	for i, name := range h.vocabulary {
		place[name] = i
		h.forms = append(h.forms, form[name])
		h.user = append(h.user, rank(name) < len(s.user))
	}
	h.addOrganisms(s)
	for _, d := range s.documents {
		top, ok := place[s.analyzer.Name(d.top)]
		if !ok {
			top = -1
		}
		h.tops = append(h.tops, top)
	}
	if s.Objective == forYield && len(h.organisms) > 0 {
		h.setDirection(s)
		for _, term := range h.vocabulary {
			h.yield = append(h.yield, s.yields[term].draw(rng))
		}
		h.addIssued(s, place)
	}
	return h
}

// addOrganisms adds the organisms: the documents and, unless likeness is the objective, the
// user's query.
func (h *habitat) addOrganisms(s *queries) {
	organism := func(has func(i int) bool) {
		x := make([]float64, len(h.vocabulary))
		for i := range x {
			if x[i] = -1; has(i) {
				x[i] = 1
			}
		}
		h.organisms = append(h.organisms, x)
	}
	terms := make([]text.Term, len(h.vocabulary))
	for i, name := range h.vocabulary {
		terms[i] = s.analyzer.Stem(name)
	}
	for _, d := range s.documents {
		organism(func(i int) bool {
			_, has := slices.BinarySearch(d.terms, terms[i])
			return has
		})
	}
	if s.Objective == forYield && len(s.documents) > 0 {
		organism(func(i int) bool { return h.user[i] })
	}
}

// setDirection sets the direction of the centroid. Before any page was relevant, it uses the weight
// table of the topic instead of the centroid.
func (h *habitat) setDirection(s *queries) {
	weight := s.weight
	if len(s.centroid) > 0 {
		weight = map[string]float64{}
		for term, w := range s.centroid {
			weight[term] = float64(w)
		}
	}
	var square float64
	for _, term := range slices.Sorted(maps.Keys(weight)) {
		square += float64(weight[term] * weight[term])
	}
	for _, term := range h.vocabulary {
		h.direction = append(h.direction, weight[term]/math.Sqrt(square))
	}
}

// addIssued adds the queries issued so far. Of queries with the same words of the vocabulary, it adds
// only the shortest, which is the most similar to any query.
func (h *habitat) addIssued(s *queries, place map[string]int) {
	at := map[string]int{}
	for _, terms := range s.issued {
		a := askedQuery{size: len(terms)}
		for _, term := range terms {
			if i, here := place[term]; here {
				a.words = append(a.words, i)
			}
		}
		slices.Sort(a.words)
		key := fmt.Sprint(a.words)
		if i, again := at[key]; again {
			h.issued[i].size = min(h.issued[i].size, a.size)
		} else if len(a.words) > 0 {
			at[key] = len(h.issued)
			h.issued = append(h.issued, a)
		}
	}
}

// active returns the active words of x, at most limit.
func (h *habitat) active(x []float64, limit int) (words []int) {
	for i, gene := range x {
		if gene >= 0 && len(words) < limit {
			words = append(words, i)
		}
	}
	return words
}

// query returns the words of the query of x, including at least one word of the user (row k).
func (h *habitat) query(x []float64) (words []int) {
	words = h.active(x, h.maxWords)
	isUser := func(i int) bool { return h.user[i] }
	if first := slices.Index(h.user, true); first >= 0 && !slices.ContainsFunc(words, isUser) {
		words = append(words[:min(len(words), h.maxWords-1)], first)
		slices.Sort(words)
	}
	return words
}

func (h *habitat) fitness(x []float64) float64 {
	if h.objective == forLikeness {
		return h.likeness(h.active(x, len(x)))
	}
	return h.value(h.active(x, h.maxWords))
}

// likeness returns the Jaccard coefficient of words and the user's words.
func (h *habitat) likeness(words []int) float64 {
	common := 0
	for _, i := range words {
		if h.user[i] {
			common++
		}
	}
	return quotient(common, len(words)+h.users-common)
}

// value returns the yield objective. It is negative for words that are too dissimilar to the
// user's words, and lower for less similar words.
func (h *habitat) value(words []int) float64 {
	// Six words cannot reach leastLikeness if the user's query is long.
	least := min(leastLikeness, quotient(h.maxWords, 2*h.users))
	if like := h.likeness(words); like == 0 || like < least {
		return like - 1
	}
	return float64(centroidShare*h.cosine(words)) + float64(yieldShare*h.meanYield(words)) +
		float64(noveltyShare*h.novelty(words))
}

// cosine returns cos(S, C), S being a vector of ones.
func (h *habitat) cosine(words []int) (sum float64) {
	for _, i := range words {
		sum += h.direction[i]
	}
	return sum / math.Sqrt(float64(len(words)))
}

// meanYield returns Ŷ(S).
func (h *habitat) meanYield(words []int) (sum float64) {
	for _, i := range words {
		sum += h.yield[i]
	}
	return sum / float64(len(words))
}

// novelty returns 1 minus the highest similarity of the words with an issued query.
func (h *habitat) novelty(words []int) float64 {
	on := make([]bool, len(h.vocabulary))
	for _, i := range words {
		on[i] = true
	}
	highest := 0.0
	for _, q := range h.issued {
		common := 0
		for _, i := range q.words {
			if on[i] {
				common++
			}
		}
		highest = max(highest, quotient(common, len(words)+q.size-common))
	}
	return 1 - highest
}

// line returns the query of these words in their written forms.
func (h *habitat) line(words []int) string {
	var forms []string
	for _, i := range words {
		forms = append(forms, h.forms[i])
	}
	return strings.Join(forms, " ")
}

// reasons returns the numbers behind the choice of words.
func (h *habitat) reasons(words []int, fitness float64) []wire.Scored {
	if h.objective == forLikeness {
		return []wire.Scored{{Name: "fitness", Value: fitness}}
	}
	return []wire.Scored{
		{Name: "centroid", Value: h.cosine(words)},
		{Name: "fitness", Value: fitness},
		{Name: "likeness", Value: h.likeness(words)},
		{Name: "novelty", Value: h.novelty(words)},
		{Name: "yield", Value: h.meanYield(words)},
	}
}

// quotient returns a/b, or 0 if b is 0.
func quotient(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// draw draws from Beta(1 + successes, 1 + failures): the a-th smallest of n uniform numbers is
// distributed as Beta(a, n + 1 − a).
func (b belief) draw(rng *rand.Rand) float64 {
	numbers := make([]float64, b.trials+1)
	for i := range numbers {
		numbers[i] = rng.Float64()
	}
	slices.Sort(numbers)
	return numbers[min(b.successes, b.trials)]
}
