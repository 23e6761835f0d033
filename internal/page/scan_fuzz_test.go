package page

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// enterBy is the state that follows a start tag, if the tree leaves it to the
// name, as html.Tokenizer does.
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

// tokenized is what html.Tokenizer makes of a page, comments and doctypes left out.
func tokenized(page string, foreign bool) []scanned {
	tokens := []scanned{}
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

func FuzzScannerAgreesWithTokenizer(f *testing.F) {
	for _, page := range []string{
		"<a href=x&amp;y>", "&notit;", "<script><!--<script></script>--></script>x", "<title>&lt;</title>", "<svg><![CDATA[x]]>&",
		"<p a=b a=/>", "<br/>", "<!-- > -->", "<textarea></textareax></textarea >",
	} {
		f.Add(page, false)
		f.Add(page, true)
	}
	var z scanner
	f.Fuzz(func(t *testing.T, page string, foreign bool) {
		page = strings.ToValidUTF8(page, "\uFFFD")
		z.reset(page)
		z.foreign = foreign
		got := slices.DeleteFunc(scan(&z, func(z *scanner) { z.enter(enterBy(z.name)) }), func(token scanned) bool {
			return token[0] == "Comment" || token[0] == "DOCTYPE"
		})
		got = merged(got)
		if diff := cmp.Diff(tokenized(page, foreign), got); diff != "" {
			t.Errorf("%q: html.Tokenizer (-) and scanner (+)\n%s", page, diff)
		}
	})
}

// merged is the tokens with texts made one that follow each other.
func merged(tokens []scanned) []scanned {
	kept := tokens[:0]
	for _, token := range tokens {
		if n := len(kept) - 1; n >= 0 && token[0] == "Character" && kept[n][0] == "Character" {
			kept[n][1] = kept[n][1].(string) + token[1].(string)
		} else {
			kept = append(kept, token)
		}
	}
	return kept
}
