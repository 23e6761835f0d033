package viewer

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// An Access says who may use a server.
type Access struct {
	// Hosts are the names and addresses, without a port, by which requests may address the server, in
	// addition to those of the loopback interface. If a page of another site makes a browser resolve the
	// name of that site to this server (DNS rebinding), the name is not among them.
	Hosts []string

	// Token must be part of each request; "" if none is needed. A request with the parameter token gets a
	// cookie in exchange for it; programs send the header Authorization: Bearer.
	Token string
}

// policy is the Content-Security-Policy of all pages but reports: scripts and styles are files of this
// server, and nothing is loaded from elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard returns a handler that passes on requests of those who have access.
func (a *Access) guard(next http.Handler) http.Handler {
	refuse := func(w http.ResponseWriter, status int, what, hint string) {
		w.Header().Set("Connection", "close") // others may need it
		fail(w, status, what, hint)
	}
	protection := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !a.isHost(r.Host):
			refuse(w, http.StatusMisdirectedRequest, "This server does not answer to the name in the request.", "serve -host NAME permits a name.")
		case isForeign(r) || protection.Check(r) != nil:
			refuse(w, http.StatusForbidden, "The request comes from a page of another site.", "")
		case a.Token == "":
			next.ServeHTTP(w, r)
		case r.Method == http.MethodGet && a.isToken(r.URL.Query().Get("token")):
			a.exchange(w, r)
		case a.hasCookie(r) && (r.Method == http.MethodGet || r.Method == http.MethodHead || r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Origin") != ""):
			next.ServeHTTP(w, r)
		case a.isToken(bearer(r)):
			next.ServeHTTP(w, r)
		case crossSite(r): // a link, see isForeign
			reopen(w, r)
		default:
			h.Set("WWW-Authenticate", "Bearer")
			what, hint := "A token is needed.", "Open the link that serve printed when it started."
			switch {
			case a.hasCookie(r):
				what, hint = "The request has no header Origin or Sec-Fetch-Site, by which browsers say which page makes it.", "Programs send the header Authorization: Bearer TOKEN."
			case r.URL.Query().Has("token"):
				what = "The token is wrong, or that of an earlier start."
			}
			refuse(w, http.StatusUnauthorized, what, hint)
		}
	})
}

// isHost reports whether host, which may have a port, is a name of this server.
func (a *Access) isHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = canonicalHost(name)
	if ip, err := netip.ParseAddr(name); err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	return name == "localhost" || slices.ContainsFunc(a.Hosts, func(h string) bool { return name != "" && canonicalHost(h) == name })
}

// canonicalHost returns a name in lower case and without the brackets of an IPv6 address or a final dot.
func canonicalHost(name string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")), ".")
}

// isForeign reports whether a page of another site, or of another port of this host, makes the request,
// except for a link that somebody follows.
func isForeign(r *http.Request) bool {
	return crossSite(r) && (r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document")
}

func crossSite(r *http.Request) bool {
	return !slices.Contains([]string{"", "none", "same-origin"}, r.Header.Get("Sec-Fetch-Site"))
}

func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// isToken reports whether s is the token. The time that it takes does not depend on the token.
func (a *Access) isToken(s string) bool {
	given, want := sha256.Sum256([]byte(s)), sha256.Sum256([]byte(a.Token))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// cookie returns the name and the value of the cookie, which are derived from the token: servers on several
// ports of a host do not overwrite each other's cookies, and the cookie does not disclose the token.
func (a *Access) cookie() (name, value string) {
	sum := sha256.Sum256([]byte("spoor serve cookie\x00" + a.Token))
	return "spoor-" + hex.EncodeToString(sum[:4]), hex.EncodeToString(sum[4:])
}

func (a *Access) hasCookie(r *http.Request) bool {
	name, value := a.cookie()
	c, err := r.Cookie(name)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(value)) == 1
}

// exchange gives a cookie for the token.
func (a *Access) exchange(w http.ResponseWriter, r *http.Request) {
	name, value := a.cookie()
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode})
	reopen(w, r)
}

// reopen answers with a page that opens the requested address again, without the token: that is not kept in
// the history of the browser. A redirect would not do, because a browser that follows a link of another site
// sends no strict cookie even after it.
func reopen(w http.ResponseWriter, r *http.Request) {
	to := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, `/\`)} // an address of two slashes is that of another host
	query := r.URL.Query()
	query.Del("token")
	to.RawQuery = query.Encode()
	show(w, http.StatusOK, "reopen", to.String())
}
