package wire

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"slices"
	"unsafe"
)

// A rawRecord holds the line that a record was read from, and the memory of its strings.
type rawRecord struct {
	line    []byte   // the line as read; nil if the record was not read
	members []member // members of line, in order
	touched Section  // sections to be encoded from the fields of the record
	dropped Section  // sections that are not written

	droppedLinks int // number of links that the decoder dropped

	buf   []byte // backs line
	arena []byte // backs strings that had escapes
	body  []byte // base64 encoded by SetBody
	plain []byte // result of Bytes
	text  string // the text given to SetBody, valid UTF-8
}

// A member is a top-level member of a line.
type member struct {
	start, end int     // line[start:end] is the name, colon and value
	section    Section // 0 for an unknown field
}

// Members iterates over the members of the JSON object that a line holds. It yields the name
// of each member, and the whole member (name, colon and value) as written. It stops where the
// object is malformed, but does not check strings.
func Members(line []byte) iter.Seq2[string, []byte] {
	return func(yield func(name string, member []byte) bool) {
		d := decoder{line: line}
		d.members(func(name string, start int) error {
			skip := d.skipBody
			if d.peek() != '"' {
				skip = func() error { return d.skip(1) }
			}
			if err := skip(); err != nil {
				return err
			}
			if !yield(name, bytes.TrimLeft(line[start:d.pos], " \t\r\n")) {
				return io.EOF
			}
			return nil
		})
	}
}

// Touch marks sections to be written from the fields of the record. If the reader did not
// decode a section, only the fields that were set after reading are written.
func (r *Record) Touch(s Section) {
	r.raw.touched |= s
	r.raw.dropped &^= s
}

// Drop removes sections: it makes their fields absent, and the sections are only written
// if they are touched again.
func (r *Record) Drop(s Section) {
	for i := range recordObject.fields {
		if f := &recordObject.fields[i]; f.section&s != 0 {
			f.clear(unsafe.Pointer(r), Absent)
		}
	}
	r.raw.touched &^= s
	r.raw.dropped |= s
}

// Brief drops the body and parse sections, but keeps three fields: the frontier detects pages
// with the same content by their simhash, and summaries count needs_browser and the nofollow of
// robots_meta. The record must have been read with its parse section.
func (r *Record) Brief() {
	hash, needsBrowser, robotsMeta := r.Simhash, r.NeedsBrowser, r.RobotsMeta
	for i, m := range r.raw.members {
		text := r.raw.line[m.start:m.end]
		if m.section == Parse && len(text) <= maxKept && (bytes.HasPrefix(text, []byte(`"simhash"`)) || bytes.HasPrefix(text, []byte(`"needs_browser"`)) ||
			bytes.HasPrefix(text, []byte(`"robots_meta"`)) && (bytes.Contains(text, []byte("nofollow")) || bytes.Contains(text, []byte("none")))) {
			r.raw.members[i].section = 0
		}
	}
	r.Drop(Parse | Body)
	r.Simhash, r.NeedsBrowser, r.RobotsMeta = hash, needsBrowser, robotsMeta
}

const maxKept = 100 // length of the longest member that Brief keeps

// Has reports whether the line that the record was read from has a field of the sections, decoded or
// not.
func (r *Record) Has(s Section) bool {
	return slices.ContainsFunc(r.raw.members, func(m member) bool { return m.section&s != 0 })
}

// Memory returns the approximate number of bytes that the record keeps for reuse.
func (r *Record) Memory() int {
	link := int(unsafe.Sizeof(Link{})) + 3*int(unsafe.Sizeof(Scored{}))
	return cap(r.raw.buf) + cap(r.raw.arena) + cap(r.raw.body) + cap(r.raw.plain) + link*cap(r.Links)
}

// Size returns the length of the line that the record was read from, or 0 if the record
// was not read.
func (r *Record) Size() int { return len(r.raw.line) }

// DroppedLinks returns how many links the reader dropped because they cannot be followed. The line
// that was read still contains these links; it is copied if the parse section is not touched.
func (r *Record) DroppedLinks() int { return r.raw.droppedLinks }

// Reset empties the record. Its memory is kept for reuse.
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

// Clone returns a copy that shares no memory with r and is written like r. It does not
// keep the parts of the line that will not be written.
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

// SetBody sets and touches the body: Body if b is valid UTF-8, BodyBase64 otherwise.
// UTF-8 is not copied, so b must not change until the record is written or reset.
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

// Bytes returns the body from Body or BodyBase64, or nil if there is none. The bytes
// belong to the record and must not be changed. Bytes returns an error if BodyBase64 is
// not standard base64.
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
