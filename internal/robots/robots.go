// Package robots reads robots.txt and tells what a crawler may ask for, as
// RFC 9309 has it.
//
// It is pure: bytes in, decisions out. When robots.txt is asked for, how long
// the answer is kept and what a failure to get it means is the business of
// package polite.
//
// Groups that name the same crawler are merged. The rule that matches the most
// octets decides; of two equally long the one that allows. Where no rule
// matches, and for /robots.txt itself, the answer is yes.
//
// Two readings of percent-encoding are in use. RFC 9309, section 2.2.2, takes
// escapes of unreserved characters off before it compares; the most used
// matcher of all, and its test suite, compares them as they are spelled. Where
// the two differ this package takes the answer that refuses, because the other
// mistake is trespass: a Disallow rule holds if it matches under either
// reading, an Allow rule only if it matches as spelled.
package robots

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// MaxSize is how many bytes of a robots.txt are read; RFC 9309, section 2.5,
// asks for at least this much. What follows is ignored, and with it the line
// that the limit cuts in two.
const MaxSize = 500 << 10

// A File is a robots.txt that has been read. Its zero value allows everything.
type File struct {
	// Sitemaps are the values of all sitemap lines, in order. They belong to
	// the file and not to a group.
	Sitemaps []string

	groups []group
}

// A group is a run of user-agent lines and the rules below them.
type group struct {
	agents []string // product tokens, lower case, "*" for everybody
	rules  []rule
	delay  float64
}

// A rule is one allow or disallow line. It is small, because a file may have many.
type rule struct {
	value   string // as it stands in the file
	spelled string // with what cannot stand in a URL escaped
	normal  string // with needless escapes taken off as well; its length is the rule's rank
	line    int32
	allow   bool
}

// ruleSize is what a rule takes beside its strings.
const ruleSize = 56

// Rules is what a file says to one crawler. Its zero value allows everything.
type Rules struct {
	// Delay is the largest crawl-delay in seconds, 0 if there is none. It is
	// not part of RFC 9309 and nobody has bounded it: the caller does.
	Delay float64

	rules []rule // whichever matches first decides
}

// A Decision is the answer for one URL, with its evidence.
type Decision struct {
	Allowed bool
	Line    int    // the line that decided, from 1; 0 if none did
	Rule    string // that line, such as "Disallow: /private/"
}

// Parse reads a robots.txt. There is no such thing as a bad one: lines that
// make no sense, binary ones included, are skipped, as RFC 9309 asks.
func Parse(data []byte) *File {
	whole := len(data) <= MaxSize
	data = toUTF8(data[:min(len(data), MaxSize)])
	if !whole {
		data = data[:bytes.LastIndexAny(data, "\r\n")+1]
	}

	f := new(File)
	naming := false // the lines just above were user-agent lines
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data = cutLine(data)
		key, value, ok := split(line)
		if !ok {
			continue
		}
		switch field(key) {
		case userAgent:
			if !naming {
				f.groups = append(f.groups, group{})
				naming = true
			}
			g := &f.groups[len(f.groups)-1]
			if agent := agentOf(value); agent != "" {
				g.agents = append(g.agents, agent)
			}
		case allow, disallow:
			if len(f.groups) == 0 {
				continue // a rule before any group is addressed to nobody
			}
			naming = false
			if value == "" {
				continue
			}
			g := &f.groups[len(f.groups)-1]
			g.rules = append(g.rules, newRule(field(key) == allow, n, value))
		case crawlDelay:
			// Like every line outside the standard it does not end a run of
			// user-agent lines (section 2.2.4: other records must not interfere).
			if d, _ := strconv.ParseFloat(value, 64); d > 0 && len(f.groups) > 0 { // 0 if it is no number
				g := &f.groups[len(f.groups)-1]
				g.delay = max(g.delay, min(d, maxDelay))
			}
		case sitemap:
			if value != "" {
				f.Sitemaps = append(f.Sitemaps, value)
			}
		}
	}
	return f
}

// maxDelay keeps an absurd crawl-delay a number that can be reckoned with: a day.
const maxDelay = 86400

// For gathers the rules for the crawler whose product token is agent: those of
// all groups that name it, or, if none does, of all that name everybody. Case
// does not matter, and neither does what follows the token in agent, such as a
// version.
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

// Size is about how many bytes the rules take in memory.
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

// Token is the product token that begins s: the longest prefix of letters, "_"
// and "-" (RFC 9309, section 2.2.1). It is empty if s has none.
func Token(s string) string {
	i := 0
	for i < len(s) && isTokenByte(s[i]) {
		i++
	}
	return s[:i]
}

// Decide tells whether the URL may be asked for. Only its path and query matter.
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
		other := !x.allow && !(same && x.normal == x.spelled) // there is another reading to try
		if match(x.spelled, spelled) || other && match(x.normal, normal) {
			return Decision{Allowed: x.allow, Line: int(x.line), Rule: x.String()}
		}
	}
	return Decision{Allowed: true}
}

// Path is the part of a URL that rules are compared with: path and query, no
// fragment, and "/" where there is no path. Scheme and host may be missing.
func Path(url string) string {
	url, _, _ = strings.Cut(url, "#")
	// The scheme ends before the first character that a path could begin with.
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

// String is the line, cut to a length fit for a message.
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

// maxRuleText is how much of a rule is kept for people to read.
const maxRuleText = 200

// toUTF8 takes a byte order mark off data. A file of UTF-16, which is no
// robots.txt but what some editors make of one, is read nevertheless: what its
// author wanted is plain.
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
	units := make([]uint16, len(data)/2-1)
	for i := range units {
		units[i] = order.Uint16(data[2*i+2:])
	}
	return []byte(string(utf16.Decode(units)))
}

// cutLine splits off the first line; lines end in LF, CR or CRLF. An empty line
// between a CR and a LF is not counted.
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

// split takes a line apart at its colon. A line without one is taken apart at
// white space if that leaves two words, for the sake of those who forget it.
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

// The lines that mean something here.
type fieldKind int

const (
	other fieldKind = iota
	userAgent
	allow
	disallow
	crawlDelay
	sitemap
)

// field names the kind of a line. Common misspellings of the lines that
// restrict are understood: what their author wanted is plain.
func field(key string) fieldKind {
	switch strings.ToLower(key) {
	case "user-agent", "useragent", "user agent":
		return userAgent
	case "allow":
		return allow
	case "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		return disallow
	case "crawl-delay", "crawldelay", "crawl delay":
		return crawlDelay
	case "sitemap", "site-map":
		return sitemap
	}
	return other
}

// agentOf is the token that a user-agent line names, in lower case: "*" alone
// or before white space means everybody.
func agentOf(value string) string {
	if strings.HasPrefix(value, "*") && (len(value) == 1 || strings.IndexByte(whitespace, value[1]) >= 0) {
		return "*"
	}
	return strings.ToLower(Token(value))
}

func isTokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '-'
}
