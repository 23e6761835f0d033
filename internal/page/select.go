package page

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// A Selector fills a field with the texts of the elements that match a CSS selector.
type Selector struct {
	name string
	css  cascadia.SelectorGroup
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
	group, err := cascadia.ParseGroup(css)
	if err != nil {
		return Selector{}, fmt.Errorf("in %q: %w", css, err)
	}
	return Selector{name, group}, nil
}

// match returns the elements that match, in document order.
func (s Selector) match(root *html.Node) []*html.Node {
	return cascadia.QueryAll(root, s.css)
}

// sorted returns the selectors sorted by name.
func sorted(selectors []Selector) []Selector {
	selectors = slices.Clone(selectors)
	slices.SortStableFunc(selectors, func(a, b Selector) int { return strings.Compare(a.name, b.name) })
	return selectors
}
