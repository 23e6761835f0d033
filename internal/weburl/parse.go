package weburl

import "strings"

// parse parses s, which may be relative to base.
func parse(s string, base URL, encode Encoder) (URL, error) {
	var space [256]byte // enough for nearly all URLs
	s = clean(s)
	out, u, err := write(space[:0], s, base, encode)
	if err != nil {
		return URL{}, err
	}
	switch {
	case string(out) == s:
		u.s = s
	case string(out) == base.s:
		u.s = base.s
	default:
		u.s = string(out)
	}
	return u, nil
}

// write implements the standard's basic URL parser for http and https, as one pass over byte
// strings instead of a state machine over code points. It appends the canonical form to out, which
// must be empty, and stores the offsets of its parts in u. s must have been passed through clean.
//
// See https://url.spec.whatwg.org/#concept-basic-url-parser. Comments name the states.
func write(out []byte, s string, base URL, encode Encoder) (_ []byte, u URL, err error) {
	if len(s) > MaxLength {
		return nil, u, ErrTooLong
	}
	// Fast path: most absolute links lead to the host of their page.
	if root := int(base.path); root > 0 && strings.HasPrefix(s, base.s[:root+1]) && (len(s) == root+1 || !isSlash(s[root+1])) {
		s = s[root:]
	}

	// Scheme start, scheme and no scheme state.
	scheme, rest, ok := cutScheme(s)
	switch {
	case ok:
		if scheme = known(scheme); scheme == "" {
			return nil, u, ErrScheme
		}
	case base.IsZero():
		return nil, u, ErrRelative
	default:
		scheme = base.Scheme()
	}

	switch {
	case scheme != base.Scheme(), len(rest) > 1 && isSlash(rest[0]) && isSlash(rest[1]):
		if out, rest, err = appendAuthority(&u, out, scheme, rest); err != nil {
			return nil, u, err
		}
		out, rest = appendPath(out, int(u.path), rest)

	// Relative and relative slash state.
	case rest == "", rest[0] == '#':
		return append(out, base.s...), base, nil
	case rest[0] == '?':
		u = base
		out = append(out, base.s[:base.query]...)
	case isSlash(rest[0]):
		u = base
		out = append(out, base.s[:base.path+1]...)
		out, rest = appendPath(out, int(base.path), rest[1:])
	default:
		u = base
		dir := strings.LastIndexByte(base.s[:base.query], '/')
		out = append(out, base.s[:dir+1]...)
		out, rest = appendPath(out, int(base.path), rest)
	}

	// Query state; rest is empty or begins with "?" or "#".
	query := len(out)
	if rest != "" && rest[0] == '?' {
		if i := strings.IndexByte(rest, '#'); i >= 0 {
			rest = rest[:i]
		}
		if encode != nil && !isASCII(rest) {
			rest = "?" + encode(rest[1:])
		}
		out = appendQuery(out, rest)
	}
	if len(out) > MaxLength {
		return nil, u, ErrTooLong
	}
	u.query = uint16(query)
	return out, u, nil
}

// appendAuthority appends the scheme, the host at the start of s, its port and a slash, and stores
// their offsets in u. It returns the rest of s, without the first slash of the path. It implements the
// special authority slashes, authority, host and port states, and skips user information.
func appendAuthority(u *URL, out []byte, scheme, s string) ([]byte, string, error) {
	for s != "" && isSlash(s[0]) {
		s = s[1:]
	}
	end := 0
	for end < len(s) && classes[s[end]]&authorityEnd == 0 {
		end++
	}
	authority, rest := s[:end], s[end:]
	if rest != "" && isSlash(rest[0]) {
		rest = rest[1:]
	}
	host, port := cutPort(authority[strings.LastIndexByte(authority, '@')+1:])

	out = append(out, scheme...)
	out = append(out, "://"...)
	u.host = uint16(len(out))
	out, err := appendHost(out, host)
	if err != nil {
		return nil, "", err
	}
	u.port = uint16(len(out))
	if out, err = appendPort(out, port, scheme); err != nil {
		return nil, "", err
	}
	u.path = uint16(len(out))
	return append(out, '/'), rest, nil
}

// clean removes characters that the standard ignores: control characters and spaces around a URL,
// and tabs and newlines inside it.
func clean(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\t') < 0 && strings.IndexByte(s, '\r') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for _, c := range []byte(s) {
		if c != '\t' && c != '\n' && c != '\r' {
			b = append(b, c)
		}
	}
	return string(b)
}

// cutScheme splits s at the colon after the scheme, if s has a scheme.
func cutScheme(s string) (scheme, rest string, ok bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && c == ':':
			return s[:i], s[i+1:], true
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return "", s, false
		}
	}
	return "", s, false
}

// known returns "http", "https", or "" for any other scheme.
func known(scheme string) string {
	switch {
	case strings.EqualFold(scheme, "http"):
		return "http"
	case strings.EqualFold(scheme, "https"):
		return "https"
	}
	return ""
}

// cutPort cuts an authority at the first colon outside brackets. The port keeps its colon.
func cutPort(s string) (host, port string) {
	inside := false
	for i := range len(s) {
		switch s[i] {
		case '[':
			inside = true
		case ']':
			inside = false
		case ':':
			if !inside {
				return s[:i], s[i:]
			}
		}
	}
	return s, ""
}

// appendPort appends ":" and the port in decimal, unless it is missing or the default.
func appendPort(out []byte, port, scheme string) ([]byte, error) {
	if len(port) <= 1 {
		return out, nil
	}
	digits := port[1:]
	n := 0
	for _, c := range []byte(digits) {
		if c < '0' || '9' < c {
			return nil, ErrPort
		}
		if n = n*10 + int(c-'0'); n > 65535 {
			return nil, ErrPort
		}
	}
	if scheme == "http" && n == 80 || scheme == "https" && n == 443 {
		return out, nil
	}
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	out = append(out, ':')
	return append(out, digits...), nil
}

// appendPath appends the path at the start of s to the path in out, and returns the rest of s. The
// path in out begins at root and ends in a slash.
func appendPath(out []byte, root int, s string) ([]byte, string) {
	segment := len(out)
	for {
		i := 0
		for i < len(s) && classes[s[i]]&pathPlain != 0 {
			i++
		}
		out = append(out, s[:i]...)
		s = s[i:]
		if s == "" || s[0] == '?' || s[0] == '#' {
			if dots(out[segment:]) != 0 {
				out = closeSegment(out, root, segment)
			}
			return out, s
		}
		switch c := s[0]; {
		case isSlash(c):
			out = closeSegment(out, root, segment)
			segment = len(out)
			s = s[1:]
		case c == '%' && len(s) > 2 && isHex(s[1]) && isHex(s[2]):
			out = appendOctet(out, unhex(s[1])<<4|unhex(s[2]))
			s = s[3:]
		case c == '%':
			out = append(out, c)
			s = s[1:]
		default:
			out = appendEscape(out, c)
			s = s[1:]
		}
	}
}

// closeSegment ends the last segment, out[i:]. It appends a slash to an ordinary segment, removes
// ".", and removes ".." together with the segment before it. The result ends in a slash.
func closeSegment(out []byte, root, i int) []byte {
	switch dots(out[i:]) {
	case 1:
		return out[:i]
	case 2:
		for i--; i > root && out[i-1] != '/'; i-- {
		}
		return out[:max(i, root+1)]
	}
	return append(out, '/')
}

// dots returns 1 if a segment is ".", 2 if it is "..", and 0 otherwise.
func dots(segment []byte) int {
	if n := len(segment); n == 1 && segment[0] == '.' || n == 2 && segment[0] == '.' && segment[1] == '.' {
		return n
	}
	return 0
}

// appendOctet appends an octet that was escaped in a path. It decodes unreserved octets, except
// hexadecimal digits after a percent sign that is not part of an escape: decoded, they would form
// a new escape.
func appendOctet(out []byte, c byte) []byte {
	if classes[c]&unreserved == 0 {
		return appendEscape(out, c)
	}
	if n := len(out); isHex(c) && (out[n-1] == '%' || out[n-2] == '%' && isHex(out[n-1])) {
		return appendEscape(out, c)
	}
	return append(out, c)
}

// appendQuery appends a query, with its question mark.
func appendQuery(out []byte, s string) []byte {
	for {
		i := 0
		for i < len(s) && classes[s[i]]&queryPlain != 0 {
			i++
		}
		out = append(out, s[:i]...)
		if i == len(s) {
			return out
		}
		out = appendEscape(out, s[i])
		s = s[i+1:]
	}
}

// appendEscape appends the percent-encoded form of c.
func appendEscape(out []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(out, '%', digits[c>>4], digits[c&15])
}

// isASCII reports whether s is ASCII.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

func isHex(c byte) bool { return classes[c]&hexadecimal != 0 }

// unhex returns the value of a hexadecimal digit.
func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

// A class is a set of roles that a byte has in a URL.
type class uint8

const (
	pathPlain    class = 1 << iota // allowed in a path segment; percent signs are handled separately
	queryPlain                     // allowed in a query
	hostPlain                      // allowed in a host
	hostUpper                      // upper-case letter of a host
	authorityEnd                   // ends an authority
	unreserved                     // never escaped in canonical form: RFC 3986, section 2.3
	hexadecimal
)

// classes contains the class of each byte. It is derived from the complements of the standard's
// percent-encode sets and forbidden host code points.
var classes = func() (t [256]class) {
	for c := byte('!'); c <= '~'; c++ {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		digit := '0' <= c && c <= '9'
		if strings.IndexByte("\"#<>?^`{}/\\%", c) < 0 {
			t[c] |= pathPlain
		}
		if strings.IndexByte("\"#<>'", c) < 0 {
			t[c] |= queryPlain
		}
		if 'A' <= c && c <= 'Z' {
			t[c] |= hostUpper
		} else if strings.IndexByte("#/:<>?@[\\]^|%", c) < 0 {
			t[c] |= hostPlain
		}
		if strings.IndexByte("/\\?#", c) >= 0 {
			t[c] |= authorityEnd
		}
		if letter || digit || strings.IndexByte("-._~", c) >= 0 {
			t[c] |= unreserved
		}
		if digit || 'a' <= c|0x20 && c|0x20 <= 'f' {
			t[c] |= hexadecimal
		}
	}
	return t
}()
