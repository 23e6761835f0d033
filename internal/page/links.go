package page

import (
	"cmp"
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
	content.Lang = cmp.Or(language(c.lang), language(c.meta[metaLanguage]), language(doc.Language))
	content.Text = text
	if c.regions != nil {
		content.Text = c.regions.mainContent(text, c.references)
	}
	content.Simhash = simhashHex(content.Text)
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
	var b strings.Builder
	for i := range c.references {
		r := &c.references[i]
		if r.tag != "a" && r.tag != "area" {
			continue
		}
		anchor := r.anchor(text)
		if anchor == "" {
			continue
		}
		if b.Len()+1+len(anchor) > MaxAnchors {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(anchor)
	}
	return b.String()
}

// links resolves the references and merges those to one target. It also counts
// the targets, without the page itself.
func (c *collector) links(text string, r resolver) (links []wire.Link, outDegree int) {
	targets := map[string]string{} // as written → canonical; "" is no link
	index := map[string]int{}      // canonical → its place in links, or -1
	size := 0
	for i := range c.references {
		ref := &c.references[i]
		target, seen := targets[ref.target]
		if !seen {
			target = r.resolve(ref.target)
			targets[ref.target] = target
		}
		if target == "" || target == r.page && (insidePage(ref.target) || ref.tag == "link") {
			continue
		}
		at, seen := index[target]
		switch {
		case !seen && target != r.page:
			outDegree++
			fallthrough
		case !seen:
			size += len(target)
			if index[target] = -1; len(links) == MaxLinks || size > maxLinkBytes {
				continue
			}
			index[target] = len(links)
			link := ref.link(target, text)
			size += len(link.Anchor) + len(link.Context) + len(link.Rel) + len(link.Path)
			links = append(links, link)
		case at >= 0:
			link := &links[at]
			hreflang := cmp.Or(link.Hreflang, language(ref.hreflang))
			if ref.isBetter(link, text) {
				*link = ref.link(target, text)
			}
			link.Hreflang = hreflang
		}
	}
	return links, outDegree
}

// isBetter reports whether the reference tells more than the link that stands
// for its target: what a reader sees more than a <link>, then the longer anchor.
func (r *reference) isBetter(link *wire.Link, text string) bool {
	if unseen := link.Tag == "link"; unseen != (r.tag == "link") {
		return unseen
	}
	return r.anchorBound() > len(link.Anchor) && len(r.anchor(text)) > len(link.Anchor)
}

// link is the reference as a link to target.
func (r *reference) link(target, text string) wire.Link {
	return wire.Link{
		URL:      target,
		Anchor:   r.anchor(text),
		Context:  r.context(text),
		Rel:      tidy(strings.ToLower(r.rel), MaxPath),
		Hreflang: language(r.hreflang),
		Tag:      r.tag,
		Path:     r.path,
	}
}

// anchor is what the reference is called.
func (r *reference) anchor(text string) string {
	s := strings.TrimLeft(text[r.start:r.end], " \n")
	switch {
	case s == "":
		return cmp.Or(tidy(r.alt, MaxAnchor), tidy(r.title, MaxAnchor))
	case len(s) > MaxAnchor || strings.Contains(s, "\n"):
		return tidy(s, MaxAnchor)
	}
	return s
}

// anchorBound is at least the length of anchor, without making it.
func (r *reference) anchorBound() int {
	return min(max(r.end-r.start, len(r.alt), len(r.title)), MaxAnchor)
}

// context is the words around the reference inside its block: those before it,
// a newline, those after it.
func (r *reference) context(text string) string {
	before := strings.Trim(text[r.from:r.start], " \n")
	after := strings.Trim(text[r.end:r.to], " \n")
	if before == "" && after == "" {
		return ""
	}
	before = strings.TrimLeft(lastWords(before, ContextWords, (MaxContext-1)/2), " \n")
	after = strings.TrimRight(firstWords(after, ContextWords, (MaxContext-1)/2), " \n")
	return strings.ReplaceAll(before, "\n", " ") + "\n" + strings.ReplaceAll(after, "\n", " ")
}

// insidePage reports whether a reference that leads to its own page only names
// a place in it, or nothing.
func insidePage(target string) bool {
	target = strings.TrimLeft(target, "\t\n\f\r ")
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
	return u.String()
}
