package page

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A scanned is a token in the format of html5lib's tests.
type scanned []any

// scan reads the rest of the page of z, and calls entered after every start tag.
func scan(z *scanner, entered func()) []scanned {
	tokens := []scanned{}
	for {
		switch kind := z.next(); kind {
		case endOfPage:
			return tokens
		case textToken:
			if n := len(tokens) - 1; n >= 0 && tokens[n][0] == "Character" {
				tokens[n][1] = tokens[n][1].(string) + z.text()
				continue
			}
			tokens = append(tokens, scanned{"Character", strings.Clone(z.text())})
		case startTag:
			attrs := map[string]any{}
			for p := z.nameEnd; ; {
				a, next, ok := z.attribute(p)
				if !ok {
					break
				}
				name := strings.Clone(normalName(z.page[a.name:a.nameEnd]))
				if _, ok := attrs[name]; !ok {
					attrs[name] = strings.Clone(z.value(&a))
				}
				p = next
			}
			token := scanned{"StartTag", strings.Clone(z.tag), attrs}
			if z.selfClosing {
				token = append(token, true)
			}
			tokens = append(tokens, token)
			entered()
		case endTag:
			tokens = append(tokens, scanned{"EndTag", strings.Clone(z.tag)})
		case comment:
			tokens = append(tokens, scanned{"Comment", strings.Clone(z.text())})
		case doctype:
			tokens = append(tokens, scanned{"DOCTYPE"})
		}
	}
}

// TestHTML5libTokens compares the tokens of html5lib's tests. Parse errors are not compared,
// because the scanner reports none. Pages must be valid UTF-8, so lone surrogates are replaced
// by U+FFFD first. xmlViolation.test is left out: it is for trees that become XML.
func TestHTML5libTokens(t *testing.T) {
	states := map[string]scanState{
		"Data state": data, "RCDATA state": rcdata, "RAWTEXT state": rawtext,
		"Script data state": scriptData, "PLAINTEXT state": plaintext, "CDATA section state": cdata,
	}
	files, err := filepath.Glob(filepath.Join(testfile.Shared(t, "suites/html5lib/tokenizer"), "*.test"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files of tests", err)
	}
	var z scanner
	passed, all, left := 0, 0, 0
	for _, path := range files {
		b := testfile.Read(t, path)
		type test struct {
			Description, Input, LastStartTag string
			Output                           []scanned
			InitialStates                    []string
			DoubleEscaped                    bool
		}
		var file struct{ Tests, XMLViolationTests []test }
		if err := json.Unmarshal(b, &file); err != nil {
			t.Fatal(err)
		}
		left += len(file.XMLViolationTests)
		for _, test := range file.Tests {
			if test.DoubleEscaped {
				test.Input = unescaped(test.Input)
				for _, token := range test.Output {
					unescapeAll(token)
				}
			}
			for i, token := range test.Output {
				if token[0] == "DOCTYPE" {
					test.Output[i] = token[:1] // the scanner does not parse it
				}
			}
			if len(test.InitialStates) == 0 {
				test.InitialStates = []string{"Data state"}
			}
			for _, name := range test.InitialStates {
				all++
				state, ok := states[name]
				if !ok {
					t.Fatalf("%s: no state %q", path, name)
				}
				z.reset(test.Input)
				z.last = test.LastStartTag
				z.enter(state)
				got := scan(&z, func() {})
				if diff := cmp.Diff(test.Output, got); diff != "" {
					t.Errorf("%s: %s (%s): %q\n%s", filepath.Base(path), test.Description, name, test.Input, diff)
					continue
				}
				passed++
			}
		}
	}
	t.Logf("%d of %d tests in %d files; %d of XML left out", passed, all, len(files), left)
}

// unescaped decodes \uHHHH in s.
func unescaped(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, `\u`)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		r, err := strconv.ParseUint(after[:4], 16, 32)
		if err != nil {
			panic(err)
		}
		b.WriteRune(rune(r))
		s = after[4:]
	}
}

// unescapeAll decodes \uHHHH in a token.
func unescapeAll(token []any) {
	for i, v := range token {
		switch v := v.(type) {
		case string:
			token[i] = unescaped(v)
		case map[string]any:
			for name, value := range v {
				delete(v, name)
				v[unescaped(name)] = unescaped(value.(string))
			}
		}
	}
}

// TestQuirksModeAgreesWithTree compares where a table in a p element goes.
func TestQuirksModeAgreesWithTree(t *testing.T) {
	pages := []string{
		"<!DOCTYPE html>", "<!doctype html>", "<!DOCTYPE HTML>", "<!DOCTYPE Html >", "<!DOCTYPE>", "<!DOCTYPE >", "<!DOCTYPEhtml>",
		"<!DOCTYPE html x>", "<!DOCTYPE html public>", "<!DOCTYPE html PUBLIC x>", "<!DOCTYPE html SYSTEM>", "<!DOCTYPE html SYSTEM x>",
		"<!DOCTYPE html systemx'y'>", "<!DOCTYPE\r\nhtml\r\n>", "<!DOCTYPE html publish>", "<!DOCTYPE html publishing>",
		`<!DOCTYPE html SYSTEM "about:legacy-compat">`, `<!DOCTYPE html SYSTEM "about:legacy-compat" >`, `<!DOCTYPE html SYSTEM "x" y>`,
		`<!DOCTYPE html SYSTEM "x>`, `<!DOCTYPE html PUBLIC "x>`, `<!DOCTYPE html PUBLIC "x">`, `<!DOCTYPE html PUBLIC "x" "y>`, `<!DOCTYPE html PUBLIC "x" y>`,
		`<!DOCTYPE html PUBLIC "x""y">`, `<!DOCTYPE html PUBLIC"x"'y'>`, `<!DOCTYPE html PUBLIC "x" "y" z>`, `<!DOCTYPE html PUBLIC "x" "y" >`,
		`<!DOCTYPE html system 'HTTP://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd'>`,
		`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">`,
		`<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">`,
		`<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN">`,
		`<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">`, `<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "">`,
		`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">`,
		`<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.0 Transitional//EN" "x">`, `<!DOCTYPE html PUBLIC "html" "x">`, `<!DOCTYPE html PUBLIC "htmls" "x">`,
		`<!DOCTYPE html &quot;>`, `<!DOCTYPE &#104;tml>`, `<!DOCTYPE html SYSTEM &#34;&#34;>`, `<!DOCTYPE html PUBLIC &quot;html&quot; "">`,
	}
	for _, id := range []string{"+//Silmaril//dtd html Pro v0r11 19970101//", "-//IETF//DTD HTML//", "-//W3C//DTD HTML 3.2 Final//", "-//W3O//DTD W3 HTML Strict 3.0//EN//"} {
		pages = append(pages, `<!DOCTYPE html PUBLIC "`+id+`" "x">`, `<!DOCTYPE html PUBLIC '`+strings.ToUpper(id)+`y' 'x'>`)
	}
	var (
		z scanner
		c construction
	)
	for _, page := range pages {
		root, err := html.Parse(strings.NewReader(page + "<p><table>"))
		if err != nil {
			t.Fatal(err)
		}
		want := false
		for n := range root.Descendants() {
			want = want || n.DataAtom == atom.Table && n.Parent.DataAtom == atom.P
		}
		z.reset(page)
		if kind := z.next(); kind != doctype {
			t.Fatalf("%s is a token of kind %d", page, kind)
		}
		c.isQuirky(page)
		if got := c.isQuirky(page); got != want { // remembered
			t.Errorf("%s: %t, want %t", page, got, want)
		}
	}
}
