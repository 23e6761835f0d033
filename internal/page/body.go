package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// inBody is the insertion mode "in body", section 13.2.6.4.7.
func (t *construction) inBody() bool {
	switch t.kind {
	case textToken:
		t.bodyText()
	case startTag:
		return t.bodyStart()
	case endTag:
		return t.bodyEnd()
	case comment:
		t.childless = 0
	}
	return true
}

func (t *construction) bodyText() {
	if top := t.top(); top.id == t.childless && (top.name == atom.Pre || top.name == atom.Listing) {
		// The first newline is dropped.
		t.s = strings.TrimPrefix(t.s, "\r")
		t.s = strings.TrimPrefix(t.s, "\n")
	}
	if t.dropNUL(); t.s == "" {
		return
	}
	t.reconstruct()
	t.text(t.s)
	if t.framesetOK && !isBlankText(t.s) {
		t.framesetOK = false
	}
}

func (t *construction) bodyStart() bool {
	switch t.tag.start {
	case startOrdinary:
		t.reconstruct()
		t.push()
	case startHTML:
		if !t.contains(atom.Template) {
			t.add(0)
		}
	case startInHead:
		if t.frames && t.tag.name == atom.Noframes {
			t.raw = data
			t.push()
			break
		}
		return t.inHead()
	case startBody:
		switch {
		case t.contains(atom.Template):
		case len(t.open) >= 2 && t.open[1].name == atom.Body:
			t.framesetOK = false
			t.add(1)
		case t.frames && !t.contains(atom.Body):
			t.push()
		}
	case startFrameset:
		switch {
		case t.frames:
			t.push()
		case t.framesetOK && len(t.open) >= 2 && t.open[1].name == atom.Body:
			t.open = t.open[:1]
			t.frameset()
		}
	case startBlock, startPlaintext:
		t.endP()
		t.push()
	case startHeading:
		t.endP()
		if t.top().traits&heading != 0 {
			t.pop()
		}
		t.push()
	case startPre:
		t.endP()
		t.push()
		t.framesetOK = false
	case startForm:
		inTemplate := t.contains(atom.Template)
		if t.form.id != 0 && !inTemplate {
			break
		}
		t.endP()
		t.push()
		if !inTemplate {
			t.form = *t.top()
		}
	case startItem:
		t.framesetOK = false
		t.endItem()
		t.endP()
		t.push()
	case startButton:
		if t.has(defaultScope, atom.Button) {
			t.popImplied(0)
			t.popTo(defaultScope, atom.Button)
		}
		t.reconstruct()
		t.push()
		t.framesetOK = false
	case startLink:
		t.endLink()
		t.reconstruct()
		t.pushFormatting()
	case startFormatting:
		t.reconstruct()
		t.pushFormatting()
	case startNobr:
		t.reconstruct()
		if t.has(defaultScope, atom.Nobr) {
			t.endFormatting(atom.Nobr)
			t.reconstruct()
		}
		t.pushFormatting()
	case startObject:
		t.reconstruct()
		t.push()
		t.mark()
		t.framesetOK = false
	case startTable:
		if !t.quirks {
			t.endP()
		}
		t.push()
		t.framesetOK = false
		t.mode = inTable
	case startVoid:
		t.reconstruct()
		t.push()
		t.pop()
		t.framesetOK = false
	case startInput:
		t.popTo(defaultScope, atom.Select)
		t.reconstruct()
		t.push()
		t.pop()
		if t.framesetOK && !t.isHiddenInput() {
			t.framesetOK = false
		}
	case startParam:
		t.push()
		t.pop()
	case startHr:
		if t.hasP() {
			t.popImplied(atom.P)
			t.popTo(defaultScope, atom.P)
		}
		if t.has(defaultScope, atom.Select) {
			t.popImplied(0)
		}
		t.push()
		t.pop()
		t.framesetOK = false
	case startImage:
		t.tag.name, t.tag.tag, t.tag.element = atom.Img, atom.Img.String(), elementOf(atom.Img)
		return false
	case startTextarea:
		t.framesetOK = false
		t.pushText()
	case startXmp:
		t.endP()
		t.reconstruct()
		t.framesetOK = false
		t.pushText()
	case startIframe:
		t.framesetOK = false
		t.pushText()
	case startNoembed:
		t.pushText()
	case startNoscript:
		t.reconstruct()
		t.push()
		t.raw = data // scripts are not run
	case startSelect:
		if t.popTo(defaultScope, atom.Select) {
			break
		}
		t.reconstruct()
		t.push()
		t.framesetOK = false
	case startOption:
		switch {
		case t.has(defaultScope, atom.Select):
			except := atom.Atom(0)
			if t.tag.name == atom.Option {
				except = atom.Optgroup
			}
			t.popImplied(except)
		case t.top().name == atom.Option:
			t.pop()
		}
		t.reconstruct()
		t.push()
	case startRuby:
		if t.has(defaultScope, atom.Ruby) {
			except := atom.Atom(0)
			if t.tag.name == atom.Rp || t.tag.name == atom.Rt {
				except = atom.Rtc
			}
			t.popImplied(except)
		}
		t.push()
	case startForeign:
		t.reconstruct()
		t.tag.ns = mathNS
		if t.tag.name == atom.Svg {
			t.tag.ns = svgNS
		}
		t.push()
		if t.selfClosing {
			t.pop()
		}
	case startNowhere:
		if t.frames && t.tag.name == atom.Frame {
			t.push()
			t.pop()
		}
	}
	return true
}

// add adds the attributes of the latest tag that the i-th open element lacks.
func (t *construction) add(i int) {
	e := &t.open[i]
	n := t.countAttributes(&t.tag)
	if n == 0 {
		return
	}
	e.weight += int32(n)
	t.extra += int(e.weight)
	if t.outline != nil {
		t.outline.describe(e.id, t.tag.at)
		return
	}
	for _, name := range []string{"lang", "xml:lang", "class"} {
		if _, ok := t.attrs().find(name); ok && !t.guess {
			t.reordering = lateAttrs
		}
	}
}

// endItem ends the list item before the one that begins.
func (t *construction) endItem() {
	for i := len(t.open) - 1; i >= 0; i-- {
		switch e := &t.open[i]; {
		case e.name == t.tag.name, t.tag.name != atom.Li && (e.name == atom.Dd || e.name == atom.Dt):
			t.open = t.open[:i]
			return
		case e.name == atom.Address, e.name == atom.Div, e.name == atom.P:
		case e.isSpecial():
			return
		}
	}
}

// endLink ends the open link, because links do not nest.
func (t *construction) endLink() {
	if t.guess {
		t.endFormatting(atom.A)
	}
	for i := len(t.formatting) - 1; i >= 0 && t.formatting[i].id != 0; i-- {
		if t.formatting[i].name != atom.A {
			continue
		}
		id := t.formatting[i].id
		t.endFormatting(atom.A)
		t.open = t.without(t.open, id)
		t.formatting = t.without(t.formatting, id)
		return
	}
}

func (t *construction) bodyEnd() bool {
	name := t.tag.name
	switch t.tag.end {
	case endOrdinary:
		t.endOther(name, t.tag.tag)
	case endBody:
		if t.has(defaultScope, atom.Body) {
			t.mode = afterBody
		}
	case endHTML:
		if t.has(defaultScope, atom.Body) {
			t.implied(endTag, atom.Body)
			return false
		}
	case endBlock:
		if t.has(defaultScope, name) {
			t.popImplied(0)
			t.popTo(defaultScope, name)
		}
	case endForm:
		t.endForm()
	case endP:
		if !t.hasP() {
			t.implied(startTag, atom.P)
		}
		t.endP()
	case endItem:
		s := defaultScope
		if name == atom.Li {
			s = listScope
		}
		t.popTo(s, name)
	case endHeading:
		t.popToAny(defaultScope, 0, heading)
	case endFormatting:
		t.endFormatting(name)
	case endObject:
		if t.popTo(defaultScope, name) {
			t.clearToMarker()
		}
	case endBr:
		t.kind = startTag
		return false
	case endTemplate:
		return t.inHead()
	}
	return true
}

// endForm ends a form. The elements in it stay open.
func (t *construction) endForm() {
	i := t.inScope(defaultScope, atom.Form, 0)
	if t.contains(atom.Template) {
		if i < 0 {
			return
		}
		t.popImplied(0)
		if i < len(t.open) && t.open[i].name == atom.Form {
			t.popTo(defaultScope, atom.Form)
		}
		return
	}
	id := t.form.id
	t.form = openElement{}
	if id == 0 || i < 0 || t.open[i].id != id {
		return
	}
	t.popImplied(0)
	t.open = t.without(t.open, id)
}

// svgNames maps the names of SVG elements with capitals from lower case.
var svgNames = func() map[string]string {
	names := map[string]string{}
	for name := range strings.FieldsSeq(`altGlyph altGlyphDef altGlyphItem animateColor animateMotion
		animateTransform clipPath feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix
		feDiffuseLighting feDisplacementMap feDistantLight feFlood feFuncA feFuncB feFuncG feFuncR
		feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting
		feSpotLight feTile feTurbulence foreignObject glyphRef linearGradient radialGradient textPath`) {
		names[strings.ToLower(name)] = name
	}
	return names
}()

// inForeign reports whether the current token is handled as foreign content.
func (t *construction) inForeign() bool {
	n := len(t.open)
	if n == 0 || t.open[n-1].ns == htmlNS {
		return false
	}
	e := &t.open[n-1]
	switch t.kind {
	case startTag:
		switch {
		case e.isHTMLIntegration():
			return false
		case e.isTextIntegration():
			return t.tag.name == atom.Mglyph || t.tag.name == atom.Malignmark
		case e.ns == mathNS && e.name == atom.AnnotationXml:
			return t.tag.name != atom.Svg
		}
	case textToken:
		return !e.isHTMLIntegration() && !e.isTextIntegration()
	}
	return true
}

// inForeignContent handles tokens in SVG and MathML, section 13.2.6.5.
func (t *construction) inForeignContent() bool {
	switch t.kind {
	case textToken:
		if t.framesetOK {
			t.framesetOK = strings.Trim(t.s, blanks+"\x00") == ""
		}
		if t.z.hasNUL {
			t.s = strings.ReplaceAll(t.s, "\x00", "\uFFFD")
		}
		t.text(t.s)
	case comment:
		t.childless = 0
	case startTag:
		if t.breaksOut() {
			for i := len(t.open) - 1; i >= 0; i-- {
				if e := &t.open[i]; e.ns == htmlNS || e.isHTMLIntegration() || e.isTextIntegration() {
					t.open = t.open[:i+1]
					break
				}
			}
			return t.dispatch()
		}
		t.tag.ns = t.top().ns
		if t.tag.ns == svgNS {
			if name, ok := svgNames[t.tag.tag]; ok {
				t.tag.tag = name
				t.tag.name = atom.Lookup([]byte(name))
				t.tag.element = elementOf(t.tag.name)
			}
		} else if t.tag.name == atom.AnnotationXml {
			encoding := t.attrs().value("encoding")
			t.tag.htmlIntegration = strings.EqualFold(encoding, "text/html") || strings.EqualFold(encoding, "application/xhtml+xml")
		}
		t.push()
		t.raw = data
		if t.selfClosing {
			t.pop()
		}
	case endTag:
		for i := len(t.open) - 1; i >= 0; i-- {
			t.effort++
			if strings.EqualFold(t.open[i].tag, t.tag.tag) {
				t.open = t.open[:i]
				return true
			}
			if i > 0 && t.open[i-1].ns == htmlNS {
				break
			}
		}
		return t.dispatch()
	}
	return true
}

// breaksOut reports whether the latest start tag ends SVG and MathML.
func (t *construction) breaksOut() bool {
	if t.tag.name == atom.Font {
		for _, name := range []string{"color", "face", "size"} {
			if _, ok := t.attrs().find(name); ok {
				return true
			}
		}
	}
	return t.tag.traits&breakout != 0
}
