// Package scope decides which URLs belong to a crawl.
//
// A [Scope] is made of rules, one a line, as they are in a scope file. White space around a line is
// ignored, and so are empty lines and lines that begin with "#". The rules are:
//
//	include PATTERN    the URLs that match belong to the crawl; also +PATTERN
//	exclude PATTERN    the URLs that match do not; also -PATTERN
//	same-host          only URLs on the hosts of the seeds; a leading www. makes no difference,
//	                   but a port does
//	same-host HOST     only URLs on this host, or on another one that such a line names
//	same-site          only URLs in the registrable domains of the seeds (example.co.uk)
//	same-site DOMAIN   only URLs in this domain, or in another one that such a line names
//	scheme S,...       only URLs with one of these schemes
//	depth N            only URLs at most N links away from a seed
//	SURT               the same as include SURT, so that files of Heritrix can be used
//
// Of the include and exclude rules that match a URL, the last one decides. If none matches, the URL
// belongs to the crawl unless there is an include rule. The other rules are limits, which hold
// in addition, wherever they are: a URL must satisfy all of them. Of several schemes or depths the
// last one counts.
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
// A pattern with a path matches all of it: example.org/docs/ is one URL. A star in a host does not
// match a slash, so that a URL of another host cannot imitate one. URLs and patterns are compared in
// the canonical form of [weburl]: hosts in lower case and Punycode, no user name, no
// fragment, no default port. A dot at the end of a host is ignored. A SURT prefix holds for
// http and https, and is compared in lower case; all other patterns distinguish case in paths.
//
// # Seeds
//
// A seed needs no include rule, and no limit but the scheme applies to it: a crawl of
// example.org/docs/* may begin at example.org. An exclude rule that decides on a seed holds.
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
	MaxStates    = 4_000     // of all regular expressions together: one that counts, as a{100}, has many
	MaxLine      = 4 << 10   // bytes of a line
	MaxNames     = 1_000_000 // hosts and domains of same-host and same-site, each
	MaxDepth     = 65_534    // of depth
	maxShownRule = 200       // bytes of a rule in a message
)

// A Reason says why a URL does not belong to the crawl. It is an error of the record vocabulary.
type Reason string

// The reasons.
const (
	InScope  Reason = ""               // it does belong
	NotIn    Reason = "out_of_scope"   // no include rule matches, or it is on another host or site
	Excluded Reason = "scope_excluded" // an exclude rule decides, or the scheme is another
	TooDeep  Reason = "scope_depth"    // too many links away from a seed
)

// A Role says which rules apply to a URL.
type Role int

// The roles of URLs.
const (
	Link      Role = iota
	Seed           // exclude rules and the scheme apply
	Auxiliary      // as for a link, but it needs no include rule, and has no depth: a sitemap, say
)

// A Scope is a list of rules. The zero Scope contains every URL. It must not be changed while
// other goroutines use it.
type Scope struct {
	lines      []string // the rules but those with names
	rules      []rule   // include and exclude
	hasInclude bool
	regexps    int
	states     int // of the regular expressions
	schemes    []string
	schemeRule string
	depth      int
	hasDepth   bool
	host, site names
}

// names are the names that a same-host or same-site rule permits.
type names struct {
	limited   bool
	fromSeeds bool // those of the seeds are added
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

// Parse parses rules, one a line. The error has the number of the line, from 1.
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
	if len(line) > MaxLine {
		return fmt.Errorf("a rule of %d bytes: at most %d are allowed", len(line), MaxLine)
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

func (s *Scope) addPattern(include bool, pattern string) error {
	name := "exclude"
	if include {
		name = "include"
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
	line := name + " " + pattern
	s.lines = append(s.lines, line)
	s.rules = append(s.rules, rule{truncate(line), include, matches})
	s.hasInclude = s.hasInclude || include
	return nil
}

// parse adds the name of a same-host or same-site rule, or those of the seeds if there is none.
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
	s.lines = slices.DeleteFunc(s.lines, func(rule string) bool { return strings.HasPrefix(rule, "depth ") }) // the last one counts
	s.depth, s.hasDepth = int(n), true
	s.lines = append(s.lines, "depth "+strconv.FormatUint(n, 10))
	return nil
}

// NeedsSeeds reports whether a rule depends on the seeds, which [Scope.AddSeed] adds.
func (s *Scope) NeedsSeeds() bool { return s.host.fromSeeds || s.site.fromSeeds }

// AddSeed adds the host and the site of a seed to those that same-host and same-site permit.
func (s *Scope) AddSeed(u weburl.URL) {
	if s.host.fromSeeds && len(s.host.set) < MaxNames {
		s.host.add(hostOf(u))
	}
	if s.site.fromSeeds && len(s.site.set) < MaxNames {
		s.site.add(Site(u))
	}
}

// Lines returns the rules as a scope file has them. The hosts and sites of the seeds that were
// added are named, so that the lines can be parsed where the seeds are not known.
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

// Depth returns the greatest number of links between a seed and a URL, and whether there is one.
func (s *Scope) Depth() (n int, limited bool) { return s.depth, s.hasDepth }

// Decide returns whether a URL, which is depth links away from a seed, belongs to the crawl, and
// the rule by which it does not.
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

// truncate returns s as messages show it.
func truncate(s string) string {
	if len(s) <= maxShownRule {
		return s
	}
	return strings.ToValidUTF8(s[:maxShownRule], "") + "…"
}
