package strategy

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spoor/internal/wire"
)

// A plantedWeb is a random web. Which pages are relevant, and what leads to them, is known.
type plantedWeb struct {
	pages    []plantedPage
	seeds    []int
	relevant int
}

type plantedPage struct {
	relevant bool
	path     string
	title    string
	text     string
	links    []plantedLink
}

type plantedLink struct {
	to     int
	anchor string
}

const (
	gardenWords = "flower river stone bread house tree garden water window street winter letter music paper road table"
	queryWords  = "genetic crawler"
	topicWords  = "selection crossover population fitness mutation chromosome inheritance"
)

// someOf returns n random words of a list.
func someOf(rng *rand.Rand, words string, n int) string {
	list := strings.Fields(words)
	var s []string
	for range n {
		s = append(s, list[rng.IntN(len(list))])
	}
	return strings.Join(s, " ")
}

// newPlanted returns a web of n pages without links. One page in ten is relevant. Relevant pages
// have words of the topic and, with probability asked, of the query.
func newPlanted(rng *rand.Rand, n int, asked float64) *plantedWeb {
	w := &plantedWeb{pages: make([]plantedPage, n)}
	for i := range w.pages {
		p := &w.pages[i]
		p.relevant = i%10 == 0
		p.path = fmt.Sprintf("/%s/%d", someOf(rng, gardenWords, 1), i)
		p.title, p.text = someOf(rng, gardenWords, 3), someOf(rng, gardenWords, 80)
		if p.relevant {
			w.relevant++
			p.text += " " + someOf(rng, topicWords, 15)
			if rng.Float64() < asked {
				p.text += " " + someOf(rng, queryWords, 6)
			}
		}
	}
	return w
}

// any returns a random page that is relevant or not.
func (w *plantedWeb) any(rng *rand.Rand, relevant bool) int {
	for {
		if i := rng.IntN(len(w.pages)); w.pages[i].relevant == relevant {
			return i
		}
	}
}

func (w *plantedWeb) link(from, to int, anchor string) {
	w.pages[from].links = append(w.pages[from].links, plantedLink{to, anchor})
}

// linkAtRandom gives each page k links, each to a relevant page with the probability for its own kind.
func (w *plantedWeb) linkAtRandom(rng *rand.Rand, k int, fromRelevant, fromOther float64, anchor func(to int) string) {
	for i := range w.pages {
		p := fromOther
		if w.pages[i].relevant {
			p = fromRelevant
		}
		for range k {
			to := w.any(rng, rng.Float64() < p)
			w.link(i, to, anchor(to))
		}
	}
}

// planted are the webs. The seeds are three pages that are not relevant, unless it says so.
var planted = map[string]func(rng *rand.Rand) *plantedWeb{
	// Relevant pages link to relevant ones.
	"local": func(rng *rand.Rand) *plantedWeb {
		w := newPlanted(rng, 3000, 0.8)
		w.linkAtRandom(rng, 8, 0.5, 0.05, func(int) string { return someOf(rng, gardenWords, 2) })
		return w
	},
	// A crawl begins among 100 relevant pages that link to each other; as many others are elsewhere.
	"dense start": func(rng *rand.Rand) *plantedWeb {
		w := newPlanted(rng, 3000, 0.8)
		for i := range w.pages {
			if dense := w.pages[i].relevant && i < 1000; dense {
				w.seeds = append(w.seeds, i)
			}
		}
		dense := w.seeds
		w.seeds = slices.Clone(dense[:3])
		for i := range w.pages {
			p := &w.pages[i]
			for range 8 {
				switch {
				case p.relevant && i < 1000 && rng.Float64() < 0.8:
					w.link(i, dense[rng.IntN(len(dense))], someOf(rng, queryWords+" "+topicWords, 2))
				case p.relevant && i >= 1000 && rng.Float64() < 0.4:
					to := w.any(rng, true)
					w.link(i, to, someOf(rng, topicWords, 2))
				default:
					w.link(i, rng.IntN(len(w.pages)), someOf(rng, gardenWords, 2))
				}
			}
		}
		return w
	},
	// Lists without words of the topic link to relevant pages; nothing else does.
	"hubs": func(rng *rand.Rand) *plantedWeb {
		w := newPlanted(rng, 3000, 0.8)
		var hubs []int
		for range 60 {
			i := w.any(rng, false)
			w.pages[i].title, w.pages[i].path = "annual catalogue", fmt.Sprintf("/catalogue/%d", i)
			w.pages[i].text = someOf(rng, "volume number author editor press series", 60)
			hubs = append(hubs, i)
		}
		for i := range w.pages {
			for range 8 {
				switch hub := slices.Contains(hubs, i); {
				case hub:
					w.link(i, w.any(rng, true), someOf(rng, "volume number author", 2))
				case rng.Float64() < 0.08:
					w.link(i, hubs[rng.IntN(len(hubs))], "catalogue "+someOf(rng, gardenWords, 1))
				default:
					w.link(i, w.any(rng, false), someOf(rng, gardenWords, 2))
				}
			}
		}
		return w
	},
	// Anchors with words of the query lead elsewhere; those to relevant pages have other words.
	"misleading anchors": func(rng *rand.Rand) *plantedWeb {
		w := newPlanted(rng, 3000, 0.8)
		w.linkAtRandom(rng, 8, 0.2, 0.08, func(to int) string {
			switch {
			case w.pages[to].relevant:
				return "article " + someOf(rng, gardenWords, 1)
			case rng.Float64() < 0.2:
				return someOf(rng, queryWords, 2)
			}
			return someOf(rng, gardenWords, 2)
		})
		return w
	},
	// All pages have the words of the query.
	"common words": func(rng *rand.Rand) *plantedWeb {
		w := newPlanted(rng, 3000, 0)
		for i := range w.pages {
			n := 1
			if w.pages[i].relevant {
				n = 4
			}
			w.pages[i].text += " " + someOf(rng, queryWords, 2*n)
		}
		w.linkAtRandom(rng, 8, 0.5, 0.05, func(int) string { return someOf(rng, gardenWords+" "+queryWords, 2) })
		return w
	},
	// A fetched page shows whether it is relevant, but no link shows where relevant pages are.
	"links at random": func(rng *rand.Rand) *plantedWeb {
		w := newPlanted(rng, 3000, 0.8)
		w.linkAtRandom(rng, 8, 0.1, 0.1, func(int) string { return someOf(rng, gardenWords, 2) })
		return w
	},
	// Anchors have words of the query at random.
	"anchors at random": func(rng *rand.Rand) *plantedWeb {
		w := newPlanted(rng, 3000, 0.8)
		w.linkAtRandom(rng, 8, 0.1, 0.1, func(int) string { return someOf(rng, gardenWords+" "+queryWords, 2) })
		return w
	},
	// All pages are of the same words.
	"texts at random": func(rng *rand.Rand) *plantedWeb {
		w := newPlanted(rng, 3000, 0)
		for i := range w.pages {
			w.pages[i].text = someOf(rng, gardenWords+" "+queryWords+" "+topicWords, 80)
		}
		w.linkAtRandom(rng, 8, 0.1, 0.1, func(int) string { return someOf(rng, gardenWords+" "+queryWords, 2) })
		return w
	},
}

// record returns page i as parse and score write it. The score of a text is its share of words of the
// query, times ten.
func (w *plantedWeb) record(a Address, i, generation int) *wire.Record {
	p := &w.pages[i]
	rec := new(wire.Record)
	a.Fill(rec, generation)
	score := func(s string) float64 {
		words, asked := strings.Fields(s), 0
		for _, word := range words {
			if strings.Contains(queryWords, word) {
				asked++
			}
		}
		return min(1, 10*float64(asked)/float64(len(words)))
	}
	rec.StatusCode, rec.Title, rec.Text, rec.OutDegree = 200, p.title, p.text, len(p.links)
	rec.Score, rec.Relevant = wire.Num(score(p.text)), wire.False
	if score(p.text) > 0.3 {
		rec.Relevant = wire.True
	}
	for _, l := range p.links {
		hint := score(l.anchor)
		rec.Links = append(rec.Links, wire.Link{URL: w.url(l.to), Anchor: l.anchor, Path: "html body ul li a", Score: wire.Num(hint),
			Scores: []wire.Scored{{Name: "anchor", Value: hint}, {Name: "context", Value: 0}, {Name: "url", Value: 0}}})
	}
	return rec
}

func (w *plantedWeb) url(i int) string { return fmt.Sprintf("http://h%d.test%s", i%7, w.pages[i].path) }

// found crawls pages pages with a strategy, and returns the normalised area under the curve of
// relevant pages found: 0 is what a random order has, 1 what an order has that begins with all
// relevant pages.
func (w *plantedWeb) found(t *testing.T, kind string, pages int, seed uint64) float64 {
	s := newStrategy(t, kind, target(t), nil)
	number := map[string]int{}
	for i := range w.pages {
		number[w.url(i)] = i
	}
	var waiting []proposalOf
	for _, i := range w.seeds {
		waiting = append(waiting, proposalOf{Address{URL: w.url(i), Operator: "seed"}, len(waiting)})
	}
	fetched := map[string]bool{}
	relevant, area, best := 0, 0, 0
	for g := 1; len(fetched) < pages && len(waiting) > 0; g++ {
		slices.SortFunc(waiting, func(a, b proposalOf) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.order, b.order))
		})
		const size = 20
		n := min(size, len(waiting))
		for _, a := range waiting[:n] {
			if fetched[a.URL] || len(fetched) == pages {
				continue
			}
			fetched[a.URL] = true
			i := number[a.URL]
			if w.pages[i].relevant {
				relevant++
			}
			area += relevant
			best += min(len(fetched), w.relevant)
			s.Visit(w.record(a.Address, i, g))
		}
		waiting = waiting[n:]
		for _, a := range s.Breed(size, rand.New(rand.NewPCG(seed, uint64(g)))) {
			if a.URL == "" || fetched[a.URL] {
				continue
			}
			at := slices.IndexFunc(waiting, func(b proposalOf) bool { return b.URL == a.URL })
			if at < 0 {
				waiting = append(waiting, proposalOf{a, len(waiting) + size*g})
			} else {
				waiting[at].Address = a
			}
		}
	}
	random := float64(pages*(pages+1)) / 2 * float64(w.relevant) / float64(len(w.pages))
	return (float64(area) - random) / (float64(best) - random)
}

type proposalOf struct {
	Address
	order int
}

// On each planted web, forage has at least the nAUC of the best of three plain strategies plus the
// difference in the table. Where nothing leads there, it finds as many as any
// order does, within the noise.
func TestForageOnPlantedWebs(t *testing.T) {
	webs, pages := uint64(15), 600
	if testing.Short() {
		webs, pages = 1, 300
	}
	for _, test := range []struct {
		web  string
		more float64
	}{
		{"local", -0.1},
		{"dense start", 0.1},
		{"hubs", 0.2},
		{"misleading anchors", 0.3},
		{"common words", -0.15}, // BM25 tells one occurrence from four less than the share of words does
		{"links at random", -0.1},
		{"anchors at random", -0.1},
		{"texts at random", -0.1},
	} {
		t.Run(test.web, func(t *testing.T) {
			kinds := []string{"forage", "bestfirst", "shark", "breadthfirst"}
			means := map[string]float64{}
			for seed := range webs {
				rng := rand.New(rand.NewPCG(seed, 3))
				w := planted[test.web](rng)
				for len(w.seeds) < 3 {
					w.seeds = append(w.seeds, w.any(rng, false))
				}
				for _, kind := range kinds {
					means[kind] += w.found(t, kind, pages, 1) / float64(webs)
				}
			}
			for _, kind := range kinds {
				t.Logf("%-13s %+.3f", kind, means[kind])
			}
			if best := max(means["bestfirst"], means["shark"], means["breadthfirst"]); means["forage"] < best+test.more {
				t.Errorf("forage has %.3f, the best of the others %.3f: want %+.2f", means["forage"], best, test.more)
			}
			if strings.HasSuffix(test.web, "at random") && means["forage"] > 0.1 {
				t.Errorf("forage has %.3f on a web where nothing tells", means["forage"])
			}
		})
	}
}
