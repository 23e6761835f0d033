package graph

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"
)

// web returns the graph of lines "page: link link …". Addresses are numbered in the order of
// their occurrence.
func web(lines ...string) *Graph {
	g := new(Graph)
	for _, line := range lines {
		page, links, _ := strings.Cut(line, ":")
		from := g.Intern(page)
		var to []ID
		for link := range strings.FieldsSeq(links) {
			to = append(to, g.Intern(link))
		}
		g.Expand(from, to)
	}
	return g
}

// byName returns the values by address.
func byName(g *Graph, x []float64) map[string]float64 {
	m := map[string]float64{}
	for id, v := range x {
		m[g.URL(ID(id))] = v
	}
	return m
}

// near fails t unless got equals want for every name, to within delta.
func near(t *testing.T, what string, got, want map[string]float64, delta float64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !(math.Abs(got[name]-want[name]) <= delta) {
			t.Errorf("%s of %s: %.15g, want %.15g", what, name, got[name], want[name])
		}
	}
}

var standard = PageRank{Damping: 0.85, Tolerance: 1e-13, Iterations: 1000}

func TestPageRankWorkedExamples(t *testing.T) {
	const d = 0.85
	centre := (1 + 3*d) / (4 * (1 + d))
	rest := 3 / (3 + d)
	for _, test := range []struct {
		name     string
		lines    []string
		teleport map[string]float64
		same     map[string]string
		want     map[string]float64
	}{
		{ // x + 3y = 1 and x = (1−d)/4 + 3dy
			name:  "a star whose points link back",
			lines: []string{"a: b c d", "b: a", "c: a", "d: a"},
			want:  map[string]float64{"a": centre, "b": (1 - centre) / 3, "c": (1 - centre) / 3, "d": (1 - centre) / 3},
		},
		{ // s teleports: s = 1 − d·PR(a), PR(a) = s/3
			name:  "a page whose links were not followed",
			lines: []string{"a: b c"},
			want:  map[string]float64{"a": rest / 3, "b": rest/3 + d*rest/6, "c": rest/3 + d*rest/6},
		},
		{
			name:  "a link that stands there three times is one",
			lines: []string{"a: b b c b"},
			want:  map[string]float64{"a": rest / 3, "b": rest/3 + d*rest/6, "c": rest/3 + d*rest/6},
		},
		{ // PR(a) = 1 − d·PR(a)
			name:     "all teleport to one page",
			lines:    []string{"a: b c"},
			teleport: map[string]float64{"a": 7},
			want:     map[string]float64{"a": 1 / (1 + d), "b": d / (1 + d) / 2, "c": d / (1 + d) / 2},
		},
		{
			name:     "teleports without any weight are uniform",
			lines:    []string{"a: b c"},
			teleport: map[string]float64{"a": math.NaN(), "b": -1, "c": math.Inf(1)},
			want:     map[string]float64{"a": rest / 3, "b": rest/3 + d*rest/6, "c": rest/3 + d*rest/6},
		},
		{ // PR(A) = z = (1 − d(1−z))/3, PR(a) = z + d·PR(b), PR(b) = z + d·PR(a)
			name:  "a page with two names",
			lines: []string{"a: b", "b: A"},
			same:  map[string]string{"A": "a"},
			want:  map[string]float64{"a": 1 / (3 - d), "b": 1 / (3 - d), "A": (1 - d) / (3 - d)},
		},
		{
			name:  "nothing but addresses",
			lines: []string{"a:", "b:"},
			want:  map[string]float64{"a": 0.5, "b": 0.5},
		},
	} {
		g := web(test.lines...)
		o := standard
		for id := range ID(g.Len()) {
			if test.teleport != nil {
				o.Teleport = append(o.Teleport, test.teleport[g.URL(id)])
			}
			own := id
			if other, ok := test.same[g.URL(id)]; ok {
				own, _ = g.Find(other)
			}
			o.Same = append(o.Same, own)
		}
		ranks, _ := o.Ranks(g, g.Mark())
		near(t, test.name+": rank", byName(g, ranks), test.want, 1e-12)
	}
	if ranks, n := standard.Ranks(new(Graph), Mark{}); ranks != nil || n != 0 {
		t.Errorf("the empty web has the ranks %v after %d iterations", ranks, n)
	}
}

func TestPageRankAtEarlierMark(t *testing.T) {
	g := web("a: b c d", "b: a", "c: a", "d: a")
	mark := g.Mark()
	then, _ := standard.Ranks(g, mark)
	g.Expand(g.Intern("e"), []ID{0, 1})
	if again, _ := standard.Ranks(g, mark); !slices.Equal(then, again) {
		t.Errorf("%v, and once there was more %v", then, again)
	}
	if now, _ := standard.Ranks(g, g.Mark()); len(now) != 5 || now[0] == then[0] {
		t.Errorf("with e: %v", now)
	}
}

// The web is Kleinberg's matrix A = (1 1; 0 1) of the pages p and q. AᵀA = (1 1; 1 2)
// has the eigenvector (1, φ), and AAᵀ = (2 1; 1 1) has (φ, 1), φ being (1+√5)/2. With
// half the weight for what p says it is (0.25 0.25; 0.25 1.25), whose larger eigenvalue
// is λ = (3+√5)/4, and its vector (0.25, λ − 0.25).
func TestHITSGivesPrincipalEigenvectors(t *testing.T) {
	phi := (1 + math.Sqrt(5)) / 2
	lambda := (3 + math.Sqrt(5)) / 4
	unit := func(names string, x, y float64) map[string]float64 {
		name, length := strings.Fields(names), math.Hypot(x, y)
		return map[string]float64{name[0]: x / length, name[1]: y / length}
	}
	half := func(from, _ ID) float64 { return map[ID]float64{0: 0.5}[from] + float64(from/3) }
	for _, test := range []struct {
		name           string
		lines          []string
		weight         func(from, to ID) float64
		authority, hub map[string]float64
	}{
		{"plain", []string{"p: x y", "q: y"}, nil, unit("x y", 1, phi), unit("p q", phi, 1)},
		{"repeated links", []string{"p: x y x", "q: y y y"}, nil, unit("x y", 1, phi), unit("p q", phi, 1)},
		{"weighted", []string{"p: x y", "q: y"}, half, unit("x y", 0.25, lambda-0.25), nil},
		{"enormous weights", []string{"p: x y", "q: y"}, func(a, b ID) float64 { return 1e300 * half(a, b) }, unit("x y", 0.25, lambda-0.25), nil},
		{"a link of no weight", []string{"p: x y", "q: y"}, func(_, to ID) float64 {
			return map[ID]float64{1: math.NaN(), 2: 1}[to]
		}, unit("x y", 0, 1), unit("p q", 1, 1)},
		{"no link of any weight", []string{"p: x y", "q: y"}, func(ID, ID) float64 { return 0 },
			map[string]float64{"x": 0, "y": 0}, map[string]float64{"p": 0, "q": 0}},
	} {
		g := web(test.lines...) // p 0, x 1, y 2, q 3
		authority, hub := HITS{Iterations: 30, Weight: test.weight}.Scores(g, g.Mark())
		near(t, test.name+": authority", byName(g, authority), test.authority, 1e-12)
		near(t, test.name+": hub", byName(g, hub), test.hub, 1e-12)
	}

	g := web("p: x y", "q: Y") // p 0, x 1, y 2, q 3, Y 4
	authority, _ := HITS{Iterations: 30, Same: []ID{0, 1, 2, 3, 2}}.Scores(g, g.Mark())
	near(t, "two names: authority", byName(g, authority), unit("x y", 1, phi), 1e-12)
	mark := g.Mark()
	g.Expand(g.Intern("z"), []ID{1})
	authority, _ = HITS{Iterations: 30}.Scores(g, mark)
	if len(authority) != 5 {
		t.Errorf("%d authorities of a web that had 5 addresses", len(authority))
	}
}

// Ranks of a large graph satisfy the equations of pagerank.go and hits.go.
func TestRanksSatisfyTheEquations(t *testing.T) {
	const d = 0.85
	g := random(330, func(*Graph) {}) // of about 1,000 addresses
	ranks, _ := standard.Ranks(g, g.Mark())
	teleports := 0.0
	for id := range ID(g.Len()) {
		if teleports += (1 - d) * ranks[id]; g.OutDegree(id) == 0 {
			teleports += d * ranks[id]
		}
	}
	for id := range ID(g.Len()) {
		want := teleports / float64(g.Len())
		for parent := range g.Parents(id) {
			want += d * ranks[parent] / float64(g.OutDegree(parent))
		}
		if !(math.Abs(ranks[id]-want) <= 1e-12) {
			t.Errorf("rank of %s: %.15g, want %.15g", g.URL(id), ranks[id], want)
		}
	}
	for _, weight := range []func(from, to ID) float64{
		func(ID, ID) float64 { return 1 },
		func(from, to ID) float64 { return float64((from+to)%4) / 4 },
	} {
		authority, hub := HITS{Iterations: 300, Weight: weight}.Scores(g, g.Mark())
		a, h := make([]float64, g.Len()), make([]float64, g.Len())
		for id := range ID(g.Len()) {
			for child := range g.Children(id) {
				a[child] += weight(id, child) * hub[id]
				h[id] += weight(id, child) * authority[child]
			}
		}
		normalise(a)
		normalise(h)
		near(t, "authority", byName(g, authority), byName(g, a), 1e-9)
		near(t, "hub", byName(g, hub), byName(g, h), 1e-9)
	}
}

// The guarantee of the tolerance: with 1e-10, no rank has an error above 1e-9.
func TestPageRankTolerance(t *testing.T) {
	g := random(330, func(*Graph) {})
	exact, _ := standard.Ranks(g, g.Mark())
	for tolerance := 1e-3; tolerance >= 1e-10; tolerance /= 10 {
		ranks, n := PageRank{Damping: 0.85, Tolerance: tolerance, Iterations: 1000}.Ranks(g, g.Mark())
		off := 0.0
		for u := range ranks {
			off += math.Abs(ranks[u] - exact[u])
		}
		if bound := tolerance * 0.85 / 0.15; off > bound {
			t.Errorf("tolerance %g, %d iterations: %g off in all, want %g at most", tolerance, n, off, bound)
		}
	}
	if _, n := (PageRank{Damping: 0.85, Iterations: 7}).Ranks(g, g.Mark()); n != 7 {
		t.Errorf("%d iterations where 7 are the most", n)
	}
}

// shuffled returns g with its addresses and pages in another order.
func shuffled(g *Graph, rng *rand.Rand) *Graph {
	h := new(Graph)
	for _, id := range rng.Perm(g.Len()) {
		h.Intern(g.URL(ID(id)))
	}
	for _, i := range rng.Perm(len(g.expanded)) {
		page, _ := h.Find(g.URL(g.expanded[i]))
		var links []ID
		for child := range g.Children(g.expanded[i]) {
			to, _ := h.Find(g.URL(child))
			links = append(links, to)
		}
		rng.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		h.Expand(page, links)
	}
	return h
}

func TestRanksDoNotDependOnOrder(t *testing.T) {
	property := func(seed uint64, size uint8, damping float64, topical bool) bool {
		rng := rand.New(rand.NewPCG(seed, 0))
		g := new(Graph)
		n := 2 + int(size)
		for range rng.IntN(n) {
			page := g.Intern(fmt.Sprint(rng.IntN(n)))
			var links []ID
			for range rng.IntN(6) {
				links = append(links, g.Intern(fmt.Sprint(rng.IntN(n))))
			}
			g.Expand(page, links)
		}
		h := shuffled(g, rng)

		o := PageRank{Damping: math.Mod(math.Abs(damping), 0.95), Tolerance: 1e-12, Iterations: 2000}
		ranks := func(g *Graph) []float64 {
			o.Teleport = nil
			for id := range ID(g.Len()) {
				if topical {
					o.Teleport = append(o.Teleport, float64(len(g.URL(id))-1))
				}
			}
			r, _ := o.Ranks(g, g.Mark())
			return r
		}
		if sum, least := total(ranks(g)); g.Len() > 0 && (math.Abs(sum-1) > 1e-12 || least < 0) {
			t.Logf("ranks sum to %g, the least is %g", sum, least)
			return false
		}
		near(t, "rank, other order", byName(h, ranks(h)), byName(g, ranks(g)), 1e-9)

		k := HITS{Iterations: 30}
		authority, hub := k.Scores(g, g.Mark())
		for _, x := range [][]float64{authority, hub} {
			squares := 0.0
			for _, v := range x {
				squares += v * v
			}
			if _, least := total(x); g.Links() > 0 && (math.Abs(squares-1) > 1e-12 || least < 0) {
				t.Logf("squares sum to %g, the least is %g", squares, least)
				return false
			}
		}
		a, b := k.Scores(h, h.Mark())
		near(t, "authority, other order", byName(h, a), byName(g, authority), 1e-9)
		near(t, "hub, other order", byName(h, b), byName(g, hub), 1e-9)
		return !t.Failed()
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 300}); err != nil {
		t.Error(err)
	}
}

// total returns the sum of x, and its minimum.
func total(x []float64) (sum, least float64) {
	for _, v := range x {
		sum += v
		least = min(least, v)
	}
	return sum, least
}

func TestDegrees(t *testing.T) {
	g := web("a: x y x x", "b: z x", "c: x")
	id := func(name string) ID { i, _ := g.Find(name); return i }
	for name, want := range map[string]int{"a": 0, "x": 3, "y": 1, "z": 1} {
		if got := g.InDegree(id(name)); got != want {
			t.Errorf("%s is linked to by %d pages, want %d", name, got, want)
		}
		if got := len(slices.Collect(g.Parents(id(name)))); got != want {
			t.Errorf("%s has %d parents, want %d", name, got, want)
		}
	}
	if got := g.OutDegree(id("a")); got != 2 {
		t.Errorf("a links to %d addresses, want 2", got)
	}
}
