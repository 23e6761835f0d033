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
	maxSubset    = 1 << 18 // bytes of a document type declaration; a longer one declares nothing
	maxEntities  = 1000    // entities
	maxEntity    = 100     // bytes of a name
	maxNesting   = 8       // entities within each other; references deeper than that stay as they are
	maxExpansion = 1 << 20 // bytes of the values of all references together; later references stay as they are
)

// declaration matches what an internal subset consists of. An internal general entity has its name in
// the first group, and its value, in quotes, in the second.
const declaration = `<!--(?s:.*?)-->|<\?(?s:.*?)\?>|<!ENTITY\s+([^\s%"'<>]{1,100})\s+("[^"]*"|'[^']*')\s*>|<!(?:"[^"]*"|'[^']*'|[^"'>-])(?:"[^"]*"|'[^']*'|[^"'>])*>`

var (
	declared = regexp.MustCompile(declaration)

	// subset matches the start of a document type declaration with an internal subset, in its second group.
	subset = regexp.MustCompile(`^(<!(?i:doctype)(?:"[^"]*"|'[^']*'|[^"'<>\[])*)\[((?:` + declaration + `|[^\]<])*)\]\s*>`)

	// numeric matches a character reference, which is replaced in the declaration of an entity already.
	numeric = regexp.MustCompile(`&#(x[0-9A-Fa-f]+|[0-9]+);`)
)

// expandEntities replaces the references to internal entities by their values, which may contain
// markup, and removes their declarations. It returns most pages unchanged, because they have none.
func expandEntities(page string) string {
	var z scanner
	z.reset(page)
	z.foreign = true
	kind := z.next()
	for kind != doctype && kind != startTag && kind != endOfPage {
		kind = z.next()
	}
	if kind != doctype {
		return page
	}
	found := subset.FindStringSubmatchIndex(page[z.from:min(len(page), z.from+maxSubset)])
	if found == nil {
		return page
	}
	x := expander{values: entities(page[z.from+found[4] : z.from+found[5]]), left: maxExpansion}
	x.b.WriteString(page[:z.from+found[3]])
	x.b.WriteString(">")
	z.from, z.to = z.from+found[1], z.from+found[1]
	for kind := z.next(); kind != endOfPage; kind = z.next() {
		source := page[z.from:z.to]
		if kind != startTag && (kind != textToken || z.begin > z.from) { // comments and CDATA sections
			x.b.WriteString(source)
			continue
		}
		x.quoted = kind == startTag
		x.expand(source, 0)
	}
	return x.b.String()
}

// entities returns the values of the entities that a subset declares, by name. The first of several
// with the same name counts.
func entities(subset string) map[string]string {
	values := map[string]string{}
	for _, d := range declared.FindAllStringSubmatch(subset, -1) {
		name, value := d[1], d[2]
		switch name {
		case "", "lt", "gt", "amp", "quot", "apos": // no entity, or one that has a value without a declaration
			continue
		}
		if _, twice := values[name]; !twice && len(values) < maxEntities {
			values[name] = numeric.ReplaceAllStringFunc(value[1:len(value)-1], html.UnescapeString)
		}
	}
	return values
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
