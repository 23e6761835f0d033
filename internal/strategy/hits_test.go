package strategy

import "testing"

// Two pages: p links to three, q to one. AᵀA falls apart: for p's links, with the
// weight w of p, it has the eigenvalue 3w², for q's link w². Plain, that is 3 against 1,
// and after 30 iterations q as a hub is 3⁻³⁰ of p. Guarded, it is 3·0.1² = 0.03 against
// 0.9² = 0.81, and p is nothing.
//
// r links to its own site only, and would win with 4·1² otherwise. It is left out by
// the guard, and its links come last, in the order of their discovery.
var camps = tiny{
	"p": "0.1 x y z", "q": "0.9 u", "x": "0", "y": "0", "z": "0", "u": "0",
	"r": "1 r.test/1 r.test/2 r.test/3 r.test/4",
}

func TestHITSGuard(t *testing.T) {
	for _, test := range []struct {
		params []string
		seeds  []string
		want   []string
	}{
		{[]string{"guard=false"}, []string{"p", "q"}, []string{"p seed, q seed", "x link, y link", "z link, u link", ""}},
		{nil, []string{"p", "q"}, []string{"p seed, q seed", "u link, x link", "y link, z link", ""}},
		{[]string{"guard=false"}, []string{"p", "r"}, []string{
			"p seed, r seed", "r.test/1 link, r.test/2 link", "r.test/3 link, r.test/4 link", "x link, y link"}},
		{nil, []string{"p", "r"}, []string{
			"p seed, r seed", "x link, y link", "z link, r.test/1 link", "r.test/2 link, r.test/3 link"}},
	} {
		check(t, crawl(t, camps, "hits", test.params, 2, 4, test.seeds...), test.want)
	}
}

// Where all links are within a host, those of the better page come first, although it
// was fetched last.
func TestHITSOneHost(t *testing.T) {
	w := tiny{"h/a": "0.2 h/x", "h/b": "0.7 h/y"}
	check(t, crawl(t, w, "hits", nil, 2, 3, "h/a", "h/b"), []string{
		"h/a seed, h/b seed", "h/y link, h/x link", "",
	})
}

// A link from where a redirect ends to the same host recommends nothing either.
func TestHITSHostBehindRedirect(t *testing.T) {
	w := tiny{"old": "> www/", "www/": "1 www/1 www/2", "q": "0.5 x"}
	check(t, crawl(t, w, "hits", nil, 2, 2, "old", "q"), []string{
		"old seed, q seed", "x link, www/1 link",
	})
}

// Hubs are worked out after 25 fetches, and with every=1 after each. b, which was
// fetched since, links to nothing worth anything before that.
func TestHITSIsRecomputedAtIntervals(t *testing.T) {
	w := tiny{"a": "0.5 b c d", "b": "1 e f g h", "c": "0"}
	check(t, crawl(t, w, "hits", nil, 1, 3, "a"), []string{"a seed", "b link", "c link"})
	check(t, crawl(t, w, "hits", []string{"every=1"}, 1, 3, "a"), []string{"a seed", "b link", "e link"})
}
