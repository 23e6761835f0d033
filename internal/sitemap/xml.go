package sitemap

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Limits of XML, in addition to the limits of every file. Only the names of the root and of the
// open entry are kept, so the depth of nesting needs no limit.
const (
	maxToken  = 1 << 20 // length in bytes of one tag, comment, text or document type
	maxFaults = 1000    // number of syntax errors that are skipped
	maxFields = 16      // number of fields of an entry that are read; at most six are useful
)

var errToken = fmt.Errorf("%w: a tag or text longer than 1 MiB", ErrTruncated)

// errEnd is returned at the end of the root element.
var errEnd = errors.New("end of the root element")

// A tokenReader reads bytes, and fails once a token is too long.
type tokenReader struct {
	*bufio.Reader
	left int
	err  error // error of the last ReadByte
}

func (r *tokenReader) ReadByte() (c byte, err error) {
	if r.left == 0 {
		r.err = errToken
		return 0, r.err
	}
	r.left--
	c, r.err = r.Reader.ReadByte()
	return c, r.err
}

// readXML reads a sitemap, an index or a feed. It skips text that encoding/xml cannot parse, and the
// field of an entry in which this text occurs.
func readXML(in *bufio.Reader, emit func(Entry) error) error {
	r := &tokenReader{Reader: bufio.NewReaderSize(transform.NewReader(in, unicode.UTF8.NewDecoder()), buffered)}
	x := &markup{emit: emit}
	d := newDecoder(r)
	for faults := 0; ; {
		r.left = maxToken
		token, err := d.RawToken()
		switch {
		case err == nil:
			err = x.see(token)
		case r.err != nil:
			err = r.err
		case faults < maxFaults: // a syntax error
			faults++
			x.text.tooLong = true
			d, err = newDecoder(r), nil
		}
		switch {
		case err == nil:
			continue
		case err == errEnd:
			err = nil
		case x.stopped:
			return err
		default:
			err = truncated(err)
		}
		// Emit an entry that is not closed, too.
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

// newDecoder returns a lenient decoder of UTF-8, which ignores the encoding in the XML declaration.
func newDecoder(r io.Reader) *xml.Decoder {
	d := xml.NewDecoder(r)
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return d
}

// A markup collects entries from tokens.
type markup struct {
	emit    func(Entry) error
	stopped bool // emit returned an error, or the file is not a sitemap
	found   bool // at least one entry was emitted
	opened  int  // number of entries so far

	root xml.Name // name and prefix of the root element
	kind Kind     // kind of the root element; "" if its name is unknown

	entry  xml.Name // name and prefix of the open entry; zero if none is open
	depth  int      // number of open elements in the entry
	fields int      // number of fields in the entry
	field  field    // the field that is being read, at depth 1
	text   value    // text of this field
	e      Entry
	guid   string // address of an RSS item that has no link
	dated  field  // field from which e.LastMod was taken
}

// A field is the meaning of an element in an entry.
type field int

const (
	none field = iota
	loc
	guid
	lastmod
	published // used as date if there is no lastmod
	priority
)

// see handles the next token.
func (x *markup) see(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		return x.start(t)
	case xml.EndElement:
		return x.end(t.Name)
	case xml.CharData:
		if x.field != none && x.depth == 1 {
			x.text.add(t)
		}
	}
	return nil
}

// start handles a start tag. The decoder returns an end tag for every element, even an empty one.
func (x *markup) start(tag xml.StartElement) error {
	local := strings.ToLower(tag.Name.Local)
	if x.root.Local == "" {
		x.root = tag.Name
		switch local {
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
			return fmt.Errorf("%w: the file is %s", ErrNoSitemap, local)
		}
	}
	open := x.entry.Local != ""
	if kind := x.entryKind(local); kind != "" && (!open || x.entry == tag.Name) {
		if err := x.closeEntry(); err != nil {
			return err
		}
		if x.opened++; x.opened > MaxEntries {
			x.stopped = true
			return ErrTooMany
		}
		x.entry, x.depth, x.fields = tag.Name, 0, 0
		x.e, x.guid, x.dated = Entry{Kind: kind, Priority: 0.5}, "", none
		return nil
	}
	if !open {
		return nil
	}
	if x.depth++; x.depth == 1 {
		x.text.reset()
		if x.field = x.fieldOf(tag, local); x.field != none {
			if x.fields++; x.fields > maxFields {
				x.field = none
			}
		}
	}
	return nil
}

// end handles an end tag. Inside an entry every end tag closes the innermost element.
func (x *markup) end(name xml.Name) error {
	switch {
	case x.entry.Local != "" && x.entry == name:
		if err := x.closeEntry(); err != nil || x.root != name {
			return err
		}
		return errEnd
	case x.root == name:
		return errEnd
	case x.entry.Local != "":
		if x.depth == 1 {
			x.take(x.field)
			x.field = none
		}
		x.depth = max(0, x.depth-1)
	}
	return nil
}

// entryKind returns the kind of entry of an element with a local name, or "" if the element is
// not an entry.
func (x *markup) entryKind(local string) Kind {
	switch local {
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

// fieldOf returns the meaning of a direct child element of an entry. If an attribute contains a
// link, fieldOf stores the link at once.
func (x *markup) fieldOf(tag xml.StartElement, local string) field {
	// Elements of other namespaces, such as image:loc, do not describe the page.
	ours := tag.Name.Space == "" || tag.Name.Space == x.entry.Space
	switch x.e.Kind {
	case URLSet, Index:
		if !ours {
			return none
		}
		switch local {
		case "loc":
			return loc
		case "lastmod":
			return lastmod
		case "priority":
			return priority
		}
	case RSS:
		switch local {
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
		switch local {
		case "link":
			if rel := attribute(tag, "rel"); rel == "" || strings.EqualFold(rel, "alternate") {
				x.text.add([]byte(attribute(tag, "href")))
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

// take stores the text of a field in the entry. If there are several, the first usable value of a
// field is kept.
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
	}
}

// closeEntry closes and emits the open entry, if there is one.
func (x *markup) closeEntry() error {
	if x.entry.Local == "" {
		return nil
	}
	x.entry, x.field, x.depth = xml.Name{}, none, 0
	if x.e.Loc = cmp.Or(x.e.Loc, x.guid); x.e.Loc == "" {
		return nil
	}
	x.found = true
	err := x.emit(x.e)
	x.stopped = err != nil
	return err
}

// attribute returns the value of the attribute with a lower-case local name, or "" if there is
// none.
func attribute(tag xml.StartElement, name string) string {
	for _, a := range tag.Attr {
		if strings.EqualFold(a.Name.Local, name) && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}
