package page

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// A collector receives the elements and texts of a page in document order, and collects the
// content of the page. It receives all elements, and skips the hidden ones (see [layout]).
//
// The strings of a collector are parts of the page until finish is called.
type collector struct {
	body  []byte // visible text so far
	gap   byte   // separator before the next word: 0, ' ' or '\n'
	block int    // offset in body of the current block
	full  bool   // body has reached MaxText

	steps     []step // open elements from the root
	skipped   int    // number of the innermost steps that are skipped
	shadows   int    // number of steps that are shadow roots
	hasFrames bool   // the page has frames or noframes

	path      []byte // tag path of the first steps
	pathSteps int    // number of steps in path

	allPaths []byte // tag paths of the references, concatenated
	lastPath string // tag path of the latest link

	references   []reference
	open         []int // indexes of the references of open links; -1 if there were too many references
	waiting      []int // indexes of ended references whose block is still open
	outerWaiting int   // number of the first of them that are outside the concealed element

	concealed     concealment
	concealedSize int // number of bytes of the anchors in concealed elements

	agent   string   // name in meta elements that are meant for this crawler
	regions *regions // roles of the text; nil if not needed

	scripts    int  // number of bytes of scripts
	hasScripts bool // the page has scripts in other files
	fallback   int  // number of bytes of text in noscript elements

	// Scratch memory for the links.
	targets map[string]int // index of the link to a URL, or tooMany
	kept    arena
	scratch []byte
	words   wordSet // for the simhash

	base      string // first <base href>, as written
	hasBase   bool   // there is such an element
	canonical string // first <link rel=canonical>, as written
	title     string
	lang      string
	meta      [metas]string
}

// A step is an open element.
type step struct {
	name    atom.Atom
	layout  layout
	link    bool // the element is a link, the innermost one when it was opened
	pathEnd int  // length of the tag path that ends with this step, once storePath has set it
	outside int  // for a noscript element: number of bytes of text before it that are outside noscript elements
	shadow  bool // it has a shadow root
	tag     string
	attrs   attrs
}

// Indexes of the meta elements that are read.
const (
	metaDescription = iota
	metaKeywords
	metaRobots
	metaLanguage
	metaOGTitle
	metaOGDescription
	metas
)

// A reference is a place in a page that refers to a URL. Its strings are unchanged; the URL is
// not yet resolved.
type reference struct {
	target, tag, rel, hreflang string

	path, pathLength int // position of its tag path in the collector's allPaths

	alt        string // alt text of the element or of the images in it
	title      string // title attribute
	start, end int    // range of its text in the collector's body
	from, to   int    // range of its block in the collector's body
}

// reset prepares the collector for the next page. It keeps the memory.
func (c *collector) reset() {
	clear(c.references) // they refer to the page
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

// begin starts an element. foreign means that it is an element of SVG or MathML.
func (c *collector) begin(name atom.Atom, e *element, foreign bool, tag string, a *attrs) {
	layout := e.layout
	if foreign {
		layout = foreignLayout(layout, tag)
	}
	switch {
	case name == atom.Template && !foreign && c.attachShadow(a):
		layout = replaced
		c.shadows++
	case c.shadows > 0 && (name == atom.Title || name == atom.Base):
		layout = hidden // these count in the document only, not in its shadow roots
	}
	c.steps = append(c.steps, step{})
	s := &c.steps[len(c.steps)-1]
	s.name, s.layout, s.tag, s.attrs = name, layout, tag, *a
	if name == atom.Script && a.value("src") != "" {
		c.hasScripts = true
	}
	if c.skipped > 0 || layout == hidden {
		c.skipped++
		return
	}
	if (a.mayHide || e.traits&mayConceal != 0) && !foreign && layout < metadata && c.concealed.depth == 0 && isConcealed(name, a, c.steps[:len(c.steps)-1]) {
		c.conceal()
	}
	c.separate(layout)
	if c.regions != nil {
		c.regions.begin(name, *a, len(c.steps), len(c.body))
	}
	if e.traits&hasData == 0 {
		return
	}
	switch name {
	case atom.A:
		if target, ok := a.find("href"); ok {
			c.open = append(c.open, c.addReference(target, tag, a))
			s.link = true
		}
	case atom.Area:
		if target, ok := a.find("href"); ok {
			i := c.addReference(target, tag, a)
			c.addAlt(i, a.value("alt"))
			c.endReference(i)
		}
	case atom.Frame, atom.Iframe:
		if target, ok := a.find("src"); ok {
			c.endReference(c.addReference(target, tag, a))
		}
	case atom.Frameset, atom.Noframes:
		c.hasFrames = true
	case atom.Img:
		if n := len(c.open); n > 0 {
			c.addAlt(c.open[n-1], a.value("alt"))
		}
	case atom.Noscript:
		s.outside = len(c.body) - c.fallback
	case atom.Html:
		c.lang = cmp.Or(c.lang, a.value("lang"), a.value("xml:lang"))
	case atom.Base:
		if !c.hasBase { // the first with href counts, even if its value is empty or invalid
			c.base, c.hasBase = a.find("href")
		}
	case atom.Link:
		c.linkElement(tag, a)
	case atom.Meta:
		c.metaElement(tag, a)
	}
	if layout == metadata {
		c.skipped = 1
	}
}

// attachShadow reports whether a template element with these attributes becomes the shadow root of
// the innermost element, whose content is displayed (HTML Standard, section 4.12.3). Slots do not
// change the order of the text.
func (c *collector) attachShadow(a *attrs) bool {
	mode := a.value("shadowrootmode")
	if len(c.steps) == 0 || !strings.EqualFold(mode, "open") && !strings.EqualFold(mode, "closed") {
		return false
	}
	host := &c.steps[len(c.steps)-1]
	if host.shadow || elements[host.name].traits&shadowHost == 0 && !isCustom(host.tag) {
		return false
	}
	host.shadow = true
	return true
}

// isCustom reports whether tag is the name of a custom element: it contains a hyphen and is not a
// name of SVG or MathML (HTML Standard, "valid custom element name").
func isCustom(tag string) bool {
	switch tag {
	case "annotation-xml", "color-profile", "font-face", "font-face-format", "font-face-name", "font-face-src", "font-face-uri", "missing-glyph":
		return false
	}
	return strings.IndexByte(tag, '-') >= 0
}

// end ends the innermost element.
func (c *collector) end() {
	n := len(c.steps) - 1
	s := &c.steps[n]
	c.steps = c.steps[:n]
	if c.pathSteps > n {
		c.pathSteps = n
		c.path = c.path[:0]
		if n > 0 {
			c.path = c.path[:c.steps[n-1].pathEnd]
		}
	}
	if s.name == atom.Template && s.layout == replaced {
		c.shadows--
	}
	if c.skipped > 0 {
		c.skipped--
		return
	}
	if s.name == atom.Noscript {
		c.fallback = len(c.body) - s.outside
	}
	if s.link {
		c.endReference(c.open[len(c.open)-1])
		c.open = c.open[:len(c.open)-1]
	}
	if c.regions != nil {
		c.regions.end(n+1, len(c.body))
	}
	c.separate(s.layout)
	if c.concealed.depth == n+1 {
		c.reveal()
	}
}

// endTo ends all open elements except the outermost n.
func (c *collector) endTo(n int) {
	for len(c.steps) > n {
		c.end()
	}
}

// separate puts a separator between the text before and the text after the start or end of an element.
func (c *collector) separate(how layout) {
	switch how {
	case block:
		c.gap = '\n'
		c.block = len(c.body)
		for _, i := range c.waiting[c.outerWaiting:] {
			c.references[i].to = c.block
		}
		c.waiting = c.waiting[:c.outerWaiting]
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

// A word that no longer fits into MaxText is dropped, or cut if it has at least longWord bytes.
const longWord = 1000

func (c *collector) text(s string) {
	if c.skipped > 0 {
		switch top := &c.steps[len(c.steps)-1]; {
		case top.name == atom.Script:
			c.scripts += len(s)
		case c.skipped == 1 && top.name == atom.Title && top.layout == metadata:
			c.titleText(s)
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
			if end < longWord { // longer "words" are texts in languages without spaces
				return
			}
			end = len(truncate(trimmed, max(0, room)))
		}
		if c.gap != 0 && len(c.body) > 0 {
			c.body = append(c.body, c.gap)
		}
		c.gap = 0
		c.body = append(c.body, trimmed[:end]...)
		s = trimmed[end:]
	}
}

// storePath stores the tag path of the latest reference, whose index is n. It shortens a long path
// at its start. Each step is the name of an element and its first class.
func (c *collector) storePath(n int) {
	for ; c.pathSteps < len(c.steps); c.pathSteps++ {
		s := &c.steps[c.pathSteps]
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

func (c *collector) step(tag, class string) {
	const maxLen = 32 // maximum length of a name or class in bytes
	if len(c.path) > 0 {
		c.path = append(c.path, '/')
	}
	c.path = append(c.path, truncate(tag, maxLen)...)
	class = trimSpace(class)
	class = truncate(class[:wordEnd(class)], maxLen)
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
		c.path = append(append(c.path, class[:i]...), '_') // a slash would begin another step
		class = class[i+1:]
	}
}

// addReference adds a reference and returns its index, or -1 if there are too many.
func (c *collector) addReference(target, tag string, a *attrs) int {
	if len(c.references) == maxReferences {
		return -1
	}
	n := len(c.references)
	c.references = append(c.references, reference{
		target: target, tag: tag,
		rel: a.value("rel"), hreflang: a.value("hreflang"), title: a.value("title"),
		start: len(c.body), from: c.block,
	})
	c.storePath(n)
	return n
}

// endReference ends the text of a reference. The block may continue after it.
func (c *collector) endReference(i int) {
	if i < 0 {
		return
	}
	c.references[i].end = len(c.body)
	c.references[i].to = len(c.body)
	c.waiting = append(c.waiting, i)
}

// addAlt adds the alt text of an element or image to a reference.
func (c *collector) addAlt(i int, alt string) {
	if i < 0 || alt == "" || len(c.references[i].alt) >= MaxAnchor {
		return
	}
	if r := &c.references[i]; r.alt == "" {
		r.alt = truncate(alt, MaxAnchor)
	} else {
		r.alt += " " + truncate(alt, MaxAnchor)
	}
}

func (c *collector) titleText(s string) {
	c.title = cmp.Or(c.title, tidy(s, MaxMeta))
}

// linkElement reads a <link>. It adds a reference if the element refers to the same page in another
// language, or to the next or previous page of a series.
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
		c.endReference(c.addReference(target, tag, a))
	}
}

// joinBlocks extends the contexts of links from their block to the whole text. References in the
// head of a page have no position in the text, and therefore no context.
func (c *collector) joinBlocks() {
	for i := range c.references {
		if r := &c.references[i]; r.tag != "link" && r.tag != "meta" {
			r.from, r.to = 0, len(c.body)
		}
	}
}

func (c *collector) metaElement(tag string, a *attrs) {
	content := a.value("content")
	if content == "" {
		return
	}
	switch strings.ToLower(strings.TrimSpace(a.value("http-equiv"))) {
	case "refresh":
		c.refresh(refreshTarget(content), tag)
	case "content-language":
		c.setMeta(metaLanguage, content)
	}
	switch name := strings.ToLower(strings.TrimSpace(cmp.Or(a.value("name"), a.value("property")))); name {
	case "":
	case "description":
		c.setMeta(metaDescription, content)
	case "keywords":
		c.setMeta(metaKeywords, content)
	case "og:title":
		c.setMeta(metaOGTitle, content)
	case "og:description":
		c.setMeta(metaOGDescription, content)
	case "robots", c.agent:
		before := c.meta[metaRobots]
		if robots := tidy(strings.ToLower(content), MaxMeta); before == "" {
			c.meta[metaRobots] = robots
		} else if robots != "" && len(before) < MaxMeta {
			c.meta[metaRobots] = truncate(before+", "+robots, MaxMeta)
		}
	}
}

// refresh adds the reference of a meta refresh, or of the header field Refresh.
func (c *collector) refresh(target, tag string) {
	if target != "" {
		c.endReference(c.addReference(target, tag, &attrs{}))
	}
}

// refreshHeader adds the references of the header field Refresh. They are relative to the URL of
// the page, because browsers read the field before a <base>.
func (c *collector) refreshHeader(doc *Document) {
	r := newResolver(doc.URL, "", nil)
	for _, value := range doc.Refresh {
		if target := refreshTarget(value); !insidePage(target) {
			c.refresh(r.resolve(target), "meta")
		}
	}
}

// setMeta stores the first non-empty content of a meta element.
func (c *collector) setMeta(i int, content string) {
	if c.meta[i] == "" {
		c.meta[i] = tidy(content, MaxMeta)
	}
}

// refreshTarget parses the value of a refresh, such as "5; url=next.html", by the
// standard's "shared declarative refresh steps". It returns the target, or "" for a page that
// reloads itself.
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
