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

// finish makes the content of a page from the collected data.
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

// anchors returns the anchors of all visible references.
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

// A target is a URL that references of the page refer to.
type target struct {
	url  string // canonical
	hash uint64 // of url
	link int    // index of the link, or one of the constants below
}

const (
	unlinked = -1 // no reference that counts has led to it
	tooMany  = -2 // MaxLinks is reached
)

// targets are the targets of one page, in order of appearance.
type targets struct {
	list []target
	// places is a hash table with open addressing of indexes in list, plus 1. A map would hash
	// each new URL twice.
	places []int32
	seed   maphash.Seed
}

// reset makes room for a number of references.
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

// find returns the target with a URL, or nil and the arguments for add.
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

// add adds a target that find did not find.
func (t *targets) add(url string, hash, place uint64) *target {
	t.list = append(t.list, target{url, hash, unlinked})
	t.places[place] = int32(len(t.list))
	return &t.list[len(t.list)-1]
}

// targetOf returns the target of a reference, or nil if it cannot be fetched. With full set,
// only digests of new URLs are stored, because a hundred thousand URLs can be a hundred times
// as long as their page.
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

// links resolves the references and merges those with the same target. It also returns the
// number of targets without the page itself. The links are stored in memory, if it is large
// enough.
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
		if i == 0 || ref.target != c.references[i-1].target { // an image and its caption often refer to the same URL
			t = c.targetOf(ref.target, &r, full)
		}
		if t == nil || t.url == r.page && (insidePage(ref.target) || ref.tag == "link") {
			continue
		}
		switch {
		case t.link == unlinked:
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
	// Clear links of earlier pages, which would keep the texts of those pages alive.
	for rest := links[len(links):cap(links)]; len(rest) > 0 && rest[0].URL != ""; rest = rest[1:] {
		rest[0] = wire.Link{}
	}
	return links, outDegree
}

// forget releases what is only needed for the links of one page, and memory that few pages
// need.
func (c *collector) forget() {
	const maxKept = 1 << 12
	if len(c.targets.list) > maxKept {
		c.targets = targets{}
	}
	if cap(c.references) > 4*maxKept {
		c.references, c.waiting, c.allPaths = nil, nil, nil
	}
	if cap(c.body) > maxKept<<8 {
		c.body = nil
	}
	clear(c.targets.list)
}

// isBetter reports whether a reference replaces the link with the same target: visible
// references before <link>, then the longer anchor.
func (c *collector) isBetter(r *reference, link *wire.Link, text string) bool {
	if skipped := link.Tag == "link"; skipped != (r.tag == "link") {
		return skipped
	}
	if r.anchorBound() <= len(link.Anchor) {
		return false
	}
	c.scratch = r.appendAnchor(c.scratch[:0], text)
	return len(c.scratch) > len(link.Anchor)
}

// link fills in a link from a reference.
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

// pathOf returns the path of a reference. Consecutive links often have the same.
func (c *collector) pathOf(r *reference) string {
	path := c.allPaths[r.path : r.path+r.pathLength]
	if string(path) != c.lastPath {
		c.lastPath = c.kept.keep(path)
	}
	return c.lastPath
}

// appendAnchor appends the anchor of a reference.
func (r *reference) appendAnchor(dst []byte, text string) []byte {
	s := trimGaps(text[r.start:r.end])
	switch {
	case s != "":
		return appendLine(dst, trimGaps(truncate(s, MaxAnchor)))
	case r.alt != "":
		before := len(dst)
		if dst = appendTidy(dst, r.alt, MaxAnchor); len(dst) > before {
			return dst
		}
	}
	return appendTidy(dst, r.title, MaxAnchor)
}

// anchorBound returns an upper bound of the length of the anchor.
func (r *reference) anchorBound() int {
	return min(max(r.end-r.start, len(r.alt), len(r.title)), MaxAnchor)
}

// appendContext appends the words before the reference in its block, a newline, and the words
// after it; nothing if there are none.
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

// trimGaps removes the separators at both ends of a part of a text.
func trimGaps(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\n') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\n') {
		s = s[:len(s)-1]
	}
	return s
}

// appendLine appends a part of a text as one line.
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

// An arena allocates strings together.
type arena []byte

// keep copies s into the arena.
func (a *arena) keep(s []byte) string {
	const chunk = 64 << 10
	if len(s) > cap(*a)-len(*a) {
		*a = make([]byte, 0, max(len(s), chunk))
	}
	start := len(*a)
	*a = append(*a, s...)
	return view((*a)[start:])
}

// insidePage reports whether a reference to its own page is only a fragment, or empty.
func insidePage(target string) bool {
	target = strings.TrimLeft(target, blanks)
	return target == "" || target[0] == '#'
}

// A resolver resolves the references of one page.
type resolver struct {
	base   weburl.URL // only absolute URLs resolve against the zero URL
	page   string     // the page's canonical URL; "" if it is invalid
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

// resolve returns the canonical target of a reference, or "" if it cannot be fetched.
func (r *resolver) resolve(reference string) string {
	u, err := weburl.ResolveIn(r.base, reference, r.encode)
	if err != nil {
		return ""
	}
	return strings.Clone(u.String())
}
