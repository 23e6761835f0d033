package strategy

// This file is the symbiotic organisms search of symbiosis.go: what an organism is,
// and what it is fit for. The operators are in internal/genetic.
//
// An organism has a gene for every word of a vocabulary, from −1 to 1; the words
// whose gene is not negative are a query. It begins as a document of the population.
//
//	paper          here         meaning
//	vocabulary     vocabulary   the user's words, and the most frequent word of every document
//	X_i            organisms    a document: 1 for a word that occurs in it (row h), −1 for another
//	round(σ(x))    on           a word is on if x ≥ 0: to round a sigmoid is to look at the sign
//	fitness        likeness     Jaccard coefficient of the words that are on with the user's
//
// Likeness, the paper's objective, has one maximum: the user's own query, which SOS
// finds within a few iterations. So it ends early, the query is not in the ecosystem,
// and nothing is asked twice (row g). By default the objective is what a query is for:
//
//	f(S) = .4 cos(S, C) + .4 Ŷ(S) + .2 (1 − max over issued Q of Jaccard(S, Q))
//
//	S      the words of the query, at most 6, with Jaccard(S, user's) ≥ .15
//	C      centroid of the pages found relevant
//	Ŷ(S)   yield: new relevant pages per result; the mean over the words of a draw
//	       from what is believed of each (Thompson sampling)

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

// What the parts of the yield objective weigh, and how like the user's a query must be.
const (
	centroidShare = 0.4
	yieldShare    = 0.4
	noveltyShare  = 0.2
	leastLikeness = 0.15
)

// A habitat is where organisms live: the vocabulary of a generation, and what is
// known of its words. Words are known by their places in the vocabulary.
type habitat struct {
	objective  string
	most       int      // words of a query
	vocabulary []string // terms in the order that they have in a query
	forms      []string // as people write them
	user       []bool   // words of the user
	users      int
	organisms  [][]float64
	tops       []int // by document: its most frequent word, or -1

	direction []float64 // of C: cos({word}, C)
	yield     []float64 // the draws
	issued    []askedQuery
}

// An askedQuery is one with words of the vocabulary.
type askedQuery struct {
	words []int
	size  int // with the words that are not
}

// habitat makes the habitat of the population. There are no organisms if it has no
// words.
func (s *queries) habitat(rng *rand.Rand) *habitat {
	h := &habitat{
		objective: s.Objective,
		most:      cmp.Or(s.Words, map[string]int{forYield: 6, forLikeness: 8}[s.Objective]),
		users:     len(s.user),
	}
	rank := map[string]int{} // of a user's word among the user's
	for i, term := range s.user {
		rank[term] = i
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
		i, isUser := rank[a]
		j, isUserToo := rank[b]
		switch order := cmp.Compare(s.weight[b], s.weight[a]); {
		case order != 0:
			return order
		case isUser && isUserToo:
			return i - j
		case isUser:
			return -1
		case isUserToo:
			return 1
		}
		return cmp.Compare(a, b)
	})
	place := map[string]int{}
	for i, name := range h.vocabulary {
		_, isUser := rank[name]
		place[name] = i
		h.forms = append(h.forms, form[name])
		h.user = append(h.user, isUser)
	}
	h.settle(s)
	for _, d := range s.documents {
		top, ok := place[s.analyzer.Name(d.top)]
		if !ok {
			top = -1
		}
		h.tops = append(h.tops, top)
	}
	if s.Objective == forYield && len(h.organisms) > 0 {
		h.direct(s)
		h.draw(s, rng)
		h.recall(s, place)
	}
	return h
}

// settle makes the organisms: the documents, and the user's query where that is not
// what is sought.
func (h *habitat) settle(s *queries) {
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

// direct works out the direction of the centroid. Before any page was relevant, the
// weight table of the topic is what they are expected to be about.
func (h *habitat) direct(s *queries) {
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

// draw draws the yield of every word.
func (h *habitat) draw(s *queries, rng *rand.Rand) {
	for _, term := range h.vocabulary {
		h.yield = append(h.yield, s.yields[term].draw(rng))
	}
}

// recall makes the list of the queries that were asked. Of those with the same words
// of the vocabulary the shortest is the most alike to anything here.
func (h *habitat) recall(s *queries, place map[string]int) {
	at := map[string]int{}
	for _, q := range s.issued {
		a := askedQuery{size: len(q.terms)}
		for _, term := range q.terms {
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

// on returns the words that are on in x, the first ones if there are more than most.
func (h *habitat) on(x []float64, most int) (words []int) {
	for i, gene := range x {
		if gene >= 0 && len(words) < most {
			words = append(words, i)
		}
	}
	return words
}

// query returns the words of the query that x stands for. It has one of the user's at
// least (row k).
func (h *habitat) query(x []float64) (words []int) {
	words = h.on(x, h.most)
	isUser := func(i int) bool { return h.user[i] }
	if first := slices.Index(h.user, true); first >= 0 && !slices.ContainsFunc(words, isUser) {
		words = append(words[:min(len(words), h.most-1)], first)
		slices.Sort(words)
	}
	return words
}

// fitness returns the objective.
func (h *habitat) fitness(x []float64) float64 {
	if h.objective == forLikeness {
		return h.likeness(h.on(x, len(x)))
	}
	return h.value(h.on(x, h.most))
}

// likeness returns the Jaccard coefficient of words with those of the user.
func (h *habitat) likeness(words []int) float64 {
	common := 0
	for _, i := range words {
		if h.user[i] {
			common++
		}
	}
	return quotient(common, len(words)+h.users-common)
}

// value returns the yield objective. Words that are too little like the user's are worth
// less than nothing, the more so the less they are.
func (h *habitat) value(words []int) float64 {
	// Of a long query not even so much may be possible.
	least := min(leastLikeness, quotient(h.most, 2*h.users))
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

// novelty returns how unlike the words are to the query that was asked and is most like
// them.
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

// line returns the query of these words, as people write them.
func (h *habitat) line(words []int) string {
	var forms []string
	for _, i := range words {
		forms = append(forms, h.forms[i])
	}
	return strings.Join(forms, " ")
}

// reasons returns the numbers that chose the words.
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

// quotient returns a/b, and 0 of nothing.
func quotient(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// draw draws from Beta(1 + successes, 1 + failures): the a-th smallest of n numbers
// that are evenly distributed has the distribution Beta(a, n + 1 − a).
func (b belief) draw(rng *rand.Rand) float64 {
	numbers := make([]float64, b.trials+1)
	for i := range numbers {
		numbers[i] = rng.Float64()
	}
	slices.Sort(numbers)
	return numbers[min(b.successes, b.trials)]
}
