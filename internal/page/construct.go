package page

import (
	"slices"

	"golang.org/x/net/html/atom"
)

// A construction reads a page as the tree construction stage of the HTML
// standard does (section 13.2.6), in the form that golang.org/x/net/html gives
// it, and tells a collector the elements and texts of the tree in document
// order. It needs no tree for that but the open elements and the list of active
// formatting elements, as long as everything is put where the page has got to.
//
// Two things of the standard put something elsewhere: what stands in a table and
// does not belong there goes before the table, and a formatting element that
// ends before a block in it is taken out of its place (the adoption agency).
// Some pages say late what their html or body element is like. These pages are
// read once more, and then there are nodes (outline.go).
//
// Pages that would have no tree, or one that is too dear, are read once more as
// well, by guess: everything is put where the page has got to, and nothing is
// opened anew.
//
// Pages of frames, whose tree has no place for what is said to readers without
// frames, are read as if <frameset>, <frame> and <noframes> were elements like
// others.
type construction struct {
	way
	z scanner
	c *collector

	kind  tokenKind
	tag   open   // the latest tag
	empty bool   // whether it ends itself: <br/>
	s     string // the latest text
	raw   scanState

	open       []open // the stack of open elements
	formatting []open // the list of active formatting elements
	latest     int32  // identity of the latest element
	childless  int32  // the element that nothing was put in yet, if it is the latest

	mode, original mode
	templates      []mode
	head, form     open
	fostering      bool // what is put in parts of tables goes before the table
	framesetOK     bool
	quirks         bool

	nodes   outline // the latest, for its memory
	detour  detour  // why the page has to be read again, with nodes
	refused refusal // why it has to be read again, by guess
	extra   int     // elements beyond those that stand in the page, attributes counted as half of one
	effort  int     // elements of the lists, and bytes of their tags, that were looked at
}

// A way is how a page is read.
type way struct {
	frames  bool     // as one of frames
	outline *outline // with nodes, if not nil
	guess   bool     // as one that has no tree
}

// A detour is why the order of a tree is not that of its page.
type detour uint8

const (
	straight detour = iota
	fostered        // something goes before a table
	adopted         // a formatting element ends before a block in it
	late            // html or body are described where they have begun
	detours
)

// A refusal is why a page has no tree.
type refusal uint8

const (
	accepted refusal = iota
	tooDeep          // more than 512 elements are open
	tooDear          // it would be far larger than the page
	broken           // the parser fails
)

const (
	// deepest is how many elements golang.org/x/net/html lets be open.
	deepest = 512

	// deepestGuess is how many are when a page is read by guess; more take the
	// place of the innermost.
	deepestGuess = 64

	// dearest is how many elements a page may have beyond those that stand in
	// it, an attribute counting as half of one: a tree can be far larger than the
	// page that it is made from. The standard keeps a list of the formatting
	// elements (<b>, <font …>) that were not closed, and makes all of them anew
	// in the next paragraph, with their attributes: four hundred open <font> and
	// a hundred thousand <p>, half a megabyte of page, are forty million
	// elements. It also merges the attributes of every further <body> into those
	// of the first. The parser has no limit for either.
	dearest = 1 << 20

	// longest is how many bytes of a page are read.
	longest = 1 << 30

	// hardest is how many elements of the lists, and bytes of their tags, are
	// looked at, beyond a few for each byte of the page.
	hardest = 1 << 24

	// mostNodes is how many nodes an outline may have.
	mostNodes = 1 << 20
)

// An open is an element that is open, or was.
type open struct {
	id    int32 // 0 is none; a marker has none
	depth int32 // how many steps lead to it
	name  atom.Atom
	element
	space     space
	integrate bool   // an HTML integration point because of its attributes
	inP       bool   // a paragraph is in button scope
	at, to    int32  // where in the page its attributes are; 0 if there is no tag
	weight    int32  // half the number of its attributes, and one; 0 if they were not counted
	tag       string // in lower case
}

// A space is a namespace.
type space uint8

const (
	htmlSpace space = iota
	mathSpace
	svgSpace
)

// is reports whether it is an HTML element of that name.
func (e *open) is(name atom.Atom) bool { return e.name == name && e.space == htmlSpace }

// isSpecial reports whether the standard calls it special.
func (e *open) isSpecial() bool {
	switch e.space {
	case mathSpace:
		return e.traits&mathHTML != 0
	case svgSpace:
		return e.traits&svgHTML != 0
	}
	return e.traits&special != 0
}

// isHTMLIntegration reports whether what is in it is HTML.
func (e *open) isHTMLIntegration() bool {
	return e.integrate || e.space == svgSpace && e.traits&svgHTML != 0
}

// isTextIntegration reports whether text in it is HTML.
func (e *open) isTextIntegration() bool {
	return e.space == mathSpace && e.traits&mathHTML != 0 && e.name != atom.AnnotationXml
}

// read tells c the page. It reports false if a parser refuses the page, or if
// its tree would be too dear to ask for; what it then tells is a guess.
func (t *construction) read(page string, c *collector) bool {
	page = cut(page, longest)
	t.effort = 0
	return t.readFrames(page, c, false)
}

// readFrames is read for pages that may be known to have frames.
func (t *construction) readFrames(page string, c *collector, frames bool) bool {
	t.once(page, c, way{frames: frames})
	if t.refused == accepted && t.detour != straight {
		t.nodes.reset(t.detour)
		c.reset()
		t.once(page, c, way{frames: frames, outline: &t.nodes})
	}
	why := t.refused
	if why != accepted {
		c.reset()
		t.once(page, c, way{frames: frames, guess: true})
		t.refused = why
	}
	if c.framed && !frames {
		c.reset()
		t.readFrames(page, c, true)
	}
	return why == accepted
}

// once reads the page one time, to its end or to where this turns out to be the
// wrong way.
func (t *construction) once(page string, c *collector, w way) {
	t.z.reset(page)
	*t = construction{
		way: w, z: t.z, c: c, open: t.open[:0], formatting: t.formatting[:0], templates: t.templates[:0], nodes: t.nodes,
		framesetOK: true, effort: t.effort,
	}
	for t.detour == straight && (t.guess || t.refused == accepted) {
		if t.kind = t.z.next(); t.kind == endOfPage {
			break
		}
		t.token()
		if t.isTooDear() {
			t.refuse(tooDear)
		}
	}
	if t.outline != nil && t.refused == accepted {
		t.outline.tell(c, &t.z)
	}
	c.endTo(0)
}

// isTooDear reports whether the page asks for more than it may.
func (t *construction) isTooDear() bool {
	return t.extra > dearest || t.effort > hardest+8*len(t.z.page) || t.outline != nil && len(t.outline.nodes) > mostNodes
}

// refuse notes why the page has no tree.
func (t *construction) refuse(why refusal) {
	if t.refused == accepted {
		t.refused = why
	}
}

// token handles the latest token.
func (t *construction) token() {
	t.raw = data
	switch t.kind {
	case startTag, endTag:
		t.tag.name, t.tag.element, t.tag.tag = t.z.name, t.z.element, t.z.tag
		t.tag.space, t.tag.integrate = htmlSpace, false
		if t.kind == startTag {
			t.tag.at, t.tag.to = int32(t.z.nameEnd), int32(t.z.to)
			t.empty, t.raw = t.z.selfClosing, t.tag.raw
		} else {
			t.empty, t.tag.at = false, 0
		}
	case textToken:
		if t.mode == textOnly && t.top().layout == hidden {
			return // scripts and styles are long
		}
		t.s = t.z.text()
	}
	if t.mode != inBody || t.z.foreign || !t.inBody() { // for most of the time it is inBody
		t.process()
	}
	if t.raw != data {
		t.z.enter(t.raw)
	}
	n := len(t.open)
	t.z.foreign = n > 0 && t.open[n-1].space != htmlSpace
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

// implied handles a tag that is not there.
func (t *construction) implied(kind tokenKind, name atom.Atom) {
	realKind, realTag, realEmpty := t.kind, t.tag, t.empty
	t.kind, t.empty = kind, false
	t.tag = open{name: name, element: *elementOf(name), tag: name.String()}
	t.process()
	t.kind, t.tag, t.empty = realKind, realTag, realEmpty
}

// attrs is the attributes of the latest tag.
func (t *construction) attrs() attrs {
	return attrs{page: &t.z, at: int(t.tag.at)}
}

// The stack of open elements, section 13.2.4.2.

// top is the current node; the page must have an element.
func (t *construction) top() *open { return &t.open[len(t.open)-1] }

// pop takes the current node off.
func (t *construction) pop() {
	if len(t.open) == 0 {
		t.refuse(broken)
		return
	}
	t.open = t.open[:len(t.open)-1]
}

// indexOf is where an element is in a list, or -1.
func (t *construction) indexOf(list []open, id int32) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].id == id {
			t.effort += len(list) - i
			return i
		}
	}
	t.effort += len(list)
	return -1
}

// without removes an element from a list.
func (t *construction) without(list []open, id int32) []open {
	if i := t.indexOf(list, id); i >= 0 {
		list = append(list[:i], list[i+1:]...)
	}
	return list
}

// contains reports whether an element of that name is open, however far out.
func (t *construction) contains(name atom.Atom) bool {
	t.effort += len(t.open)
	for i := range t.open {
		if t.open[i].is(name) {
			return true
		}
	}
	return false
}

// A scope is how far an end tag reaches.
type scope uint8

const (
	defaultScope scope = iota
	listScope
	buttonScope
	inTableScope
)

// inScope finds the innermost open element that has the name, or one of the
// traits, unless the scope ends before. It returns -1 if there is none.
func (t *construction) inScope(s scope, name atom.Atom, any traits) int {
	for i := len(t.open) - 1; i >= 0; i-- {
		t.effort++
		e := &t.open[i]
		ends := e.traits & scopes
		switch e.space {
		case htmlSpace:
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
		case mathSpace:
			ends = e.traits & mathHTML
		case svgSpace:
			ends = e.traits & svgHTML
		}
		if ends != 0 && (e.space == htmlSpace || s != inTableScope) {
			return -1
		}
	}
	return -1
}

// has reports whether an element is in scope.
func (t *construction) has(s scope, name atom.Atom) bool { return t.inScope(s, name, 0) >= 0 }

// popTo takes off the innermost element of a name that is in scope, and what is
// in it.
func (t *construction) popTo(s scope, name atom.Atom) bool { return t.popToAny(s, name, 0) }

// popToAny is popTo for elements of a name or with one of some traits.
func (t *construction) popToAny(s scope, name atom.Atom, any traits) bool {
	i := t.inScope(s, name, any)
	if i >= 0 {
		t.open = t.open[:i]
	}
	return i >= 0
}

// clearTo takes off what is in the innermost element that has one of the traits
// or the name.
func (t *construction) clearTo(name atom.Atom, any traits) {
	for i := len(t.open) - 1; i >= 0; i-- {
		if e := &t.open[i]; e.name == name && name != 0 || e.traits&any != 0 || e.name == atom.Html || e.name == atom.Template {
			t.open = t.open[:i+1]
			return
		}
	}
}

// popImplied takes off elements whose end tags may be left out, but none of that
// name.
func (t *construction) popImplied(except atom.Atom) {
	for n := len(t.open); n > 0; n-- {
		if e := &t.open[n-1]; e.traits&implied == 0 || e.name == except && except != 0 {
			t.open = t.open[:n]
			return
		}
	}
	t.open = t.open[:0]
}

// Putting elements and texts where they belong, section 13.2.6.1.

// push puts the element of the latest tag into the current node, and opens it.
func (t *construction) push() { t.put(&t.tag) }

// put puts a new element like e into the current node, and opens it.
func (t *construction) put(e *open) {
	if n := len(t.open); n == deepest || t.guess && n == deepestGuess {
		t.refuse(tooDeep)
		t.pop()
	}
	var id int32
	isTold := false
	if t.outline != nil {
		id = t.outline.element(e)
		t.place(id)
	} else if t.latest++; t.shouldFoster() {
		t.detour = fostered
	} else {
		id = t.latest
		t.goOn()
		isTold = true
	}
	inP := t.isInP(e)
	t.open = append(t.open, *e)
	top := t.top()
	top.id, top.inP = id, inP
	t.childless = id
	if isTold {
		t.tell(top)
	}
}

// isInP reports whether a paragraph is in button scope when e is the current
// node. It is asked all the time, so that it is written down in the elements;
// what is taken out of the middle of the stack is no paragraph, nor the end of
// a scope.
func (t *construction) isInP(e *open) bool {
	switch {
	case e.is(atom.P):
		return true
	case len(t.open) == 0 || e.name == atom.Button && e.space == htmlSpace:
		return false
	case e.space == htmlSpace && e.traits&scopes != 0, e.space != htmlSpace && e.isSpecial():
		return false
	}
	return t.top().inP
}

// hasP reports whether a paragraph is in button scope.
func (t *construction) hasP() bool { return len(t.open) > 0 && t.top().inP }

// endP ends the paragraph that is in button scope, if there is one.
func (t *construction) endP() {
	if t.hasP() {
		t.popTo(buttonScope, atom.P)
	}
}

// tell tells the collector that an element begins.
func (t *construction) tell(e *open) {
	foreign := e.space != htmlSpace
	a := attrs{page: &t.z, at: int(e.at), foreign: foreign}
	if a.at == t.z.nameEnd { // it is the latest tag
		a.class = t.z.class
	}
	t.c.begin(e.name, &e.element, foreign, e.tag, &a)
	e.depth = int32(len(t.c.steps))
}

// goOn tells the collector that all has ended that is in the current node.
func (t *construction) goOn() {
	n := len(t.open)
	if n == 0 {
		t.c.endTo(0)
		return
	}
	top := &t.open[n-1]
	if top.id == t.head.id && (len(t.c.steps) < 2 || t.c.steps[1].name != atom.Head) {
		// It had ended, but there is something for it. All that was after it is
		// white space.
		t.c.endTo(1)
		t.tell(top)
		t.head.depth = top.depth
	}
	t.c.endTo(int(top.depth))
}

// text puts text into the current node.
func (t *construction) text(s string) {
	if s == "" {
		return
	}
	t.childless = 0
	switch {
	case t.outline != nil:
		t.place(t.outline.text(s))
	case t.shouldFoster():
		t.detour = fostered
	default:
		t.goOn()
		t.c.text(s)
	}
}

// place puts a node where it belongs.
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

// foster puts a node before the innermost table.
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

// shouldFoster reports whether what is put somewhere next goes before a table.
func (t *construction) shouldFoster() bool {
	return t.fostering && !t.guess && len(t.open) > 0 && t.top().traits&tablePart != 0
}

// isBlankText reports whether s is white space only.
func isBlankText(s string) bool { return leadingBlanks(s) == len(s) }

// leadingBlanks is how much white space s begins with.
func leadingBlanks(s string) int {
	i := 0
	for i < len(s) && ends[s[i]]&isBlank != 0 {
		i++
	}
	return i
}

// The list of active formatting elements, section 13.2.4.3.

// mark puts a marker on the list.
func (t *construction) mark() {
	if !t.guess {
		t.formatting = append(t.formatting, open{})
	}
}

// clearToMarker takes off all up to the latest marker.
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

// pushFormatting is push for formatting elements. Of those that are alike the
// list keeps three.
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

// reconstruct opens anew the formatting elements that were closed by something
// else than their end tags.
func (t *construction) reconstruct() {
	i := len(t.formatting)
	for i > 0 && t.formatting[i-1].id != 0 && t.indexOf(t.open, t.formatting[i-1].id) < 0 {
		i--
	}
	for ; i < len(t.formatting) && !t.isTooDear(); i++ {
		clone := t.clone(&t.formatting[i])
		t.put(&clone)
		t.formatting[i] = *t.top()
	}
}

// clone is a new element like e, which has no place yet.
func (t *construction) clone(e *open) open {
	if e.weight == 0 {
		e.weight = int32(1 + t.countAttributes(e)/2)
	}
	t.extra += int(e.weight)
	t.effort += 1 + int(e.to-e.at) // which may be read again
	clone := *e
	clone.id = 0
	return clone
}

// countAttributes counts the attributes of an element, at least.
func (t *construction) countAttributes(e *open) (n int) {
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

// sameAttributes reports whether two tags have the same attributes, in whatever
// order.
func (t *construction) sameAttributes(a, b *open) bool {
	z := &t.z
	if z.page[a.at:a.to] == z.page[b.at:b.to] {
		return true
	}
	t.effort += int(a.to - a.at + b.to - b.at)
	return t.hasAttributes(a, b) && t.hasAttributes(b, a)
}

// hasAttributes reports whether a has all attributes that b has, as far as that
// can be found out with reasonable effort.
func (t *construction) hasAttributes(a, b *open) bool {
	z := &t.z
	for p := int(b.at); !t.isTooDear(); {
		attr, next, ok := z.attribute(p)
		if !ok {
			return true
		}
		name := normalName(z.page[attr.name:attr.nameEnd])
		want, _ := z.attrAt(int(b.at), name) // the first counts
		t.effort += int(b.to - b.at + a.to - a.at)
		if got, ok := z.attrAt(int(a.at), name); !ok || got != want {
			return false
		}
		p = next
	}
	return false
}

// endFormatting ends a formatting element: the adoption agency of section
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
			t.detour = adopted
			return
		}
		t.adopt(f, i, furthest)
	}
}

// adopt takes the f-th formatting element, which is the i-th that is open, away
// from around the furthest block, and puts a clone of it into that.
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

// endOther ends an element as any that has no rules of its own.
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
