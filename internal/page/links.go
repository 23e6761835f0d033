package page

import (
	"cmp"
	"crypto/sha256"
	"strings"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// finish fills content from the collected data.
func (c *collector) finish(doc *Document, content *Content, linksOnly bool) {
	text := string(c.body)
	for _, i := range c.waiting {
		c.references[i].to = len(text)
	}
	content.Title = cmp.Or(c.title, c.meta[metaOGTitle])
	content.Description = cmp.Or(c.meta[metaDescription], c.meta[metaOGDescription])
	content.Keywords = c.meta[metaKeywords]
	content.RobotsMeta = c.meta[metaRobots]
	content.Lang = strings.Clone(cmp.Or(language(c.lang), language(c.meta[metaLanguage]), language(doc.Language)))
	content.NeedsBrowser = c.needsBrowser()
	if !linksOnly {
		c.finishText(text, content)
	}
	r := newResolver(doc.URL, c.base, queryEncoder(content.Charset))
	if c.canonical != "" {
		content.Canonical = r.resolve(c.canonical)
	}
	content.Links, content.OutDegree = c.links(text, r, doc.Links)
}

// finishText fills in the text, and what is derived from it.
func (c *collector) finishText(text string, content *Content) {
	content.Text = text
	if c.regions != nil {
		content.Text, content.Boilerplate = c.regions.mainContent(text, c.references)
		content.Simhash = c.words.simhash(content.Text, nil)
	} else {
		content.Simhash = c.words.simhash(text, c.references)
	}
	if content.Lang == "" {
		content.Lang = detectLanguage(content.Text)
	}
	content.AnchorText = c.anchors(text)
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

// Values for targets to which there is no link.
const (
	unlinked = -1 // no reference to the target was used so far
	tooMany  = -2 // the page already had MaxLinks links, or links of maxLinkBytes, when the target was found
)

// targetOf returns the canonical target of a reference, and the index of the link to the target or
// one of the constants above. ok is false if the target cannot be fetched. If full is true, targetOf
// stores only digests of new URLs, because relative references with a long base become URLs that together can be
// a hundred times as long as their page.
func (c *collector) targetOf(reference string, r *resolver, links []wire.Link, full bool) (url string, link int, ok bool) {
	var err error
	if c.scratch, err = weburl.ResolveTo(c.scratch, r.base, reference, r.encode); err != nil {
		return "", 0, false
	}
	link, seen := c.targets[string(c.scratch)]
	isPage := string(c.scratch) == r.page
	if !seen && full && !isPage {
		digest := sha256.Sum256(c.scratch)
		c.scratch = append(c.scratch[:0], digest[:16]...)
		link, seen = c.targets[string(c.scratch)]
	}
	switch {
	case !seen:
		link = unlinked
	case link >= 0:
		return links[link].URL, link, true
	}
	if isPage {
		return r.page, link, true
	}
	return c.kept.keep(c.scratch), link, true
}

// links resolves the references and merges references with the same target. It also returns the
// number of targets, not counting the page itself. It reuses the slice memory if that is large
// enough.
func (c *collector) links(text string, r resolver, memory []wire.Link) (links []wire.Link, outDegree int) {
	links = memory[:0]
	if n := min(len(c.references), MaxLinks); n > cap(links) {
		links = make([]wire.Link, 0, n)
	}
	if c.targets == nil {
		c.targets = map[string]int{}
	}
	size := 0
	var (
		url string
		at  int
		ok  bool
	)
	for i := range c.references {
		ref := &c.references[i]
		full := len(links) == MaxLinks || size > maxLinkBytes
		if i == 0 || ref.target != c.references[i-1].target { // an image and its caption often refer to the same URL
			url, at, ok = c.targetOf(ref.target, &r, links, full)
		}
		if !ok || url == r.page && (insidePage(ref.target) || ref.tag == "link") {
			continue
		}
		switch {
		case at == unlinked:
			if url != r.page {
				outDegree++
			}
			if at = len(links); full {
				at = tooMany
			}
			c.targets[url] = at
			if full {
				continue
			}
			links = links[:len(links)+1]
			link := &links[at]
			c.link(link, ref, url, text)
			size += len(url) + len(link.Anchor) + len(link.Context) + len(link.Rel) + len(link.Path)
		case at >= 0:
			link := &links[at]
			hreflang := link.Hreflang
			if c.isBetter(ref, link, text) {
				c.link(link, ref, url, text)
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

// forget releases data that only the links of one page need, and memory that is larger than most
// pages need.
func (c *collector) forget() {
	const maxKept = 1 << 12
	if clear(c.targets); len(c.references) > maxKept {
		c.targets = nil
	}
	if cap(c.references) > 4*maxKept {
		c.references, c.waiting, c.allPaths = nil, nil, nil
	}
	if cap(c.body) > maxKept<<8 {
		c.body = nil
	}
}

// isBetter reports whether a reference replaces the link with the same target. Visible references
// are better than <link>; otherwise the longer anchor is better.
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

// pathOf returns the tag path of a reference. Consecutive links often have the same path, and share
// one string.
func (c *collector) pathOf(r *reference) string {
	path := c.allPaths[r.path : r.path+r.pathLength]
	if string(path) != c.lastPath {
		c.lastPath = c.kept.keep(path)
	}
	return c.lastPath
}

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
// after it. It appends nothing if there are no such words.
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
func trimGaps(s string) string { return strings.Trim(s, " \n") }

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

// insidePage reports whether a reference is empty or only a fragment, so that it leads to its own page.
func insidePage(target string) bool {
	target = strings.TrimLeft(target, blanks)
	return target == "" || target[0] == '#'
}

type resolver struct {
	base   weburl.URL // only absolute URLs resolve against the zero URL
	page   string     // the page's canonical URL; "" if it is invalid
	encode weburl.Encoder
}

// newResolver returns a resolver for the URL of a page, its first <base href> and its encoding.
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
