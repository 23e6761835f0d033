package strategy

import (
	"fmt"
	"strings"
	"testing"

	"spoor/internal/wire"
)

// An anchored is a tiny web whose links may have scores: "link=anchor" or "link=anchor,url". The
// score of the anchor is also that of the link.
type anchored map[string]string

func (w anchored) fetch(a Address, generation int) *wire.Record {
	plain := tiny{}
	for page, line := range w {
		words := strings.Fields(line)
		for i, word := range words {
			words[i], _, _ = strings.Cut(word, "=")
		}
		plain[page] = strings.Join(words, " ")
	}
	rec := plain.fetch(a, generation)
	page := name(a.URL)
	if rec.FinalURL != "" {
		page = name(rec.FinalURL)
	}
	labels := map[string][2]float64{}
	for i, word := range strings.Fields(w[page]) {
		if to, label, _ := strings.Cut(word, "="); i > 0 {
			var v [2]float64
			fmt.Sscanf(label, "%g,%g", &v[0], &v[1])
			labels[to] = v
		}
	}
	for i := range rec.Links {
		v := labels[name(rec.Links[i].URL)]
		rec.Links[i].Score = wire.Num(v[0])
		rec.Links[i].Scores = []wire.Scored{{Name: "anchor", Value: v[0]}, {Name: "url", Value: v[1]}}
	}
	return rec
}

// generation fetches a batch and returns the proposals of s for n addresses.
func (w anchored) generation(s Strategy, n, generation int, batch []Address) []Address {
	for _, a := range batch {
		if a.URL != "" {
			s.Visit(w.fetch(a, generation))
		}
	}
	return s.Breed(n, nil)
}

// described returns addresses with their priorities and reasons, one per line.
func described(addresses []Address) (lines []string) {
	for _, a := range addresses {
		what := name(a.URL)
		if a.URL == "" {
			what = "?" + a.Query
		}
		var line strings.Builder
		line.WriteString(fmt.Sprintf("%s %s %.4g", what, a.Operator, a.Priority))
		if a.Via != "" {
			line.WriteString(" via " + name(a.Via))
		}
		for _, r := range a.Reasons {
			line.WriteString(fmt.Sprintf(" %s=%.4g", r.Name, r.Value))
		}
		for i, p := range a.Parents {
			if i == 0 {
				line.WriteString(" of")
			}
			line.WriteString(" " + name(p))
		}
		lines = append(lines, line.String())
	}
	return lines
}

// With generations of one page, as in the papers, no page is fetched twice either.
func TestCompatTablesFetchNothingTwice(t *testing.T) {
	for seed := range uint64(2) {
		w := random(80, seed)
		all := ends(w, fetched(t, crawl(t, w, "breadthfirst", nil, 9, 40, "0")))
		for _, kind := range []string{"tunnel", "jaccard"} {
			got := ends(w, fetched(t, crawl(t, w, kind, []string{"compat=true"}, 1, 100, "0")))
			if len(got) < 2 || len(got) > len(all) {
				t.Errorf("web %d: %s fetched %d pages of %d", seed, kind, len(got), len(all))
			}
		}
	}
}

func TestBestFirstAnchorValues(t *testing.T) {
	w := anchored{
		"a": "0.4 b=0.2 c=0.8 d", // b .3, c .6, d .2
		"c": "0.1 b=0.9 e=0.9",   // b rises to .5, e .5
		"b": "0 d=0.2",           // d stays at .2, better than .1
		"e": "0.8 d=0.8",         // d rises to .8
	}
	check(t, crawl(t, w, "bestfirst", []string{"anchor=true"}, 1, 6, "a"), []string{
		"a seed", "c link", "b link", "e link", "d link", "",
	})
	s := newStrategy(t, "bestfirst", nil, []string{"anchor=true"})
	check(t, described(w.generation(s, 1, 1, seeds("a"))), []string{
		"b link 0.3 via a anchor=0.2 page=0.4",
		"c link 0.6 via a anchor=0.8 page=0.4",
		"d link 0.2 via a anchor=0 page=0.4",
	})
	check(t, described(w.generation(s, 1, 2, seeds("c"))), []string{
		"b link 0.5 via c anchor=0.9 page=0.1",
		"e link 0.5 via c anchor=0.9 page=0.1",
	})
}

// An address with the value 0 is proposed too, once.
func TestBestFirstProposesLinksOfValueZero(t *testing.T) {
	w := anchored{"a": "0 b c", "b": "0 c"}
	check(t, crawl(t, w, "bestfirst", []string{"anchor=true"}, 1, 4, "a"), []string{"a seed", "b link", "c link", ""})
}

// a brings b (.5) to e (.5); the batch of two is b and c, by age. b brings f (.9),
// which is better than all, but waits until c was fetched, too.
func TestBestNFetchesWholeBatch(t *testing.T) {
	w := tiny{"a": "0.5 b c d e", "b": "0.9 f", "c": "0 g", "d": "0", "e": "0", "f": "0", "g": "0"}
	check(t, crawl(t, w, "bestn", []string{"n=2"}, 1, 8, "a"), []string{
		"a seed", "b link", "c link", "f link", "d link", "e link", "g link", "",
	})
	check(t, crawl(t, w, "bestn", []string{"n=2"}, 5, 6, "a"), []string{
		"a seed", "b link, c link", "f link, d link", "e link, g link", "", "",
	})
	check(t, crawl(t, w, "bestn", []string{"n=1"}, 5, 7, "a"), []string{
		"a seed", "b link", "f link", "c link", "d link", "e link", "g link",
	})
}

// Of a's five links a buffer of three keeps the oldest, b c d. The batch is b; its f
// and i (.9) come in, and of c and d (.5) the older stays. f brings g (.9), for which
// there is room. When the buffer is empty, what was evicted comes back into it: d, e,
// h, the first batch of which is called a restart.
func TestBestNEvictsTheLowest(t *testing.T) {
	w := tiny{"a": "0.5 b c d e h", "b": "0.9 f i", "f": "0.9 g", "c": "0", "d": "0", "e": "0", "g": "0", "h": "0", "i": "0"}
	check(t, crawl(t, w, "bestn", []string{"n=1", "buffer=3"}, 1, 11, "a"), []string{
		"a seed", "b link", "f link", "i link", "g link", "c link",
		"d restart", "e link", "h link", "", "",
	})
}
