// Package relevance estimates how relevant the pages of a crawl are to a query, from the query,
// from the pages themselves, and from the seeds that contain words of the query.
//
// The first estimate is BM25 (S. Robertson and H. Zaragoza, "The probabilistic relevance
// framework: BM25 and beyond", 2009) with the document frequencies of a background collection or, if there
// is none, of the crawl. The second is Rocchio's: the pages with the highest scores and the trusted seeds serve
// as examples of relevant pages (pseudo-relevance feedback; J. J. Rocchio, "Relevance feedback in
// information retrieval", 1971). Pages that the user has named as relevant or irrelevant have weights of their own,
// which grow with their number. The third is the score of a classifier that was trained on
// examples, if there is one.
//
// Terms are numbers, and pages are lists of terms with counts. A model depends only on the
// arguments of [New].
package relevance

import (
	"cmp"
	"math"
	"slices"
)

// A Count is a term of a page and the number of its occurrences.
type Count struct {
	Term int32
	N    int32
}

// A Page holds the terms of a page.
type Page struct {
	Counts []Count // counts in title and text together, each term once
	Length int     // number of terms in title and text
	Query  []int32 // by query term: its occurrences; an occurrence in the title is counted three times
	Named  Named
}

// Named is the user's judgement of a page.
type Named int8

// Judgements of pages.
const (
	Unnamed Named = iota
	Relevant
	Irrelevant
)

// A Query holds the terms of a query, their statistics in the background collection, and an
// optional classifier.
type Query struct {
	Terms   []int32
	Weights []float64 // parallel to Terms; above 0
	Share   []float64 // by number of a term: share of the background documents that contain it; may be empty

	Feedback float64 // weight of the second estimate, in standard deviations of the first; 0: none

	// Classifier holds the weights of a linear classifier of pages, by term; it may be empty.
	// The score of a page is Σ weight · √(occurrences / length), as in package fitness.
	Classifier []float64
}

// Constants of the estimates. They were chosen on the shared topics: see doc/results/forage.md.
const (
	k1, b            = 2, 0.75 // parameters of BM25
	background       = 1000    // the background collection has the weight of this many documents
	minPages         = 10      // there is no second estimate for fewer pages
	rounds           = 3       // rounds of pseudo-relevance feedback
	positiveShare    = 0.2     // at least this share of the pages are examples
	minPositive      = 3       // at least this many pages are examples
	doubtful         = 0.08    // no seed is trusted if the mean BM25 of the seeds is at most this
	trusted          = 0.18    // a seed is fully trusted if its BM25 and the mean are at least this
	seedShare        = 0.7     // weight of trusted seeds among the examples
	denseShare       = 0.8     // like positiveShare, but of the pages with more than half the BM25 of trusted seeds; times the mean trust
	half             = 0.2     // BM25 of a page whose relevance is one half, if no seed is trusted
	classifierWeight = 1       // weight of the third estimate, in standard deviations of the second
	relevantShare    = 0.4     // weight of many pages that are named as relevant, among the examples
	irrelevantShare  = 0.25    // weight of many that are named as irrelevant, beside the mean of all pages
	namedFeedback    = 0.5     // many named pages increase the weight of the second estimate by this share
	halfNamed        = 3       // so many named pages have half of these weights
	levelShare       = 0.5     // if the seeds are trusted, Level is at most this share of their mean relevance
)

// A Model estimates relevance.
type Model struct {
	query   Query
	idf     []float64 // by term
	asked   []float64 // IDF by place in the query; see QueryIDF
	average float64   // mean length of the pages, plus 1
	norm    float64   // upper bound of the BM25 sum, which is divided by it
	half    float64   // BM25 of a page whose relevance is one half

	// Topic is Rocchio's vector, by term: above 0 for terms that are more frequent in relevant
	// pages. It is empty if there are too few pages.
	Topic     []float64
	first     moments // BM25 of the pages
	second    moments // similarity of the pages to Topic
	third     moments // classifier scores of the pages
	seedTrust float64 // mean trust of the seeds, in [0, 1]

	// Level is the estimate for irrelevant pages: the mean relevance of the lower half of the
	// pages, limited by the relevance of trusted seeds (see levelShare).
	Level float64

	buf vector // scratch
}

type moments struct{ mean, deviation float64 }

// standard returns the distance of x from the mean, in standard deviations.
func (m moments) standard(x float64) float64 { return (x - m.mean) / m.deviation }

// IDF returns the inverse document frequency of a term: about 0 for a term that all pages contain.
func (m *Model) IDF(term int32) float64 {
	if int(term) < len(m.idf) {
		return m.idf[term]
	}
	return m.idf[len(m.idf)-1] // no page contains the term
}

// QueryIDF returns the inverse document frequency of the i-th term of the query: of the background, if there
// is one. In the crawl the most important word would have the lowest, because pages were chosen for having
// it.
func (m *Model) QueryIDF(i int) float64 { return m.asked[i] }

// New returns the model of a crawl that has fetched pages. pages[:seeds] are the seeds that may be trusted; none
// is named as irrelevant. Every term is less than the number terms.
func New(q Query, pages []Page, seeds, terms int) *Model {
	m := &Model{query: q}
	m.count(pages[:seeds], terms)
	if len(q.Share) == 0 { // without a background, words in all seeds would get a low IDF
		m.flatten()
	}
	trust, level := m.trust(pages[:seeds])
	m.half = half
	if m.seedTrust > 0 {
		m.half = float64(half*(1-m.seedTrust)) + float64(m.seedTrust*level)
	}
	m.count(pages, terms)
	m.query.Feedback *= 1 + ofMany(namedFeedback, float64(len(pages)-namedAs(pages, Unnamed)))
	if len(pages) >= minPages {
		m.feedBack(pages, trust, level)
	}
	m.setLevel(pages, trust)
	return m
}

// count sets average, idf, asked and norm.
func (m *Model) count(pages []Page, terms int) {
	df := make([]int, terms+1)
	length := 0
	for i := range pages {
		length += pages[i].Length
		for _, c := range pages[i].Counts {
			df[c.Term]++
		}
	}
	m.average = float64(length)/float64(max(1, len(pages))) + 1
	m.idf = make([]float64, terms+1)
	n, general := float64(len(pages)), 0.0
	if len(m.query.Share) > 0 {
		general = background
	}
	for t, count := range df {
		m.idf[t] = idf(float64(count)+float64(general*m.share(t)), n+general)
	}
	m.asked = make([]float64, len(m.query.Terms))
	for i, t := range m.query.Terms {
		if m.asked[i] = m.IDF(t); general > 0 {
			m.asked[i] = idf(float64(general*m.share(int(t))), general)
		}
	}
	m.normalise()
}

// share returns the share of the background documents that contain a term.
func (m *Model) share(term int) float64 {
	if term < len(m.query.Share) {
		return m.query.Share[term]
	}
	return 0
}

// idf returns the inverse document frequency of a term that occurs in d of n documents.
func idf(d, n float64) float64 { return ln1p((n - d + 0.5) / (d + 0.5)) }

// flatten sets the IDF of all terms to 1.
func (m *Model) flatten() {
	for t := range m.idf {
		m.idf[t] = 1
	}
	for i := range m.asked {
		m.asked[i] = 1
	}
	m.normalise()
}

// normalise sets norm.
func (m *Model) normalise() {
	m.norm = 0
	for i, w := range m.asked {
		m.norm += float64(m.query.Weights[i] * w)
	}
}

// bm25 returns the BM25 of a page, divided by its upper bound.
func (m *Model) bm25(p *Page) float64 {
	k := float64(k1 * (1 - b + float64(b*float64(p.Length)/m.average)))
	sum := 0.0
	for i, w := range m.asked {
		if f := float64(p.Query[i]); f > 0 {
			sum += float64(float64(m.query.Weights[i]*w) * (f / (f + k)))
		}
	}
	return sum / m.norm
}

// trust returns the trust in each seed, in [0, 1], and the mean BM25 of the seeds, weighted by
// trust. It sets seedTrust. The user has chosen the seeds, but some are not examples of the topic,
// such as a list of links, or the home page of a site. So seeds are trusted if they contain words of
// the query.
func (m *Model) trust(seeds []Page) (trust []float64, level float64) {
	trust = make([]float64, len(seeds))
	mean := 0.0
	for i := range seeds {
		trust[i] = m.bm25(&seeds[i])
		mean += trust[i] / float64(len(seeds))
	}
	all := clamp((mean - doubtful) / (trusted - doubtful))
	sum := 0.0
	for i, near := range trust {
		trust[i] = float64(all * clamp(near/trusted))
		level += float64(trust[i] * near)
		sum += trust[i]
	}
	if sum > 0 {
		level /= sum
		m.seedTrust = sum / float64(len(seeds))
	}
	return trust, level
}

// feedBack sets Topic, first, second and third.
func (m *Model) feedBack(pages []Page, trust []float64, level float64) {
	first, second, third := make([]float64, len(pages)), make([]float64, len(pages)), make([]float64, len(pages))
	near := 0
	for i := range pages {
		first[i] = m.bm25(&pages[i])
		third[i] = m.classify(&pages[i])
		if m.seedTrust > 0 && first[i] > level/2 {
			near++
		}
	}
	m.first, m.third = momentsOf(first), momentsOf(third)
	positive := max(minPositive, int(float64(positiveShare*float64(len(pages)))), int(float64(denseShare*m.seedTrust)*float64(near)))
	vectors := m.vectors(pages)
	mean := centroid(vectors, len(m.idf), func(int) float64 { return 1 })
	m.add(mean, irrelevantShare, vectors, pages, Irrelevant)
	score := make([]float64, len(pages))
	for i := range score {
		score[i] = m.first.standard(first[i]) + m.thirdEstimate(third[i])
	}
	for round := range rounds {
		for i := range pages {
			switch pages[i].Named {
			case Relevant:
				score[i] = math.Inf(1)
			case Irrelevant:
				score[i] = math.Inf(-1)
			}
		}
		chosen := highest(score, positive)
		m.Topic = centroid(vectors, len(m.idf), func(i int) float64 { return chosen[i] })
		if a := float64(seedShare * m.seedTrust); a > 0 {
			seeds := centroid(vectors[:len(trust)], len(m.idf), func(i int) float64 { return trust[i] })
			for t := range m.Topic {
				m.Topic[t] = float64((1-a)*m.Topic[t]) + float64(a*seeds[t])
			}
		}
		m.add(m.Topic, relevantShare, vectors, pages, Relevant)
		for t := range m.Topic {
			m.Topic[t] -= mean[t]
		}
		for i, v := range vectors {
			second[i] = v.dot(m.Topic)
		}
		m.second = momentsOf(second)
		if round < rounds-1 {
			for i := range score {
				score[i] = m.first.standard(first[i]) + m.second.standard(second[i]) + m.thirdEstimate(third[i])
			}
		}
	}
}

// add mixes the mean of the pages with a judgement into another mean, with a share that grows with their number.
func (m *Model) add(to []float64, share float64, vectors []vector, pages []Page, named Named) {
	a := ofMany(share, float64(namedAs(pages, named)))
	if a == 0 {
		return
	}
	mean := centroid(vectors, len(to), func(i int) float64 {
		if pages[i].Named == named {
			return 1
		}
		return 0
	})
	for t := range to {
		to[t] = float64((1-a)*to[t]) + float64(a*mean[t])
	}
}

// ofMany returns the weight of n named pages, which tends to weight.
func ofMany(weight, n float64) float64 { return weight * n / (n + halfNamed) }

// namedAs returns the number of pages with a judgement.
func namedAs(pages []Page, named Named) (n int) {
	for i := range pages {
		if pages[i].Named == named {
			n++
		}
	}
	return n
}

// classify returns the classifier score of a page.
func (m *Model) classify(p *Page) float64 {
	sum := 0.0
	for _, c := range p.Counts {
		if int(c.Term) < len(m.query.Classifier) {
			sum += float64(m.query.Classifier[c.Term] * math.Sqrt(float64(c.N)))
		}
	}
	return sum / math.Sqrt(float64(max(1, p.Length)))
}

// thirdEstimate returns the third estimate, which is added to the other ones: the standardised
// classifier score times its weight.
func (m *Model) thirdEstimate(score float64) float64 {
	if len(m.query.Classifier) == 0 {
		return 0
	}
	return float64(classifierWeight * m.third.standard(score))
}

// highest returns 1 for the n highest scores and 0 for the others and for -∞, the score of a page that is no
// example. Of equal scores, the first ones are chosen.
func highest(scores []float64, n int) []float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	chosen := make([]float64, len(scores))
	for _, i := range order[:min(n, len(order))] {
		if !math.IsInf(scores[i], -1) {
			chosen[i] = 1
		}
	}
	return chosen
}

// Relevance returns the estimate for a page, in [0, 1). It is one half for a page that matches the
// query as well as trusted seeds do.
func (m *Model) Relevance(p *Page) float64 {
	x := m.bm25(p)
	if len(m.Topic) > 0 {
		z := m.second.standard(m.Vector(p).dot(m.Topic))
		if len(m.query.Classifier) > 0 {
			z += m.thirdEstimate(m.classify(p))
		}
		x += float64(float64(m.query.Feedback*m.first.deviation) * z)
	}
	x = clamp(x)
	return x / (x + m.half)
}

func (m *Model) setLevel(pages []Page, trust []float64) {
	all := make([]float64, len(pages))
	seeds, sum := 0.0, 0.0
	for i := range pages {
		all[i] = m.Relevance(&pages[i])
		if i < len(trust) {
			seeds += float64(trust[i] * all[i])
			sum += trust[i]
		}
	}
	slices.Sort(all)
	lower := all[:max(min(1, len(all)), len(all)/2)]
	for _, r := range lower {
		m.Level += r / float64(len(lower))
	}
	if sum > 0 {
		bound := float64((1-m.seedTrust)*m.Level) + float64(m.seedTrust*levelShare*(seeds/sum))
		m.Level = min(m.Level, bound)
	}
}

// A vector holds the weighted terms of a page. Its Euclidean length is 1.
type vector []weighted

type weighted struct {
	term   int32
	weight float64
}

// Vector returns the vector of a page. Its weights are proportional to (1 + ln tf) idf. It is valid
// until the next call of a method of m.
func (m *Model) Vector(p *Page) vector {
	v := slices.Grow(m.buf[:0], len(p.Counts))[:len(p.Counts)]
	m.buf = v
	square := 0.0
	for i, c := range p.Counts {
		w := float64((1 + logOf(c.N)) * m.IDF(c.Term))
		v[i] = weighted{c.Term, w}
		square += float64(w * w)
	}
	if square > 0 {
		length := math.Sqrt(square)
		for i := range v {
			v[i].weight /= length
		}
	}
	return v
}

// Each calls f for each term of the vector with its weight.
func (v vector) Each(f func(term int32, weight float64)) {
	for _, x := range v {
		f(x.term, x.weight)
	}
}

func (m *Model) vectors(pages []Page) []vector {
	vs := make([]vector, len(pages))
	for i := range pages {
		vs[i] = slices.Clone(m.Vector(&pages[i]))
	}
	return vs
}

func (v vector) dot(by []float64) float64 {
	sum := 0.0
	for _, x := range v {
		if int(x.term) < len(by) {
			sum += float64(by[x.term] * x.weight)
		}
	}
	return sum
}

// centroid returns the weighted mean of vectors.
func centroid(vs []vector, terms int, weight func(i int) float64) []float64 {
	mean := make([]float64, terms)
	sum := 0.0
	for i, v := range vs {
		w := weight(i)
		if w == 0 {
			continue
		}
		sum += w
		for _, x := range v {
			mean[x.term] += float64(w * x.weight)
		}
	}
	if sum > 0 {
		for t := range mean {
			mean[t] /= sum
		}
	}
	return mean
}

// momentsOf returns the mean and the standard deviation of xs. The deviation is above 0.
func momentsOf(xs []float64) (m moments) {
	for _, x := range xs {
		m.mean += x / float64(len(xs))
	}
	square := 0.0
	for _, x := range xs {
		square += float64((x - m.mean) * (x - m.mean))
	}
	m.deviation = math.Sqrt(square/float64(len(xs))) + 1e-9
	return m
}

func clamp(x float64) float64 { return max(0, min(x, 1)) }

// logs are the logarithms of small counts.
var logs = func() (l [256]float64) {
	for n := 1; n < len(l); n++ {
		l[n] = rounded(math.Log(float64(n)))
	}
	return l
}()

func logOf(n int32) float64 {
	if int(n) < len(logs) {
		return logs[max(1, n)]
	}
	return rounded(math.Log(float64(n)))
}

// ln1p returns ln(1 + x).
func ln1p(x float64) float64 { return rounded(math.Log1p(x)) }

// rounded returns x rounded to 24 bits: the last bits of logarithms differ between machines.
func rounded(x float64) float64 { return float64(float32(x)) }
