package page

import "strings"

// A docType is what a DOCTYPE declares.
type docType struct {
	name, public, system string
	hasPublic, hasSystem bool
	forceQuirks          bool // it is malformed
}

// blanks is the white space of HTML.
const blanks = "\t\n\f\r "

// doctype reads the latest token, a doctype, as the standard does (13.2.5.53 to
// 13.2.5.68). Its strings stay until reset.
func (z *scanner) doctype() (d docType) {
	s := strings.TrimLeft(z.page[z.inside:z.outside], blanks)
	d.forceQuirks = z.outside == z.to // the page ends in it
	end := strings.IndexAny(s, blanks)
	if end < 0 {
		end = len(s)
	}
	d.name = z.lower(s[:end])
	s = strings.TrimLeft(s[end:], blanks)
	const keyword = len("public")
	isPublic := len(s) >= keyword && equalFold(s[:keyword], "public")
	isSystem := len(s) >= keyword && equalFold(s[:keyword], "system")
	if d.name == "" || s != "" && !isPublic && !isSystem {
		d.forceQuirks = true
		return d
	}
	if s == "" {
		return d
	}
	s = strings.TrimLeft(s[keyword:], blanks)
	if isPublic {
		var closed bool
		d.public, s, d.hasPublic, closed = z.quoted(s)
		s = strings.TrimLeft(s, blanks)
		if !closed || s == "" {
			d.forceQuirks = d.forceQuirks || !closed
			return d
		}
	}
	var closed bool
	d.system, s, d.hasSystem, closed = z.quoted(s)
	if !closed {
		d.forceQuirks = true
	} else if strings.TrimLeft(s, blanks) != "" {
		d.forceQuirks = false // whatever follows
	}
	return d
}

// quoted reads a string in quotes at the beginning of s, and tells whether one
// begins there, and ends.
func (z *scanner) quoted(s string) (value, rest string, begins, ends bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", s, false, false
	}
	value, rest, ends = strings.Cut(s[1:], s[:1])
	from := len(z.kept)
	z.kept = appendDecoded(z.kept, value, asWritten, true)
	return view(z.kept[from:]), rest, true, ends
}
