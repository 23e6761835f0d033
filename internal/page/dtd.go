package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// This file expands the internal entities of XML pages: those that the document type declaration of
// the page itself declares. Source: Extensible Markup Language (XML) 1.0, fifth edition, sections
// 2.8, 4.2 and 4.4. Parameter entities and external entities are ignored.

// Limits on entities, because a few declarations can expand to gigabytes.
const (
	maxEntities  = 1000    // entities
	maxEntity    = 100     // bytes of a name
	maxNesting   = 8       // entities within each other; references deeper than that stay as they are
	maxExpansion = 1 << 20 // bytes of the values of all references together; later references stay as they are
)

// expandEntities replaces the references to internal entities by their values, which may contain
// markup, and removes their declarations. It returns most pages unchanged, because they have none.
func expandEntities(page string) string {
	var z scanner
	z.reset(page)
	z.foreign = true
	for {
		switch z.next() {
		case doctype:
		case endOfPage, startTag:
			return page
		default:
			continue
		}
		break
	}
	d := declarations{s: page[z.from:], values: map[string]string{}}
	open, end := d.read()
	if end < 0 {
		return page
	}
	x := expander{values: d.values, left: maxExpansion}
	x.b.WriteString(page[:z.from+open])
	x.b.WriteString(">")
	z.from, z.to = z.from+end, z.from+end
	for kind := z.next(); kind != endOfPage; kind = z.next() {
		source := page[z.from:z.to]
		if len(d.values) == 0 || kind != startTag && (kind != textToken || z.begin > z.from) { // comments and CDATA sections
			x.b.WriteString(source)
			continue
		}
		x.quoted = kind == startTag
		x.expand(source, 0)
	}
	return x.b.String()
}

// declarations reads a document type declaration.
type declarations struct {
	s      string
	i      int
	values map[string]string // by the names of entities
}

// read reads the declaration. It returns the offset of the internal subset, which begins with "[", and
// of the end of the declaration, or -1 if there is no subset, or it is malformed.
func (d *declarations) read() (open, end int) {
	d.i = len("<!DOCTYPE")
	if !d.skipTo("[>") || d.s[d.i] == '>' {
		return 0, -1
	}
	open = d.i
	for d.i++; d.i < len(d.s); {
		switch rest := d.s[d.i:]; {
		case rest[0] == ']':
			if !d.skipTo(">") {
				return 0, -1
			}
			return open, d.i + 1
		case strings.HasPrefix(rest, "<!--"):
			d.skipPast("-->")
		case strings.HasPrefix(rest, "<?"):
			d.skipPast("?>")
		case strings.HasPrefix(rest, "<!ENTITY"):
			d.entity()
		case strings.HasPrefix(rest, "<!"):
			d.skipTo(">")
		default: // white space, a reference to a parameter entity, or the end of a declaration
			d.i++
		}
	}
	return 0, -1
}

// skipTo skips to one of the bytes outside of quotes, and reports whether there is one.
func (d *declarations) skipTo(bytes string) bool {
	for ; d.i < len(d.s); d.i++ {
		switch c := d.s[d.i]; {
		case strings.IndexByte(bytes, c) >= 0:
			return true
		case c == '"' || c == '\'':
			n := strings.IndexByte(d.s[d.i+1:], c)
			if n < 0 {
				d.i = len(d.s)
				return false
			}
			d.i += 1 + n
		}
	}
	return false
}

// skipPast skips everything up to and including end.
func (d *declarations) skipPast(end string) {
	if n := strings.Index(d.s[d.i:], end); n >= 0 {
		d.i += n + len(end)
	} else {
		d.i = len(d.s)
	}
}

// numeric matches a character reference, which is replaced in the declaration of an entity already.
var numeric = regexp.MustCompile(`&#(x[0-9A-Fa-f]+|[0-9]+);`)

// entity reads the declaration of an entity. The first of several with the same name counts.
func (d *declarations) entity() {
	start := d.i + len("<!ENTITY")
	if !d.skipTo(">") {
		return
	}
	declaration := strings.Trim(d.s[start:d.i], blanks)
	n := strings.IndexAny(declaration, blanks)
	if n <= 0 || n > maxEntity || len(d.values) == maxEntities {
		return
	}
	name, value := declaration[:n], strings.TrimLeft(declaration[n:], blanks)
	if last := len(value) - 1; last < 1 || value[0] != '"' && value[0] != '\'' || value[last] != value[0] {
		return // external
	}
	switch name {
	case "%", "lt", "gt", "amp", "quot", "apos":
		return // a parameter entity, or one that has a value without a declaration
	}
	if _, twice := d.values[name]; !twice {
		d.values[name] = numeric.ReplaceAllStringFunc(value[1:len(value)-1], html.UnescapeString)
	}
}

// An expander replaces references to entities.
type expander struct {
	values map[string]string
	left   int  // number of bytes that may still be inserted
	quoted bool // in the value of an attribute
	b      strings.Builder
}

// inQuotes escapes the characters that would end the value of an attribute, or the tag.
var inQuotes = strings.NewReplacer(`"`, "&#34;", "'", "&#39;", "<", "&lt;", ">", "&gt;")

// expand appends s, which is the value of an entity if depth is above 0.
func (x *expander) expand(s string, depth int) {
	for s != "" {
		n := strings.IndexByte(s, '&')
		if n < 0 {
			n = len(s)
		}
		if depth > 0 && x.quoted {
			inQuotes.WriteString(&x.b, s[:n])
		} else {
			x.b.WriteString(s[:n])
		}
		if s = s[n:]; s == "" {
			return
		}
		end := strings.IndexByte(s[:min(len(s), maxEntity+2)], ';')
		value, ok := "", false
		if end > 0 {
			value, ok = x.values[s[1:end]]
		}
		if !ok || depth == maxNesting || x.left <= len(value) {
			x.b.WriteByte('&')
			s = s[1:]
			continue
		}
		x.left -= len(value) + 1
		x.expand(value, depth+1)
		s = s[end+1:]
	}
}
