// Package scope decides which URLs belong to a crawl.
//
// A [Scope] is a list of rules. A scope file has one rule per line. White space around a line,
// empty lines and lines that begin with "#" are ignored. The rules are:
//
//	include PATTERN    URLs that match belong to the crawl; can be written +PATTERN
//	exclude PATTERN    URLs that match do not belong to the crawl; can be written -PATTERN
//	same-host          only URLs on the hosts of the seeds; a leading www. is ignored, a port is
//	                   compared
//	same-host HOST     only URLs on this host, or on the hosts of other same-host lines
//	same-site          only URLs in the registrable domains of the seeds (example.co.uk)
//	same-site DOMAIN   only URLs in this domain, or in the domains of other same-site lines
//	scheme S,...       only URLs with one of these schemes
//	depth N            only URLs at most N links away from a seed
//	SURT               the same as include SURT, so that files of Heritrix can be used
//
// The last include or exclude rule that matches a URL decides. If none matches, the URL belongs to
// the crawl only if the scope has no include rule. All other rules are limits: a URL must also
// satisfy every limit, wherever its line is. If there are several scheme rules, or several depth
// rules, the last one is valid.
//
// # Patterns
//
//	example.org             a host, with any port, scheme and path
//	*.example.org           example.org and all hosts below it
//	example.org:8080        a host with this port
//	example.org/docs/*      a host, and a path with its query, where * is any text
//	https://example.org/*   the same, and a scheme
//	/docs/*                 a path, on any host; */docs/* is a path that contains /docs/
//	*                       every URL
//	ext:jpg,png             the extension of the file that the path names, in any case
//	re:EXPR                 a regular expression (package regexp) that matches anywhere in the URL
//	http://(org,example,    a SURT prefix, as in Heritrix: example.org and all hosts below it
//	(org,example,)/docs     only example.org, and paths that begin with /docs
//	org,example)/docs       the same
//	(org,example,:8080)/    only example.org with this port; an IP address is not reversed, as in
//	                        (127.0.0.1:8080)/
//
// A pattern with a path must match the whole path: example.org/docs/ matches one URL. A star in a
// host does not match a slash, so such a pattern cannot match text in the path of another host's URL. URLs and
// patterns are compared in the canonical form of [weburl]: hosts in lower case and Punycode, no user
// name, no fragment, no default port. A dot at the end of a host is ignored. A SURT prefix matches
// http and https URLs, and is compared in lower case; all other patterns distinguish case in paths.
//
// # Seeds
//
// A seed does not have to match an include rule, and the scheme is the only limit that applies to
// it: a crawl of example.org/docs/* may begin at example.org. Exclude rules apply to seeds.
package scope

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/weburl"
)

// Limits of a scope.
const (
	MaxRules     = 10_000    // include and exclude rules
	MaxRegexps   = 100       // regular expressions among them
	MaxRegexp    = 1 << 10   // bytes of a regular expression
	MaxStates    = 4_000     // states of all regular expressions; a count as in a{100} needs many
	MaxLine      = 4 << 10   // bytes of a line
	MaxNames     = 1_000_000 // hosts of same-host rules; the same number of domains of same-site rules
	MaxDepth     = 65_534    // the largest N of a depth rule
	maxShownRule = 200       // bytes of a rule in a message
)

// A Reason is why a URL does not belong to the crawl. It is used as the error of a record.
type Reason string

// The reasons.
const (
	InScope  Reason = ""               // the URL belongs to the crawl
	NotIn    Reason = "out_of_scope"   // no include rule matches, or it is on another host or site
	Excluded Reason = "scope_excluded" // an exclude rule decides, or the scheme rule does not list the scheme
	TooDeep  Reason = "scope_depth"    // too many links away from a seed
)

// A Role determines which rules apply to a URL.
type Role int

// The roles of URLs.
const (
	Link      Role = iota // all rules apply
	Seed                  // exclude rules and the scheme apply
	Auxiliary             // a sitemap, for example: no include rule has to match, no depth limit
)

// A Scope is a list of rules. The zero Scope contains every URL. It must not be changed while
// other goroutines use it.
type Scope struct {
	lines      []string // the rules except same-host and same-site
	rules      []rule   // include and exclude
	hasInclude bool
	regexps    int
	states     int // number of states of all regular expressions
	schemes    []string
	schemeRule string
	depth      int
	hasDepth   bool
	host, site names
}

// names are the hosts that same-host rules permit, or the domains that same-site rules permit.
type names struct {
	limited   bool
	fromSeeds bool // AddSeed adds the names of the seeds
	set       map[string]bool
}

func (n *names) add(name string) {
	if n.set == nil {
		n.set = map[string]bool{}
	}
	n.set[name] = true
}

// A rule is an include or exclude rule.
type rule struct {
	text    string // as in a scope file, shortened for messages
	include bool
	matches func(*target) bool
}

// Parse parses lines of rules. The error contains the line number, counted from 1.
func Parse(lines []string) (*Scope, error) {
	s := new(Scope)
	for i, line := range lines {
		if err := s.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return s, nil
}

// Check returns an error if a line is not a rule.
func Check(line string) error { return new(Scope).add(line) }

// Empty reports whether the scope has no rules, and so contains every URL.
func (s *Scope) Empty() bool { return len(s.lines) == 0 && !s.host.limited && !s.site.limited }

// add adds the rule of a line.
func (s *Scope) add(line string) error {
	if err := checkLength(line); err != nil {
		return err
	}
	line = strings.TrimSpace(line)
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return fmt.Errorf("%q has a control character", truncate(line))
	}
	word, rest := line, ""
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		word, rest = line[:i], strings.TrimSpace(line[i:])
	}
	switch {
	case word == "include" || word == "exclude":
		return s.addPattern(word == "include", rest)
	case word == "same-host":
		return s.host.parse(word, rest, parseHost)
	case word == "same-site":
		return s.site.parse(word, rest, parseSite)
	case word == "scheme":
		return s.setScheme(rest)
	case word == "depth":
		return s.setDepth(rest)
	case line[0] == '+' || line[0] == '-':
		return s.addPattern(line[0] == '+', strings.TrimSpace(line[1:]))
	case isSURT(line):
		return s.addPattern(true, line)
	}
	return fmt.Errorf("%q is not a rule: it begins with include, exclude, same-host, same-site, scheme or depth\nhint: include %[1]s", truncate(line))
}

func checkLength(line string) error {
	if len(line) > MaxLine {
		return fmt.Errorf("a rule of %d bytes: at most %d are allowed", len(line), MaxLine)
	}
	return nil
}

func (s *Scope) addPattern(include bool, pattern string) error {
	name := "exclude"
	if include {
		name = "include"
	}
	line := name + " " + pattern // it may be longer than the line that was read
	if err := checkLength(line); err != nil {
		return err
	}
	if len(s.rules) == MaxRules {
		return fmt.Errorf("more than %d include and exclude rules", MaxRules)
	}
	if strings.HasPrefix(pattern, regexpPrefix) {
		if s.regexps++; s.regexps > MaxRegexps {
			return fmt.Errorf("more than %d regular expressions", MaxRegexps)
		}
		if s.states += states(pattern[len(regexpPrefix):]); s.states > MaxStates {
			return fmt.Errorf("%s %s: the regular expressions have more than %d states together, and would take long on every URL\nhint: repeat with * or +, not with large numbers as in a{100}", name, truncate(pattern), MaxStates)
		}
	}
	matches, err := compile(pattern)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.lines = append(s.lines, line)
	s.rules = append(s.rules, rule{truncate(line), include, matches})
	s.hasInclude = s.hasInclude || include
	return nil
}

// parse adds the name of a same-host or same-site rule. For a rule without a name, it sets
// fromSeeds.
func (n *names) parse(rule, name string, parse func(string) (string, error)) error {
	n.limited = true
	if name == "" {
		n.fromSeeds = true
		return nil
	}
	key, err := parse(name)
	if err != nil {
		return fmt.Errorf("%s %s: %w", rule, truncate(name), err)
	}
	if len(n.set) >= MaxNames {
		return fmt.Errorf("more than %d names in %s rules", MaxNames, rule)
	}
	n.add(key)
	return nil
}

func (s *Scope) setScheme(list string) error {
	s.schemes = nil
	for name := range strings.SplitSeq(list, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "http" && name != "https" {
			return fmt.Errorf("scheme %q: http, https or both, separated by a comma", truncate(list))
		}
		s.schemes = append(s.schemes, name)
	}
	s.schemeRule = "scheme " + strings.Join(s.schemes, ",")
	s.lines = append(s.lines, s.schemeRule)
	return nil
}

func (s *Scope) setDepth(number string) error {
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || n > MaxDepth {
		return fmt.Errorf("depth %q: a number of links from 0 to %d", truncate(number), MaxDepth)
	}
	s.lines = slices.DeleteFunc(s.lines, func(rule string) bool { return strings.HasPrefix(rule, "depth ") }) // the last depth rule is valid
	s.depth, s.hasDepth = int(n), true
	s.lines = append(s.lines, "depth "+strconv.FormatUint(n, 10))
	return nil
}

// NeedsSeeds reports whether a rule depends on the seeds, which [Scope.AddSeed] adds.
func (s *Scope) NeedsSeeds() bool { return s.host.fromSeeds || s.site.fromSeeds }

// AddSeed permits the host of a seed if there is a same-host rule without a name, and its site if
// there is a same-site rule without a name.
func (s *Scope) AddSeed(u weburl.URL) {
	if s.host.fromSeeds && len(s.host.set) < MaxNames {
		s.host.add(hostOf(u))
	}
	if s.site.fromSeeds && len(s.site.set) < MaxNames {
		s.site.add(Site(u))
	}
}

// Lines returns the rules in the format of a scope file. They include the hosts and sites that
// AddSeed added, so that the lines can be parsed without the seeds.
func (s *Scope) Lines() []string {
	lines := slices.Clone(s.lines)
	for _, n := range []struct {
		rule string
		names
	}{{"same-host", s.host}, {"same-site", s.site}} {
		if !n.limited {
			continue
		}
		if len(n.set) == 0 {
			lines = append(lines, n.rule)
		}
		for _, name := range slices.Sorted(maps.Keys(n.set)) {
			lines = append(lines, n.rule+" "+name)
		}
	}
	return lines
}

// Depth returns the N of the depth rule, and whether there is a depth rule.
func (s *Scope) Depth() (n int, limited bool) { return s.depth, s.hasDepth }

// Decide returns why a URL does not belong to the crawl, and the rule that decided. The depth is the
// number of links between a seed and the URL. It returns InScope and "" if the URL belongs to the crawl.
func (s *Scope) Decide(u weburl.URL, depth int, role Role) (reason Reason, rule string) {
	if len(s.schemes) > 0 && !slices.Contains(s.schemes, u.Scheme()) {
		return Excluded, s.schemeRule
	}
	included := !s.hasInclude
	if len(s.rules) > 0 {
		t := target{u: u}
		for i := range slices.Backward(s.rules) {
			r := &s.rules[i]
			if !r.matches(&t) {
				continue
			}
			if !r.include {
				return Excluded, r.text
			}
			included = true
			break
		}
	}
	if role == Seed {
		return InScope, ""
	}
	switch {
	case s.host.limited && !s.host.set[hostOf(u)]:
		return NotIn, "same-host"
	case s.site.limited && !s.site.set[Site(u)]:
		return NotIn, "same-site"
	case role == Auxiliary:
		return InScope, ""
	case !included:
		return NotIn, "no include rule matches"
	case s.hasDepth && depth > s.depth:
		return TooDeep, "depth " + strconv.Itoa(s.depth)
	}
	return InScope, ""
}

// truncate shortens s for a message.
func truncate(s string) string {
	if len(s) <= maxShownRule {
		return s
	}
	return strings.ToValidUTF8(s[:maxShownRule], "") + "…"
}
