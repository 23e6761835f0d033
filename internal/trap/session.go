package trap

import "strings"

// WithoutSession returns path and query without session identifiers, and reports whether there
// were any. A page whose URL contains a session identifier has a new URL at every visit.
//
// WithoutSession removes the identifiers that SURT removes (Java, PHP, ASP.NET and ColdFusion, as
// in Heritrix and pywb). It also removes a few parameters of shops and forums if their values look
// random.
func WithoutSession(path, query string) (p, q string, found bool) {
	p, q = path, query
	// /page;jsessionid=0123ABCD: a parameter of the path.
	if i := strings.IndexByte(p, ';'); i >= 0 {
		name, value, _ := strings.Cut(p[i+1:], "=")
		value, rest := cutAt(value, "/;")
		if isSession(name, value) {
			p, found = p[:i]+rest, true
		}
	}
	// /(S(lit3py55t21z5v55vlm25s55))/page: a segment.
	if i := strings.Index(p, "/("); i >= 0 {
		segment, rest, more := strings.Cut(p[i+1:], "/")
		if inner, ok := strings.CutSuffix(segment[1:], "))"); ok && more && len(inner) > 10 && inner[1] == '(' {
			p, found = p[:i]+"/"+rest, true
		}
	}
	if q == "" || strings.IndexByte(q, '=') < 0 {
		return p, q, found
	}
	inQuery := false
	kept := make([]string, 0, 8)
	for part := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(part, "="); isSession(name, value) {
			inQuery = true
		} else {
			kept = append(kept, part)
		}
	}
	if inQuery {
		return p, strings.Join(kept, "&"), true
	}
	return p, q, found
}

// cutAt splits s before the first of the given bytes.
func cutAt(s, bytes string) (before, rest string) {
	if i := strings.IndexAny(s, bytes); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// isSession reports whether a parameter is a session identifier. For an ambiguous name, the
// value must look random.
func isSession(name, value string) bool {
	minLen := 0
	switch n := len(name); {
	case n > 32:
		return false
	case fold(name, "jsessionid"), fold(name, "phpsessid"), fold(name, "cfid"), fold(name, "cftoken"),
		n > 12 && fold(name[:12], "aspsessionid"):
		return value != ""
	case fold(name, "sessionid"), fold(name, "session_id"), fold(name, "sessid"), fold(name, "oscsid"), fold(name, "zenid"), fold(name, "xtcsid"):
		minLen = 8
	case fold(name, "sid"), fold(name, "session"), fold(name, "s"):
		minLen = 24
	default:
		return false
	}
	return len(value) >= minLen && isToken(value)
}

// fold reports whether name equals word, ignoring case. word must be in lower case.
func fold(name, word string) bool { return len(name) == len(word) && strings.EqualFold(name, word) }

// isToken reports whether a value consists of letters and digits, with at least some digits.
func isToken(value string) bool {
	digits := 0
	for i := range len(value) {
		switch c := value[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c|0x20 < 'a' || c|0x20 > 'z':
			return false
		}
	}
	return digits >= 2
}
