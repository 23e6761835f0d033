package strategy

import "testing"

func TestDepthFirstFollowsTheLastPage(t *testing.T) {
	check(t, crawl(t, diamond, "depthfirst", nil, 1, 7, "a"), []string{
		"a seed",
		"b link", // before c: the first link of a
		"d link", // c was discovered by a
		"c link",
		"e link",
		"f link",
		"",
	})
	check(t, crawl(t, diamond, "depthfirst", nil, 2, 5, "a"), []string{
		"a seed",
		"b link, c link",
		"e link, f link", // of c, which was fetched after b
		"d link",
		"",
	})
}

// An address that three pages link to was discovered by the first of them.
func TestDepthFirstDiscoversAddressOnce(t *testing.T) {
	w := tiny{"a": "0 b x y", "b": "0 y c x", "c": "0 x d", "d": "0", "x": "0", "y": "0"}
	check(t, crawl(t, w, "depthfirst", nil, 1, 7, "a"), []string{
		"a seed", "b link", "c link", "d link", "x link", "y link", "",
	})
}
