package page

import (
	"slices"

	"golang.org/x/net/html/atom"
)

// A construction implements the tree construction stage of the HTML standard (section
// 13.2.6), as golang.org/x/net/html does, but without making a tree: it passes the elements
// and texts to a collector in document order. It only keeps the stack of open elements and
// the list of active formatting elements. That suffices as long as every element and text is
// inserted at the current end of the document.
//
// By two rules of the standard, content is inserted elsewhere: content that is not allowed in
// a table goes before the table (foster parenting), and a formatting element that ends before
// a block inside it is moved (the adoption agency). Some pages also add attributes to html or
// body later. Such pages are parsed again with an outline (outline.go).
//
// Pages that the tree parser refuses, or whose tree would be too large, are parsed again in
// guess mode: everything is inserted at the end, and formatting elements are not reopened.
//
// Pages with frames are parsed as if <frameset>, <frame> and <noframes> were ordinary
// elements, because the tree has no place for the content of <noframes>.
type construction struct {
	parseOptions
	z scanner
	c *collector

	kind        tokenKind
	tag         openElement // the latest tag
	selfClosing bool        // <br/>
	s           string      // the latest text
	raw         scanState

	open       []openElement // the stack of open elements
	formatting []openElement // the list of active formatting elements
	latest     int32         // id of the latest element
	childless  int32         // id of the latest element while nothing was inserted into it

	mode, original mode
	templates      []mode
	head, form     openElement
	fostering      bool // foster parenting is enabled
	framesetOK     bool
	quirks         bool

	doctype string // the last argument of isQuirky, which caches its result
	quirky  bool   // that result

	nodes      outline    // the latest, to reuse its memory
	reordering reordering // why the page must be parsed with an outline
	refused    refusal    // why the page must be parsed in guess mode
	extra      int        // elements beyond those in the page; see maxExtra
	effort     int        // cost of the searches in lists so far; see maxEffort

	sized             bool // whether to count what treeSize needs
	texts, attributes int  // numbers of texts and comments, and of attributes
}

type parseOptions struct {
	frames  bool     // with frames
	outline *outline // with an outline, if not nil
	guess   bool     // in guess mode
}

// A reordering is a reason why document order differs from the order of the page.
type reordering uint8

const (
	inOrder   reordering = iota
	fostered             // foster parenting
	adopted              // adoption agency
	lateAttrs            // attributes of html or body added later
	numReorderings
)

// A refusal is a reason why a page has no tree.
type refusal uint8

const (
	accepted refusal = iota
	tooDeep          // more than 512 elements are open
	tooLarge         // the tree would be far larger than the page
	broken           // the tree parser fails
)

const (
	// maxDepth is the number of open elements that golang.org/x/net/html permits.
	maxDepth = 512

	// maxGuessDepth is the number of open elements in guess mode. An element that would be
	// deeper replaces the innermost one.
	maxGuessDepth = 64

	// maxExtra bounds the elements that are added to those in the page, where each attribute
	// counts as half an element. Without a limit the tree can be far larger than the page. The
	// standard reopens unclosed formatting elements (<b>, <font …>) in every paragraph, with
	// their attributes: a page of half a megabyte with four hundred open <font> and a hundred
	// thousand <p> has a tree of forty million elements. The standard also merges the
	// attributes of every further <body> into the first. The tree parser limits neither.
	maxExtra = 1 << 20

	// maxPageSize is the number of bytes of a page that are read.
	maxPageSize = 1 << 30

	// maxEffort bounds the cost of searching the lists of elements: the number of elements
	// examined, plus the bytes of their tags that are read again. A page may cost this much
	// and eight more for each of its bytes.
	maxEffort = 1 << 24

	// maxNodes bounds the nodes of an outline.
	maxNodes = 1 << 20

	// nodeSize and attributeSize are the measured bytes, garbage included, of a node and of an
	// attribute of a tree while selectors are applied. A tree may take maxTree
	// bytes, and four more for each byte of the page: then parse needs at most 100 MiB and eight
	// bytes for each byte of its input line.
	nodeSize, attributeSize = 280, 110
	maxTree                 = 80 << 20
)

// An openElement is an element that is or was open.
type openElement struct {
	id    int32 // 0 for none and for markers
	depth int32 // number of ancestors
	name  atom.Atom
	element
	ns              namespace
	htmlIntegration bool   // HTML integration point because of its attributes
	inP             bool   // a p element is in button scope
	at, to          int32  // range of its attributes in the page; 0 if there is no tag
	weight          int32  // 1 + half the number of attributes; 0 if not counted
	tag             string // in lower case
}

// A namespace is an XML namespace.
type namespace uint8

const (
	htmlNS namespace = iota
	mathNS
	svgNS
)

func (e *openElement) is(name atom.Atom) bool { return e.name == name && e.ns == htmlNS }

// isSpecial reports whether e is in the standard's category "special".
func (e *openElement) isSpecial() bool {
	switch e.ns {
	case mathNS:
		return e.traits&mathHTML != 0
	case svgNS:
		return e.traits&svgHTML != 0
	}
	return e.traits&special != 0
}

// isHTMLIntegration reports whether e is an HTML integration point.
func (e *openElement) isHTMLIntegration() bool {
	return e.htmlIntegration || e.ns == svgNS && e.traits&svgHTML != 0
}

// isTextIntegration reports whether e is a MathML text integration point.
func (e *openElement) isTextIntegration() bool {
	return e.ns == mathNS && e.traits&mathHTML != 0 && e.name != atom.AnnotationXml
}

// read passes the page to c. It returns false if the tree parser refuses the page or its tree
// would be too large; then the page was parsed in guess mode.
func (t *construction) read(page string, c *collector) bool {
	page = truncate(page, maxPageSize)
	t.effort = 0
	return t.readFrames(page, c, false)
}

// readFrames implements read; frames says whether the page has frames.
func (t *construction) readFrames(page string, c *collector, frames bool) bool {
	t.parse(page, c, parseOptions{frames: frames})
	if t.refused == accepted && t.reordering != inOrder {
		t.nodes.reset(t.reordering)
		c.reset()
		t.parse(page, c, parseOptions{frames: frames, outline: &t.nodes})
	}
	why := t.refused
	if why != accepted {
		c.reset()
		t.parse(page, c, parseOptions{frames: frames, guess: true})
		t.refused = why
	}
	if c.hasFrames && !frames {
		c.reset()
		t.readFrames(page, c, true)
	}
	return why == accepted
}

// parse parses the page once, to its end or until these options turn out to be wrong.
func (t *construction) parse(page string, c *collector, o parseOptions) {
	t.z.reset(page)
	*t = construction{
		parseOptions: o, z: t.z, c: c, open: t.open[:0], formatting: t.formatting[:0], templates: t.templates[:0], nodes: t.nodes,
		doctype: t.doctype, quirky: t.quirky, framesetOK: true, effort: t.effort, sized: t.sized,
	}
	for t.reordering == inOrder && (t.guess || t.refused == accepted) {
		if t.kind = t.z.next(); t.kind == endOfPage {
			break
		}
		t.token()
		if t.sized {
			t.countNodes()
		}
		if t.isTooCostly() {
			t.refuse(tooLarge)
		}
	}
	if t.outline != nil && t.refused == accepted {
		t.outline.emit(c, &t.z)
	}
	c.endTo(0)
}

// isTooCostly reports whether the page exceeds its limits.
func (t *construction) isTooCostly() bool {
	return t.extra > maxExtra || t.effort > maxEffort+8*len(t.z.page) || t.outline != nil && len(t.outline.nodes) > maxNodes
}

// countNodes counts what the latest token adds to the tree, apart from elements.
func (t *construction) countNodes() {
	switch t.kind {
	case startTag:
		effort := t.effort
		t.attributes += t.countAttributes(&t.tag)
		t.effort = effort // which must not depend on selectors
	case endTag:
	default:
		t.texts++
	}
}

// treeSize estimates the memory for the tree of golang.org/x/net/html, in bytes.
func (t *construction) treeSize() int {
	return nodeSize*t.treeNodes() + attributeSize*(t.attributes+2*t.extra)
}

// treeNodes estimates the number of nodes of that tree.
func (t *construction) treeNodes() int {
	n := int(t.latest) + t.texts
	if t.outline != nil {
		n += len(t.outline.nodes) // they include the texts, which then count twice
	}
	return n
}

// refuse records why the page has no tree.
func (t *construction) refuse(why refusal) {
	if t.refused == accepted {
		t.refused = why
	}
}

func (t *construction) token() {
	t.raw = data
	switch t.kind {
	case startTag, endTag:
		t.tag.name, t.tag.element, t.tag.tag = t.z.name, t.z.element, t.z.tag
		t.tag.ns, t.tag.htmlIntegration = htmlNS, false
		if t.kind == startTag {
			t.tag.at, t.tag.to = int32(t.z.nameEnd), int32(t.z.to)
			t.selfClosing, t.raw = t.z.selfClosing, t.tag.raw
		} else {
			t.selfClosing, t.tag.at = false, 0
		}
	case textToken:
		if t.mode == textOnly && t.top().layout == hidden { // scripts and styles are long
			if t.top().name == atom.Script {
				t.c.script(t.z.page[t.z.begin:t.z.end])
			}
			return
		}
		t.s = t.z.text()
	}
	if t.mode != inBody || t.z.foreign || !t.inBody() { // the common mode first
		t.process()
	}
	if t.raw != data {
		t.z.enter(t.raw)
	}
	n := len(t.open)
	t.z.foreign = n > 0 && t.open[n-1].ns != htmlNS
}

// process handles the current token until it is consumed.
func (t *construction) process() {
	for {
		if t.inForeign() {
			if t.inForeignContent() {
				return
			}
		} else if t.dispatch() {
			return
		}
	}
}

// implied handles a tag that is not in the page.
func (t *construction) implied(kind tokenKind, name atom.Atom) {
	realKind, realTag, realEmpty := t.kind, t.tag, t.selfClosing
	t.kind, t.selfClosing = kind, false
	t.tag = openElement{name: name, element: elementOf(name), tag: name.String()}
	t.process()
	t.kind, t.tag, t.selfClosing = realKind, realTag, realEmpty
}

// attrs returns the attributes of the latest tag.
func (t *construction) attrs() attrs {
	return attrs{page: &t.z, at: int(t.tag.at)}
}

// The stack of open elements, section 13.2.4.2.

// top returns the current node. The stack must not be empty.
func (t *construction) top() *openElement { return &t.open[len(t.open)-1] }

// pop removes the current node.
func (t *construction) pop() {
	if len(t.open) == 0 {
		t.refuse(broken)
		return
	}
	t.open = t.open[:len(t.open)-1]
}

// indexOf returns the index of an element in a list, or -1.
func (t *construction) indexOf(list []openElement, id int32) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].id == id {
			t.effort += len(list) - i
			return i
		}
	}
	t.effort += len(list)
	return -1
}

func (t *construction) without(list []openElement, id int32) []openElement {
	if i := t.indexOf(list, id); i >= 0 {
		list = append(list[:i], list[i+1:]...)
	}
	return list
}

// contains reports whether an element with that name is open.
func (t *construction) contains(name atom.Atom) bool {
	t.effort += len(t.open)
	for i := range t.open {
		if t.open[i].is(name) {
			return true
		}
	}
	return false
}

// A scope is a set of elements that end the search for an open element.
type scope uint8

const (
	defaultScope scope = iota
	listScope
	buttonScope
	inTableScope
)

// inScope returns the index of the innermost open element with the name or one of the traits,
// or -1 if there is none in scope.
func (t *construction) inScope(s scope, name atom.Atom, any traits) int {
	for i := len(t.open) - 1; i >= 0; i-- {
		t.effort++
		e := &t.open[i]
		ends := e.traits & scopes
		switch e.ns {
		case htmlNS:
			if e.name == name && name != 0 || e.traits&any != 0 {
				return i
			}
			switch s {
			case listScope:
				ends = e.traits & (scopes | listScopes)
			case buttonScope:
				if e.name == atom.Button {
					return -1
				}
			case inTableScope:
				ends = e.traits & tableScope
			}
		case mathNS:
			ends = e.traits & mathHTML
		case svgNS:
			ends = e.traits & svgHTML
		}
		if ends != 0 && (e.ns == htmlNS || s != inTableScope) {
			return -1
		}
	}
	return -1
}

// has reports whether an element is in scope.
func (t *construction) has(s scope, name atom.Atom) bool { return t.inScope(s, name, 0) >= 0 }

// popTo pops up to and including the innermost element with the name in scope, and reports
// whether there is one.
func (t *construction) popTo(s scope, name atom.Atom) bool { return t.popToAny(s, name, 0) }

// popToAny is popTo for elements with the name or one of the traits.
func (t *construction) popToAny(s scope, name atom.Atom, any traits) bool {
	i := t.inScope(s, name, any)
	if i >= 0 {
		t.open = t.open[:i]
	}
	return i >= 0
}

// clearTo pops up to, not including, the innermost element with the name or one of the traits.
func (t *construction) clearTo(name atom.Atom, any traits) {
	for i := len(t.open) - 1; i >= 0; i-- {
		if e := &t.open[i]; e.name == name && name != 0 || e.traits&any != 0 || e.name == atom.Html || e.name == atom.Template {
			t.open = t.open[:i+1]
			return
		}
	}
}

// popImplied pops elements whose end tags are optional, except those with that name.
func (t *construction) popImplied(except atom.Atom) {
	for n := len(t.open); n > 0; n-- {
		if e := &t.open[n-1]; e.traits&implied == 0 || e.name == except && except != 0 {
			t.open = t.open[:n]
			return
		}
	}
	t.open = t.open[:0]
}

// Inserting elements and texts, section 13.2.6.1.

// push inserts the element of the latest tag and opens it.
func (t *construction) push() { t.put(&t.tag) }

// put inserts a new element like e and opens it.
func (t *construction) put(e *openElement) {
	if n := len(t.open); n == maxDepth || t.guess && n == maxGuessDepth {
		t.refuse(tooDeep)
		t.pop()
	}
	var id int32
	emit := false
	if t.outline != nil {
		id = t.outline.element(e)
		t.place(id)
	} else if t.latest++; t.shouldFoster() {
		t.reordering = fostered
	} else {
		id = t.latest
		t.syncDepth()
		emit = true
	}
	inP := t.isInP(e)
	t.open = append(t.open, *e)
	top := t.top()
	top.id, top.inP = id, inP
	t.childless = id
	if emit {
		t.emit(top)
	}
}

// isInP reports whether a p element is in button scope when e is the current node. It is
// needed so often that every element stores it. Elements removed from the middle of the stack
// are neither p elements nor limits of the scope.
func (t *construction) isInP(e *openElement) bool {
	switch {
	case e.is(atom.P):
		return true
	case len(t.open) == 0 || e.name == atom.Button && e.ns == htmlNS:
		return false
	case e.ns == htmlNS && e.traits&scopes != 0, e.ns != htmlNS && e.isSpecial():
		return false
	}
	return t.top().inP
}

// hasP reports whether a p element is in button scope.
func (t *construction) hasP() bool { return len(t.open) > 0 && t.top().inP }

// endP ends the p element in button scope, if there is one.
func (t *construction) endP() {
	if t.hasP() {
		t.popTo(buttonScope, atom.P)
	}
}

// emit passes the start of an element to the collector.
func (t *construction) emit(e *openElement) {
	foreign := e.ns != htmlNS
	a := attrs{page: &t.z, at: int(e.at), foreign: foreign, mayHide: t.z.anyHides}
	if a.at == t.z.nameEnd { // the latest tag
		a.class, a.mayHide = t.z.class, t.z.hides
	}
	t.c.begin(e.name, &e.element, foreign, e.tag, &a)
	e.depth = int32(len(t.c.steps))
}

// syncDepth ends all elements below the current node in the collector.
func (t *construction) syncDepth() {
	n := len(t.open)
	if n == 0 {
		t.c.endTo(0)
		return
	}
	top := &t.open[n-1]
	if top.id == t.head.id && (len(t.c.steps) < 2 || t.c.steps[1].name != atom.Head) {
		// The element had ended, but gets more content. Only white space came after it.
		t.c.endTo(1)
		t.emit(top)
		t.head.depth = top.depth
	}
	t.c.endTo(int(top.depth))
}

// text inserts text into the current node.
func (t *construction) text(s string) {
	if s == "" {
		return
	}
	t.childless = 0
	switch {
	case t.outline != nil:
		t.place(t.outline.text(s))
	case t.shouldFoster():
		t.reordering = fostered
	default:
		t.syncDepth()
		t.c.text(s)
	}
}

// place inserts a node at the appropriate place.
func (t *construction) place(node int32) {
	switch {
	case t.shouldFoster():
		t.foster(node)
	case len(t.open) == 0:
		t.outline.append(0, node)
	default:
		t.outline.append(t.top().id, node)
	}
}

// foster inserts a node before the innermost table.
func (t *construction) foster(node int32) {
	for i := len(t.open) - 1; i >= 0; i-- {
		switch e := &t.open[i]; e.name {
		case atom.Template:
			t.outline.append(e.id, node)
			return
		case atom.Table:
			t.outline.before(e.id, node)
			return
		}
	}
	t.outline.append(t.open[0].id, node)
}

// shouldFoster reports whether the next node goes before a table.
func (t *construction) shouldFoster() bool {
	return t.fostering && !t.guess && len(t.open) > 0 && t.top().traits&tablePart != 0
}

func isBlankText(s string) bool { return leadingBlanks(s) == len(s) }

// leadingBlanks returns the length of the white space at the beginning of s.
func leadingBlanks(s string) int {
	i := 0
	for i < len(s) && ends[s[i]]&isBlank != 0 {
		i++
	}
	return i
}

// The list of active formatting elements, section 13.2.4.3.

// mark adds a marker to the list.
func (t *construction) mark() {
	if !t.guess {
		t.formatting = append(t.formatting, openElement{})
	}
}

// clearToMarker removes the elements up to and including the last marker.
func (t *construction) clearToMarker() {
	for {
		n := len(t.formatting) - 1
		if n < 0 {
			t.refuse(broken)
			return
		}
		isMarker := t.formatting[n].id == 0
		t.formatting = t.formatting[:n]
		if n == 0 || isMarker {
			return
		}
	}
}

// pushFormatting inserts and opens a formatting element. The list holds at most three equal
// ones.
func (t *construction) pushFormatting() {
	t.push()
	if t.guess {
		return
	}
	e := *t.top()
	alike := 0
	for i := len(t.formatting) - 1; i >= 0 && t.formatting[i].id != 0; i-- {
		t.effort++
		if f := &t.formatting[i]; f.name == e.name && t.sameAttributes(f, &e) {
			if alike++; alike >= 3 {
				t.formatting = append(t.formatting[:i], t.formatting[i+1:]...)
			}
		}
	}
	t.formatting = append(t.formatting, e)
}

// reconstruct reopens the formatting elements that were closed without an end tag.
func (t *construction) reconstruct() {
	i := len(t.formatting)
	for i > 0 && t.formatting[i-1].id != 0 && t.indexOf(t.open, t.formatting[i-1].id) < 0 {
		i--
	}
	for ; i < len(t.formatting) && !t.isTooCostly(); i++ {
		clone := t.clone(&t.formatting[i])
		t.put(&clone)
		t.formatting[i] = *t.top()
	}
}

// clone returns a new element like e, not yet inserted.
func (t *construction) clone(e *openElement) openElement {
	if e.weight == 0 {
		e.weight = int32(1 + t.countAttributes(e)/2)
	}
	t.extra += int(e.weight)
	t.effort += 1 + int(e.to-e.at) // its attributes may be read again
	clone := *e
	clone.id = 0
	return clone
}

// countAttributes returns a lower bound of the number of attributes of an element.
func (t *construction) countAttributes(e *openElement) (n int) {
	if e.at == 0 {
		return 0
	}
	for p := int(e.at); ; n++ {
		_, next, ok := t.z.attribute(p)
		if !ok {
			t.effort += n
			return n
		}
		p = next
	}
}

// sameAttributes reports whether two tags have the same attributes in any order.
func (t *construction) sameAttributes(a, b *openElement) bool {
	z := &t.z
	if z.page[a.at:a.to] == z.page[b.at:b.to] {
		return true
	}
	t.effort += int(a.to - a.at + b.to - b.at)
	return t.hasAttributes(a, b) && t.hasAttributes(b, a)
}

// hasAttributes reports whether a has all attributes of b. It returns false if
// the page exceeds its limits (isTooCostly).
func (t *construction) hasAttributes(a, b *openElement) bool {
	z := &t.z
	for p := int(b.at); !t.isTooCostly(); {
		attr, next, ok := z.attribute(p)
		if !ok {
			return true
		}
		name := normalName(z.page[attr.name:attr.nameEnd])
		want, _ := z.attrAt(int(b.at), name) // the first of several attributes with this name counts
		t.effort += int(b.to - b.at + a.to - a.at)
		if got, ok := z.attrAt(int(a.at), name); !ok || got != want {
			return false
		}
		p = next
	}
	return false
}

// endFormatting ends a formatting element by the adoption agency algorithm, section
// 13.2.6.4.7.
func (t *construction) endFormatting(name atom.Atom) {
	if t.guess {
		t.popTo(defaultScope, name)
		return
	}
	if top := t.top(); top.name == name && t.indexOf(t.formatting, top.id) < 0 {
		t.pop()
		return
	}
	for range 8 {
		f := len(t.formatting) - 1
		for f >= 0 && t.formatting[f].id != 0 && t.formatting[f].name != name {
			f--
		}
		t.effort += len(t.formatting) - f
		if f < 0 || t.formatting[f].id == 0 {
			t.endOther(name, name.String())
			return
		}
		id := t.formatting[f].id
		i := t.indexOf(t.open, id)
		if i < 0 {
			t.formatting = append(t.formatting[:f], t.formatting[f+1:]...)
			return
		}
		if !t.has(defaultScope, name) {
			return
		}
		furthest := i
		for furthest < len(t.open) && !t.open[furthest].isSpecial() {
			furthest++
		}
		if furthest == len(t.open) {
			t.open = t.open[:i]
			t.formatting = append(t.formatting[:f], t.formatting[f+1:]...)
			return
		}
		if t.outline == nil {
			t.reordering = adopted
			return
		}
		t.adopt(f, i, furthest)
	}
}

// adopt moves a formatting element into the furthest block: it removes the element from the
// stack and inserts a clone into the block. The arguments are indexes: f in the formatting
// list, i and furthest in the stack.
func (t *construction) adopt(f, i, furthest int) {
	o := t.outline
	formatting, block, ancestor := t.formatting[f], t.open[furthest], t.open[i-1]
	bookmark := f
	last := block.id
	x := furthest
	for j := 1; ; j++ {
		x--
		e := t.open[x]
		if e.id == formatting.id {
			break
		}
		n := t.indexOf(t.formatting, e.id)
		switch {
		case n < 0:
			t.open = append(t.open[:x], t.open[x+1:]...)
			continue
		case j > 3:
			t.formatting = append(t.formatting[:n], t.formatting[n+1:]...)
			if n <= bookmark {
				bookmark--
			}
			continue
		}
		clone := t.clone(&e)
		clone.id = o.element(&clone)
		t.formatting[n], t.open[x] = clone, clone
		if last == block.id {
			bookmark = n + 1
		}
		o.detach(last)
		o.append(clone.id, last)
		last = clone.id
	}
	o.detach(last)
	if ancestor.traits&tablePart != 0 {
		t.foster(last)
	} else {
		o.append(ancestor.id, last)
	}
	clone := t.clone(&formatting)
	clone.id = o.element(&clone)
	clone.inP = block.inP
	o.moveChildren(block.id, clone.id)
	o.append(block.id, clone.id)
	t.childless = 0

	if old := t.indexOf(t.formatting, formatting.id); old >= 0 && old < bookmark {
		bookmark--
	}
	t.formatting = t.without(t.formatting, formatting.id)
	t.formatting = slices.Insert(t.formatting, bookmark, clone)
	t.open = t.without(t.open, formatting.id)
	t.open = slices.Insert(t.open, t.indexOf(t.open, block.id)+1, clone)
}

// endOther ends an element that has no special rules.
func (t *construction) endOther(name atom.Atom, tag string) {
	for i := len(t.open) - 1; i >= 0; i-- {
		t.effort++
		e := &t.open[i]
		if e.is(name) && (name != 0 || e.tag == tag) {
			t.open = t.open[:i]
			return
		}
		if e.isSpecial() {
			return
		}
	}
}
