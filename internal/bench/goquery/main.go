// Goquery does what parse does, as one would write it with encoding/json and
// goquery. It reads pages as NDJSON, adds their title, description, keywords, text
// and links, removes their bodies, and writes them.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/url"
	"os"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

type link struct {
	URL    string `json:"url"`
	Anchor string `json:"anchor"`
}

func main() {
	in := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for {
		var page map[string]any
		if err := in.Decode(&page); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		parse(page)
		if err := lines.Encode(page); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func parse(page map[string]any) {
	address, _ := page["url"].(string)
	body, _ := page["body"].(string)
	delete(page, "body")
	base, err := url.Parse(address)
	if err != nil {
		return
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	if err != nil {
		return
	}
	doc.Find("script, style, template").Remove()
	page["title"] = strings.TrimSpace(doc.Find("title").First().Text())
	page["description"] = doc.Find("meta[name=description]").AttrOr("content", "")
	page["keywords"] = doc.Find("meta[name=keywords]").AttrOr("content", "")
	page["text"] = strings.Join(strings.Fields(doc.Find("body").Text()), " ")
	links := []link{}
	for _, a := range doc.Find("a[href]").EachIter() {
		if to, err := base.Parse(strings.TrimSpace(a.AttrOr("href", ""))); err == nil {
			links = append(links, link{to.String(), strings.Join(strings.Fields(a.Text()), " ")})
		}
	}
	page["links"] = links
}
