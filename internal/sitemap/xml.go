package sitemap

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// readXML reads a sitemap, an index or a feed.
func readXML(in *bufio.Reader, emit func(Entry) error) error {
	x := &markup{in: in, emit: emit}
	for {
		err := x.step()
		switch {
		case err == nil:
			continue
		case errors.Is(err, errEnd):
			err = nil
		case x.stopped:
			return err
		default:
			err = truncated(err)
		}
		// What stands in an entry that is not closed is as good as any other.
		if e := x.closeEntry(); e != nil {
			return e
		}
		if x.found || x.kind != "" {
			return err
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoSitemap, err)
		}
		return ErrNoSitemap
	}
}

// errEnd is the end of the root element.
var errEnd = errors.New("the end")

// A markup reads XML by tags. It knows how deep it is inside an entry, but keeps
// nothing of the elements around it, so that nesting costs nothing.
type markup struct {
	in      *bufio.Reader
	emit    func(Entry) error
	stopped bool // by emit, or because this is something else
	found   bool // an entry
	opened  int  // entries

	kind Kind   // of the root element; "" if its name is none of the known
	root string // its name, with prefix; "" before it

	entry []byte // name of the entry's element that is open, with prefix; empty if none
	depth int    // of elements open in it
	told  int    // fields in it
	field field  // that is being read, at depth 1
	text  value  // of the field
	e     Entry
	guid  string // address of an RSS item that has no link
	dated field  // where e.LastMod is from
	tag   []byte
	word  [maxName]byte
}

// maxFields is how many fields of an entry are looked at. There is no need of more
// than six.
const maxFields = 16

// A field is what an element in an entry tells.
type field int

const (
	none field = iota
	loc
	guid
	lastmod
	published // the date if there is no lastmod
	priority
	changefreq
)

// step reads up to the next tag, and the tag.
func (x *markup) step() error {
	for {
		chunk, end, err := upTo(x.in, "<")
		if err != nil {
			return err
		}
		if x.field != none && x.depth == 1 {
			x.text.addEscaped(chunk)
		}
		if end {
			break
		}
	}
	head, err := x.in.Peek(1)
	if err != nil {
		return err
	}
	switch c := head[0]; {
	case c == '/':
		return x.readTag(x.end)
	case c == '?':
		return x.skip("?>", false)
	case c == '!':
		return x.declaration()
	case isNameByte(c):
		return x.readTag(x.start)
	}
	if x.field != none && x.depth == 1 {
		x.text.add([]byte("<"))
	}
	return nil
}

// declaration reads what begins with <!: a comment, CDATA or a document type.
func (x *markup) declaration() error {
	if head, _ := x.in.Peek(3); string(head) == "!--" {
		_, _ = x.in.Discard(3)
		return x.skip("-->", false)
	}
	if head, _ := x.in.Peek(8); string(head) == "![CDATA[" {
		_, _ = x.in.Discard(8)
		return x.skip("]]>", x.field != none && x.depth == 1)
	}
	return x.doctype()
}

// skip reads past the end of a construct, which is two characters, or two of the
// same, and a >. What stands before is text if keep is set.
func (x *markup) skip(end string, keep bool) error {
	var tail [2]byte // the last two bytes before the > that may be it
	for {
		chunk, found, err := upTo(x.in, ">")
		if err != nil {
			return err
		}
		if keep {
			x.text.add(chunk)
		}
		for _, c := range chunk[max(0, len(chunk)-2):] {
			tail[0], tail[1] = tail[1], c
		}
		if !found {
			continue
		}
		if bytes.HasSuffix(tail[:], []byte(end[:len(end)-1])) {
			if keep {
				x.text.cut(len(end) - 1)
			}
			return nil
		}
		if keep {
			x.text.add([]byte(">"))
		}
		tail[0], tail[1] = tail[1], '>'
	}
}

// doctype reads past a document type with all that it declares, none of which
// matters.
func (x *markup) doctype() error {
	var quote byte
	inside := false // the brackets
	for {
		c, err := x.in.ReadByte()
		if err != nil {
			return err
		}
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		case c == '>' && !inside:
			return nil
		case c == '<' && inside:
			if head, _ := x.in.Peek(3); string(head) == "!--" {
				if err := x.skip("-->", false); err != nil {
					return err
				}
			}
		}
	}
}

// maxTag is how much of a tag is kept. The attributes behind it are not seen.
const maxTag = 16 << 10

// readTag reads a tag and gives it to use, without < and >. A > in a quoted value
// does not end it, unless no end would be in sight.
func (x *markup) readTag(use func(tag []byte) error) error {
	x.tag = x.tag[:0]
	var quote byte
	for {
		chunk, end, err := upTo(x.in, ">")
		if err != nil {
			return err
		}
		if end && len(x.tag) == 0 && bytes.IndexByte(chunk, '"') < 0 && bytes.IndexByte(chunk, '\'') < 0 {
			return use(chunk)
		}
		for _, c := range chunk {
			switch {
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			case c == quote:
				quote = 0
			}
		}
		room := maxTag - len(x.tag)
		x.tag = append(x.tag, chunk[:min(len(chunk), room)]...)
		if end && (quote == 0 || len(chunk) >= room) {
			return use(x.tag)
		}
		if end {
			x.tag = append(x.tag, '>')
		}
	}
}

// start sees a start tag.
func (x *markup) start(tag []byte) error {
	name := tag[:nameLen(tag)]
	empty := tag[len(tag)-1] == '/'
	if empty {
		name = bytes.TrimSuffix(name, []byte("/"))
	}
	prefix, local := split(name)
	word := lower(x.word[:0], local)
	if x.root == "" {
		x.root = string(name)
		switch string(word) {
		case "urlset":
			x.kind = URLSet
		case "sitemapindex":
			x.kind = Index
		case "rss", "rdf", "channel":
			x.kind = RSS
		case "feed":
			x.kind = Atom
		case "html", "svg":
			x.stopped = true
			return fmt.Errorf("%w: the file is %s", ErrNoSitemap, word)
		}
	}
	if kind := x.entryKind(word); kind != "" && (len(x.entry) == 0 || bytes.Equal(x.entry, name)) {
		if err := x.closeEntry(); err != nil {
			return err
		}
		if x.opened++; x.opened > MaxEntries {
			x.stopped = true
			return ErrTooMany
		}
		if !empty {
			x.entry, x.depth, x.told = append(x.entry, name...), 0, 0
			x.e, x.guid, x.dated = Entry{Kind: kind, Priority: 0.5}, "", none
		}
		return nil
	}
	if len(x.entry) == 0 {
		if empty && x.root == string(name) {
			return errEnd
		}
		return nil
	}
	if x.depth++; x.depth == 1 {
		if x.field = x.fieldOf(prefix, word, tag); x.field != none {
			if x.told++; x.told > maxFields {
				x.field = none
			}
		}
		x.text.reset()
	}
	if empty {
		x.leave()
	}
	return nil
}

// entryKind is the kind of the entries that an element of the given local name
// holds, "" if it holds none.
func (x *markup) entryKind(local []byte) Kind {
	switch string(local) {
	case "url":
		if x.kind != RSS && x.kind != Atom {
			return URLSet
		}
	case "sitemap":
		if x.kind != RSS && x.kind != Atom {
			return Index
		}
	case "item":
		if x.kind == RSS {
			return RSS
		}
	case "entry":
		if x.kind == Atom {
			return Atom
		}
	}
	return ""
}

// fieldOf tells what an element right in an entry is. Links that are attributes
// are taken at once.
func (x *markup) fieldOf(prefix, local, tag []byte) field {
	own, _ := split(x.entry)
	ours := len(prefix) == 0 || bytes.Equal(prefix, own)
	switch x.e.Kind {
	case URLSet, Index:
		if !ours {
			return none // image:loc and its like
		}
		switch string(local) {
		case "loc":
			return loc
		case "lastmod":
			return lastmod
		case "priority":
			return priority
		case "changefreq":
			return changefreq
		}
	case RSS:
		switch string(local) {
		case "link":
			if ours {
				return loc
			}
		case "guid":
			if !strings.EqualFold(attribute(tag, "ispermalink"), "false") {
				return guid
			}
		case "pubdate", "date":
			return published
		case "updated", "modified":
			return lastmod
		}
	case Atom:
		if !ours {
			return none
		}
		switch string(local) {
		case "link":
			if rel := attribute(tag, "rel"); rel == "" || strings.EqualFold(rel, "alternate") {
				x.text.reset()
				x.text.addEscaped([]byte(attribute(tag, "href")))
				x.take(loc)
			}
		case "updated", "modified":
			return lastmod
		case "published", "issued":
			return published
		}
	}
	return none
}

// end sees an end tag.
func (x *markup) end(tag []byte) error {
	tag = tag[1:]
	name := tag[:nameLen(tag)]
	switch {
	case len(x.entry) > 0 && bytes.Equal(x.entry, name):
		if err := x.closeEntry(); err != nil || x.root != string(name) {
			return err
		}
		return errEnd
	case len(x.entry) > 0 && x.root != string(name):
		x.leave()
	case x.root == string(name):
		return errEnd
	}
	return nil
}

// leave goes out of an element in an entry.
func (x *markup) leave() {
	if x.depth == 1 {
		x.take(x.field)
		x.field = none
	}
	x.depth = max(0, x.depth-1)
}

// take puts the text of a field into the entry. The first that says something
// counts.
func (x *markup) take(f field) {
	if f == none {
		return
	}
	s := x.text.String()
	switch f {
	case loc:
		x.e.Loc = cmp.Or(x.e.Loc, s)
	case guid:
		if isAddress(s) {
			x.guid = cmp.Or(x.guid, s)
		}
	case lastmod, published:
		if x.dated == none || f == lastmod && x.dated == published {
			if date := lastMod(s); date != "" {
				x.e.LastMod, x.dated = date, f
			}
		}
	case priority:
		if x.e.Ranked {
			return
		}
		p, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
		if err == nil && 0 <= p && p <= 1 {
			x.e.Priority, x.e.Ranked = math.Abs(p), true // no -0
		}
	case changefreq:
		if x.e.ChangeFreq == "" {
			x.e.ChangeFreq = frequency(s)
		}
	}
}

// closeEntry ends the entry that is open, if one is, and emits it.
func (x *markup) closeEntry() error {
	if len(x.entry) == 0 {
		return nil
	}
	x.entry, x.field, x.depth = x.entry[:0], none, 0
	if x.e.Loc = cmp.Or(x.e.Loc, x.guid); x.e.Loc == "" {
		return nil
	}
	x.found = true
	err := x.emit(x.e)
	x.stopped = err != nil
	return err
}

// frequency is one of the protocol's words, "" if s is none.
func frequency(s string) string {
	for _, word := range [...]string{"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"} {
		if strings.EqualFold(s, word) {
			return word
		}
	}
	return ""
}

// isNameByte tells whether a name can begin with c.
func isNameByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == ':' || c >= 0x80
}

// nameLen is how many bytes of a tag are its name.
func nameLen(tag []byte) int {
	if i := bytes.IndexAny(tag, whitespace); i >= 0 {
		return i
	}
	return len(tag)
}

// split takes the prefix off a name.
func split(name []byte) (prefix, local []byte) {
	if prefix, local, ok := bytes.Cut(name, []byte{':'}); ok {
		return prefix, local
	}
	return nil, name
}

// maxName is longer than any name that matters.
const maxName = 16

// lower appends s in lower case to dst; nothing if it is too long to matter.
func lower(dst, s []byte) []byte {
	if len(s) > maxName {
		return dst
	}
	for _, c := range s {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

// attribute is the value of an attribute, as written, by its lower-case name; ""
// if there is none.
func attribute(tag []byte, name string) string {
	tag = tag[nameLen(tag):]
	for {
		key, after, ok := bytes.Cut(tag, []byte("="))
		if !ok {
			return ""
		}
		after = bytes.TrimLeft(after, whitespace)
		if len(after) == 0 || after[0] != '"' && after[0] != '\'' {
			tag = after
			continue
		}
		val, rest, _ := bytes.Cut(after[1:], after[:1])
		if strings.EqualFold(string(bytes.TrimSpace(key)), name) {
			return string(val)
		}
		tag = rest
	}
}
