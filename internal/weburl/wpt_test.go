package weburl

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// suite returns the cases in a file of the web-platform-tests for URLs, without comments.
func suite[T any](t testing.TB, name string) []T {
	t.Helper()
	shared := os.Getenv("SPOOR_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	data, err := os.ReadFile(filepath.Join(shared, "suites", "wpt-url", "tests", "wpt", name))
	if err != nil {
		t.Skipf("the suite is not here: %v; hint: set SPOOR_SHARED to the directory that holds suites/", err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	var cases []T
	for _, r := range raw {
		if r[0] == '"' {
			continue
		}
		var c T
		if err := json.Unmarshal(r, &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

type urlCase struct {
	Input    string
	Base     string
	Failure  bool
	Href     string
	Protocol string
	Username string
	Password string
	Host     string
	Hostname string
	Port     string
	Pathname string
	Search   string
	Hash     string
}

func isHTTP(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "http:") || strings.HasPrefix(s, "https:")
}

// A base of another scheme is ignored: with it, an input is either absolute or does not
// resolve to an http URL.
func (c urlCase) parse() (URL, error) {
	var base URL
	if isHTTP(c.Base) {
		var err error
		if base, err = Parse(c.Base); err != nil {
			return URL{}, err
		}
	}
	return base.Resolve(c.Input)
}

// plain is an independent implementation of the one change of the canonical form to the
// standard's path: escapes of unreserved characters are decoded, the others become upper case.
// The suite has no path with a bare percent sign before such an escape.
func plain(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		var c byte
		if path[i] != '%' || i+2 >= len(path) || !scanHex(path[i+1:i+3], &c) {
			b.WriteByte(path[i])
			continue
		}
		if strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString(strings.ToUpper(path[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

func scanHex(s string, c *byte) bool {
	n, err := strconv.ParseUint(s, 16, 8)
	*c = byte(n)
	return err == nil
}

func testURLs(t *testing.T, cases []urlCase) (checked int) {
	for _, c := range cases {
		u, err := c.parse()
		switch {
		case c.Failure:
			if err == nil {
				t.Errorf("%q on %q: got %q, want failure", c.Input, c.Base, u)
			}
		case !isHTTP(c.Href):
			if err == nil {
				t.Errorf("%q on %q: got %q, want an error, as %q is not http", c.Input, c.Base, u, c.Href)
			} else if !errors.Is(err, ErrScheme) && !errors.Is(err, ErrRelative) {
				t.Errorf("%q on %q: got error %q, want one about the scheme", c.Input, c.Base, err)
			}
		case err != nil:
			t.Errorf("%q on %q: got error %q, want %q", c.Input, c.Base, err, c.Href)
		default:
			checked++
			path := plain(c.Pathname)
			got := [...]string{u.Scheme() + ":", u.Host(), u.Hostname(), u.Port(), u.Path(), u.Query()}
			want := [...]string{c.Protocol, c.Host, c.Hostname, c.Port, path, strings.TrimPrefix(c.Search, "?")}
			if got != want {
				t.Errorf("%q on %q:\n got %q\nwant %q", c.Input, c.Base, got, want)
			}

			// The standard's URL, without the parts that the canonical form drops.
			href, _, _ := strings.Cut(c.Href, "#")
			if c.Username != "" || c.Password != "" {
				scheme, rest, _ := strings.Cut(href, "//")
				_, rest, _ = strings.Cut(rest, "@")
				href = scheme + "//" + rest
			}
			href = strings.Replace(href, c.Host+c.Pathname, c.Host+path, 1)
			if u.String() != href {
				t.Errorf("%q on %q: got %q, want %q", c.Input, c.Base, u, href)
			}
		}
	}
	return checked
}

func TestWebPlatformTests(t *testing.T) {
	cases := suite[urlCase](t, "urltestdata.json")
	n := testURLs(t, cases)
	t.Logf("%d cases, %d of them http addresses; no exceptions", len(cases), n)
	if len(cases) < 800 || n < 200 {
		t.Errorf("the suite has shrunk")
	}
}

func TestAdaTests(t *testing.T) {
	testURLs(t, suite[urlCase](t, "ada_extra_urltestdata.json"))
	testURLs(t, suite[urlCase](t, "ada_long_urltestdata.json"))
}

// changed reports whether a version of Unicode after 15.0 treats r differently: it was
// disallowed in domain names (or, for the capital ß, mapped to "ss") and is now valid, mapped
// or ignored. golang.org/x/net/idna has the newer tables from Go 1.27 on; until then names
// with such characters may have the older result.
func changed(r rune) bool {
	switch {
	case 0x10A0 <= r && r <= 0x10C5, // Georgian capitals
		r == 0x04C0, r == 0x2132, r == 0x2183, // capitals without a folding before
		r == 0x1E9E,                           // capital ß
		r == 0x2F868,                          // a compatibility ideograph
		r == 0x115F, r == 0x1160, r == 0xFFA0, // Hangul fillers
		r == 0x17B4, r == 0x17B5, r == 0x180E, // invisible Khmer vowels, Mongolian separator
		0x206A <= r && r <= 0x206F,   // deprecated format characters
		0x1D173 <= r && r <= 0x1D17A, // musical format characters
		0x323B0 <= r && r <= 0x33479: // ideographs that were not there
		return true
	}
	return false
}

type domainCase struct {
	Comment string
	Input   string
	Output  *string
}

func testDomains(t *testing.T, cases []domainCase) {
	t.Helper()
	older := 0
	for _, c := range cases {
		u, err := Parse("http://" + c.Input + "/")
		want := "failure"
		ok := err != nil
		if c.Output != nil {
			want = *c.Output
			ok = err == nil && u.Hostname() == want
		}
		switch {
		case ok, c.Input == "": // an empty domain is one, an empty host is not
		case strings.ContainsFunc(c.Input, changed):
			older++
		default:
			t.Errorf("%+q (%s): got %q, %v, want %s", c.Input, c.Comment, u, err, want)
		}
	}
	t.Logf("%d names, %d excepted because of older tables of Unicode", len(cases), older)
}

func TestToASCII(t *testing.T) {
	testDomains(t, suite[domainCase](t, "toascii.json"))
}

// Not run: verifydnslength_tests.json, whose names are too long for DNS. The standard does not
// check this (VerifyDnsLength is false).

func TestIdnaTestV2(t *testing.T) {
	testDomains(t, suite[domainCase](t, "IdnaTestV2.json"))
	testDomains(t, suite[domainCase](t, "IdnaTestV2-removed.json"))
}
