package scope

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"spoor/internal/weburl"
)

// The prefixes of patterns.
const (
	regexpPrefix    = "re:"
	extensionPrefix = "ext:"
)

// A target is a URL that is compared with patterns.
type target struct {
	u    weburl.URL
	surt string // computed once, for the first SURT prefix; "" before that
}

// compile returns the function that reports whether a URL matches a pattern.
func compile(pattern string) (func(*target) bool, error) {
	switch {
	case pattern == "":
		return nil, errors.New("the pattern is missing, as in include example.org/docs/*")
	case strings.HasPrefix(pattern, regexpPrefix):
		return compileRegexp(pattern[len(regexpPrefix):])
	case strings.HasPrefix(pattern, extensionPrefix):
		return compileExtensions(pattern[len(extensionPrefix):])
	case isSURT(pattern):
		return compileSURT(pattern)
	case pattern == "*":
		return func(*target) bool { return true }, nil
	}
	return compileGlob(pattern)
}

// states returns the number of states of a regular expression, or 0 if expr is invalid. Matching a
// URL takes time proportional to at most this number times the length of the URL.
func states(expr string) int {
	if len(expr) > MaxRegexp {
		return 0
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// compileRegexp compiles a regular expression. Matching takes time linear in the length of the URL.
func compileRegexp(expr string) (func(*target) bool, error) {
	if expr == "" || len(expr) > MaxRegexp {
		return nil, fmt.Errorf("a regular expression of %d bytes: 1 to %d are allowed", len(expr), MaxRegexp)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("%s is not a regular expression of Go: %w", truncate(expr), err)
	}
	return func(t *target) bool { return re.MatchString(t.u.String()) }, nil
}

// compileExtensions compiles a list of file extensions.
func compileExtensions(list string) (func(*target) bool, error) {
	extensions := map[string]bool{}
	for e := range strings.SplitSeq(list, ",") {
		e = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(e), "."))
		if e == "" || strings.ContainsAny(e, "/*?# \t") {
			return nil, fmt.Errorf("ext:%s is not a list of file extensions, as ext:jpg,png", truncate(list))
		}
		extensions[e] = true
	}
	return func(t *target) bool {
		path := t.u.Path()
		file := path[strings.LastIndexByte(path, '/')+1:]
		for i := range len(file) { // a.tar.gz has the extensions tar.gz and gz
			if file[i] == '.' && extensions[strings.ToLower(file[i+1:])] {
				return true
			}
		}
		return false
	}, nil
}

// compileGlob compiles a pattern of a host, of a path, or of both.
func compileGlob(pattern string) (func(*target) bool, error) {
	scheme, rest, ok := strings.Cut(pattern, "://")
	if ok {
		if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" && scheme != "*" {
			return nil, fmt.Errorf("%s: the scheme is http, https or *", truncate(pattern))
		}
	} else {
		scheme, rest = "*", pattern
	}
	slash := strings.IndexByte(rest, '/')
	host, path := rest, ""
	if slash >= 0 {
		host, path = rest[:slash], rest[slash:]
	}
	if slash < 0 && !ok {
		if err := checkHostAlone(host); err != nil {
			return nil, err
		}
	}
	matchHost := func(weburl.URL) bool { return true }
	switch {
	case host == "" && !ok, host == "*" && path != "":
	default:
		var err error
		if matchHost, err = compileHost(host); err != nil {
			return nil, fmt.Errorf("%s: %w", truncate(pattern), err)
		}
	}
	var glob []string
	if path != "" {
		u, err := weburl.Parse("http://host.invalid" + path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", truncate(pattern), err)
		}
		glob = strings.Split(u.RequestURI(), "*")
		if host == "*" && !ok { // */docs/*: a path that contains /docs/
			glob = append([]string{""}, glob...)
		}
	}
	return func(t *target) bool {
		return (scheme == "*" || scheme == t.u.Scheme()) && matchHost(t.u) && (glob == nil || matchGlob(glob, t.u.RequestURI()))
	}, nil
}

// checkHostAlone returns an error for a pattern without a slash that is probably not meant as a
// host.
func checkHostAlone(pattern string) error {
	name, isBelow := strings.CutPrefix(pattern, "*.")
	switch {
	case strings.ContainsAny(name, "?&=%"):
		return fmt.Errorf("%s is a host, since it has no slash\nhint: */%[1]s is a path; * is any text", truncate(pattern))
	case isBelow && !strings.ContainsAny(name, ".*"):
		return fmt.Errorf("%s is a host, since it has no slash\nhint: ext:%s is a file extension, and *.%[2]s/* are the hosts of a top-level domain", truncate(pattern), truncate(name))
	case !isBelow && !strings.ContainsAny(name, ".:*") && name != "localhost":
		return fmt.Errorf("%s is a host, since it has no slash\nhint: */*%[1]s* are addresses that contain it, and %[1]s/* is the host", truncate(pattern))
	case strings.Contains(name, "*"), slices.Contains(fileExtensions, strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])):
		return fmt.Errorf("%s is a host, since it has no slash\nhint: */%[1]s is a path; * is any text", truncate(pattern))
	}
	return nil
}

// fileExtensions are common in addresses and no top-level domains, so a pattern that ends in one is
// the name of a file.
var fileExtensions = []string{
	"asp", "aspx", "avi", "bz2", "cfm", "cgi", "css", "csv", "doc", "docx", "epub", "exe", "gif", "gz", "htm", "html", "ico", "jpeg",
	"jpg", "js", "json", "jsp", "mp3", "mp4", "odt", "pdf", "php", "png", "ppt", "pptx", "rar", "rss", "rtf", "shtml", "svg", "tar",
	"tgz", "txt", "wav", "webp", "xhtml", "xls", "xlsx", "xml", "xz",
}

// compileHost compiles the host of a pattern, with or without port.
func compileHost(pattern string) (func(weburl.URL) bool, error) {
	name, isBelow := strings.CutPrefix(pattern, "*.")
	if strings.Contains(name, "*") || name == "" {
		return compileHostGlob(pattern)
	}
	u, err := parseAuthority(name)
	if err != nil {
		return nil, err
	}
	name = hostname(u)
	port, anyPort := portOf(pattern, u)
	return func(u weburl.URL) bool {
		host := hostname(u)
		if !anyPort && portNumber(u) != port {
			return false
		}
		return host == name || isBelow && strings.HasSuffix(host, name) && host[len(host)-len(name)-1] == '.'
	}, nil
}

// compileHostGlob compiles an ASCII host with stars.
func compileHostGlob(pattern string) (func(weburl.URL) bool, error) {
	pattern = strings.ToLower(pattern)
	name, port, hasPort := strings.Cut(pattern, ":")
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.*", r))
	}) {
		return nil, fmt.Errorf("%w\nhint: a host with * in it is written in ASCII (xn--…)", errHost)
	}
	glob := strings.Split(name, "*")
	return func(u weburl.URL) bool {
		return (!hasPort || port == "*" || portNumber(u) == port) && matchGlob(glob, hostname(u))
	}, nil
}

// portOf returns the port in a pattern, and whether the pattern has no port. u is the pattern as an
// http URL.
func portOf(pattern string, u weburl.URL) (port string, none bool) {
	i := strings.LastIndexByte(pattern, ':')
	if i < 0 || strings.HasSuffix(pattern, "]") || i == len(pattern)-1 {
		return "", true
	}
	return portNumber(u), false
}

// portNumber returns the port of u, or the default port of its scheme if u has no port.
func portNumber(u weburl.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	if u.Scheme() == "https" {
		return "443"
	}
	return "80"
}

// matchGlob reports whether s consists of the parts, in this order, with any text between them. It
// takes linear time.
func matchGlob(parts []string, s string) bool {
	last := len(parts) - 1
	if last == 0 {
		return s == parts[0]
	}
	rest, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// isSURT reports whether a pattern is a SURT prefix: its host is in parentheses, or is a list of
// labels that begins with a top-level domain.
func isSURT(pattern string) bool {
	_, rest, ok := strings.Cut(pattern, "://")
	if !ok {
		rest = pattern
	}
	if strings.HasPrefix(rest, "(") {
		return true
	}
	host := rest
	if i := strings.IndexAny(rest, ")/"); i >= 0 {
		host = rest[:i]
	}
	top, _, isList := strings.Cut(host, ",")
	if ok || !isList || strings.ContainsAny(host, "* \t.=?") {
		return false
	}
	suffix, icann := publicsuffix.PublicSuffix("x." + strings.ToLower(top))
	return icann && suffix == strings.ToLower(top)
}

// compileSURT compiles a SURT prefix. The scheme is ignored, as Heritrix ignores the difference
// between http and https.
func compileSURT(pattern string) (func(*target) bool, error) {
	scheme, prefix, ok := strings.Cut(pattern, "://")
	if !ok {
		prefix = pattern
	} else if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("%s: the scheme is http or https", truncate(pattern))
	}
	bare := !strings.HasPrefix(prefix, "(")
	prefix = strings.ToLower(strings.TrimPrefix(prefix, "("))
	host, path, closed := strings.Cut(prefix, ")")
	if host == "" || strings.ContainsAny(host, "/ \t") {
		return nil, fmt.Errorf("%s is not a SURT prefix, as http://(org,example,)/docs", truncate(pattern))
	}
	if i := strings.IndexByte(host, '@'); i >= 0 { // a user name
		host = host[:i]
	}
	name, port, hasPort := strings.Cut(host, ":")
	if strings.HasPrefix(host, "[") {
		name, port, hasPort = host, "", false
		if i := strings.Index(host, "]:"); i >= 0 {
			name, port, hasPort = host[:i+1], host[i+2:], true
		}
	}
	if number, ended := strings.CutSuffix(port, ","); ended { // no label follows a port
		port, closed = number, true
	}
	// Heritrix writes a comma after the last label; CDX indexes do not.
	if strings.Contains(name, ",") && !strings.HasSuffix(name, ",") && (bare || closed || hasPort) {
		name += ","
	}
	if bare && closed && !strings.Contains(name, ",") {
		name += ","
	}
	prefix = "(" + name
	if hasPort {
		prefix += ":" + port
	}
	if closed {
		prefix += ")" + path
	}
	return func(t *target) bool {
		if t.surt == "" {
			t.surt = surt(t.u)
		}
		return strings.HasPrefix(t.surt, prefix)
	}, nil
}

// surt returns the form of u that is compared with SURT prefixes, as in Heritrix but without the
// scheme: "(org,example,:8080)/a?b". IP addresses are not reversed.
func surt(u weburl.URL) string {
	host := hostname(u)
	var b strings.Builder
	b.WriteByte('(')
	if strings.HasPrefix(host, "[") || !strings.ContainsFunc(host, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
		b.WriteString(host)
	} else {
		for host != "" {
			dot := strings.LastIndexByte(host, '.')
			b.WriteString(host[dot+1:])
			b.WriteByte(',')
			host = host[:max(dot, 0)]
		}
	}
	if port := u.Port(); port != "" {
		b.WriteByte(':')
		b.WriteString(port)
	}
	b.WriteByte(')')
	b.WriteString(strings.ToLower(u.RequestURI()))
	return b.String()
}
