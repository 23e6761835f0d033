package closedweb

import (
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"spoor/internal/testfile"
)

// names are page names as Python's urllib.parse makes them.
var names = []struct{ address, name string }{
	{"http://A.Example/Jazz", "a.example/jazz"},
	{"HTTP://A.EXAMPLE/", "a.example/"},
	{"http://a.example", "a.example/"},
	{"  http://a.ex\tample/x \n", "a.example/x"},
	{"\x1fhttp://a.example/x\x1f", "a.example/x"},
	{"a.example/Jazz", "a.example/jazz"}, // a name names itself
	{"//a.example/Jazz", "a.example/jazz"},
	{"mailto:someone@a.example", "someone@a.example"},
	{"1http://a.example/x", "1http:/a.example/x"},
	{"", "/"},

	{"https://a.example:443/", "a.example/"},
	{"http://a.example:80", "a.example/"},
	{"http://a.example:08080/x", "a.example:8080/x"},
	{"http://a.example:0/x", "a.example/x"},
	{"http://a.example:99999/x", "a.example/x"},
	{"http://a.example:x/y", "a.example/y"},
	{"http://user:pw@a.example/x", "a.example/x"},
	{"http://[::1]:8080/X", "::1:8080/x"},
	{"http://[::1/x", "http://[::1/x"}, // cannot be taken apart
	{"http://[a.example]/x", "http://[a.example]/x"},

	{"http://a.example/x?A=%41&b#frag", "a.example/x?A=%41&b"},
	{"http://a.example?q=1", "a.example/?q=1"},
	{"http://a.example/x?", "a.example/x"},
	{"http://a.example/x;P=1", "a.example/x;p=1"},
	{"http://a.example/%3Fq", "a.example/?q"},

	{"http://a.example/index.html", "a.example/"},
	{"http://a.example/a/INDEX.HTM", "a.example/a"},
	{"http://a.example/a/%69ndex.html", "a.example/a"},
	{"http://a.example/a/default.htm?x", "a.example/a?x"},
	{"http://a.example/a/welcome.html/", "a.example/a/welcome.html"},
	{"http://a.example/a/myindex.html", "a.example/a/myindex.html"},
	{"http://a.example//a///b//", "a.example/a/b"},
	{"http://a.example/a/../B/./", "a.example/a/../b/."},

	{"http://a.example/%7Euser/%41%2f%2F", "a.example/~user/a"},
	{"http://a.example/CAF%C3%89", "a.example/café"},
	{"http://a.example/caf%E9", "a.example/caf\uFFFD"},
	{"http://a.example/%E2%82x%E2%82", "a.example/\uFFFDx\uFFFD"},
	{"http://a.example/%E2%82%AC%FF%FE", "a.example/€\uFFFD\uFFFD"},
	{"http://a.example/É%C3%89%C3É", "a.example/éé\uFFFDé"},
	{"http://a.example/100%/%zz%4", "a.example/100%/%zz%4"},
	{"http://Ä.example/ΛΟΓΟΣ", "ä.example/λογος"},
	{"http://a.example/İ", "a.example/i̇"},
}

func TestPageName(t *testing.T) {
	for _, test := range names {
		if got := PageName(test.address); got != test.name {
			t.Errorf("%q: %q, want %q", test.address, got, test.name)
		}
	}
}

func TestPageNamesOfSharedGraphs(t *testing.T) {
	for _, web := range []string{"planetmath", "webkb"} {
		f := testfile.Open(t, testfile.Shared(t, "webs/"+web+".graph.json.gz"))
		unzipped, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		var w struct {
			Out map[string][]string
			URL map[string]string
		}
		if err := json.NewDecoder(unzipped).Decode(&w); err != nil {
			t.Fatal(err)
		}
		for name, url := range w.URL {
			if got := PageName(url); got != name {
				t.Errorf("%s: %q, want %q", url, got, name)
			}
		}
		if len(w.URL) != len(w.Out) {
			t.Errorf("%s: %d addresses of %d pages", web, len(w.URL), len(w.Out))
		}
	}
}

func FuzzPageName(f *testing.F) {
	for _, test := range names {
		f.Add(test.address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		name := PageName(address)
		if utf8.ValidString(address) && !utf8.ValidString(name) {
			t.Errorf("%q: %q is no UTF-8", address, name)
		}
		if len(name) > 3*len(address)+1 { // U+FFFD of an octet; a small letter is no longer than that
			t.Errorf("%q: %d bytes of %d", address, len(name), len(address))
		}
		if again := PageName(" " + address + "\n"); again != name {
			t.Errorf("%q: %q, and with blanks around it %q", address, name, again)
		}
		if fragment := PageName(strings.TrimFunc(address, isBlank) + "#x"); !strings.Contains(address, "#") && fragment != name {
			t.Errorf("%q: %q, and with a fragment %q", address, name, fragment)
		}
	})
}
