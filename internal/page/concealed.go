package page

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// This file handles elements whose content a browser does not display: those with the attribute
// hidden or popover, closed dialogs, and the annotations of ruby. Their text is not text of the page
// and does not separate words, but their links are links, with their anchors. Source: HTML Standard,
// section 15.3.1, "Hidden elements".

// A concealment describes the outermost open element that is concealed. The collector collects its
// content as usual, and removes the text when the element ends.
type concealment struct {
	depth int // number of steps, with this element; 0 if no element is concealed

	// State of the collector before the element.
	body, block, references, regions, fallback int
	gap                                        byte
	full                                       bool
}

// isConcealed reports whether an element of HTML with these attributes is concealed, if the last of
// parents is its parent. Pages whose html
// or body element is hidden are displayed by a script, so these elements are not concealed. Text that
// is hidden until it is found is content, as is the text of closed details elements, and what React 18
// streams in <div hidden id="S:1f"> for a script to move into place.
func isConcealed(name atom.Atom, a *attrs, parents []step) bool {
	switch name {
	case atom.Html, atom.Body:
		return false
	case atom.Rt, atom.Rtc:
		// A reading is within the word that it belongs to: in ruby, perhaps in another rtc or span.
		const levels = 3
		parents = parents[max(0, len(parents)-levels):]
		if slices.ContainsFunc(parents, func(p step) bool { return p.name == atom.Ruby }) {
			return true
		}
	case atom.Dialog:
		if _, open := a.find("open"); !open {
			return true
		}
	default:
		if _, popover := a.find("popover"); popover {
			return true
		}
	}
	how, hidden := a.find("hidden")
	return hidden && !strings.EqualFold(how, "until-found") && !(name == atom.Div && streamed.MatchString(a.value("id")))
}

// streamed matches the id of an element in which React streams content; it may begin with the prefix
// of the application.
var streamed = regexp.MustCompile(`S:[0-9a-f]+$`)

// conceal begins to conceal the innermost element.
func (c *collector) conceal() {
	c.concealed = concealment{
		depth: len(c.steps), body: len(c.body), block: c.block, references: len(c.references),
		fallback: c.fallback, gap: c.gap, full: c.full,
	}
	if c.regions != nil {
		c.concealed.regions = len(c.regions.list)
	}
	c.outerWaiting = len(c.waiting)
}

// reveal ends the concealment. It removes the concealed text, except for the anchors of links.
func (c *collector) reveal() {
	before := &c.concealed
	for i := before.references; i < len(c.references); i++ {
		r := &c.references[i]
		if anchor := truncate(trimGaps(view(c.body[r.start:r.end])), MaxAnchor); anchor != "" && c.concealedSize+len(anchor) <= maxLinkBytes {
			r.alt = strings.Clone(anchor)
			c.concealedSize += len(anchor)
		}
		r.start, r.end, r.from, r.to = before.body, before.body, before.body, before.body
	}
	c.waiting, c.outerWaiting = c.waiting[:c.outerWaiting], 0
	c.body, c.block, c.fallback, c.gap, c.full = c.body[:before.body], before.block, before.fallback, before.gap, before.full
	if c.regions != nil {
		c.regions.list = c.regions.list[:before.regions]
	}
	c.concealed.depth = 0
}

// foreignLayout returns the layout of an element of SVG or MathML.
func foreignLayout(how layout, tag string) layout {
	switch tag {
	case "desc", "metadata":
		return hidden
	case "text", "tspan":
		return replaced
	}
	if how == metadata {
		return hidden // for example the title of a drawing
	}
	return how
}
