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
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

//go:embed style.css
var style []byte

//go:embed pages.tmpl
var pagesText string

var pages = template.Must(template.New("pages").Parse(pagesText))

// A Site serves the documentation of one Go tree. A package is parsed when its first page
// is requested, and kept. A Site is safe for concurrent use.
type Site struct {
	src     string    // directory of the sources
	version string    // of Go, as in "go1.26.0"
	date    time.Time // of the release, which is the Last-Modified of every page
	nodes   map[string]*node
}

// New returns a site for the Go tree in a directory, which holds src and, in a release,
// VERSION. New reads the package and import clauses of every file.
func New(root string) (*Site, error) {
	tree := os.DirFS(root)
	text, err := fs.ReadFile(tree, "VERSION")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the version of the tree: %w", err)
	}
	s := &Site{src: root + "/src", date: time.Unix(0, 0).UTC()}
	version, rest, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if s.version = strings.TrimSpace(version); s.version == "" {
		s.version = "devel"
	}
	if t, err := time.Parse("time "+time.RFC3339, strings.TrimSpace(rest)); err == nil {
		s.date = t.UTC()
	}
	if err := s.scan(tree); err != nil {
		return nil, fmt.Errorf("reading the packages of the tree: %w", err)
	}
	return s, nil
}

// ServeHTTP implements [http.Handler] for GET and HEAD. Responses have a Last-Modified, the
// date of the Go release, and an ETag, a hash of the page; conditional requests are supported.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this site is read-only", http.StatusMethodNotAllowed)
		return
	}
	p := r.URL.Path
	if n := s.nodes[strings.Trim(p, "/")]; n != nil && n.URL() == p+"/" {
		// Add the slash to the address of a directory, as most servers do.
		http.Redirect(w, r, n.URL(), http.StatusMovedPermanently)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	var body []byte
	var err error
	switch p {
	case "/style.css":
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		body = style
	case "/robots.txt":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		body = []byte("User-agent: *\nDisallow: /private/\n\nSitemap: http://" + r.Host + "/sitemap.xml\n")
	case "/sitemap.xml":
		w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		body = s.sitemap("http://" + r.Host)
	default:
		body, err = s.page(p)
	}
	status := http.StatusOK
	if body == nil && err == nil {
		status = http.StatusNotFound
		body, err = s.render("missing", &view{Title: "Page not found", Data: p})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if status != http.StatusOK {
		w.WriteHeader(status)
		w.Write(body) // without effect in an answer to HEAD
		return
	}
	sum := sha256.Sum256(body)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, "", s.date, bytes.NewReader(body))
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
		first, _, _ := strings.Cut(n.path, "/")
		labels := []string{first}
		for topic, trees := range topics {
			if slices.ContainsFunc(trees, n.under) && topic != first {
				labels = append(labels, topic)
			}
		}
		slices.Sort(labels)
		pages = append(pages, Page{n.URL(), labels})
		d := n.docs()
		for _, l := range n.Files() {
			pages = append(pages, Page{l.URL, labels})
		}
		for _, i := range slices.Concat(d.Types, d.funcs) {
			pages = append(pages, Page{i.URL, labels})
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
		fmt.Fprintf(&b, "<url><loc>%s%s</loc><lastmod>%s</lastmod></url>\n", template.HTMLEscapeString(base), template.HTMLEscapeString(p.Path), s.date.Format(time.DateOnly))
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}
