package gosite

import (
	"bytes"
	"go/ast"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"html/template"
	"strconv"
)

func escape(s string) string { return template.HTMLEscapeString(s) }

// anchor writes a link with the text s.
func anchor(b *bytes.Buffer, to, s string) {
	b.WriteString(`<a href="` + escape(to) + `">` + escape(s) + `</a>`)
}

// comment returns a doc comment as HTML. Links to other sites are replaced by their text, so
// that a crawl of this site never leaves it.
func (s *Site) comment(n *node, text string) template.HTML {
	d := n.docs()
	parsed := d.Parser().Parse(text)
	s.removeLinks(n, parsed.Content)
	p := d.Printer()
	p.HeadingLevel = 3
	p.DocLinkURL = func(l *comment.DocLink) string { return s.docLink(n, l) }
	return template.HTML(p.HTML(parsed))
}

// removeLinks replaces the links to other sites in blocks by their text.
func (s *Site) removeLinks(n *node, blocks []comment.Block) {
	for _, b := range blocks {
		switch b := b.(type) {
		case *comment.Heading:
			b.Text = s.withoutLinks(n, b.Text)
		case *comment.Paragraph:
			b.Text = s.withoutLinks(n, b.Text)
		case *comment.List:
			for _, item := range b.Items {
				s.removeLinks(n, item.Content)
			}
		}
	}
}

// withoutLinks returns text with the links to other sites replaced by their text.
func (s *Site) withoutLinks(n *node, text []comment.Text) []comment.Text {
	var local []comment.Text
	for _, t := range text {
		switch l := t.(type) {
		case *comment.Link:
			local = append(local, l.Text...)
			if !l.Auto {
				local = append(local, comment.Plain(" ("+l.URL+")"))
			}
		case *comment.DocLink:
			if s.docLink(n, l) == "" {
				local = append(local, l.Text...)
			} else {
				local = append(local, t)
			}
		default:
			local = append(local, t)
		}
	}
	return local
}

// docLink returns the address of a package or one of its symbols, "" if the package is not
// on the site.
func (s *Site) docLink(n *node, l *comment.DocLink) string {
	to := n
	if l.ImportPath != "" {
		if to = resolve(s.nodes, l.ImportPath); to == nil {
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
	return to.url()
}

// decl returns a formatted declaration as HTML, with links for the exported names that have a
// page.
func (s *Site) decl(n *node, decl ast.Node) (template.HTML, error) {
	d := n.docs()
	var src bytes.Buffer
	if err := format.Node(&src, d.fset, decl); err != nil {
		return "", err
	}
	text := src.String()

	type tok struct {
		at  int
		tok token.Token
		lit string
	}
	var toks []tok
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	var sc scanner.Scanner
	sc.Init(file, src.Bytes(), func(token.Position, string) {}, 0)
	for {
		pos, t, lit := sc.Scan()
		if t == token.EOF {
			break
		}
		toks = append(toks, tok{file.Offset(pos), t, lit})
	}

	method := ""
	if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
		method = f.Name.Name
	}
	var b bytes.Buffer
	done := 0
	link := func(from, to int, at string) {
		b.WriteString(escape(text[done:from]))
		anchor(&b, at, text[from:to])
		done = to
	}
	for i, t := range toks {
		switch {
		case t.tok != token.IDENT || t.at < done || i > 0 && toks[i-1].tok == token.PERIOD:
		case i+2 < len(toks) && toks[i+1].tok == token.PERIOD && toks[i+2].tok == token.IDENT:
			// package.Name
			if p := d.imports[t.lit]; p != nil {
				if at := p.docs().symbols[toks[i+2].lit]; at != "" {
					link(t.at, toks[i+2].at+len(toks[i+2].lit), at)
				}
			}
		case i > 0 && toks[i-1].tok == token.RPAREN && t.lit == method:
			// the method, not a function of the same name
		case ast.IsExported(t.lit) || n.path == "builtin":
			if at := d.symbols[t.lit]; at != "" {
				link(t.at, t.at+len(t.lit), at)
			}
		}
	}
	b.WriteString(escape(text[done:]))
	return template.HTML(b.String()), nil
}

// source returns a Go file as HTML, with an id for every line and links for the imported
// packages that are on the site.
func (s *Site) source(text []byte) template.HTML {
	type link struct{ from, to int }
	var links []link
	var at []*node
	fset := token.NewFileSet()
	if f, err := parser.ParseFile(fset, "", text, parser.ImportsOnly); err == nil {
		for _, spec := range f.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			to := resolve(s.nodes, p)
			if err != nil || to == nil {
				continue
			}
			links = append(links, link{fset.Position(spec.Path.Pos()).Offset + 1, fset.Position(spec.Path.End()).Offset - 1})
			at = append(at, to)
		}
	}

	var b bytes.Buffer
	b.Grow(len(text) + len(text)/2)
	offset := 0
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		if len(line) == 0 {
			break
		}
		b.WriteString(`<span id="L` + strconv.Itoa(i+1) + `">`)
		done := 0
		for len(links) > 0 && links[0].to <= offset+len(line) {
			from, to := links[0].from-offset, links[0].to-offset
			template.HTMLEscape(&b, line[done:from])
			anchor(&b, at[0].url(), string(line[from:to]))
			done, links, at = to, links[1:], at[1:]
		}
		template.HTMLEscape(&b, bytes.TrimRight(line[done:], "\r\n"))
		b.WriteString("</span>\n")
		offset += len(line)
	}
	return template.HTML(b.String())
}
