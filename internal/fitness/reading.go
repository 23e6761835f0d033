package fitness

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"

	"spoor/internal/text"
)

// A Zone is a part of a page whose words weigh alike.
type Zone uint8

// The zones. The words of anchors stand in the body too, and count in both.
const (
	Title Zone = iota
	Anchor
	Meta // description and keywords
	Body
	zones
)

// A Page is what the measures read of a page.
type Page struct {
	URL         string // canonical; links to it are not counted
	Title       string
	Anchors     string   // the words of all links
	Description string   // of the meta elements
	Keywords    string   // of the meta elements
	Text        string   // all visible text
	Links       []string // the canonical URLs that the page links to; for measures that compare links
}

// A Link is what is known of a link before its target is fetched.
type Link struct {
	URL     string
	Anchor  string
	Context string // the words around it: those before it, a newline, those after it
}

// A Promise is what a link may lead to: each number in [0, 1] unless the
// measure says otherwise, 0 if nothing in it tells of the topic.
type Promise struct {
	Anchor, Context, URL float64 // nearness of each to the topic
	Score                float64 // all in one
}

// A Reason is one thing that a measure went by.
type Reason struct {
	What   string  // a keyword, a term, a feature, as people would write it
	Count  float64 // how often it was there, weighted as the measure does
	Weight float64 // what the topic gives to it
	Part   float64 // what it adds; what the parts sum to is for the measure to say
}

// A Measure says how near a page is to the topic it was made for, and what a
// link promises. It has scratch memory and is for one goroutine, the one that
// its [Target] is for.
type Measure interface {
	// Page is the nearness of the page that was read.
	Page(*Reading) float64
	// Threshold is the nearness from which the measure calls a page relevant.
	Threshold() float64
	// Link is the promise of the link that was read.
	Link(*LinkReading) Promise
	// Explain is what Page went by, the largest part first, ties in the order
	// of What. Unlike the others it allocates.
	Explain(*Reading) []Reason
}

// A passage is a text as terms.
type passage struct {
	terms  []text.Term // silent ones included, in order of appearance
	words  int         // those that are not silent
	counts []float64   // by keyword: how often it stands there
	found  bool        // some keyword does
}

// A Reading is a page as terms, analysed once for all measures.
type Reading struct {
	page   *Page
	target *Target
	zones  [zones]passage
	words  bag // filled when asked for, by [Reading.bag]
	filled bool
}

// A LinkReading is a link as terms, analysed once for all measures.
type LinkReading struct {
	anchor, context, url passage
	at                   int // where in the terms of the context the anchor stands, held by a Gap
}

// Read analyses p for all measures of the target. The reading is valid until
// the next one, and as long as p is not changed. Of each text the first 4 MiB
// count.
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
		meta.terms = append(meta.terms, text.Gap) // no expression begins in one and ends in the other
		t.read(meta, p.Keywords)
	}
	t.read(&r.zones[Body], p.Text)
	for z := range r.zones {
		t.count(&r.zones[z])
	}
	return r
}

// ReadLink analyses l, a link of the page read last, for all measures of the
// target. The reading is valid until the next of a link or a page.
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

// maxText bounds what is read of one text, in bytes: some 700,000 words.
const maxText = 4 << 20

// read appends the terms of s to p.
func (t *Target) read(p *passage, s string) {
	if len(s) > maxText {
		s = s[:maxText]
	}
	p.terms = t.analyzer.Append(p.terms, s)
}

// count sets what p tells of its terms.
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
		if !t.begins[uint8(term)] { // as of most terms, so that this is foreseen
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

// standing returns how often keyword k stands in title and text.
func (r *Reading) standing(k int) float64 { return r.zones[Title].counts[k] + r.zones[Body].counts[k] }

// length returns how many terms of title and text are not silent.
func (r *Reading) length() int { return r.zones[Title].words + r.zones[Body].words }

// A bag is how often each of some terms stands in each zone. Silent terms have
// no place in it. It is made to be filled and emptied without allocating.
type bag struct {
	counts [][zones]uint32 // by term index
	terms  []text.Term     // those with an entry, in order of appearance
}

// bag returns how often each term of the page stands in each of its zones.
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

// bagOf returns how often each term of a text stands there, in the zone Body. It is
// valid until the next one.
func (t *Target) bagOf(p *passage) *bag {
	t.words.reset()
	t.words.add(Body, p.terms)
	return &t.words
}

// add counts terms in zone z.
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

// of returns the counts of a term that is in the bag.
func (b *bag) of(t text.Term) *[zones]uint32 { return &b.counts[t.Index()] }

// most returns how often the most frequent term stands in title and text.
func (b *bag) most() uint32 {
	n := uint32(0)
	for _, t := range b.terms {
		c := b.of(t)
		n = max(n, c[Title]+c[Body])
	}
	return n
}

// maxBag is the largest bag that is kept for the next page, in terms: what a
// page of nothing but new words needed is not needed again.
const maxBag = 1 << 19

// reset empties the bag.
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

// address returns the part of a URL that has words: all after its scheme, with
// percent-encoded bytes decoded. It is valid until the next one.
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
			if hi, lo := unhex(url[i+1]), unhex(url[i+2]); hi < 16 && lo < 16 {
				c = hi<<4 | lo
				i += 2
			}
		}
		t.spare = append(t.spare, c)
	}
	return unsafe.String(unsafe.SliceData(t.spare), len(t.spare)) // the analyzer keeps nothing of it
}

// unhex returns the value of a hexadecimal digit, 16 or more if c is none.
func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 16
}

// sorted returns reasons with the largest part first, ties in the order of What.
func sorted(reasons []Reason) []Reason {
	slices.SortFunc(reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Part, a.Part), cmp.Compare(a.What, b.What))
	})
	return reasons
}
