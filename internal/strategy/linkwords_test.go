package strategy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

func features(in place, words ...string) (f []feature) {
	for _, w := range words {
		f = append(f, featureOf(in, w))
	}
	return unique(f, 0)
}

func TestLinkFeaturesAreStemsByPlace(t *testing.T) {
	var w linkWords
	w.aim(target(t))
	for _, test := range []struct {
		in   place
		s    string
		want []string
	}{
		{inAnchor, "Focused Crawling, crawling", []string{"focus", "crawl"}},
		{inAnchor, "the of and", nil},
		{inAnchor, "", nil},
		{inContext, "a list\nof crawlers", []string{"list", "crawler"}},
		{inURL, pathAndQuery("http://a.test/Papers/web%20crawlers.html?id=12345&year=2018"), []string{"paper", "web", "crawler", "html", "id", "year", "2018"}},
		{inURL, pathAndQuery("http://papers.test/"), nil}, // the host is not read
		{inURL, pathAndQuery("http://a.test/100%"), []string{"100"}},
		{inURL, pathAndQuery("no address"), nil},
	} {
		got := w.stems(nil, test.in, test.s, readContext)
		if want := features(test.in, test.want...); !slices.Equal(got, want) {
			t.Errorf("%q: %x, want %x of %q", test.s, got, want, test.want)
		}
		for _, f := range got {
			if f.place() != test.in {
				t.Errorf("%q: a feature in place %d, want %d", test.s, f.place(), test.in)
			}
		}
	}
}

func TestHugeAnchorIsBounded(t *testing.T) {
	var w linkWords
	w.aim(target(t))
	if got := w.stems(nil, inAnchor, strings.Repeat("é", readAnchor), readAnchor); len(got) != 0 {
		t.Errorf("a word longer than words are: %x", got)
	}
	var many strings.Builder
	for i := range 1000 {
		many.WriteString(strings.Repeat(string(rune('a'+i%26)), 2+i/26) + " ")
	}
	if got := w.stems(nil, inContext, many.String(), readContext); len(got) > maxWords {
		t.Errorf("%d words, want %d at most", len(got), maxWords)
	}
	if got := clip("aéé", 2); got != "a" {
		t.Errorf("a torn character: %q", got)
	}
}

func TestAddressTokens(t *testing.T) {
	for _, test := range []struct {
		path string
		want []string
	}{
		{"Products/item-4711.html", []string{"products", "item", "[NUMBER]", "html"}},
		{"a/bc/def?x=1", []string{"def", "[NUMBER]"}}, // two letters are not enough
		{"v2beta/v3beta", []string{"v0beta"}},
		{"", nil},
	} {
		if got := addressTokens(nil, test.path); !slices.Equal(got, features(inURL, test.want...)) {
			t.Errorf("%q: %x, want those of %q", test.path, got, test.want)
		}
	}
}

func TestFeaturesOfDroppedLinksAreReleased(t *testing.T) {
	var l linkStore
	for id := range graph.ID(100) {
		l.add(id, []feature{feature(id), feature(id + 1000)})
	}
	for id := range graph.ID(70) {
		l.gone = append(l.gone, id, id) // twice is once
	}
	l.dropGone()
	for id := range graph.ID(100) {
		want := []feature{feature(id), feature(id + 1000)}
		if id < 70 {
			want = nil
		}
		if got := l.of(id); len(got) != len(want) || !l.has(id) || len(got) > 0 && !slices.Equal(got, want) {
			t.Errorf("link %d: %v, want %v", id, got, want)
		}
	}
}

// transfer writes a delta and reads it elsewhere.
func transfer(t *testing.T, web *graph.Graph, from, to func(*codec)) {
	t.Helper()
	c := codec{web: web}
	from(&c)
	c.reading = true
	if to(&c); c.bad || len(c.b) > 0 {
		t.Fatalf("bad %v, %d bytes left", c.bad, len(c.b))
	}
}

func TestLinkStoreRoundTrip(t *testing.T) {
	var live, back linkStore
	var m memory
	for id := range 10 {
		m.web.Intern(address(string(rune('a' + id))))
	}
	for id := range graph.ID(10) {
		live.add(id, features(inAnchor, strings.Split("abcdefghij"[:id], "")...))
		transfer(t, &m.web, live.code, back.code)
		back.dropGone()
		if !slices.Equal(back.of(id), live.of(id)) {
			t.Errorf("link %d: %v, want %v", id, back.of(id), live.of(id))
		}
	}
}

func aimedApprentice(t *testing.T) *apprentice {
	s := newStrategy(t, "apprentice", target(t), nil)
	return s.(*apprentice)
}

// A failed address may be tried again, and is an example when it is fetched.
func TestFeaturesOfFailedLinksAreKept(t *testing.T) {
	s := aimedApprentice(t)
	outcomes := []*wire.Record{
		{URL: address("a"), StatusCode: 200, Links: []wire.Link{{URL: address("b"), Anchor: "crawlers"}}},
		{URL: address("b"), Error: wire.ErrorTimeout},
		{URL: address("b"), StatusCode: 200, Relevant: wire.True},
	}
	back := aimedApprentice(t)
	for g, rec := range outcomes {
		s.Visit(rec)
		s.Breed(1, rand.New(rand.NewPCG(1, uint64(g))))
		if err := back.Replay(s.AppendDelta(nil)); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []sample{s.kinds[1], back.kinds[1]} {
		if want := features(inAnchor, "crawler"); len(k.links) != 1 || !slices.Equal(k.links[0], want) {
			t.Errorf("examples %x, want one: %x", k.links, want)
		}
	}
	if id, _ := s.web.Find(address("b")); len(s.links.of(id)) > 0 {
		t.Error("the features are kept although the page was fetched")
	}
}
