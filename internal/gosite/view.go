package gosite

import (
	"bytes"
	_ "embed"
	"go/ast"
	"go/doc"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed style.css
var style []byte

//go:embed pages.tmpl
var pagesText string

var pages = template.Must(template.New("pages").Parse(pagesText))

// A view is the data of a template: what all pages have, and Data for its kind of page.
type view struct {
	Site        *Site
	Title       string
	Description string
	Path        string // address of the page, "" if it has none
	Trail       []link // from the front page to the parent directory
	Aside       []group
	Data        any
}

// Version returns the version of Go that is documented.
func (v *view) Version() string { return v.Site.version }

// A link is a line of a list: a name, its address, and a description.
type link struct{ Name, URL, Note string }

// A group is a list with a heading.
type group struct {
	Name  string
	Links []link
}

// An item is a declaration and its documentation.
type item struct {
	Name   string
	IDs    []string
	Decl   template.HTML
	Doc    template.HTML
	Note   string // the first sentence of Doc
	URL    string // address of its own page, if any
	Source string // address of its source line
}

func render(name string, v *view) ([]byte, error) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// trail returns the links from the front page to n, including n.
func trail(n *node) []link {
	var links []link
	for ; n != nil; n = n.parent {
		name := path.Base(n.path)
		if n.path == "" {
			name = "Go"
		}
		links = append(links, link{Name: name, URL: n.url()})
	}
	slices.Reverse(links)
	if last := len(links) - 1; last > 0 && strings.HasPrefix(links[last].URL, "/private/") {
		links = slices.Insert(links, 1, link{Name: "internal packages", URL: "/private/"})
	}
	return links
}

func nodeLinks(nodes []*node) []link {
	links := make([]link, len(nodes))
	for i, n := range nodes {
		links[i] = link{n.path, n.url(), n.synopsis}
	}
	return links
}

// list returns the packages of the site, sorted by path.
func (s *Site) list(private bool) []*node {
	var list []*node
	for _, n := range s.nodes {
		if n.private == private && n.name != "" {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, byPath)
	return list
}

func (s *Site) frontPage() ([]byte, error) {
	top := s.nodes[""].children
	return render("front", &view{
		Site:        s,
		Title:       "Go documentation",
		Description: "Documentation of the packages, types, functions and source files of " + s.version + ".",
		Path:        "/",
		Data:        nodeLinks(slices.DeleteFunc(slices.Clone(top), func(n *node) bool { return n.private })),
	})
}

func (s *Site) listPage(title, at string, list []*node) ([]byte, error) {
	return render("list", &view{
		Site:        s,
		Title:       title,
		Description: title + " of " + s.version + ", with a sentence about each.",
		Path:        at,
		Trail:       trail(s.nodes[""]),
		Data:        nodeLinks(list),
	})
}

// packagePage returns the page of a directory, which need not be a package.
func (s *Site) packagePage(n *node) ([]byte, error) {
	d := n.docs()
	consts, err := s.values(n, d.Consts)
	if err != nil {
		return nil, err
	}
	vars, err := s.values(n, d.Vars)
	if err != nil {
		return nil, err
	}
	funcs, err := s.funcs(n, d.Funcs)
	if err != nil {
		return nil, err
	}
	type typeItem struct {
		item
		Funcs []item
	}
	var types []typeItem
	for _, t := range d.Types {
		ti := typeItem{item: item{Name: t.Name, Note: d.Synopsis(t.Doc), URL: d.symbols[t.Name], Source: s.position(n, t.Decl)}}
		if ti.Funcs, err = s.funcs(n, t.Funcs); err != nil {
			return nil, err
		}
		types = append(types, ti)
	}
	var imports []link
	for _, p := range n.imports {
		l := link{Name: p}
		if to := resolve(s.nodes, p); to != nil {
			l.URL = to.url()
		}
		imports = append(imports, l)
	}

	v := &view{
		Site:        s,
		Title:       n.title() + " - Go documentation",
		Description: n.synopsis,
		Path:        n.url(),
		Trail:       trail(n.parent),
		Data: struct {
			Heading, ImportPath           string
			Doc                           template.HTML
			Consts, Vars, Funcs           []item
			Types                         []typeItem
			Files                         []link
			Imports, ImportedBy, Children []link
		}{
			n.title(), n.path, s.comment(n, d.Doc), consts, vars, funcs, types,
			s.fileLinks(n), imports, nodeLinks(n.importedBy), nodeLinks(n.children),
		},
	}
	if n.name != "" {
		v.Title = n.path + " - " + v.Title
	}
	if v.Description == "" {
		v.Description = "The " + n.title() + " of " + s.version + "."
	}
	if n.parent != nil && n.parent.path != "" {
		v.Aside = append(v.Aside, group{"Beside " + path.Base(n.path), nodeLinks(n.parent.children)})
	}
	return render("package", v)
}

// typePage returns the page of a type, nil if there is none of that name.
func (s *Site) typePage(n *node, name string) ([]byte, error) {
	d := n.docs()
	i := slices.IndexFunc(d.Types, func(t *doc.Type) bool { return t.Name == name })
	if i < 0 {
		return nil, nil
	}
	t := d.Types[i]
	decl, err := s.decl(n, t.Decl)
	if err != nil {
		return nil, err
	}
	consts, err := s.values(n, t.Consts)
	if err != nil {
		return nil, err
	}
	vars, err := s.values(n, t.Vars)
	if err != nil {
		return nil, err
	}
	funcs, err := s.funcs(n, t.Funcs)
	if err != nil {
		return nil, err
	}
	methods, err := s.funcs(n, t.Methods)
	if err != nil {
		return nil, err
	}
	return s.symbolPage(n, "type", &view{
		Title:       "type " + n.name + "." + name,
		Description: d.Synopsis(t.Doc),
		Path:        d.symbols[name],
		Data: struct {
			item
			ImportPath                   string
			Consts, Vars, Funcs, Methods []item
		}{
			item{Name: name, Decl: decl, Doc: s.comment(n, t.Doc), Source: s.position(n, t.Decl)},
			n.path, consts, vars, funcs, methods,
		},
	})
}

// funcPage returns the page of a function, nil if there is none of that name.
func (s *Site) funcPage(n *node, name string) ([]byte, error) {
	d := n.docs()
	i := slices.IndexFunc(d.allFuncs, func(f *doc.Func) bool { return f.Name == name })
	if i < 0 {
		return nil, nil
	}
	items, err := s.funcs(n, d.allFuncs[i:i+1])
	if err != nil {
		return nil, err
	}
	return s.symbolPage(n, "func", &view{
		Title:       "func " + n.name + "." + name,
		Description: d.Synopsis(d.allFuncs[i].Doc),
		Path:        items[0].URL,
		Data: struct {
			item
			ImportPath string
		}{items[0], n.path},
	})
}

// symbolPage completes v and returns the page of a type or function.
func (s *Site) symbolPage(n *node, kind string, v *view) ([]byte, error) {
	d := n.docs()
	if v.Description == "" {
		v.Description = v.Title + " of " + n.title() + "."
	}
	v.Site, v.Trail, v.Title = s, trail(n), v.Title+" ("+n.path+") - Go documentation"
	types, funcs := group{Name: "Types"}, group{Name: "Functions"}
	for _, t := range d.Types {
		types.Links = append(types.Links, link{Name: t.Name, URL: d.symbols[t.Name]})
	}
	for _, f := range d.allFuncs {
		funcs.Links = append(funcs.Links, link{Name: f.Name, URL: d.symbols[f.Name]})
	}
	v.Aside = []group{types, funcs}
	return render(kind, v)
}

// sourcePage returns the page of a Go file.
func (s *Site) sourcePage(n *node, name string) ([]byte, error) {
	text, err := fs.ReadFile(s.tree, path.Join("src", n.path, name))
	if err != nil {
		return nil, err
	}
	return render("source", &view{
		Site:        s,
		Title:       n.path + "/" + name + " - Go source",
		Description: "Source file " + name + " of " + n.title() + ", " + s.version + ".",
		Path:        n.url() + name + ".html",
		Trail:       trail(n),
		Aside:       []group{{"Files", s.fileLinks(n)}},
		Data: struct {
			Name string
			Text template.HTML
		}{name, s.source(text)},
	})
}

func (s *Site) fileLinks(n *node) []link {
	links := make([]link, len(n.files))
	for i, f := range n.files {
		links[i] = link{Name: f, URL: n.url() + f + ".html"}
	}
	return links
}

// position returns the address of the source line of a declaration.
func (s *Site) position(n *node, decl ast.Node) string {
	at := n.docs().fset.Position(decl.Pos())
	return n.url() + at.Filename + ".html#L" + strconv.Itoa(at.Line)
}

func (s *Site) values(n *node, values []*doc.Value) ([]item, error) {
	var items []item
	for _, v := range values {
		decl, err := s.decl(n, v.Decl)
		if err != nil {
			return nil, err
		}
		ids := slices.DeleteFunc(slices.Clone(v.Names), func(name string) bool { return name == "_" })
		items = append(items, item{IDs: ids, Decl: decl, Doc: s.comment(n, v.Doc), Source: s.position(n, v.Decl)})
	}
	return items, nil
}

func (s *Site) funcs(n *node, funcs []*doc.Func) ([]item, error) {
	d := n.docs()
	var items []item
	for _, f := range funcs {
		decl, err := s.decl(n, f.Decl)
		if err != nil {
			return nil, err
		}
		i := item{Name: f.Name, Decl: decl, Doc: s.comment(n, f.Doc), Note: d.Synopsis(f.Doc), URL: d.symbols[f.Name], Source: s.position(n, f.Decl)}
		if f.Recv != "" {
			recv, _, _ := strings.Cut(strings.TrimPrefix(f.Recv, "*"), "[")
			i.URL, i.IDs = "", []string{recv + "." + f.Name}
		}
		items = append(items, i)
	}
	return items, nil
}
