package weburl

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// lookup implements the standard's domain to ASCII: UTS 46, non-transitional, with bidi and joiner
// rules, but without checks of hyphens, lengths and STD 3.
var lookup = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.CheckJoiners(true),
	idna.CheckHyphens(false),
	idna.StrictDomainName(false),
	idna.Transitional(false),
)

// maxName limits the length of a host that is not ASCII, in bytes of UTF-8. DNS names are shorter.
// Decoding Punycode takes quadratic time: 150 ms for 8 KiB of distinct letters. The standard
// has no limit.
const maxName = 512

// appendHost is the standard's host parser and serializer.
//
// See https://url.spec.whatwg.org/#concept-host-parser.
func appendHost(out []byte, s string) ([]byte, error) {
	if s == "" {
		return nil, ErrNoHost
	}
	if s[0] == '[' {
		return appendIPv6(out, s)
	}
	start := len(out)
	for i := range len(s) {
		switch k := classes[s[i]]; {
		case k&hostPlain != 0:
			out = append(out, s[i])
		case k&hostUpper != 0:
			out = append(out, s[i]|0x20)
		default:
			name, err := ascii(s)
			if err != nil {
				return nil, err
			}
			return appendHost(out[:start], name)
		}
	}
	if endsInNumber(s) {
		return appendIPv4(out[:start], s)
	}
	return out, nil
}

// ascii converts a host with escapes or non-ASCII letters to ASCII, and checks its characters.
// If the decoded host is ASCII, it is not converted. Then labels that begin with "xn--" are not
// validated, as in the standard.
func ascii(s string) (string, error) {
	if strings.IndexByte(s, '%') >= 0 {
		b := make([]byte, 0, len(s))
		for i := 0; i < len(s); i++ {
			c := s[i]
			if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
				c = unhex(s[i+1])<<4 | unhex(s[i+2])
				i += 2
			}
			b = append(b, c)
		}
		s = string(b)
	}
	for i := range len(s) {
		if s[i] < 0x80 {
			continue
		}
		if len(s) > maxName || !utf8.ValidString(s) {
			return "", ErrIDNA
		}
		name, err := lookup.ToASCII(s)
		if err != nil || name == "" {
			return "", ErrIDNA
		}
		s = name
		break
	}
	// Check the characters after the conversion, because "<" and a combining stroke become a letter.
	for i := range len(s) {
		if classes[s[i]]&(hostPlain|hostUpper) == 0 {
			return "", ErrHost
		}
	}
	return s, nil
}

// endsInNumber reports whether the last label of a host is a number, ignoring a final dot. Such a
// host must be an IPv4 address.
func endsInNumber(s string) bool {
	s = strings.TrimSuffix(s, ".")
	s = s[strings.LastIndexByte(s, '.')+1:]
	if s == "" || s[0] < '0' || '9' < s[0] {
		return false
	}
	if _, ok := ipv4Number(s); ok {
		return true
	}
	for i := range len(s) {
		if s[i] < '0' || '9' < s[i] {
			return false
		}
	}
	return true
}

// appendIPv4 appends the address that s represents by one to four numbers, each decimal, octal
// or hexadecimal. The last number fills all remaining bytes.
func appendIPv4(out []byte, s string) ([]byte, error) {
	s = strings.TrimSuffix(s, ".")
	var address uint64
	for i := 0; ; i++ {
		label, rest, more := strings.Cut(s, ".")
		n, ok := ipv4Number(label)
		limit := uint64(1) << (8 * (4 - i))
		if more {
			limit = 256
		}
		if i > 3 || !ok || n >= limit {
			return nil, ErrIPv4
		}
		if !more {
			address |= n
			break
		}
		address |= n << (8 * (3 - i))
		s = rest
	}
	a := netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)})
	return a.AppendTo(out), nil
}

// ipv4Number parses a number in C's notation. Numbers of more than 32 bits are returned as
// 1<<32 or more.
func ipv4Number(s string) (n uint64, ok bool) {
	base := uint64(10)
	switch {
	case s == "":
		return 0, false
	case len(s) >= 2 && s[0] == '0' && s[1]|0x20 == 'x':
		base, s = 16, s[2:]
	case len(s) >= 2 && s[0] == '0':
		base, s = 8, s[1:]
	}
	for _, c := range []byte(s) {
		if !isHex(c) || uint64(unhex(c)) >= base {
			return 0, false
		}
		n = min(n*base+uint64(unhex(c)), 1<<32)
	}
	return n, true
}

// appendIPv6 appends the address in brackets, with the longest run of zeros compressed.
func appendIPv6(out []byte, s string) ([]byte, error) {
	if s[len(s)-1] != ']' {
		return nil, ErrIPv6
	}
	a, err := netip.ParseAddr(s[1 : len(s)-1])
	if err != nil || !a.Is6() || a.Zone() != "" {
		return nil, ErrIPv6
	}
	out = append(out, '[')
	if !a.Is4In6() {
		out = a.AppendTo(out)
		return append(out, ']'), nil
	}
	// Package netip prints these with dots; the standard does not.
	b := a.As16()
	out = append(out, "::ffff:"...)
	out = strconv.AppendUint(out, uint64(b[12])<<8|uint64(b[13]), 16)
	out = append(out, ':')
	out = strconv.AppendUint(out, uint64(b[14])<<8|uint64(b[15]), 16)
	return append(out, ']'), nil
}
