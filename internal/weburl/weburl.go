// Package weburl is the identity of a page: what its address is, when two
// addresses are one, and which host and niche it belongs to.
//
// An address is parsed as the WHATWG URL Standard says (https://url.spec.whatwg.org),
// because pages are written for browsers: "http:\\A.org\x\..\y", "//b.org" and
// "HTTP://b%2Eorg:80" are all links. Only http and https are addresses here; every
// other scheme is recognised well enough to be refused with [ErrScheme].
//
// # Canonical form
//
// A [URL] is always in canonical form, which is the standard's serialisation with
// four changes:
//
//   - the fragment is dropped: it never reaches a server;
//   - user name and password are dropped: a crawler has no business to log in, and
//     a secret in a link must not end in a log or an archive;
//   - in the path, octets that need no escape are written plainly ("%7E" is "~") and
//     the digits of all other escapes are capitals ("%c3" is "%C3"), which RFC 3986,
//     section 6.2.2, calls equivalent; a decoded octet never completes an escape that
//     was not there ("%%341" stays);
//   - bytes that are no UTF-8 are escaped as they are, where the standard would put
//     U+FFFD: "/caf\xe9" is the address that the server knows.
//
// The rest is the standard's: scheme and host in lower case, the host in Punycode, IPv4
// and IPv6 addresses in their one spelling, the default port dropped, "/" for an
// empty path, dot segments resolved, escapes added where they are needed.
//
// What could change which page is meant stays as it is: the query (order, empty
// parameters and the case of escapes included, since some are signed), an empty query,
// doubled slashes, letter case of the path, "index.html", a dot at the end of the
// host (it asks the resolver for something else, and servers see it in the Host
// field).
//
// # Limitations
//
// The standard knows no bounds. Here an address ends at [MaxLength], and a host with
// letters beyond ASCII at 512 bytes, which is more than DNS can hold.
package weburl

import "strings"

// MaxLength bounds an address, in bytes, both as written and in canonical form;
// longer ones are refused. Servers commonly stop at 8 KiB too.
const MaxLength = 8 << 10

// An Error says why something is no address. Errors are constants, comparable and
// free of the address itself, which the caller knows.
type Error string

func (e Error) Error() string { return string(e) }

// What can be wrong with an address.
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

// A URL is an http or https address in canonical form. It is a small value; its
// parts are slices of one string. URLs are equal (==) if and only if their strings
// are. The zero URL is no address: its parts are empty, and nothing resolves
// against it but an absolute address.
type URL struct {
	s string

	// Where the parts begin. Hostname starts after "scheme://"; port at the colon, or
	// at the path if there is none; query at the question mark, or at the end.
	host, port, path, query uint16
}

// Parse reads an absolute address. White space around it is ignored. The URL may
// share memory with s: clone what must outlive it, or must not keep it alive.
func Parse(s string) (URL, error) {
	return parse(s, URL{}, nil)
}

// Resolve is [URL.Resolve] as a function.
func Resolve(base URL, ref string) (URL, error) {
	return parse(ref, base, nil)
}

// Resolve reads ref as a link on the page u. The result may share memory with
// either.
func (u URL) Resolve(ref string) (URL, error) {
	return parse(ref, u, nil)
}

// An Encoder writes the query of a link in the encoding of the page that it stands
// on, because servers read there what browsers send them. It is given the query
// without question mark and fragment, and only if that is not all ASCII. What it
// returns is escaped like any other query, percent signs excepted: for a character
// that the encoding lacks, it returns "%26%23" + its number in decimal + "%3B".
//
// Source: https://url.spec.whatwg.org/#string-percent-encode-after-encoding
type Encoder func(query string) string

// ResolveIn is [Resolve] on a page whose encoding is not UTF-8, nor UTF-16, for which
// the standard writes UTF-8. A nil Encoder stands for UTF-8.
func ResolveIn(base URL, ref string, encode Encoder) (URL, error) {
	return parse(ref, base, encode)
}

// ResolveTo is [ResolveIn] for those who look at many links: it writes the address
// to buf, whose content is lost, and shares no memory with what it was given.
func ResolveTo(buf []byte, base URL, ref string, encode Encoder) ([]byte, error) {
	out, _, err := write(buf[:0], clean(ref), base, encode)
	if err != nil {
		return buf[:0], err
	}
	return out, nil
}

// Canonical returns the canonical form of the absolute address s. An address that is
// canonical already is returned as it is, memory and all.
func Canonical(s string) (string, error) {
	u, err := parse(s, URL{}, nil)
	return u.s, err
}

// String returns the address.
func (u URL) String() string { return u.s }

// IsZero reports whether u is the zero URL, which is no address.
func (u URL) IsZero() bool { return u.s == "" }

// Scheme returns "http" or "https".
func (u URL) Scheme() string { return u.s[:max(u.host, 3)-3] }

// Host returns the host, with the port if it is not the default one of the scheme.
func (u URL) Host() string { return u.s[u.host:u.path] }

// Hostname returns the host without port. An IPv6 address stands in its brackets.
func (u URL) Hostname() string { return u.s[u.host:u.port] }

// Port returns the port, or "" where it is the default one of the scheme.
func (u URL) Port() string { return u.s[min(u.port+1, u.path):u.path] }

// Path returns the path, which begins with a slash, still escaped.
func (u URL) Path() string { return u.s[u.path:u.query] }

// Query returns the query without its question mark, still escaped; "" if there is
// none or if it is empty.
func (u URL) Query() string { return u.s[min(int(u.query)+1, len(u.s)):] }

// RequestURI returns path and query as they stand in the request to a server, and
// as robots.txt rules see them.
func (u URL) RequestURI() string { return u.s[u.path:] }

// Niche returns the key of the niche that u lives in: the host and the first n
// directories of the path. For n ≤ 0 it is the host alone, "a.org"; otherwise it
// ends in a slash: "a.org/" for pages at the top, "a.org/x/" for those in x and,
// if n is 1, below it. The last part of a path that does not end in a slash is a
// file, not a directory.
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

// Host is [URL.Host] of a canonical address. Of anything else it is of no use, but
// it does not panic. The same holds for [Niche] and [SURT].
func Host(s string) string { return split(s).Host() }

// Niche is [URL.Niche] of a canonical address.
func Niche(s string, n int) string { return split(s).Niche(n) }

// SURT is [URL.SURT] of a canonical address.
func SURT(s string) string { return split(s).SURT() }

// split finds the parts of an address that is canonical already.
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
