package weburl

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// URLs as written on pages, and their canonical form.
var canonical = []struct{ in, out string }{
	{"http://a.org", "http://a.org/"},
	{"HTTP://A.Org:80/", "http://a.org/"},
	{"https://a.org:443/x", "https://a.org/x"},
	{"https://a.org:80/x", "https://a.org:80/x"},
	{"http://a.org:/x", "http://a.org/x"},
	{"http://a.org:0080/x", "http://a.org/x"},
	{"http://a.org:08080/x", "http://a.org:8080/x"},
	{"http://a.org:0/", "http://a.org:0/"},
	{"http:a.org", "http://a.org/"},
	{"http:////a.org//x", "http://a.org//x"},
	{`http:\\a.org\x\..\y`, "http://a.org/y"},
	{" \t http://a.org/x\r\ny \x00", "http://a.org/xy"},

	// Dropped parts.
	{"http://a.org/x#y", "http://a.org/x"},
	{"http://a.org/#a#b?c", "http://a.org/"},
	{"http://user:secret@a.org/", "http://a.org/"},
	{"http://a@b@c:1/", "http://c:1/"},

	// Kept, since they may select another page.
	{"http://a.org/X/Index.HTML", "http://a.org/X/Index.HTML"},
	{"http://a.org/x/", "http://a.org/x/"},
	{"http://a.org//x//", "http://a.org//x//"},
	{"http://a.org/?", "http://a.org/?"},
	{"http://a.org?", "http://a.org/?"},
	{"http://a.org/x?b=2&a=1&&a=", "http://a.org/x?b=2&a=1&&a="},
	{"http://a.org/?u=%7e%c3/../x\\", "http://a.org/?u=%7e%c3/../x\\"},
	{"http://www.a.org./", "http://www.a.org./"},

	// Dots.
	{"http://a.org/a/./b/../../c", "http://a.org/c"},
	{"http://a.org/../../x", "http://a.org/x"},
	{"http://a.org/a/..", "http://a.org/"},
	{"http://a.org/a/.", "http://a.org/a/"},
	{"http://a.org/a//../b", "http://a.org/a/b"},
	{"http://a.org/a/%2e/%2E%2e/b", "http://a.org/b"},
	{"http://a.org/...", "http://a.org/..."},
	{"http://a.org/a%2eb", "http://a.org/a.b"},

	// Escapes.
	{"http://a.org/%7Euser/%41%2d%5f", "http://a.org/~user/A-_"},
	{"http://a.org/%c3%a9", "http://a.org/%C3%A9"},
	{"http://a.org/é ü", "http://a.org/%C3%A9%20%C3%BC"},
	{"http://a.org/caf\xe9?\xe9", "http://a.org/caf%E9?%E9"},
	{"http://a.org/%2f%3f%23%25", "http://a.org/%2F%3F%23%25"},
	{"http://a.org/!$&'()*+,;=:@[]|", "http://a.org/!$&'()*+,;=:@[]|"},
	{"http://a.org/\"<>^`{}", "http://a.org/%22%3C%3E%5E%60%7B%7D"},
	{"http://a.org/?'\"<> é^`{}|", "http://a.org/?%27%22%3C%3E%20%C3%A9^`{}|"},
	{"http://a.org/%", "http://a.org/%"},
	{"http://a.org/%zz%4", "http://a.org/%zz%4"},
	// A percent sign that begins no escape must not begin one afterwards.
	{"http://a.org/%%341", "http://a.org/%%341"},
	{"http://a.org/%4%31", "http://a.org/%4%31"},
	{"http://a.org/%%2e%2e/x", "http://a.org/%../x"},
	{"http://a.org/%25%34%31", "http://a.org/%2541"},
	{"http://a.org/%%7e", "http://a.org/%~"},

	// Hosts.
	{"http://bücher.example/", "http://xn--bcher-kva.example/"},
	{"http://B%C3%BCCHER.example/", "http://xn--bcher-kva.example/"},
	{"http://straße.de/", "http://xn--strae-oqa.de/"},
	{"http://www。a。org/", "http://www.a.org/"},
	{"http://a%2eorg/", "http://a.org/"},
	{"http://a_b.org/", "http://a_b.org/"},
	{"http://1.2.3.4/", "http://1.2.3.4/"},
	{"http://1.2.3.4./", "http://1.2.3.4/"},
	{"http://0x7F.1/", "http://127.0.0.1/"},
	{"http://017700000001/", "http://127.0.0.1/"},
	{"http://3232235777", "http://192.168.1.1/"},
	{"http://１２７.0.0.1/", "http://127.0.0.1/"},
	{"http://[2001:DB8:0:0::1]:80/", "http://[2001:db8::1]/"},
	{"http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/"},
	{"http://[1:0:0:2:0:0:0:3]:8080/", "http://[1:0:0:2::3]:8080/"},
}

func TestCanonical(t *testing.T) {
	for _, c := range canonical {
		got, err := Canonical(c.in)
		if err != nil || got != c.out {
			t.Errorf("Canonical(%q) = %q, %v, want %q", c.in, got, err, c.out)
		}
		if again, err := Canonical(got); err != nil || again != got {
			t.Errorf("Canonical(%q) = %q, %v: it was canonical before", got, again, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	long := "http://a.org/" + strings.Repeat("x", MaxLength)
	for _, c := range []struct {
		in  string
		err Error
	}{
		{"", ErrRelative},
		{"www.a.org/x", ErrRelative},
		{"//a.org/x", ErrRelative},
		{"1http://a.org", ErrRelative},
		{"mailto:x@a.org", ErrScheme},
		{"javascript:void(0)", ErrScheme},
		{"ftp://a.org/", ErrScheme},
		{"file:///etc/passwd", ErrScheme},
		{"httpſ://a.org", ErrRelative},
		{"a.org:8080/x", ErrScheme},
		{"http://", ErrNoHost},
		{"http:///", ErrNoHost},
		{"http://?x", ErrNoHost},
		{"http://:80/", ErrNoHost},
		{"http://user@/", ErrNoHost},
		{"http://a b/", ErrHost},
		{"http://a<b/", ErrHost},
		{"http://a%20b/", ErrHost},
		{"http://a%00b/", ErrHost},
		{"http://a%zz/", ErrHost},
		{"http://%5B::1%5D/", ErrHost},
		{"http://a\x7f/", ErrHost},
		{"http://\u00ad/", ErrIDNA},
		{"http://a\xffb/", ErrIDNA},
		{"http://\ufffd/", ErrIDNA},
		{"http://a\u200db/", ErrIDNA},
		{"http://" + strings.Repeat("é", 300) + "/", ErrIDNA},
		{"http://256.1.1.1/", ErrIPv4},
		{"http://1.2.3.4.5/", ErrIPv4},
		{"http://a.1/", ErrIPv4},
		{"http://0x100000000/", ErrIPv4},
		{"http://09/", ErrIPv4},
		{"http://[::1/", ErrIPv6},
		{"http://[1.2.3.4]/", ErrIPv6},
		{"http://[fe80::1%25eth0]/", ErrIPv6},
		{"http://[::1]x/", ErrIPv6},
		{"http://a:65536/", ErrPort},
		{"http://a:x/", ErrPort},
		{"http://a:-1/", ErrPort},
		{"http://a:99999999999999999999/", ErrPort},
		{long, ErrTooLong},
		// Too long only once it is escaped.
		{"http://a.org/" + strings.Repeat("é", MaxLength/4), ErrTooLong},
		{"http://a.org/?" + strings.Repeat("é", MaxLength/4), ErrTooLong},
	} {
		if got, err := Canonical(c.in); !errors.Is(err, c.err) || got != "" {
			t.Errorf("Canonical(%.60q) = %.60q, %v, want the error %q", c.in, got, err, c.err)
		}
	}
	if !strings.Contains(ErrTooLong.Error(), strconv.Itoa(MaxLength)) {
		t.Errorf("%q does not name the limit, %d", ErrTooLong, MaxLength)
	}
	exact := long[:MaxLength]
	if got, err := Canonical("  " + exact + "\n"); err != nil || got != exact {
		t.Errorf("an address of exactly %d bytes: %v", MaxLength, err)
	}
	base, _ := Parse(exact[:MaxLength-1] + "/")
	if u, err := base.Resolve("xy"); err != ErrTooLong {
		t.Errorf("resolved to %d bytes, %v", len(u.String()), err)
	}
}

func TestResolve(t *testing.T) {
	const base = "http://a.org:8080/b/c/d;p?q"
	for _, c := range []struct{ ref, out string }{
		// RFC 3986, section 5.4, fragments dropped.
		{"g", "http://a.org:8080/b/c/g"},
		{"./g", "http://a.org:8080/b/c/g"},
		{"g/", "http://a.org:8080/b/c/g/"},
		{"/g", "http://a.org:8080/g"},
		{"//g", "http://g/"},
		{"?y", "http://a.org:8080/b/c/d;p?y"},
		{"g?y", "http://a.org:8080/b/c/g?y"},
		{"#s", base},
		{"g#s", "http://a.org:8080/b/c/g"},
		{";x", "http://a.org:8080/b/c/;x"},
		{"", base},
		{".", "http://a.org:8080/b/c/"},
		{"..", "http://a.org:8080/b/"},
		{"../g", "http://a.org:8080/b/g"},
		{"../../../g", "http://a.org:8080/g"},
		{"g?y/../x", "http://a.org:8080/b/c/g?y/../x"},
		{"g;x=1/../y", "http://a.org:8080/b/c/y"},
		// What browsers accept beyond it.
		{"http:g", "http://a.org:8080/b/c/g"},
		{"HTTP:/g", "http://a.org:8080/g"},
		{"https:g", "https://g/"},
		{"https:/g", "https://g/"},
		{`\g`, "http://a.org:8080/g"},
		{`/\g/x`, "http://g/x"},
		{`..\g`, "http://a.org:8080/b/g"},
		{"///g", "http://g/"},
		{" g\n", "http://a.org:8080/b/c/g"},
		{"?", "http://a.org:8080/b/c/d;p?"},
		{"//", ""},
		{"x:y", ""},
		{"http://", ""},
		{"%3a", "http://a.org:8080/b/c/%3A"},
		{"a:8080", ""},
		{"./a:8080", "http://a.org:8080/b/c/a:8080"},
	} {
		if u, err := parsed(t, base).Resolve(c.ref); u.String() != c.out || (err != nil) != (c.out == "") {
			t.Errorf("Resolve(%q) = %q, %v, want %q", c.ref, u, err, c.out)
		}
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct{ in, scheme, host, hostname, port, path, query, uri string }{
		{"http://a.org/", "http", "a.org", "a.org", "", "/", "", "/"},
		{"https://a.org:8443/x/y?z?", "https", "a.org:8443", "a.org", "8443", "/x/y", "z?", "/x/y?z?"},
		{"http://[::1]/?", "http", "[::1]", "[::1]", "", "/", "", "/?"},
		{"http://[::1]:81/:2@/", "http", "[::1]:81", "[::1]", "81", "/:2@/", "", "/:2@/"},
		{"http://a?b:c/d", "http", "a", "a", "", "/", "b:c/d", "/?b:c/d"},
	} {
		u := parsed(t, c.in)
		got := [...]string{u.Scheme(), u.Host(), u.Hostname(), u.Port(), u.Path(), u.Query(), u.RequestURI()}
		want := [...]string{c.scheme, c.host, c.hostname, c.port, c.path, c.query, c.uri}
		if got != want {
			t.Errorf("%s:\n got %q\nwant %q", c.in, got, want)
		}
	}
}

func TestZeroURL(t *testing.T) {
	var u URL
	parts := u.String() + u.Scheme() + u.Host() + u.Hostname() + u.Port() + u.Path() + u.Query() +
		u.RequestURI() + u.SURT() + u.Niche(0) + u.Niche(2)
	if parts != "" || !u.IsZero() {
		t.Errorf("got %q", parts)
	}
	if v, err := u.Resolve("http://a.org"); v.String() != "http://a.org/" || err != nil {
		t.Errorf("an absolute link: %q, %v", v, err)
	}
}

func TestEqual(t *testing.T) {
	a, _ := Parse("http://a.org/x/y?z")
	b, _ := Parse("http://u@A.org:80/./x/q/../y?z#f")
	base, _ := Parse("http://a.org/x/q")
	c, _ := Resolve(base, "y?z")
	if a != b || a != c || a != split(a.String()) {
		t.Errorf("%v, %v, %v, %v", a, b, c, split(a.String()))
	}
}

func TestNiche(t *testing.T) {
	for _, c := range []struct {
		address string
		keys    [4]string // n = 0, 1, 2, 3
	}{
		{"http://a.org/", [4]string{"a.org", "a.org/", "a.org/", "a.org/"}},
		{"http://a.org/z.html", [4]string{"a.org", "a.org/", "a.org/", "a.org/"}},
		{"http://a.org/x/y/z.html", [4]string{"a.org", "a.org/x/", "a.org/x/y/", "a.org/x/y/"}},
		{"http://a.org:81/x/y/", [4]string{"a.org:81", "a.org:81/x/", "a.org:81/x/y/", "a.org:81/x/y/"}},
		{"http://a.org/x?y/z/", [4]string{"a.org", "a.org/", "a.org/", "a.org/"}},
		{"http://a.org//x/", [4]string{"a.org", "a.org//", "a.org//x/", "a.org//x/"}},
	} {
		for n, want := range c.keys {
			if got := Niche(c.address, n); got != want {
				t.Errorf("Niche(%s, %d) = %q, want %q", c.address, n, got, want)
			}
		}
	}
	if got := Niche("http://a.org/x/", -1); got != "a.org" {
		t.Errorf("n = -1: got %q", got)
	}
}

func TestPartsOfInvalidURLs(t *testing.T) {
	for _, s := range []string{"", ":", "://", "http://", "http://a.org", "x", "/x", "http://" + strings.Repeat("x", 1<<17) + "/"} {
		if got := Host(s) + Niche(s, 1) + SURT(s); got != "" {
			t.Errorf("%.20q: got %.20q", s, got)
		}
	}
}

func TestSURT(t *testing.T) {
	const id = "0123456789abcdef0123456789ABCDEF"
	for _, c := range []struct{ in, key string }{
		{"http://example.com/", "com,example)/"},
		{"https://www.Example.com/A/b.html", "com,example)/a/b.html"},
		{"http://www2.example.com:8080/", "com,example:8080)/"},
		{"http://www.www.example.com/", "com,example,www)/"},
		{"http://wwwx.example.com/", "com,example,wwwx)/"},
		{"http://www.com/", "com)/"},
		{"http://example.com./", "com,example)/"},
		{"http://127.0.0.1/", "1,0,0,127)/"},
		{"http://[2001:db8::1]:81/x", "2001:db8::1:81)/x"},
		{"http://bücher.example/", "example,xn--bcher-kva)/"},
		{"http://a.org/x/", "org,a)/x"},
		{"http://a.org/?%41=1", "org,a)/?a=1"},
		{"http://a.org//x//y//", "org,a)/x/y"},
		{"http://a.org/x?", "org,a)/x"},
		{"http://a.org/?c&B=2&a=2&b=1&a", "org,a)/?a&a=2&b=1&b=2&c"},
		{"http://a.org/?a=1&", "org,a)/?&a=1"},
		{"http://a.org/?a-b=1&a=1", "org,a)/?a=1&a-b=1"},
		{"http://a.org/%C3%A9%2525?x=%2541%20%23", "org,a)/%c3%a9%25?x=a%20%23"},
		{"http://a.org/a/%252e%252e/b", "org,a)/b"},
		{"http://a.org/%252e%252e/b", "org,a)/../b"},
		{"http://a.org/a//%252e%252e/b", "org,a)/a/b"},
		{"http://a.org/?PHPSESSID=" + id, "org,a)/"},
		{"http://a.org/?x=1&jsessionid=" + id + "&y=2", "org,a)/?x=1&y=2"},
		{"http://a.org/?x=1&sid=" + id, "org,a)/?&x=1"},
		{"http://a.org/?sid=" + id + "0", "org,a)/?sid=" + strings.ToLower(id) + "0"},
		{"http://a.org/?CFID=1&CFTOKEN=2&z=3", "org,a)/?z=3"},
		{"http://a.org/(S(4hqa0555fwsecu455xqckv45))/m.aspx", "org,a)/m.aspx"},
		{"http://a.org/x/(4hqa0555fwsecu455xqckv45)/m.aspx?a", "org,a)/x/m.aspx?a"},
	} {
		u := parsed(t, c.in)
		if got := u.SURT(); got != c.key {
			t.Errorf("SURT of %s = %q, want %q", c.in, got, c.key)
		}
		if got := SURT(u.String()); got != c.key {
			t.Errorf("SURT(%q) = %q, want %q", u, got, c.key)
		}
	}
}

// latin1 is an Encoder; shout is one that no standard has.
func latin1(query string) string {
	var b strings.Builder
	for _, r := range query {
		if r <= 0xFF {
			b.WriteByte(byte(r))
		} else {
			fmt.Fprintf(&b, "%%26%%23%d%%3B", r)
		}
	}
	return b.String()
}

func shout(query string) string { return "?#\x00 %\"é" + query + "#" }

func TestResolveIn(t *testing.T) {
	base := parsed(t, "http://a.org/b")
	for _, c := range []struct {
		encode   Encoder
		ref, out string
	}{
		{nil, "é?é", "http://a.org/%C3%A9?%C3%A9"},
		{latin1, "é?é#é", "http://a.org/%C3%A9?%E9"},
		{latin1, "?é=а&x=%e9", "http://a.org/b?%E9=%26%231072%3B&x=%e9"},
		{latin1, "//é.org/", "http://xn--9ca.org/"},
		{latin1, "x#é", "http://a.org/x"},
		{shout, "?x#é", "http://a.org/b?x"}, // ASCII is not shown to it
		{shout, "?é", "http://a.org/b??%23%00%20%%22%C3%A9%C3%A9%23"},
		{func(string) string { return "" }, "?é", "http://a.org/b?"},
		{func(string) string { return strings.Repeat("x", MaxLength) }, "?é", ""},
	} {
		u, err := ResolveIn(base, c.ref, c.encode)
		if u.String() != c.out || (err != nil) != (c.out == "") {
			t.Errorf("ResolveIn(%q) = %q, %v, want %q", c.ref, u, err, c.out)
		}
	}
}

// All of this is done for every link of every page.
func TestResolveAllocations(t *testing.T) {
	base := parsed(t, "http://www.example.com/a/b.html")
	for _, c := range []struct {
		ref    string
		allocs float64
	}{
		{"http://www.example.com/x/y.html?z=1", 0}, // canonical already
		{"#top", 0},
		{"mailto:x@example.com", 0},
		{"http://a:b:c/", 0},
		{"../c.html", 1},
		{"HTTP://Example.com/%7Ex/", 1},
	} {
		got := testing.AllocsPerRun(100, func() {
			u, _ := base.Resolve(c.ref)
			_, _, _ = u.Host(), u.Path(), u.Niche(2)
		})
		if got > c.allocs {
			t.Errorf("%s: %v allocations, want %v", c.ref, got, c.allocs)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, c := range canonical {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := Parse(s)
		if err != nil {
			if (u != URL{}) || len(err.Error()) > 80 {
				t.Errorf("%v, %v", u, err)
			}
			return
		}
		if len(u.String()) > MaxLength {
			t.Errorf("%d bytes", len(u.String()))
		}
		if again, err := Parse(u.String()); again != u || err != nil {
			t.Errorf("%q, again %q, %v", u, again, err)
		}
		if split(u.String()) != u {
			t.Errorf("parsed %#v\nsplit %#v", u, split(u.String()))
		}
		if whole := u.Scheme() + "://" + u.Host() + u.RequestURI(); whole != u.String() {
			t.Errorf("%q came apart into %q", u, whole)
		}
		for i := range len(u.String()) {
			if c := u.String()[i]; c <= ' ' || c >= 0x7f || c == '#' {
				t.Fatalf("%q contains %q", u, c)
			}
		}
		for n := range 3 {
			if k := u.Niche(n); !strings.HasPrefix(u.Niche(n+1), k) || !strings.HasPrefix(u.String()[len(u.Scheme())+3:], k) {
				t.Errorf("niches %q and %q", k, u.Niche(n+1))
			}
		}
		if key := u.SURT(); key != strings.ToLower(key) || strings.ContainsAny(key, " #\n") {
			t.Errorf("%q has key %q", u, key)
		}

		// net/url refuses some URLs that browsers accept. Those that it accepts it must read
		// in the same way.
		if v, err := url.Parse(u.String()); err == nil {
			if v.Scheme != u.Scheme() || v.Host != u.Host() || v.RawQuery != u.Query() || v.Port() != u.Port() || v.User != nil {
				t.Errorf("%q is %q to net/url", u, v)
			}
		}
	})
}

func FuzzResolve(f *testing.F) {
	for i, c := range canonical {
		f.Add(c.in, canonical[len(canonical)-1-i].in)
	}
	for _, ref := range []string{"", "g", "../g", "/g", "//g", "?y", "#s", "http:g", `\g`, ".", "..", "%2e", "%%341", "4%31"} {
		f.Add("http://a.org/b/%/c?d", ref)
	}
	f.Fuzz(func(t *testing.T, base, ref string) {
		b, err := Parse(base)
		if err != nil {
			return
		}
		u, err := b.Resolve(ref)
		if written, err2 := ResolveTo([]byte("what was there"), b, ref, nil); string(written) != u.String() || err2 != err {
			t.Errorf("%q on %q: %q, %v; written %q, %v", ref, base, u, err, written, err2)
		}
		if err != nil {
			return
		}
		if len(u.String()) > MaxLength {
			t.Errorf("%d bytes", len(u.String()))
		}
		if again, err := Parse(u.String()); again != u || err != nil {
			t.Errorf("%q on %q: %#v, again %#v, %v", ref, base, u, again, err)
		}
		// A URL that resolves without a base resolves with any base of another scheme; a
		// canonical URL resolves to itself on any base.
		if again, err := b.Resolve(u.String()); again != u || err != nil {
			t.Errorf("%q on %q: %#v, again %#v, %v", u, base, u, again, err)
		}
		if v, err := Parse(ref); err == nil && v.Scheme() != b.Scheme() && v != u {
			t.Errorf("%q alone is %q, on %q it is %q", ref, v, base, u)
		}
		if encoded, err := ResolveIn(b, ref, shout); err == nil {
			if again, err := Parse(encoded.String()); again != encoded || err != nil {
				t.Errorf("%q on %q, encoded: %#v, again %#v, %v", ref, base, encoded, again, err)
			}
		}
	})
}

func ExampleURL_Niche() {
	u, _ := Parse("http://A.org/x/y/z.html#top")
	fmt.Println(u.Niche(0), u.Niche(1), u.Niche(2))
	// Output: a.org a.org/x/ a.org/x/y/
}

// TestResolveToOwnHost compares absolute URLs resolved on a page of the same host and on one
// of another.
func TestResolveToOwnHost(t *testing.T) {
	for _, root := range []string{"http://a.org/", "https://a.org:8080/", "http://[::1]/"} {
		base := parsed(t, root+"dir/page?q")
		for _, rest := range []string{"", "x", "x/../y", "..", "/x", "//b.org/x", `\b.org`, `x\y`, "?", "?a=#b", "#", "#x", "%7E?%7e", "@b.org/", ":80/", "é"} {
			alone := parsed(t, root+rest)
			if got, err := Resolve(base, root+rest); got != alone || err != nil {
				t.Errorf("%s on %s: %s, %v; want %s", root+rest, base, got, err, alone)
			}
		}
	}
}

// parsed returns the URL of a string that is one.
func parsed(t testing.TB, s string) URL {
	t.Helper()
	u, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
