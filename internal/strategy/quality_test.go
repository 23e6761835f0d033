package strategy

import "testing"

// qualities is a web in which every policy has another order. The links of a have 0.5. After b
// (0.9), e has 0.9, and c also stands on b.
//
//	first  c keeps 0.5; e comes before it, then c, d (0.5); f (0.2), g (0.1)
//	min    c keeps 0.5; e (0.1) lowers d to 0.1: c (0.5) comes next, f (0.2), d, g (0.1)
//	max    b raises c to 0.9, as bestfirst: c comes before e; then e, d (0.5), f (0.2), g (0.1)
var qualities = tiny{"a": "0.5 b c d", "b": "0.9 c e", "c": "0.2 d f", "d": "0", "e": "0.1 d g", "f": "0", "g": "0"}

func TestQualityOfParents(t *testing.T) {
	for _, test := range []struct {
		strategy string
		params   []string
		want     string
	}{
		{"quality", nil, "abecdfg"},
		{"quality", []string{"policy=min"}, "abecfdg"},
		{"bestfirst", nil, "abcedfg"},
	} {
		want := []string{"a seed"}
		for _, page := range test.want[1:] {
			want = append(want, string(page)+" link")
		}
		check(t, crawl(t, qualities, test.strategy, test.params, 1, 8, "a"), append(want, ""))
	}
}

// The reason is the quality of the page that gives the priority. This page is via.
func TestQualityIsAReason(t *testing.T) {
	w := anchored{"a": "0.5 b c", "d": "0.25 c e"}
	for _, test := range []struct {
		policy string
		want   []string
	}{
		{"first", []string{"b link -3 via a quality=0.5", "c link -4 via a quality=0.5 of a d", "e link -5 via d quality=0.25"}},
		{"min", []string{"b link -3 via a quality=0.5", "c link -4 via d quality=0.25 of a d", "e link -5 via d quality=0.25"}},
	} {
		s := newStrategy(t, "quality", nil, []string{"policy=" + test.policy})
		check(t, described(w.generation(s, 3, 1, seeds("a", "d"))), test.want)
	}
}

// If links have the quality of their targets, the best targets come first: QOracle.
func TestQualityOfTargets(t *testing.T) {
	w := anchored{"a": "0.9 b=0.2 c=0.8 d=0.4", "b": "0.2", "c": "0.8 e=0.3", "d": "0.4", "e": "0.3 a=0.9"}
	check(t, crawl(t, w, "quality", []string{"policy=target"}, 1, 6, "a"), []string{
		"a seed", "c link", "d link", "e link", "b link", "",
	})
}
