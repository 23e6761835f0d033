package page

import (
	"cmp"
	"crypto/sha256"
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
		content.Simhash = c.voted.simhash(content.Text, nil)
	} else {
		content.Simhash = c.voted.simhash(text, c.references)
	}
	if content.Lang == "" {
		content.Lang = detectLanguage(content.Text)
	}

	r := newResolver(doc.URL, c.base, queryEncoder(content.Charset))
	if c.canonical != "" {
		content.Canonical = r.resolve(c.canonical)
	}
	content.AnchorText = c.anchors(text)
	content.Links, content.OutDegree = c.links(text, r)
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
	link int    // its place among the links, or one of these
}

const (
	notYet  = -1 // no reference that counts has led to it
	tooMany = -2 // there are as many links as there may be
)

// targetOf finds the target of a reference, or returns nil if it leads to
// nothing that can be fetched. If there are as many links as there may be, what
// is new is only counted, and only its digest is kept: a hundred thousand
// addresses can be a hundred times as long as their page.
func (c *collector) targetOf(reference string, r *resolver, full bool) *target {
	var err error
	if c.scratch, err = weburl.ResolveTo(c.scratch, r.base, reference, r.encode); err != nil {
		return nil
	}
	i, ok := c.canonicals[string(c.scratch)]
	if !ok && full && string(c.scratch) != r.page {
		digest := sha256.Sum256(c.scratch)
		c.scratch = append(c.scratch[:0], digest[:16]...)
		i, ok = c.canonicals[string(c.scratch)]
	}
	if !ok {
		i = len(c.targets)
		url := c.kept.keep(c.scratch)
		c.targets = append(c.targets, target{url, notYet})
		c.canonicals[url] = i
	}
	return &c.targets[i]
}

// links resolves the references and merges those to one target. It also counts
// the targets, without the page itself.
func (c *collector) links(text string, r resolver) (links []wire.Link, outDegree int) {
	if c.canonicals == nil {
		c.canonicals = map[string]int{}
	}
	size := 0
	for i := range c.references {
		ref := &c.references[i]
		full := len(links) == MaxLinks || size > maxLinkBytes
		t := c.targetOf(ref.target, &r, full)
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
			if links == nil {
				links = make([]wire.Link, 0, min(len(c.references), MaxLinks))
			}
			link := c.link(ref, t.url, text)
			size += len(t.url) + len(link.Anchor) + len(link.Context) + len(link.Rel) + len(link.Path)
			links = append(links, link)
		case t.link >= 0:
			link := &links[t.link]
			hreflang := link.Hreflang
			if c.isBetter(ref, link, text) {
				*link = c.link(ref, t.url, text)
			}
			if hreflang != "" {
				link.Hreflang = hreflang
			} else if ref.hreflang != "" {
				link.Hreflang = strings.Clone(language(ref.hreflang))
			}
		}
	}
	c.forget()
	return links, outDegree
}

// forget lets go of what is only of use for the links of one page, and of memory
// that few pages need.
func (c *collector) forget() {
	const most = 1 << 12
	if len(c.canonicals) > most {
		c.canonicals, c.targets = nil, nil
	}
	if cap(c.references) > 4*most {
		c.references, c.waiting, c.allPaths = nil, nil, nil
	}
	if cap(c.body) > most<<8 {
		c.body = nil
	}
	clear(c.canonicals)
	clear(c.targets)
	c.targets, c.kept = c.targets[:0], nil
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

// link is the reference as a link to target.
func (c *collector) link(r *reference, target, text string) wire.Link {
	link := wire.Link{URL: target, Tag: r.tag, Path: c.pathOf(r)}
	if r.hreflang != "" {
		link.Hreflang = strings.Clone(language(r.hreflang))
	}
	if r.rel != "" {
		link.Rel = tidy(strings.ToLower(r.rel), MaxPath)
	}
	if shown := trimGaps(text[r.start:r.end]); shown != "" && len(shown) <= MaxAnchor && strings.IndexByte(shown, '\n') < 0 {
		link.Anchor = shown
	} else {
		c.scratch = r.appendAnchor(c.scratch[:0], text)
		link.Anchor = c.kept.keep(c.scratch)
	}
	c.scratch = r.appendContext(c.scratch[:0], text)
	link.Context = c.kept.keep(c.scratch)
	return link
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

// An arena is where the strings of one page are kept together.
type arena []byte

// keep returns s as a string.
func (a *arena) keep(s []byte) string {
	const least, most = 2 << 10, 64 << 10
	if len(s) > cap(*a)-len(*a) {
		*a = make([]byte, 0, max(len(s), min(2*cap(*a), most), least))
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
