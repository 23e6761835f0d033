package page

import (
	"strings"
	"testing"

	"golang.org/x/net/html/atom"
)

// scanAll reads all text, and the attributes of links and meta elements.
func scanAll(z *scanner, page string) (n int) {
	z.reset(page)
	for {
		switch z.next() {
		case endOfPage:
			return n
		case textToken:
			n += len(z.text())
		case startTag:
			z.foreign = z.name == atom.Svg
			switch z.name {
			case atom.A:
				for _, name := range []string{"href", "title", "rel"} {
					value, _ := z.attr(name)
					n += len(value)
				}
			case atom.Meta:
				for _, name := range []string{"name", "property", "content", "http-equiv"} {
					value, _ := z.attr(name)
					n += len(value)
				}
			}
			if state := enterBy(z.name); state != data {
				z.enter(state)
			}
		}
	}
}

// hostileForScanner returns pages of about n bytes that take a naive scanner quadratic time.
func hostileForScanner(n int) map[string]string {
	times := func(s string) string { return strings.Repeat(s, n/len(s)) }
	return map[string]string{
		"less-than signs":           times("<"),
		"ampersands":                times("&"),
		"tags that begin":           times("<a "),
		"end tags that begin":       times("</a "),
		"tags":                      times("<a>"),
		"comments that begin":       times("<!--"),
		"comments that nearly end":  "<!--" + times("--!->"),
		"bogus comments":            times("<!"),
		"doctypes":                  times("<!doctype"),
		"nothing":                   times("</>"),
		"end tags in rcdata":        "<title>" + times("</titl"),
		"tags in a script":          "<script>" + times("</scrip"),
		"escapes in a script":       "<script>" + times("<!--<script>"),
		"escapes that nearly end":   "<script><!--" + times("--<"),
		"sections":                  "<svg>" + times("<![CDATA["),
		"empty sections":            "<svg>" + times("<![CDATA[]]>"),
		"quotes without end":        times(`<a b="`),
		"quotes":                    "<a " + times(`b="'"`) + ">",
		"attributes":                "<a" + times(" b") + ">",
		"attributes without end":    "<a" + times(" b"),
		"an attribute":              `<a href="` + times("x") + `">`,
		"references in attributes":  times(`<a href="&amp;&amp">`),
		"references in one":         `<a href="` + times("&amp;") + `">`,
		"a name":                    "<" + times("A") + ">",
		"letters behind ampersands": "&" + times("a"),
		"digits":                    "&#" + times("9"),
		"carriage returns":          times("\r"),
		"nothing but U+0000":        times("\x00"),
		"blanks in a tag":           "<a b" + times(" ") + "c>",
		"slashes in a tag":          "<a" + times("/") + ">",
	}
}

// The test would not finish in time if a page took quadratic time.
func TestScannerIsLinear(t *testing.T) {
	const size = 4 << 20
	var z scanner
	for name, page := range hostileForScanner(size) {
		if scanAll(&z, page); z.to != len(page) {
			t.Errorf("%s: read %d bytes of %d", name, z.to, len(page))
		}
	}
}
