package fitness

import (
	"math"
	"slices"
)

// This file implements the relevance of
//
//	Devendra Tanaji Rane and Ganesh R. Pathak, 2017 (genetic algorithm with Jaccard similarity of
//	links and the content measure Dpr, after P. Dahiwale et al., 2015),
//
// which compares a page with a reference page, by links and by words:
//
//	Jlink = |X ∩ Y| / |X ∪ Y|
//	Dpr   = √((Mp + Nr + CW) / UW)
//	J     = Jlink + Dpr
//
//	paper   here              meaning
//	P       Reference         the page compared with
//	R       the page
//	X, Y    Reference.Links   what they link to, without themselves
//	Mp, Nr  Reference.Counts  occurrences of keywords in title and text of each
//	CW      Jaccard           terms that occur in title and text of both pages
//	UW      Jaccard           terms that occur in one of the pages only
//
// Dpr is unbounded, divides by zero for a page with the same words as the reference, and is so
// large that links hardly matter. So by default
//
//	D' = √(A / (A + UW)), with A = Mp + Nr + CW, where Mp and Nr are 20 at most,
//	J  = ½ (Jlink + D'),
//
// which grows with the paper's ratio and lies in [0, 1]. Literal is the paper's
// formula with UW + 1.
//
// Links: the paper gives a link the score of its page; strategies do this. For the words of the link
// we use D' of short texts. These cannot contain all terms of the reference, so UW counts only the
// terms of the text that are not in the reference, and Mp is omitted.

// saturation is the maximum of Mp and Nr.
const saturation = 20

// A Reference is the reference page.
type Reference struct {
	Links  []string // canonical URLs that the page links to
	Terms  []string // stems of its title and text
	Counts int      // occurrences of keywords in its title and text
}

// Jaccard is the measure. Its parts ([Jaccard.Explain]) sum to the score.
type Jaccard struct {
	Literal bool // the paper's formula: from 0, without a bound

	target *Target
	links  map[string]struct{}
	terms  []bool // by term index: whether the reference has the term
	size   int    // terms of the reference
	counts float64
	seen   []string // scratch
}

// NewJaccard returns the measure for a target and a reference page.
func NewJaccard(t *Target, ref Reference) *Jaccard {
	j := &Jaccard{target: t, links: make(map[string]struct{}, len(ref.Links)), counts: float64(max(ref.Counts, 0))}
	for _, l := range ref.Links {
		j.links[l] = struct{}{}
	}
	for _, name := range ref.Terms {
		i := t.analyzer.Stem(name).Index()
		for i >= len(j.terms) {
			j.terms = append(j.terms, false)
		}
		if !j.terms[i] {
			j.terms[i] = true
			j.size++
		}
	}
	t.analyzer.Keep()
	return j
}

// Threshold returns J of a page without common links whose A is a third of its UW. The paper
// names no threshold.
func (j *Jaccard) Threshold() float64 {
	if j.Literal {
		return math.Sqrt(1. / 3)
	}
	return 0.25
}

// An agreement holds the counts of a comparison with the reference.
type agreement struct {
	sharedLinks, allLinks  int
	mine, theirs           float64 // Mp, Nr
	common, uncommon       float64 // CW, UW
	links, content, factor float64 // Jlink; D' or Dpr; the factor of both
}

// Page returns J, in [0, 1] unless Literal. For a page without words, the content part is 0.
func (j *Jaccard) Page(r *Reading) float64 {
	a := j.compare(r)
	return float64(a.factor*a.links) + float64(a.factor*a.content)
}

// Explain returns the parts of J: the part of the common links, and the part of the content, divided
// among the three summands of A.
func (j *Jaccard) Explain(r *Reading) []Reason {
	var reasons []Reason
	a := j.compare(r)
	if a.sharedLinks > 0 {
		reasons = append(reasons, Reason{"links in common", float64(a.sharedLinks), 1 / float64(a.allLinks), a.factor * a.links})
	}
	if a.content > 0 {
		weight := a.factor * a.content / (a.mine + a.theirs + a.common)
		for _, s := range []Reason{
			{What: "keywords in the reference", Count: a.mine},
			{What: "keywords in the page", Count: a.theirs},
			{What: "words in common", Count: a.common},
		} {
			if s.Count > 0 {
				s.Weight, s.Part = weight, s.Count*weight
				reasons = append(reasons, s)
			}
		}
	}
	return sorted(reasons)
}

func (j *Jaccard) compare(r *Reading) agreement {
	var a agreement
	a.sharedLinks, a.allLinks = j.compareLinks(r.page)
	if a.allLinks > 0 {
		a.links = float64(a.sharedLinks) / float64(a.allLinks)
	}
	a.mine = j.counts
	for k := range j.target.keywords {
		a.theirs += r.occurrences(k)
	}
	words := r.bag()
	own := 0
	for _, term := range words.terms {
		if c := words.of(term); c[Title] == 0 && c[Body] == 0 {
			continue
		}
		own++
		if j.has(term.Index()) {
			a.common++
		}
	}
	a.uncommon = float64(own+j.size) - 2*a.common
	a.factor = 1
	if !j.Literal {
		a.mine, a.theirs, a.factor = min(a.mine, saturation), min(a.theirs, saturation), 0.5
	}
	if own == 0 {
		return a
	}
	if j.Literal {
		a.content = math.Sqrt((a.mine + a.theirs + a.common) / (a.uncommon + 1))
	} else {
		a.content = bounded(a.mine+a.theirs+a.common, a.uncommon)
	}
	return a
}

// bounded returns D' for the counts of agreement and difference.
func bounded(agree, differ float64) float64 {
	if agree == 0 {
		return 0
	}
	return math.Sqrt(agree / (agree + differ))
}

// compareLinks returns the number of distinct links of p that are also in the reference, and the
// size of the union. Links of a page to itself are ignored.
func (j *Jaccard) compareLinks(p *Page) (shared, all int) {
	j.seen = append(j.seen[:0], p.Links...)
	slices.Sort(j.seen)
	j.seen = slices.Compact(j.seen)
	if i, ok := slices.BinarySearch(j.seen, p.URL); ok {
		j.seen = slices.Delete(j.seen, i, i+1)
	}
	for _, l := range j.seen {
		if _, ok := j.links[l]; ok {
			shared++
		}
	}
	return shared, len(j.seen) + len(j.links) - shared
}

// has reports whether the reference has the term with this index.
func (j *Jaccard) has(index int) bool { return index < len(j.terms) && j.terms[index] }

// Link returns the promise of a link by the neighbourhood of links.go, with D' of
// short texts.
func (j *Jaccard) Link(l *LinkReading) Promise {
	return shark(j.similarity(&l.anchor), j.similarity(&l.context), j.similarity(&l.url))
}

// similarity returns D' of a short text.
func (j *Jaccard) similarity(p *passage) float64 {
	words := j.target.bagOf(p)
	common, keywords := 0.0, 0.0
	for _, term := range words.terms {
		if j.has(term.Index()) {
			common++
		}
	}
	if p.found {
		for _, n := range p.counts {
			keywords += n
		}
	}
	return bounded(common+min(keywords, saturation), float64(len(words.terms))-common)
}
