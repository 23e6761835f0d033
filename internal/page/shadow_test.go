package page

import (
	"strings"
	"testing"

	"spoor/internal/wire"
)

// TestDeclarativeShadowRoots checks which templates are content (HTML Standard, section 4.12.3).
func TestDeclarativeShadowRoots(t *testing.T) {
	const inner = `<p>in</p><a href=/in>x</a>`
	for name, c := range map[string]struct {
		html, text string
		links      int
	}{
		"open":                       {`<my-card><template shadowrootmode=open>` + inner + `</template>light</my-card>`, "in\nx light", 1},
		"closed":                     {`<div><template shadowrootmode="CLOSED">` + inner + `</template></div>`, "in\nx", 1},
		"an unknown mode":            {`<div><template shadowrootmode=ajar>` + inner + `</template>light</div>`, "light", 0},
		"a plain template":           {`<div><template>` + inner + `</template>light</div>`, "light", 0},
		"a parent that has no roots": {`<ul><template shadowrootmode=open>` + inner + `</template><li>light</ul>`, "light", 0},
		"a second root of an element": {`<div><template shadowrootmode=open>one</template><template shadowrootmode=open>two</template></div>
			<div><template shadowrootmode=open>three</template></div>`, "one\nthree", 0},
		"nested":                               {`<div><template shadowrootmode=open>one <my-b><template shadowrootmode=open>two</template></my-b></template></div>`, "one two", 0},
		"in a plain template":                  {`<template><div><template shadowrootmode=open>in</template></div></template>light`, "light", 0},
		"names that look like custom elements": {`<font-face><template shadowrootmode=open>in</template></font-face>light`, "light", 0},
		"a base and a title":                   {`<my-b><template shadowrootmode=open><base href=http://b.test/><title>b</title></template></my-b><a href=l>light</a>`, "light", 1},
		"in a head":                            {`<head><template shadowrootmode=open>in</template></head>light`, "light", 0},
	} {
		withScanAndTree(t, c.html, func(t *testing.T, got Content) {
			if got.Text != c.text || len(got.Links) != c.links {
				t.Errorf("%s: %q, %d links, want %q, %d", name, got.Text, len(got.Links), c.text, c.links)
			}
			if got.Title != "" || len(got.Links) > 0 && !strings.HasPrefix(got.Links[0].URL, "http://example.org/") {
				t.Errorf("%s: title %q, links %+v; title and base of a shadow root must not count", name, got.Title, got.Links)
			}
		})
	}
}

func TestSelectedHostHasTextOfItsShadowRoot(t *testing.T) {
	s, err := ParseSelector("card=my-card")
	if err != nil {
		t.Fatal(err)
	}
	doc := Document{URL: here, ContentType: "text/html", Body: []byte(`<my-card><template shadowrootmode=open>in</template><template>no</template> light</my-card>`)}
	fields := NewExtractor(s).Extract(doc).Fields
	if len(fields) != 1 || len(fields[0].Values) != 1 || fields[0].Values[0] != "in light" {
		t.Errorf("the fields are %+v, want in light", fields)
	}
}

// TestRefreshHeader checks that the header field leads where a meta refresh leads.
func TestRefreshHeader(t *testing.T) {
	for value, want := range map[string]string{
		"0; url=/x": "http://example.org/x", "5;URL='y'": "http://example.org/dir/y", "0, /z": "http://example.org/z", `1; url = "http://a.test/"`: "http://a.test/",
		"5": "", "url=/x": "", "0; url=javascript:x()": "",
	} {
		doc := Document{URL: here, ContentType: "text/html", Body: []byte("<title>moved</title>moved"), Refresh: []string{value}}
		meta := extract(`<meta http-equiv=refresh content='` + value + `'><title>moved</title>moved`)
		links := NewExtractor().Extract(doc).Links
		if want == "" {
			if len(links) > 0 || value != "5;URL='y'" && len(meta.Links) > 0 {
				t.Errorf("%s leads to %+v and %+v", value, links, meta.Links)
			}
			continue
		}
		if len(links) != 1 || links[0].URL != want || links[0].Tag != "meta" {
			t.Errorf("%s leads to %+v, want %s", value, links, want)
		}
	}
	both := NewExtractor().Extract(Document{URL: here, ContentType: "text/html", Body: []byte("<base href=/b/>"), Refresh: []string{"0;x", "0;y"}})
	if len(both.Links) != 2 || both.Links[0].URL != "http://example.org/dir/x" {
		t.Errorf("two fields lead to %+v", both.Links)
	}
}

func TestLinksOfDrawings(t *testing.T) {
	for html, want := range map[string]string{
		`<svg><a xlink:href=/old href=/new>x</a></svg>`: "http://example.org/new",
		`<svg><a href=/new xlink:href=/old>x</a></svg>`: "http://example.org/new",
		`<svg><a xlink:href=/old>x</a></svg>`:           "http://example.org/old",
	} {
		withScanAndTree(t, html, func(t *testing.T, c Content) {
			var links []wire.Link
			if links = c.Links; len(links) != 1 || links[0].URL != want {
				t.Errorf("%s leads to %+v, want %s", html, links, want)
			}
		})
	}
}
