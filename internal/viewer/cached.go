package viewer

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/encoding/htmlindex"

	"spoor/internal/archive"
	extract "spoor/internal/page"
	"spoor/internal/report"
	"spoor/internal/weburl"
)

// cachedPages reads captures from archives, of which it keeps a few open.
type cachedPages struct {
	mu   sync.Mutex
	open []openArchive // the last used first
}

type openArchive struct {
	name   string
	size   int64
	replay *archive.Replay
}

// maxOpen is the number of archives that are kept open.
const maxOpen = 4

// read returns the capture of an address in an archive. While an archive is written, its name has another ending.
func (c *cachedPages) read(name, address, cache string) (*archive.Page, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	file, size, err := sizeOf(name)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(c.open, func(o openArchive) bool { return o.name == file && o.size == size })
	if at < 0 {
		replay, err := archive.OpenReplay([]string{file}, archive.ReplayOptions{Index: archive.IndexOptions{Cache: cache}})
		if err != nil {
			return nil, err
		}
		for len(c.open) >= maxOpen {
			c.open[len(c.open)-1].replay.Close()
			c.open = c.open[:len(c.open)-1]
		}
		c.open = slices.Insert(c.open, 0, openArchive{file, size, replay})
	} else if at > 0 {
		c.open[0], c.open[at] = c.open[at], c.open[0]
	}
	return c.open[0].replay.Fetch(address)
}

// sizeOf returns the present name and the size of an archive.
func sizeOf(name string) (file string, size int64, err error) {
	for _, file = range []string{name, name + ".open"} {
		info, statErr := os.Stat(file)
		if statErr == nil {
			return file, info.Size(), nil
		}
		err = cmp.Or(err, statErr)
	}
	return "", 0, err
}

// cachedPolicy applies to captures: their styles and their pictures in the page itself are shown, nothing is loaded,
// and no script is run. A capture is an origin of its own, and only somebody who follows a link leaves it.
const cachedPolicy = "sandbox allow-top-navigation-by-user-activation; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// showCached shows where and when a page was captured, and the capture in a frame.
func (s *Server) showCached(w http.ResponseWriter, r *http.Request) {
	hit, err := s.captured(r)
	if err != nil {
		s.noCapture(w, err)
		return
	}
	w.Header().Set("Content-Security-Policy", policy+"; frame-src 'self'")
	show(w, http.StatusOK, "cached", struct {
		Title, URL, Href, Frame string
		Time                    time.Time
	}{report.Text(hit.Title, maxTitle), report.Text(hit.URL, maxURL), report.Link(hit.URL), "/cached/page?" + url.Values{"url": {hit.URL}}.Encode(), hit.Time})
}

// captured returns the page of the index that a request names.
func (s *Server) captured(r *http.Request) (hit capture, err error) {
	if s.search == nil {
		return hit, errNoCapture
	}
	found, ok, err := s.search.index.Page(r.Context(), r.URL.Query().Get("url"))
	if err == nil && !ok {
		err = errNoCapture
	}
	return capture{found.URL, found.Title, found.Archive, found.Time}, err
}

// A capture is a page of the index.
type capture struct {
	URL, Title, Archive string
	Time                time.Time
}

var errNoCapture = errors.New("the page is not in the index")

func (s *Server) noCapture(w http.ResponseWriter, err error) {
	if !errors.Is(err, errNoCapture) && !errors.Is(err, archive.ErrNotArchived) {
		s.warnOnce("a capture could not be read", "err", err)
	}
	fail(w, http.StatusNotFound, "There is no such capture.", "The search shows the pages that were captured.")
}

// showCapture answers with a captured page.
func (s *Server) showCapture(w http.ResponseWriter, r *http.Request) {
	hit, err := s.captured(r)
	if err != nil {
		s.noCapture(w, err)
		return
	}
	p, err := s.search.cached.read(hit.Archive, hit.URL, s.search.cache)
	if err != nil {
		s.noCapture(w, err)
		return
	}
	doc := extract.Document{URL: p.URL, ContentType: p.ContentType(), Charset: p.Charset(), Body: p.Body}
	extractor := extract.NewExtractor()
	content := extractor.Extract(doc)
	shown, err := inert(decoded(p.Body, content.Charset), p.URL)
	if err != nil {
		shown = []byte("<!doctype html><pre>" + html.EscapeString(content.Text) + "</pre>")
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", cachedPolicy)
	h.Set("X-DNS-Prefetch-Control", "off")
	w.Write(shown) // a browser that has gone needs no answer
}

// decoded returns a text as UTF-8.
func decoded(body []byte, charset string) []byte {
	if e, err := htmlindex.Get(charset); err == nil {
		if text, err := e.NewDecoder().Bytes(body); err == nil {
			return text
		}
	}
	return bytes.ToValidUTF8(body, []byte("\uFFFD"))
}

// dropped are elements that load or run something, and those whose content browsers and package html parse in
// different ways. The policy of the page forbids loading; but a browser may connect to the host of a link element
// before it asks the policy.
var dropped = map[string]bool{
	"base": true, "embed": true, "frame": true, "frameset": true, "iframe": true, "link": true, "math": true, "meta": true, "noembed": true,
	"noframes": true, "object": true, "plaintext": true, "script": true, "svg": true, "template": true, "xmp": true,
}

// maxDocument is the length in bytes of the longest document that is shown with its markup.
const maxDocument = 4 << 20

// inert returns a document without the dropped elements. Links lead to the captures of their targets.
func inert(document []byte, address string) ([]byte, error) {
	base, err := weburl.Parse(address)
	if err != nil {
		return nil, err
	}
	if len(document) > maxDocument {
		return nil, errors.New("the document is too long")
	}
	root, err := html.ParseWithOptions(bytes.NewReader(document), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil, err
	}
	for n := range root.Descendants() {
		if n.Data == "base" && n.Type == html.ElementNode {
			i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "href" })
			if i >= 0 {
				if target, err := weburl.Resolve(base, n.Attr[i].Val); err == nil {
					base = target
				}
				break
			}
		}
	}
	for _, n := range slices.Collect(root.Descendants()) {
		switch {
		case n.Type == html.CommentNode || n.Type == html.ElementNode && dropped[n.Data]:
			n.Parent.RemoveChild(n)
		case n.Type == html.ElementNode && n.Data == "noscript": // package html does not escape its text
			n.Data, n.DataAtom = "div", atom.Div
		case n.Type == html.ElementNode && (n.DataAtom == atom.A || n.DataAtom == atom.Area):
			n.Attr = toCaptures(n.Attr, base)
		default:
		}
	}
	var b bytes.Buffer
	err = html.Render(&b, root)
	return b.Bytes(), err
}

// toCaptures returns the attributes of a link, which leads to the capture of its target.
func toCaptures(attributes []html.Attribute, base weburl.URL) (changed []html.Attribute) {
	for _, a := range attributes {
		switch {
		case a.Key == "target" || a.Key == "ping" || a.Key == "download" || a.Key == "xlink:href":
		case a.Key != "href":
			changed = append(changed, a)
		case strings.HasPrefix(strings.TrimSpace(a.Val), "#"):
			changed = append(changed, a)
		default:
			if target, err := weburl.Resolve(base, a.Val); err == nil {
				changed = append(changed, html.Attribute{Key: "href", Val: "/cached?" + url.Values{"url": {target.String()}}.Encode()}, html.Attribute{Key: "target", Val: "_top"})
			}
		}
	}
	return changed
}
