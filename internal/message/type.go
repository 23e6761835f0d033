package message

import "strings"

// Maximum lengths of valid names: RFC 6838, section 4.2, allows 127 characters on each side of the
// slash of a media type; RFC 2978 allows 40 characters for a charset.
const (
	maxMediaType = 255
	maxCharset   = 40
)

// ContentType returns the media type and the charset in the values of Content-Type, both in lower
// case, or "" if there is none. It follows the Fetch Standard, "extract a MIME type": the last
// valid type of several fields, or of a list, counts, and keeps the charset of an equal type before
// it. In addition, it accepts blanks and single quotes around a charset, and a charset after a
// comma or a blank instead of a semicolon.
func ContentType(values ...string) (media, charset string) {
	for _, v := range split(strings.Join(values, ",")) {
		t, rest, _ := cut(v, ';')
		if strings.Contains(t, "charset") && !strings.Contains(t, "/") {
			rest = t // the parameter follows a comma
			t = media
		}
		t = strings.ToLower(strings.Trim(t, blanks))
		if !isMediaType(t) || t == "*/*" {
			continue
		}
		if c := charsetOf(rest); c != "" {
			charset = c
		} else if t != media {
			charset = ""
		}
		media = t
	}
	if media == "" && charset == "" {
		_, after, _ := strings.Cut(strings.ToLower(strings.Join(values, ",")), "charset")
		charset = charsetOf("charset" + after)
	}
	return media, charset
}

// MediaType returns the media type of [ContentType].
func MediaType(values ...string) string {
	media, _ := ContentType(values...)
	return media
}

const blanks = " \t\r\n"

// isMediaType reports whether t is a type and a subtype.
func isMediaType(t string) bool {
	kind, sub, _ := strings.Cut(t, "/")
	return len(t) <= maxMediaType && isToken(kind) && isToken(sub)
}

// charsetOf returns the first charset among parameters, or "".
func charsetOf(parameters string) string {
	for parameters != "" {
		var p string
		p, parameters, _ = cut(parameters, ';')
		name, value, ok := strings.Cut(p, "=")
		if !ok || !strings.EqualFold(strings.Trim(name, blanks), "charset") {
			continue
		}
		value = strings.Trim(value, blanks)
		if quoted, ok := strings.CutPrefix(value, `"`); ok {
			value, _, _ = strings.Cut(quoted, `"`)
		}
		value = strings.ToLower(strings.Trim(value, blanks+`'`))
		if value != "" && len(value) <= maxCharset {
			return value
		}
	}
	return ""
}

// split splits a list at its commas, and removes blanks around the elements. Commas in quoted
// strings do not count.
func split(s string) (elements []string) {
	for more := true; more; {
		var e string
		e, s, more = cut(s, ',')
		elements = append(elements, strings.Trim(e, blanks))
	}
	return elements
}

// cut cuts s around the first separator that is not in a quoted string (RFC 9110, section 5.6.4).
func cut(s string, separator byte) (before, after string, found bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == separator && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}
