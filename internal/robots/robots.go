// Package robots parses robots.txt and decides which URLs a crawler may fetch
// (RFC 9309). It also parses X-Robots-Tag headers and robots meta elements.
//
// It does no I/O: package polite fetches and caches robots.txt and handles failures.
//
// Groups that name the same crawler are merged. The longest matching rule decides; if
// two are equally long, the Allow rule decides. A URL that no rule matches is allowed, and
// so is /robots.txt itself.
//
// Matchers differ in how they treat percent-encoding. RFC 9309, section 2.2.2, decodes
// escapes of unreserved characters before comparing; Google's matcher and its test suite
// do not. This package is strict: a Disallow rule applies if it matches with or without
// decoding, an Allow rule only if it matches without decoding.
package robots

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// MaxSize is the number of bytes of a robots.txt that are parsed: the minimum that
// RFC 9309, section 2.5, requires. The rest is ignored, including the whole line that
// crosses the limit.
const MaxSize = 500 << 10

// A File is a parsed robots.txt. The zero value allows everything.
type File struct {
	// Sitemaps are the values of all sitemap lines, in order. They apply to all crawlers.
	Sitemaps []string

	groups []group
}

// A group consists of consecutive user-agent lines and the rules after them.
type group struct {
	agents []string // product tokens in lower case; "*" means all crawlers
	rules  []rule
	delay  float64
}

// A rule is one allow or disallow line.
type rule struct {
	value   string // as written in the file
	spelled string // escape(value)
	normal  string // normalize(spelled); if several rules match, the longest normal decides
	line    int32
	allow   bool
}

// ruleSize is the size of a rule without its strings, in bytes.
const ruleSize = 56

// Rules are the rules of a file that apply to one crawler. The zero value allows
// everything.
type Rules struct {
	// Delay is the largest crawl-delay in seconds, at most maxDelay, or 0 if there is
	// none. Crawl-delay is not part of RFC 9309.
	Delay float64

	rules []rule // sorted so that the first match decides
}

// A Decision reports whether a URL may be fetched, and why.
type Decision struct {
	Allowed bool
	Line    int    // number, from 1, of the line that decided; 0 if no rule matched
	Rule    string // the rule in that line, such as "Disallow: /private/"
}

// Parse parses a robots.txt. It never fails: as RFC 9309 requires, it skips lines that it
// cannot parse, including binary data.
func Parse(data []byte) *File {
	whole := len(data) <= MaxSize
	data = toUTF8(data[:min(len(data), MaxSize)])
	if !whole {
		data = data[:bytes.LastIndexAny(data, "\r\n")+1]
	}

	f := new(File)
	inAgents := false // the last lines were user-agent lines
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data = cutLine(data)
		key, value, ok := split(line)
		if !ok {
			continue
		}
		switch key = strings.ToLower(key); key { // common misspellings are accepted
		case "user-agent", "useragent", "user agent":
			if !inAgents {
				f.groups = append(f.groups, group{})
				inAgents = true
			}
			g := &f.groups[len(f.groups)-1]
			if agent := agentOf(value); agent != "" {
				g.agents = append(g.agents, agent)
			}
		case "allow", "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
			if len(f.groups) == 0 {
				continue // rules before the first group apply to no crawler
			}
			inAgents = false
			if value == "" {
				continue
			}
			g := &f.groups[len(f.groups)-1]
			g.rules = append(g.rules, newRule(key == "allow", n, value))
		case "crawl-delay", "crawldelay", "crawl delay":
			// Lines that are not in the standard do not end a run of user-agent lines
			// (section 2.2.4).
			if d, _ := strconv.ParseFloat(value, 64); d > 0 && len(f.groups) > 0 { // 0 if it is no number
				g := &f.groups[len(f.groups)-1]
				g.delay = max(g.delay, min(d, maxDelay))
			}
		case "sitemap", "site-map":
			if value != "" {
				f.Sitemaps = append(f.Sitemaps, value)
			}
		}
	}
	return f
}

// maxDelay is the maximum crawl-delay in seconds.
const maxDelay = 86400

// For returns the rules for a crawler: the rules of all groups that name its product token
// (see [Token]) or, if there is no such group, of the groups for "*". It ignores letter case
// and text after the token in agent, such as a version.
func (f *File) For(agent string) *Rules {
	token := strings.ToLower(Token(agent))
	r := new(Rules)
	for _, want := range []string{token, "*"} {
		named := false
		for i := range f.groups {
			g := &f.groups[i]
			if slices.Contains(g.agents, want) {
				named = true
				r.rules = append(r.rules, g.rules...)
				r.Delay = max(r.Delay, g.delay)
			}
		}
		if named {
			break
		}
	}
	slices.SortStableFunc(r.rules, func(a, b rule) int {
		switch {
		case len(a.normal) != len(b.normal):
			return len(b.normal) - len(a.normal)
		case a.allow == b.allow:
			return 0
		case a.allow:
			return -1
		}
		return 1
	})
	return r
}

// Size returns the approximate size of the rules in memory, in bytes.
func (r *Rules) Size() int {
	size := ruleSize * cap(r.rules)
	for i := range r.rules {
		x := &r.rules[i]
		size += len(x.value)
		if x.spelled != x.value {
			size += len(x.spelled)
		}
		if x.normal != x.spelled {
			size += len(x.normal)
		}
	}
	return size
}

// Token returns the product token at the start of s: its longest prefix of letters,
// digits, "_" and "-", which may be empty. RFC 9309, section 2.2.1, does not allow
// digits, but some names of crawlers have digits (MJ12bot, 360Spider). Cut at the first
// digit, they would be confused with names of other crawlers.
func Token(s string) string {
	i := 0
	for i < len(s) && isTokenByte(s[i]) {
		i++
	}
	return s[:i]
}

// Decide reports whether url may be fetched. Only its path and query matter.
func (r *Rules) Decide(url string) Decision {
	path := Path(url)
	if path == "/robots.txt" {
		return Decision{Allowed: true}
	}
	if len(r.rules) == 0 {
		return Decision{Allowed: true}
	}
	spelled := escape(path, false)
	normal := normalize(spelled)
	same := normal == spelled
	for i := range r.rules {
		x := &r.rules[i]
		decode := !x.allow && !(same && x.normal == x.spelled)
		if match(x.spelled, spelled) || decode && match(x.normal, normal) {
			return Decision{Allowed: x.allow, Line: int(x.line), Rule: x.String()}
		}
	}
	return Decision{Allowed: true}
}

// Path returns the part of a URL against which rules are matched: path and query
// without the fragment. It returns "/" for an empty path. url may lack scheme and host.
func Path(url string) string {
	url, _, _ = strings.Cut(url, "#")
	// "://" follows a scheme only if no path begins before it.
	rest := url
	if after, ok := strings.CutPrefix(url, "//"); ok {
		rest = after
	} else if i := strings.Index(url, "://"); i >= 0 && strings.IndexAny(url, "/?;") == i+1 {
		rest = url[i+3:]
	}
	i := strings.IndexAny(rest, "/?;")
	switch {
	case i < 0:
		return "/"
	case rest[i] != '/':
		return "/" + rest[i:]
	}
	return rest[i:]
}

// newRule compiles one allow or disallow value.
func newRule(allow bool, line int, value string) rule {
	spelled := anchor(escape(value, true))
	return rule{value: value, spelled: spelled, normal: normalize(spelled), line: int32(line), allow: allow}
}

// String returns the rule as a line of robots.txt, cut to maxRuleText bytes.
func (x *rule) String() string {
	name, value := "Disallow: ", x.value
	if x.allow {
		name = "Allow: "
	}
	if len(value) > maxRuleText {
		value = strings.ToValidUTF8(value[:maxRuleText], "") + "…"
	}
	return name + strings.ToValidUTF8(value, "\ufffd")
}

const maxRuleText = 200

// toUTF8 removes a byte order mark and decodes UTF-16, which some editors write. If a
// byte order mark of UTF-16 precedes text without NULs, the mark is wrong, and the text is
// ASCII or UTF-8.
func toUTF8(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return bytes.TrimPrefix(data, []byte("\ufeff"))
	}
	data = data[2:]
	if bytes.IndexByte(data, 0) < 0 {
		return data
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// cutLine splits off the first line. Lines end in LF, CR or CRLF.
func cutLine(data []byte) (line, rest []byte) {
	i := bytes.IndexAny(data, "\r\n")
	if i < 0 {
		return data, nil
	}
	line, rest = data[:i], data[i+1:]
	if data[i] == '\r' && len(rest) > 0 && rest[0] == '\n' {
		rest = rest[1:]
	}
	return line, rest
}

// split splits a line at its colon. A line without colon that consists of two words is
// split between the words.
func split(line []byte) (key, value string, ok bool) {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	line = bytes.Trim(line, whitespace)
	if len(line) == 0 {
		return "", "", false
	}
	if k, v, found := bytes.Cut(line, []byte(":")); found {
		return string(bytes.Trim(k, whitespace)), string(bytes.Trim(v, whitespace)), true
	}
	i := bytes.IndexAny(line, whitespace)
	if i < 0 {
		return "", "", false
	}
	v := bytes.Trim(line[i:], whitespace)
	if bytes.ContainsAny(v, whitespace) {
		return "", "", false
	}
	return string(line[:i]), string(v), true
}

const whitespace = " \t\v\f\x00"

// agentOf returns the product token in a user-agent line, in lower case, or "*".
func agentOf(value string) string {
	if strings.HasPrefix(value, "*") && (len(value) == 1 || strings.IndexByte(whitespace, value[1]) >= 0) {
		return "*"
	}
	return strings.ToLower(Token(value))
}

func isTokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}
