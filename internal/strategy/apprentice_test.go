package strategy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"spoor/internal/fitness"
)

// Links to relevant pages have the word "crawl", others "ball"; all have "page", and one has
// "once".
func lessons(n int) (good, bad [][]feature) {
	for i := range n {
		g, b := features(inAnchor, "crawl", "page"), features(inAnchor, "ball", "page")
		if i == 0 {
			g = features(inAnchor, "crawl", "page", "once")
		}
		good, bad = append(good, g), append(bad, b)
	}
	return good, bad
}

func TestModelSeparatesGoodAndBadLinks(t *testing.T) {
	s := newApprentice().(*apprentice)
	good, bad := lessons(20)
	m := s.train(good, bad, rand.New(rand.NewPCG(1, 1)))
	if !m.ready() {
		t.Fatal("nothing was learned")
	}
	g, b := m.probability(good[1]), m.probability(bad[1])
	unknown := m.probability(features(inAnchor, "unknown"))
	both := m.probability(features(inAnchor, "ball", "crawl"))
	if !(g > both && both > b) || g < 0.9 || b > 0.1 {
		t.Errorf("P is %v of a good link, %v of a bad one, %v of one that is both", g, b, both)
	}
	if math.Abs(unknown-0.5) > 0.1 {
		t.Errorf("P is %v of a link of which nothing is known, want about a half", unknown)
	}
	// Links that are surely bad stand behind those that are perhaps good (row a).
	if surely := m.probability(features(inContext, "ball")); surely != unknown {
		t.Errorf("a word in another place is another word: P is %v, want %v", surely, unknown)
	}
}

// As many good links as bad ones: the mean of the probabilities that Platt's fit
// gives them is a half, and they grow with the score.
func TestProbabilitiesUsePlattTargets(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var good, bad [][]feature
	for range 300 {
		var x []feature
		for _, w := range []string{"one", "two", "three", "four", "five"} {
			if rng.IntN(2) == 0 {
				x = append(x, features(inAnchor, w)...)
			}
		}
		if slices.Contains(x, featureOf(inAnchor, "one")) == (rng.IntN(5) > 0) {
			good = append(good, x)
		} else {
			bad = append(bad, x)
		}
	}
	n := min(len(good), len(bad))
	good, bad = good[:n], bad[:n]
	s := newApprentice().(*apprentice)
	m := s.train(good, bad, rng)
	sum := 0.0
	for _, x := range slices.Concat(good, bad) {
		sum += m.probability(x)
	}
	if mean := sum / float64(2*n); math.Abs(mean-0.5) > 1e-4 {
		t.Errorf("the mean probability is %v, want ½", mean)
	}
	// Four of five links with "one" are good, one of five without.
	with, without := m.probability(features(inAnchor, "one")), m.probability(nil)
	if math.Abs(with-0.8) > 0.1 || math.Abs(without-0.2) > 0.1 {
		t.Errorf("P is %v with the word and %v without, want about 0.8 and 0.2", with, without)
	}
}

func TestVocabularyHasMostFrequentWordsOfEachPlace(t *testing.T) {
	good, bad := lessons(3)
	links := slices.Concat(good, bad)
	for i := range links {
		links[i] = append(links[i], features(inURL, "html", []string{"x", "y", "y", "z", "z", "z"}[i])...)
	}
	for _, test := range []struct {
		around, url, anchor int
		want                []feature
	}{
		{100, 150, 150, slices.Concat(features(inURL, "html", "y", "z"), features(inAnchor, "crawl", "ball", "page"))}, // "once" and x are rarer than 2
		{100, 2, 1, slices.Concat(features(inURL, "html", "z"), features(inAnchor, "page"))},
		{0, 0, 0, nil},
	} {
		s := &apprentice{Around: test.around, Path: test.url, Texts: test.anchor}
		if got := s.vocabulary(links); !slices.Equal(got, unique(test.want, 0)) {
			t.Errorf("%d, %d, %d: %x, want %x", test.around, test.url, test.anchor, got, test.want)
		}
	}
}

// Links that do not differ cannot be learned from.
func TestModelWithoutSlopeIsDiscarded(t *testing.T) {
	s := newApprentice().(*apprentice)
	same := [][]feature{features(inAnchor, "page"), features(inAnchor, "page"), features(inAnchor, "page")}
	if m := s.train(same, same, rand.New(rand.NewPCG(1, 1))); m.ready() {
		t.Errorf("a model of slope %v", m.slope)
	}
}

func TestModelRoundTrip(t *testing.T) {
	s := newApprentice().(*apprentice)
	good, bad := lessons(9)
	m := s.train(good, bad, rand.New(rand.NewPCG(1, 1)))
	var back linkModel
	transfer(t, nil, m.code, back.code)
	for _, x := range slices.Concat(good, bad) {
		if got, want := back.probability(x), m.probability(x); got != want {
			t.Errorf("P is %v, want %v", got, want)
		}
	}
	if want := millionths(fitness.Sigmoid(m.slope*m.bias + m.intercept)); back.probability(nil) != want {
		t.Errorf("P of no words is %v, want %v", back.probability(nil), want)
	}
}

// All links stay in the sample with the same probability, regardless of their order.
func TestSampleIsUniform(t *testing.T) {
	const size, n, runs = 10, 40, 4000
	rng := rand.New(rand.NewPCG(4, 4))
	count := make([]float64, n)
	for range runs {
		var k sample
		kept := make([]int, 0, size)
		for i := range n {
			switch slot := k.draw(size, rng); {
			case slot == len(kept)+1:
				kept, k.links = append(kept, i), append(k.links, nil)
			case slot > 0:
				kept[slot-1] = i
			}
			k.seen++
		}
		for _, i := range kept {
			count[i]++
		}
	}
	chi, want := 0.0, float64(runs*size)/n
	for _, c := range count {
		chi += (c - want) * (c - want) / want
	}
	if chi > 72.05 { // 39 degrees of freedom, 0.001
		t.Errorf("kept %v times, χ² = %.1f", count, chi)
	}
}
