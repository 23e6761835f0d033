package page

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A collector is told the elements and the text of a page in document order,
// and keeps what the content is made of. What it is not told of is not read:
// see [layoutOf].
type collector struct {
	body  []byte // visible text so far
	gap   byte   // what separates the next word from body: 0, ' ' or '\n'
	block int    // where in body the current block began

	path  []byte            // tag path of the current element
	paths map[string]string // the paths of links, one string for equal ones

	references []reference
	open       []opened // <a> elements that have not ended
	waiting    []int    // references whose block has not ended

	base      string // first <base href>, as written
	canonical string // first <link rel=canonical>, as written
	title     string
	lang      string
	meta      [metas]string
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
	target, tag, rel, hreflang, path string

	alt        string // of the images inside, or its own
	title      string // attribute
	start, end int    // of its text in the collector's body
	from, to   int    // of its block in the collector's body
}

// An opened is an <a href> that has not ended.
type opened struct {
	reference  int // index, or -1 if there were too many
	pathLength int // of its parent: identifies the element
}

// reset forgets the last page and keeps the memory.
func (c *collector) reset() {
	clear(c.references) // they hold on to the page
	clear(c.paths)
	*c = collector{
		body: c.body[:0], path: c.path[:0], paths: c.paths,
		references: c.references[:0], open: c.open[:0], waiting: c.waiting[:0],
	}
	if c.paths == nil {
		c.paths = map[string]string{}
	}
}

// A layout is what an element does to the text in it and around it.
type layout int

const (
	inline   layout = iota // nothing
	block                  // its text stands apart
	newline                // ends a line, but no block
	replaced               // stands between words, like one of them
	metadata               // has attributes of interest, but no text
	hidden                 // is not read at all
)

// layoutOf follows the rendering section of the HTML standard, for a browser
// without scripts, style sheets and frames that plays no media.
func layoutOf(name atom.Atom) layout {
	switch name {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption,
		atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Frameset,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr,
		atom.Html, atom.Legend, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Noframes,
		atom.Ol, atom.Optgroup, atom.Option, atom.P, atom.Plaintext, atom.Pre, atom.Section, atom.Select,
		atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Textarea, atom.Tfoot, atom.Th,
		atom.Thead, atom.Tr, atom.Ul, atom.Xmp:
		return block
	case atom.Br:
		return newline
	case atom.Audio, atom.Button, atom.Canvas, atom.Embed, atom.Img, atom.Input, atom.Meter,
		atom.Object, atom.Progress, atom.Svg, atom.Video:
		return replaced
	case atom.Title, atom.Frame, atom.Iframe, atom.Base, atom.Link, atom.Meta, atom.Area:
		return metadata
	case atom.Script, atom.Style, atom.Template, atom.Noembed, atom.Param, atom.Source,
		atom.Track, atom.Datalist, atom.Rp, atom.Annotation, atom.AnnotationXml:
		return hidden
	}
	return inline
}

// begin tells that an element begins. Unless it cannot have content, end must
// follow, with the length that begin returned.
func (c *collector) begin(name atom.Atom, tag string, attrs []html.Attribute) (pathLength int) {
	pathLength = len(c.path)
	c.step(tag, value(attrs, "class"))
	c.around(layoutOf(name))
	switch name {
	case atom.A:
		if target, ok := find(attrs, "href"); ok {
			c.open = append(c.open, opened{c.refer(target, tag, attrs), pathLength})
		}
	case atom.Area:
		if target, ok := find(attrs, "href"); ok {
			i := c.refer(target, tag, attrs)
			c.name(i, value(attrs, "alt"))
			c.release(i)
		}
	case atom.Frame, atom.Iframe:
		if target, ok := find(attrs, "src"); ok {
			c.release(c.refer(target, tag, attrs))
		}
	case atom.Img:
		if n := len(c.open); n > 0 {
			c.name(c.open[n-1].reference, value(attrs, "alt"))
		}
	case atom.Html:
		c.lang = cmp.Or(c.lang, value(attrs, "lang"), value(attrs, "xml:lang"))
	case atom.Base:
		c.base = cmp.Or(c.base, value(attrs, "href"))
	case atom.Link:
		c.linkElement(tag, attrs)
	case atom.Meta:
		c.metaElement(tag, attrs)
	}
	return pathLength
}

// end tells that the element ends for which begin returned pathLength.
func (c *collector) end(name atom.Atom, pathLength int) {
	if n := len(c.open); n > 0 && c.open[n-1].pathLength == pathLength {
		c.release(c.open[n-1].reference)
		c.open = c.open[:n-1]
	}
	c.path = c.path[:pathLength]
	c.around(layoutOf(name))
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

// text tells of text that can be seen.
func (c *collector) text(s string) {
	for {
		trimmed := trimSpace(s)
		if len(trimmed) < len(s) {
			c.space()
		}
		if trimmed == "" {
			return
		}
		end := wordEnd(trimmed)
		if len(c.body)+1+end > MaxText {
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

// step goes down to an element: its name and the first of its classes are the
// next step of the path.
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
	for i := range len(class) {
		if class[i] == '/' { // it would look like the next step
			c.path = append(c.path, '_')
		} else {
			c.path = append(c.path, class[i])
		}
	}
}

// pathString is the path as it is now, or the end of a long one.
func (c *collector) pathString() string {
	path := c.path
	if len(path) > MaxPath {
		path = path[len(path)-MaxPath:]
		path = path[slices.Index(path, '/')+1:]
	}
	s, ok := c.paths[string(path)]
	if !ok {
		s = strings.ToValidUTF8(string(path), "")
		c.paths[string(path)] = s
	}
	return s
}

// refer notes a reference and returns its index, or -1 if there are too many.
func (c *collector) refer(target, tag string, attrs []html.Attribute) int {
	if len(c.references) == maxReferences {
		return -1
	}
	c.references = append(c.references, reference{
		target:   target,
		tag:      tag,
		rel:      value(attrs, "rel"),
		hreflang: value(attrs, "hreflang"),
		path:     c.pathString(),
		title:    value(attrs, "title"),
		start:    len(c.body),
		from:     c.block,
	})
	return len(c.references) - 1
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
	c.references[i].alt += " " + cut(alt, MaxAnchor)
}

// titled tells of the text of a <title>.
func (c *collector) titled(s string) {
	c.title = cmp.Or(c.title, tidy(s, MaxMeta))
}

// linkElement reads a <link>. It is a link if it leads to the same page in
// another language, or to the next or the previous one of a series.
func (c *collector) linkElement(tag string, attrs []html.Attribute) {
	target, rel := value(attrs, "href"), value(attrs, "rel")
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
	if series || alternate && !stylesheet && language(value(attrs, "hreflang")) != "" {
		c.release(c.refer(target, tag, attrs))
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
func (c *collector) metaElement(tag string, attrs []html.Attribute) {
	content := value(attrs, "content")
	if content == "" {
		return
	}
	switch strings.ToLower(strings.TrimSpace(value(attrs, "http-equiv"))) {
	case "refresh":
		if target := refreshTarget(content); target != "" {
			c.release(c.refer(target, tag, nil))
		}
	case "content-language":
		c.keep(metaLanguage, content)
	}
	name := cmp.Or(value(attrs, "name"), value(attrs, "property"))
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "description":
		c.keep(metaDescription, content)
	case "keywords":
		c.keep(metaKeywords, content)
	case "og:title":
		c.keep(metaOGTitle, content)
	case "og:description":
		c.keep(metaOGDescription, content)
	case "robots", crawler:
		if robots := tidy(strings.ToLower(content), MaxMeta); c.meta[metaRobots] == "" {
			c.meta[metaRobots] = robots
		} else if robots != "" {
			c.meta[metaRobots] = cut(c.meta[metaRobots]+", "+robots, MaxMeta)
		}
	}
}

// crawler is the name under which a page may address its meta robots to us alone.
const crawler = "spoor"

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
	const spaces = "\t\n\f\r "
	content = strings.TrimLeft(content, spaces)
	after := strings.TrimLeft(content, "0123456789.")
	if after == content || after == "" || strings.IndexByte(";,"+spaces, after[0]) < 0 {
		return ""
	}
	after = strings.TrimLeft(after, spaces)
	if after != "" && (after[0] == ';' || after[0] == ',') {
		after = strings.TrimLeft(after[1:], spaces)
	}
	if len(after) > 3 && strings.EqualFold(after[:3], "url") {
		if assigned, ok := strings.CutPrefix(strings.TrimLeft(after[3:], spaces), "="); ok {
			after = strings.TrimLeft(assigned, spaces)
		}
	}
	if after != "" && (after[0] == '"' || after[0] == '\'') {
		after, _, _ = strings.Cut(after[1:], after[:1])
	}
	return after
}

// find returns the value of an attribute, and whether there is one.
func find(attrs []html.Attribute, key string) (string, bool) {
	for i := range attrs {
		if attrs[i].Key == key {
			return attrs[i].Val, true
		}
	}
	return "", false
}

// value is the value of an attribute, or "".
func value(attrs []html.Attribute, key string) string {
	v, _ := find(attrs, key)
	return v
}
