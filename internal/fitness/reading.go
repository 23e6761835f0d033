package fitness

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"spoor/internal/text"
)

// A Zone is a part of a page whose words have the same weight.
type Zone uint8

// The zones. The words of anchors are also in the body, and are counted in both zones.
const (
	Title Zone = iota
	Anchor
	Meta // description and keywords
	Body
	zones
)

// A Page holds the parts of a page that the measures read.
type Page struct {
	URL         string // canonical; links to it are not counted
	Title       string
	Anchors     string   // the words of all links
	Description string   // description from the meta elements
	Keywords    string   // keywords from the meta elements
	Text        string   // all visible text
	Links       []string // the canonical URLs that the page links to; for measures that compare links
}

// A Link holds the data of a link before its target is fetched.
type Link struct {
	URL     string
	Anchor  string
	Context string // the words before the link, a newline, the words after the link
}

// A Promise predicts the score of a link's target. Each number is in [0, 1] unless the measure is
// documented otherwise, and 0 if no word of the link is about the topic.
type Promise struct {
	Anchor, Context, URL float64 // similarity of each with the topic
	Score                float64 // combination of all
}

// A Reason is one contribution to the value of a page.
type Reason struct {
	What   string  // a keyword, term or feature, in its written form
	Count  float64 // its occurrences, weighted by the measure
	Weight float64 // its weight in the topic
	Part   float64 // its contribution; each measure documents what the parts sum to
}

// A Measure computes the relevance of pages to its topic, and predicts the relevance of link targets.
// It has scratch memory; like its [Target] it is not safe for concurrent use.
type Measure interface {
	// Page returns the relevance of a page.
	Page(*Reading) float64
	// Threshold returns the lowest value of Page for a relevant page.
	Threshold() float64
	// Link returns the promise of a link.
	Link(*LinkReading) Promise
	// Explain returns the reasons for the value of Page, the largest part first, ties by
	// What. Unlike the other methods it allocates.
	Explain(*Reading) []Reason
}

type passage struct {
	terms  []text.Term // in order of appearance, including silent ones
	words  int         // number of terms that are not silent
	counts []float64   // by keyword: its occurrences
	found  bool        // whether any keyword occurs
}

// A Reading is a page as terms, analysed once for all measures.
type Reading struct {
	page   *Page
	target *Target
	zones  [zones]passage
	words  bag // filled on demand by [Reading.bag]
	filled bool
}

// A LinkReading is a link as terms, analysed once for all measures.
type LinkReading struct {
	anchor, context, url passage
	at                   int // index of the anchor in the terms of the context, where there is a Gap
}

// Read analyses p for all measures of the target. The reading is valid until the next call,
// and as long as p does not change. The first 4 MiB of each text are read.
func (t *Target) Read(p *Page) *Reading {
	t.analyzer.Trim()
	r := &t.reading
	r.page, r.target, r.filled = p, t, false
	for z := range r.zones {
		r.zones[z].terms = r.zones[z].terms[:0]
	}
	t.read(&r.zones[Title], p.Title)
	t.read(&r.zones[Anchor], p.Anchors)
	t.read(&r.zones[Meta], p.Description)
	if p.Keywords != "" {
		meta := &r.zones[Meta]
		meta.terms = append(meta.terms, text.Gap) // so that no expression spans both texts
		t.read(meta, p.Keywords)
	}
	t.read(&r.zones[Body], p.Text)
	for z := range r.zones {
		t.count(&r.zones[z])
	}
	return r
}

// ReadLink analyses l, a link of the page read last, for all measures of the target. The
// reading is valid until the next call of Read or ReadLink.
func (t *Target) ReadLink(l *Link) *LinkReading {
	r := &t.link
	r.anchor.terms, r.context.terms, r.url.terms = r.anchor.terms[:0], r.context.terms[:0], r.url.terms[:0]
	t.read(&r.anchor, l.Anchor)
	before, after, _ := strings.Cut(l.Context, "\n")
	t.read(&r.context, before)
	r.at = len(r.context.terms)
	if after != "" {
		r.context.terms = append(r.context.terms, text.Gap)
		t.read(&r.context, after)
	}
	t.read(&r.url, t.address(l.URL))
	t.count(&r.anchor)
	t.count(&r.context)
	t.count(&r.url)
	return r
}

// maxText is the maximum length of a text in bytes: about 700,000 words.
const maxText = 4 << 20

func (t *Target) read(p *passage, s string) {
	if len(s) > maxText {
		s = s[:maxText]
	}
	p.terms = t.analyzer.Append(p.terms, s)
}

// count sets the fields of p that are computed from its terms.
func (t *Target) count(p *passage) {
	if p.counts == nil {
		p.counts = make([]float64, len(t.keywords))
	} else if p.found {
		clear(p.counts)
	}
	p.found = false
	words := 0
	for i, term := range p.terms {
		if !term.Silent() {
			words++
		}
		if !t.begins[uint8(term)] { // true for most terms, so the branch predictor is usually right
			continue
		}
		index := term.Index()
		if index >= len(t.first) {
			continue
		}
	next:
		for k := t.first[index]; k != none; k = t.keywords[k].next {
			want := t.keywords[k].terms
			if len(want) > len(p.terms)-i {
				continue
			}
			for j := 1; j < len(want); j++ {
				if p.terms[i+j] != want[j] {
					continue next
				}
			}
			p.counts[k]++
			p.found = true
		}
	}
	p.words = words
}

// occurrences returns the occurrences of keyword k in title and text.
func (r *Reading) occurrences(k int) float64 {
	return r.zones[Title].counts[k] + r.zones[Body].counts[k]
}

// length returns the number of scored terms in title and text.
func (r *Reading) length() int { return r.zones[Title].words + r.zones[Body].words }

// A bag counts terms in each zone, except silent ones. It is filled and emptied without
// allocating.
type bag struct {
	counts [][zones]uint32 // by term index
	terms  []text.Term     // terms with a count, in order of appearance
}

// bag returns the counts of the page's terms in each zone.
func (r *Reading) bag() *bag {
	if !r.filled {
		r.words.reset()
		for z := range r.zones {
			r.words.add(Zone(z), r.zones[z].terms)
		}
		r.filled = true
	}
	return &r.words
}

// bagOf returns the counts of a text's terms in the zone Body. It is valid until the next
// call.
func (t *Target) bagOf(p *passage) *bag {
	t.words.reset()
	t.words.add(Body, p.terms)
	return &t.words
}

func (b *bag) add(z Zone, terms []text.Term) {
	for _, term := range terms {
		if term.Silent() {
			continue
		}
		i := term.Index()
		if i >= len(b.counts) {
			b.counts = append(b.counts, make([][zones]uint32, i+1-len(b.counts))...)
		}
		c := &b.counts[i]
		if *c == [zones]uint32{} {
			b.terms = append(b.terms, term)
		}
		c[z]++
	}
}

func (b *bag) of(t text.Term) *[zones]uint32 { return &b.counts[t.Index()] }

// maxCount returns the occurrences of the most frequent term in title and text.
func (b *bag) maxCount() uint32 {
	n := uint32(0)
	for _, t := range b.terms {
		c := b.of(t)
		n = max(n, c[Title]+c[Body])
	}
	return n
}

// maxBag is the size, in terms, above which a bag is not reused.
const maxBag = 1 << 19

func (b *bag) reset() {
	if len(b.counts) > maxBag {
		*b = bag{}
		return
	}
	for _, t := range b.terms {
		b.counts[t.Index()] = [zones]uint32{}
	}
	b.terms = b.terms[:0]
}

// address returns a URL without its scheme, and with percent-encoded bytes decoded. It is
// valid until the next call.
func (t *Target) address(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	if strings.IndexByte(url, '%') < 0 {
		return url
	}
	t.spare = t.spare[:0]
	for i := 0; i < len(url); i++ {
		c := url[i]
		if c == '%' && i+2 < len(url) {
			if n, err := strconv.ParseUint(url[i+1:i+3], 16, 8); err == nil {
				c = byte(n)
				i += 2
			}
		}
		t.spare = append(t.spare, c)
	}
	return unsafe.String(unsafe.SliceData(t.spare), len(t.spare)) // the analyzer does not retain it
}

// sorted sorts reasons by part, largest first, ties by What.
func sorted(reasons []Reason) []Reason {
	slices.SortFunc(reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Part, a.Part), cmp.Compare(a.What, b.What))
	})
	return reasons
}
