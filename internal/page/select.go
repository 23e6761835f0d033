package page

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// A Selector fills a field of a page with the texts of the elements that a CSS
// selector matches.
type Selector struct {
	name string
	css  cascadia.SelectorGroup
}

// ParseSelector reads "name=css". The name is what the field will be called.
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
	group, err := cascadia.ParseGroup(css)
	if err != nil {
		return Selector{}, fmt.Errorf("in %q: %w", css, err)
	}
	return Selector{name, group}, nil
}

// match lists the elements that match, in document order.
func (s Selector) match(root *html.Node) []*html.Node {
	return cascadia.QueryAll(root, s.css)
}

// sorted puts selectors in the order of their names.
func sorted(selectors []Selector) []Selector {
	selectors = slices.Clone(selectors)
	slices.SortStableFunc(selectors, func(a, b Selector) int { return strings.Compare(a.name, b.name) })
	return selectors
}
