package scope

import (
	"slices"
	"strings"
	"testing"

	"spoor/internal/weburl"
)

// A rule list, a URL and the decision. Rules are separated by semicolons; a URL may be followed by
// its depth.
var decisions = []struct {
	rules, url string
	depth      int
	want       Reason
	rule       string
}{
	// Without rules everything belongs to the crawl.
	{"", "http://example.org/", 0, InScope, ""},
	{"# a comment;;  # another", "http://example.org/", 9, InScope, ""},

	// The last rule that matches decides.
	{"include example.org", "http://example.org/a", 1, InScope, ""},
	{"include example.org", "http://example.net/a", 1, NotIn, "no include rule matches"},
	{"exclude example.org", "http://example.org/a", 1, Excluded, "exclude example.org"},
	{"exclude example.org", "http://example.net/a", 1, InScope, ""},
	{"include example.org; exclude example.org/a/*", "http://example.org/a/b", 1, Excluded, "exclude example.org/a/*"},
	{"exclude example.org/a/*; include example.org", "http://example.org/a/b", 1, InScope, ""},
	{"include example.org; exclude example.org/a/*; include example.org/a/b/*", "http://example.org/a/b/c", 1, InScope, ""},
	{"include example.org; exclude example.org/a/*; include example.org/a/b/*", "http://example.org/a/c", 1, Excluded, "exclude example.org/a/*"},
	{"exclude *; include example.org", "http://example.org/", 1, InScope, ""},
	{"exclude *; include example.org", "http://example.net/", 1, Excluded, "exclude *"},
	{"+example.org;-example.org/a", "http://example.org/a", 1, Excluded, "exclude example.org/a"},
	{"+ example.org; - /a", "http://example.org/b", 1, InScope, ""},

	// Hosts.
	{"include example.org", "http://www.example.org/", 1, NotIn, "no include rule matches"},
	{"include *.example.org", "http://www.example.org/", 1, InScope, ""},
	{"include *.example.org", "http://a.b.example.org/", 1, InScope, ""},
	{"include *.example.org", "http://example.org/", 1, InScope, ""},
	{"include *.example.org", "http://badexample.org/", 1, NotIn, "no include rule matches"},
	{"include *.example.org", "http://example.org.evil.net/", 1, NotIn, "no include rule matches"},
	{"include *.example.org", "http://evil.net/www.example.org/", 1, NotIn, "no include rule matches"},
	{"include *.example.org/*", "http://evil.net/?www.example.org/x", 1, NotIn, "no include rule matches"},
	{"include news*.example.org/*", "http://news7.example.org/x", 1, InScope, ""},
	{"include news*.example.org/*", "http://new.example.org/x", 1, NotIn, "no include rule matches"},
	{"include EXAMPLE.org", "HTTP://Example.ORG/", 1, InScope, ""},
	{"include example.org", "http://example.org./", 1, InScope, ""},
	{"include example.org.", "http://example.org/", 1, InScope, ""},
	{"include *.example.org", "http://www.example.org./", 1, InScope, ""},
	{"include example.org", "http://user:secret@example.org/", 1, InScope, ""},
	{"include example.org", "http://example.org@evil.net/", 1, NotIn, "no include rule matches"},
	{"include 127.0.0.1", "http://127.0.0.1:8000/", 1, InScope, ""},
	{"include 127.0.0.1", "http://0x7f.1/", 1, InScope, ""},
	{"include [::1]", "http://[0:0:0:0:0:0:0:1]:99/", 1, InScope, ""},

	// International names.
	{"include bücher.example", "http://xn--bcher-kva.example/", 1, InScope, ""},
	{"include xn--bcher-kva.example", "http://BÜCHER.example/", 1, InScope, ""},
	{"include *.bücher.example", "http://a.bücher.example/", 1, InScope, ""},
	{"include example.org/straße/*", "http://example.org/stra%c3%9fe/1", 1, InScope, ""},

	// Ports and schemes.
	{"include example.org", "http://example.org:8080/", 1, InScope, ""},
	{"include example.org:8080", "http://example.org:8080/", 1, InScope, ""},
	{"include example.org:8080", "http://example.org/", 1, NotIn, "no include rule matches"},
	{"include example.org:80", "http://example.org/", 1, InScope, ""},
	{"include example.org:80", "https://example.org/", 1, NotIn, "no include rule matches"},
	{"include example.org:443", "https://example.org/", 1, InScope, ""},
	{"include https://example.org/*", "https://example.org/a", 1, InScope, ""},
	{"include https://example.org/*", "http://example.org/a", 1, NotIn, "no include rule matches"},
	{"include *://example.org/*", "http://example.org/a", 1, InScope, ""},
	{"scheme https", "http://example.org/", 0, Excluded, "scheme https"},
	{"scheme https", "https://example.org/", 0, InScope, ""},
	{"scheme https; scheme HTTP,https", "http://example.org/", 0, InScope, ""},
	{"include example.org; scheme https", "http://example.org/", 0, Excluded, "scheme https"},

	// Paths.
	{"include example.org/docs/*", "http://example.org/docs/", 1, InScope, ""},
	{"include example.org/docs/*", "http://example.org/docs", 1, NotIn, "no include rule matches"},
	{"include example.org/docs/*", "http://example.org/Docs/a", 1, NotIn, "no include rule matches"},
	{"include example.org/docs/*", "http://example.org/x/../docs/a?b=c#d", 1, InScope, ""},
	{"include example.org/docs/*", "http://example.org/docs/../secret", 1, NotIn, "no include rule matches"},
	{"include example.org/docs/", "http://example.org/docs/a", 1, NotIn, "no include rule matches"},
	{"exclude /private/*", "http://any.example/private/a", 1, Excluded, "exclude /private/*"},
	{"exclude /private/*", "http://any.example/a/private/b", 1, InScope, ""},
	{"exclude */private/*", "http://any.example/a/private/b", 1, Excluded, "exclude */private/*"},
	{"exclude /*?*", "http://any.example/a?b", 1, Excluded, "exclude /*?*"},
	{"exclude /*?*", "http://any.example/a", 1, InScope, ""},
	{"exclude /%7euser/*", "http://any.example/~user/a", 1, Excluded, "exclude /%7euser/*"},
	{"exclude /a*b*c", "http://any.example/abbbbc", 1, Excluded, "exclude /a*b*c"},
	{"exclude /a*bc", "http://any.example/abcd", 1, InScope, ""},

	// Extensions.
	{"exclude ext:jpg,PNG", "http://a.example/x/y.Jpg?size=1", 1, Excluded, "exclude ext:jpg,PNG"},
	{"exclude ext:jpg,PNG", "http://a.example/y.png", 1, Excluded, "exclude ext:jpg,PNG"},
	{"exclude ext:jpg", "http://a.example/?file=y.jpg", 1, InScope, ""},
	{"exclude ext:jpg", "http://a.example/jpg", 1, InScope, ""},
	{"exclude ext:jpg", "http://a.jpg/", 1, InScope, ""},
	{"exclude ext:jpg", "http://a.example/x.jpg/y", 1, InScope, ""},
	{"exclude ext:tar.gz", "http://a.example/x.tar.gz", 1, Excluded, "exclude ext:tar.gz"},
	{"exclude ext:.gz", "http://a.example/x.tar.gz", 1, Excluded, "exclude ext:.gz"},

	// Regular expressions.
	{`exclude re:/\d{4}/\d\d/`, "http://a.example/2024/05/x", 1, Excluded, `exclude re:/\d{4}/\d\d/`},
	{`exclude re:/\d{4}/\d\d/`, "http://a.example/24/05/x", 1, InScope, ""},
	{"include re:^https://[^/]+\\.org/", "https://a.org/", 1, InScope, ""},
	{"include re:^https://[^/]+\\.org/", "https://a.net/.org/", 1, NotIn, "no include rule matches"},
	{"exclude re:(?i)LOGIN", "http://a.example/login", 1, Excluded, "exclude re:(?i)LOGIN"},

	// SURT prefixes, as Heritrix has them.
	{"http://(org,example,", "http://example.org/", 1, InScope, ""},
	{"http://(org,example,", "https://www.example.org/a", 1, InScope, ""},
	{"http://(org,example,", "http://examples.org/", 1, NotIn, "no include rule matches"},
	{"http://(org,example", "http://examples.org/", 1, InScope, ""}, // a prefix of text
	{"http://(org,example,)", "http://www.example.org/", 1, NotIn, "no include rule matches"},
	{"http://(org,example,)/docs", "http://example.org/docs/a", 1, InScope, ""},
	{"http://(org,example,)/docs", "http://example.org/other", 1, NotIn, "no include rule matches"},
	{"http://(org,example,)/Docs", "http://example.org/dOCS/a", 1, InScope, ""},
	{"+http://(org,example,", "http://example.org/", 1, InScope, ""},
	{"+(org,;-(org,example,", "http://www.example.org/", 1, Excluded, "exclude (org,example,"},
	{"+(org,;-(org,example,", "http://www.example2.org/", 1, InScope, ""},
	{"org,example)/docs", "http://example.org/docs/a", 1, InScope, ""},
	{"org,example", "http://a.example.org/", 1, InScope, ""},
	{"org,example", "http://examples.org/", 1, NotIn, "no include rule matches"},
	{"http://(org,example,:8080)/", "http://example.org:8080/", 1, InScope, ""},
	{"http://(org,example:8080)/", "http://example.org:8080/", 1, InScope, ""},
	{"http://(org,example,)/", "http://example.org:8080/", 1, NotIn, "no include rule matches"},
	{"http://(org,example,)/", "http://example.org:80/", 1, InScope, ""},
	{"http://(org,example,)/", "http://example.org./", 1, InScope, ""},
	{"http://(127.0.0.1)/", "http://127.0.0.1/a", 1, InScope, ""},
	{"http://(127.0.0.1:8078)/", "http://127.0.0.1:8078/a", 1, InScope, ""},
	{"http://(127.0.0.1:8078,)/", "http://127.0.0.1:8078/a", 1, InScope, ""},
	{"http://(127.0.0.1:8078,", "http://127.0.0.1:8078/a", 1, InScope, ""},
	{"http://(127.0.0.1:807,", "http://127.0.0.1:8078/a", 1, NotIn, "no include rule matches"},
	{"http://([::1]:8078,)/", "http://[::1]:8078/a", 1, InScope, ""},
	{"http://(org,example:8080,)/", "http://example.org:8080/", 1, InScope, ""},
	{"http://(org,example:8080,)/", "http://www.example.org:8080/", 1, NotIn, "no include rule matches"},
	{"http://(org,example,user@)/", "http://user@example.org/", 1, NotIn, "no include rule matches"},
	{"exclude http://(org,example,)/a", "https://example.org/a", 1, Excluded, "exclude http://(org,example,)/a"},

	// Limits hold in addition, wherever they are.
	{"same-host example.org", "https://www.example.org/", 1, InScope, ""},
	{"same-host www.example.org", "http://example.org/", 1, InScope, ""},
	{"same-host example.org", "http://a.example.org/", 1, NotIn, "same-host"},
	{"same-host example.org", "http://example.org:8080/", 1, NotIn, "same-host"},
	{"same-host example.org:8080", "http://example.org:8080/", 1, InScope, ""},
	{"same-host example.org; same-host example.net", "http://example.net/", 1, InScope, ""},
	{"same-site example.org", "http://a.b.example.org:99/", 1, InScope, ""},
	{"same-site a.example.co.uk", "http://b.example.co.uk/", 1, InScope, ""},
	{"same-site example.co.uk", "http://other.co.uk/", 1, NotIn, "same-site"},
	{"same-site alice.github.io", "http://bob.github.io/", 1, NotIn, "same-site"},
	{"same-site bücher.example", "http://www.xn--bcher-kva.example./", 1, InScope, ""},
	{"same-site example.org; include */docs/*", "http://example.org/docs/", 1, InScope, ""},
	{"same-site example.org; include */docs/*", "http://example.org/x", 1, NotIn, "no include rule matches"},
	{"include */docs/*; same-site example.org", "http://example.net/docs/", 1, NotIn, "same-site"},
	{"same-host", "http://example.org/", 1, NotIn, "same-host"}, // there is no seed
	{"depth 2", "http://example.org/", 2, InScope, ""},
	{"depth 2", "http://example.org/", 3, TooDeep, "depth 2"},
	{"depth 2; depth 5", "http://example.org/", 5, InScope, ""},
	{"depth 0; include example.org", "http://example.org/", 1, TooDeep, "depth 0"},
}

func TestDecisions(t *testing.T) {
	if len(decisions) < 60 {
		t.Fatalf("%d cases", len(decisions))
	}
	for _, c := range decisions {
		s, err := Parse(strings.Split(c.rules, ";"))
		if err != nil {
			t.Errorf("%s: %v", c.rules, err)
			continue
		}
		u := parseURL(t, c.url)
		reason, rule := s.Decide(u, c.depth, Link)
		if reason != c.want || rule != c.rule {
			t.Errorf("rules %q: %s at depth %d: %q by %q, want %q by %q", c.rules, c.url, c.depth, reason, rule, c.want, c.rule)
		}
		again, err := Parse(s.Lines())
		if err != nil {
			t.Errorf("rules %q printed: %v", c.rules, err)
		} else if reason, rule := again.Decide(u, c.depth, Link); reason != c.want || rule != c.rule {
			t.Errorf("rules %q printed as %q decide otherwise: %q by %q", c.rules, s.Lines(), reason, rule)
		}
	}
}

func parseURL(t *testing.T, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return u
}

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		rules, url string
		role       Role
		want       Reason
	}{
		{"include example.org/docs/*", "http://example.org/", Seed, InScope},
		{"include example.org/docs/*", "http://example.org/", Auxiliary, InScope},
		{"same-host example.org", "http://other.example/", Seed, InScope},
		{"same-host example.org", "http://other.example/", Auxiliary, NotIn},
		{"depth 0", "http://example.org/", Auxiliary, InScope},
		{"depth 0", "http://example.org/", Seed, InScope},
		{"exclude example.org/", "http://example.org/", Seed, Excluded},
		{"exclude example.org/", "http://example.org/", Auxiliary, Excluded},
		{"scheme https", "http://example.org/", Seed, Excluded},
		{"exclude *; include example.org", "http://example.org/", Seed, InScope},
	} {
		s, err := Parse(strings.Split(c.rules, ";"))
		if err != nil {
			t.Fatal(err)
		}
		if got, rule := s.Decide(parseURL(t, c.url), 7, c.role); got != c.want {
			t.Errorf("rules %q: %s in role %d: %q by %q, want %q", c.rules, c.url, c.role, got, rule, c.want)
		}
	}
}

// TestSeeds adds seeds, whose hosts and sites then belong to the crawl.
func TestSeeds(t *testing.T) {
	s, err := Parse([]string{"same-host", "same-site", "depth 3"})
	if err != nil || !s.NeedsSeeds() {
		t.Fatal(s, err)
	}
	for _, seed := range []string{"https://www.a.example/x", "http://b.example:81/", "http://www.a.example/"} {
		s.AddSeed(parseURL(t, seed))
	}
	want := []string{"depth 3", "same-host a.example", "same-host b.example:81", "same-site a.example", "same-site b.example"}
	if got := s.Lines(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	named, err := Parse(s.Lines())
	if err != nil || named.NeedsSeeds() {
		t.Fatalf("%v, %v", named, err)
	}
	named.AddSeed(parseURL(t, "http://c.example/"))
	if reason, _ := named.Decide(parseURL(t, "http://c.example/"), 1, Link); reason != NotIn {
		t.Errorf("a seed was added to a scope that names its hosts: %q", reason)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"example.org", "is not a rule"},
		{"only example.org", "is not a rule"},
		{"include", "pattern is missing"},
		{"include *.pdf", "ext:pdf"},
		{"include *.go.html", "*/*.go.html is a path"},
		{"exclude crypto", "*/*crypto* are addresses"},
		{"include Index.HTML", "*/Index.HTML is a path"},
		{"include *login*", "*/*login*"},
		{"include index.php?a=1", "*/index.php?a=1"},
		{"include ftp://example.org/", "scheme is http, https or *"},
		{"include exa mple.org", "not a host"},
		{"include b*ü.example/", "ASCII"},
		{"exclude re:(", "not a regular expression"},
		{"exclude re:", "0 bytes"},
		{"exclude re:" + strings.Repeat("a", MaxRegexp+1), "1025 bytes"},
		{"exclude re:" + strings.Repeat("(x?){900}", 30) + "z", "more than 4000 states"},
		{"exclude re:(a{1000}){1000}", "not a regular expression"},
		{"exclude ext:", "not a list of file extensions"},
		{"exclude ext:a/b", "not a list of file extensions"},
		{"http://(", "not a SURT prefix"},
		{"ftp://(org,", "scheme is http or https"},
		{"depth", "depth"},
		{"depth -1", "depth"},
		{"depth 99999999999999999999", "depth"},
		{"depth 65535", "depth"},
		{"scheme ftp", "scheme"},
		{"scheme", "scheme"},
		{"same-host example.org/a", "not a host"},
		{"same-site a b", "not a host"},
		{"same-site .0..", "not a host"},
		{"exclude a\x00b", "control character"},
		{"exclude " + strings.Repeat("a", MaxLine), "at most 4096"},
		{"+" + strings.Repeat("a", MaxLine-1), "at most 4096"},
		{"http://(" + strings.Repeat("a", MaxLine-8), "at most 4096"},
	} {
		if err := Check(c.line); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want an error with %q", c.line, err, c.want)
		}
	}
	if _, err := Parse([]string{"# one", "include a.org", "nonsense"}); err == nil || !strings.HasPrefix(err.Error(), "line 3: ") {
		t.Errorf("%v does not name line 3", err)
	}
	if _, err := Parse(slices.Repeat([]string{"exclude re:a"}, MaxRegexps+1)); err == nil {
		t.Error("too many regular expressions were accepted")
	}
	if _, err := Parse(slices.Repeat([]string{"exclude /a"}, MaxRules+1)); err == nil {
		t.Error("too many rules were accepted")
	}
}

// FuzzParse checks that a rule that is accepted survives printing and never panics on a URL.
func FuzzParse(f *testing.F) {
	for _, c := range decisions {
		f.Add(strings.ReplaceAll(c.rules, ";", "\n"), c.url)
	}
	f.Fuzz(func(t *testing.T, text, url string) {
		s, err := Parse(strings.Split(text, "\n"))
		if err != nil {
			return
		}
		again, err := Parse(s.Lines())
		if err != nil {
			t.Fatalf("%q is printed as %q: %v", text, s.Lines(), err)
		}
		u, err := weburl.Parse(url)
		if err != nil {
			return
		}
		a, _ := s.Decide(u, 1, Link)
		if b, _ := again.Decide(u, 1, Link); a != b {
			t.Fatalf("%q: %q, and %q as printed", text, a, b)
		}
	})
}
