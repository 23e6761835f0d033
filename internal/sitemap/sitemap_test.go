package sitemap

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// all returns the entries of a file, and the error that ended it.
func all(r io.Reader) ([]Entry, error) { return collect(Entries(r)) }

func collect(seq iter.Seq2[Entry, error]) (entries []Entry, err error) {
	for e, fault := range seq {
		if fault != nil {
			err = fault
			continue
		}
		entries = append(entries, e)
	}
	return entries, err
}

// page returns an entry with an address only.
func page(kind Kind, loc string) Entry { return Entry{Kind: kind, Loc: loc, Priority: 0.5} }

// changed returns an entry with an address and a time of change.
func changed(kind Kind, loc, lastmod string) Entry {
	return Entry{Kind: kind, Loc: loc, Priority: 0.5, LastMod: lastmod}
}

const urlset = `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`

var files = []struct {
	name string
	in   string
	want []Entry
	err  error
}{
	{"a sitemap as the protocol has it", urlset + `
  <url>
    <loc> http://a.example/x?y=1&amp;z=&#50;
    </loc>
    <lastmod>2024-02-03T04:05:06+01:00</lastmod>
    <changefreq>Weekly</changefreq>
    <priority>0.8</priority>
  </url>
  <url><loc>http://a.example/</loc></url>
</urlset>`, []Entry{
		{Kind: URLSet, Loc: "http://a.example/x?y=1&z=2", LastMod: "2024-02-03T03:05:06Z", Priority: 0.8, Ranked: true},
		page(URLSet, "http://a.example/"),
	}, nil},
	{"an index", `<sitemapindex><sitemap><loc>http://a.example/1.xml.gz</loc><lastmod>2024-02-03</lastmod></sitemap></sitemapindex>`,
		[]Entry{changed(Index, "http://a.example/1.xml.gz", "2024-02-03")}, nil},
	{"no entry is no fault", `<urlset></urlset>`, nil, nil},
	{"nor is an empty element", ` <urlset xmlns="x" /> `, nil, nil},
	{"prefixes", `<s:urlset xmlns:s="x"><s:url><s:loc>http://a.example/</s:loc><s:lastmod>2024-02-03</s:lastmod></s:url></s:urlset>`,
		[]Entry{changed(URLSet, "http://a.example/", "2024-02-03")}, nil},
	{"capitals", `<URLSet><Url><Loc>http://a.example/</Loc></Url></URLSet>`, []Entry{page(URLSet, "http://a.example/")}, nil},
	{"a wrong namespace", `<urlset xmlns="http://www.w3.org/1999/xhtml"><url><loc>/x</loc></url></urlset>`, []Entry{page(URLSet, "/x")}, nil},
	{"the entries decide, not the root", `<urlset><sitemap><loc>/x.xml</loc></sitemap><url><loc>/x</loc></url></urlset>`,
		[]Entry{page(Index, "/x.xml"), page(URLSet, "/x")}, nil},
	{"a root of another name", `<root><url><loc>/x</loc></url></root>`, []Entry{page(URLSet, "/x")}, nil},
	{"an entry as the root", `<url><loc>/x</loc></url>`, []Entry{page(URLSet, "/x")}, nil},
	{"addresses of pictures and translations are not the page's", `<urlset xmlns:image="i"><url>
		<image:image><image:loc>/p.png</image:loc></image:image><image:loc>/q.png</image:loc>
		<xhtml:link rel="alternate" hreflang="de" href="/de"/>
		<video:video><video:url><loc>/v</loc></video:url></video:video>
		<loc>/x</loc><news:news><news:publication_date>2020-01-01</news:publication_date></news:news>
		</url></urlset>`, []Entry{page(URLSet, "/x")}, nil},
	{"CDATA and comments", `<urlset><url><loc><![CDATA[ http://a.example/?a=1&amp;b>]]]]><!-- <loc> --><![CDATA[/ ]]></loc></url><!-- <url><loc>/no</loc></url> --></urlset>`,
		[]Entry{page(URLSet, "http://a.example/?a=1&amp;b>]]/")}, nil},
	{"bare ampersands, unknown entities, surrogates", `<urlset><url><loc>/?a&b=1&copy=2&amp;c=&nbsp;&#xD800;&#x41;&#;</loc></url></urlset>`,
		[]Entry{page(URLSet, "/?a&b=1&copy=2&c=&nbsp;\ufffdA&#;")}, nil},
	{"a control character costs the address", `<urlset><url><loc>/a&#0;b</loc></url><url><loc>/b</loc></url></urlset>`, []Entry{page(URLSet, "/b")}, nil},
	{"a stray < costs the address", `<urlset><url><loc>/a<1</loc></url> < <url><loc>/b</loc></url></urlset>`, []Entry{page(URLSet, "/b")}, nil},
	{"a < in an attribute costs the entry", `<urlset><url id="<loc>/no</loc>"><loc>/a</loc></url><url><loc>/b</loc></url></urlset>`, []Entry{page(URLSet, "/b")}, nil},
	{"another version of XML", `<?xml version="1.1"?><urlset><url><loc>/a</loc></url></urlset>`, []Entry{page(URLSet, "/a")}, nil},
	{"a syntax error outside the address", `<urlset><url><loc>/a</loc><lastmod>2024-01-01]]></lastmod></url></urlset>`, []Entry{page(URLSet, "/a")}, nil},
	{"more syntax errors than are skipped", `<urlset><url><loc>/a</loc></url>` + strings.Repeat("<1 ", maxFaults+1) + `<url><loc>/b</loc></url></urlset>`,
		[]Entry{page(URLSet, "/a")}, ErrTruncated},
	{"entries that are not closed", `<urlset><url><loc>/a</loc><url><loc>/b</loc></urlset>`, []Entry{page(URLSet, "/a"), page(URLSet, "/b")}, nil},
	{"an end tag that is misspelled", `<urlset><url><loc>/a</lok><priority>1</priority></url></urlset>`,
		[]Entry{{Kind: URLSet, Loc: "/a", Priority: 1, Ranked: true}}, nil},
	{"the first of several counts", `<urlset><url><loc/><loc>/a</loc><loc>/b</loc><priority>x</priority><priority>0,3</priority><priority>0.4</priority><changefreq>never</changefreq><changefreq>daily</changefreq></url></urlset>`,
		[]Entry{{Kind: URLSet, Loc: "/a", Priority: 0.3, Ranked: true}}, nil},
	{"a priority outside its range is none", `<urlset><url><loc>/a</loc><priority>1.1</priority></url><url><loc>/b</loc><priority>NaN</priority></url><url><loc>/c</loc><priority>-0</priority></url></urlset>`,
		[]Entry{page(URLSet, "/a"), page(URLSet, "/b"), {Kind: URLSet, Loc: "/c", Ranked: true}}, nil},
	{"an entry without an address is skipped", `<urlset><url><lastmod>2024-01-01</lastmod></url><url><loc> </loc></url><url/><url><loc>/a</loc></url></urlset>`,
		[]Entry{page(URLSet, "/a")}, nil},
	{"a > in an attribute", `<urlset note="a>b" other='"'><url id="loc>/no&lt;/loc>"><loc>/a</loc></url></urlset>`, []Entry{page(URLSet, "/a")}, nil},
	{"what follows the root does not matter", `<urlset><url><loc>/a</loc></url></urlset><url><loc>/b</loc></url>`, []Entry{page(URLSet, "/a")}, nil},

	{"RSS 2.0", `<rss version="2.0"><channel><title>t</title><link>http://a.example/</link>
		<item><title>one</title><link>http://a.example/1</link><guid>http://a.example/g</guid><pubDate>Sat, 03 Feb 2024 04:05:06 +0100</pubDate></item>
		<item><guid isPermaLink="true">http://a.example/2</guid><dc:date>2024-02-03</dc:date></item>
		<item><guid isPermaLink="false">http://a.example/3</guid></item>
		<item><guid>17</guid></item>
		<item><atom:link rel="self" href="http://a.example/no"/><link><![CDATA[http://a.example/4]]></link><enclosure url="http://a.example/x.mp3"/></item>
		</channel></rss>`, []Entry{
		changed(RSS, "http://a.example/1", "2024-02-03T03:05:06Z"),
		changed(RSS, "http://a.example/2", "2024-02-03"),
		page(RSS, "http://a.example/4"),
	}, nil},
	{"RSS 1.0", `<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><link>http://a.example/</link><items><rdf:Seq><rdf:li resource="http://a.example/1"/></rdf:Seq></items></channel>
		<item rdf:about="http://a.example/1"><link>http://a.example/1</link><dc:date>2024-02-03T04:05:06Z</dc:date></item></rdf:RDF>`,
		[]Entry{changed(RSS, "http://a.example/1", "2024-02-03T04:05:06Z")}, nil},
	{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a.example/"/><updated>2025-01-01T00:00:00Z</updated>
		<entry><link rel="edit" href="/no"/><link href='http://a.example/1?a=1&amp;b=2' rel = 'alternate'/><published>2024-01-01T00:00:00Z</published><updated>2024-02-03T04:05:06Z</updated>
		<source><link href="/no"/></source></entry>
		<entry><link href="http://a.example/2"></link><published>2024-01-01T00:00:00Z</published><id>tag:a.example,2024:2</id></entry></feed>`, []Entry{
		changed(Atom, "http://a.example/1?a=1&b=2", "2024-02-03T04:05:06Z"),
		changed(Atom, "http://a.example/2", "2024-01-01T00:00:00Z"),
	}, nil},

	{"text", "\ufeffhttp://a.example/\r\n\r\n# a comment\rHTTPS://a.example/x y \n ftp://a.example/\nhttp://a.example/&amp;", []Entry{
		page(Text, "http://a.example/"), page(Text, "HTTPS://a.example/x y"), page(Text, "http://a.example/&amp;"),
	}, nil},

	{"an empty sitemap", urlset + `</urlset>`, nil, nil},
	{"an empty index", `<sitemapindex></sitemapindex>`, nil, nil},
	{"an empty feed", `<feed xmlns="http://www.w3.org/2005/Atom"/>`, nil, nil},
	{"an entry without an address", urlset + `<url><lastmod>2024-01-01</lastmod></url></urlset>`, nil, nil},
	{"nothing", "", nil, ErrNoSitemap},
	{"white space", " \n\t", nil, ErrNoSitemap},
	{"words", "Not found", nil, ErrNoSitemap},
	{"a web page", `<!DOCTYPE html><html><head><title>404</title><url><loc>/no</loc></url>`, nil, ErrNoSitemap},
	{"other XML", `<svg:svg><url><loc>/no</loc></url></svg:svg>`, nil, ErrNoSitemap},
	{"more of it", `<note><to>you</to></note>`, nil, ErrNoSitemap},
	{"what breaks off gives what came before", urlset + `<url><loc>/a</loc></url><url><loc>/b</loc><lastmod>2024-01-0`,
		[]Entry{page(URLSet, "/a"), page(URLSet, "/b")}, ErrTruncated},
	{"but no half addresses", urlset + `<url><loc>/a</loc></url><url><loc>/b`, []Entry{page(URLSet, "/a")}, ErrTruncated},
	{"in the middle of a tag", urlset[:len(urlset)-3], nil, ErrTruncated},
	{"in a comment", `<urlset><url><loc>/a</loc></url><!-- </urlset>`, []Entry{page(URLSet, "/a")}, ErrTruncated},
}

func TestEntries(t *testing.T) {
	for _, c := range files {
		t.Run(c.name, func(t *testing.T) {
			for name, in := range map[string]io.Reader{
				"at once": strings.NewReader(c.in), "one by one": iotest.OneByteReader(strings.NewReader(c.in)),
				"with the error": iotest.DataErrReader(strings.NewReader(c.in)), "in gzip": bytes.NewReader(packed(c.in)),
			} {
				got, err := all(in)
				if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
					t.Errorf("%s: error %v, want %v; entries (-want +got):\n%s", name, err, c.err, diff)
				}
			}
		})
	}
}

func TestStop(t *testing.T) {
	for _, c := range files {
		for stop := range c.want {
			n := 0
			for _, err := range Entries(strings.NewReader(c.in)) {
				if err != nil {
					t.Errorf("%s: stopped before %d: %v", c.name, n, err)
				}
				if n++; n > stop {
					break
				}
			}
		}
	}
}

// packed compresses s with gzip.
func packed(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, s)
	_ = z.Close()
	return b.Bytes()
}

func TestTruncatedGzip(t *testing.T) {
	// Random lines do not compress well, so the file has several blocks.
	var list strings.Builder
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		fmt.Fprintf(&list, "http://a.example/%x\n", rng.Uint64())
	}
	whole, err := all(strings.NewReader(list.String()))
	if err != nil || len(whole) != 20_000 {
		t.Fatal(len(whole), err)
	}
	z := packed(list.String())
	got, err := all(bytes.NewReader(z[:len(z)/2]))
	if !errors.Is(err, ErrTruncated) || !errors.Is(err, io.ErrUnexpectedEOF) || len(got) < 5_000 || !cmp.Equal(got, whole[:len(got)]) {
		t.Errorf("%d entries of half a file, %v", len(got), err)
	}
	if _, err := all(bytes.NewReader(z[:5])); !errors.Is(err, ErrTruncated) {
		t.Errorf("of five bytes: %v", err)
	}
	// Several members are one file.
	got, err = all(bytes.NewReader(append(packed("http://a.example/1\nhttp://a"), packed(".example/2\n")...)))
	if want := []Entry{page(Text, "http://a.example/1"), page(Text, "http://a.example/2")}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("of two members: %v, %v", got, err)
	}
}

func TestEncodings(t *testing.T) {
	const text = "http://a.example/ü\n"
	body := func(declared string) string {
		return `<?xml version='1.0' encoding='` + declared + `'?><urlset><url><loc>http://a.example/ü</loc></url></urlset>`
	}
	must := func(b string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	le := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()
	be := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder()
	for name, in := range map[string]string{
		"latin 1":                           must(charmap.ISO8859_1.NewEncoder().String(body("ISO-8859-1"))),
		"windows-1252 behind a line":        "\n" + must(charmap.Windows1252.NewEncoder().String(body("windows-1252"))),
		"utf-8":                             body("utf-8"),
		"an encoding that nobody knows":     body("utf-9"),
		"a mark against the declaration":    "\ufeff" + body("iso-8859-1"),
		"UTF-16, little":                    must(le.String(body("utf-16"))),
		"UTF-16, big":                       must(be.String(body("utf-16"))),
		"UTF-16, little, no mark":           must(le.String(body("utf-16")))[2:],
		"UTF-16, big, no mark":              must(be.String(body("utf-16")))[2:],
		"UTF-16 that is UTF-8":              body("utf-16"),
		"a list in UTF-16":                  must(le.String(text)),
		"a list in UTF-16, big, no mark":    must(be.String(text))[2:],
		"a list in UTF-8":                   text,
		"UTF-16 in gzip":                    string(packed(must(le.String(body("utf-16"))))),
		"an encoding that is a trap (HTML)": body("hz-gb-2312"),
	} {
		got, err := all(strings.NewReader(in))
		if err != nil || len(got) != 1 || got[0].Loc != "http://a.example/ü" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	got, err := all(strings.NewReader("<urlset><url><loc>/\xfc</loc></url></urlset>"))
	if err != nil || len(got) != 1 || got[0].Loc != "/\ufffd" {
		t.Errorf("what is no UTF-8: %v, %v", got, err)
	}
}

var dates = []struct{ in, want string }{
	{"2024", "2024-01-01"},
	{"2024-02", "2024-02-01"},
	{"2024-02-03", "2024-02-03"},
	{"2024-02-03T04:05Z", "2024-02-03T04:05:00Z"},
	{"2024-02-03T04:05:06Z", "2024-02-03T04:05:06Z"},
	{"2024-02-03T04:05:06.789+05:30", "2024-02-02T22:35:06Z"},
	{"2024-02-03T04:05:06", "2024-02-03T04:05:06Z"},
	{"2024-02-03T04:05:06+0100", "2024-02-03T03:05:06Z"},
	{"2024-02-03 04:05:06", "2024-02-03T04:05:06Z"},
	{"2024-02-03 04:05:06 +0000", "2024-02-03T04:05:06Z"},
	{"20240203", "2024-02-03"},
	{"2024/02/03", "2024-02-03"},
	{"Sat, 03 Feb 2024 04:05:06 GMT", "2024-02-03T04:05:06Z"},
	{"Sat, 3 Feb 2024 04:05:06 EST", "2024-02-03T09:05:06Z"},
	{"3 Feb 24 04:05 -0200", "2024-02-03T06:05:00Z"},
	{"03  Feb 2024 04:05:06", "2024-02-03T04:05:06Z"},
	{"Saturday, 03-Feb-24 04:05:06 UTC", "2024-02-03T04:05:06Z"},
	{"2024-02-30", ""},
	{"2024-13", ""},
	{"1970-01-01", ""},
	{"0001-01-01T00:00:00+00:00", ""},
	{"9999-12-31T23:59:59-10:00", ""},
	{"yesterday", ""},
	{"", ""},
	{"17", ""},
	{strings.Repeat("2", 100), ""},
}

func TestLastMod(t *testing.T) {
	for _, d := range dates {
		if got := lastMod(d.in); got != d.want {
			t.Errorf("%q: %q, want %q", d.in, got, d.want)
		}
	}
}

func TestLimits(t *testing.T) {
	const entry = "<url><loc>/x</loc></url>"
	got, err := all(strings.NewReader("<urlset>" + strings.Repeat(entry, MaxEntries) + "</urlset>"))
	if len(got) != MaxEntries || err != nil {
		t.Errorf("as many as allowed: %d, %v", len(got), err)
	}
	got, err = all(strings.NewReader("<urlset>" + strings.Repeat(entry, MaxEntries+1) + "</urlset>"))
	if len(got) != MaxEntries || !errors.Is(err, ErrTooMany) {
		t.Errorf("one more: %d, %v", len(got), err)
	}
	const size = 1 << 20
	full := "<urlset>" + entry + strings.Repeat(" ", size-len("<urlset></urlset>")-len(entry)) + "</urlset>"
	for in, want := range map[string]error{full: nil, strings.Replace(full, "  ", "   ", 1): ErrTooLong} {
		got, err := collect(entries(strings.NewReader(in), size))
		if len(got) != 1 || !errors.Is(err, want) {
			t.Errorf("%d bytes: %d entries, %v", len(in), len(got), err)
		}
	}
	for n, want := range map[int]int{MaxLoc: 1, MaxLoc + 1: 0, 3 * MaxLoc: 0} {
		long := "http://a.example/" + strings.Repeat("x", n-len("http://a.example/"))
		for _, in := range []string{"<urlset><url><loc> " + long + " </loc></url></urlset>", long + "\n"} {
			if got, _ = all(strings.NewReader(in)); len(got) != want {
				t.Errorf("an address of %d bytes: %d entries, want %d", n, len(got), want)
			}
		}
	}
}

// An endless reader repeats s without end.
type endless struct {
	s string
	n int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.s[e.n%len(e.s)]
		e.n++
	}
	return len(p), nil
}

func TestMemoryIsBounded(t *testing.T) {
	bomb := packed("<urlset><url><loc>/a</loc></url>" + strings.Repeat("<a/>", 7<<18))
	laughs := `<?xml version="1.0"?><!DOCTYPE lolz [ <!ENTITY lol "lol"><!-- ' --> <!ENTITY lol2 "` + strings.Repeat("&lol;", 10) + `">
		<!ENTITY lol3 "` + strings.Repeat("&lol2;", 10) + `"> <!ENTITY file SYSTEM "file:///etc/passwd"> <!ELEMENT a (b>c)> ]>
		<urlset><url><loc>/&lol3;&file;</loc></url></urlset>`
	after := func(head, rest string) io.Reader { return io.MultiReader(strings.NewReader(head), &endless{s: rest}) }
	for _, c := range []struct {
		name string
		in   io.Reader
		want string // the addresses
		err  error
	}{
		{"entities that a DTD declares", strings.NewReader(laughs), "/&lol3;&file;", nil},
		{"elements without end", after("<urlset><url><loc>/a</loc>", "<a>"), "/a", ErrTooLong},
		{"end tags without end", after("<urlset><url><loc>/a</loc>", "</a>"), "/a", ErrTooLong},
		{"an address without end", after("<urlset><url><loc>/a</loc></url><url><loc>", "a"), "/a", errToken},
		{"entities without end", after("<urlset><url><loc>/a</loc></url><url><loc>", "&amp;"), "/a", errToken},
		{"a tag without end", after("<urlset><url><loc>/a</loc></url><url ", "a='b' "), "/a", errToken},
		{"a quote without end", after("<urlset><url><loc>/a</loc></url><url a='", ">"), "/a", errToken},
		{"a comment without end", after("<urlset><url><loc>/a</loc></url><!--", "->"), "/a", ErrTruncated},
		{"comments without end", after("<urlset><url><loc>/a</loc></url>", "<!-- -->"), "/a", ErrTooLong},
		{"CDATA without end", after("<urlset><url><loc>/a</loc></url><url><loc><![CDATA[", "]>"), "/a", errToken},
		{"a document type without end", after("<!DOCTYPE a [", "<!ENTITY a 'b'>"), "", errToken},
		{"syntax errors without end", after("<urlset><url><loc>/a</loc></url>", "<1"), "/a", ErrTruncated},
		{"dates without end", after("<urlset><url><loc>/a</loc>", "<lastmod>2024-99-99T99:99:99</lastmod>"), "/a", ErrTooLong},
		{"entries without end", after("<urlset><url><loc>/a</loc></url>", "<url>"), "/a", ErrTooMany},
		{"a line without end", after("http://a.example/\nhttp://", "a"), "http://a.example/", ErrTooLong},
		{"gzip that becomes too much", bytes.NewReader(bomb), "/a", ErrRatio},
	} {
		t.Run(c.name, func(t *testing.T) {
			var locs []string
			var err error
			before := heap()
			var most int64
			for e, fault := range entries(&watched{r: c.in, look: func() { most = max(most, heap()) }}, 8<<20) {
				if fault != nil {
					err = fault
					break
				}
				locs = append(locs, e.Loc)
			}
			if strings.Join(locs, " ") != c.want || !errors.Is(err, c.err) {
				t.Errorf("%q, %v; want %q, %v", locs, err, c.want, c.err)
			}
			if most-before > 16*maxToken {
				t.Errorf("it took %d KiB", (most-before)>>10)
			}
		})
	}
}

// heap returns the size of the heap.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A watched reader calls look from time to time.
type watched struct {
	r    io.Reader
	n    int
	look func()
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if w.n += n; w.n > 1<<20 || err != nil {
		w.n = 0
		w.look()
	}
	return n, err
}

// generated returns a well-formed sitemap of n entries, and their addresses.
func generated(rng *rand.Rand, n int) (file []byte, locs []string) {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="http://i.example/">`)
	for range n {
		var pieces []string
		for range 1 + rng.IntN(6) {
			pieces = append(pieces, []string{"a", "/", "<", "&", "'", "\"", ">", "]]>", "ü", "?q=%20", ";", "&amp;"}[rng.IntN(12)])
		}
		loc := "http://a.example/" + strings.Join(pieces, "")
		locs = append(locs, loc)
		b.WriteString("\n<url>")
		if rng.IntN(3) == 0 {
			b.WriteString("<i:image a='>'><i:loc>/no</i:loc></i:image><!-- <loc>/no</loc> -->")
		}
		b.WriteString("<loc>")
		if rng.IntN(2) == 0 && !strings.Contains(loc, "]]>") {
			b.WriteString("<![CDATA[" + loc + "]]>")
		} else {
			_ = xml.EscapeText(&b, []byte(loc))
		}
		fmt.Fprintf(&b, "</loc><lastmod>%s</lastmod>", time.Unix(1.5e9+rng.Int64N(1e8), 0).UTC().Format(time.RFC3339))
		fmt.Fprintf(&b, "<changefreq>monthly</changefreq><priority>0.%d</priority></url>", rng.IntN(10))
	}
	b.WriteString("</urlset>")
	return b.Bytes(), locs
}

// A document is a sitemap for xml.Unmarshal.
type document struct {
	URLs []struct {
		Loc      string  `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 loc"`
		LastMod  string  `xml:"lastmod"`
		Priority float64 `xml:"priority"`
	} `xml:"url"`
}

func TestAgreesWithUnmarshal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		file, locs := generated(rng, rng.IntN(20))
		got, err := all(bytes.NewReader(file))
		if err != nil || len(got) != len(locs) {
			t.Fatalf("%d entries, want %d, %v: %s", len(got), len(locs), err, file)
		}
		var want document
		if err := xml.Unmarshal(file, &want); err != nil {
			t.Fatalf("%v: %s", err, file)
		}
		for i, e := range got {
			u := want.URLs[i]
			if e != (Entry{URLSet, u.Loc, u.LastMod, u.Priority, true}) || e.Loc != locs[i] {
				t.Fatalf("%+v, want %+v", e, u)
			}
		}
	}
}

func FuzzEntries(f *testing.F) {
	for _, c := range files {
		f.Add([]byte(c.in))
		f.Add(packed(c.in))
	}
	for _, d := range dates {
		f.Add([]byte("<urlset><url><loc>/</loc><lastmod>" + d.in + "</lastmod></url></urlset>"))
	}
	f.Add([]byte("<?xml encoding='shift_jis'?><urlset><url><loc>\x83\x7f</loc></url></urlset>"))
	f.Add([]byte("\xff\xfe<\x00u\x00r\x00l\x00>\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := all(bytes.NewReader(data))
		if len(got) > 0 && errors.Is(err, ErrNoSitemap) {
			t.Errorf("%d entries of what is no sitemap", len(got))
		}
		if err != nil && !errors.Is(err, ErrNoSitemap) && !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrTooLong) && !errors.Is(err, ErrTooMany) && !errors.Is(err, ErrRatio) {
			t.Errorf("an error of another kind: %v", err)
		}
		for _, e := range got {
			if e.Loc == "" || len(e.Loc) > MaxLoc || !utf8.ValidString(e.Loc) || strings.Trim(e.Loc, whitespace) != e.Loc {
				t.Errorf("address %q", e.Loc)
			}
			if !(0 <= e.Priority && e.Priority <= 1) || !e.Ranked && e.Priority != 0.5 {
				t.Errorf("priority %g", e.Priority)
			}
			_, day := time.Parse(time.DateOnly, e.LastMod)
			if _, moment := time.Parse(time.RFC3339, e.LastMod); day != nil && moment != nil && e.LastMod != "" {
				t.Errorf("date %q", e.LastMod)
			}
		}
		slow, slowErr := all(iotest.OneByteReader(bytes.NewReader(data)))
		if !cmp.Equal(got, slow) || fmt.Sprint(err) != fmt.Sprint(slowErr) {
			t.Errorf("byte by byte: %v, %v; at once: %v, %v", slow, slowErr, got, err)
		}
	})
}
