package robots

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// suite opens a file of the test suite of Google's robots.txt matcher.
func suite(t *testing.T, name string) *bufio.Scanner {
	t.Helper()
	root := os.Getenv("SPOOR_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(root, "suites", "google-robotstxt", name))
	if err != nil {
		t.Skipf("the shared test data is not here: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	return s
}

// deviations lists the cases of the suite, by name, that this package decides differently: how
// many, and why. The suite marks them as specific to Google, beyond the standard.
var deviations = map[string]struct {
	cases int
	why   string
}{
	"GoogleOnly_AcceptUserAgentUpToFirstSpace": {1,
		"a crawler named \"Foo Bar\" has the product token Foo (RFC 9309, section 2.2.1), and so the group of that name"},
	"GoogleOnly_IndexHTMLisDirectory": {1,
		"that /index.html stands for / as well is not in section 2.2.2: here the rule that refuses / holds"},
	"GoogleOnly_LineTooLong": {2,
		"lines are not cut at 16,664 bytes: section 2.5 bounds the file only, and half a rule is another rule"},
}

func TestGoogleSuite(t *testing.T) {
	s := suite(t, "cases.ndjson")
	standard, google, differ := 0, 0, map[string]int{}
	for s.Scan() {
		var c struct {
			Test, Agent, URL, Robots string
			Allowed                  bool
		}
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(c.Test, "GoogleOnly") {
			google++
		} else {
			standard++
		}
		d := Parse([]byte(c.Robots)).For(c.Agent).Decide(c.URL)
		if d.Allowed == c.Allowed {
			continue
		}
		if differ[c.Test]++; deviations[c.Test].cases == 0 {
			t.Errorf("%s: %q asks %s: allowed is %v (line %d), want %v of\n%s",
				c.Test, c.Agent, c.URL, d.Allowed, d.Line, c.Allowed, c.Robots)
		}
	}
	for name, x := range deviations {
		if differ[name] != x.cases {
			t.Errorf("%s: %d cases are decided differently, want %d", name, differ[name], x.cases)
		}
		t.Logf("%d decided differently: %s: %s", x.cases, name, x.why)
	}
	t.Logf("%d cases of the standard, %d of one crawler's own", standard, google)
}

func TestGooglePathSuite(t *testing.T) {
	s := suite(t, "path_cases.ndjson")
	n := 0
	for ; s.Scan(); n++ {
		var c struct {
			Func, In string
			Out      any
		}
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		var got any
		switch c.Func {
		case "GetPathParamsQuery":
			got = Path(c.In)
		case "MaybeEscapePattern":
			got = escape(c.In, true)
		case "IsValidUserAgentToObey":
			got = c.In != "" && Token(c.In) == c.In
		default:
			t.Errorf("the suite asks for %s, which is not known here", c.Func)
		}
		if got != c.Out {
			t.Errorf("%s(%q) = %v, want %v", c.Func, c.In, got, c.Out)
		}
	}
	t.Logf("%d cases", n)
}

// decisions are cases beyond the suite.
var decisions = []struct {
	name   string
	robots string
	url    string
	want   Decision
}{
	{"an empty file allows", "", "http://h/x", Decision{Allowed: true}},
	{"the deciding line is named",
		"# hello\n\nUser-agent: *\nDisallow: /a\nAllow: /a/b\n", "http://h/a/b/c",
		Decision{true, 5, "Allow: /a/b"}},
	{"a refusal names its line",
		"User-agent: *\nDisallow: /a # not this\n", "http://h/a?q", Decision{false, 2, "Disallow: /a"}},
	{"robots.txt itself is always allowed", "User-agent: *\nDisallow: /\n", "http://h/robots.txt", Decision{Allowed: true}},
	{"but not what only begins like it", "User-agent: *\nDisallow: /\n", "http://h/robots.txt2",
		Decision{false, 2, "Disallow: /"}},
	{"the query of robots.txt is another address", "User-agent: *\nDisallow: /\n", "http://h/robots.txt?x",
		Decision{false, 2, "Disallow: /"}},
	{"a byte order mark is skipped", "\ufeffUser-agent: *\nDisallow: /\n", "http://h/", Decision{false, 2, "Disallow: /"}},
	{"lines may end in CR", "User-agent: *\rDisallow: /x\r", "http://h/x", Decision{false, 2, "Disallow: /x"}},
	{"lines may end in CRLF", "User-agent: *\r\nDisallow: /x\r\n", "http://h/x", Decision{false, 2, "Disallow: /x"}},
	{"lines need not end", "User-agent: *\nDisallow: /x", "http://h/x", Decision{false, 2, "Disallow: /x"}},
	{"rules before any group are for nobody", "Disallow: /\nCrawl-delay: 3\nUser-agent: *\nAllow: /\n", "http://h/x",
		Decision{true, 4, "Allow: /"}},
	{"groups of the same name are merged",
		"User-agent: spoor\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n\nUser-agent: SPOOR/2.0\nDisallow: /b\n", "http://h/b",
		Decision{false, 8, "Disallow: /b"}},
	{"a group of one's own replaces that for everybody",
		"User-agent: *\nDisallow: /\n\nUser-agent: spoor\nDisallow: /a\n", "http://h/x", Decision{Allowed: true}},
	{"a group of one's own may be empty", "User-agent: *\nDisallow: /\n\nUser-agent: spoor\n", "http://h/x", Decision{Allowed: true}},
	{"a longer name is another crawler", "User-agent: spoorer\nDisallow: /\n", "http://h/x", Decision{Allowed: true}},
	{"an unknown line does not part user-agent lines",
		"User-agent: other\nCrawl-delay: 10\nUser-agent: spoor\nDisallow: /\n", "http://h/x", Decision{false, 4, "Disallow: /"}},
	{"a needless escape in a rule means the character",
		"User-agent: *\nDisallow: /%7ejoe/\n", "http://h/~joe/x", Decision{false, 2, "Disallow: /%7ejoe/"}},
	{"a needless escape in the address means the character",
		"User-agent: *\nDisallow: /~joe/\n", "http://h/%7Ejoe/x", Decision{false, 2, "Disallow: /~joe/"}},
	{"an escape that is needed stays", "User-agent: *\nDisallow: /a/b\n", "http://h/a%2Fb", Decision{Allowed: true}},
	{"letters above ASCII are escaped", "User-agent: *\nDisallow: /é\n", "http://h/%c3%a9", Decision{false, 2, "Disallow: /é"}},
	{"an escaped star is a star", "User-agent: *\nDisallow: /a%2Ab\n", "http://h/a*b", Decision{false, 2, "Disallow: /a%2Ab"}},
	{"and nothing else", "User-agent: *\nDisallow: /a%2Ab\n", "http://h/axb", Decision{Allowed: true}},
	{"an escaped dollar does not end", "User-agent: *\nDisallow: /a%24\n", "http://h/a$b", Decision{false, 2, "Disallow: /a%24"}},
	{"a dollar in the middle is a dollar", "User-agent: *\nDisallow: /a$b\n", "http://h/a$b/c", Decision{false, 2, "Disallow: /a$b"}},
	{"a star before the end matches the rest", "User-agent: *\nDisallow: /a*$\n", "http://h/abc", Decision{false, 2, "Disallow: /a*$"}},
	{"the end is taken last", "User-agent: *\nDisallow: /*a*ba$\n", "http://h/xaba", Decision{false, 2, "Disallow: /*a*ba$"}},
	{"pieces do not overlap", "User-agent: *\nDisallow: /*aba*ba$\n", "http://h/xaba", Decision{Allowed: true}},
	{"delimiters in a query may be escaped, as in section 2.2.2", "User-agent: *\nDisallow: /foo/bar?baz=https://foo.bar\n",
		"http://h/foo/bar?baz=https%3A%2F%2Ffoo.bar", Decision{false, 2, "Disallow: /foo/bar?baz=https://foo.bar"}},
	{"in the rule as in the address", "User-agent: *\nDisallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar\n",
		"http://h/foo/bar?baz=https://foo.bar", Decision{false, 2, "Disallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar"}},
	{"but not in a path", "User-agent: *\nDisallow: /a%2Fb\n", "http://h/a/b", Decision{Allowed: true}},
	{"octets of UTF-8 may be escaped or not", "User-agent: *\nDisallow: /foo/bar/\u30c4\n", "http://h/foo/bar/%E3%83%84",
		Decision{false, 2, "Disallow: /foo/bar/\u30c4"}},
	{"escaped letters are letters", "User-agent: *\nDisallow: /foo/bar/baz\n", "http://h/foo/bar/%62%61%7A",
		Decision{false, 2, "Disallow: /foo/bar/baz"}},
	{"the path is case-sensitive", "User-agent: *\nDisallow: /A\n", "http://h/a", Decision{Allowed: true}},
	{"the longest rule decides, wherever it stands", "User-agent: *\nDisallow: /example/page/disallowed.gif\nAllow: /example/page/\n",
		"http://h/example/page/disallowed.gif", Decision{false, 2, "Disallow: /example/page/disallowed.gif"}},
	{"and the other for the rest", "User-agent: *\nDisallow: /example/page/disallowed.gif\nAllow: /example/page/\n",
		"http://h/example/page/x.gif", Decision{true, 3, "Allow: /example/page/"}},
	{"a rule may begin with a star", "User-agent: *\nDisallow: *.gif$\n", "http://h/a/b.gif", Decision{false, 2, "Disallow: *.gif$"}},
	{"and end there", "User-agent: *\nDisallow: *.gif$\n", "http://h/a/b.gif?x", Decision{Allowed: true}},
	{"an empty rule restricts nothing", "User-agent: *\nDisallow:\nDisallow: # nothing\n", "http://h/", Decision{Allowed: true}},
	{"an empty line parts nothing", "User-agent: spoor\n\nDisallow: /\n", "http://h/", Decision{false, 3, "Disallow: /"}},
	{"a raw character that URLs escape is that character", "User-agent: *\nDisallow: /a<b\n", "http://h/a%3Cb/c",
		Decision{false, 2, "Disallow: /a<b"}},
	{"in a raw address too", "User-agent: *\nDisallow: /a<b\n", "http://h/a<b", Decision{false, 2, "Disallow: /a<b"}},
	{"in rules that allow too", "User-agent: *\nDisallow: /\nAllow: /{a b}\n", "http://h/%7Ba%20b%7D", Decision{true, 3, "Allow: /{a b}"}},
	{"escaped in the rule alone", "User-agent: *\nDisallow: /a%7cb\n", "http://h/a|b", Decision{false, 2, "Disallow: /a%7cb"}},
	{"a UTF-16 byte order mark before ASCII is skipped", "\xff\xfeUser-agent: *\nDisallow: /\n", "http://h/", Decision{false, 2, "Disallow: /"}},
	{"in either byte order", "\xfe\xffUser-agent: *\nDisallow: /\n", "http://h/", Decision{false, 2, "Disallow: /"}},
	{"UTF-16 that lacks half a character at its end", inUTF16(binary.LittleEndian, "\ufeffUser-agent: *\nDisallow: /") + "x", "http://h/", Decision{false, 2, "Disallow: /"}},
	{"several names share what follows", "User-agent: a\nUser-agent: spoor\nUser-agent: b\nDisallow: /\n", "http://h/", Decision{false, 4, "Disallow: /"}},
	{"a sitemap parts nothing", "User-agent: a\nSitemap: http://h/s\nUser-agent: spoor\nDisallow: /\n", "http://h/", Decision{false, 4, "Disallow: /"}},
	{"a file of UTF-16 is read", inUTF16(binary.LittleEndian, "\ufeffUser-agent: *\r\nDisallow: /\u00e9\r\n"), "http://h/%C3%A9",
		Decision{false, 2, "Disallow: /\u00e9"}},
	{"in the other order too", inUTF16(binary.BigEndian, "\ufeffUser-agent: *\nDisallow: /"), "http://h/", Decision{false, 2, "Disallow: /"}},
	{"a byte order mark alone is an empty file", "\xff\xfe", "http://h/", Decision{Allowed: true}},
	{"NULs around words are blanks", "\x00User-agent\x00:\x00*\x00\nDisallow: /x\x00\x00\n", "http://h/x", Decision{false, 2, "Disallow: /x"}},
	{"a page in the place of robots.txt has no rules", "<!DOCTYPE html>\n<p>Not found: <a href=/>home</a>\n", "http://h/x", Decision{Allowed: true}},
	{"a long rule is cut where it is named", "User-agent: *\nDisallow: /" + strings.Repeat("x", 300) + "\n", "http://h/" + strings.Repeat("x", 301),
		Decision{false, 2, "Disallow: /" + strings.Repeat("x", maxRuleText-1) + "…"}},
	{"spelling is forgiven where it restricts", "Useragent: *\nDisalow: /x\n", "http://h/x", Decision{false, 2, "Disallow: /x"}},
	{"binary lines are skipped", "\x00\xff\xfe: \x01\nUser-agent: *\n\x80\x81\nDisallow: /\xff\n", "http://h/%FF",
		Decision{false, 4, "Disallow: /\ufffd"}},
	{"allow wins a tie whatever the order", "User-agent: *\nAllow: /a\nDisallow: /a\nDisallow: /%61\n", "http://h/a",
		Decision{true, 2, "Allow: /a"}},
}

// inUTF16 encodes s in UTF-16.
func inUTF16(order binary.AppendByteOrder, s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func TestExampleOfRFC9309(t *testing.T) {
	f := Parse([]byte("User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n" +
		"User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n" +
		"User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\nUser-Agent: quxbot\n\nEOF\n"))
	paths := []string{"/", "/example/page.html", "/example/allowed.gif", "/publications/x", "/publications/x.gif", "/x.gif"}
	for agent, want := range map[string]string{ // y for each path that is allowed
		"foobot": ".yy...",
		"barbot": "y.yyyy",
		"BazBot": "y.yyyy",
		"quxbot": "yyyyyy",
		"other":  "y..yy.", // "/publications/" has more octets than "*.gif$"
	} {
		got := []byte(want)
		for i, p := range paths {
			got[i] = '.'
			if f.For(agent).Decide("http://h" + p).Allowed {
				got[i] = 'y'
			}
		}
		if string(got) != want {
			t.Errorf("%s may ask for %s of %v, want %s", agent, got, paths, want)
		}
	}
}

func TestSizeOfRules(t *testing.T) {
	for _, line := range []string{"allow:/\n", "allow:*\xff\n", "allow:" + strings.Repeat("*\xff", 100) + "\n"} {
		f := Parse([]byte("user-agent:*\n" + strings.Repeat(line, MaxSize/len(line))))
		if size := f.For("spoor").Size(); size > 6<<20 || size < MaxSize {
			t.Errorf("%q again and again takes %d bytes", line[:8], size)
		}
	}
	if size := new(Rules).Size(); size != 0 {
		t.Errorf("no rules take %d bytes", size)
	}
}

func TestDecide(t *testing.T) {
	for _, c := range decisions {
		got := Parse([]byte(c.robots)).For("spoor/0.1").Decide(c.url)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s of\n%s\n%s", c.name, c.url, c.robots, diff)
		}
	}
}

func TestMaxSize(t *testing.T) {
	const rule = "Disallow: /private\n"
	fill := strings.Repeat("#", MaxSize-len("User-agent: *\n")-1) + "\n"
	r := Parse([]byte("User-agent: *\n" + fill + rule)).For("spoor")
	if !r.Decide("http://h/private").Allowed {
		t.Error("a rule beyond the limit was read")
	}
	fill = fill[5:]
	r = Parse([]byte("User-agent: *\n" + fill + rule)).For("spoor")
	if !r.Decide("http://h/D").Allowed || len(r.rules) != 0 {
		t.Error("half a rule was read")
	}
	fill = fill[len(rule):]
	r = Parse([]byte("User-agent: *\n" + fill + rule + rule)).For("spoor")
	if r.Decide("http://h/private").Allowed {
		t.Error("the last rule before the limit was not read")
	}
}

func TestCrawlDelayAndSitemaps(t *testing.T) {
	f := Parse([]byte("Sitemap: http://h/a.xml\nUser-agent: *\nCrawl-delay: 7\n" +
		"User-agent: spoor\nCrawl-delay: 1.5\nCrawl-delay: nonsense\nCrawl-delay: -4\nCrawl-delay: NaN\nsitemap: http://h/b.xml\n" +
		"Disallow: /x\n\nUser-agent: slow\nCrawl-delay: 1e300\nAllow: /\n" +
		"User-agent: slower\nCrawl-delay: 1e999\nAllow: /\n"))
	for agent, want := range map[string]float64{"spoor": 7, "other": 7, "slow": maxDelay, "slower": maxDelay} {
		if got := f.For(agent).Delay; got != want {
			t.Errorf("crawl-delay for %s is %v, want %v", agent, got, want)
		}
	}
	if diff := cmp.Diff([]string{"http://h/a.xml", "http://h/b.xml"}, f.Sitemaps); diff != "" {
		t.Error(diff)
	}
}

func TestTokensWithDigits(t *testing.T) {
	f := Parse([]byte("User-agent: *\nDisallow: /all\n\nUser-agent: mj\nDisallow: /mj\n\n" +
		"User-agent: MJ12bot/1.4\nDisallow: /mj12\n\nUser-agent: 008\nDisallow: /008\n"))
	for agent, want := range map[string]string{
		"MJ12bot/2.0": "/mj12",
		"mj12bot":     "/mj12",
		"mj":          "/mj",
		"mj12":        "/all",
		"mj13bot":     "/all",
		"008":         "/008",
		"00":          "/all",
		"009":         "/all",
	} {
		r := f.For(agent)
		for _, path := range []string{"/all", "/mj", "/mj12", "/008"} {
			// /mj is also a prefix of /mj12.
			want := strings.HasPrefix(path, want)
			if refused := !r.Decide("http://h" + path).Allowed; refused != want {
				t.Errorf("%s: %s refused is %v, want %v", agent, path, refused, want)
			}
		}
	}
}

func TestMatchIsLinear(t *testing.T) {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for b.Len() < MaxSize-400 {
		b.WriteString("Disallow: /" + strings.Repeat("*a", 190) + "b\n")
	}
	// A backtracking matcher would not finish in time.
	if d := Parse([]byte(b.String())).For("spoor").Decide("/" + strings.Repeat("a", 4000)); !d.Allowed {
		t.Errorf("line %d refused", d.Line)
	}
}

func FuzzRobots(f *testing.F) {
	for _, c := range decisions {
		f.Add([]byte(c.robots), c.url)
	}
	f.Fuzz(func(t *testing.T, data []byte, url string) {
		r := Parse(data).For("spoor")
		d := r.Decide(url)
		if d.Line == 0 && !d.Allowed {
			t.Error("refused by no line")
		}
		if n := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 1; d.Line > n {
			t.Errorf("line %d of %d decided", d.Line, n)
		}
		if !(r.Delay >= 0 && r.Delay <= maxDelay) {
			t.Errorf("crawl-delay %v", r.Delay)
		}
		p := Path(url)
		if !strings.HasPrefix(p, "/") || strings.Contains(p, "#") {
			t.Errorf("Path(%q) = %q", url, p)
		}
		// A rule that spells a literal path matches it.
		rule := newRule(false, 1, strings.NewReplacer("*", "%2A", "$", "%24").Replace(p))
		if !match(rule.spelled, escape(p, false)) && !match(rule.normal, normalize(escape(p, false))) {
			t.Errorf("a rule that spells %q does not match it", p)
		}
	})
}
