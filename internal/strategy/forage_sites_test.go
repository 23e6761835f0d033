package strategy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spoor/internal/relevance"
	"spoor/internal/testfile"
	"spoor/internal/wire"
)

// Lines on half of the pages of a site are menus from the third page on; other lines are not, and the
// same line on another site is not.
func TestMenus(t *testing.T) {
	s := newStrategy(t, "forage", target(t), nil).(*forage)
	visit := func(url, text string) {
		rec := &wire.Record{URL: "http://" + url, StatusCode: 200, Title: "garden", Text: text}
		s.Visit(rec)
	}
	words := func(place int) string {
		var list []string
		for _, c := range s.doc(place).Counts {
			list = append(list, s.terms.names.At(int(c.Term)))
		}
		slices.Sort(list)
		return strings.Join(list, " ")
	}
	text := func(n int) string {
		lines := []string{"crawler", "bread", "river" + strings.Repeat(" stone", n)}
		if n%2 == 1 {
			lines = append(lines, "winter")
		}
		if n%3 == 0 {
			lines = append(lines, "paper")
		}
		return strings.Join(lines, "\n")
	}
	for n := range 3 {
		s.settle()
		visit(fmt.Sprintf("a.test/%d", n), text(n))
		if words(0) != "bread crawler garden paper river" {
			t.Errorf("after a fit to %d pages the first has %s", n, words(0))
		}
	}
	s.settle()
	visit("b.test/", text(0))
	if words(0) != "garden paper river" || words(3) != "bread crawler garden paper river" {
		t.Errorf("after three pages the first has %s, and one of another site has %s", words(0), words(3))
	}
	for n := range 9 {
		visit(fmt.Sprintf("a.test/%d", n+3), text(n+3))
	}
	s.settle()
	// "winter" is on half of them, and on three from the sixth page on; "paper" is on a third.
	for place, want := range map[int]string{0: "garden paper river", 1: "garden river stone winter", 4: "garden paper river stone winter", 10: "garden paper river stone", 12: "garden river stone"} {
		if got := words(place); got != want {
			t.Errorf("page %d has %q, want %q", place, got, want)
		}
	}
	for place := range 13 {
		if lines := s.linesOf(place); (len(lines) > 0) != (place == 3) {
			t.Errorf("page %d has %d lines", place, len(lines))
		}
	}
}

// What is known of a site is bounded, whatever it sends, and its menus are known all the same.
func TestLinesOfASiteAreBounded(t *testing.T) {
	var s site
	menu := []uint32{1, 2, 3}
	for n := range 1000 {
		hashes := slices.Clone(menu)
		for i := range 600 {
			hashes = append(hashes, uint32(1000*n+i+10))
		}
		s.pages++
		s.count(hashes)
		if len(s.lines) > maxSiteLines || !slices.IsSortedFunc(s.lines, func(a, b siteLine) int { return a.compare(b.hash) }) {
			t.Fatalf("%d lines of %d pages", len(s.lines), s.pages)
		}
	}
	if got := s.menus(); !slices.Equal(got, menu) {
		t.Errorf("the menus are %d, want %d", got, menu)
	}
}

// A sited web has three sites whose menus have the words of the query. The relevant pages are on two. Each
// page has a copy: in a mirror, under a name with an ending, or with a parameter.
type sited struct{}

func (sited) fetch(a Address, generation int) *wire.Record {
	rec := new(wire.Record)
	a.Fill(rec, generation)
	rec.StatusCode, rec.Relevant = 200, wire.False
	host, rest, _ := strings.Cut(strings.TrimPrefix(a.URL, "http://"), "/")
	rest = strings.TrimSuffix(strings.TrimPrefix(rest, "~a/"), "?print=1")
	n := 0
	fmt.Sscanf(strings.TrimSuffix(rest, ".php"), "page/%d", &n)
	if host == "mirror.test" {
		host = "a.test"
	}
	rng := rand.New(rand.NewPCG(uint64(host[0]), uint64(n)))
	rec.Title = someOf(rng, gardenWords, 3)
	own := someOf(rng, gardenWords, 40)
	if host != "c.test" && n%5 == 0 {
		own += " " + someOf(rng, topicWords, 10) + " " + someOf(rng, queryWords, 4)
	}
	rec.Text = "genetic crawler\nhome\nabout the genetic crawler\n" + own + "\nfooter"
	rec.Simhash = fmt.Sprintf("%016x", fnv64(host+rec.Text))
	for range 6 {
		to := rng.IntN(200)
		copies := map[string]string{"a.test": "mirror.test/~a/page/%d", "b.test": "b.test/page/%d.php", "c.test": "c.test/page/%d?print=1"}
		for _, form := range []string{host + "/page/%d", copies[host]} {
			rec.Links = append(rec.Links, wire.Link{URL: "http://" + fmt.Sprintf(form, to), Anchor: someOf(rng, gardenWords, 2)})
		}
	}
	for _, other := range []string{"a.test", "b.test", "c.test"} {
		rec.Links = append(rec.Links, wire.Link{URL: fmt.Sprintf("http://%s/page/%d", other, rng.IntN(200)), Anchor: "genetic crawler"})
	}
	return rec
}

// An example is found by each address of its page, if the page belongs to the last fit.
func TestNamed(t *testing.T) {
	s := newStrategy(t, "forage", target(t), nil).(*forage)
	for g, a := range seeds("a.test/", "b.test/x") {
		rec := sited{}.fetch(a, g)
		rec.URL = a.URL
		if g == 1 {
			rec.FinalURL = "http://b.test/y"
		}
		s.Visit(rec)
	}
	s.teach(map[string]bool{"http://a.test/": false, "http://b.test/y": true, "http://c.test/": true})
	for pages, want := range []map[int]relevance.Named{{}, {0: relevance.Irrelevant}, {0: relevance.Irrelevant, 1: relevance.Relevant}} {
		s.at.pages = pages
		if got := s.named(); !maps.Equal(got, want) {
			t.Errorf("of %d pages are named %v, want %v", pages, got, want)
		}
	}
}

// Examples change what is proposed, and a crawl that is restored and given them proposes the same, whatever
// happens to the named addresses after the last fit.
func TestExamplesChangeProposals(t *testing.T) {
	const generations, size, since = 100, 3, 90
	// crawled returns the proposals since then. After change, the records of early pages are visited again.
	crawled := func(t *testing.T, taught bool, change func(rec *wire.Record, early string), again int) (proposals string) {
		topic := target(t)
		live := newStrategy(t, "forage", topic, nil)
		var deltas [][]byte
		var fetched []Address
		examples := map[string]bool{"http://nowhere.test/": true}
		for n := range 200 { // most were not fetched before they are named
			examples[fmt.Sprintf("http://%c.test/page/%d", 'a'+n%3, n)] = n%5 == 0
		}
		next := seeds("c.test/page/1", "a.test/page/1", "b.test/page/1")
		for g := 1; g <= generations; g++ {
			visitors := []Strategy{live}
			if g >= since {
				restored := newStrategy(t, "forage", topic, nil)
				for _, d := range deltas {
					testfile.Check(t, restored.Replay(d))
				}
				visitors = append(visitors, restored)
			}
			if taught && g >= since {
				for _, s := range visitors {
					Teach(s, examples)
				}
			}
			fetches := next
			if g >= since {
				fetches = slices.Concat(next, fetched[g-since:g-since+again])
			} else {
				fetched = append(fetched, next...)
			}
			for _, a := range fetches {
				rec := sited{}.fetch(a, g)
				if g >= since {
					change(rec, fetched[g].URL)
				}
				for _, s := range visitors {
					s.Visit(rec)
				}
			}
			next = live.Breed(size, rand.New(rand.NewPCG(1, uint64(g))))
			if g >= since {
				if again := visitors[1].Breed(size, rand.New(rand.NewPCG(1, uint64(g)))); fmt.Sprint(next) != fmt.Sprint(again) {
					t.Fatalf("generation %d proposes\n%v\nand, restored,\n%v", g, next, again)
				}
				proposals += fmt.Sprint(next)
			}
			deltas = append(deltas, live.AppendDelta(nil))
		}
		return proposals
	}
	same := func(*wire.Record, string) {}
	if crawled(t, false, same, 0) == crawled(t, true, same, 0) {
		t.Error("the examples have changed nothing")
	}
	t.Run("redirects", func(t *testing.T) {
		crawled(t, true, func(rec *wire.Record, early string) { rec.FinalURL = early }, 0)
	})
	t.Run("fetched again", func(t *testing.T) { crawled(t, true, same, 1) })
}

// A crawl fetches few copies, and little from a site whose pages have the words of the query only in
// menus. One that is restored goes on in the same way.
func TestForageOnSitesWithMenusAndCopies(t *testing.T) {
	const generations, size, perDelta = 40, 10, 3
	topic := target(t)
	live := newStrategy(t, "forage", topic, nil)
	var deltas [][]byte
	known, onC, copies, fetches := map[string]bool{}, 0, 0, 0
	next := seeds("c.test/page/1", "a.test/page/1", "b.test/page/1")
	for g := 1; g <= generations; g++ {
		restored := newStrategy(t, "forage", topic, nil)
		for _, d := range deltas {
			if err := restored.Replay(d); err != nil {
				t.Fatal(err)
			}
		}
		for _, a := range next {
			rec := sited{}.fetch(a, g)
			fetches++
			if known[rec.Simhash] {
				copies++
			}
			known[rec.Simhash] = true
			if strings.HasPrefix(a.URL, "http://c.test") {
				onC++
			}
			live.Visit(rec)
			restored.Visit(rec)
		}
		next = live.Breed(size, rand.New(rand.NewPCG(1, uint64(g))))
		if again := restored.Breed(size, rand.New(rand.NewPCG(1, uint64(g)))); g%perDelta == 1 && fmt.Sprint(next) != fmt.Sprint(again) {
			t.Fatalf("generation %d proposes\n%v\nand, restored,\n%v", g, next, again)
		}
		if g%perDelta == 0 {
			deltas = append(deltas, live.AppendDelta(nil))
		}
	}
	t.Logf("%d fetches, %d copies, %d on the site with menus only", fetches, copies, onC)
	if held := Copies(live); held < 20 {
		t.Errorf("%d copies are held back", held)
	}
	if fetches < 250 || copies > 12 || onC > fetches/5 {
		t.Errorf("%d fetches, %d copies, %d on the site with menus only", fetches, copies, onC)
	}
}

// Each part of forage that can be omitted changes the crawl, and without the rules for menus and copies it
// fetches more pages of the site with menus only, and more copies.
func TestPartsOfForageCanBeOmitted(t *testing.T) {
	type outcome struct {
		onC, copies int
		fetched     string
	}
	crawled := func(params ...string) (o outcome) {
		s := newStrategy(t, "forage", target(t), params)
		known := map[string]bool{}
		next := seeds("c.test/page/1", "a.test/page/1", "b.test/page/1")
		for g := 1; g <= 25; g++ {
			for _, a := range next {
				rec := sited{}.fetch(a, g)
				if known[rec.Simhash] {
					o.copies++
				}
				known[rec.Simhash] = true
				if strings.HasPrefix(a.URL, "http://c.test") {
					o.onC++
				}
				o.fetched += a.URL + " "
				s.Visit(rec)
			}
			next = s.Breed(10, rand.New(rand.NewPCG(1, uint64(g))))
		}
		return o
	}
	whole := crawled()
	for _, param := range []string{"ignore-menus=false", "skip-copies=false", "trust-seeds=false", "feedback=0", "background=false"} {
		o := crawled(param)
		t.Logf("%s: %d copies (%d), %d on the site with menus only (%d)", param, o.copies, whole.copies, o.onC, whole.onC)
		if o.fetched == whole.fetched {
			t.Errorf("%s changes nothing", param)
		}
		if param == "ignore-menus=false" && 3*o.onC < 4*whole.onC || param == "skip-copies=false" && o.copies < 2*whole.copies+10 {
			t.Errorf("%s: %d copies (%d), %d on the site with menus only (%d)", param, o.copies, whole.copies, o.onC, whole.onC)
		}
	}
}

// hamlets are many sites of few pages, whose menus are found while they are crawled.
type hamlets struct{}

func (hamlets) fetch(a Address, generation int) *wire.Record {
	rec := new(wire.Record)
	a.Fill(rec, generation)
	rec.StatusCode, rec.Relevant = 200, wire.False
	var host, n int
	fmt.Sscanf(a.URL, "http://h%d.test/%d", &host, &n)
	rng := rand.New(rand.NewPCG(uint64(host), uint64(n)))
	rec.Title = someOf(rng, gardenWords, 3)
	rec.Text = "genetic crawler\n" + someOf(rng, topicWords, 3) + "\n" + someOf(rng, gardenWords, 30)
	if host%3 == 0 {
		rec.Text += "\n" + someOf(rng, queryWords, 4)
	}
	for range 4 {
		for _, to := range []string{fmt.Sprintf("http://h%d.test/%d", host, rng.IntN(7)), fmt.Sprintf("http://h%d.test/%d", rng.IntN(150), rng.IntN(7))} {
			rec.Links = append(rec.Links, wire.Link{URL: to, Anchor: someOf(rng, gardenWords, 2)})
		}
	}
	return rec
}

// What a page is about depends on when the models were fitted, and not on whether the strategy was
// restored since.
func TestMenusFoundBetweenFits(t *testing.T) {
	const generations, size = 40, 6
	topic := target(t)
	live := newStrategy(t, "forage", topic, nil)
	var deltas [][]byte
	next := seeds("h1.test/0", "h2.test/0", "h3.test/0")
	for g := 1; g <= generations; g++ {
		var restored Strategy
		if g > 20 { // the models are no longer fitted in every generation
			restored = newStrategy(t, "forage", topic, nil)
			for _, d := range deltas {
				if err := restored.Replay(d); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, a := range next {
			rec := hamlets{}.fetch(a, g)
			live.Visit(rec)
			if restored != nil {
				restored.Visit(rec)
			}
		}
		next = live.Breed(size, rand.New(rand.NewPCG(1, uint64(g))))
		if restored != nil {
			if again := restored.Breed(size, rand.New(rand.NewPCG(1, uint64(g)))); fmt.Sprint(next) != fmt.Sprint(again) {
				t.Fatalf("generation %d proposes\n%v\nand, restored,\n%v", g, next, again)
			}
		}
		deltas = append(deltas, live.AppendDelta(nil))
	}
}
