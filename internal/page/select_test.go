package page

import (
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// selectorTable holds a selector for each rule of CSS and of cascadia's extensions.
var selectorTable = []string{
	"*", "*|*.x", "a", "DIV", "#i", ".x.y", "a, b , i", "div p", "div>p", "h1 + p", "h1~p", "div /* > */ p", "a/*,*/,b",
	"div > p ~ * b", "*.x", "*:not(.x)", "p:not(.x, div p):not(b)", ":has(b)", "div:has(p > b, i + b)", ":haschild(b)", ":has(:has(:has(b)))",
	":not( :has( b ) )", "[title]", "[ title = x ]", "[title='a]b,c > d)']", `[title="a\"]"]`, "[title~=b]", "[title|=en]", "[title^=a]",
	"[title$=d]", "[title*=b]", "[title!=x]", "[title=X i]", "[title#=^(a|x)]", "[title#=/*]*/[abx]]", `#\69`, `#\69 .x`, `.\78 .y`, `.a\,b`,
	":contains(one)", `:contains("t)w")`, `:contains(t\)w)`, "p:containsOwn('two')", ":matches([a-c]o)", ":matches((o)n[e])", ":matchesOwn(/*)*/t.o)", `:contains("")`,
	":nth-child(2n+1)", ":nth-child( odd )", ":nth-last-child(2)", ":nth-of-type(2n)", ":nth-last-of-type(-n+2)", ":first-child", ":last-child",
	":first-of-type", ":last-of-type", ":only-child", ":only-of-type", ":empty", ":root", ":root > *", ":link", ":lang(de)", ":input", ":enabled",
	":disabled", ":checked", ":hover", "p:HAS(b)", ":contains(o) + :contains(t)", ":not(:contains(o)) ~ b", ":contains('') p",
}

// selectorPages holds pages for selectorTable.
var selectorPages = []string{
	"",
	`<!doctype html><html lang=de><title>one</title><h1 id=i title=x>one</h1><!-- c --><p class="x y">two<b>t)w</b></p>and<p>co<i>x</i><b>b</b><div class=x><p title="a b d"><b class="a,b"></b></div>`,
	`<div><p><b title="a]b,c > d)">one</b><b></b> two<div lang=de-AT><p title='a"]'>x<i></i><b></b></div></div><a href=x title=en-GB>two</a><a id=i class=x>`,
	`<fieldset disabled><legend><input></legend><input type=checkbox checked><select><option selected>one<option></select></fieldset><button>two</button><svg><a href=x><title>one</title></a></svg>`,
}

// matchAll returns the nodes that match, without the root, by search.
func matchAll(t *testing.T, s *search, root *html.Node, css string) []*html.Node {
	t.Helper()
	selector, err := ParseSelector("x=" + css)
	if err != nil {
		t.Fatalf("cascadia accepts %q: %v", css, err)
	}
	s.reset(root, 0)
	set, ok := s.group(selector.css)
	if s.left < 0 || s.left > MaxSteps {
		t.Errorf("%q: %d steps left", css, s.left)
	}
	if !ok {
		return nil
	}
	var nodes []*html.Node
	for i, in := range set {
		if in && i > 0 {
			nodes = append(nodes, s.nodes[i].node)
		}
	}
	return nodes
}

func TestSelectorsMatchWhatCascadiaMatches(t *testing.T) {
	var s search
	used := map[string]bool{}
	for _, page := range selectorPages {
		root := tree(page)
		for _, css := range selectorTable {
			group, err := cascadia.ParseGroup(css)
			if err != nil {
				t.Errorf("%q: %v", css, err)
				continue
			}
			got, want := matchAll(t, &s, root, css), cascadia.QueryAll(root, group)
			if !slices.Equal(got, want) {
				t.Errorf("%q in %q: %d nodes, want %d", css, page, len(got), len(want))
			}
			used[css] = used[css] || len(want) > 0
		}
	}
	for _, css := range selectorTable {
		if !used[css] && css != ":hover" {
			t.Errorf("%q matches nothing", css)
		}
	}
}

// level4Table holds selectors that cascadia lacks, and equivalents. An empty equivalent means that the
// selector is refused.
var level4Table = []struct{ css, same string }{
	{":is(p, div) > b", "p > b, div > b"},
	{"div:where( .x )", "div.x"},
	{":IS(b):not(:where(p *))", "b:not(p *)"},
	{":is(:is(:is(i)))", "i"},
	{"p:is(.x, :has(b))", "p.x, p:has(b)"},
	{"div:has(> p)", "div:haschild(p)"},
	{":has( > b, > i )", ":haschild(b, i)"},
	{":has(> p b)", ":haschild(p:has(b))"},
	{":has(> p > b)", ":haschild(p:haschild(b))"},
	{"p:has(+ div)", "h1 ~ p:not(.x)"},
	{"h1:has(~ div)", "h1"},
	{":has(~ div p)", "h1, h1 ~ p"},
	{"b:has(+ i), i:has(+ b)", "i:not(:last-child)"},
	{":has(b, > i)", ":has(b), :haschild(i)"},
	{":not(:has(> b))", ":not(:haschild(b))"},
	{`[title=":is(x)"]`, `[title=":is(x)"]`},
	{`:contains(":has(> x"), p`, "p"},
	{":matches(:is(x)), p", "p"},
	{"a\\:is, p", "p"},
	{"p/*:is(*/", "p"},
	{":is()", ""}, {":is", ""}, {":is(", ""}, {":is(p", ""}, {":is(> p)", ""}, {":where(p,)", ""}, {":not(> p)", ""}, {":has(>)", ""},
	{":has(> > p)", ""}, {"> p", ""}, {"p, > p", ""}, {":has([x='", ""}, {":is([x", ""}, {":has(:matches((", ""}, {":focus-visible", ""},
}

func TestSelectorsLevel4(t *testing.T) {
	var s search
	root := tree(selectorPages[1])
	for _, test := range level4Table {
		if _, err := ParseSelector("x=" + test.css); test.same == "" {
			if err == nil {
				t.Errorf("%q is accepted", test.css)
			}
			continue
		}
		got, want := matchAll(t, &s, root, test.css), matchAll(t, &s, root, test.same)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %d nodes, want %d as by %q", test.css, len(got), len(want), test.same)
		}
	}
}

// FuzzSelect checks that every selector that cascadia accepts matches the same nodes as by
// cascadia, in a bounded number of steps.
func FuzzSelect(f *testing.F) {
	for i, css := range selectorTable {
		f.Add(css, selectorPages[i%len(selectorPages)])
	}
	for _, test := range level4Table {
		f.Add(test.css, selectorPages[1])
	}
	f.Fuzz(func(t *testing.T, css, page string) {
		group, err := cascadia.ParseGroup(css)
		if selector, err2 := ParseSelector("x=" + css); err2 == nil {
			if err != nil && withoutLevel4(css) == css {
				t.Fatalf("cascadia refuses %q: %v", css, err)
			}
			check(t, NewExtractor(selector).Extract(Document{URL: here, ContentType: "text/html", Body: []byte(page)}))
		} else {
			return
		}
		if err != nil || len(css) > 40 || strings.Count(page, "<") > 20 {
			return // cascadia might not end
		}
		root := tree(page)
		if root == nil {
			return
		}
		var s search
		got := matchAll(t, &s, root, css)
		if want := cascadia.QueryAll(root, group); s.left > 0 && !slices.Equal(got, want) {
			t.Errorf("%q in %q: %d nodes, want %d", css, page, len(got), len(want))
		}
	})
}
