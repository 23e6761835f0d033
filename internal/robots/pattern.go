package robots

import "strings"

// anchor escapes every "$" in s, except a "$" at the end, which matches the end of the
// path.
func anchor(s string) string {
	if i := strings.IndexByte(s, '$'); i < 0 || i == len(s)-1 {
		return s
	}
	s, anchored := strings.CutSuffix(s, "$")
	s = strings.ReplaceAll(s, "$", "%24")
	if anchored {
		s += "$"
	}
	return s
}

// match reports whether pattern matches path, in which "*" and "$" are escaped: path
// begins with the text before the first star, contains the pieces between stars in
// order without overlap, and, if the pattern ends in "$", ends in the last piece.
//
// It uses the first occurrence of every piece, because a later occurrence would leave less
// of the path for the following pieces. So for any pattern the time is linear in the length
// of path.
func match(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	piece, pattern, more := strings.Cut(pattern, "*")
	path, ok := strings.CutPrefix(path, piece)
	if !more || !ok {
		return ok && (!anchored || path == "")
	}
	for {
		if piece, pattern, more = strings.Cut(pattern, "*"); !more && anchored {
			return strings.HasSuffix(path, piece)
		}
		i := strings.Index(path, piece)
		if i < 0 {
			return false
		}
		if !more {
			return true
		}
		path = path[i+len(piece):]
	}
}

// escape writes s in the form of a well-formed URL: it escapes octets that RFC 3986 does not
// allow, and writes the digits of escapes in upper case. In a path it also escapes "*" and
// "$", because they have a meaning in rules (RFC 9309, section 2.2.3). It does not escape
// octets above ASCII; [normalize] does.
func escape(s string, rule bool) string {
	needed := func(i int) bool {
		switch c := s[i]; c {
		case '%':
			return i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) && (s[i+1] >= 'a' || s[i+2] >= 'a')
		case '*', '$':
			return !rule
		case '"', '<', '>', '\\', '^', '`', '{', '|', '}':
			return true
		default:
			return c <= ' ' || c == 0x7f || rule && c >= 0x80
		}
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

// normalize decodes escapes of unreserved characters (RFC 3986, section 2.3), and
// escapes octets above ASCII and, in the query, characters that delimit other parts of
// a URL, as in the table of RFC 9309, section 2.2.2.
func normalize(s string) string {
	query := false
	needed := func(c byte) bool {
		return c >= 0x80 || query && (c == ':' || c == '/' || c == '?' || c == '@' || c == '[' || c == ']')
	}
	i := 0
	for i < len(s) && s[i] != '%' && !needed(s[i]) {
		query = query || s[i] == '?'
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
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
		case needed(c):
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		default:
			b.WriteByte(c)
			query = query || c == '?'
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
