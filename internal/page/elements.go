package page

import "golang.org/x/net/html/atom"

// A layout is the effect of an element on the text in and around it.
type layout uint8

const (
	inline   layout = iota // none
	block                  // its text is a block
	newline                // begins a new line, not a block
	replaced               // separates words
	metadata               // its attributes are read, its text is not
	hidden                 // not read at all
)

// A startRule is the handling of a start tag in a body: the cases of section 13.2.6.4.7 of the
// HTML standard.
type startRule uint8

const (
	startOrdinary startRule = iota
	startHTML
	startInHead // as in the head
	startBody
	startFrameset
	startBlock // ends a p element
	startHeading
	startPre
	startForm
	startItem // li, dd and dt
	startPlaintext
	startButton
	startLink
	startFormatting
	startNobr
	startObject // adds a marker to the active formatting elements
	startTable
	startVoid // has no content
	startInput
	startParam
	startHr
	startImage
	startTextarea
	startXmp
	startIframe
	startNoembed
	startNoscript
	startSelect
	startOption
	startRuby
	startForeign // math and svg
	startNowhere // ignored
)

// An endRule is the handling of an end tag in a body.
type endRule uint8

const (
	endOrdinary endRule = iota
	endBody
	endHTML
	endBlock
	endForm
	endP
	endItem
	endHeading
	endFormatting
	endObject
	endBr
	endTemplate
)

// Other properties of elements.
type traits uint16

const (
	special    traits = 1 << iota // in the standard's category "special"
	implied                       // its end tag is optional
	scopes                        // ends a scope
	listScopes                    // ends list item scope
	tableScope                    // ends table scope
	tablePart                     // other content directly in it is foster parented
	heading
	cell
	section  // tbody, thead, tfoot
	mathHTML // of MathML, contains HTML
	svgHTML  // of SVG, contains HTML
	breakout // ends SVG and MathML
	hasData  // the collector reads its attributes
)

// An element holds the properties of all elements with a name.
type element struct {
	traits traits
	layout layout
	start  startRule
	end    endRule
	raw    scanState // the tokenizer state for its content
}

// elementTable is a hash table of the elements with special properties.
type elementTable [512]struct {
	name atom.Atom
	element
}

// slot returns the entry of a name, or a free one.
func (t *elementTable) slot(name atom.Atom) *element {
	for i := uint32(name) * 0x9E3779B1 >> 23; ; i = (i + 1) % uint32(len(t)) {
		if e := &t[i]; e.name == name || e.name == 0 {
			return &e.element
		}
	}
}

// elementOf returns the properties of the elements with a name. Those not in the table have
// none, like names unknown to package atom.
func elementOf(name atom.Atom) *element { return elements.slot(name) }

var elements = func() (t elementTable) {
	put := func(change func(e *element), names ...atom.Atom) {
		for _, name := range names {
			i := uint32(name) * 0x9E3779B1 >> 23
			for t[i].name != name && t[i].name != 0 {
				i = (i + 1) % uint32(len(t))
			}
			t[i].name = name
			change(&t[i].element)
		}
	}
	is := func(what traits, names ...atom.Atom) {
		put(func(e *element) { e.traits |= what }, names...)
	}
	looks := func(how layout, names ...atom.Atom) {
		put(func(e *element) { e.layout = how }, names...)
	}
	starts := func(how startRule, names ...atom.Atom) {
		put(func(e *element) { e.start = how }, names...)
	}
	ends := func(how endRule, names ...atom.Atom) {
		put(func(e *element) { e.end = how }, names...)
	}
	contains := func(how scanState, names ...atom.Atom) {
		put(func(e *element) { e.raw = how }, names...)
	}

	// From the standard's section on rendering, for a browser without scripts, style sheets,
	// frames and media.
	looks(block, atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption,
		atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Frameset,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr,
		atom.Html, atom.Legend, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Noframes,
		atom.Ol, atom.Optgroup, atom.Option, atom.P, atom.Plaintext, atom.Pre, atom.Section, atom.Select,
		atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Textarea, atom.Tfoot, atom.Th,
		atom.Thead, atom.Tr, atom.Ul, atom.Xmp)
	looks(newline, atom.Br)
	looks(replaced, atom.Audio, atom.Button, atom.Canvas, atom.Embed, atom.Img, atom.Input, atom.Meter,
		atom.Object, atom.Progress, atom.Svg, atom.Video)
	looks(metadata, atom.Title, atom.Frame, atom.Iframe, atom.Base, atom.Link, atom.Meta, atom.Area)
	looks(hidden, atom.Script, atom.Style, atom.Template, atom.Noembed, atom.Param, atom.Source,
		atom.Track, atom.Datalist, atom.Rp, atom.Annotation, atom.AnnotationXml)

	starts(startHTML, atom.Html)
	starts(startInHead, atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes,
		atom.Script, atom.Style, atom.Template, atom.Title)
	starts(startBody, atom.Body)
	starts(startFrameset, atom.Frameset)
	starts(startBlock, atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Details,
		atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer,
		atom.Header, atom.Hgroup, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Search,
		atom.Section, atom.Summary, atom.Ul)
	starts(startHeading, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6)
	starts(startPre, atom.Pre, atom.Listing)
	starts(startForm, atom.Form)
	starts(startItem, atom.Li, atom.Dd, atom.Dt)
	starts(startPlaintext, atom.Plaintext)
	starts(startButton, atom.Button)
	starts(startLink, atom.A)
	starts(startFormatting, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.S, atom.Small,
		atom.Strike, atom.Strong, atom.Tt, atom.U)
	starts(startNobr, atom.Nobr)
	starts(startObject, atom.Applet, atom.Marquee, atom.Object)
	starts(startTable, atom.Table)
	starts(startVoid, atom.Area, atom.Br, atom.Embed, atom.Img, atom.Keygen, atom.Wbr)
	starts(startInput, atom.Input)
	starts(startParam, atom.Param, atom.Source, atom.Track)
	starts(startHr, atom.Hr)
	starts(startImage, atom.Image)
	starts(startTextarea, atom.Textarea)
	starts(startXmp, atom.Xmp)
	starts(startIframe, atom.Iframe)
	starts(startNoembed, atom.Noembed)
	starts(startNoscript, atom.Noscript)
	starts(startSelect, atom.Select)
	starts(startOption, atom.Option, atom.Optgroup)
	starts(startRuby, atom.Rb, atom.Rtc, atom.Rp, atom.Rt)
	starts(startForeign, atom.Math, atom.Svg)
	starts(startNowhere, atom.Caption, atom.Col, atom.Colgroup, atom.Frame, atom.Head, atom.Tbody,
		atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr)

	ends(endBody, atom.Body)
	ends(endHTML, atom.Html)
	ends(endBlock, atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Button, atom.Center,
		atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Fieldset, atom.Figcaption,
		atom.Figure, atom.Footer, atom.Header, atom.Hgroup, atom.Listing, atom.Main, atom.Menu, atom.Nav,
		atom.Ol, atom.Pre, atom.Search, atom.Section, atom.Select, atom.Summary, atom.Ul)
	ends(endForm, atom.Form)
	ends(endP, atom.P)
	ends(endItem, atom.Li, atom.Dd, atom.Dt)
	ends(endHeading, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6)
	ends(endFormatting, atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr,
		atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U)
	ends(endObject, atom.Applet, atom.Marquee, atom.Object)
	ends(endBr, atom.Br)
	ends(endTemplate, atom.Template)

	contains(rcdata, atom.Textarea, atom.Title)
	contains(rawtext, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Style, atom.Xmp)
	contains(scriptData, atom.Script)
	contains(plaintext, atom.Plaintext)

	is(special, atom.Address, atom.Applet, atom.Area, atom.Article, atom.Aside, atom.Base, atom.Basefont,
		atom.Bgsound, atom.Blockquote, atom.Body, atom.Br, atom.Button, atom.Caption, atom.Center, atom.Col,
		atom.Colgroup, atom.Dd, atom.Details, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Embed,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Frame, atom.Frameset,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Head, atom.Header, atom.Hgroup, atom.Hr,
		atom.Html, atom.Iframe, atom.Img, atom.Input, atom.Keygen, atom.Li, atom.Link, atom.Listing,
		atom.Main, atom.Marquee, atom.Menu, atom.Meta, atom.Nav, atom.Noembed, atom.Noframes, atom.Noscript,
		atom.Object, atom.Ol, atom.P, atom.Param, atom.Plaintext, atom.Pre, atom.Script, atom.Section,
		atom.Select, atom.Source, atom.Style, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Template,
		atom.Textarea, atom.Tfoot, atom.Th, atom.Thead, atom.Title, atom.Tr, atom.Track, atom.Ul, atom.Wbr,
		atom.Xmp)
	is(implied, atom.Dd, atom.Dt, atom.Li, atom.Optgroup, atom.Option, atom.P, atom.Rb, atom.Rp, atom.Rt, atom.Rtc)
	is(scopes, atom.Applet, atom.Caption, atom.Html, atom.Table, atom.Td, atom.Th, atom.Marquee, atom.Object,
		atom.Template, atom.Select)
	is(listScopes, atom.Ol, atom.Ul)
	is(tableScope, atom.Html, atom.Table, atom.Template)
	is(tablePart, atom.Table, atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr)
	is(heading, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6)
	is(cell, atom.Td, atom.Th)
	is(section, atom.Tbody, atom.Tfoot, atom.Thead)
	is(mathHTML, atom.AnnotationXml, atom.Mi, atom.Mn, atom.Mo, atom.Ms, atom.Mtext)
	is(svgHTML, atom.Desc, atom.ForeignObject, atom.Title)
	is(breakout, atom.B, atom.Big, atom.Blockquote, atom.Body, atom.Br, atom.Center, atom.Code, atom.Dd,
		atom.Div, atom.Dl, atom.Dt, atom.Em, atom.Embed, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5,
		atom.H6, atom.Head, atom.Hr, atom.I, atom.Img, atom.Li, atom.Listing, atom.Menu, atom.Meta,
		atom.Nobr, atom.Ol, atom.P, atom.Pre, atom.Ruby, atom.S, atom.Small, atom.Span, atom.Strong,
		atom.Strike, atom.Sub, atom.Sup, atom.Table, atom.Tt, atom.U, atom.Ul, atom.Var)
	is(hasData, atom.A, atom.Area, atom.Frame, atom.Iframe, atom.Frameset, atom.Noframes, atom.Img, atom.Html,
		atom.Base, atom.Link, atom.Meta, atom.Title)
	return t
}()
