package weburl

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// SURT returns the key of u in an index of an archive, its Sort-friendly URI Reordering
// Transform: "com,example:8080)/a?b&c" for "https://www.example.com:8080/A/?c&b". Keys are the
// same as in pywb and in the Python package surt, so that indexes can be exchanged.
// Several URLs may have the same key: after a lookup, compare the URLs.
//
// The key is made as follows:
//
//   - Remove the scheme, one "www." (or "www2." with any number), and dots at the ends of the
//     host.
//   - Reverse the labels of the host and join them by commas, even for an IPv4 address;
//     remove the brackets of an IPv6 address; keep a port that is not the default.
//   - Decode escapes in path and query until none are left, then escape "%", "#", spaces and
//     everything that is not printable ASCII; resolve dot segments that decoding produces.
//   - Replace two or more slashes by one; remove the slash at the end.
//   - Convert everything to lower case, including escapes.
//   - Remove the session identifiers of ASP.NET from paths, and the session identifiers of PHP,
//     Java, ASP and ColdFusion from queries.
//   - Sort the parameters by name and then by value; remove an empty query.
//
// The CDXJ specification of Webrecorder keeps "www" ("com,example,www)/") and leaves most of
// the rest open; the Heritrix form keeps the scheme and a final comma
// ("http://(com,example,)/"). This package follows pywb, whose indexes are the common ones.
//
// Source: https://github.com/internetarchive/surt, DefaultIAURLCanonicalizer.
func (u URL) SURT() string {
	if u.IsZero() {
		return ""
	}
	out := make([]byte, 0, len(u.s)+8)
	out = appendHostKey(out, u.Hostname())
	out = append(out, u.s[u.port:u.path]...)
	out = append(out, ')')
	out = appendPathKey(out, u.Path())
	if query := u.Query(); query != "" {
		out = appendQueryKey(out, query)
	}
	return string(out)
}

// appendHostKey appends the labels of a host in reverse.
func appendHostKey(out []byte, host string) []byte {
	if address, ok := strings.CutPrefix(host, "["); ok {
		return append(out, strings.TrimSuffix(address, "]")...)
	}
	host = strings.Trim(strings.ReplaceAll(host, "..", "."), ".")
	if rest, ok := strings.CutPrefix(host, "www"); ok {
		if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, "0123456789"), "."); ok {
			host = rest
		}
	}
	for {
		dot := strings.LastIndexByte(host, '.')
		out = append(out, host[dot+1:]...)
		if dot < 0 {
			return out
		}
		out = append(out, ',')
		host = host[:dot]
	}
}

// appendPathKey appends the key of a path.
func appendPathKey(out []byte, path string) []byte {
	path = unescape(path)
	if strings.Contains(path, "//") || strings.Contains(path, "/.") {
		path = tidy(path)
	}
	root := len(out)
	out = appendKey(out, path)
	if key := out[root:]; bytes.Contains(key, []byte(".aspx")) && bytes.IndexByte(key, '(') >= 0 {
		for _, r := range pathSessions() {
			out = append(out[:root], r.ReplaceAll(out[root:], []byte("$1$2"))...)
		}
	}
	if n := len(out); n > root+1 && out[n-1] == '/' {
		out = out[:n-1]
	}
	return out
}

// tidy resolves dot segments and drops empty segments. ".." removes the segment before it, even an
// empty one; if there is none, ".." stays.
func tidy(path string) string {
	var kept []string
	for segment := range strings.SplitSeq(path[1:], "/") {
		switch {
		case segment == ".":
		case segment == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, segment)
		}
	}
	kept = slices.DeleteFunc(kept, func(s string) bool { return s == "" })
	return "/" + strings.Join(kept, "/")
}

// appendQueryKey appends the key of a non-empty query with its question mark, or nothing if
// the key is empty.
func appendQueryKey(out []byte, query string) []byte {
	query = string(appendKey(nil, unescape(query)))
	if strings.Contains(query, "sid=") || strings.Contains(query, "sessionid") || strings.Contains(query, "cfid=") {
		for _, r := range querySessions() {
			query = r.ReplaceAllString(query, "$1$2")
		}
	}
	if query == "" {
		return out
	}
	if strings.IndexByte(query, '&') >= 0 {
		parameters := strings.Split(query, "&")
		slices.SortStableFunc(parameters, func(a, b string) int {
			aName, aValue, _ := strings.Cut(a, "=")
			bName, bValue, _ := strings.Cut(b, "=")
			return cmp.Or(
				strings.Compare(aName, bName),
				cmp.Compare(min(1, len(a)-len(aName)), min(1, len(b)-len(bName))),
				strings.Compare(aValue, bValue),
			)
		})
		query = strings.Join(parameters, "&")
	}
	return append(append(out, '?'), query...)
}

// unescape decodes percent-escapes until none is left: %2541 becomes %41, and then A. Any byte of
// an escape may come from another escape, as the digit 1 in %4%31. To take linear time, it pushes
// the bytes on a stack, and examines each together with the two below it.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for _, c := range []byte(s) {
		b = append(b, c)
		for n := len(b); n > 2 && b[n-3] == '%' && isHex(b[n-2]) && isHex(b[n-1]); n = len(b) {
			b = append(b[:n-3], unhex(b[n-2])<<4|unhex(b[n-1]))
		}
	}
	return string(b)
}

// appendKey appends s in lower case, and escapes what is not printable ASCII.
func appendKey(out []byte, s string) []byte {
	const digits = "0123456789abcdef"
	for _, c := range []byte(s) {
		switch {
		case c <= ' ' || c >= 0x7f || c == '%' || c == '#':
			out = append(out, '%', digits[c>>4], digits[c&15])
		case 'A' <= c && c <= 'Z':
			out = append(out, c|0x20)
		default:
			out = append(out, c)
		}
	}
	return out
}

// Session identifiers in lower-case text, as in the package surt, to be replaced by $1$2. They
// are compiled on first use.
var (
	pathSessions = sync.OnceValue(func() []*regexp.Regexp {
		return compile(
			`^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$`,
			`^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$`,
		)
	})
	querySessions = sync.OnceValue(func() []*regexp.Regexp {
		return compile(
			`^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$`,
			`^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$`,
			`^(.*)sid=[0-9a-z]{32}(?:&(.*))?$`,
			`^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$`,
			`^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$`,
		)
	})
)

func compile(patterns ...string) []*regexp.Regexp {
	rs := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		rs[i] = regexp.MustCompile(p)
	}
	return rs
}
