package crawler

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"

	"spoor/internal/archive"
	"spoor/internal/weburl"
)

// Limits of the cookies that servers set. RFC 6265, section 6.1, requires at least 50 cookies of
// 4096 bytes for each domain. Many servers reject longer Cookie fields.
const (
	maxCookies     = 50      // of one response
	maxCookie      = 4 << 10 // bytes of a Set-Cookie field
	maxCookieField = 8 << 10 // bytes of the Cookie field of a request
)

// A chain holds the cookies that were set and sent in one chain of redirects. They are sent back by
// the rules of RFC 6265 (domain, path, Secure, expiry, public suffixes), and discarded when the
// chain ends. Without them, a site that sets a cookie and redirects to itself is a loop.
type chain struct {
	jar  *cookiejar.Jar    // nil until a cookie is set
	sent map[string]string // Cookie field of the last request, by address
}

// keep stores the cookies that the response of an address sets.
func (c *chain) keep(u weburl.URL, header http.Header) {
	var cookies []*http.Cookie
	for _, field := range header["Set-Cookie"] {
		// As in browsers, Secure cookies are not taken over http; the jar would allow them on
		// loopback.
		if k := parseCookie(field); k != nil && len(cookies) < maxCookies && (!k.Secure || u.Scheme() != "http") {
			cookies = append(cookies, k)
		}
	}
	if len(cookies) == 0 {
		return
	}
	if c.jar == nil {
		c.jar = newJar()
	}
	c.jar.SetCookies(cookieURL(u), cookies)
}

// cookies returns the Cookie field for a request to an address, or "".
func (c *chain) cookies(u weburl.URL) string {
	if c.jar == nil {
		return ""
	}
	field := ""
	for _, k := range c.jar.Cookies(cookieURL(u)) {
		pair := k.Name + "=" + k.Value
		if field != "" {
			pair = "; " + pair
		}
		if len(field)+len(pair) > maxCookieField {
			break
		}
		field += pair
	}
	return field
}

// newJar returns a jar without cookies.
func newJar() *cookiejar.Jar {
	jar, _ := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // never fails
	return jar
}

// parseCookie parses a Set-Cookie field as RFC 6265, section 5.2, requires of user agents. net/http
// refuses names and values that browsers accept, and puts some in quotes. parseCookie returns nil
// for a field that must be ignored.
func parseCookie(field string) *http.Cookie {
	pair, attributes, _ := strings.Cut(field, ";")
	name, value, ok := strings.Cut(pair, "=")
	name, value = strings.Trim(name, " \t"), strings.Trim(value, " \t")
	isControl := func(c rune) bool { return c < ' ' || c == 0x7f }
	if !ok || name == "" || len(field) > maxCookie || strings.ContainsFunc(pair, isControl) {
		return nil
	}
	k, _ := http.ParseSetCookie("name=value;" + attributes) // fails only without a valid name and value
	k.Name, k.Value = name, value
	return k
}

// check returns an error if url must not be requested after hops, because it repeats an earlier
// request, or because there are too many hops. A request with other cookies than the first repeats
// nothing.
func (c *chain) check(hops []archive.Hop, url, cookies string) error {
	const maxShown = maxDetail / (maxRedirects + 2) // bytes of each address
	for i, h := range hops {
		if h.URL != url || c.sent[url] != cookies {
			continue
		}
		var path strings.Builder
		for _, h := range hops[i:] {
			path.WriteString(truncate(h.URL, maxShown) + " → ")
		}
		return fmt.Errorf("a loop: %s%s", &path, truncate(url, maxShown))
	}
	if len(hops) > maxRedirects {
		return fmt.Errorf("more than %d redirects, the last of them to %s", maxRedirects, url)
	}
	return nil
}

func (c *chain) send(url, cookies string, header http.Header) {
	if cookies != "" {
		header.Set("Cookie", cookies)
	}
	if c.sent == nil {
		c.sent = map[string]string{}
	}
	c.sent[url] = cookies
}

// cookieURL returns the parts of an address by which cookies are chosen.
func cookieURL(u weburl.URL) *url.URL {
	return &url.URL{Scheme: u.Scheme(), Host: u.Host(), Path: u.Path()}
}
