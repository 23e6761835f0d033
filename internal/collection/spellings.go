package collection

import (
	"bytes"

	"golang.org/x/net/html"

	"spoor/internal/archive"
	"spoor/internal/weburl"
)

// addSpellings adds to the package the spellings of URLs in a page that differ from the canonical
// form, as "/%7Euser/" for "/~user/". Browsers request this spelling from a replayer.
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
			u, err := base.Resolve(string(value))
			spelling, _ := weburl.ResolveSpelled(base, string(value))
			if err == nil && spelling != u.String() {
				c.packer.Spelling(u.String(), spelling)
			}
		}
	}
}
