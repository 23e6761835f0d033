package page

import (
	"testing"

	"golang.org/x/net/html"
)

// TestNamesAreThoseOfTheStandard asks golang.org/x/net/html about every name of
// the table; the numbers are those of section 13.5 of the standard.
func TestNamesAreThoseOfTheStandard(t *testing.T) {
	names, withoutSemicolon := 0, 0
	for records := entityRecords; records != ""; names++ {
		n := int(records[0] &^ entityLegacy)
		end := 2 + n + int(records[1])
		name, want := records[2:2+n], records[2+n:end]
		if got, _ := entity(name); got != want {
			t.Errorf("%s is %q in the table and %q when looked up", name, want, got)
		}
		if html.UnescapeString("&"+name+";") != want {
			t.Errorf("&%s; is %q", name, want)
		}
		if n > longestName {
			t.Errorf("%s is longer than a name can be", name)
		}
		if records[0]&entityLegacy != 0 {
			withoutSemicolon++
			if n > longestLegacy || html.UnescapeString("&"+name) != want {
				t.Errorf("&%s is %q", name, want)
			}
		}
		records = records[end:]
	}
	if names != 2125 || withoutSemicolon != 106 {
		t.Errorf("%d names, and %d that need no semicolon, want 2125 and 106", names, withoutSemicolon)
	}
}

// TestLongestNameCounts tries every beginning of every name with what may
// follow it.
func TestLongestNameCounts(t *testing.T) {
	for records := entityRecords; records != ""; {
		n := int(records[0] &^ entityLegacy)
		name := records[2 : 2+n]
		for i := range n {
			for _, rest := range []string{"", ";", "=", "a", "1;", " ;", "é", "&", "\r", "\x00"} {
				s := "&" + name[:i+1] + rest
				if got, want := string(appendDecoded(nil, s, inText, false)), html.UnescapeString(s); got != want && rest != "\r" {
					t.Errorf("%q is %q, want %q", s, got, want)
				}
			}
		}
		records = records[2+n+int(records[1]):]
	}
}

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
		{"&CounterClockwiseContourIntegral;", "∳", "∳"},
		{"&CounterClockwiseContourIntegralx;", "&CounterClockwiseContourIntegralx;", "&CounterClockwiseContourIntegralx;"},
		{"&#65;", "A", "A"},
		{"&#65=", "A=", "A="},
		{"&#065x", "Ax", "Ax"},
		{"&#x41;&#X41;&#x4a&#x4A;", "AAJJ", "AAJJ"},
		{"&#x4g", "\x04g", "\x04g"},
		{"&#;&#x;&#xg&#X", "&#;&#x;&#xg&#X", "&#;&#x;&#xg&#X"},
		{"&#-1;&#+1;", "&#-1;&#+1;", "&#-1;&#+1;"},
		{"&#0;&#x0;&#00", "\uFFFD\uFFFD\uFFFD", "\uFFFD\uFFFD\uFFFD"},
		{"&#x80;&#129;&#x9F;&#xA0;", "€\u0081Ÿ\u00A0", "€\u0081Ÿ\u00A0"},
		{"&#xD7FF;&#xD800;&#xDFFF;&#xE000;", "\uD7FF\uFFFD\uFFFD\uE000", "\uD7FF\uFFFD\uFFFD\uE000"},
		{"&#xFFFE;&#xFDD0;&#x10FFFF;&#x110000;", "\uFFFE\uFDD0\U0010FFFF\uFFFD", "\uFFFE\uFDD0\U0010FFFF\uFFFD"},
		{"&#x100000041;&#4294967361;&#99999999999999999999999;", "\uFFFD\uFFFD\uFFFD", "\uFFFD\uFFFD\uFFFD"},
		{"&#13;\r\n\r\r\n&#10;", "\r\n\n\n\n", "\r\n\n\n\n"},
		{"&am\rp;&#1\r\n3;", "&am\np;\x01\n3;", "&am\np;\x01\n3;"},
	} {
		if got := string(appendDecoded(nil, c.s, inText, true)); got != c.text {
			t.Errorf("%q in text is %q, want %q", c.s, got, c.text)
		}
		if got := string(appendDecoded(nil, c.s, inAttribute, true)); got != c.attribute {
			t.Errorf("%q in an attribute is %q, want %q", c.s, got, c.attribute)
		}
	}
}

func TestWhatIsWrittenStays(t *testing.T) {
	for _, c := range []struct {
		s    string
		nul  bool
		want string
	}{
		{"&amp;\x00\r\n", false, "&amp;\x00\n"},
		{"&amp;\x00\r\n", true, "&amp;\uFFFD\n"},
	} {
		if got := string(appendDecoded(nil, c.s, asWritten, c.nul)); got != c.want {
			t.Errorf("%q is %q, want %q", c.s, got, c.want)
		}
	}
}
