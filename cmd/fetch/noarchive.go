package main

import (
	"bytes"
	"net/http"

	"golang.org/x/net/html"

	"spoor/internal/robots"
)

// maxMeta is how far a page is searched for meta elements that forbid a copy.
const maxMeta = 64 << 10

// forbidden is why no copy of an answer is to be kept, as it is said to the
// crawler that calls itself agent: "" if one may be. media is the type of the
// decoded body, "" if it is not known. Of pages in UTF-16 the meta elements are
// not seen.
func forbidden(agent string, header http.Header, media string, body []byte) string {
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

// metaDirectives are those of all meta elements of a page.
func metaDirectives(agent string, page []byte) (d robots.Directives) {
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return d
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			if string(name) != "meta" {
				continue
			}
			var who, what string
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				switch string(key) {
				case "name":
					who = string(value)
				case "content":
					what = string(value)
				}
			}
			d = d.Or(robots.Meta(agent, who, what))
		}
	}
}
