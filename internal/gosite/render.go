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

// anchor writes a link whose text is s.
func anchor(b *bytes.Buffer, to, s string) {
	b.WriteString(`<a href="` + escape(to) + `">` + escape(s) + `</a>`)
}

// comment is a doc comment as HTML. Its links lead to pages of this site; what
// is elsewhere is named and not linked, so that a crawl of this site never asks
// another.
func (s *Site) comment(n *node, text string) template.HTML {
	d := n.docs()
	parsed := d.Parser().Parse(text)
	s.close(n, parsed.Content)
	p := d.Printer()
	p.HeadingLevel = 3
	p.DocLinkURL = func(l *comment.DocLink) string { return s.docLink(n, l) }
	return template.HTML(p.HTML(parsed))
}

// close puts words in the place of the links in blocks that leave the site.
func (s *Site) close(n *node, blocks []comment.Block) {
	for _, b := range blocks {
		switch b := b.(type) {
		case *comment.Heading:
			b.Text = s.closeText(n, b.Text)
		case *comment.Paragraph:
			b.Text = s.closeText(n, b.Text)
		case *comment.List:
			for _, item := range b.Items {
				s.close(n, item.Content)
			}
		}
	}
}

func (s *Site) closeText(n *node, text []comment.Text) []comment.Text {
	var closed []comment.Text
	for _, t := range text {
		switch l := t.(type) {
		case *comment.Link:
			closed = append(closed, l.Text...)
			if !l.Auto {
				closed = append(closed, comment.Plain(" ("+l.URL+")"))
			}
		case *comment.DocLink:
			if s.docLink(n, l) == "" {
				closed = append(closed, l.Text...)
			} else {
				closed = append(closed, t)
			}
		default:
			closed = append(closed, t)
		}
	}
	return closed
}

// docLink is where a link to a package or one of its symbols leads, "" if the
// site does not have the package.
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
		return at // a field, or a method that is promoted
	}
	return to.url()
}

// decl is a declaration as HTML, formatted, with a link wherever it names
// something exported that the site has a page for.
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
			// not the function of the same name
		case ast.IsExported(t.lit) || n.path == "builtin":
			if at := d.symbols[t.lit]; at != "" {
				link(t.at, t.at+len(t.lit), at)
			}
		}
	}
	b.WriteString(escape(text[done:]))
	return template.HTML(b.String()), nil
}

// source is a Go file as HTML, a span with an id for every line, with a link
// wherever it imports a package that the site has.
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
