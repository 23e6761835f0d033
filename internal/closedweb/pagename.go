package closedweb

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// PageName returns the name that a graph file gives to the page at an address: the host in
// lower case, with the port unless that is 80 or 443; the path without escapes, in lower
// case, with single slashes, no trailing slash and no index page ("/A%20b//Index.html" is
// "/a b"); and the query, unchanged. Scheme, user and fragment are ignored.
//
// A crawler could not identify pages by these names, because servers distinguish "/A" from
// "/a". But the people who labelled pages by hand used them, and so do the graphs made with
// these labels. Addresses are split in the way of Python's urllib, with which these graphs
// were made. If an address cannot be split, its name is the address itself.
func PageName(address string) string {
	address = strings.TrimFunc(address, isBlank)
	address, _, _ = strings.Cut(address, "#")
	rest := strings.TrimLeftFunc(address, func(r rune) bool { return r <= ' ' })
	rest = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, rest)
	rest = withoutScheme(rest)
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexAny(after, "/?")
		if end < 0 {
			end = len(after)
		}
		host, rest = after[:end], after[end:]
		if !isHost(host) {
			return address
		}
	}
	path, query, _ := strings.Cut(rest, "?")
	path = unescape(path)
	if slash := strings.LastIndexByte(path, '/'); slash >= 0 && isIndexPage(path[slash+1:]) {
		path = path[:slash+1]
	}
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if path == "" {
		path = "/"
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	if query != "" {
		query = "?" + query
	}
	return hostAndPort(host) + lower(path) + query
}

// isHost reports whether a host has no brackets, or brackets around an IPv6 address.
func isHost(s string) bool {
	_, bracketed, opened := strings.Cut(s, "[")
	if !opened {
		return !strings.Contains(s, "]")
	}
	inside, _, closed := strings.Cut(bracketed, "]")
	ip, err := netip.ParseAddr(inside)
	return closed && err == nil && ip.Is6()
}

// isBlank reports whether r is trimmed from the ends of an address.
func isBlank(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

// withoutScheme returns an address without its scheme and colon.
func withoutScheme(address string) string {
	scheme, rest, ok := strings.Cut(address, ":")
	for i, r := range scheme {
		letter := 'a' <= r|0x20 && r|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", r)) {
			return address
		}
	}
	if !ok || scheme == "" {
		return address
	}
	return rest
}

// hostAndPort returns the authority of an address without user, in lower case. The port is
// omitted if it is 0, 80, 443 or not a number.
func hostAndPort(s string) string {
	s = s[strings.LastIndexByte(s, '@')+1:]
	host, port, _ := strings.Cut(s, ":")
	if _, bracketed, ok := strings.Cut(s, "["); ok {
		host, port, _ = strings.Cut(bracketed, "]")
		_, port, _ = strings.Cut(port, ":")
	}
	host = lower(host)
	if n, err := strconv.ParseUint(port, 10, 16); err == nil && n != 0 && n != 80 && n != 443 {
		host += ":" + strconv.FormatUint(n, 10)
	}
	return host
}

// isIndexPage reports whether the last part of a path names the index of its directory.
func isIndexPage(name string) bool {
	for _, word := range [...]string{"index", "home", "default", "welcome"} {
		if strings.EqualFold(name, word+".html") || strings.EqualFold(name, word+".htm") {
			return true
		}
	}
	return false
}

// unescape decodes the escapes of a path. Each run of ASCII characters and escapes is decoded
// separately as UTF-8.
func unescape(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var out strings.Builder
	var octets []byte
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c >= utf8.RuneSelf {
			writeUTF8(&out, octets)
			octets = octets[:0]
			out.WriteByte(c)
			continue
		}
		if c == '%' && i+2 < len(path) {
			if n, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				c, i = byte(n), i+2
			}
		}
		octets = append(octets, c)
	}
	writeUTF8(&out, octets)
	return out.String()
}

// writeUTF8 writes octets as UTF-8. It replaces each maximal subpart of an ill-formed sequence by
// U+FFFD, as the Unicode Standard recommends (section 3.9).
func writeUTF8(out *strings.Builder, octets []byte) {
	for len(octets) > 0 {
		r, n := utf8.DecodeRune(octets)
		if r == utf8.RuneError && n == 1 {
			for n < len(octets) && !utf8.FullRune(octets[:n+1]) {
				n++
			}
		}
		out.WriteRune(r)
		octets = octets[n:]
	}
}

// lower returns s in lower case, by the full mapping of Unicode.
func lower(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return cases.Lower(language.Und).String(s)
		}
	}
	return strings.ToLower(s)
}
