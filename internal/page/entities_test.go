package page

import "testing"

func TestReferences(t *testing.T) {
	for _, c := range []struct{ s, text, attribute string }{
		{"", "", ""},
		{"&", "&", "&"},
		{"&&amp;&", "&&&", "&&&"},
		{"&;", "&;", "&;"},
		{"& amp;", "& amp;", "& amp;"},
		{"&amp", "&", "&"},
		{"?a=b&copy=c", "?a=b©=c", "?a=b&copy=c"},
		{"?a=b&copyleft", "?a=b©left", "?a=b&copyleft"},
		{"?a=b&copy1", "?a=b©1", "?a=b&copy1"},
		{"?a=b&copy", "?a=b©", "?a=b©"},
		{"?a=b&copy;=c", "?a=b©=c", "?a=b©=c"},
		{"?a=b&copy&c", "?a=b©&c", "?a=b©&c"},
		{"&copyé", "©é", "©é"},
		{"&notit;", "¬it;", "&notit;"},
		{"&notin;", "∉", "∉"},
		{"&notin", "¬in", "&notin"},
		{"&NOTIN;", "&NOTIN;", "&NOTIN;"},
		{"&nGt;", "\u226B\u20D2", "\u226B\u20D2"},
		{"&fjlig;", "fj", "fj"},
		{"&semi;", ";", ";"},
		{"&semi", "&semi", "&semi"},
		{"&ampsemi;", "&semi;", "&ampsemi;"},
		{"&CounterClockwiseContourIntegral;", "∳", "∳"},
		{"&CounterClockwiseContourIntegralx;", "&CounterClockwiseContourIntegralx;", "&CounterClockwiseContourIntegralx;"},
		{"&#065x", "Ax", "Ax"},
		{"&#x4g", "\x04g", "\x04g"},
		{"&#;&#x;&#xg&#X", "&#;&#x;&#xg&#X", "&#;&#x;&#xg&#X"},
		{"&#13;\r\n\r\r\n&#10;", "\r\n\n\n\n", "\r\n\n\n\n"},
		{"&am\rp;&#1\r\n3;", "&am\np;\x01\n3;", "&am\np;\x01\n3;"},
	} {
		if got := decode(c.s, inText, true); got != c.text {
			t.Errorf("%q in text is %q, want %q", c.s, got, c.text)
		}
		if got := decode(c.s, inAttribute, true); got != c.attribute {
			t.Errorf("%q in an attribute is %q, want %q", c.s, got, c.attribute)
		}
	}
}

func TestTextWithoutReferences(t *testing.T) {
	for _, c := range []struct {
		s    string
		nul  bool
		want string
	}{
		{"&amp;\x00\r\n", false, "&amp;\x00\n"},
		{"&amp;\x00\r\n", true, "&amp;\uFFFD\n"},
	} {
		if got := decode(c.s, noReferences, c.nul); got != c.want {
			t.Errorf("%q is %q, want %q", c.s, got, c.want)
		}
	}
}
