package page

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// A collector is told the elements and the text of a page in document order,
// and keeps what the content is made of. What stands in elements that are not
// read (see [layout]) it may be told as well.
//
// What it keeps of a page are parts of the page, until finish.
type collector struct {
	body  []byte // visible text so far
	gap   byte   // what separates the next word from body: 0, ' ' or '\n'
	block int    // where in body the current block began
	full  bool   // there is more text than there may be

	steps  []step // from the root to where it is
	unseen int    // how many of the steps, from the end, are not read or in what is not read
	framed bool   // there are frames, or what is said to those who have none

	path  []byte // tag path of the first steps
	known int    // how many steps are in path

	allPaths []byte // the paths of references, one after the other
	lastPath string // of the latest link that was made

	references []reference
	open       []int // references of the links that have not ended, or -1
	waiting    []int // references whose block has not ended

	agent   string   // whose meta robots are ours too
	regions *regions // what elements say of their text; nil if nobody asks

	// Of the links, when the page has ended.
	targets targets
	kept    arena
	scratch []byte
	words   wordSet // for the simhash

	base      string // first <base href>, as written
	canonical string // first <link rel=canonical>, as written
	title     string
	lang      string
	meta      [metas]string
}

// A step is an element that has begun and not ended.
type step struct {
	name    atom.Atom
	layout  layout
	link    bool // it is the innermost of the open links
	pathEnd int  // where the path as far as here ends, if it is known
	tag     string
	attrs   attrs
}

// The meta elements that are read.
const (
	metaDescription = iota
	metaKeywords
	metaRobots
	metaLanguage
	metaOGTitle
	metaOGDescription
	metas
)

// A reference is a place in a page that points somewhere, before it is known
// where to. Its strings are as written.
type reference struct {
	target, tag, rel, hreflang string

	path, pathLength int // in the collector's allPaths

	alt        string // of the images inside, or its own
	title      string // attribute
	start, end int    // of its text in the collector's body
	from, to   int    // of its block in the collector's body
}

// reset forgets the last page and keeps the memory.
func (c *collector) reset() {
	clear(c.references) // they hold on to the page
	clear(c.steps[:cap(c.steps)])
	*c = collector{
		body: c.body[:0], steps: c.steps[:0], path: c.path[:0], allPaths: c.allPaths[:0],
		references: c.references[:0], open: c.open[:0], waiting: c.waiting[:0],
		agent: c.agent, regions: c.regions, targets: c.targets, kept: c.kept, scratch: c.scratch, words: c.words,
	}
	if c.regions != nil {
		c.regions.reset()
	}
}

// begin tells that an element begins. foreign is whether it is one of SVG or
// MathML.
func (c *collector) begin(name atom.Atom, e *element, foreign bool, tag string, a *attrs) {
	layout := e.layout
	if foreign && layout == metadata {
		layout = hidden // the title, or whatever, of a drawing
	}
	c.steps = append(c.steps, step{})
	s := &c.steps[len(c.steps)-1]
	s.name, s.layout, s.tag, s.attrs = name, layout, tag, *a
	if c.unseen > 0 || layout == hidden {
		c.unseen++
		return
	}
	c.around(layout)
	if c.regions != nil {
		c.regions.begin(name, *a, len(c.steps), len(c.body))
	}
	if e.traits&noted == 0 {
		return
	}
	switch name {
	case atom.A:
		if target, ok := a.find("href"); ok {
			c.open = append(c.open, c.refer(target, tag, a))
			s.link = true
		}
	case atom.Area:
		if target, ok := a.find("href"); ok {
			i := c.refer(target, tag, a)
			c.name(i, a.value("alt"))
			c.release(i)
		}
	case atom.Frame, atom.Iframe:
		if target, ok := a.find("src"); ok {
			c.release(c.refer(target, tag, a))
		}
	case atom.Frameset, atom.Noframes:
		c.framed = true
	case atom.Img:
		if n := len(c.open); n > 0 {
			c.name(c.open[n-1], a.value("alt"))
		}
	case atom.Html:
		c.lang = cmp.Or(c.lang, a.value("lang"), a.value("xml:lang"))
	case atom.Base:
		c.base = cmp.Or(c.base, a.value("href"))
	case atom.Link:
		c.linkElement(tag, a)
	case atom.Meta:
		c.metaElement(tag, a)
	}
	if layout == metadata {
		c.unseen = 1
	}
}

// end tells that the latest element ends that has not ended.
func (c *collector) end() {
	n := len(c.steps) - 1
	s := &c.steps[n]
	c.steps = c.steps[:n]
	if c.known > n {
		c.known = n
		c.path = c.path[:0]
		if n > 0 {
			c.path = c.path[:c.steps[n-1].pathEnd]
		}
	}
	if c.unseen > 0 {
		c.unseen--
		return
	}
	if s.link {
		c.release(c.open[len(c.open)-1])
		c.open = c.open[:len(c.open)-1]
	}
	if c.regions != nil {
		c.regions.end(n+1, len(c.body))
	}
	c.around(s.layout)
}

// endTo tells that all elements end but the outermost n.
func (c *collector) endTo(n int) {
	for len(c.steps) > n {
		c.end()
	}
}

// around separates what comes from what was, where an element begins or ends.
func (c *collector) around(how layout) {
	switch how {
	case block:
		c.gap = '\n'
		c.block = len(c.body)
		for _, i := range c.waiting {
			c.references[i].to = c.block
		}
		c.waiting = c.waiting[:0]
	case newline:
		c.gap = '\n'
	case replaced:
		c.space()
	}
}

// space separates words.
func (c *collector) space() {
	if c.gap == 0 {
		c.gap = ' '
	}
}

// text tells of text.
func (c *collector) text(s string) {
	if c.unseen > 0 {
		if top := &c.steps[len(c.steps)-1]; c.unseen == 1 && top.name == atom.Title && top.layout == metadata {
			c.titled(s)
		}
		return
	}
	for {
		trimmed := trimSpace(s)
		if len(trimmed) < len(s) {
			c.space()
		}
		if trimmed == "" || c.full {
			return
		}
		room := MaxText - len(c.body) - 1
		end := 0
		if len(trimmed) <= room {
			end = wordsEnd(trimmed)
		} else if end = wordEnd(trimmed); end > room {
			c.full = true
			return
		}
		if c.gap != 0 && len(c.body) > 0 {
			c.body = append(c.body, c.gap)
		}
		c.gap = 0
		c.body = append(c.body, trimmed[:end]...)
		s = trimmed[end:]
	}
}

// keepPath keeps the path to where it is, or the end of a long one, for the
// latest reference, the n-th. Every step is the name of an element and the first of its
// classes.
func (c *collector) keepPath(n int) {
	for ; c.known < len(c.steps); c.known++ {
		s := &c.steps[c.known]
		c.step(s.tag, s.attrs.classes())
		s.pathEnd = len(c.path)
	}
	path := c.path
	if len(path) > MaxPath {
		path = path[len(path)-MaxPath:]
		path = path[slices.Index(path, '/')+1:]
	}
	r := &c.references[n]
	if n > 0 {
		if last := &c.references[n-1]; string(c.allPaths[last.path:last.path+last.pathLength]) == string(path) {
			r.path, r.pathLength = last.path, last.pathLength
			return
		}
	}
	r.path, r.pathLength = len(c.allPaths), len(path)
	c.allPaths = append(c.allPaths, path...)
}

// step appends a step to the path.
func (c *collector) step(tag, class string) {
	const longest = 32 // bytes of a name or class
	if len(c.path) > 0 {
		c.path = append(c.path, '/')
	}
	c.path = append(c.path, cut(tag, longest)...)
	class = trimSpace(class)
	class = cut(class[:wordEnd(class)], longest)
	if class == "" {
		return
	}
	c.path = append(c.path, '.')
	for {
		i := strings.IndexByte(class, '/')
		if i < 0 {
			c.path = append(c.path, class...)
			return
		}
		c.path = append(append(c.path, class[:i]...), '_') // it would look like the next step
		class = class[i+1:]
	}
}

// refer notes a reference and returns its index, or -1 if there are too many.
func (c *collector) refer(target, tag string, a *attrs) int {
	if len(c.references) == maxReferences {
		return -1
	}
	n := len(c.references)
	c.references = append(c.references, reference{
		target: target, tag: tag,
		rel: a.value("rel"), hreflang: a.value("hreflang"), title: a.value("title"),
		start: len(c.body), from: c.block,
	})
	c.keepPath(n)
	return n
}

// release tells that a reference ends; its block may go on.
func (c *collector) release(i int) {
	if i < 0 {
		return
	}
	c.references[i].end = len(c.body)
	c.references[i].to = len(c.body)
	c.waiting = append(c.waiting, i)
}

// name adds to what a reference is called when it has no text.
func (c *collector) name(i int, alt string) {
	if i < 0 || alt == "" || len(c.references[i].alt) >= MaxAnchor {
		return
	}
	if r := &c.references[i]; r.alt == "" {
		r.alt = cut(alt, MaxAnchor)
	} else {
		r.alt += " " + cut(alt, MaxAnchor)
	}
}

// titled tells of the text of a <title>.
func (c *collector) titled(s string) {
	c.title = cmp.Or(c.title, tidy(s, MaxMeta))
}

// linkElement reads a <link>. It is a link if it leads to the same page in
// another language, or to the next or the previous one of a series.
func (c *collector) linkElement(tag string, a *attrs) {
	target, rel := a.value("href"), a.value("rel")
	if target == "" || rel == "" {
		return
	}
	var canonical, alternate, stylesheet, series bool
	for token := range strings.FieldsSeq(rel) {
		switch strings.ToLower(token) {
		case "canonical":
			canonical = true
		case "alternate":
			alternate = true
		case "stylesheet":
			stylesheet = true
		case "next", "prev", "previous":
			series = true
		}
	}
	if canonical {
		c.canonical = cmp.Or(c.canonical, target)
	}
	if series || alternate && !stylesheet && language(a.value("hreflang")) != "" {
		c.release(c.refer(target, tag, a))
	}
}

// joinBlocks lets the contexts of links go on beyond their blocks. What stands
// in the head of a page has no place in its text, and so no context.
func (c *collector) joinBlocks() {
	for i := range c.references {
		if r := &c.references[i]; r.tag != "link" && r.tag != "meta" {
			r.from, r.to = 0, len(c.body)
		}
	}
}

// metaElement reads a <meta>.
func (c *collector) metaElement(tag string, a *attrs) {
	content := a.value("content")
	if content == "" {
		return
	}
	switch strings.ToLower(strings.TrimSpace(a.value("http-equiv"))) {
	case "refresh":
		if target := refreshTarget(content); target != "" {
			c.release(c.refer(target, tag, &attrs{}))
		}
	case "content-language":
		c.keep(metaLanguage, content)
	}
	switch name := strings.ToLower(strings.TrimSpace(cmp.Or(a.value("name"), a.value("property")))); name {
	case "":
	case "description":
		c.keep(metaDescription, content)
	case "keywords":
		c.keep(metaKeywords, content)
	case "og:title":
		c.keep(metaOGTitle, content)
	case "og:description":
		c.keep(metaOGDescription, content)
	case "robots", c.agent:
		before := c.meta[metaRobots]
		if robots := tidy(strings.ToLower(content), MaxMeta); before == "" {
			c.meta[metaRobots] = robots
		} else if robots != "" && len(before) < MaxMeta {
			c.meta[metaRobots] = cut(before+", "+robots, MaxMeta)
		}
	}
}

// keep keeps the first content of a meta element that says something.
func (c *collector) keep(i int, content string) {
	if c.meta[i] == "" {
		c.meta[i] = tidy(content, MaxMeta)
	}
}

// refreshTarget reads the content of a meta refresh, such as "5; url=next.html",
// as the standard's "shared declarative refresh steps" do. A page that only
// reloads itself has no target.
func refreshTarget(content string) string {
	content = strings.TrimLeft(content, blanks)
	after := strings.TrimLeft(content, "0123456789.")
	if after == content || after == "" || strings.IndexByte(";,"+blanks, after[0]) < 0 {
		return ""
	}
	after = strings.TrimLeft(after, blanks)
	if after != "" && (after[0] == ';' || after[0] == ',') {
		after = strings.TrimLeft(after[1:], blanks)
	}
	if len(after) > 3 && strings.EqualFold(after[:3], "url") {
		if assigned, ok := strings.CutPrefix(strings.TrimLeft(after[3:], blanks), "="); ok {
			after = strings.TrimLeft(assigned, blanks)
		}
	}
	if after != "" && (after[0] == '"' || after[0] == '\'') {
		after, _, _ = strings.Cut(after[1:], after[:1])
	}
	return after
}
