package strategy

// This file implements Anthelion, a bandit over hosts above an online classifier of links:
//
//	R. Meusel, P. Mika and R. Blanco, "Focused crawling for structured data", CIKM
//	2014, pp. 1039–1048; the program is YahooArchive/anthelion.
//
// To choose an address it first chooses a host: with probability λ a random host, otherwise the
// host with the highest value. Then it chooses the link of this host with the highest score.
//
//	paper, program         here       meaning
//	λ                      Lambda     probability of choosing any host
//	λ-decay                Decay      pulls after which λ is halved
//	host value             Value      how a host is valued, see value
//	good, bad              good, bad  relevant and irrelevant pages of a host
//	predictedRight         right      pages that the classifier predicted correctly
//	a                      prior      parameter of the holistic value
//	hash trick             Buckets    weights of the classifier
//	batch                  Batch      pages between two updates of the classifier
//	domain.queue.fraction  Share      share of a generation that one host may fill
//
// If the program leaves something open or is wrong, we follow doc/design/papers.md. The comments name the
// rows of its table.

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"

	"spoor/internal/fitness"
	"spoor/internal/graph"
	"spoor/internal/topic"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

type anthelion struct {
	pool

	Value   string  // how hosts are valued
	Lambda  float64 // λ
	Decay   int     // pulls after which λ is halved; 0: never
	Share   float64 // share of a generation that one host may fill
	Batch   int     // pages between two updates
	Buckets int     // number of weights
	Rate    float64 // learning rate

	words linkWords
	links linkStore

	// The following fields are derived from the outcomes of links.
	hosts   hosts
	record  []hostRecord // by host
	pulls   int          // outcomes of links
	learner logistic
	batch   []labelled // examples for the next update
}

type hostRecord struct {
	good, bad int // relevant and irrelevant pages
	right     int // pages that the classifier predicted correctly
}

// hosts numbers the hosts of the known addresses.
type hosts struct {
	number map[string]int32
	of     []int32 // by graph.ID
}

// fit adds the addresses that are new to the graph.
func (h *hosts) fit(web *graph.Graph) {
	if h.number == nil {
		h.number = map[string]int32{}
	}
	for id := graph.ID(len(h.of)); int(id) < web.Len(); id++ {
		name := weburl.Host(web.URL(id))
		n, known := h.number[name]
		if !known {
			n = int32(len(h.number))
			h.number[name] = n
		}
		h.of = append(h.of, n)
	}
}

// A labelled link is a link whose outcome is known.
type labelled struct {
	features []feature
	relevant bool
}

// Ways of valuing hosts.
const (
	byBest         = "best"
	byRate         = "rate"
	byRateBest     = "rate-best"
	byGoodBest     = "good-best"
	byThompson     = "thompson"
	byThompsonBest = "thompson-best"
	byHolistic     = "holistic"
)

// prior is the parameter a of the holistic value. With it, the value of a host without pages is 1.
const prior = 1

func newAnthelion() Strategy {
	s := &anthelion{Value: byThompsonBest, Lambda: 0.1, Share: 0.5, Batch: 5, Buckets: 10_000, Rate: 0.5}
	s.parts = []part{&s.links, s}
	return s
}

func (s *anthelion) Params() []Param {
	return []Param{
		{Name: "value", Doc: "value of a host: the score of its best link, its rate of good pages, a draw of that rate, or a product of these", Value: &s.Value,
			Words: []string{byBest, byRate, byRateBest, byGoodBest, byThompson, byThompsonBest, byHolistic}},
		{Name: "lambda", Doc: "probability of choosing any host at random", Value: &s.Lambda, Range: unit},
		{Name: "lambda-decay", Doc: "pages after which lambda is halved; 0 for no decay", Value: &s.Decay, Range: whole},
		{Name: "share", Doc: "share of a generation that one host may fill", Value: &s.Share, Range: unit},
		{Name: "batch", Doc: "pages between two updates of the classifier", Value: &s.Batch, Range: [2]float64{1, 1e6}},
		{Name: "buckets", Doc: "weights of the classifier, which words share", Value: &s.Buckets, Range: [2]float64{1, 1e7}},
		{Name: "rate", Doc: "learning rate of the classifier", Value: &s.Rate, Range: [2]float64{1e-6, 100}},
	}
}

func (s *anthelion) aim(t *topic.Topic) error { return s.words.aim(t) }

// Visit stores the features of the new links.
func (s *anthelion) Visit(rec *wire.Record) {
	place, ok := s.visit(rec)
	if !ok {
		return
	}
	var family []feature
	for id, link := range s.unfetchedLinks(rec, place) {
		if s.links.has(id) {
			continue
		}
		if family == nil {
			family = s.family(place)
		}
		var features [4 * maxWords]feature
		f := append(features[:0], family...)
		f = append(f, featureOf(inWeb, weburl.Host(link.URL)))
		f = addressTokens(f, pathAndQuery(link.URL))
		s.links.add(id, s.words.stems(f, inAnchor, link.Anchor, readAnchor))
	}
}

// family returns the features shared by the links of a page: whether the page is relevant, and
// whether it links to relevant or irrelevant pages (row f).
func (s *anthelion) family(place int) []feature {
	p := &s.pages[place]
	parent := "bad parent"
	if p.relevant {
		parent = "good parent"
	}
	features := []feature{featureOf(inWeb, parent)}
	var good, bad bool
	for id := range s.web.Children(p.node) {
		if at, fetched := s.page(id); fetched && !s.pages[at].failed {
			good, bad = good || s.pages[at].relevant, bad || !s.pages[at].relevant
		}
	}
	if good {
		features = append(features, featureOf(inWeb, "good sibling"))
	}
	if bad {
		features = append(features, featureOf(inWeb, "bad sibling"))
	}
	return features
}

// addressTokens appends the runs of letters and digits in s, in lower case. Digits in a run with
// letters become 0, and every number becomes [NUMBER]; other runs need at least three bytes.
func addressTokens(dst []feature, s string) []feature {
	from := len(dst)
	s = strings.ToLower(s)
	for token := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if strings.ContainsFunc(token, unicode.IsDigit) {
			if strings.ContainsFunc(token, unicode.IsLetter) {
				token = strings.Map(digitsAlike, token)
			} else {
				token = "[NUMBER]"
			}
		}
		if len(token) < 3 {
			continue
		}
		f := featureOf(inURL, token)
		if dst = append(dst, f); len(dst)-from == maxWords {
			break
		}
	}
	return unique(dst, from)
}

func digitsAlike(r rune) rune {
	if unicode.IsDigit(r) {
		return '0'
	}
	return r
}

// Breed pulls arms until the generation is full.
func (s *anthelion) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.learn()
	for i, c := range s.pull(quota, rng) {
		reasons := []wire.Scored{{Name: "classifier", Value: c.score}}
		if c.value >= 0 {
			reasons = append(reasons, wire.Scored{Name: "host", Value: millionths(c.value)})
		}
		next = append(next, s.proposeAt(c.id, rankPriority(i, quota), reasons...))
	}
	s.endGeneration()
	return next
}

// learn updates the host records and the classifier with the pages of this generation. The features
// of the links to these pages are not needed any more.
func (s *anthelion) learn() {
	defer s.links.drop(&s.memory)
	s.hosts.fit(&s.web)
	s.record = grown(s.record, len(s.hosts.number))
	s.learner.fit(s.Buckets, s.Rate)
	for at := s.firstPage; at < len(s.pages); at++ {
		p := &s.pages[at]
		if !s.links.has(p.node) {
			continue // no link led to this page
		}
		s.pulls++
		host := &s.record[s.hosts.of[p.node]]
		if p.failed {
			host.bad++ // row g
			continue
		}
		features := s.links.of(p.node)
		if (s.learner.probability(features) >= 0.5) == p.relevant {
			host.right++
		}
		if p.relevant {
			host.good++
		} else {
			host.bad++
		}
		s.batch = append(s.batch, labelled{features, p.relevant})
		if len(s.batch) < s.Batch {
			continue
		}
		for _, l := range s.batch {
			s.learner.learn(l.features, l.relevant)
		}
		s.batch = s.batch[:0]
	}
}

// An arm is a host with unfetched links.
type arm struct {
	host   int32
	links  bestLinks
	pulled int // number of pulls in this generation
}

type pulled struct {
	scoredLink
	value float64
}

// pull chooses n links. A host fills more than its share only if no other host has links (row e).
func (s *anthelion) pull(n int, rng *rand.Rand) (chosen []pulled) {
	if n == 0 {
		return nil
	}
	arms := s.arms()
	most := max(1, int(math.Ceil(s.Share*float64(n))))
	pulls := s.pulls
	var full []*arm // arms that have filled their share and have more links
	for len(chosen) < n {
		if len(arms) == 0 {
			if arms, full, most = full, nil, n; len(arms) == 0 {
				break
			}
		}
		at, value := s.choose(arms, pulls, rng)
		a := arms[at]
		chosen = append(chosen, pulled{heap.Pop(&a.links).(scoredLink), value})
		pulls++
		if a.pulled++; len(a.links) == 0 || a.pulled == most {
			arms = append(arms[:at], arms[at+1:]...)
			if len(a.links) > 0 {
				full = append(full, a)
			}
		}
	}
	return chosen
}

// arms returns the hosts with unfetched links in the order of their discovery.
func (s *anthelion) arms() (arms []*arm) {
	of := make([]*arm, len(s.hosts.number))
	for id := range s.freeAddresses() {
		host := s.hosts.of[id]
		if of[host] == nil {
			of[host] = &arm{host: host}
		}
		of[host].links = append(of[host].links, scoredLink{id, s.learner.probability(s.links.of(id))})
	}
	for _, a := range of {
		if a != nil {
			heap.Init(&a.links)
			arms = append(arms, a)
		}
	}
	return arms
}

// choose picks a host: a random host, or the first host with the highest value (row a). The value of
// a host picked at random is -1.
func (s *anthelion) choose(arms []*arm, pulls int, rng *rand.Rand) (at int, value float64) {
	if rng.Float64() < s.lambda(pulls) {
		return rng.IntN(len(arms)), -1
	}
	value = math.Inf(-1)
	for i, a := range arms {
		best := a.links[0].score
		if s.Value == byThompsonBest && best <= value {
			continue // no draw can raise this host above value: a draw is at most 1
		}
		if v := s.value(s.record[a.host], best, rng); v > value {
			at, value = i, v
		}
	}
	return at, value
}

// lambda returns λ after the given number of pulls (row b).
func (s *anthelion) lambda(pulls int) float64 {
	if s.Decay == 0 {
		return s.Lambda
	}
	return s.Lambda / (float64(pulls)/float64(s.Decay) + 1)
}

// value returns the value of a host whose best link has the score best.
func (s *anthelion) value(h hostRecord, best float64, rng *rand.Rand) float64 {
	good, bad := float64(h.good), float64(h.bad)
	switch s.Value {
	case byRate:
		return (good + 1) / (bad + 1)
	case byRateBest:
		return (good + 1) / (bad + 1) * best
	case byGoodBest:
		return good * best
	case byThompson:
		return beta(rng, good+1, bad+1)
	case byThompsonBest:
		return beta(rng, good+1, bad+1) * best
	case byHolistic:
		visited := good + bad + prior
		return (good + prior) / visited * (float64(h.right) + prior) / visited
	}
	return best
}

// beta draws from the beta distribution with parameters a, b ≥ 1.
func beta(rng *rand.Rand, a, b float64) float64 {
	switch {
	case a == 1: // where the distribution can be inverted
		return 1 - math.Pow(rng.Float64(), 1/b)
	case b == 1:
		return math.Pow(rng.Float64(), 1/a)
	}
	x, y := gamma(rng, a), gamma(rng, b)
	return x / (x + y)
}

// gamma draws from the gamma distribution of shape a ≥ 1 (Marsaglia and Tsang,
// "A simple method for generating gamma variables", ACM TOMS 26, 2000).
func gamma(rng *rand.Rand, a float64) float64 {
	d := a - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if u := rng.Float64(); math.Log(u) < float64(x*x/2)+d-float64(d*v)+float64(d*math.Log(v)) {
			return d * v
		}
	}
}

type scoredLink struct {
	id    graph.ID
	score float64
}

// bestLinks is a heap of links, with the highest score and then the oldest on top.
type bestLinks []scoredLink

func (l bestLinks) Len() int      { return len(l) }
func (l bestLinks) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *bestLinks) Push(x any)   { *l = append(*l, x.(scoredLink)) }

func (l bestLinks) Less(i, j int) bool {
	if l[i].score != l[j].score {
		return l[i].score > l[j].score
	}
	return l[i].id < l[j].id
}

func (l *bestLinks) Pop() any {
	last := len(*l) - 1
	x := (*l)[last]
	*l = (*l)[:last]
	return x
}

// logistic is a logistic model that learns one example at a time, with a learning rate for each
// weight (McMahan et al., KDD 2013, section 3.1, without regularisation; row c):
//
//	p = 1 / (1 + exp(−Σ w)),  w += rate · g / (1 + √Σ g²),  g = y − p,
//
// where the first sum is over the features of a link and a bias, and the second over all
// examples with the feature.
type logistic struct {
	rate    float64
	weights []float64 // the bias is the last
	squares []float64 // Σ g²
}

// fit allocates the weights if they are not allocated yet.
func (l *logistic) fit(buckets int, rate float64) {
	if l.weights == nil {
		l.rate = rate
		l.weights, l.squares = make([]float64, buckets+1), make([]float64, buckets+1)
	}
}

func (l *logistic) bucket(f feature) int { return int(uint32(f) % uint32(len(l.weights)-1)) }

// probability returns the probability that a link leads to a relevant page (row d).
func (l *logistic) probability(features []feature) float64 {
	sum := l.weights[len(l.weights)-1]
	for _, f := range features {
		sum += l.weights[l.bucket(f)]
	}
	return millionths(fitness.Sigmoid(sum))
}

// learn updates the weights with the outcome of a link.
func (l *logistic) learn(features []feature, relevant bool) {
	g := -l.probability(features)
	if relevant {
		g++
	}
	update := func(k int) {
		l.squares[k] += float64(g * g)
		l.weights[k] += l.rate * g / (1 + math.Sqrt(l.squares[k]))
	}
	for _, f := range features {
		update(l.bucket(f))
	}
	update(len(l.weights) - 1)
}

// code learns again from the restored outcomes of links.
func (s *anthelion) code(c *codec) {
	if c.reading {
		s.learn()
		s.links.dropGone()
	}
}
