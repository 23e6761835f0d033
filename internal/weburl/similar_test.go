package weburl

import (
	"slices"
	"strings"
	"testing"
)

func TestSimilar(t *testing.T) {
	for _, test := range []struct{ address, want string }{
		{"http://a.test/x?q=1", "https://a.test/x?q=1 http://www.a.test/x?q=1 http://a.test/x/?q=1 https://www.a.test/x?q=1 https://a.test/x/?q=1 http://www.a.test/x/?q=1 https://www.a.test/x/?q=1"},
		{"https://www.a.test/", "http://www.a.test/ https://a.test/ https://www.a.test http://a.test/ http://www.a.test https://a.test http://a.test"},
		{"ftp://a.test/", ""}, {"a.test/x", ""}, {"http:///x", ""}, {"", ""},
	} {
		if got := Similar(test.address); !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%s: got %q", test.address, got)
		}
	}
}
