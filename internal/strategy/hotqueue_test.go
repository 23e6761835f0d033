package strategy

import (
	"strings"
	"testing"

	"spoor/internal/wire"
)

// A titled is a tiny web whose pages have titles and whose links have anchors: "title; link=anchor …".
// A hyphen of an anchor is a space.
type titled map[string]string

func (w titled) fetch(a Address, _ int) *wire.Record {
	rec := new(wire.Record)
	a.Fill(rec, 1)
	title, links, _ := strings.Cut(w[name(a.URL)], ";")
	rec.StatusCode, rec.Title = 200, title
	for word := range strings.FieldsSeq(links) {
		to, anchor, _ := strings.Cut(word, "=")
		rec.Links = append(rec.Links, wire.Link{URL: address(to), Anchor: strings.ReplaceAll(anchor, "-", " ")})
	}
	return rec
}

// The topic is "genetic crawler". Of a's links, c has a word in its anchor and d in its address; b and
// e wait in the other queue. c is hot by its title, so f is at distance 1, h at 2, and i at 3, which is
// too far. e, which c also has, stays in its queue; but when e is fetched, it is at distance 1, and its
// j at 2.
//
// Without distances only c and d are in the hot queue.
func TestHotQueueByHand(t *testing.T) {
	w := titled{
		"a": "garden; b=stone c=A-genetic-house d.test/Crawlers e",
		"c": "A crawler; f e", "f": "; h", "h": "; i", "e": "bread; j",
	}
	for _, test := range []struct{ params, want string }{
		{"", "a c d.test/Crawlers f h b e j i"},
		{"distance=2", "a c d.test/Crawlers f b e h j i"},
		{"distance=0", "a c d.test/Crawlers b e f j h i"},
	} {
		want := []string{"a seed"}
		for _, page := range strings.Fields(test.want)[1:] {
			want = append(want, page+" link")
		}
		check(t, crawl(t, w, "hotqueue", strings.Fields(test.params), 1, 10, "a"), append(want, ""))
	}
	s := newStrategy(t, "hotqueue", target(t), nil)
	for _, a := range seeds("a", "c", "f") {
		s.Visit(w.fetch(a, 1))
	}
	check(t, described(s.Breed(3, nil)), []string{
		"d.test/Crawlers link -4 via a hot=1 value=-3",
		"h link -5 via f distance=2 hot=1 value=-6",
		"b link -6 via a hot=0 value=-1",
	})
}

// A page is hot by one word in its title, or ten in its text.
func TestHotQueuePages(t *testing.T) {
	for _, test := range []struct {
		title, text string
		want        float64
	}{
		{"Genetics and crawlers", "", 1},
		{"house", strings.Repeat("genetic crawler ", 5), 1},
		{"house", strings.Repeat("genetic crawler ", 4) + "genetic", 0},
		{"house", strings.Repeat("garden ", 20), 0},
	} {
		s := newStrategy(t, "hotqueue", target(t), nil)
		s.Visit(&wire.Record{URL: address("a"), StatusCode: 200, Title: test.title, Text: test.text, Links: []wire.Link{{URL: address("b")}}})
		if next := s.Breed(1, nil); len(next) != 1 || reason(t, next[0], "hot") != test.want {
			t.Errorf("%q, %q: %v, want hot=%v", test.title, test.text, next, test.want)
		}
	}
}

// a, b and c have the same rank r. z gets r/3 of a and r of c, w gets r of b, and x and y r/3 of a.
// Two pages link to z. The address of x has four slashes, those of the others three.
func TestHotQueueOrders(t *testing.T) {
	w := tiny{"a": "0 x/1/2 y z", "b": "0 w", "c": "0 z", "x/1/2": "0", "y": "0", "z": "0", "w": "0"}
	for order, want := range map[string]string{
		"breadthfirst": "x/1/2 link, y link, z link, w link",
		"backlink":     "z link, x/1/2 link, y link, w link",
		"location":     "y link, z link, w link, x/1/2 link",
		"pagerank":     "z link, w link, x/1/2 link, y link",
	} {
		check(t, crawl(t, w, "hotqueue", []string{"order=" + order}, 4, 2, "a", "b", "c"), []string{"a seed, b seed, c seed", want})
	}
}
