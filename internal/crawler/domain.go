package crawler

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"

	"spoor/internal/weburl"
)

// registrableDomain returns the public suffix of u's host, private suffixes included,
// and one label more: "example.co.uk" for "a.b.example.co.uk". A host without one (an
// IP address, a public suffix, a single label) is returned as it is. A final dot is
// removed.
func registrableDomain(u weburl.URL) string {
	host := u.Hostname()
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return host
	}
	if trimmed := strings.TrimRight(host, "."); trimmed != "" {
		host = trimmed
	}
	suffix, _ := publicsuffix.PublicSuffix(host)
	end := len(host) - len(suffix) - 1
	if end <= 0 {
		return host
	}
	return host[strings.LastIndexByte(host[:end], '.')+1:]
}
