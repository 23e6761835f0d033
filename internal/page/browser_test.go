package page

import (
	"strings"
	"testing"
)

func TestNeedsBrowser(t *testing.T) {
	inline := func(n int) string { return "<script>" + strings.Repeat("x", n) + "</script>" }
	words := func(n int) string { return strings.Repeat("w", n) }
	const (
		root     = `<div id="root"></div>`
		external = `<script src="/static/main.js"></script>`
	)
	for _, test := range []struct {
		name, html string
		want       bool
	}{
		{"a shell and a bundle", "<title>App</title>" + root + external, true},
		{"a note in noscript", "<body><noscript><p>" + words(500) + "</noscript>" + root + external, true},
		{"noscript in noscript", "<body><noscript>" + words(90) + "<noscript>" + words(400) + "</noscript></noscript>" + words(50) + external, true},
		{"text beside noscript", "<body><noscript>" + words(500) + "</noscript>" + words(101) + external, false},
		{"a loading note", "<p>Loading …</p>" + root + external, true},
		{"data in the page", root + `<script type="application/json">{"a":"` + words(3000) + `"}</script>`, true},
		{"small scripts", root + inline(minShellScripts-1), false},
		{"large enough", root + inline(minShellScripts), true},
		{"small by the ends of lines", root + "<script>\r\n" + strings.Repeat("x", minShellScripts-2) + "</script>", false},
		{"large by a NUL", root + "<script>\x00" + strings.Repeat("x", minShellScripts-3) + "</script>", true},
		{"several scripts", root + inline(minShellScripts/2) + inline(minShellScripts/2), true},
		{"a footer and much data", words(199) + inline(19_900), true},
		{"a footer and less data", words(199) + inline(19_899), false},
		{"text", words(200) + inline(1<<20), false},
		{"a short page with libraries", words(150) + strings.Repeat(external, 5), false},
		{"no scripts", "<p>", false},
		{"an empty src", root + `<script src></script>`, false},
		{"frames", `<frameset><frame src=a></frameset>` + external, false},
		{"moved out of a table", "<table>" + inline(minShellScripts) + "<b>x</table>", true},
		{"in a drawing", "<svg>" + inline(minShellScripts) + "</svg>", true},
		{"too deep for a tree", strings.Repeat("<i>", maxDepth+1) + inline(minShellScripts), true},
	} {
		doc := Document{URL: here, ContentType: "text/html", Body: []byte(test.html)}
		x := NewExtractor()
		for _, x.MainContent = range []bool{false, true} {
			if got := x.Extract(doc).NeedsBrowser; got != test.want {
				t.Errorf("%s, main content %t: %t, want %t", test.name, x.MainContent, got, test.want)
			}
		}
		if c, ok := byTree(&doc, x); ok && c.NeedsBrowser != test.want {
			t.Errorf("%s, by the tree: %t, want %t", test.name, c.NeedsBrowser, test.want)
		}
	}
	if c := NewExtractor().Extract(Document{ContentType: "text/plain", Body: []byte(inline(5000))}); c.NeedsBrowser {
		t.Error("plain text needs no browser")
	}
}
