package page

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
)

// A Selector fills a field with the texts of the elements that match a CSS selector.
type Selector struct {
	name string
	css  group
}

// A group is a list of selectors separated by commas.
type group []complexSelector

// A complexSelector is a list of compounds, each with the combinator before it.
type complexSelector []compound

// A compound is a list of conditions on one node. Cascadia parses and tests the conditions that do
// not contain selectors.
type compound struct {
	combinator byte             // ' ', '>', '+' or '~'; 0 for the first compound, unless it is relative, as in :has(> p)
	simple     cascadia.Matcher // type, id, classes and attributes; nil if there are none
	pseudos    []pseudo
}

// A pseudo is a pseudo-class.
type pseudo struct {
	name  string           // in lower case
	match cascadia.Matcher // nil if inner is set
	inner group            // argument of :not, :is, :where, :has and :haschild, otherwise nil
}

// ParseSelector parses "name=css", with the name of the field.
func ParseSelector(s string) (Selector, error) {
	name, css, ok := strings.Cut(s, "=")
	name = strings.TrimSpace(name)
	switch {
	case !ok:
		return Selector{}, errors.New("no = between the name of the field and the selector")
	case name == "":
		return Selector{}, errors.New("no name before the = for the field")
	case strings.TrimSpace(css) == "":
		return Selector{}, errors.New("no selector after the =")
	}
	if _, err := cascadia.ParseGroup(withoutLevel4(css)); err != nil {
		return Selector{}, fmt.Errorf("in %q: %w", css, err)
	}
	p := splitter{s: css}
	g := p.group()
	if p.err == nil && p.i < len(css) {
		p.err = fmt.Errorf("unexpected %q", css[p.i:])
	}
	if p.err != nil {
		return Selector{}, fmt.Errorf("in %q: %w", css, p.err)
	}
	return Selector{name, g}, nil
}

// withoutLevel4 returns a selector that is valid by the rules of cascadia if css is valid. Of Selectors
// Level 4, cascadia v1.3.5 lacks :is and :where, whose argument is as that of :not, and combinators at
// the start of the selectors in :has, which are removed.
func withoutLevel4(css string) string {
	var (
		p     = splitter{s: css}
		b     strings.Builder
		done  int    // css[:done] has been copied to b
		inHas []bool // for each open parenthesis, whether it is that of :has
	)
	relative := func() {
		p.space()
		if c := p.peek(); c == '>' || c == '+' || c == '~' {
			b.WriteString(css[done:p.i])
			p.i++
			done = p.i
		}
	}
	for p.i < len(css) {
		switch c := css[p.i]; c {
		case '\\':
			p.escape()
		case '[':
			p.i++
			p.argument(']')
		case '/':
			if !p.space() {
				p.i++
			}
		case ':':
			p.i++
			start := p.i
			p.name()
			name := strings.ToLower(css[start:p.i])
			if p.peek() != '(' {
				continue
			}
			p.i++
			switch name {
			case "is", "where":
				b.WriteString(css[done:start] + "not")
				done = start + len(name)
				inHas = append(inHas, false)
			case "has", "not", "haschild":
				inHas = append(inHas, name == "has")
				if name == "has" {
					relative()
				}
			case "matches", "matchesown":
				p.space()
				p.regexp()
				p.i++
			default:
				p.argument(')')
			}
		case ')':
			p.i++
			inHas = inHas[:max(0, len(inHas)-1)]
		case ',':
			p.i++
			if n := len(inHas); n > 0 && inHas[n-1] {
				relative()
			}
		default:
			p.i++
		}
	}
	return b.String() + css[done:]
}

// A splitter splits a selector into conditions. Cascadia accepts the selector after withoutLevel4; the
// types of its syntax tree are not exported, and its Match cannot be stopped.
type splitter struct {
	s   string
	i   int
	err error
}

// peek returns the next byte, or 0 at the end.
func (p *splitter) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *splitter) group() (g group) {
	for {
		g = append(g, p.complexSelector())
		if p.peek() != ',' {
			return g
		}
		p.i++
	}
}

func (p *splitter) complexSelector() (list complexSelector) {
	p.space()
	var first byte
	if c := p.peek(); c == '+' || c == '>' || c == '~' {
		first = c
		p.i++
		p.space()
	}
	list = append(list, p.compound(first))
	for p.err == nil {
		var combinator byte
		if p.space() {
			combinator = ' '
		}
		switch c := p.peek(); c {
		case '+', '>', '~':
			combinator = c
			p.i++
			p.space()
		case ',', ')', 0:
			return list
		}
		if combinator == 0 {
			return list
		}
		list = append(list, p.compound(combinator))
	}
	return list
}

func (p *splitter) compound(combinator byte) compound {
	c := compound{combinator: combinator}
	start := p.i
	if p.peek() == '*' {
		p.i++
		if strings.HasPrefix(p.s[p.i:], "|*") {
			p.i += 2
		}
	} else {
		p.name()
	}
	simple := ""
	if p.s[start:p.i] != "" && p.s[start] != '*' {
		simple = p.s[start:p.i]
	}
	for p.err == nil {
		start := p.i
		switch p.peek() {
		case '#', '.':
			p.i++
			p.name()
			simple += p.s[start:p.i]
		case '[':
			p.i++
			p.argument(']')
			simple += p.s[start:p.i]
		case ':':
			c.pseudos = append(c.pseudos, p.pseudo())
		default:
			if simple == "" && len(c.pseudos) == 0 {
				simple = "*"
			}
			if simple != "" {
				c.simple = p.parse(simple)
			}
			return c
		}
	}
	return c
}

func (p *splitter) pseudo() pseudo {
	start := p.i
	p.i++
	p.name()
	c := pseudo{name: strings.ToLower(p.s[start+1 : p.i])}
	if strings.Contains(c.name, `\`) {
		p.err = fmt.Errorf("the name of the pseudo-class %q has an escape", c.name)
		return c
	}
	switch c.name {
	case "not", "is", "where", "has", "haschild":
		p.i++
		c.inner = p.group()
		p.i++
		return c
	case "matches", "matchesown":
		p.i++
		p.space()
		p.regexp()
		p.i++
	default:
		if p.peek() == '(' {
			p.i++
			p.argument(')')
		}
	}
	if p.i > len(p.s) {
		p.err = errors.New("unexpected end")
		return c
	}
	c.match = p.parse(p.s[start:p.i])
	return c
}

// parse makes cascadia parse a part of the selector.
func (p *splitter) parse(css string) cascadia.Matcher {
	m, err := cascadia.Parse(css)
	if err != nil && p.err == nil {
		p.err = err
	}
	return m
}

// space skips white space and comments, and reports whether there were any.
func (p *splitter) space() bool {
	start := p.i
	for p.i < len(p.s) {
		switch {
		case strings.IndexByte(" \t\r\n\f", p.s[p.i]) >= 0:
			p.i++
			continue
		case strings.HasPrefix(p.s[p.i:], "/*"):
			if end := strings.Index(p.s[p.i+2:], "*/"); end >= 0 {
				p.i += end + 4
				continue
			}
		}
		break
	}
	return p.i > start
}

// name skips a name with its escapes.
func (p *splitter) name() {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case isLetter(c), '0' <= c && c <= '9', c == '-', c == '_', c > 127:
			p.i++
		case c == '\\':
			p.escape()
		default:
			return
		}
	}
}

// escape skips an escape: a backslash and a byte, or up to six hexadecimal digits and a space.
func (p *splitter) escape() {
	p.i++
	digits := 0
	for digits < 6 && p.i < len(p.s) && strings.IndexByte("0123456789abcdefABCDEF", p.s[p.i]) >= 0 {
		p.i++
		digits++
	}
	switch {
	case digits == 0:
		p.i = min(p.i+1, len(p.s))
	case strings.HasPrefix(p.s[p.i:], "\r\n"):
		p.i += 2
	case p.i < len(p.s) && strings.IndexByte(" \t\r\n\f", p.s[p.i]) >= 0:
		p.i++
	}
}

// argument skips everything up to and including end, the end of an attribute or argument.
func (p *splitter) argument(end byte) {
	for {
		p.space()
		switch c := p.peek(); c {
		case 0:
			p.err = errors.New("unexpected end")
			return
		case end:
			p.i++
			return
		case '\\':
			p.escape()
		case '"', '\'':
			for p.i++; p.i < len(p.s) && p.s[p.i] != c; {
				if p.s[p.i] == '\\' {
					p.escape()
				} else {
					p.i++
				}
			}
			p.i++
		case '#': // the operator of [name#=regexp]
			p.i += 2
			p.space()
			p.regexp()
		default:
			p.i++
		}
	}
}

// regexp skips a regular expression. The expression ends before a closing parenthesis or bracket
// without an opening one.
func (p *splitter) regexp() {
	for open := 0; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case '(', '[':
			open++
		case ')', ']':
			if open--; open < 0 {
				return
			}
		}
	}
}

// sorted returns the selectors sorted by name.
func sorted(selectors []Selector) []Selector {
	selectors = slices.Clone(selectors)
	slices.SortStableFunc(selectors, func(a, b Selector) int { return strings.Compare(a.name, b.name) })
	return selectors
}
