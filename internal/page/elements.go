package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// A layout is the effect of an element on the text in and around it.
type layout uint8

const (
	inline   layout = iota // none
	block                  // the text of the element is a block
	newline                // the element begins a new line, not a block
	replaced               // the element separates words
	metadata               // the attributes of the element are read, but not its text
	hidden                 // the element is not read at all
)

// A startRule is the handling of a start tag in a body: the cases of section 13.2.6.4.7 of the
// HTML standard.
type startRule uint8

const (
	startOrdinary startRule = iota
	startHTML
	startInHead // handled as in the head
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
	section    // tbody, thead, tfoot
	mathHTML   // MathML element that contains HTML
	svgHTML    // SVG element that contains HTML
	breakout   // ends SVG and MathML
	hasData    // the collector reads its attributes
	mayConceal // may be concealed without an attribute that says so
	shadowHost // may have a shadow root, in addition to custom elements (DOM Standard, "valid shadow host name")
)

type element struct {
	traits traits
	layout layout
	start  startRule
	end    endRule
	raw    scanState // the tokenizer state for its content
}

// elementOf returns the properties of the elements with a name. Names that are not in the table, or
// that package atom does not contain, have no properties.
func elementOf(name atom.Atom) element { return elements[name] }

var elements = func() map[atom.Atom]element {
	t := map[atom.Atom]element{}
	put := func(change func(e *element), names string) {
		for name := range strings.FieldsSeq(names) {
			a := atom.Lookup([]byte(name))
			if a == 0 {
				panic("unknown element " + name)
			}
			e := t[a]
			change(&e)
			t[a] = e
		}
	}
	is := func(what traits, names string) {
		put(func(e *element) { e.traits |= what }, names)
	}
	looks := func(how layout, names string) {
		put(func(e *element) { e.layout = how }, names)
	}
	starts := func(how startRule, names string) {
		put(func(e *element) { e.start = how }, names)
	}
	ends := func(how endRule, names string) {
		put(func(e *element) { e.end = how }, names)
	}
	contains := func(how scanState, names string) {
		put(func(e *element) { e.raw = how }, names)
	}

	// From the standard's section on rendering, for a browser without scripts, style sheets,
	// frames and media.
	looks(block, `
		address article aside blockquote body caption center dd details dialog dir div dl dt fieldset
		figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li
		listing main menu nav noframes ol optgroup option p plaintext pre section select summary table
		tbody td textarea tfoot th thead tr ul xmp`)
	looks(newline, "br")
	looks(replaced, "audio button canvas embed img input meter object progress svg video")
	looks(metadata, "title frame iframe base link meta area")
	looks(hidden, `
		script style template noembed param source track datalist rp annotation annotation-xml`)

	starts(startHTML, "html")
	starts(startInHead, "base basefont bgsound link meta noframes script style template title")
	starts(startBody, "body")
	starts(startFrameset, "frameset")
	starts(startBlock, `
		address article aside blockquote center details dialog dir div dl fieldset figcaption figure
		footer header hgroup main menu nav ol p search section summary ul`)
	starts(startHeading, "h1 h2 h3 h4 h5 h6")
	starts(startPre, "pre listing")
	starts(startForm, "form")
	starts(startItem, "li dd dt")
	starts(startPlaintext, "plaintext")
	starts(startButton, "button")
	starts(startLink, "a")
	starts(startFormatting, "b big code em font i s small strike strong tt u")
	starts(startNobr, "nobr")
	starts(startObject, "applet marquee object")
	starts(startTable, "table")
	starts(startVoid, "area br embed img keygen wbr")
	starts(startInput, "input")
	starts(startParam, "param source track")
	starts(startHr, "hr")
	starts(startImage, "image")
	starts(startTextarea, "textarea")
	starts(startXmp, "xmp")
	starts(startIframe, "iframe")
	starts(startNoembed, "noembed")
	starts(startNoscript, "noscript")
	starts(startSelect, "select")
	starts(startOption, "option optgroup")
	starts(startRuby, "rb rtc rp rt")
	starts(startForeign, "math svg")
	starts(startNowhere, "caption col colgroup frame head tbody td tfoot th thead tr")

	ends(endBody, "body")
	ends(endHTML, "html")
	ends(endBlock, `
		address article aside blockquote button center details dialog dir div dl fieldset figcaption
		figure footer header hgroup listing main menu nav ol pre search section select summary ul`)
	ends(endForm, "form")
	ends(endP, "p")
	ends(endItem, "li dd dt")
	ends(endHeading, "h1 h2 h3 h4 h5 h6")
	ends(endFormatting, "a b big code em font i nobr s small strike strong tt u")
	ends(endObject, "applet marquee object")
	ends(endBr, "br")
	ends(endTemplate, "template")

	contains(rcdata, "textarea title")
	contains(rawtext, "iframe noembed noframes noscript style xmp")
	contains(scriptData, "script")
	contains(plaintext, "plaintext")

	is(special, `
		address applet area article aside base basefont bgsound blockquote body br button caption
		center col colgroup dd details dir div dl dt embed fieldset figcaption figure footer form
		frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe img input keygen li link
		listing main marquee menu meta nav noembed noframes noscript object ol p param plaintext pre
		script section select source style summary table tbody td template textarea tfoot th thead
		title tr track ul wbr xmp`)
	is(implied, "dd dt li optgroup option p rb rp rt rtc")
	is(scopes, "applet caption html table td th marquee object template select")
	is(listScopes, "ol ul")
	is(tableScope, "html table template")
	is(tablePart, "table tbody tfoot thead tr")
	is(heading, "h1 h2 h3 h4 h5 h6")
	is(cell, "td th")
	is(section, "tbody tfoot thead")
	is(mathHTML, "annotation-xml mi mn mo ms mtext")
	is(svgHTML, "desc foreignObject title")
	is(breakout, `
		b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li
		listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`)
	is(shadowHost, `
		article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span`)
	is(mayConceal, "dialog rt rtc")
	is(hasData, "a area frame iframe frameset noframes noscript img html base link meta title")
	return t
}()
