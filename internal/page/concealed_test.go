package page

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spoor/internal/wire"
)

func TestLinksInConcealedElements(t *testing.T) {
	const page = `<p>before <a href=0>zero</a> <b hidden>1 <a href=1 title=t>one <i>and</i>` + "\n" + `two</a> 2<br>3<a href=2><img alt=two></a></b> after</p>` +
		`<dialog><a href=3 hidden>three</a></dialog><a href=4><span hidden>4</span>four</a><ruby>a<rt><a href=5>five</a></ruby> <area hidden href=6 alt=six><p>last <a href=7>seven</a> words`
	want := []wire.Link{
		{URL: "http://example.org/dir/0", Anchor: "zero", Context: "before\nafter"},
		{URL: "http://example.org/dir/1", Anchor: "one and two"},
		{URL: "http://example.org/dir/2", Anchor: "two"},
		{URL: "http://example.org/dir/3", Anchor: "three"},
		{URL: "http://example.org/dir/4", Anchor: "four", Context: "\na"},
		{URL: "http://example.org/dir/5", Anchor: "five"},
		{URL: "http://example.org/dir/6", Anchor: "six", Context: "foura\n"},
		{URL: "http://example.org/dir/7", Anchor: "seven", Context: "last\nwords"},
	}
	withScanAndTree(t, page, func(t *testing.T, c Content) {
		if c.Text != "before zero after\nfoura\nlast seven words" {
			t.Errorf("text %q", c.Text)
		}
		if d := cmp.Diff(want, c.Links, cmp.AllowUnexported(wire.Link{}), cmpopts.IgnoreFields(wire.Link{}, "Tag", "Path")); d != "" {
			t.Error(d)
		}
		if want := "zero one and two two three four five six seven"; c.AnchorText != want {
			t.Errorf("anchors %q, want %q", c.AnchorText, want)
		}
	})
}

func TestReadingsAreInRuby(t *testing.T) {
	withScanAndTree(t, `<p>one <rt>two</rt><p><ruby>a<rt>x</rt>b<rtc><rt>y</rt></rtc></ruby>c`, func(t *testing.T, c Content) {
		if c.Text != "one two\nabc" {
			t.Errorf("%q", c.Text)
		}
	})
}

// A script moves what React streams; other hidden elements stay hidden.
func TestStreamedContentIsText(t *testing.T) {
	page := `<div id=B:0>…</div><div hidden id="S:0"><p>article</div><div hidden id="appS:1f">more</div><div hidden id="S:x">menu</div><p hidden id="S:0">note</p>`
	withScanAndTree(t, page, func(t *testing.T, c Content) {
		if c.Text != "…\narticle\nmore" {
			t.Errorf("%q", c.Text)
		}
	})
}

// Regions in a concealed element must not be taken for regions of the text that replaces it.
func TestMainContentAfterConcealedElement(t *testing.T) {
	x := NewExtractor()
	x.MainContent = true
	c := x.Extract(Document{URL: here, ContentType: "text/html", Body: []byte(
		`<div hidden><nav>` + strings.Repeat("menu ", 100) + `</nav></div><div>` + prose(3) + `</div>`)})
	if !strings.Contains(c.Text, "Lorem") || strings.Contains(c.Text, "menu") {
		t.Errorf("%q", c.Text)
	}
}

func TestConcealedTextDoesNotFillThePage(t *testing.T) {
	long := strings.Repeat("word ", MaxText/4)
	if c := extract("<div hidden>" + long + "</div>shown"); c.Text != "shown" {
		t.Errorf("%.100q", c.Text)
	}
}

func TestAnchorsInConcealedElementsAreBounded(t *testing.T) {
	nested := strings.Repeat("<object><a href=x>", 200) + strings.Repeat("word ", 200) + strings.Repeat("</a></object>", 200)
	var c collector
	var s construction
	c.reset()
	s.read("<div hidden>"+strings.Repeat(nested, 200)+"</div>", &c)
	if c.concealedSize > maxLinkBytes || c.concealedSize < maxLinkBytes/2 {
		t.Errorf("%d bytes of anchors", c.concealedSize)
	}
}
