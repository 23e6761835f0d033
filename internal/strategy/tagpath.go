package strategy

// This file implements a bandit over tag paths, after
//
//	A. Gauquier, I. Manolescu and P. Senellart, SB-CLASSIFIER, arXiv 2602.11874
//	(2026); the program is efficient_crawler_for_scalable_web_data_acquisition,
//
// which looks for files on one site. Links at similar positions on their pages, such as the
// same menu or result list, lead to similar pages. So an arm of the bandit is a cluster of tag
// paths, from the root of a page to the link. With targets=files, or media types, the targets are
// files as in the source (tagpath_files.go); by default they are relevant pages.
//
//	paper             here          meaning
//	θ                 Theta         similarity from which a path joins a cluster
//	n-grams           pairs         two consecutive tags, with markers at both ends
//	m, w, a           hashed        multiplicative hash to 2^m bins
//	α                 Alpha         weight of exploration
//	ε                 epsilon       avoids division by zero
//	t                 pulls         of all arms
//
// An arm with unfetched links is awake. The awake arm with the highest
//
//	reward/pulls + α · √(ln t / (pulls + ε))
//
// is pulled, and any of its links is followed (AUER, awake upper estimated reward: Kleinberg,
// Niculescu-Mizil and Sharma 2010, for bandits with sleeping arms).
//
// If the source leaves something open, or is made for another task, we follow doc/design/papers.md. The
// comments name the rows of its table.

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type tagPath struct {
	pool

	Theta   float64 // θ
	Alpha   float64 // α
	Targets string  // what is looked for: relevantPages, files, or media types

	files fileSearch // with other targets than relevant pages

	arms           []cluster
	armOf          []int32     // by graph.ID, of known links: the arm plus one
	seen           []pathGroup // links seen since the last delta
	bins           [pathBins][]binSum
	near           []float64 // scratch of nearest, by arm
	learnedAliases int       // aliases of the memory learned so far
	pulls          int       // t: links that were followed
}

// A cluster is an arm: similar tag paths and the rewards of their links.
type cluster struct {
	square float64 // squared length of the sum of its links' vectors
	pulls  int     // links that were followed
	reward float64
}

// A binSum is a coordinate of the sum of an arm's vectors.
type binSum struct {
	arm int32
	sum float64
}

// A pathVector counts the pairs of a path in each bin.
type pathVector struct {
	bins []pathBin // in order
	size int       // number of pairs
}

type pathBin struct{ bin, count uint16 }

// A pathGroup holds the links of a page at one path.
type pathGroup struct {
	arm  int
	path pathVector
	ids  []graph.ID
}

// The hash: w bits of a product, of which the upper m are the bin.
const (
	hashBits   = 12 // m
	hashWord   = 15 // w
	hashFactor = 766245317
	pathBins   = 1 << hashBits
)

const (
	epsilon  = 1e-6 // ε
	maxArms  = 1024
	maxPaths = 256 // paths distinguished on one page
	maxSteps = 512 // tags of a path that are read
)

func newTagPath() Strategy {
	s := &tagPath{Theta: 0.75, Alpha: 2 * math.Sqrt2, Targets: relevantPages}
	s.parts = []part{s}
	return s
}

func (s *tagPath) Params() []Param {
	return []Param{
		{Name: "theta", Doc: "minimum cosine with which a path joins the nearest cluster", Value: &s.Theta, Range: unit},
		{Name: "alpha", Doc: "weight of exploration", Value: &s.Alpha, Range: [2]float64{0, 1e6}},
		{Name: "targets", Doc: "what is looked for: relevant (pages), files, or media types of files, separated by commas", Value: &s.Targets, Words: []string{relevantPages, anyFiles}, Types: true},
	}
}

// Visit adds the new links to clusters.
func (s *tagPath) Visit(rec *wire.Record) {
	known := len(s.pages)
	place, ok := s.visit(rec)
	if !ok {
		return
	}
	if s.Targets != relevantPages && place >= known {
		s.pages[place].relevant = s.isTarget(rec)
	}
	first := len(s.seen)
	at := map[string]int{}
	for id, link := range s.unfetchedLinks(rec, place) {
		if s.arm(id) >= 0 {
			continue
		}
		i, known := at[link.Path]
		switch {
		case known:
		case len(at) < maxPaths:
			i = len(s.seen)
			at[link.Path] = i
			s.seen = append(s.seen, pathGroup{path: vectorOf(link.Path)})
		default:
			i = len(s.seen) - 1
		}
		s.armOf = grown(s.armOf, int(id)+1)
		s.armOf[id] = 1 // any arm for now, so that it is not added twice
		s.seen[i].ids = append(s.seen[i].ids, id)
	}
	for i := first; i < len(s.seen); i++ {
		s.seen[i].arm = s.nearest(&s.seen[i].path)
		s.join(&s.seen[i])
	}
}

// arm returns the arm of a link, or -1 if the link is unknown.
func (s *tagPath) arm(id graph.ID) int {
	if int(id) >= len(s.armOf) {
		return -1
	}
	return int(s.armOf[id]) - 1
}

// vectorOf returns the vector of a tag path. Counts of colliding pairs are added (row c).
func vectorOf(path string) (v pathVector) {
	var count [pathBins]uint16
	before := "[SOS]"
	pair := func(tag string) {
		bin := hashed(fnv64(before + "/" + tag))
		if v.size++; count[bin] == 0 {
			v.bins = append(v.bins, pathBin{bin: bin})
		}
		count[bin]++
		before = tag
	}
	for tag := range strings.SplitSeq(path, "/") {
		if pair(tag); v.size == maxSteps {
			break
		}
	}
	pair("[EOS]")
	for i := range v.bins {
		v.bins[i].count = count[v.bins[i].bin]
	}
	slices.SortFunc(v.bins, func(a, b pathBin) int { return cmp.Compare(a.bin, b.bin) })
	return v
}

// hashed returns the bin of x (row b): the upper m of the lower w bits of a·x.
func hashed(x uint64) uint16 {
	return uint16(x * hashFactor % (1 << hashWord) >> (hashWord - hashBits))
}

// tf returns the share of the path's pairs in the bin.
func (v *pathVector) tf(b pathBin) float64 { return float64(b.count) / float64(v.size) }

// nearest returns the most similar arm (row d) if it is similar enough, and otherwise a new arm. If
// several arms are equally similar, it returns the oldest.
func (s *tagPath) nearest(path *pathVector) (arm int) {
	s.near = append(s.near[:0], make([]float64, len(s.arms))...)
	length := 0.0
	for _, b := range path.bins {
		x := path.tf(b)
		length += float64(x * x)
		for _, c := range s.bins[b.bin] {
			s.near[c.arm] += float64(x * c.sum)
		}
	}
	best := -1.0
	for i, dot := range s.near {
		if cosine := dot / math.Sqrt(length*s.arms[i].square); cosine > best {
			arm, best = i, cosine
		}
	}
	if best >= s.Theta || len(s.arms) == maxArms {
		return arm
	}
	return len(s.arms)
}

// join adds links to their arm, which moves its centroid.
func (s *tagPath) join(g *pathGroup) {
	if g.arm == len(s.arms) {
		s.arms = append(s.arms, cluster{})
	}
	a := &s.arms[g.arm]
	for _, b := range g.path.bins {
		sums := s.bins[b.bin]
		i, had := slices.BinarySearchFunc(sums, g.arm, func(c binSum, arm int) int { return cmp.Compare(int(c.arm), arm) })
		if !had {
			sums = slices.Insert(sums, i, binSum{arm: int32(g.arm)})
			s.bins[b.bin] = sums
		}
		before := sums[i].sum
		sums[i].sum += float64(float64(len(g.ids)) * g.path.tf(b)) // the sum of all vectors: the cosine ignores their number
		a.square += float64(sums[i].sum*sums[i].sum) - float64(before*before)
	}
	for _, id := range g.ids {
		s.armOf = grown(s.armOf, int(id)+1)
		s.armOf[id] = int32(g.arm) + 1
	}
}

// Breed pulls arms until the generation is full.
func (s *tagPath) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.learn()
	links := make([][]graph.ID, len(s.arms)) // free links by arm
	for id := range s.freeAddresses() {
		switch arm := s.arm(id); {
		case arm < 0:
		case !s.files.has(id):
			links[arm] = append(links[arm], id)
		case len(next) < quota:
			next = append(next, s.proposeFile(id, rankPriority(len(next), quota)))
		}
	}
	pulls, asked := s.pulls, make([]int, len(s.arms)) // including pulls without a reward yet (row e)
	for _, id := range s.pending.ids {
		if arm := s.arm(id); arm >= 0 && !s.files.has(id) {
			asked[arm]++
			pulls++
		}
	}
	for len(next) < quota {
		arm, best := -1, math.Inf(-1)
		for i, l := range links {
			if len(l) == 0 {
				continue // asleep
			}
			if v := s.index(&s.arms[i], asked[i], pulls); v > best {
				arm, best = i, v
			}
		}
		if arm < 0 {
			break
		}
		l := links[arm]
		k := rng.IntN(len(l))
		id := l[k]
		l[k], links[arm] = l[len(l)-1], l[:len(l)-1]
		asked[arm]++
		pulls++
		a := s.proposeAt(id, rankPriority(len(next), quota), wire.Scored{Name: "auer", Value: millionths(best)})
		a.Niche = "path " + strconv.Itoa(arm)
		next = append(next, a)
	}
	s.endGeneration()
	return next
}

// index returns the AUER index of an arm with the given number of pulls without an outcome,
// after t pulls of all arms.
func (s *tagPath) index(a *cluster, asked, t int) float64 {
	return a.mean() + float64(s.Alpha*math.Sqrt(math.Log(float64(max(1, t)))/(float64(a.pulls+asked)+epsilon)))
}

// mean returns the mean reward of the pulls with an outcome.
func (a *cluster) mean() float64 {
	if a.pulls == 0 {
		return 0
	}
	return a.reward / float64(a.pulls)
}

// learn rewards the arms of the links to this generation's pages.
func (s *tagPath) learn() {
	if s.Targets != relevantPages {
		s.learnFiles()
		return
	}
	for _, p := range s.pages[s.firstPage:] {
		s.answer(p.node, p.relevant)
	}
	for _, t := range s.aliases[s.learnedAliases:] {
		s.answer(t.node, false) // the link led to a known page
	}
	s.learnedAliases = len(s.aliases)
}

// answer records the outcome of a pull (row a), if a link led to id.
func (s *tagPath) answer(id graph.ID, relevant bool) {
	arm := s.arm(id)
	if arm < 0 {
		return
	}
	s.pulls++
	s.arms[arm].pulls++
	if relevant {
		s.arms[arm].reward++
	}
}

// code encodes or decodes the new links with their paths and arms; rewards follow from the pages.
func (s *tagPath) code(c *codec) {
	each(c, s.seen, func(g *pathGroup) {
		c.index(&g.arm, min(len(s.arms)+1, maxArms))
		g.path.bins = each(c, g.path.bins, func(b *pathBin) {
			integer(c, &b.bin)
			integer(c, &b.count)
			c.check(b.bin < pathBins && 0 < b.count && b.count <= maxSteps+1)
			if c.reading {
				g.path.size += int(b.count)
			}
		})
		g.ids = each(c, g.ids, c.id)
		if c.check(len(g.path.bins) > 0 && len(g.ids) > 0) {
			s.join(g)
		}
	})
	s.seen = s.seen[:0]
	if c.check(true) {
		s.learn()
	}
}
