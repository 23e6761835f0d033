package wire

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"unsafe"
)

// A rawRecord is what a record remembers of the line that it came from, and the
// memory that its strings live in.
type rawRecord struct {
	line    []byte   // the record as read; nil if it was made here
	members []member // of line, in order
	touched Section  // to be encoded from the fields
	dropped Section  // not to be written

	buf   []byte // memory of line
	arena []byte // memory of the strings that had escapes
	body  []byte // memory of SetBody
	plain []byte // memory of Bytes
	text  string // what SetBody found to be UTF-8
}

// A member is a top-level member of a line.
type member struct {
	start, end int     // line[start:end] is its name, colon and value
	section    Section // 0 if it has no name here
}

// Touch says that the given sections are to be written from the fields of the
// record. Of a section that the reader was not asked to decode only those
// fields are written that were set since.
func (r *Record) Touch(s Section) {
	r.raw.touched |= s
	r.raw.dropped &^= s
}

// Drop removes the given sections: their fields become absent and nothing of
// them is written, unless they are set and touched again.
func (r *Record) Drop(s Section) {
	for i := range recordObject.fields {
		if f := &recordObject.fields[i]; f.section&s != 0 {
			f.clear(unsafe.Pointer(r), Absent)
		}
	}
	r.raw.touched &^= s
	r.raw.dropped |= s
}

// Brief drops what only the page itself tells: body and parse section, but for the
// simhash, by which the frontier knows pages that say the same. It leaves as it came,
// so the record must be one that was read, with its parse section decoded.
func (r *Record) Brief() {
	hash := r.Simhash
	for i, m := range r.raw.members {
		if text := r.raw.line[m.start:m.end]; m.section == Parse && len(text) <= maxSimhash && bytes.HasPrefix(text, []byte(simhashName)) {
			r.raw.members[i].section = 0
		}
	}
	r.Drop(Parse | Body)
	r.Simhash = hash
}

// How the simhash stands in a line, and how long it is with some white space.
const (
	simhashName = `"simhash"`
	maxSimhash  = 40
)

// Memory is about how many bytes the record keeps to be read into again.
func (r *Record) Memory() int {
	link := int(unsafe.Sizeof(Link{})) + 3*int(unsafe.Sizeof(Scored{}))
	return cap(r.raw.buf) + cap(r.raw.arena) + cap(r.raw.body) + cap(r.raw.plain) + link*cap(r.Links)
}

// Size is how many bytes the line had that the record was read from; 0 if it was
// made here.
func (r *Record) Size() int { return len(r.raw.line) }

// Reset empties the record and keeps its memory for the next one.
func (r *Record) Reset() {
	*r = Record{
		Parents:   r.Parents[:0],
		Redirects: r.Redirects[:0],
		Headers:   r.Headers[:0],
		Links:     r.Links[:0],
		Fields:    r.Fields[:0],
		Scores:    r.Scores[:0],
		Reasons:   r.Reasons[:0],
		raw: rawRecord{
			members: r.raw.members[:0],
			buf:     r.raw.buf,
			arena:   r.raw.arena[:0],
			body:    r.raw.body[:0],
			plain:   r.raw.plain[:0],
		},
	}
}

// Clone returns a copy that shares no memory with r. It is written as r would
// be written, and takes no more memory than that needs: what was dropped or
// touched is not kept twice.
func (r *Record) Clone() *Record {
	c := *r
	c.raw = r.raw.clone()
	c.Parents = slices.Clone(r.Parents)
	c.Redirects = slices.Clone(r.Redirects)
	c.Headers = cloneValues(r.Headers)
	c.Links = slices.Clone(r.Links)
	for i := range c.Links {
		c.Links[i].Scores = slices.Clone(c.Links[i].Scores)
	}
	c.Fields = cloneValues(r.Fields)
	c.Scores = slices.Clone(r.Scores)
	c.Reasons = slices.Clone(r.Reasons)

	size := 0
	c.eachString(func(s *string) { size += len(*s) })
	memory := make([]byte, 0, size)
	c.eachString(func(s *string) {
		n := len(memory)
		memory = append(memory, *s...)
		*s = alias(memory[n:])
	})
	return &c
}

func (raw *rawRecord) clone() rawRecord {
	c := rawRecord{touched: raw.touched, dropped: raw.dropped}
	changed := raw.touched | raw.dropped
	if changed == 0 {
		c.line = slices.Clone(raw.line)
		c.members = slices.Clone(raw.members)
		return c
	}
	if raw.line == nil {
		return c
	}
	size := 0
	for _, m := range raw.members {
		if m.section&changed == 0 {
			size += m.end - m.start
		}
	}
	c.line = make([]byte, 0, size)
	for _, m := range raw.members {
		if m.section&changed == 0 {
			n := len(c.line)
			c.line = append(c.line, raw.line[m.start:m.end]...)
			c.members = append(c.members, member{n, len(c.line), m.section})
		}
	}
	return c
}

func cloneValues(s []Values) []Values {
	s = slices.Clone(s)
	for i := range s {
		s[i].Values = slices.Clone(s[i].Values)
	}
	return s
}

// eachString calls f with every string of the record.
func (r *Record) eachString(f func(*string)) {
	values := func(s []Values) {
		for i := range s {
			f(&s[i].Name)
			for j := range s[i].Values {
				f(&s[i].Values[j])
			}
		}
	}
	scores := func(s []Scored) {
		for i := range s {
			f(&s[i].Name)
		}
	}
	strings := func(o *object, base unsafe.Pointer) {
		for i := range o.fields {
			if o.fields[i].kind == kindString {
				f(in[string](&o.fields[i], base))
			}
		}
	}
	strings(recordObject, unsafe.Pointer(r))
	for i := range r.Parents {
		f(&r.Parents[i])
	}
	for i := range r.Redirects {
		strings(redirectObject, unsafe.Pointer(&r.Redirects[i]))
		f(&r.Redirects[i].extra)
	}
	values(r.Headers)
	for i := range r.Links {
		l := &r.Links[i]
		strings(linkObject, unsafe.Pointer(l))
		f(&l.extra)
		scores(l.Scores)
	}
	values(r.Fields)
	scores(r.Scores)
	scores(r.Reasons)
}

// SetBody makes b the page of the record and touches the section: as Body if b is
// valid UTF-8, as BodyBase64 otherwise. Text is not copied: b must not change until the
// record was written or is Reset.
func (r *Record) SetBody(b []byte) {
	r.Body, r.BodyBase64 = "", ""
	if valid(b) {
		r.Body = alias(b)
		r.raw.text = r.Body
	} else {
		r.raw.body = base64.StdEncoding.AppendEncode(r.raw.body[:0], b)
		r.BodyBase64 = alias(r.raw.body)
	}
	r.Touch(Body)
}

// Bytes returns the page, whichever field holds it; nil if there is none. The
// bytes belong to the record and must not be changed. The error is about a
// BodyBase64 that is not standard base64.
func (r *Record) Bytes() ([]byte, error) {
	if r.BodyBase64 == "" {
		return unsafe.Slice(unsafe.StringData(r.Body), len(r.Body)), nil
	}
	b, err := base64.StdEncoding.AppendDecode(r.raw.plain[:0], unsafe.Slice(unsafe.StringData(r.BodyBase64), len(r.BodyBase64)))
	if err != nil {
		return nil, fmt.Errorf("body_base64: %w", err)
	}
	r.raw.plain = b
	return b, nil
}
