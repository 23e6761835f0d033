package scope

import (
	"errors"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"

	"spoor/internal/weburl"
)

// Site returns the registrable domain of u: the public suffix of its host (private suffixes
// included) and one more label, for example "example.co.uk" for "a.b.example.co.uk". If the host has
// no registrable domain (an IP address, a public suffix, a single label), Site returns the host. It
// removes a final dot.
func Site(u weburl.URL) string {
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

// hostOf returns the host that same-host rules compare: with its port, without a leading www.
func hostOf(u weburl.URL) string {
	host := hostname(u)
	if rest, ok := strings.CutPrefix(host, "www."); ok && strings.Contains(rest, ".") {
		host = rest
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return host
}

// hostname returns the name of u's host without a final dot.
func hostname(u weburl.URL) string {
	host := u.Hostname()
	if trimmed := strings.TrimRight(host, "."); trimmed != "" {
		return trimmed
	}
	return host
}

var errHost = errors.New("not a host, as example.org or example.org:8080")

// parseHost returns the host that a same-host rule permits.
func parseHost(name string) (string, error) {
	u, err := parseAuthority(name)
	if err != nil {
		return "", err
	}
	return hostOf(u), nil
}

// parseSite returns the registrable domain that a same-site rule permits.
func parseSite(name string) (string, error) {
	u, err := parseAuthority(name)
	if err != nil {
		return "", err
	}
	return Site(u), nil
}

// parseAuthority parses a host with or without port.
func parseAuthority(name string) (weburl.URL, error) {
	if name == "" || strings.ContainsAny(name, "/?#@\\* \t") {
		return weburl.URL{}, errHost
	}
	u, err := weburl.Parse("http://" + name + "/")
	if err != nil || u.Path() != "/" || strings.HasSuffix(u.Hostname(), "..") { // without its final dots it may not be a host
		return weburl.URL{}, errHost
	}
	return u, nil
}
