package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

// a·x mod 2¹⁵ without its lower three bits, by hand: 766245317 mod 32768 is 31173,
// and 31173 / 8 is 3896; twice that is 62346, of which 29578 is left, and 29578 / 8
// is 3697.
func TestHashIsMultiplicative(t *testing.T) {
	for x, want := range map[uint64]uint16{0: 0, 1: 3896, 2: 3697, 1 << 15: 0, 1<<15 + 1: 3896} {
		if got := hashed(x); got != want {
			t.Errorf("hash of %d is %d, want %d", x, got, want)
		}
	}
}

func TestPathVector(t *testing.T) {
	for _, test := range []struct {
		path  string
		pairs []string
	}{
		{"html/body/a", []string{"[SOS]/html", "html/body", "body/a", "a/[EOS]"}},
		{"a", []string{"[SOS]/a", "a/[EOS]"}},
		{"", []string{"[SOS]/", "/[EOS]"}},
		{"ul/li/ul/li", []string{"[SOS]/ul", "ul/li", "li/ul", "ul/li", "li/[EOS]"}},
		{"div.menu/a", []string{"[SOS]/div.menu", "div.menu/a", "a/[EOS]"}},
	} {
		got := vectorOf(test.path)
		count := map[uint16]uint16{}
		for _, p := range test.pairs {
			count[hashed(fnv64(p))]++
		}
		if got.size != len(test.pairs) || len(got.bins) != len(count) {
			t.Errorf("%q: %+v, want the %d pairs %q", test.path, got, len(test.pairs), test.pairs)
		}
		for _, b := range got.bins {
			if b.count != count[b.bin] {
				t.Errorf("%q: bin %d has %d, want %d", test.path, b.bin, b.count, count[b.bin])
			}
		}
	}
	if got := vectorOf(strings.Repeat("a/", 10_000)); got.size != maxSteps+1 {
		t.Errorf("a path of ten thousand tags has %d pairs, want %d", got.size, maxSteps+1)
	}
}

// html/body/div/a has 5 pairs, html/body/div/ul/li/a has 7, and 4 are in both:
// the cosine is 4 / √(5·7) = 0.676. With the centroid of a path seen twice it is the
// same.
func TestPathsJoinNearestCluster(t *testing.T) {
	for _, test := range []struct {
		theta float64
		want  []int
	}{
		{0.75, []int{0, 0, 1, 0, 1, 2}}, {0.67, []int{0, 0, 0, 0, 0, 1}}, {0.68, []int{0, 0, 1, 0, 1, 2}}, {0, []int{0, 0, 0, 0, 0, 0}},
	} {
		s := &tagPath{Theta: test.theta}
		var got []int
		for _, path := range []string{"html/body/div/a", "html/body/div/a", "html/body/div/ul/li/a", "html/body/div/a", "html/body/div/ul/li/a", "table/tr/td"} {
			v := vectorOf(path)
			g := pathGroup{arm: s.nearest(&v), path: v, ids: []graph.ID{0}}
			s.join(&g)
			got = append(got, g.arm)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("θ = %v: arms %v, want %v", test.theta, got, test.want)
		}
	}
}

// A centroid moves: the mean of both paths above is nearer to either than they are
// to each other.
func TestCentroidIsMeanOfPaths(t *testing.T) {
	s := &tagPath{Theta: 0.67}
	for _, path := range []string{"html/body/div/a", "html/body/div/ul/li/a"} {
		v := vectorOf(path)
		s.join(&pathGroup{arm: 0, path: v, ids: []graph.ID{0}})
	}
	// Sums: 4 pairs of 1/5 + 1/7, one of 1/5, three of 1/7.
	want := 4*math.Pow(1./5+1./7, 2) + math.Pow(1./5, 2) + 3*math.Pow(1./7, 2)
	if got := s.arms[0].square; math.Abs(got-want) > 1e-12 {
		t.Errorf("the square of the sum's length is %v, want %v", got, want)
	}
	v := vectorOf("html/body/div/a")
	s.nearest(&v)
	// The dot product with the first: 4 · 1/5 · (1/5 + 1/7) + 1/5 · 1/5.
	if want := 4./5*(1./5+1./7) + 1./25; math.Abs(s.near[0]-want) > 1e-12 {
		t.Errorf("the dot product is %v, want %v", s.near[0], want)
	}
}

// AUER by hand: an arm with 4 pulls, 3 of them rewarded, and one more on its way, at
// t = 10: 3/4 + 2√2 · √(ln 10 / 5) = 0.75 + 2.828427 · 0.678614 = 2.669410.
func TestArmIndexByHand(t *testing.T) {
	s := newTagPath().(*tagPath)
	for _, test := range []struct {
		arm      cluster
		asked, t int
		want     float64
	}{
		{cluster{pulls: 4, reward: 3}, 1, 10, 2.669410},
		{cluster{pulls: 4, reward: 3}, 0, 1, 0.75}, // ln 1 = 0
		{cluster{pulls: 4, reward: 3}, 0, 0, 0.75},
		{cluster{}, 0, 0, 0},
		{cluster{}, 0, 10, 4291.932}, // 2√2 · √(ln 10 / 10⁻⁶): whoever was never pulled is next
	} {
		if got := s.index(&test.arm, test.asked, test.t); math.Abs(got-test.want) > 1e-5*max(1, test.want) {
			t.Errorf("%+v, %d asked, t = %d: %v, want %v", test.arm, test.asked, test.t, got, test.want)
		}
	}
}

func TestClustersAreBounded(t *testing.T) {
	s := newTagPath().(*tagPath)
	for i := range maxArms + 50 {
		v := vectorOf(strings.Repeat("x", 1+i%400) + "/" + strings.Repeat("y", 1+i/400))
		g := pathGroup{arm: s.nearest(&v), path: v, ids: []graph.ID{graph.ID(i)}}
		s.join(&g)
	}
	if len(s.arms) != maxArms {
		t.Errorf("%d clusters, want %d", len(s.arms), maxArms)
	}
}

// Of a page whose links all stand elsewhere, so many places are told apart, and the
// other links go where the last of those went.
func TestPathsOfAPageAreBounded(t *testing.T) {
	s := newTagPath().(*tagPath)
	page := taughtPage{score: 0.5}
	for i := range maxPaths + 44 {
		page.links = append(page.links, wire.Link{URL: address(fmt.Sprint(i)), Path: fmt.Sprintf("d%d/e%d/f%d/a", i, i, i)})
	}
	s.Visit(taught{address("a"): page}.fetch(Address{URL: address("a")}, 1))
	if len(s.seen) != maxPaths || len(s.seen[maxPaths-1].ids) != 45 {
		t.Fatalf("%d groups, %d links in the last, want %d and 45", len(s.seen), len(s.seen[maxPaths-1].ids), maxPaths)
	}
	for i := range maxPaths + 44 {
		id, _ := s.web.Find(address(fmt.Sprint(i)))
		if want := s.seen[min(i, maxPaths-1)].arm; s.arm(id) != want {
			t.Errorf("link %d belongs to arm %d, want %d", i, s.arm(id), want)
		}
	}
}

// The first hop of an outcome is the address that was asked for. One fetch is one pull.
func TestRedirectToKnownPageIsOnePull(t *testing.T) {
	s := newTagPath().(*tagPath)
	link := func(to string) wire.Link { return wire.Link{URL: address(to), Path: "html/body/a"} }
	s.Visit(taught{address("a"): {links: []wire.Link{link("r")}}}.fetch(Address{URL: address("a")}, 1))
	s.Breed(1, rand.New(rand.NewPCG(1, 1)))
	s.Visit(&wire.Record{URL: address("r"), FinalURL: address("a"), StatusCode: 200,
		Redirects: []wire.Redirect{{URL: address("r"), StatusCode: 301}}})
	s.Breed(1, rand.New(rand.NewPCG(1, 2)))
	if s.arms[0].pulls != 1 || s.pulls != 1 || len(s.aliases) != 1 {
		t.Errorf("%d pulls of the arm, %d of all, %d other names, want one each", s.arms[0].pulls, s.pulls, len(s.aliases))
	}
}
