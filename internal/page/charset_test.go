package page

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"spoor/internal/testfile"

	"golang.org/x/text/encoding"
)

var charsetTable = []struct {
	name, declared, body string
	charset, text        string
}{
	{"byte order mark before all", "iso-8859-2", "\xEF\xBB\xBF<meta charset=big5>é", "utf-8", "é"},
	{"UTF-16 by its mark", "utf-8", "\xFE\xFF\x00<\x00p\x00>\x20\xAC", "utf-16be", "€"},
	{"UTF-16 by the header", "utf-16", "<\x00p\x00>\x00a\x00", "utf-16le", "a"},
	{"UTF-16 by the header, but its bytes are ASCII", "utf-16", "<meta charset=koi8-r>\xC1", "koi8-r", "а"},
	{"UTF-16 by its look, whatever the header says", "utf-8", "\x00<\x00p\x00>\x00a", "utf-16be", "a"},
	{"UTF-16 by its look", "", "<\x00p\x00>\x00a\x00", "utf-16le", "a"},
	{"header before meta", "ISO-8859-2", "<meta charset=utf-8>\xB1", "iso-8859-2", "ą"},
	{"a header nobody knows", "klingon", "<meta charset=iso-8859-2>\xB1", "iso-8859-2", "ą"},
	{"meta charset", "", "<META CharSet=' Windows-1251 '>\xE9", "windows-1251", "й"},
	{"meta http-equiv", "", `<meta content="text/html; charset = 'koi8-r'" http-equiv=content-type>` + "\xC1", "koi8-r", "а"},
	{"content without http-equiv", "", `<meta content="text/html; charset=koi8-r">` + "\xC1", "windows-1252", "Á"},
	{"the first meta that declares", "", "<meta name=x><meta charset=nonsense><meta charset=koi8-r><meta charset=big5>\xC1", "koi8-r", "а"},
	{"meta in a comment", "", "<!-- <meta charset=koi8-r> --><p>\xC1", "windows-1252", "Á"},
	{"meta in an attribute", "", `<p title="<meta charset=koi8-r>">` + "\xC1", "windows-1252", "Á"},
	{"meta in a script", "", `<script>x = "<meta charset=gbk>"</script><meta charset=koi8-r>` + "\xC1", "koi8-r", "а"},
	{"meta in a style", "", "<style><meta charset=gbk></style><p>\xC1", "windows-1252", "Á"},
	{"meta in a title", "", "<title><meta charset=gbk></title><meta charset=koi8-r><p>\xC1", "koi8-r", "а"},
	{"meta in a text area", "", "<textarea><meta charset=gbk></textarea><p>\xC1", "windows-1252", "<meta charset=gbk>\nÁ"},
	{"meta in the fallback of a script", "", "<noscript><meta charset=koi8-r></noscript><p>\xC1", "koi8-r", "а"},
	{"meta in the body", "", "<body><p>\xC1<meta charset=koi8-r>", "koi8-r", "а"},
	{"meta far down in the body", "", "<body><p>\xC1 " + strings.Repeat("x", 1024) + "<meta charset=koi8-r>", "windows-1252", "Á " + strings.Repeat("x", 1024)},
	{"meta far down in a long head", "", strings.Repeat("<link rel=x href=y>", 5000) + "<meta charset=koi8-r><p>\xC1", "koi8-r", "а"},
	{"meta too far down", "", "<style>" + strings.Repeat("x", maxPrescan) + "</style><meta charset=koi8-r><p>\xC1", "windows-1252", "Á"},
	{"meta far down", "", "<script>" + strings.Repeat("x", 5000) + "</script><meta charset=koi8-r>\xC1", "koi8-r", "а"},
	{"meta that says UTF-16 in ASCII", "", "<meta charset=utf-16>é", "utf-8", "é"},
	{"XML declaration", "", `<?xml version="1.0" encoding='iso-8859-5'?><p>` + "\xD0", "iso-8859-5", "а"},
	{"Shift_JIS", "x-sjis", "\x93\xFA\x96\x7B", "shift_jis", "日本"},
	{"EUC-KR", "ks_c_5601-1987", "\xC7\xD1", "euc-kr", "한"},
	{"GB", "gb2312", "\xD6\xD0", "gbk", "中"},
	{"nothing said, UTF-8", "", "é", "utf-8", "é"},
	{"nothing said, no UTF-8", "", "caf\xE9 \x96", "windows-1252", "café –"},
	{"nothing said, ISO-2022-JP", "", "<p>\x1b$BF|K\\\x1b(B", "iso-2022-jp", "日本"},
	{"nothing said, ASCII", "", "a", "windows-1252", "a"},
	{"UTF-8 said, Latin-1 meant", "utf-8", "caf\xE9 cr\xE8me", "windows-1252", "café crème"},
	{"UTF-8 said by the header, the truth in meta", "utf-8", "<meta charset=koi8-r>\xC1\xC2", "koi8-r", "аб"},
	{"UTF-8, cut in a letter", "utf-8", "éééé\xC3", "utf-8", "éééé\uFFFD"},
	{"UTF-8, not said, cut in a letter", "", "é\xC3", "utf-8", "é\uFFFD"},
	{"UTF-8, not said, cut in its only letter", "", "e\xC3", "windows-1252", "eÃ"},
	{"UTF-8, not said, with a stray byte", "", "éééé éééé \xFF é", "utf-8", "éééé éééé \uFFFD é"},
	{"UTF-8, not said, with much else", "", "café, cr\xE8me, d\xE9j\xE0 \xE9t\xE9", "windows-1252", "cafÃ©, crème, déjà été"},
	{"Latin-1 said, UTF-8 meant", "iso-8859-1", "café", "utf-8", "café"},
	{"Latin-1 said, UTF-8 with a stray byte meant", "iso-8859-1", "éééé éééé \xE9 é", "utf-8", "éééé éééé \uFFFD é"},
	{"Latin-9 said, UTF-8 meant", "iso-8859-15", "10 €\xE2", "utf-8", "10 €\uFFFD"},
	{"Russian said, UTF-8 meant", "koi8-r", "éé", "koi8-r", "ц╘ц╘"},
	{"ASCII said, ASCII meant", "us-ascii", "a", "windows-1252", "a"},
	{"an encoding that is only a danger", "iso-2022-kr", "a b", "windows-1252", "a b"},
	{"UTF-7 is none", "utf-7", "+AGE-", "windows-1252", "+AGE-"},
	{"overlong and surrogates", "utf-8", "éééééé \xC0\x80 \xED\xA0\x80", "utf-8", "éééééé \uFFFD \uFFFD"},
}

func TestCharsets(t *testing.T) {
	for _, test := range charsetTable {
		t.Run(test.name, func(t *testing.T) {
			c := NewExtractor().Extract(Document{URL: here, ContentType: "text/html", Charset: test.declared, Body: []byte(test.body)})
			if c.Charset != test.charset || c.Text != test.text {
				t.Errorf("read %q as %s, want %q as %s", c.Text, c.Charset, test.text, test.charset)
			}
		})
	}
}

func TestQueryEncoding(t *testing.T) {
	for _, test := range []struct{ charset, ref, want string }{
		{"utf-8", "é?é", "%C3%A9?%C3%A9"},
		{"", "é?é", "%C3%A9?%C3%A9"}, // the bytes are UTF-8
		{"windows-1251", "?q=мир&x=%E9#мир", "page.html?q=%EC%E8%F0&x=%E9"},
		{"koi8-r", "мир?мир", "%D0%BC%D0%B8%D1%80?%CD%C9%D2"},
		{"shift_jis", "?日本 ソ", "page.html?%93%FA%96{%20%83\\"},
		{"euc-jp", "//日本.jp/?日本", "http://xn--wgv71a.jp/?%C6%FC%CB%DC"},
		{"iso-2022-jp", "?日é本a", "page.html?%1B$BF|%1B(B%26%23233%3B%1B$BK\\%1B(Ba"},
		{"gbk", "?中文€😀", "page.html?%D6%D0%CE%C4%80%26%23128512%3B"},
		{"big5", "?†", "page.html?%26%238224%3B"},
		{"windows-1252", "?" + strings.Repeat("é†Ж", 200), "page.html?" + strings.Repeat("%E9%86%26%231046%3B", 200)},
	} {
		t.Run(test.charset, func(t *testing.T) {
			body := `<base href="http://example.org/dir/page.html"><a href="` + test.ref + `">x</a>`
			if enc, name := lookup(test.charset); enc != nil && name != utf8Name {
				body = fromUTF8(t, enc, body)
			}
			c := NewExtractor().Extract(Document{URL: here, ContentType: "text/html", Charset: test.charset, Body: []byte(body)})
			want := test.want
			if !strings.HasPrefix(want, "http") {
				want = "http://example.org/dir/" + want
			}
			if len(c.Links) != 1 || c.Links[0].URL != want {
				t.Errorf("links %+v, want %q", c.Links, want)
			}
		})
	}
}

// fromUTF8 encodes a page, with character references for what the encoding lacks.
func fromUTF8(t *testing.T, enc encoding.Encoding, page string) string {
	t.Helper()
	encoded, err := encoding.HTMLEscapeUnsupported(enc.NewEncoder()).String(page)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// TestQueryEncodingOfURLStandard runs the cases of web-platform-tests.
func TestQueryEncodingOfURLStandard(t *testing.T) {
	data := testfile.Read(t, testfile.Shared(t, "suites/wpt-url/tests/wpt/percent-encoding.json"))
	var cases []json.RawMessage
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	differ := map[string]string{
		"\u000EA iso-2022-jp":  "of a query in ASCII the encoder is not asked",
		"\u203E\\ iso-2022-jp": "x/text writes no JIS X 0201 Roman",
		"\u2212 shift_jis":     "x/text takes no U+2212 for U+FF0D",
		"\uE5E5 gb18030":       "x/text has four bytes for this private character",
	}
	seen := 0
	for _, c := range cases {
		var test struct {
			Input  string
			Output map[string]string
		}
		if json.Unmarshal(c, &test) != nil {
			continue // a comment
		}
		for name, want := range test.Output {
			r := newResolver(here, "", queryEncoder(name))
			seen++
			got := strings.TrimPrefix(r.resolve("?"+test.Input), here+"?")
			if reason, known := differ[test.Input+" "+name]; got != want && known {
				t.Logf("%q in %s is %s, not %s: %s", test.Input, name, got, want, reason)
			} else if got != want || known {
				t.Errorf("%q in %s is %s, want %s", test.Input, name, got, want)
			}
		}
	}
	t.Logf("%d cases", seen)
}

// TestEncodingSuite runs the cases of html5lib, except scripted/tests1.dat, whose page writes
// its declaration by a script, and chardet, which is in [TestChardetSuite]. In three cases, the
// standard's prescan takes text in a script or style for a declaration. This package, as browsers,
// never does, because such text is often part of another page.
func TestEncodingSuite(t *testing.T) {
	const inScripts = 3
	cases, scripts, failed := 0, 0, 0
	for _, name := range []string{"tests1.dat", "tests2.dat", "test-yahoo-jp.dat"} {
		data := testfile.Read(t, testfile.Shared(t, "suites/html5lib/encoding/"+name))
		for part := range bytes.SplitSeq(append([]byte("\n"), data...), []byte("\n#data\n")) {
			body, want, ok := bytes.Cut(part, []byte("\n#encoding\n"))
			if !ok {
				continue
			}
			cases++
			label, _, _ := strings.Cut(string(want), "\n")
			_, wantName := lookup(label)
			before, _, _ := bytes.Cut(body, []byte("<meta"))
			if i := bytes.LastIndex(before, []byte("<s")); i >= 0 && !bytes.Contains(before[i:], []byte("</")) {
				scripts++
				wantName = westernName
			}
			if _, got, _ := (&Document{Body: body}).decode(true); got != wantName {
				failed++
				t.Logf("%s: %.200q: read as %s, want %s", name, body, got, wantName)
			}
		}
	}
	t.Logf("%d cases", cases)
	if failed > 0 || scripts != inScripts {
		t.Errorf("%d cases differ; %d have a declaration in a script, %d are known", failed, scripts, inScripts)
	}
}
