package crawler

import (
	"bytes"
	"net/http"

	"golang.org/x/net/html"

	"spoor/internal/robots"
)

// maxMeta is the number of bytes of a page that are searched for meta elements.
const maxMeta = 64 << 10

// forbidsArchiving returns the reason why the crawler with the name agent must not store a
// response, "" if it may. media is the type of the decoded body, "" if unknown. Meta elements
// of pages in UTF-16 are not found.
func forbidsArchiving(agent string, header http.Header, media string, body []byte) string {
	if robots.XRobotsTag(agent, header.Values("X-Robots-Tag")).NoArchive {
		return "X-Robots-Tag: noarchive"
	}
	switch media {
	case "", "text/html", "application/xhtml+xml":
		if metaDirectives(agent, body[:min(len(body), maxMeta)]).NoArchive {
			return "meta robots: noarchive"
		}
	}
	return ""
}

// metaDirectives returns the directives of all meta elements of a page.
func metaDirectives(agent string, page []byte) (d robots.Directives) {
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return d
		case html.StartTagToken, html.SelfClosingTagToken:
			tag, more := z.TagName()
			if string(tag) != "meta" {
				continue
			}
			var name, content string
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				switch string(key) {
				case "name":
					name = string(value)
				case "content":
					content = string(value)
				}
			}
			d = d.Or(robots.Meta(agent, name, content))
		}
	}
}
