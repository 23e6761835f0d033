package gosite

import (
	"errors"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// A node is a directory under src: a package, or a parent of one.
type node struct {
	path     string // "crypto/tls"; "" is src itself
	name     string // of the package; "" if there is none for linux/amd64
	synopsis string
	files    []string // all Go files except tests, sorted
	built    []string // files of the package on linux/amd64
	private  bool     // an element of the path is "internal"
	imports  []string // as written, sorted

	parent     *node
	children   []*node // sorted by path
	importedBy []*node // public ones, sorted by path

	docs func() *docs // never nil; empty if the directory is not a package
}

// url returns the address of the page of n.
func (n *node) url() string {
	switch {
	case n.path == "":
		return "/"
	case n.private:
		return "/private/" + n.path + "/"
	}
	return "/" + n.path + "/"
}

// first returns the first element of the path.
func (n *node) first() string {
	first, _, _ := strings.Cut(n.path, "/")
	return first
}

// under reports whether n is the directory dir or below it.
func (n *node) under(dir string) bool {
	return n.path == dir || strings.HasPrefix(n.path, dir+"/")
}

// title returns n as a heading: "package tls", "command go", "directory archive".
func (n *node) title() string {
	switch n.name {
	case "":
		return "directory " + n.path
	case "main":
		return "command " + path.Base(n.path)
	}
	return "package " + n.name
}

// scan finds the directories of a Go tree, and reads the package and import clauses of their
// files.
func scan(tree fs.FS) (map[string]*node, error) {
	nodes := map[string]*node{"": {}}
	var packages []*node // sorted by path
	err := fs.WalkDir(tree, "src", func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir, base := path.Split(strings.TrimPrefix(strings.TrimPrefix(p, "src"), "/"))
		switch {
		case base == "":
		case e.IsDir():
			if base == "testdata" || base[0] == '_' || base[0] == '.' || p == "src/cmd/vendor" {
				return fs.SkipDir
			}
		case strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go") && base[0] != '_' && base[0] != '.':
			n := add(nodes, strings.TrimSuffix(dir, "/"))
			if n.files == nil {
				packages = append(packages, n)
			}
			n.files = append(n.files, base)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	// Reading the files takes most of the time to start.
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			context := buildContext(tree)
			for j := i; j < len(packages); j += len(errs) {
				if err := packages[j].read(context); err != nil {
					errs[i] = err
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}

	for _, n := range nodes {
		slices.SortFunc(n.children, byPath)
		if n.private {
			continue
		}
		for _, p := range n.imports {
			if to := resolve(nodes, p); to != nil {
				to.importedBy = append(to.importedBy, n)
			}
		}
	}
	for _, n := range nodes {
		slices.SortFunc(n.importedBy, byPath)
	}
	return nodes, nil
}

func byPath(a, b *node) int { return strings.Compare(a.path, b.path) }

// add returns the node of a path, and adds it and its parents if necessary.
func add(nodes map[string]*node, p string) *node {
	if n := nodes[p]; n != nil {
		return n
	}
	up, base := path.Split(p)
	parent := add(nodes, strings.TrimSuffix(up, "/"))
	n := &node{path: p, parent: parent, private: parent.private || base == "internal"}
	parent.children = append(parent.children, n)
	nodes[p] = n
	return n
}

// resolve returns the package that an import path refers to in the standard library.
func resolve(nodes map[string]*node, p string) *node {
	if n := nodes["vendor/"+p]; n != nil {
		return n
	}
	if p == "" {
		return nil
	}
	return nodes[p]
}

// read reads the package of a directory that has Go files.
func (n *node) read(context *build.Context) error {
	p, err := context.ImportDir("src/"+n.path, 0)
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	if err != nil {
		return nil // no package for linux/amd64, or several; the source files are still pages
	}
	n.name, n.synopsis, n.built = p.Name, p.Doc, p.GoFiles
	for _, i := range p.Imports {
		if i != "C" {
			n.imports = append(n.imports, i)
		}
	}
	return nil
}

// buildContext returns the build context of linux/amd64 without cgo, so that the site is the
// same on every machine.
func buildContext(tree fs.FS) *build.Context {
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled = "linux", "amd64", false
	c.GOROOT, c.GOPATH = "", ""
	c.BuildTags, c.ToolTags = nil, nil
	c.JoinPath = path.Join
	c.IsAbsPath = path.IsAbs
	c.HasSubdir = func(root, dir string) (string, bool) { return "", false }
	c.IsDir = func(p string) bool {
		info, err := fs.Stat(tree, p)
		return err == nil && info.IsDir()
	}
	c.OpenFile = func(p string) (io.ReadCloser, error) { return tree.Open(p) }
	c.ReadDir = func(p string) ([]fs.FileInfo, error) {
		entries, err := fs.ReadDir(tree, p)
		if err != nil {
			return nil, err
		}
		infos := make([]fs.FileInfo, 0, len(entries))
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			infos = append(infos, info)
		}
		return infos, nil
	}
	return &c
}

// docs is the documentation of a package.
type docs struct {
	*doc.Package
	fset     *token.FileSet
	allFuncs []*doc.Func       // including those that go/doc groups with a type, sorted by name
	imports  map[string]*node  // by the name in the package's files
	symbols  map[string]string // exported name, or Type.Method, to address
}

// parse parses the package of n. Files with syntax errors are omitted, but their source is
// still a page.
func (s *Site) parse(n *node) *docs {
	d := &docs{Package: new(doc.Package), fset: token.NewFileSet(), imports: map[string]*node{}, symbols: map[string]string{}}
	var files []*ast.File
	for _, name := range n.built {
		text, err := fs.ReadFile(s.tree, path.Join("src", n.path, name))
		if err != nil {
			continue
		}
		f, err := parser.ParseFile(d.fset, name, text, parser.ParseComments)
		if err != nil {
			continue
		}
		files = append(files, f)
		for _, spec := range f.Imports {
			to := resolve(s.nodes, strings.Trim(spec.Path.Value, `"`))
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
	d.Package = p

	d.allFuncs = slices.Clone(p.Funcs)
	value := func(at string, vs []*doc.Value) {
		for _, v := range vs {
			for _, name := range v.Names {
				d.symbols[name] = at + "#" + name
			}
		}
	}
	value(n.url(), p.Consts)
	value(n.url(), p.Vars)
	for _, t := range p.Types {
		at := n.url() + "type." + t.Name + ".html"
		d.symbols[t.Name] = at
		d.allFuncs = append(d.allFuncs, t.Funcs...)
		value(at, t.Consts)
		value(at, t.Vars)
		for _, m := range t.Methods {
			d.symbols[t.Name+"."+m.Name] = at + "#" + t.Name + "." + m.Name
		}
	}
	for _, f := range d.allFuncs {
		d.symbols[f.Name] = n.url() + "func." + f.Name + ".html"
	}
	slices.SortFunc(d.allFuncs, func(a, b *doc.Func) int { return strings.Compare(a.Name, b.Name) })
	return d
}
