package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// A mode is an insertion mode of the standard, section 13.2.6.4. For each mode there is a method
// that handles a token and reports whether it consumed the token.
type mode uint8

const (
	initial mode = iota
	beforeHTML
	beforeHead
	inHead
	inHeadNoscript
	afterHead
	inBody
	textOnly
	inTable
	inCaption
	inColumnGroup
	inTableBody
	inRow
	inCell
	inTemplate
	afterBody
	afterAfterBody
	atEnd // the rest of the page is ignored
)

// dispatch handles the current token in the current mode.
func (t *construction) dispatch() bool {
	switch t.mode {
	case inBody:
		return t.inBody()
	case textOnly:
		return t.textOnly()
	case initial:
		return t.initial()
	case beforeHTML:
		return t.beforeHTML()
	case beforeHead:
		return t.beforeHead()
	case inHead:
		return t.inHead()
	case inHeadNoscript:
		return t.inHeadNoscript()
	case afterHead:
		return t.afterHead()
	case inTable:
		return t.inTable()
	case inCaption:
		return t.inCaption()
	case inColumnGroup:
		return t.inColumnGroup()
	case inTableBody:
		return t.inTableBody()
	case inRow:
		return t.inRow()
	case inCell:
		return t.inCell()
	case inTemplate:
		return t.inTemplate()
	case afterBody, afterAfterBody:
		return t.afterBody()
	}
	return true
}

// skipBlanks drops the white space at the beginning of the latest text, and reports whether
// nothing is left.
func (t *construction) skipBlanks() bool {
	t.s = t.s[leadingBlanks(t.s):]
	return t.s == ""
}

// keepBlanks inserts the white space at the beginning of the latest text, and reports whether
// nothing is left.
func (t *construction) keepBlanks() bool {
	n := leadingBlanks(t.s)
	t.text(t.s[:n])
	t.s = t.s[n:]
	return t.s == ""
}

func (t *construction) initial() bool {
	switch t.kind {
	case textToken:
		if t.skipBlanks() {
			return true
		}
	case comment:
		return true
	case doctype:
		t.quirks = t.isQuirky(t.z.page[t.z.from:t.z.to])
		t.mode = beforeHTML
		return true
	}
	t.quirks = true
	t.mode = beforeHTML
	return false
}

// isQuirky reports whether a doctype selects quirks mode, in which a table does not end a p
// element. It calls golang.org/x/net/html and caches the answer, because the pages of a site
// often have the same doctype.
func (t *construction) isQuirky(doctype string) bool {
	const maxKept = 1 << 10
	if doctype == t.doctype {
		return t.quirky
	}
	root := tree(doctype + "<p><table>")
	if root == nil {
		return true
	}
	quirky := false
	for n := range root.Descendants() {
		quirky = quirky || n.DataAtom == atom.Table && n.Parent.DataAtom == atom.P
	}
	if len(doctype) <= maxKept {
		t.doctype, t.quirky = strings.Clone(doctype), quirky
	}
	return quirky
}

func (t *construction) beforeHTML() bool {
	switch t.kind {
	case doctype, comment:
		return true
	case textToken:
		if t.skipBlanks() {
			return true
		}
	case startTag:
		if t.tag.name == atom.Html {
			t.push()
			t.mode = beforeHead
			return true
		}
	case endTag:
		switch t.tag.name {
		case atom.Head, atom.Body, atom.Html, atom.Br:
		default:
			return true
		}
	}
	t.implied(startTag, atom.Html)
	return false
}

func (t *construction) beforeHead() bool {
	switch t.kind {
	case doctype, comment:
		return true
	case textToken:
		if t.skipBlanks() {
			return true
		}
	case startTag:
		switch t.tag.name {
		case atom.Head:
			t.push()
			t.head = *t.top()
			t.mode = inHead
			return true
		case atom.Html:
			return t.inBody()
		}
	case endTag:
		switch t.tag.name {
		case atom.Head, atom.Body, atom.Html, atom.Br:
		default:
			return true
		}
	}
	t.implied(startTag, atom.Head)
	return false
}

// pushText opens an element that contains only text.
func (t *construction) pushText() {
	t.push()
	t.original = t.mode
	t.mode = textOnly
}

func (t *construction) inHead() bool {
	switch t.kind {
	case doctype, comment:
		return true
	case textToken:
		if t.keepBlanks() {
			return true
		}
	case startTag:
		switch t.tag.name {
		case atom.Html:
			return t.inBody()
		case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta:
			t.push()
			t.pop()
			return true
		case atom.Noscript:
			t.push()
			t.mode = inHeadNoscript
			t.raw = data
			return true
		case atom.Noframes:
			if t.frames {
				break
			}
			t.pushText()
			return true
		case atom.Script, atom.Title, atom.Style:
			t.pushText()
			return true
		case atom.Head:
			return true
		case atom.Template:
			for i := range t.open {
				if t.open[i].ns != htmlNS {
					t.mode = atEnd
					return true
				}
			}
			t.push()
			t.mark()
			t.framesetOK = false
			t.mode = inTemplate
			t.templates = append(t.templates, inTemplate)
			return true
		}
	case endTag:
		switch t.tag.name {
		case atom.Head:
			t.pop()
			t.mode = afterHead
			return true
		case atom.Body, atom.Html, atom.Br:
		case atom.Template:
			t.endTemplate()
			return true
		default:
			return true
		}
	}
	t.implied(endTag, atom.Head)
	return false
}

func (t *construction) endTemplate() {
	if !t.contains(atom.Template) {
		return
	}
	t.popImplied(0)
	for i := len(t.open) - 1; i >= 0; i-- {
		if t.open[i].is(atom.Template) {
			t.open = t.open[:i]
			break
		}
	}
	t.clearToMarker()
	if n := len(t.templates); n > 0 {
		t.templates = t.templates[:n-1]
	} else {
		t.refuse(broken)
	}
	t.resetMode()
}

// resetMode resets the insertion mode from the open elements, section 13.2.4.1.
func (t *construction) resetMode() {
	for i := len(t.open) - 1; i >= 0; i-- {
		e := &t.open[i]
		switch e.name {
		case atom.Td, atom.Th:
			t.mode = inCell
		case atom.Tr:
			t.mode = inRow
		case atom.Tbody, atom.Thead, atom.Tfoot:
			t.mode = inTableBody
		case atom.Caption:
			t.mode = inCaption
		case atom.Colgroup:
			t.mode = inColumnGroup
		case atom.Table:
			t.mode = inTable
		case atom.Template:
			if e.ns != htmlNS {
				continue
			}
			if len(t.templates) == 0 {
				t.refuse(broken)
				t.mode = inBody
				return
			}
			t.mode = t.templates[len(t.templates)-1]
		case atom.Head:
			t.mode = inHead
		case atom.Body:
			t.mode = inBody
		case atom.Html:
			t.mode = afterHead
			if t.head.id == 0 {
				t.mode = beforeHead
			}
		default:
			if i == 0 {
				t.mode = inBody
				return
			}
			continue
		}
		return
	}
}

func (t *construction) inHeadNoscript() bool {
	switch t.kind {
	case doctype:
		return true
	case startTag:
		switch t.tag.name {
		case atom.Html:
			return t.inBody()
		case atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes, atom.Style:
			if t.frames && t.tag.name == atom.Noframes {
				break
			}
			return t.inHead()
		case atom.Head:
			return true
		case atom.Noscript:
			t.raw = data
			return true
		}
	case endTag:
		switch t.tag.name {
		case atom.Noscript, atom.Br:
		default:
			return true
		}
	case textToken:
		if isBlankText(t.s) {
			return t.inHead()
		}
	case comment:
		return t.inHead()
	}
	t.pop()
	if len(t.open) == 0 || t.top().name != atom.Head {
		t.refuse(broken)
	}
	t.mode = inHead
	return t.isTag() && t.tag.name == atom.Noscript
}

func (t *construction) isTag() bool { return t.kind == startTag || t.kind == endTag }

func (t *construction) afterHead() bool {
	switch t.kind {
	case doctype, comment:
		return true
	case textToken:
		if t.keepBlanks() {
			return true
		}
	case startTag:
		switch t.tag.name {
		case atom.Html:
			return t.inBody()
		case atom.Body:
			t.push()
			t.framesetOK = false
			t.mode = inBody
			return true
		case atom.Frameset:
			t.frameset()
			return true
		case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes, atom.Script, atom.Style, atom.Template, atom.Title:
			if t.frames && t.tag.name == atom.Noframes {
				break
			}
			t.open = append(t.open, t.head)
			consumed := t.inHead()
			t.open = t.without(t.open, t.head.id)
			return consumed
		case atom.Head:
			return true
		}
	case endTag:
		switch t.tag.name {
		case atom.Body, atom.Html, atom.Br:
		case atom.Template:
			return t.inHead()
		default:
			return true
		}
	}
	t.implied(startTag, atom.Body)
	t.framesetOK = true
	return false
}

func (t *construction) textOnly() bool {
	switch t.kind {
	case textToken:
		t.text(t.s)
		return true
	case endTag:
		t.pop()
		t.mode = t.original
		return true
	}
	t.mode = t.original
	return false
}

func (t *construction) inTable() bool {
	switch t.kind {
	case textToken:
		t.dropNUL()
		if t.top().traits&tablePart != 0 && isBlankText(t.s) {
			t.text(t.s)
			return true
		}
	case startTag:
		switch t.tag.name {
		case atom.Caption:
			t.clearTo(0, tableScope)
			t.mark()
			t.push()
			t.mode = inCaption
			return true
		case atom.Colgroup:
			t.clearTo(0, tableScope)
			t.push()
			t.mode = inColumnGroup
			return true
		case atom.Col:
			t.implied(startTag, atom.Colgroup)
			return false
		case atom.Tbody, atom.Tfoot, atom.Thead:
			t.clearTo(0, tableScope)
			t.push()
			t.mode = inTableBody
			return true
		case atom.Td, atom.Th, atom.Tr:
			t.implied(startTag, atom.Tbody)
			return false
		case atom.Table:
			if t.popTo(inTableScope, atom.Table) {
				t.resetMode()
				return false
			}
			return true
		case atom.Style, atom.Script, atom.Template:
			return t.inHead()
		case atom.Input:
			if t.isHiddenInput() {
				t.push()
				t.pop()
				return true
			}
		case atom.Form:
			if t.form.id != 0 || t.contains(atom.Template) {
				return true
			}
			t.push()
			t.form = *t.top()
			t.pop()
			// The rest is handled as in a body, which ignores a form in a form.
		}
	case endTag:
		switch t.tag.name {
		case atom.Table:
			if t.popTo(inTableScope, atom.Table) {
				t.resetMode()
			}
			return true
		case atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
			return true
		case atom.Template:
			return t.inHead()
		}
	case comment:
		t.childless = 0
		return true
	case doctype:
		return true
	}
	t.fostering = true
	consumed := t.inBody()
	t.fostering = false
	return consumed
}

// isHiddenInput reports whether the latest tag, of an input element, is a hidden input.
func (t *construction) isHiddenInput() bool {
	kind, ok := t.attrs().find("type")
	return ok && strings.EqualFold(kind, "hidden")
}

// endCaption ends a caption, and reports whether there was one.
func (t *construction) endCaption() bool {
	if !t.popTo(inTableScope, atom.Caption) {
		return false
	}
	t.clearToMarker()
	t.mode = inTable
	return true
}

func (t *construction) inCaption() bool {
	switch t.kind {
	case startTag:
		switch t.tag.name {
		case atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Td, atom.Tfoot, atom.Thead, atom.Tr:
			return !t.endCaption()
		}
	case endTag:
		switch t.tag.name {
		case atom.Caption:
			t.endCaption()
			return true
		case atom.Table:
			return !t.endCaption()
		case atom.Body, atom.Col, atom.Colgroup, atom.Html, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
			return true
		}
	}
	return t.inBody()
}

func (t *construction) inColumnGroup() bool {
	switch t.kind {
	case textToken:
		if t.keepBlanks() {
			return true
		}
	case comment, doctype:
		t.childless = 0
		return true
	case startTag:
		switch t.tag.name {
		case atom.Html:
			return t.inBody()
		case atom.Col:
			t.push()
			t.pop()
			return true
		case atom.Template:
			return t.inHead()
		}
	case endTag:
		switch t.tag.name {
		case atom.Colgroup:
			if t.top().name == atom.Colgroup {
				t.pop()
				t.mode = inTable
			}
			return true
		case atom.Col:
			return true
		case atom.Template:
			return t.inHead()
		}
	}
	if t.top().name != atom.Colgroup {
		return true
	}
	t.pop()
	t.mode = inTable
	return false
}

func (t *construction) endPart(name atom.Atom, any traits, next mode) {
	t.clearTo(name, any)
	t.pop()
	t.mode = next
}

func (t *construction) inTableBody() bool {
	switch t.kind {
	case startTag:
		switch t.tag.name {
		case atom.Tr:
			t.clearTo(0, section)
			t.push()
			t.mode = inRow
			return true
		case atom.Td, atom.Th:
			t.implied(startTag, atom.Tr)
			return false
		case atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Tfoot, atom.Thead:
			if t.popToAny(inTableScope, 0, section) {
				t.mode = inTable
				return false
			}
			return true
		}
	case endTag:
		switch t.tag.name {
		case atom.Tbody, atom.Tfoot, atom.Thead:
			if t.has(inTableScope, t.tag.name) {
				t.endPart(0, section, inTable)
			}
			return true
		case atom.Table:
			if t.popToAny(inTableScope, 0, section) {
				t.mode = inTable
				return false
			}
			return true
		case atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html, atom.Td, atom.Th, atom.Tr:
			return true
		}
	case comment:
		t.childless = 0
		return true
	}
	return t.inTable()
}

func (t *construction) inRow() bool {
	switch t.kind {
	case startTag:
		switch t.tag.name {
		case atom.Td, atom.Th:
			t.clearTo(atom.Tr, 0)
			t.push()
			t.mark()
			t.mode = inCell
			return true
		case atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr:
			if t.has(inTableScope, atom.Tr) {
				t.endPart(atom.Tr, 0, inTableBody)
				return false
			}
			return true
		}
	case endTag:
		switch t.tag.name {
		case atom.Tr:
			if t.has(inTableScope, atom.Tr) {
				t.endPart(atom.Tr, 0, inTableBody)
			}
			return true
		case atom.Table:
			if t.has(inTableScope, atom.Tr) {
				t.endPart(atom.Tr, 0, inTableBody)
				return false
			}
			return true
		case atom.Tbody, atom.Tfoot, atom.Thead:
			if t.has(inTableScope, t.tag.name) && t.has(inTableScope, atom.Tr) {
				t.endPart(atom.Tr, 0, inTableBody)
				return false
			}
			return true
		case atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html, atom.Td, atom.Th:
			return true
		}
	}
	return t.inTable()
}

func (t *construction) inCell() bool {
	switch t.kind {
	case startTag:
		switch t.tag.name {
		case atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
			if t.popToAny(inTableScope, 0, cell) {
				t.clearToMarker()
				t.mode = inRow
				return false
			}
			return true
		}
	case endTag:
		switch t.tag.name {
		case atom.Td, atom.Th:
			if t.popTo(inTableScope, t.tag.name) {
				t.clearToMarker()
				t.mode = inRow
			}
			return true
		case atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html:
			return true
		case atom.Table, atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr:
			if !t.has(inTableScope, t.tag.name) {
				return true
			}
			if t.popToAny(inTableScope, 0, cell) {
				t.clearToMarker()
			}
			t.mode = inRow
			return false
		}
	}
	return t.inBody()
}

func (t *construction) inTemplate() bool {
	switch t.kind {
	case startTag:
		next := inBody
		switch t.tag.name {
		case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes, atom.Script, atom.Style, atom.Template, atom.Title:
			if t.frames && t.tag.name == atom.Noframes {
				break
			}
			return t.inHead()
		case atom.Caption, atom.Colgroup, atom.Tbody, atom.Tfoot, atom.Thead:
			next = inTable
		case atom.Col:
			next = inColumnGroup
		case atom.Tr:
			next = inTableBody
		case atom.Td, atom.Th:
			next = inRow
		}
		if len(t.templates) == 0 {
			t.refuse(broken)
			t.mode = inBody
			return false
		}
		t.templates[len(t.templates)-1] = next
		t.mode = next
		return false
	case endTag:
		if t.tag.name == atom.Template {
			return t.inHead()
		}
		return true
	}
	return t.inBody()
}

// afterBody handles the modes "after body" and "after after body".
func (t *construction) afterBody() bool {
	switch t.kind {
	case textToken:
		if isBlankText(t.s) {
			return t.inBody()
		}
	case startTag:
		if t.tag.name == atom.Html {
			return t.inBody()
		}
	case endTag:
		if t.tag.name == atom.Html && t.mode == afterBody {
			t.mode = afterAfterBody
			return true
		}
	case comment:
		return true
	case doctype:
		if t.mode == afterAfterBody {
			return true
		}
	}
	t.mode = inBody
	return false
}

// dropNUL removes U+0000 from the latest text.
func (t *construction) dropNUL() {
	if t.z.hasNUL {
		t.s = strings.ReplaceAll(t.s, "\x00", "")
	}
}

// frameset handles a <frameset>. If the page is not being parsed with frames, parsing stops and is
// repeated with frames.
func (t *construction) frameset() {
	t.push()
	t.mode = atEnd
	if t.frames {
		t.mode = inBody
	}
}
