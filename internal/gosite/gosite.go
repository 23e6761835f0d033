// Package gosite serves the documentation of a Go tree as a web site: a page for
// every package, type, function and source file, with links between them.
//
// Every machine that builds this program has a Go tree, so this is a web site of
// a few thousand pages that can be crawled without a network. A [Site] is an
// [http.Handler], for a server on loopback and for tests in one process.
//
// The addresses, for the package crypto/tls:
//
//	/                                front page
//	/packages.html                   every package, with its synopsis
//	/crypto/                         a directory, whether it is a package or not
//	/crypto/tls/                     a package
//	/crypto/tls/type.Conn.html       a type with its methods and constructors
//	/crypto/tls/func.Dial.html       a function
//	/crypto/tls/tls.go.html          a source file
//	/private/crypto/internal/rand/   an internal package, disallowed by robots.txt
//	/robots.txt, /sitemap.xml, /style.css
//
// No link leaves the site.
//
// The same tree has the same pages on every machine: packages are documented as on
// linux/amd64 without cgo, and the only date is that of the Go release. Test files and
// cmd/vendor are omitted.
package gosite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Site serves the documentation of one Go tree. A package is parsed when its first page
// is requested, and kept. A Site is safe for concurrent use.
type Site struct {
	tree    fs.FS
	version string    // of Go, as in "go1.26.0"
	date    time.Time // of the release, which is the Last-Modified of every page
	nodes   map[string]*node
}

// New returns a site for tree, the root of a Go tree: it holds src and, in a release,
// VERSION. New reads the package and import clauses of every file.
func New(tree fs.FS) (*Site, error) {
	s := &Site{tree: tree, version: "devel", date: time.Unix(0, 0).UTC()}
	text, err := fs.ReadFile(tree, "VERSION")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the version of the tree: %w", err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if i == 0 && line != "" {
			s.version = strings.TrimSpace(line)
		}
		if v, ok := strings.CutPrefix(line, "time "); ok {
			if t, err := time.Parse(time.RFC3339, strings.TrimSpace(v)); err == nil {
				s.date = t.UTC()
			}
		}
	}
	if s.nodes, err = scan(tree); err != nil {
		return nil, fmt.Errorf("reading the packages of the tree: %w", err)
	}
	for _, n := range s.nodes {
		n.docs = sync.OnceValue(func() *docs { return s.parse(n) })
	}
	return s, nil
}

// ServeHTTP implements [http.Handler] for GET and HEAD. Responses have a Last-Modified, the
// date of the Go release, and an ETag, a hash of the page; conditional requests are supported.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this site is only read", http.StatusMethodNotAllowed)
		return
	}
	p := r.URL.Path
	if s.nodes[strings.Trim(p, "/")] != nil && !strings.HasSuffix(p, "/") {
		// Add the slash to the address of a directory, as most servers do.
		if to := s.nodes[strings.Trim(p, "/")].url(); to == p+"/" {
			http.Redirect(w, r, to, http.StatusMovedPermanently)
			return
		}
	}
	kind, body, err := s.page(p, "http://"+r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if body == nil {
		body, err := render("missing", &view{Site: s, Title: "Page not found", Data: p})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		if r.Method == http.MethodGet {
			w.Write(body)
		}
		return
	}
	sum := sha256.Sum256(body)
	w.Header().Set("Content-Type", kind)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, "", s.date, bytes.NewReader(body))
}

// page returns the media type and the content of the page at p, nil if there is none. base
// is the scheme and host for absolute addresses.
func (s *Site) page(p, base string) (kind string, body []byte, err error) {
	const html = "text/html; charset=utf-8"
	switch p {
	case "/":
		body, err = s.frontPage()
		return html, body, err
	case "/packages.html":
		body, err = s.listPage("Packages", p, s.list(false))
		return html, body, err
	case "/private/":
		body, err = s.listPage("Internal packages", p, s.list(true))
		return html, body, err
	case "/style.css":
		return "text/css; charset=utf-8", style, nil
	case "/robots.txt":
		return "text/plain; charset=utf-8", []byte("User-agent: *\nDisallow: /private/\n\nSitemap: " + base + "/sitemap.xml\n"), nil
	case "/sitemap.xml":
		return "application/xml; charset=utf-8", s.sitemap(base), nil
	}

	dir, file := path.Split(strings.TrimPrefix(p, "/private"))
	n := s.nodes[strings.Trim(dir, "/")]
	if n == nil || n.url()+file != p {
		return "", nil, nil // includes internal packages outside /private/, and others inside it
	}
	name, isHTML := strings.CutSuffix(file, ".html")
	switch {
	case file == "":
		body, err = s.packagePage(n)
	case !isHTML:
	case slices.Contains(n.files, name):
		body, err = s.sourcePage(n, name)
	case strings.HasPrefix(name, "type."):
		body, err = s.typePage(n, strings.TrimPrefix(name, "type."))
	case strings.HasPrefix(name, "func."):
		body, err = s.funcPage(n, strings.TrimPrefix(name, "func."))
	}
	return html, body, err
}

// A Page is a page of the site that robots.txt allows.
type Page struct {
	Path string // as in /crypto/tls/type.Conn.html

	// Labels are what the page is about, sorted: the first element of the package
	// path, such as "crypto" for crypto/tls, and the topics of [Topics] that include
	// the package. The front page and the list of packages have none.
	Labels []string
}

// Topics returns the directories that belong to a topic, although their paths do not show
// it. Each stands for everything below it.
func Topics() map[string][]string {
	return map[string][]string{
		"crypto": {"crypto", "hash", "encoding/asn1", "encoding/pem", "vendor/golang.org/x/crypto"},
	}
}

// Pages returns all pages of the site except those under /private/, sorted by path. It
// parses all public packages.
func (s *Site) Pages() []Page {
	pages := []Page{{Path: "/"}, {Path: "/packages.html"}}
	topics := Topics()
	for _, n := range s.nodes {
		if n.private || n.path == "" {
			continue
		}
		labels := []string{n.first()}
		for topic, trees := range topics {
			if slices.ContainsFunc(trees, n.under) && !slices.Contains(labels, topic) {
				labels = append(labels, topic)
			}
		}
		slices.Sort(labels)
		pages = append(pages, Page{n.url(), labels})
		for _, f := range n.files {
			pages = append(pages, Page{n.url() + f + ".html", labels})
		}
		d := n.docs()
		for _, t := range d.Types {
			pages = append(pages, Page{n.url() + "type." + t.Name + ".html", labels})
		}
		for _, f := range d.allFuncs {
			pages = append(pages, Page{n.url() + "func." + f.Name + ".html", labels})
		}
	}
	slices.SortFunc(pages, func(a, b Page) int { return strings.Compare(a.Path, b.Path) })
	return pages
}

// sitemap returns the sitemap of all public pages; see https://www.sitemaps.org/protocol.html.
func (s *Site) sitemap(base string) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
	for _, p := range s.Pages() {
		fmt.Fprintf(&b, "<url><loc>%s%s</loc><lastmod>%s</lastmod></url>\n", escape(base), escape(p.Path), s.date.Format(time.DateOnly))
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}
