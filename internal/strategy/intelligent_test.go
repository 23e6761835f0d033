package strategy

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"spoor/internal/wire"
)

// The seed s (cat) links to a, b, c and u. a and b are relevant, and c is not. a links to x, and c to y. So
// P(C) = ½, and its deviation is √(½ · ½) = ½. Words on at least two pages count if they are at least half
// a deviation over √n away:
//
//	cat    is on the first page with a link to a, b and c: n = 3, ⅔ relevant; (⅔ − ½) · √3 / ½ = 0.577, so
//	       it counts: I = (2 + ½) / (3 + 1) / ½ = 5/4
//	ski    is in the addresses of a and b, n = 2, all relevant: (2 + ½) / (2 + 1) / ½ = 5/3
//	golf   is in the address of c alone
//	test   is in all addresses: no deviation
//
// Links from irrelevant pages lead to a, b and c: 5/4; of links from relevant ones nothing is known: 1. s
// has three known links, and two are relevant: 5/4. a and c have none: 1.
//
//	     content  link    sibling  url
//	u    ln 5/4   ln 5/4  ln 5/4   ln 5/3
//	x    0        0       0        0
//	y    0        ln 5/4  0        0
//
// In each column all that are not 0 are equal, so each is 1 when it is divided by their mean.
func TestInterestRatiosByHand(t *testing.T) {
	s := made[*intelligent](t, "intelligent", "every=4", "significance=0.5")
	urls := map[string]string{"s": "http://start.test/", "a": "http://alpha.test/ski", "b": "http://beta.test/ski", "c": "http://zeta.test/golf",
		"u": "http://gamma.test/ski", "x": "http://delta.test/", "y": "http://epsilon.test/"}
	visit := func(page, text string, relevant bool, links ...string) {
		rec := &wire.Record{V: 1, URL: urls[page], StatusCode: 200, Text: text, Score: wire.Num(0.1), Relevant: wire.False}
		if relevant {
			rec.Relevant = wire.True
		}
		for _, l := range links {
			rec.Links = append(rec.Links, wire.Link{URL: urls[l]})
		}
		s.Visit(rec)
	}
	visit("s", "cat", false, "a", "b", "c", "u")
	visit("a", "ant", true, "x")
	visit("b", "ant", true)
	visit("c", "bee", false, "y")
	next := s.Breed(9, nil)
	var got []string
	for _, a := range next {
		line := []string{a.URL, fmt.Sprintf("%.4f", a.Priority)}
		for _, name := range evidenceNames {
			line = append(line, fmt.Sprintf("%s=%.4f", name, reason(t, a, name)))
		}
		got = append(got, strings.Join(line, " "))
	}
	check(t, got, []string{
		"http://gamma.test/ski 4.0000 content=1.0000 link=1.0000 sibling=1.0000 url=1.0000",
		"http://epsilon.test/ 1.0000 content=0.0000 link=1.0000 sibling=0.0000 url=0.0000",
		"http://delta.test/ 0.0000 content=0.0000 link=0.0000 sibling=0.0000 url=0.0000",
	})
	for word, want := range map[feature]float64{
		featureOf(inContext, "cat"): 1.25, featureOf(inURL, "ski"): 5. / 3, featureOf(inURL, "golf"): 1,
		featureOf(inURL, "test"): 1, featureOf(inContext, "ant"): 1,
	} {
		if got := math.Exp(s.model.index[word]); !equals(got, want) {
			t.Errorf("I of %x is %v, want %v", word, got, want)
		}
	}
}

// A weight of 0 takes a kind of evidence out.
func TestEvidenceHasWeights(t *testing.T) {
	w := rescored{worded{random(120, 8)}}
	for k, kind := range evidenceNames {
		s := made[*intelligent](t, "intelligent", "every=5", "significance=0.5", kind+"=0")
		batch := seeds("0", "1", "2")
		others := 0.0
		for g := range 8 {
			for _, a := range batch {
				s.Visit(w.fetch(a, g))
			}
			batch = s.Breed(8, nil)
			for _, a := range batch {
				if s.model.share == 0 {
					continue
				}
				for i, name := range evidenceNames {
					if r := reason(t, a, name); i == k && r != 0 {
						t.Errorf("%s=0, but the reason is %v", kind, r)
					} else {
						others += math.Abs(r)
					}
				}
			}
		}
		if others == 0 {
			t.Errorf("%s=0: nothing counts", kind)
		}
	}
}
