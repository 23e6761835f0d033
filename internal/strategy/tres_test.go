package strategy

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"spoor/internal/wire"
)

// The seed a.test is relevant. It links to a page of its host and to b.test, which is irrelevant and
// links to c.test and, once more, to the page of a.test.
//
// The state of the links of a: its page is relevant, the distance is 1, the path has one relevant page
// of one. Those of b: irrelevant, distance 2, one of two. The link that both have keeps the better
// state, of a. The state of the links of c, which is irrelevant: distance 3, so 1/3, one of three;
// both are rounded down to tenths.
//
// Of a.test one page of one is relevant; of b.test none; no page of d.test was requested.
//
// "genetic" and "crawler" are keywords, "web crawler" is a keyphrase, whose words are keywords, too.
func TestLinkFeaturesByHand(t *testing.T) {
	topic := topicOf(t, "en", "genetic")
	if err := topic.AddKeyword("web crawler", 1); err != nil {
		t.Fatal(err)
	}
	s := newStrategy(t, "tres", topic, nil).(*tres)
	link := func(url, anchor string) wire.Link { return wire.Link{URL: "http://" + url, Anchor: anchor} }
	w := taught{
		"http://a.test/": {score: 0.9, relevant: true, links: []wire.Link{link("a.test/crawlers.html", "more"), link("b.test/", "about genetics")}},
		"http://b.test/": {score: 0.1, links: []wire.Link{link("a.test/crawlers.html", "a web crawler"), link("b.test/x", "a web crawler"), link("c.test/", "crawlers of the web")}},
		"http://c.test/": {score: 0.1, links: []wire.Link{link("d.test/genetics", "")}},
	}
	for g, url := range []string{"http://a.test/", "http://b.test/", "http://c.test/"} {
		s.Visit(w.fetch(Address{URL: url}, g+1))
		s.Breed(0, rand.New(rand.NewPCG(1, uint64(g))))
	}
	for url, want := range map[string]vector{
		"a.test/crawlers.html": {100, 100, 100, 100, 0, 0, 100, 0},
		"b.test/x":             {0, 50, 50, 0, 100, 100, 0, 0},
		"d.test/genetics":      {0, 30, 30, 100, 0, 0, 50, 100},
	} {
		id, known := s.web.Find("http://" + url)
		got := s.features(id)
		if p := got[promise]; p == 0 || p == 100 {
			t.Errorf("%s: promise %d", url, p)
		}
		if got[promise] = 0; !known || got != want {
			t.Errorf("%s has %v, want %v", url, got, want)
		}
	}
	// When b.test was followed, no page of it was known, and c.test was found with a phrase's words apart.
	b, c := s.followed[1], s.followed[2]
	if want := (vector{100, 100, 100, 0, 100, 0, 50, 100, b[promise]}); b != want {
		t.Errorf("b.test was followed with %v, want %v", b, want)
	}
	if want := (vector{0, 50, 50, 0, 100, 0, 50, 100, c[promise]}); c != want {
		t.Errorf("c.test was followed with %v, want %v", c, want)
	}
	// The actions of b: its links in its own state; c.test as it was when it was followed.
	got := s.actions(1)
	for i := range got {
		got[i][promise] = 0
	}
	if want := []vector{{0, 50, 50, 100, 0, 0, 100, 0}, {0, 50, 50, 0, 100, 100, 0, 0}, {0, 50, 50, 0, 100, 0, 50, 100}}; !slices.Equal(got, want) {
		t.Errorf("the links of b.test are the actions\n%v, want\n%v", got, want)
	}
}

// Nothing is relevant: there is no distance to the last relevant page. A path that begins with 11
// pages of which 10 are relevant has a share of 0.9.
func TestStateOfPaths(t *testing.T) {
	s := made[*tres](t, "tres")
	for _, test := range []struct {
		path path
		want [stateFeatures]uint8
	}{
		{path{length: 4}, [stateFeatures]uint8{0, 0, 0}},
		{path{length: 11, relevant: 10, distance: 2}, [stateFeatures]uint8{0, 50, 90}},
		{path{length: 40, relevant: 3, distance: 11}, [stateFeatures]uint8{0, 0, 0}},
		{path{length: 3, relevant: 2, distance: 3}, [stateFeatures]uint8{0, 30, 60}},
	} {
		s.pages, s.paths = []page{{}}, []path{test.path}
		if got := s.state(0); got != test.want {
			t.Errorf("%+v has the state %v, want %v", test.path, got, test.want)
		}
	}
}

// Links in two leaves, by promise up to 0.5 and above. Q is 1 − λ(λ(promise)). The leaf of 0.1 and 0.4
// yields either, and both are better than those of 0.6. Without the network, each leaf is as likely,
// however many links it has.
func TestOneLinkOfEachLeafIsCompared(t *testing.T) {
	count := map[string]int{}
	for _, warmup := range []int{0, 9} {
		s := made[*tres](t, "tres", fmt.Sprintf("warmup=%d", warmup))
		q := &s.learner.online
		q[promise], q[firstW2], q[firstW3], q[bias3] = 1, 1, -1, 1
		for seed := range uint64(600) {
			s.tree.nodes = []treeNode{{feature: promise, value: 50, left: 1}, {}, {}}
			for i, p := range []uint8{60, 60, 60, 60, 10, 40} {
				c := candidate{x: vector{promise: p}}
				c.id = s.web.Intern(address(fmt.Sprint(i)))
				n := &s.tree.nodes[s.tree.leaf(c.x)]
				n.waiting = append(n.waiting, c)
			}
			s.hosts.fit(&s.web)
			left := slices.Repeat([]int{1}, len(s.hosts.number))
			c, ok := s.choose(left, rand.New(rand.NewPCG(seed, 1)))
			if !ok || c.leaves != 2 || c.random != (warmup > 0) {
				t.Fatalf("chose %+v, %v", c, ok)
			}
			if n := len(s.tree.nodes[1].waiting) + len(s.tree.nodes[2].waiting); n != 5 {
				t.Fatalf("%d links are left, want 5", n)
			}
			if warmup == 0 {
				count[fmt.Sprintf("q %.1f", c.q)]++
			} else {
				count[fmt.Sprintf("leaf %d", c.leaf)]++
			}
		}
	}
	if len(count) != 4 {
		t.Errorf("chosen: %v, want Q of 0.6 and 0.9, and both leaves", count)
	}
	for what, n := range count {
		if n < 240 {
			t.Errorf("%s was chosen %d times of 600, want about half", what, n)
		}
	}
}

// Trained with a target network that values every link at 2, Q is the reward plus half of that.
func TestTargetsAreRewardsAndDiscountedValues(t *testing.T) {
	s := made[*tres](t, "tres", "gamma=0.5", "warmup=0", "target=1000000", "rate=0.01")
	w := taught{}
	for i := range 20 { // relevant pages with anchors "crawler", irrelevant ones with "football"; all link to a page with "end"
		for k, anchor := range []string{"crawler", "football"} {
			url := address(fmt.Sprintf("%s%d", anchor, i))
			w[url] = taughtPage{relevant: k == 0, score: float64(1 - k), links: []wire.Link{{URL: address(fmt.Sprintf("end%d", i)), Anchor: "end"}}}
			list := w[address("list")]
			list.links = append(list.links, wire.Link{URL: url, Anchor: anchor})
			w[address("list")] = list
		}
	}
	rng := rand.New(rand.NewPCG(2, 2))
	batch := []Address{{URL: address("list")}}
	for g := 1; g <= 3; g++ {
		for _, a := range batch {
			s.Visit(w.fetch(a, g))
		}
		batch = s.Breed(40, rng)
	}
	s.learner.target = qNetwork{bias3: 2} // every link is worth 2
	for range 300 {
		s.train(rng)
	}
	seen := 0
	for at, p := range s.pages {
		want := 0.5 * 2
		if p.relevant {
			want++
		}
		if p.failed || at == 0 || len(w[s.web.URL(p.node)].links) == 0 {
			continue
		}
		seen++
		if q := s.learner.online.value(s.followed[at]); math.Abs(q-want) > 0.25 {
			t.Errorf("Q of the link to %s is %v, want %v", s.web.URL(p.node), q, want)
		}
	}
	if seen < 30 {
		t.Errorf("only %d pages were compared", seen)
	}
}

// A host has at most so many pages, with those that are pending.
func TestPagesOfAHostAreLimited(t *testing.T) {
	w := signposts()
	for _, limit := range []int{5, 0} {
		s := made[*tres](t, "tres", fmt.Sprintf("per-host=%d", limit))
		pages := map[string]int{}
		batch := []Address{{URL: "http://h0.test/l0"}}
		for g := 1; g <= 30; g++ {
			for i, a := range batch {
				var host string
				fmt.Sscanf(a.URL, "http://%7s", &host)
				pages[host]++
				if i%3 == 0 { // the others stay pending
					s.Visit(w.fetch(a, g))
				}
			}
			batch = s.Breed(6, rand.New(rand.NewPCG(1, uint64(g))))
		}
		if most := slices.Max(slices.Collect(maps.Values(pages))); limit > 0 && most != limit || limit == 0 && most < 10 {
			t.Errorf("limit %d: hosts have %v pages", limit, pages)
		}
	}
}

// Everything that a restored state has is what the original has: the network, and all that is derived
// from the outcomes.
func TestTRESIsRestored(t *testing.T) {
	live, back := made[*tres](t, "tres", "warmup=20"), made[*tres](t, "tres", "warmup=20")
	w := newRough(300, 1)
	for g := 1; g <= 40; g++ {
		for _, rec := range w.generation(6, g) {
			live.Visit(rec)
		}
		w.offer(live.Breed(5, rand.New(rand.NewPCG(1, uint64(g)))))
		if err := back.Replay(live.AppendDelta(nil)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range live.tree.nodes { // of the last Breed
		live.tree.nodes[i].waiting = nil
	}
	if len(live.tree.nodes) < 5 || len(live.buffer) < 30 {
		t.Fatalf("%d nodes and %d transitions are too few for a test", len(live.tree.nodes), len(live.buffer))
	}
	for name, pair := range map[string][2]any{
		"network": {live.learner, back.learner}, "hosts": {live.record, back.record}, "promise": {live.promise, back.promise},
		"parents": {live.parent, back.parent}, "paths": {live.paths, back.paths}, "features": {live.followed, back.followed},
		"tree": {live.tree.nodes, back.tree.nodes}, "buffer": {live.buffer, back.buffer}, "steps": {live.steps, back.steps},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s:\n%+v\nand, restored,\n%+v", name, pair[0], pair[1])
		}
	}
}

// On webs where relevant pages link to relevant ones, or where words of anchors lead to them, though not
// those of the topic, it finds more than a random order.
func TestTRESOnPlantedWebs(t *testing.T) {
	webs := 2.0
	if testing.Short() {
		webs = 1
	}
	for web, least := range map[string]float64{"local": 0.15, "misleading anchors": 0.2} {
		got, random := 0.0, 0.0
		for seed := range uint64(webs) {
			rng := rand.New(rand.NewPCG(seed, 3))
			w := planted[web](rng)
			for len(w.seeds) < 3 {
				w.seeds = append(w.seeds, w.any(rng, false))
			}
			got += w.found(t, "tres", 600, 1) / webs
			random += w.found(t, "random", 600, 1) / webs
		}
		t.Logf("%s: tres %.3f, random %.3f", web, got, random)
		if got < random+least {
			t.Errorf("%s: nAUC %.3f, a random order %.3f: want %.2f more", web, got, random, least)
		}
	}
}

// Trained after every third page from the tenth on, with a new target network after every seventh: after
// 22 pages that is four trainings (12, 15, 18 and 21), and the target network is that of page 21 before
// it was trained. With epsilon=1, every leaf is random, though the network is trained.
func TestTrainingFollowsItsSchedule(t *testing.T) {
	s := made[*tres](t, "tres", "warmup=10", "every=3", "target=7", "epsilon=1")
	rng := rand.New(rand.NewPCG(1, 1))
	var network qNetwork // before page 21
	for i := range 22 {
		s.Visit(&wire.Record{URL: address(fmt.Sprint(i)), StatusCode: 200, Relevant: wire.True,
			Links: []wire.Link{{URL: address(fmt.Sprint("link", i))}}})
		if i == 20 {
			network = s.learner.online
		}
		for _, a := range s.Breed(1, rng) {
			reason(t, a, "random")
		}
	}
	if got := math.Log(s.learner.power1) / math.Log(beta1); math.Abs(got-4) > 1e-9 {
		t.Errorf("%v trainings, want 4", got)
	}
	if s.learner.target != network || s.learner.online == network {
		t.Error("the target network is not that before page 21")
	}
}

// Of two transitions of the same features, the older of which was rewarded, one is kept. A page without
// links is no transition.
func TestOldTransitionsAreForgotten(t *testing.T) {
	s := made[*tres](t, "tres", "buffer=1", "gamma=0", "rate=0.01")
	rng := rand.New(rand.NewPCG(1, 1))
	for _, rec := range []*wire.Record{{URL: address("a"), Relevant: wire.True}, {URL: address("b")}} {
		rec.StatusCode, rec.Links = 200, []wire.Link{{URL: address("c")}}
		s.Visit(rec)
	}
	s.Visit(&wire.Record{URL: address("d"), StatusCode: 200})
	s.Breed(1, rng)
	for range 300 {
		s.train(rng)
	}
	if q := s.learner.online.value(s.followed[1]); len(s.buffer) != 2 || math.Abs(q) > 0.1 {
		t.Errorf("%d transitions, Q is %v, want 2 and 0", len(s.buffer), q)
	}
}

// A page that cannot be fetched teaches nothing about links, but counts as a page of its host.
func TestFailuresCountForTheHostOnly(t *testing.T) {
	s := made[*tres](t, "tres")
	s.Visit(&wire.Record{URL: "http://a.test/", StatusCode: 200, Relevant: wire.True, Links: []wire.Link{{URL: "http://b.test/"}, {URL: "http://b.test/2"}}})
	s.Breed(1, rand.New(rand.NewPCG(1, 1)))
	s.Visit(&wire.Record{URL: "http://b.test/", Error: wire.ErrorTimeout})
	s.Breed(1, rand.New(rand.NewPCG(1, 2)))
	id, _ := s.web.Find("http://b.test/2")
	if x := s.features(id); x[hostRelevance] != 0 || x[hostUnknown] != 0 {
		t.Errorf("the other link to the host has %v, want a host with an irrelevant page", x)
	}
	if n := len(s.tree.nodes[0].experiences); n != 1 || s.steps != 1 || len(s.buffer) != 1 {
		t.Errorf("%d experiences, %d steps, %d transitions, want one of each, of the first page", n, s.steps, len(s.buffer))
	}
}

// The title of a relevant seed promises relevant pages, and the anchor that led to an irrelevant page
// promises others like it.
func TestPromiseIsLearnedFromSeedsAndLinks(t *testing.T) {
	s := made[*tres](t, "tres")
	var links []wire.Link
	for i, anchor := range []string{"football", "weekly", "football", "other"} {
		links = append(links, wire.Link{URL: address("bcde"[i : i+1]), Anchor: anchor})
	}
	s.Visit(&wire.Record{URL: address("a"), Title: "Crawlers weekly", StatusCode: 200, Relevant: wire.True, Links: links})
	s.Breed(4, rand.New(rand.NewPCG(1, 1)))
	s.Visit(&wire.Record{URL: address("b"), StatusCode: 200})
	s.Breed(4, rand.New(rand.NewPCG(1, 2)))
	promised := func(name string) uint8 {
		id, _ := s.web.Find(address(name))
		return s.features(id)[promise]
	}
	if c, d, e := promised("c"), promised("d"), promised("e"); c <= e || e <= d {
		t.Errorf("a word of the seed promises %d, that of an irrelevant page %d, another %d", c, d, e)
	}
	if got, want := s.followed[0], (vector{keywordAnchor: 100, hostRelevance: 50, hostUnknown: 100, promise: 50}); got != want {
		t.Errorf("the seed was followed with %v, want %v", got, want)
	}
}
