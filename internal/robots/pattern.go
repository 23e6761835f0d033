package robots

import "strings"

// A pattern is a rule's value taken apart at its stars. It matches a path that
// begins with head, then holds the pieces of middle in order and without
// overlap, and, if anchored, ends in tail behind them.
type pattern struct {
	head     string
	middle   []string
	tail     string
	starred  bool // there was a star
	anchored bool // the value ended in "$"
}

func newPattern(s string) pattern {
	var p pattern
	s, p.anchored = strings.CutSuffix(s, "$")
	s = strings.ReplaceAll(s, "$", "%24") // elsewhere it is a character like any other
	p.head, s, p.starred = strings.Cut(s, "*")
	if !p.starred {
		return p
	}
	if p.anchored {
		i := strings.LastIndexByte(s, '*') + 1
		s, p.tail = s[:i], s[i:]
	}
	for piece := range strings.SplitSeq(s, "*") {
		if piece != "" {
			p.middle = append(p.middle, piece)
		}
	}
	return p
}

// match reports whether path, in which "*" and "$" are escaped, is matched.
//
// Taking every piece at its first occurrence is enough: a later one leaves less
// room for those that follow. So the time is linear in the path for every
// pattern, however many stars a stranger puts into it.
func (p *pattern) match(path string) bool {
	path, ok := strings.CutPrefix(path, p.head)
	if !ok {
		return false
	}
	if !p.starred {
		return !p.anchored || path == ""
	}
	for _, piece := range p.middle {
		i := strings.Index(path, piece)
		if i < 0 {
			return false
		}
		path = path[i+len(piece):]
	}
	return !p.anchored || strings.HasSuffix(path, p.tail)
}

// escape brings s to the form in which a well-made URL would spell it: the
// digits of escapes in upper case, and, in a rule, all octets above ASCII
// escaped. In a path "*" and "$" are escaped instead, because in rules they
// mean something else when they are not (RFC 9309, section 2.2.3).
func escape(s string, rule bool) string {
	needed := func(i int) bool {
		c := s[i]
		switch {
		case c == '%':
			return i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) && (s[i+1] >= 'a' || s[i+2] >= 'a')
		case rule:
			return c >= 0x80
		}
		return c == '*' || c == '$'
	}
	i := 0
	for i < len(s) && !needed(i) {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:i])
	for ; i < len(s); i++ {
		switch {
		case !needed(i):
			b.WriteByte(s[i])
		case s[i] == '%':
			b.WriteString(strings.ToUpper(s[i : i+3]))
			i += 2
		default:
			b.WriteByte('%')
			b.WriteByte(upperHex[s[i]>>4])
			b.WriteByte(upperHex[s[i]&15])
		}
	}
	return b.String()
}

// normalize takes off the escapes of unreserved characters (RFC 3986, section
// 2.3) and puts them on where an octet above ASCII has none.
func normalize(s string) string {
	i := 0
	for i < len(s) && s[i] != '%' && s[i] < 0x80 {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:i])
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			if d := unhex(s[i+1])<<4 | unhex(s[i+2]); isUnreserved(d) {
				b.WriteByte(d)
			} else {
				b.WriteString(s[i : i+3])
			}
			i += 2
		case c >= 0x80:
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

const upperHex = "0123456789ABCDEF"

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}
