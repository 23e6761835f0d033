package strategy

// This file implements TRES, deep Q-learning with a frontier that is a decision tree:
//
//	A. Kontogiannis, D. Kelesis, V. Pollatos, G. Giannakopoulos and G. Paliouras,
//	"Tree-based focused web crawling with reinforcement learning", arXiv
//	2112.07620v4 (2025); the program is ddaedalus/tres.
//
// To follow a link is an action a in a state s, the path that led to the page with the link. Double
// Q-learning trains a network to predict the value Q(s, a) of a link with everything it leads to:
//
//	y = r + γ · Q'(s', argmax Q(s', a'))
//
// is the target after a link was followed. The reward r is 1 if its page is relevant, and otherwise
// 0; a' are the links of this page, and Q' is an earlier Q. Computing Q for all waiting links takes
// too long. So a decision tree groups them by the rewards of similar links that were followed; one
// link is drawn from each leaf, and the one with the highest Q is followed.
//
//	paper, program          here             meaning
//	x(s, a)                 vector           the nine features of a link, in hundredths
//	father relevance        parentRelevance  1 if the page with the link is relevant
//	1 / dist                nearness         dist: links since the last relevant page of the path
//	path relevance ratio    pathRelevance    relevant pages of the path, of all
//	keywords in url         keywordAddress   1 if the address has a keyword
//	keywords in anchor      keywordAnchor    1 if the anchor has a keyword
//	keyphrases in anchor    phraseAnchor     1 if the anchor has a keyphrase
//	domain relevance ratio  hostRelevance    relevant pages of the host, of all
//	unknown domain          hostUnknown      1 if no page of the host was requested
//	probability             promise          that the page is relevant, by address and anchor
//	γ                       Gamma            discount
//	Q, Q'                   online, target   qnetwork.go
//	experience sample       experience       the features of a link that was followed, and r
//	frontier samples        waiting          the links in a leaf
//	MAX_DOMAIN_PAGES        PerHost          most pages of a host
//
// Of the paper only the abstract was available; the rest is from the program. If they leave something
// open or are made for another task, we follow doc/design/papers.md. The comments name the rows of
// its table.

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"

	"spoor/internal/genetic"
	"spoor/internal/graph"
	"spoor/internal/topic"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

type tres struct {
	pool

	Gamma   float64 // γ, discount
	Rate    float64 // learning rate of the network
	Epsilon float64 // probability of following any leaf's link
	Warmup  int     // pages before the first training; until then, leaves are drawn at random
	Every   int     // pages between two trainings
	Target  int     // pages between two updates of Q'
	Batch   int     // transitions of a training
	Buffer  int     // transitions kept, the newest
	Depth   int     // maximum depth of a leaf
	Split   int     // minimum number of experiences of a leaf that is split
	PerHost int     // most pages of a host; 0: no limit

	words   linkWords
	topic   keywordSet
	links   linkStore
	learner agent

	// The following fields are derived from the outcomes of links.
	hosts    hosts
	record   []hostRecord // by host; failures are bad pages (row f)
	promise  logistic
	parent   []int32  // by graph.ID: place plus one of the page whose path leads to the link
	paths    []path   // by place
	followed []vector // by place: the features of the link that led to the page
	tree     treeFrontier
	buffer   []int32 // places of the pages that were transitions
	steps    int     // number of experiences
}

// The features of a link.
const (
	parentRelevance = iota
	nearness
	pathRelevance
	keywordAddress
	keywordAnchor
	phraseAnchor
	hostRelevance
	hostUnknown
	promise
	stateFeatures = keywordAddress // the features before are of the state
)

// A path describes the pages from a seed to a page.
type path struct {
	length, relevant int // number of pages
	distance         int // links from the last relevant page to the links of the page; 0: none is relevant
}

const (
	promiseBuckets = 10_000 // weights of the model of promise
	promiseRate    = 0.5    // its learning rate
	maxActions     = 64     // links of a page among which the best is sought (row h)
)

func newTRES() Strategy {
	s := &tres{Gamma: 0.99, Rate: 0.001, Warmup: 60, Every: 1, Target: 50, Batch: 60, Buffer: 20_000, Depth: 18, Split: 5}
	s.parts = []part{&s.links, &s.learner, s}
	return s
}

func (s *tres) Params() []Param {
	some := [2]float64{1, 1e9}
	return []Param{
		{Name: "gamma", Doc: "discount of the rewards after a link", Value: &s.Gamma, Range: unit},
		{Name: "rate", Doc: "learning rate of the network", Value: &s.Rate, Range: [2]float64{1e-6, 1}},
		{Name: "epsilon", Doc: "probability of following the link of a random leaf", Value: &s.Epsilon, Range: unit},
		{Name: "warmup", Doc: "pages before the first training; until then, all leaves are random (300 or 500 in the program)", Value: &s.Warmup, Range: whole},
		{Name: "every", Doc: "pages between two trainings (3 in the program)", Value: &s.Every, Range: some},
		{Name: "target", Doc: "pages between two updates of the target network (500 in the program)", Value: &s.Target, Range: some},
		{Name: "batch", Doc: "transitions of a training", Value: &s.Batch, Range: [2]float64{1, 10_000}},
		{Name: "buffer", Doc: "transitions kept for training, the newest", Value: &s.Buffer, Range: some},
		{Name: "depth", Doc: "maximum depth of the tree; 0 for no tree", Value: &s.Depth, Range: [2]float64{0, 1000}},
		{Name: "split", Doc: "minimum number of followed links in a leaf that is split", Value: &s.Split, Range: [2]float64{2, 1e9}},
		{Name: "per-host", Doc: "most pages of a host, 0 for no limit", Value: &s.PerHost, Range: whole},
	}
}

func (s *tres) aim(t *topic.Topic) error {
	if err := s.words.aim(t); err != nil {
		return err
	}
	s.topic = keywordSet{}
	for _, k := range t.Keywords {
		s.topic.add(stems(s.words.analyzer, k.Text))
	}
	return nil
}

// A keywordSet holds the stems of the keywords, and the keyphrases: keywords of several words.
type keywordSet struct {
	stems   []string
	phrases [][]string
}

func (k *keywordSet) add(words []string) {
	k.stems = append(k.stems, words...)
	if len(words) > 1 {
		k.phrases = append(k.phrases, words)
	}
}

func (k *keywordSet) hasKeyword(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(k.stems, w) })
}

func (k *keywordSet) hasPhrase(words []string) bool {
	return slices.ContainsFunc(k.phrases, func(phrase []string) bool {
		for i := range len(words) - len(phrase) + 1 {
			if slices.Equal(words[i:i+len(phrase)], phrase) {
				return true
			}
		}
		return false
	})
}

// Visit stores the words of the new links. A page that no link led to has the words of its own
// address and title (row e).
func (s *tres) Visit(rec *wire.Record) {
	place, ok := s.visit(rec)
	if !ok {
		return
	}
	if p := &s.pages[place]; place >= s.firstPage && !p.failed && !s.links.has(p.node) {
		s.links.add(p.node, s.wordsOf(rec.URL, rec.Title))
	}
	for id, link := range s.unfetchedLinks(rec, place) {
		if !s.links.has(id) {
			s.links.add(id, s.wordsOf(link.URL, link.Anchor))
		}
	}
}

// keywordFeatures stand for keywordAddress, keywordAnchor and phraseAnchor in a linkStore.
var keywordFeatures = [...]feature{
	featureOf(inWeb, "keyword in address"), featureOf(inWeb, "keyword in anchor"), featureOf(inWeb, "phrase in anchor"),
}

// wordsOf returns the features of a link: the words of its address and anchor (row b), and whether
// they have words of the topic (row c).
func (s *tres) wordsOf(address, anchor string) []feature {
	var features [2*maxWords + len(keywordFeatures)]feature
	inAddress := weburl.Host(address) + " " + pathAndQuery(address)
	f := s.words.stems(features[:0], inURL, inAddress, readURL)
	if s.topic.hasKeyword(s.words.names()) {
		f = append(f, keywordFeatures[0])
	}
	f = s.words.stems(f, inAnchor, anchor, readAnchor)
	if words := s.words.names(); s.topic.hasKeyword(words) {
		f = append(f, keywordFeatures[1])
		if s.topic.hasPhrase(words) {
			f = append(f, keywordFeatures[2])
		}
	}
	return f
}

// Breed learns from the outcomes, and follows links until the generation is full.
func (s *tres) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.learner.ready(rng)
	before := s.steps
	s.learn()
	for step := before + 1; step <= s.steps; step++ { // rows g and o
		if step%s.Target == 0 {
			s.learner.updateTarget()
		}
		if step >= s.Warmup && step%s.Every == 0 {
			s.train(rng)
		}
	}
	remaining := s.placeLinks()
	for len(next) < quota {
		c, ok := s.choose(remaining, rng)
		if !ok {
			break
		}
		remaining[s.hosts.of[c.id]]--
		why := wire.Scored{Name: "q", Value: millionths(c.q)}
		if c.random {
			why = wire.Scored{Name: "random", Value: 1}
		}
		a := s.proposeAt(c.id, rankPriority(len(next), quota), wire.Scored{Name: "leaves", Value: float64(c.leaves)}, why)
		a.Niche = "leaf " + strconv.Itoa(c.leaf)
		next = append(next, a)
	}
	s.endGeneration()
	return next
}

// learn turns the pages of this generation into experiences. Their features are those before any of
// these outcomes was known.
func (s *tres) learn() {
	defer s.links.drop(&s.memory)
	s.hosts.fit(&s.web)
	s.record = grown(s.record, len(s.hosts.number))
	s.promise.fit(promiseBuckets, promiseRate)
	s.parent = grown(s.parent, s.web.Len())
	for _, p := range s.pages[s.firstPage:] {
		s.followed = append(s.followed, s.features(p.node))
	}
	for at := s.firstPage; at < len(s.pages); at++ {
		p := &s.pages[at]
		s.paths = append(s.paths, s.pathOf(p))
		host := &s.record[s.hosts.of[p.node]]
		if p.relevant {
			host.good++
		} else {
			host.bad++
		}
		if p.failed {
			continue // row f
		}
		s.steps++
		s.promise.learn(s.links.of(p.node), p.relevant)
		s.tree.add(experience{s.followed[at], p.relevant}, s.Depth, s.Split)
		if s.expand(at) {
			s.buffer = append(s.buffer, int32(at)) // row i
		}
	}
}

// pathOf returns the path to a page by the link that led to it.
func (s *tres) pathOf(p *page) (to path) {
	if from := s.parent[p.node]; from > 0 {
		to = s.paths[from-1]
	}
	to.length++
	switch {
	case p.relevant:
		to.relevant++
		to.distance = 1
	case to.distance > 0:
		to.distance++
	}
	return to
}

// expand makes the page at place the parent of its unfetched links whose earlier parents have a
// lower state (row d). It reports whether the page has unfetched links.
func (s *tres) expand(place int) (hasLinks bool) {
	state := s.state(place)
	for id := range s.web.Children(s.pages[place].node) {
		if _, fetched := s.page(id); fetched {
			continue
		}
		hasLinks = true
		if from := s.parent[id]; from > 0 {
			if other := s.state(int(from) - 1); bytes.Compare(other[:], state[:]) >= 0 {
				continue
			}
		}
		s.parent[id] = int32(place) + 1
	}
	return hasLinks
}

// state returns the features of the state in which the links of the page at place are followed.
func (s *tres) state(place int) (x [stateFeatures]uint8) {
	p := s.paths[place]
	if s.pages[place].relevant {
		x[parentRelevance] = 100
	}
	if p.distance > 0 {
		x[nearness] = tenths(1, p.distance)
	}
	x[pathRelevance] = tenths(p.relevant, p.length)
	return x
}

// tenths returns a/b ≤ 1 in hundredths, rounded down to tenths.
func tenths(a, b int) uint8 { return uint8(10 * (10 * a / b)) }

// features returns the current features of a link.
func (s *tres) features(id graph.ID) (x vector) {
	if from := s.parent[id]; from > 0 {
		state := s.state(int(from) - 1)
		copy(x[:], state[:])
	}
	words := s.links.of(id)
	for i, f := range keywordFeatures {
		if slices.Contains(words, f) {
			x[keywordAddress+i] = 100
		}
	}
	x[hostRelevance], x[hostUnknown] = 50, 100
	if host := s.record[s.hosts.of[id]]; host.good+host.bad > 0 {
		x[hostRelevance], x[hostUnknown] = tenths(host.good, host.good+host.bad), 0
	}
	x[promise] = uint8(100 * s.promise.probability(words))
	return x
}

// train makes one step of training on a random batch of transitions.
func (s *tres) train(rng *rand.Rand) {
	kept := s.buffer[max(0, len(s.buffer)-s.Buffer):]
	if len(kept) == 0 {
		return
	}
	var examples []vector
	var y []float64
	for _, i := range genetic.Sample(rng, len(kept), s.Batch) {
		place := int(kept[i])
		target := float64(s.Gamma * s.learner.next(s.actions(place)))
		if s.pages[place].relevant {
			target++
		}
		examples, y = append(examples, s.followed[place]), append(y, target)
	}
	s.learner.fit(examples, y, s.Rate)
}

// actions returns the features of the links of the page at place. Those of a link that was followed
// are from before that (row h).
func (s *tres) actions(place int) (list []vector) {
	state := s.state(place)
	for id := range s.web.Children(s.pages[place].node) {
		if len(list) == maxActions {
			break
		}
		var x vector
		if at, fetched := s.page(id); fetched && !s.pages[at].failed {
			x = s.followed[at]
		} else {
			x = s.features(id)
		}
		copy(x[:], state[:])
		list = append(list, x)
	}
	return list
}

// placeLinks puts all free links into the leaves of the tree, and returns by host how many pages may
// still be proposed.
func (s *tres) placeLinks() (remaining []int) {
	remaining = make([]int, len(s.hosts.number))
	for i := range remaining {
		remaining[i] = s.PerHost - s.record[i].good - s.record[i].bad
		if s.PerHost == 0 {
			remaining[i] = s.web.Len()
		}
	}
	for _, id := range s.pending.ids {
		remaining[s.hosts.of[id]]--
	}
	for i := range s.tree.nodes {
		s.tree.nodes[i].waiting = s.tree.nodes[i].waiting[:0]
	}
	for id := range s.freeAddresses() {
		if remaining[s.hosts.of[id]] > 0 {
			c := candidate{id, s.features(id)}
			leaf := &s.tree.nodes[s.tree.leaf(c.x)]
			leaf.waiting = append(leaf.waiting, c)
		}
	}
	return remaining
}

// A drawnLink is a link to follow.
type drawnLink struct {
	id     graph.ID
	leaf   int
	leaves int // number of leaves that had a link
	random bool
	q      float64
}

// choose draws a link from each leaf and removes the one to follow from its leaf: the link with
// the highest Q, or any (row j).
func (s *tres) choose(remaining []int, rng *rand.Rand) (c drawnLink, ok bool) {
	c.random = s.steps < s.Warmup || rng.Float64() < s.Epsilon
	at := 0
	for i := range s.tree.nodes {
		k, found := s.tree.draw(i, rng, func(id graph.ID) bool { return remaining[s.hosts.of[id]] > 0 })
		if !found {
			continue
		}
		c.leaves++
		q, drawn := 0.0, s.tree.nodes[i].waiting[k]
		better := c.random && rng.IntN(c.leaves) == 0 // each leaf is equally likely in the end
		if !c.random {
			q = s.learner.online.value(drawn.x)
			better = !ok || q > c.q
		}
		if better {
			c.id, c.leaf, c.q, at, ok = drawn.id, i, q, k, true
		}
	}
	if ok {
		s.tree.remove(c.leaf, at)
	}
	return c, ok
}

// code learns again from the restored outcomes of links.
func (s *tres) code(c *codec) {
	if c.reading {
		s.learn()
		s.links.dropGone()
	}
}
