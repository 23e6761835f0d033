// Package weburl parses URLs and defines their identity: the canonical form, the host, and the
// niche that a page belongs to.
//
// URLs are parsed by the WHATWG URL Standard (https://url.spec.whatwg.org), because pages are
// written for browsers: "http:\\A.org\x\..\y", "//b.org" and "HTTP://b%2Eorg:80" are all
// links. Only http and https are supported; other schemes are recognized and refused with
// [ErrScheme].
//
// # Canonical form
//
// A [URL] is always in canonical form, which is the standard's serialization with four
// changes:
//
//   - The fragment is dropped: it is not sent to servers.
//   - User name and password are dropped: crawlers do not log in, and a secret in a link must
//     not end up in a log or an archive.
//   - In the path, escapes of unreserved octets are decoded ("%7E" becomes "~") and the digits
//     of all other escapes are upper case ("%c3" becomes "%C3"), which RFC 3986, section
//     6.2.2, calls equivalent. A decoded octet never completes another escape ("%%341" stays).
//   - Bytes that are not UTF-8 are escaped unchanged, because the server expects the bytes of
//     "/caf\xe9". The standard replaces them by U+FFFD.
//
// Everything else follows the standard: scheme and host in lower case, the host in Punycode, IPv4
// and IPv6 addresses in their canonical form, no default port, "/" for an empty path, dot segments
// resolved, escapes where needed.
//
// The canonical form keeps everything that may select another page: the query (with its order,
// empty parameters and the case of escapes, since some are signed), an empty query, doubled
// slashes, letter case of the path, "index.html", and a dot at the end of the host (resolvers and
// servers treat it as another name).
//
// # Limitations
//
// The standard has no limits. In this package a URL may have at most [MaxLength] bytes, and a host
// that is not ASCII at most 512 bytes, more than DNS permits.
package weburl

import "strings"

// MaxLength is the maximum length of a URL, in bytes, both as written and in canonical form.
// Servers commonly have a limit of 8 KiB too.
const MaxLength = 8 << 10

// An Error is the reason why a string is not a URL. Errors are constants and do not contain
// the string.
type Error string

func (e Error) Error() string { return string(e) }

// The reasons why a string is not a URL.
const (
	ErrRelative Error = "no scheme; hint: an address begins with http:// or https://"
	ErrScheme   Error = "not an http or https address"
	ErrTooLong  Error = "address longer than 8192 bytes"
	ErrNoHost   Error = "no host"
	ErrHost     Error = "forbidden character in the host"
	ErrIDNA     Error = "host is no internationalised domain name"
	ErrIPv4     Error = "host ends in a number but is no IPv4 address"
	ErrIPv6     Error = "host is no IPv6 address"
	ErrPort     Error = "port is no number from 0 to 65535"
)

// A URL is an http or https URL in canonical form. It is a small value; its parts are slices
// of one string. Two URLs are equal (==) if and only if their strings are equal. The zero URL has
// empty parts, and only absolute URLs resolve against it.
type URL struct {
	s string

	// Offsets of the parts. The hostname follows "scheme://". port is the offset of the colon,
	// or equal to path if there is no port. query is the offset of the question mark, or the end.
	host, port, path, query uint16
}

// Parse parses an absolute URL. It ignores white space around the URL. The result may share
// memory with s: clone it if it must outlive s.
func Parse(s string) (URL, error) {
	return parse(s, URL{}, nil)
}

// Resolve is [URL.Resolve] as a function.
func Resolve(base URL, ref string) (URL, error) {
	return parse(ref, base, nil)
}

// Resolve resolves ref as a link on the page u. The result may share memory with both.
func (u URL) Resolve(ref string) (URL, error) {
	return parse(ref, u, nil)
}

// An Encoder encodes the query of a link in the encoding of its page, as browsers do. It is
// called for queries that are not ASCII, with the query without question mark and fragment. For a
// character that the encoding lacks, it must return "%26%23" + the number of the character in
// decimal + "%3B". The result is escaped like any query, except for percent signs.
//
// Source: https://url.spec.whatwg.org/#string-percent-encode-after-encoding
type Encoder func(query string) string

// ResolveIn is [Resolve] for a page in another encoding than UTF-8. A nil Encoder stands for
// UTF-8, which the standard also uses for pages in UTF-16.
func ResolveIn(base URL, ref string, encode Encoder) (URL, error) {
	return parse(ref, base, encode)
}

// ResolveTo is [ResolveIn] without allocation: it overwrites buf with the URL. The result shares
// no memory with the other arguments.
func ResolveTo(buf []byte, base URL, ref string, encode Encoder) ([]byte, error) {
	out, _, err := write(buf[:0], clean(ref), base, encode)
	if err != nil {
		return buf[:0], err
	}
	return out, nil
}

// Canonical returns the canonical form of the absolute URL s. If s is canonical, it returns s.
func Canonical(s string) (string, error) {
	u, err := parse(s, URL{}, nil)
	return u.s, err
}

// String returns the URL.
func (u URL) String() string { return u.s }

// IsZero reports whether u is the zero URL.
func (u URL) IsZero() bool { return u.s == "" }

// Scheme returns "http" or "https".
func (u URL) Scheme() string { return u.s[:max(u.host, 3)-3] }

// Host returns the host, with the port unless it is the default port of the scheme.
func (u URL) Host() string { return u.s[u.host:u.path] }

// Hostname returns the host without port. An IPv6 address keeps its brackets.
func (u URL) Hostname() string { return u.s[u.host:u.port] }

// Port returns the port, or "" for the default port of the scheme.
func (u URL) Port() string { return u.s[min(u.port+1, u.path):u.path] }

// Path returns the path, which begins with a slash, still escaped.
func (u URL) Path() string { return u.s[u.path:u.query] }

// Query returns the query without its question mark, still escaped; "" if it is empty or
// missing.
func (u URL) Query() string { return u.s[min(int(u.query)+1, len(u.s)):] }

// RequestURI returns path and query, as in a request line and as matched by robots.txt rules.
func (u URL) RequestURI() string { return u.s[u.path:] }

// Niche returns the key of u's niche: the host and the first n directories of the path. For n
// ≤ 0 the key is the host, "a.org". Otherwise the key ends in a slash: "a.org/" for pages in the
// root directory, "a.org/x/" for pages in x and, if n is 1, in the subdirectories of x. The last
// segment of a path that does not end in a slash is a file, not a directory.
func (u URL) Niche(n int) string {
	if n <= 0 || u.s == "" {
		return u.Host()
	}
	end := int(u.path) + 1
	for ; n > 0; n-- {
		i := strings.IndexByte(u.s[end:u.query], '/')
		if i < 0 {
			break
		}
		end += i + 1
	}
	return u.s[u.host:end]
}

// Host is [URL.Host] of a canonical URL. For other strings the result is undefined, but Host
// does not panic. The same applies to [Niche] and [SURT].
func Host(s string) string { return split(s).Host() }

// Niche is [URL.Niche] of a canonical URL.
func Niche(s string, n int) string { return split(s).Niche(n) }

// SURT is [URL.SURT] of a canonical URL.
func SURT(s string) string { return split(s).SURT() }

// split returns the URL with the canonical form s.
func split(s string) URL {
	host := strings.Index(s, "://") + 3
	if host < 3 || len(s) > MaxLength {
		return URL{}
	}
	path := strings.IndexByte(s[host:], '/') + host
	if path <= host {
		return URL{}
	}
	port := path
	if i := strings.LastIndexByte(s[host:path], ':'); i >= 0 && s[path-1] != ']' {
		port = host + i
	}
	query := len(s)
	if i := strings.IndexByte(s[path:], '?'); i >= 0 {
		query = path + i
	}
	return URL{s, uint16(host), uint16(port), uint16(path), uint16(query)}
}
