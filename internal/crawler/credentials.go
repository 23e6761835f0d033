package crawler

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// Credentials are the header fields and cookies that the user adds to requests. Each of them is sent
// only to the addresses that it is meant for, even after redirects, and is not archived.
type Credentials struct {
	fields []userField
	jar    *cookiejar.Jar // nil: no cookies
}

// A userField is a header field for the addresses at and below a place.
type userField struct {
	place       string // a canonical address without slashes at its end; "": all addresses
	name, value string
}

// ownFields are the header fields that the crawler or the connection sets.
var ownFields = strings.Fields(`Accept-Encoding Connection Content-Length Cookie Expect Host If-Match If-Modified-Since If-None-Match
	If-Range If-Unmodified-Since Keep-Alive Proxy-Authorization Proxy-Connection Range Te Trailer Transfer-Encoding Upgrade User-Agent`)

// ReadFields reads header fields, one a line: an address, a space, a name, a colon and a value. The
// field is for that address and all addresses below it. An asterisk in place of the address means all
// addresses; it cannot be used with Authorization. Empty lines and lines that begin with # are ignored.
func (c *Credentials) ReadFields(r io.Reader) error {
	return eachLine(r, func(line string) error {
		place, field, _ := strings.Cut(line, " ")
		name, value, ok := strings.Cut(field, ":")
		f := userField{name: http.CanonicalHeaderKey(strings.TrimSpace(name)), value: strings.TrimSpace(value)}
		switch {
		case !ok || !httpguts.ValidHeaderFieldName(f.name) || !httpguts.ValidHeaderFieldValue(f.value):
			return errors.New("no header field: want ADDRESS NAME: VALUE")
		case f.name == "Cookie":
			return errors.New("cookies have a file of their own: -cookies")
		case slices.Contains(ownFields, f.name):
			return fmt.Errorf("%s is not the user's to set", f.name)
		case place == "*" && f.name == "Authorization":
			return errors.New("it would be sent to every site: name the address that Authorization is for")
		}
		if place != "*" {
			u, err := weburl.Parse(place)
			if err != nil || strings.Contains(u.String(), "?") {
				return errors.New("the place of the field is no address: want http:// or https://, a host and a path, or *")
			}
			f.place = strings.TrimRight(u.String(), "/")
		}
		c.fields = append(c.fields, f)
		return nil
	})
}

// ReadCookies reads cookies in the format of Netscape, which browsers and curl export. Each line has seven
// fields, separated by tabs: domain, include subdomains (TRUE or FALSE), path, only https (TRUE or FALSE),
// expiry in seconds since 1970 (0: none), name and value. Cookies that have expired at now are left out.
func (c *Credentials) ReadCookies(r io.Reader, now time.Time) error {
	if c.jar == nil {
		c.jar = newJar()
	}
	return eachLine(r, func(line string) error {
		f := strings.Split(strings.TrimPrefix(line, "#HttpOnly_"), "\t")
		if len(f) != 7 {
			return fmt.Errorf("no cookie: %d fields instead of 7, separated by tabs", len(f))
		}
		expires, err := strconv.ParseInt(f[4], 10, 64)
		if err != nil {
			return errors.New("no cookie: the fifth field is not a time in seconds since 1970")
		}
		if expires != 0 && expires <= now.Unix() {
			return nil
		}
		host := strings.TrimPrefix(f[0], ".")
		u := &url.URL{Scheme: "https", Host: host, Path: f[2]}
		cookie := &http.Cookie{Name: f[5], Value: f[6], Path: f[2], Secure: f[3] == "TRUE"}
		if f[1] == "TRUE" {
			cookie.Domain = host
		}
		if err := cookie.Valid(); err != nil {
			return fmt.Errorf("no cookie: %w", err)
		}
		c.jar.SetCookies(u, []*http.Cookie{cookie})
		if !slices.ContainsFunc(c.jar.Cookies(u), func(k *http.Cookie) bool { return k.Name == cookie.Name }) {
			return fmt.Errorf("the cookie %s cannot be for the domain %s", f[5], f[0])
		}
		return nil
	})
}

// eachLine calls f with each line that is not empty or a comment. Errors do not quote the line, because
// it is a secret.
func eachLine(r io.Reader, f func(line string) error) error {
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimRight(wire.TrimBOM(in.Text()), "\r")
		if line == "" || line[0] == '#' && !strings.HasPrefix(line, "#HttpOnly_") {
			continue
		}
		if err := f(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return in.Err()
}

// add adds to a request the fields and cookies for its address, and returns the names of the fields
// that are secret. Cookies are added to those that servers have set in this chain of redirects.
// These replace cookies of the same name, and may renew a secret session.
func (c *Credentials) add(req *http.Request) (names []string) {
	if c == nil {
		return nil
	}
	address, chained := requestURL(req), req.Header.Get("Cookie")
	secret := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	set := func(name, value string) {
		if name == "Cookie" && req.Header.Get(name) != "" {
			value = req.Header.Get(name) + "; " + value
		}
		req.Header.Set(name, value)
		secret(name)
	}
	for _, f := range c.fields {
		if f.place == "" || below(address, f.place) {
			set(f.name, f.value)
		}
	}
	if c.jar == nil {
		return names
	}
	for _, k := range c.jar.Cookies(req.URL) {
		if strings.HasPrefix(chained, k.Name+"=") || strings.Contains(chained, "; "+k.Name+"=") {
			secret("Cookie")
		} else {
			set("Cookie", k.Name+"="+k.Value)
		}
	}
	return names
}

// below reports whether an address is at or below a place. Both are canonical, so they have no dot segments.
func below(address, place string) bool {
	rest, ok := strings.CutPrefix(address, place)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '?')
}

// withoutFields returns the bytes of a request without the header fields in names.
func withoutFields(request []byte, names []string) []byte {
	if len(names) == 0 {
		return request
	}
	var kept []byte
	for i, line := range bytes.SplitAfter(request, []byte("\r\n")) {
		name, _, field := strings.Cut(string(line), ":")
		if i == 0 || !field || !slices.Contains(names, http.CanonicalHeaderKey(name)) {
			kept = append(kept, line...)
		}
	}
	return kept
}
