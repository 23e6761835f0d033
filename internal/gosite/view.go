package gosite

import (
	"bytes"
	"cmp"
	"html/template"
	"os"
	"path"
	"slices"
	"strings"
)

// A view is the data of a template: what all pages have, and Data for its kind of page.
type view struct {
	Title       string
	Description string
	Path        string // address of the page, "" if it has none
	Version     string // of Go
	Trail       []link // from the front page to the parent directory
	Aside       []group
	Data        any
}

// A link is a line of a list: a name, its address, and a description. Nodes are such lines too.
type link struct{ Name, URL, Note string }

// A group is a list with a heading, of anything that has a Name and a URL.
type group struct {
	Name  string
	Links any
}

func (s *Site) render(name string, v *view) ([]byte, error) {
	v.Version = s.version
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, name, v)
	return b.Bytes(), err
}

// page returns the page at p, nil if there is none.
func (s *Site) page(p string) ([]byte, error) {
	switch p {
	case "/":
		return s.render("front", &view{
			Title:       "Go documentation",
			Description: "Documentation of the packages, types, functions and source files of " + s.version + ".",
			Path:        p,
			Data:        slices.DeleteFunc(slices.Clone(s.nodes[""].Children), func(n *node) bool { return n.private }),
		})
	case "/packages.html":
		return s.listPage("Packages", p)
	case "/private/":
		return s.listPage("Internal packages", p)
	}

	dir, file := path.Split(strings.TrimPrefix(p, "/private"))
	n := s.nodes[strings.Trim(dir, "/")]
	if n == nil || n.URL()+file != p {
		return nil, nil // includes internal packages outside /private/, and others inside it
	}
	if file == "" {
		return s.packagePage(n)
	}
	d := n.docs()
	hasURL := func(i *item) bool { return i.URL == p }
	if name, isHTML := strings.CutSuffix(file, ".html"); isHTML && slices.Contains(n.files, name) {
		return s.sourcePage(n, name)
	}
	if i := slices.IndexFunc(d.Types, hasURL); i >= 0 {
		return s.symbolPage(d.Types[i], "type")
	}
	if i := slices.IndexFunc(d.funcs, hasURL); i >= 0 {
		return s.symbolPage(d.funcs[i], "func")
	}
	return nil, nil
}

// listPage returns a page that lists all public or all internal packages.
func (s *Site) listPage(title, at string) ([]byte, error) {
	var list []*node
	for _, n := range s.nodes {
		if n.private == (at == "/private/") && n.name != "" {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, byPath)
	return s.render("list", &view{
		Title:       title,
		Description: title + " of " + s.version + ", with a sentence about each.",
		Path:        at,
		Trail:       trail(s.nodes[""]),
		Data:        list,
	})
}

// packagePage returns the page of a directory, which need not be a package.
func (s *Site) packagePage(n *node) ([]byte, error) {
	v := &view{
		Title:       n.Heading() + " - Go documentation",
		Description: cmp.Or(n.synopsis, "The "+n.Heading()+" of "+s.version+"."),
		Path:        n.URL(),
		Trail:       trail(n.parent),
		Data:        n.docs(),
	}
	if n.name != "" {
		v.Title = n.path + " - " + v.Title
	}
	if n.parent != nil && n.parent.path != "" {
		v.Aside = []group{{"Beside " + path.Base(n.path), n.parent.Children}}
	}
	return s.render("package", v)
}

// symbolPage returns the page of a type or function.
func (s *Site) symbolPage(i *item, kind string) ([]byte, error) {
	title := kind + " " + i.name + "." + i.Name
	return s.render(kind, &view{
		Title:       title + " (" + i.node.path + ") - Go documentation",
		Description: cmp.Or(i.Note(), title+" of "+i.Heading()+"."),
		Path:        i.URL,
		Trail:       trail(i.node),
		Aside:       []group{{"Types", i.Types}, {"Functions", i.funcs}},
		Data:        i,
	})
}

// sourcePage returns the page of a Go file.
func (s *Site) sourcePage(n *node, name string) ([]byte, error) {
	text, err := os.ReadFile(s.src + "/" + n.path + "/" + name)
	if err != nil {
		return nil, err
	}
	return s.render("source", &view{
		Title:       n.path + "/" + name + " - Go source",
		Description: "Source file " + name + " of " + n.Heading() + ", " + s.version + ".",
		Path:        n.URL() + name + ".html",
		Trail:       trail(n),
		Aside:       []group{{"Files", n.Files()}},
		Data: struct {
			Name string
			Text template.HTML
		}{name, s.source(string(text))},
	})
}

// trail returns the links from the front page to n, including n.
func trail(n *node) []link {
	var links []link
	for ; n != nil && n.path != ""; n = n.parent {
		links = append(links, link{Name: path.Base(n.path), URL: n.URL()})
	}
	if len(links) > 0 && strings.HasPrefix(links[0].URL, "/private/") {
		links = append(links, link{Name: "internal packages", URL: "/private/"})
	}
	links = append(links, link{Name: "Go", URL: "/"})
	slices.Reverse(links)
	return links
}

// Files returns links to the source files.
func (n *node) Files() []link {
	links := make([]link, len(n.files))
	for i, f := range n.files {
		links[i] = link{Name: f, URL: n.URL() + f + ".html"}
	}
	return links
}

// Imports returns links to the imported packages, and the names of those that have no page.
func (d *docs) Imports() []link {
	links := make([]link, len(d.node.imports))
	for i, p := range d.node.imports {
		links[i].Name = p
		if to := d.site.resolve(p); to != nil {
			links[i].URL = to.URL()
		}
	}
	return links
}
