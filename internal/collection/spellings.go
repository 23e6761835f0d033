package collection

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"

	"spoor/internal/archive"
	"spoor/internal/weburl"
)

// addSpellings adds to the package the spellings of URLs in a page that differ from the canonical form, as
// "/%7Euser/" for "/~user/". A browser asks a replayer for the spelling.
func (c *writer) addSpellings(page *archive.Page) {
	if bytes.IndexByte(page.Body, '%') < 0 {
		return
	}
	base, err := weburl.Parse(page.URL)
	if err != nil {
		return
	}
	for z := html.NewTokenizer(bytes.NewReader(page.Body)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
		default:
			continue
		}
		tag, more := z.TagName()
		isBase := string(tag) == "base"
		for more {
			var name, value []byte
			name, value, more = z.TagAttr()
			if string(name) != "href" && string(name) != "src" {
				continue
			}
			if isBase {
				if u, err := base.Resolve(string(value)); err == nil {
					base = u
				}
				continue
			}
			if bytes.IndexByte(value, '%') < 0 || len(value) > weburl.MaxLength {
				continue
			}
			if url, spelling, ok := spell(base, string(value)); ok {
				c.packer.Spelling(url, spelling)
			}
		}
	}
}

// spell resolves a link as [weburl.Resolve] does, and as browsers do, which keep escapes as they are. ok is false
// if both are equal.
func spell(base weburl.URL, link string) (url, spelling string, ok bool) {
	u, err := weburl.Resolve(base, link)
	if err != nil {
		return "", "", false
	}
	link, _, _ = strings.Cut(strings.TrimFunc(link, func(c rune) bool { return c <= ' ' }), "#")
	path, _, _ := strings.Cut(link, "?")
	// An escaped percent sign stays as it is, so escapes are hidden by escaping theirs.
	hidden, err := weburl.Resolve(base, strings.ReplaceAll(path, "%", "%25")+"#")
	if err != nil || strings.Contains(strings.ToLower(path), "%2e") { // may be a dot segment
		return "", "", false
	}
	spelling = strings.ReplaceAll(hidden.String(), "%25", "%")
	if query := strings.IndexByte(u.String(), '?'); query >= 0 {
		spelling, _, _ = strings.Cut(spelling, "?") // a link of a query only has the path of its page
		spelling += u.String()[query:]
	}
	return u.String(), spelling, spelling != u.String()
}
