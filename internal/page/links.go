package page

import (
	"cmp"
	"crypto/sha256"
	"hash/maphash"
	"math/bits"
	"strings"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// finish makes the content of a page of all that the collector was told.
func (c *collector) finish(doc *Document, content *Content) {
	text := string(c.body)
	for _, i := range c.waiting {
		c.references[i].to = len(text)
	}
	content.Title = cmp.Or(c.title, c.meta[metaOGTitle])
	content.Description = cmp.Or(c.meta[metaDescription], c.meta[metaOGDescription])
	content.Keywords = c.meta[metaKeywords]
	content.RobotsMeta = c.meta[metaRobots]
	content.Lang = strings.Clone(cmp.Or(language(c.lang), language(c.meta[metaLanguage]), language(doc.Language)))
	content.Text = text
	if c.regions != nil {
		content.Text = c.regions.mainContent(text, c.references)
		content.Simhash = c.words.simhash(content.Text, nil)
	} else {
		content.Simhash = c.words.simhash(text, c.references)
	}
	if content.Lang == "" {
		content.Lang = detectLanguage(content.Text)
	}

	r := newResolver(doc.URL, c.base, queryEncoder(content.Charset))
	if c.canonical != "" {
		content.Canonical = r.resolve(c.canonical)
	}
	content.AnchorText = c.anchors(text)
	content.Links, content.OutDegree = c.links(text, r, doc.Links)
}

// anchors is the anchors of all references that have one in sight.
func (c *collector) anchors(text string) string {
	all := c.scratch[:0]
	for i := range c.references {
		r := &c.references[i]
		if r.tag != "a" && r.tag != "area" {
			continue
		}
		before := len(all)
		if before > 0 {
			all = append(all, ' ')
		}
		start := len(all)
		if all = r.appendAnchor(all, text); len(all) == start {
			all = all[:before]
		}
		if len(all) > MaxAnchors {
			all = all[:before]
			break
		}
	}
	c.scratch = all
	return string(all)
}

// A target is where references of the page lead to.
type target struct {
	url  string // canonical
	hash uint64 // of url
	link int    // its place among the links, or one of these
}

const (
	notYet  = -1 // no reference that counts has led to it
	tooMany = -2 // there are as many links as there may be
)

// targets are those of one page, in order of appearance.
type targets struct {
	list []target
	// places is a hash table of the list: a target is in the first free place from
	// where the beginning of its hash says, as its number in the list and one. A map would
	// have to be told of each address twice.
	places []int32
	seed   maphash.Seed
}

// reset makes room for as many targets as there are references.
func (t *targets) reset(references int) {
	size := 1 << bits.Len(uint(2*references))
	if size > cap(t.places) {
		t.places = make([]int32, size)
		t.seed = maphash.MakeSeed()
	} else {
		t.places = t.places[:size]
		clear(t.places)
	}
	clear(t.list)
	t.list = t.list[:0]
}

// find returns the target with that address, or nil and what add wants to know.
func (t *targets) find(url []byte) (found *target, hash, place uint64) {
	hash = maphash.Bytes(t.seed, url)
	mask := uint64(len(t.places) - 1)
	for place = hash & mask; t.places[place] != 0; place = (place + 1) & mask {
		if found = &t.list[t.places[place]-1]; found.hash == hash && found.url == string(url) {
			return found, hash, place
		}
	}
	return nil, hash, place
}

// add adds a target that was not found.
func (t *targets) add(url string, hash, place uint64) *target {
	t.list = append(t.list, target{url, hash, notYet})
	t.places[place] = int32(len(t.list))
	return &t.list[len(t.list)-1]
}

// targetOf finds the target of a reference, or returns nil if it leads to
// nothing that can be fetched. If there are as many links as there may be, what
// is new is only counted, and only its digest is kept: a hundred thousand
// addresses can be a hundred times as long as their page.
func (c *collector) targetOf(reference string, r *resolver, full bool) *target {
	var err error
	if c.scratch, err = weburl.ResolveTo(c.scratch, r.base, reference, r.encode); err != nil {
		return nil
	}
	t, hash, place := c.targets.find(c.scratch)
	if t == nil && full && string(c.scratch) != r.page {
		digest := sha256.Sum256(c.scratch)
		c.scratch = append(c.scratch[:0], digest[:16]...)
		t, hash, place = c.targets.find(c.scratch)
	}
	if t == nil {
		t = c.targets.add(c.kept.keep(c.scratch), hash, place)
	}
	return t
}

// links resolves the references and merges those to one target. It also counts
// the targets, without the page itself. The links take the given memory, if it is enough.
func (c *collector) links(text string, r resolver, memory []wire.Link) (links []wire.Link, outDegree int) {
	links = memory[:0]
	if n := min(len(c.references), MaxLinks); n > cap(links) {
		links = make([]wire.Link, 0, n)
	}
	c.targets.reset(len(c.references))
	size := 0
	var t *target
	for i := range c.references {
		ref := &c.references[i]
		full := len(links) == MaxLinks || size > maxLinkBytes
		if i == 0 || ref.target != c.references[i-1].target { // an image and the words beneath it often lead to the same
			t = c.targetOf(ref.target, &r, full)
		}
		if t == nil || t.url == r.page && (insidePage(ref.target) || ref.tag == "link") {
			continue
		}
		switch {
		case t.link == notYet:
			if t.url != r.page {
				outDegree++
			}
			if full {
				t.link = tooMany
				continue
			}
			t.link = len(links)
			links = links[:len(links)+1]
			link := &links[t.link]
			c.link(link, ref, t.url, text)
			size += len(t.url) + len(link.Anchor) + len(link.Context) + len(link.Rel) + len(link.Path)
		case t.link >= 0:
			link := &links[t.link]
			hreflang := link.Hreflang
			if c.isBetter(ref, link, text) {
				c.link(link, ref, t.url, text)
			}
			if hreflang != "" {
				link.Hreflang = hreflang
			} else if ref.hreflang != "" {
				link.Hreflang = strings.Clone(language(ref.hreflang))
			}
		}
	}
	c.forget()
	if len(links) == 0 {
		links = memory[:0]
	}
	// Links of earlier pages that stand behind would keep the texts of these for as long.
	for rest := links[len(links):cap(links)]; len(rest) > 0 && rest[0].URL != ""; rest = rest[1:] {
		rest[0] = wire.Link{}
	}
	return links, outDegree
}

// forget lets go of what is only of use for the links of one page, and of memory
// that few pages need.
func (c *collector) forget() {
	const most = 1 << 12
	if len(c.targets.list) > most {
		c.targets = targets{}
	}
	if cap(c.references) > 4*most {
		c.references, c.waiting, c.allPaths = nil, nil, nil
	}
	if cap(c.body) > most<<8 {
		c.body = nil
	}
	clear(c.targets.list)
}

// isBetter reports whether the reference tells more than the link that stands
// for its target: what a reader sees more than a <link>, then the longer anchor.
func (c *collector) isBetter(r *reference, link *wire.Link, text string) bool {
	if unseen := link.Tag == "link"; unseen != (r.tag == "link") {
		return unseen
	}
	if r.anchorBound() <= len(link.Anchor) {
		return false
	}
	c.scratch = r.appendAnchor(c.scratch[:0], text)
	return len(c.scratch) > len(link.Anchor)
}

// link makes a link to target of the reference.
func (c *collector) link(link *wire.Link, r *reference, target, text string) {
	*link = wire.Link{URL: target, Tag: r.tag, Path: c.pathOf(r)}
	if r.hreflang != "" {
		link.Hreflang = strings.Clone(language(r.hreflang))
	}
	if r.rel != "" {
		c.scratch = appendTidy(c.scratch[:0], strings.ToLower(r.rel), MaxPath)
		link.Rel = c.kept.keep(c.scratch)
	}
	if shown := trimGaps(text[r.start:r.end]); shown != "" && len(shown) <= MaxAnchor && strings.IndexByte(shown, '\n') < 0 {
		link.Anchor = shown
	} else {
		c.scratch = r.appendAnchor(c.scratch[:0], text)
		link.Anchor = c.kept.keep(c.scratch)
	}
	c.scratch = r.appendContext(c.scratch[:0], text)
	link.Context = c.kept.keep(c.scratch)
}

// pathOf is the path of a reference. Links often follow another of the same.
func (c *collector) pathOf(r *reference) string {
	path := c.allPaths[r.path : r.path+r.pathLength]
	if string(path) != c.lastPath {
		c.lastPath = c.kept.keep(path)
	}
	return c.lastPath
}

// appendAnchor appends what the reference is called.
func (r *reference) appendAnchor(dst []byte, text string) []byte {
	s := trimGaps(text[r.start:r.end])
	switch {
	case s != "":
		return appendLine(dst, trimGaps(cut(s, MaxAnchor)))
	case r.alt != "":
		before := len(dst)
		if dst = appendTidy(dst, r.alt, MaxAnchor); len(dst) > before {
			return dst
		}
	}
	return appendTidy(dst, r.title, MaxAnchor)
}

// anchorBound is at least the length of anchor, without making it.
func (r *reference) anchorBound() int {
	return min(max(r.end-r.start, len(r.alt), len(r.title)), MaxAnchor)
}

// appendContext appends the words around the reference inside its block: those
// before it, a newline, those after it; nothing if there are none.
func (r *reference) appendContext(dst []byte, text string) []byte {
	before := trimGaps(text[r.from:r.start])
	after := trimGaps(text[r.end:r.to])
	if before == "" && after == "" {
		return dst
	}
	dst = appendLine(dst, trimGaps(lastWords(before, ContextWords, (MaxContext-1)/2)))
	dst = append(dst, '\n')
	return appendLine(dst, trimGaps(firstWords(after, ContextWords, (MaxContext-1)/2)))
}

// trimGaps is a part of a text without what separates its words from others.
func trimGaps(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\n') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\n') {
		s = s[:len(s)-1]
	}
	return s
}

// appendLine appends a part of a text, in one line.
func appendLine(dst []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(append(dst, s[:i]...), ' ')
		s = s[i+1:]
	}
}

// An arena is where the strings of pages are kept together.
type arena []byte

// keep returns s as a string.
func (a *arena) keep(s []byte) string {
	const least = 64 << 10
	if len(s) > cap(*a)-len(*a) {
		*a = make([]byte, 0, max(len(s), least))
	}
	start := len(*a)
	*a = append(*a, s...)
	return view((*a)[start:])
}

// insidePage reports whether a reference that leads to its own page only names
// a place in it, or nothing.
func insidePage(target string) bool {
	target = strings.TrimLeft(target, blanks)
	return target == "" || target[0] == '#'
}

// A resolver makes the references of one page canonical.
type resolver struct {
	base   weburl.URL // the zero URL resolves what is absolute
	page   string     // the page itself, canonical; "" if its URL is none
	encode weburl.Encoder
}

// newResolver takes the URL of the page, its first <base href> and its encoding.
func newResolver(page, base string, encode weburl.Encoder) resolver {
	u, _ := weburl.Parse(page)
	r := resolver{base: u, page: u.String(), encode: encode}
	if base != "" {
		if u, err := weburl.ResolveIn(r.base, base, encode); err == nil {
			r.base = u
		}
	}
	return r
}

// resolve is the canonical target of a reference, or "" if it leads to nothing
// that can be fetched.
func (r *resolver) resolve(reference string) string {
	u, err := weburl.ResolveIn(r.base, reference, r.encode)
	if err != nil {
		return ""
	}
	return strings.Clone(u.String())
}
