package strategy

import (
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"spoor/internal/wire"
)

// By hand, one page a generation; the number of pages that link to what waits:
//
//	a fetched   b 1, c 1, d 1          b was discovered first
//	b fetched   d 2, c 1, e 1
//	d fetched   e 2, c 1, f 1          its link to itself is none
//	e fetched   f 2, c 1               two links of one page are one
//	f fetched   c 1
func TestInDegreeOrder(t *testing.T) {
	w := tiny{"a": "0 b c d", "b": "0 d e", "c": "0", "d": "0 e f d", "e": "0 f f", "f": "0"}
	check(t, crawl(t, w, "indegree", nil, 1, 7, "a"), []string{
		"a seed", "b link", "d link", "e link", "f link", "c link", "",
	})
}

func TestAddressNamesItsParents(t *testing.T) {
	w := tiny{"a": "0.1 x y", "b": "0.9 x"}
	s := newInDegree()
	for _, a := range seeds("a", "b") {
		s.Visit(w.fetch(a, 1))
	}
	got := s.Breed(5, rand.New(rand.NewPCG(1, 1)))
	want := []Address{
		{URL: address("x"), Via: address("b"), Parents: []string{address("a"), address("b")}, Operator: opLink,
			Depth: 1, Priority: -3, Reasons: []wire.Scored{{Name: "indegree", Value: 2}}},
		{URL: address("y"), Via: address("a"), Operator: opLink,
			Depth: 1, Priority: -4, Reasons: []wire.Scored{{Name: "indegree", Value: 1}}},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}
