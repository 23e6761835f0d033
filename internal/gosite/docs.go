package gosite

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"html/template"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// docs is the documentation of a package.
type docs struct {
	*node
	site    *Site
	pkg     *doc.Package
	fset    *token.FileSet
	imports map[string]*node  // by the name in the package's files
	symbols map[string]string // exported name, or Type.Method, to address

	Consts, Vars, Types []*item
	Funcs               []*item // without those that go/doc groups with a type
	funcs               []*item // all functions, sorted by name
}

// An item is a declaration and its documentation.
type item struct {
	*docs
	Name string
	IDs  []string
	URL  string // of its own page, if any
	text string // doc comment
	decl ast.Node

	Consts, Vars, Funcs, Methods []*item // of a type
}

// parse parses the package of n. Files with syntax errors are omitted, but their source is
// still a page.
func (s *Site) parse(n *node) *docs {
	d := &docs{node: n, site: s, pkg: new(doc.Package), fset: token.NewFileSet(), imports: map[string]*node{}, symbols: map[string]string{}}
	var files []*ast.File
	for _, name := range n.built {
		text, err := os.ReadFile(s.src + "/" + n.path + "/" + name)
		if err != nil {
			continue
		}
		f, err := parser.ParseFile(d.fset, name, text, parser.ParseComments)
		if err != nil {
			continue
		}
		files = append(files, f)
		for _, spec := range f.Imports {
			to := s.resolve(strings.Trim(spec.Path.Value, `"`))
			switch {
			case to == nil || to.name == "":
			case spec.Name == nil:
				d.imports[to.name] = to
			default:
				d.imports[spec.Name.Name] = to
			}
		}
	}
	mode := doc.Mode(0)
	if n.path == "builtin" {
		mode = doc.AllDecls // all its names are lower case
	}
	p, err := doc.NewFromFiles(d.fset, files, n.path, mode)
	if err != nil {
		return d
	}
	d.pkg = p
	d.Consts, d.Vars = d.values(n.URL(), p.Consts), d.values(n.URL(), p.Vars)
	d.Funcs = d.functions(p.Funcs)
	d.funcs = slices.Clone(d.Funcs)
	for _, t := range p.Types {
		at := n.URL() + "type." + t.Name + ".html"
		d.symbols[t.Name] = at
		it := &item{docs: d, Name: t.Name, URL: at, text: t.Doc, decl: t.Decl, Funcs: d.functions(t.Funcs), Methods: d.functions(t.Methods)}
		it.Consts, it.Vars = d.values(at, t.Consts), d.values(at, t.Vars)
		d.Types = append(d.Types, it)
		d.funcs = append(d.funcs, it.Funcs...)
	}
	slices.SortFunc(d.funcs, func(a, b *item) int { return strings.Compare(a.Name, b.Name) })
	return d
}

// values returns the items of constants or variables that are shown on the page at.
func (d *docs) values(at string, values []*doc.Value) (list []*item) {
	for _, v := range values {
		ids := slices.DeleteFunc(slices.Clone(v.Names), func(name string) bool { return name == "_" })
		for _, id := range ids {
			d.symbols[id] = at + "#" + id
		}
		list = append(list, &item{docs: d, IDs: ids, text: v.Doc, decl: v.Decl})
	}
	return list
}

// functions returns the items of functions or methods.
func (d *docs) functions(funcs []*doc.Func) (list []*item) {
	for _, f := range funcs {
		it := &item{docs: d, Name: f.Name, text: f.Doc, decl: f.Decl}
		if f.Recv == "" {
			it.URL = d.node.URL() + "func." + f.Name + ".html"
			d.symbols[f.Name] = it.URL
		} else {
			recv, _, _ := strings.Cut(strings.TrimPrefix(f.Recv, "*"), "[")
			id := recv + "." + f.Name
			it.IDs = []string{id}
			d.symbols[id] = d.node.URL() + "type." + recv + ".html#" + id
		}
		list = append(list, it)
	}
	return list
}

// Note returns the first sentence of the doc comment.
func (i *item) Note() string { return i.pkg.Synopsis(i.text) }

// Doc returns the doc comment as HTML.
func (i *item) Doc() template.HTML { return i.comment(i.text) }

// ImportPath returns the path of the package.
func (i *item) ImportPath() string { return i.node.path }

// Source returns the address of the source line.
func (i *item) Source() string {
	at := i.fset.Position(i.decl.Pos())
	return i.node.URL() + at.Filename + ".html#L" + strconv.Itoa(at.Line)
}

// Doc returns the doc comment of the package as HTML.
func (d *docs) Doc() template.HTML { return d.comment(d.pkg.Doc) }

var external = regexp.MustCompile(`(?s)<a href="([^/#][^"]*)">(.*?)</a>`)

// comment returns a doc comment as HTML. Links to other sites are replaced by their text and
// address, so that a crawl of this site never leaves it.
func (d *docs) comment(text string) template.HTML {
	p := d.pkg.Printer()
	p.HeadingLevel = 3
	p.DocLinkURL = d.docLink
	html := external.ReplaceAllStringFunc(string(p.HTML(d.pkg.Parser().Parse(text))), func(a string) string {
		m := external.FindStringSubmatch(a)
		if m[1] == m[2] {
			return m[2]
		}
		return m[2] + " (" + m[1] + ")"
	})
	return template.HTML(html)
}

// docLink returns the address of a package or one of its symbols, "" if the package is not
// on the site.
func (d *docs) docLink(l *comment.DocLink) string {
	to := d.node
	if l.ImportPath != "" {
		if to = d.site.resolve(l.ImportPath); to == nil {
			return ""
		}
	}
	name := l.Name
	if l.Recv != "" {
		name = l.Recv + "." + l.Name
	}
	symbols := to.docs().symbols
	if at := symbols[name]; at != "" {
		return at
	}
	if at := symbols[l.Recv]; at != "" {
		return at // a field, or a promoted method
	}
	return to.URL()
}

// goWords matches the identifiers of Go code that has been escaped for HTML, with their
// qualifiers. It also matches comments, literals, method names and selectors, so that the words
// in them are skipped: they are not linked.
var goWords = regexp.MustCompile("//.*|(?s:/\\*.*?\\*/)|`[^`]*`|&#34;(?:\\\\.|.)*?&#34;|&#39;(?:\\\\.|.)*?&#39;|\\) \\w+\\(|[)\\]}]\\.\\w+|&\\w+;|[\\pL_][\\pL\\w]*(?:\\.[\\pL_][\\pL\\w]*)*")

// Decl returns the formatted declaration as HTML, with links for the exported names that have
// a page.
func (i *item) Decl() (template.HTML, error) {
	var src bytes.Buffer
	if err := format.Node(&src, i.fset, i.decl); err != nil {
		return "", err
	}
	html := goWords.ReplaceAllStringFunc(template.HTMLEscapeString(src.String()), func(word string) string {
		symbols, name := i.symbols, word
		if pkg, rest, qualified := strings.Cut(word, "."); qualified {
			p := i.imports[pkg]
			if p == nil {
				return word
			}
			symbols, name = p.docs().symbols, rest
		} else if !ast.IsExported(word) && i.node.path != "builtin" {
			return word
		}
		if at := symbols[name]; at != "" {
			return anchor(at, word)
		}
		return word
	})
	return template.HTML(html), nil
}

// anchor returns a link with a text that is HTML.
func anchor(to, html string) string {
	return `<a href="` + template.HTMLEscapeString(to) + `">` + html + `</a>`
}

// source returns a Go file as HTML, with an id for every line and links for the imported
// packages that are on the site.
func (s *Site) source(text string) template.HTML {
	imports := map[int]*ast.ImportSpec{} // by line
	fset := token.NewFileSet()
	if f, err := parser.ParseFile(fset, "", text, parser.ImportsOnly); err == nil {
		for _, spec := range f.Imports {
			imports[fset.PositionFor(spec.Path.Pos(), false).Line] = spec
		}
	}
	var b strings.Builder
	number := 0
	for line := range strings.Lines(text) {
		number++
		html := template.HTMLEscapeString(strings.TrimRight(line, "\r\n"))
		if spec := imports[number]; spec != nil {
			p := template.HTMLEscapeString(strings.Trim(spec.Path.Value, `"`))
			if to := s.resolve(p); to != nil {
				html = strings.Replace(html, "&#34;"+p+"&#34;", "&#34;"+anchor(to.URL(), p)+"&#34;", 1)
			}
		}
		b.WriteString(`<span id="L` + strconv.Itoa(number) + `">` + html + "</span>\n")
	}
	return template.HTML(b.String())
}
