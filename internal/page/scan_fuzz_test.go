package page

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// enterBy returns the state after a start tag by its name alone, as in html.Tokenizer.
func enterBy(name atom.Atom) scanState {
	switch name {
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Style, atom.Xmp:
		return rawtext
	case atom.Plaintext:
		return plaintext
	case atom.Script:
		return scriptData
	case atom.Textarea, atom.Title:
		return rcdata
	}
	return data
}

// marked returns the tags and texts of a page; texts separated by comments are joined.
func marked(z *scanner, page string, foreign bool) (tokens []scanned) {
	z.reset(page)
	z.foreign = foreign
	for _, token := range scan(z, func() { z.enter(enterBy(z.name)) }) {
		switch n := len(tokens) - 1; {
		case token[0] == "Comment" || token[0] == "DOCTYPE":
		case token[0] == "Character" && n >= 0 && tokens[n][0] == "Character":
			tokens[n][1] = tokens[n][1].(string) + token[1].(string)
		default:
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// tokenized is marked by html.Tokenizer.
func tokenized(page string, foreign bool) (tokens []scanned) {
	z := html.NewTokenizer(strings.NewReader(page))
	z.AllowCDATA(foreign)
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return tokens
		}
		t := z.Token()
		switch kind {
		case html.TextToken:
			if n := len(tokens) - 1; n >= 0 && tokens[n][0] == "Character" {
				tokens[n][1] = tokens[n][1].(string) + t.Data
			} else if t.Data != "" {
				tokens = append(tokens, scanned{"Character", t.Data})
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			attrs := map[string]any{}
			for _, a := range t.Attr {
				attrs[a.Key] = a.Val
			}
			token := scanned{"StartTag", t.Data, attrs}
			if kind == html.SelfClosingTagToken {
				token = append(token, true)
			}
			tokens = append(tokens, token)
		case html.EndTagToken:
			tokens = append(tokens, scanned{"EndTag", t.Data})
		}
	}
}

// deviates reports whether html.Tokenizer may deviate from the standard: see [scanner].
func deviates(page string) bool {
	return strings.Contains(page, "<![CDATA[") && strings.ContainsAny(page, "&\x00") ||
		strings.Contains(page, "\x00") && strings.Contains(page, "\uFFFD") ||
		inScript.MatchString(page) || slashed.MatchString(page)
}

var (
	inScript = regexp.MustCompile(`(?is)<script.*<!--.*<[^a-z/]`)
	slashed  = regexp.MustCompile(`=\s*([^"'\s>][^\s>]*)?/>`)
)

// pieces is what the seeds of the fuzz targets and the pages of
// TestScannerAgreesWithTokenizerOnScraps consist of: a beginning, and pieces that may follow
// repeatedly.
var pieces = []struct {
	start string
	rest  []string
}{
	{"", strings.Fields("< > / a b p = \" ' & ; # x X 4 1 ! - -- --> <!-- ]]> <![CDATA[ <script </script script <title </title <textarea> </textarea " +
		"<style> </style <plaintext> <xmp> </xmp> &amp &amp; &notit; &notin; &lt &#65; &#x &#128; &#13; &#xD800; &#9999999999 é <!DOCTYPE <a\thref= <A </ <? </> " +
		"=\" \"> /> &ngt; &nGt; A Z !> --!> <noscript> </noscript <iframe> &a &am &NotEqualTilde; <! &CounterClockwiseContourIntegral; &Aacute &acE;")},
	{"<script>", strings.Fields("<script> </script> <!-- --> < - ! / script x > <script </script -- <! SCRIPT </ </scrip \t")},
	{"<script><!--", strings.Fields("<script> </script> --> - / script x > <script </script -- SCRIPT </ </scrip \t")},
	{"<!--", strings.Fields("- -- ! > < x <! <!- <!-- ? / --! -->")},
	{"<a", strings.Fields("a b c = ' \" / > &amp; &lt &gt= &notx < A /> é \x00")},
	{"</a", strings.Fields("a b c = ' \" / > &amp; &lt &gt= &notx < A /> é \x00")},
	{"<title>", strings.Fields("</title </title> TITLE < / </ title > &amp; &lt = ' \" \x00")},
	{"&", strings.Fields("# x X 0 9 1 f F g ; & a m p n o t i l amp not in lt gt copy = 8 D800 10FFFF 110000 128 reg sup1 frac12 Aacute quot ' < there4 b. Gt e c \"")},
	{"<a href=\"&", strings.Fields("# x X 0 9 1 f F g ; & a m p n o t i l amp not in lt gt copy = 8 D800 10FFFF 110000 128 reg sup1 frac12 Aacute quot ' < there4 b. Gt e c \">")},
}

// scraps yields pages of random pieces.
func scraps(n int, yield func(page string)) {
	r := rand.New(rand.NewPCG(13, 2))
	blank := []string{" ", "\n", "\r", "\r\n", "\t", "\f", "\x00"}
	for i := range n {
		from := pieces[i%len(pieces)]
		var page strings.Builder
		page.WriteString(from.start)
		for range 1 + r.IntN(12) {
			if r.IntN(8) == 0 {
				page.WriteString(blank[r.IntN(len(blank))])
			} else {
				page.WriteString(from.rest[r.IntN(len(from.rest))])
			}
		}
		yield(page.String())
	}
}

func TestScannerAgreesWithTokenizerOnScraps(t *testing.T) {
	var z scanner
	compared := 0
	scraps(20_000, func(page string) {
		if deviates(page) {
			return
		}
		compared++
		foreign := compared%2 == 0
		if diff := cmp.Diff(tokenized(page, foreign), marked(&z, page, foreign)); diff != "" {
			t.Fatalf("%q: html.Tokenizer (-) and scanner (+)\n%s", page, diff)
		}
	})
	t.Logf("%d pages", compared)
}

// If html.Tokenizer is fixed, this test fails, and the comment on scanner can be shortened.
func TestDeviationsOfTokenizer(t *testing.T) {
	var z scanner
	for _, page := range []string{
		"<![CDATA[&amp;]]>", "<![CDATA[\x00]]>", "<script><!-- < <script></script>", "<p a=1 a=2/>", "<p \x00=1 \uFFFD=2>",
	} {
		if !deviates(page) || cmp.Equal(tokenized(page, true), marked(&z, page, true)) {
			t.Errorf("%q: no difference", page)
		}
	}
}

func FuzzScannerAgreesWithTokenizer(f *testing.F) {
	scraps(10*len(pieces), func(page string) { f.Add(page, len(page)%2 == 0) })
	var z scanner
	f.Fuzz(func(t *testing.T, page string, foreign bool) {
		page = strings.ToValidUTF8(page, "\uFFFD")
		if deviates(page) {
			t.Skip()
		}
		if diff := cmp.Diff(tokenized(page, foreign), marked(&z, page, foreign)); diff != "" {
			t.Errorf("%q: html.Tokenizer (-) and scanner (+)\n%s", page, diff)
		}
	})
}
