package gosite

import (
	"errors"
	"go/build"
	"io/fs"
	"os"
	"path"
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
	Children   []*node // sorted by path
	ImportedBy []*node // public ones, sorted by path

	docs func() *docs // never nil; empty if the directory is not a package
}

// Name returns the path of the package.
func (n *node) Name() string { return n.path }

// Note returns the synopsis of the package.
func (n *node) Note() string { return n.synopsis }

// URL returns the address of the page of n.
func (n *node) URL() string {
	switch {
	case n.path == "":
		return "/"
	case n.private:
		return "/private/" + n.path + "/"
	}
	return "/" + n.path + "/"
}

// under reports whether n is the directory dir or below it.
func (n *node) under(dir string) bool {
	return n.path == dir || strings.HasPrefix(n.path, dir+"/")
}

// Heading returns the title of the page of n: "package tls", "command go", "directory archive".
func (n *node) Heading() string {
	switch n.name {
	case "":
		return "directory " + n.path
	case "main":
		return "command " + path.Base(n.path)
	}
	return "package " + n.name
}

// maxSource is the size of the largest file that is read, in bytes.
const maxSource = 16 << 20

// isSource reports whether a file is one with source code. Links, which may lead out of the tree, and
// named pipes are not.
func isSource(e fs.DirEntry) bool {
	if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".go") {
		return false
	}
	info, err := e.Info()
	return err == nil && info.Size() <= maxSource
}

// scan finds the directories of the tree, and reads the package and import clauses of their
// files.
func (s *Site) scan(tree fs.FS) error {
	s.nodes = map[string]*node{}
	s.add("")
	err := fs.WalkDir(tree, "src", func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir, base := path.Split(p)
		switch {
		case base == "testdata" || base[0] == '_' || base[0] == '.' || p == "src/cmd/vendor":
			if e.IsDir() {
				return fs.SkipDir
			}
		case isSource(e) && !strings.HasSuffix(base, "_test.go"):
			n := s.add(strings.Trim(strings.TrimPrefix(dir, "src"), "/"))
			n.files = append(n.files, base)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// The documentation is that of linux/amd64 without cgo on every machine.
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = "linux", "amd64", false
	context.GOROOT, context.GOPATH = "", ""
	context.BuildTags, context.ToolTags = nil, nil
	context.ReadDir = func(dir string) (list []fs.FileInfo, err error) {
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			if !isSource(e) {
				continue
			}
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			list = append(list, info)
		}
		return list, err
	}
	for _, n := range s.nodes {
		if n.files == nil {
			continue
		}
		p, err := context.ImportDir(s.src+"/"+n.path, 0)
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			return err
		}
		if err != nil {
			continue // no package for linux/amd64, or several; the source files are still pages
		}
		n.name, n.synopsis, n.built = p.Name, p.Doc, p.GoFiles
		n.imports = slices.DeleteFunc(p.Imports, func(p string) bool { return p == "C" })
	}
	for _, n := range s.nodes {
		slices.SortFunc(n.Children, byPath)
		if n.private {
			continue
		}
		for _, p := range n.imports {
			if to := s.resolve(p); to != nil {
				to.ImportedBy = append(to.ImportedBy, n)
			}
		}
	}
	for _, n := range s.nodes {
		slices.SortFunc(n.ImportedBy, byPath)
	}
	return nil
}

func byPath(a, b *node) int { return strings.Compare(a.path, b.path) }

// add returns the node of a path, and adds it and its parents if necessary.
func (s *Site) add(p string) *node {
	if n := s.nodes[p]; n != nil {
		return n
	}
	n := &node{path: p}
	n.docs = sync.OnceValue(func() *docs { return s.parse(n) })
	if p != "" {
		up, base := path.Split(p)
		n.parent = s.add(strings.TrimSuffix(up, "/"))
		n.private = n.parent.private || base == "internal"
		n.parent.Children = append(n.parent.Children, n)
	}
	s.nodes[p] = n
	return n
}

// resolve returns the package that an import path refers to in the standard library.
func (s *Site) resolve(p string) *node {
	if n := s.nodes["vendor/"+p]; n != nil || p == "" {
		return n
	}
	return s.nodes[p]
}
