package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
)

//go:embed page.tmpl
var pageTemplate string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// A Page is what is to be shown: runs, in this order, a comparison, or both.
type Page struct {
	Title      string // "" is the name of the only run, or of the comparison
	Runs       []*Run
	Comparison *Comparison // nil if there is none
}

// maxRows bounds the bytes of all tables of relevant pages together, counted
// before they are escaped.
const maxRows = 1 << 20

// Write writes the page as one file of HTML that needs no other and may ask for
// none: its Content-Security-Policy names its own style and script and allows no
// connection. The same page gives the same bytes.
//
// The tables of relevant pages are cut where they would make the file much larger
// than a megabyte, and say so.
func Write(w io.Writer, p *Page) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"count":       count,
		"percent":     percent,
		"decimal":     decimal,
		"fixed":       fixed,
		"ratio":       ratio,
		"duration":    duration,
		"plural":      plural,
		"share":       share,
		"finite":      finite,
		"seconds":     func(ms int) float64 { return float64(ms) / 1000 },
		"counts":      newCountList,
		"breakable":   breakable,
		"probability": probability,
		"span":        span,
		"signed":      signed,
	}).Parse(pageTemplate)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	if err := t.Execute(b, view(p)); err != nil {
		return err
	}
	return b.Flush()
}

// A countList is a list of them with its heading.
type countList struct {
	Caption string
	List    []Count
	Most    int
}

func newCountList(caption string, list []Count) countList {
	c := countList{Caption: caption, List: list}
	for _, one := range list {
		c.Most = max(c.Most, one.N)
	}
	return c
}

// A pageView is a page as the template wants it.
type pageView struct {
	Title      string
	Date       string // of the last thing that is told
	Policy     string // Content-Security-Policy
	Style      template.CSS
	Script     template.JS
	Runs       []runView
	Overview   []overview // of several runs
	Comparison *comparisonView
}

func view(p *Page) pageView {
	v := pageView{
		Title:  p.Title,
		Style:  template.CSS(pageStyle),
		Script: template.JS(pageScript),
		Policy: "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + hash(pageStyle) + "; script-src " + hash(pageScript),
	}
	if v.Title == "" {
		switch {
		case len(p.Runs) == 1:
			v.Title = p.Runs[0].Name
		case len(p.Runs) > 1:
			v.Title = plural(len(p.Runs), "crawl", "crawls")
		case p.Comparison != nil:
			v.Title = p.Comparison.Name
		}
	}
	for i, r := range p.Runs {
		v.Runs = append(v.Runs, viewRun(r, i+1, len(p.Runs) > 1, maxRows/len(p.Runs)))
		v.Date = max(v.Date, day(r.Last))
	}
	if len(p.Runs) > 1 {
		v.Overview = overviews(p.Runs)
	}
	if p.Comparison != nil {
		v.Comparison = viewComparison(*p.Comparison, len(p.Runs) > 0)
	}
	return v
}

// hash is how a policy names a style or a script that stands in the page.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// day is the date of a time of RFC 3339.
func day(timestamp string) string {
	date, _, _ := strings.Cut(timestamp, "T")
	return date
}

// An overview is one of several runs at a glance.
type overview struct {
	*Run
	ID     string
	Figure template.HTML
	Found  int
	Rate   float64
	Own    bool // by its own measure
}

// overviews draws what every run found, to one scale.
func overviews(runs []*Run) []overview {
	most, cost := 0.0, 1.0
	for _, r := range runs {
		if n := len(r.Curves.Cost); n > 0 {
			cost = max(cost, float64(r.Curves.Cost[n-1]))
		}
		for _, v := range r.Curves.Run {
			if finite(v) {
				most = max(most, v)
			}
		}
	}
	var list []overview
	for i, r := range runs {
		list = append(list, overview{r, runID(i + 1), glance(r, cost, most), r.found(), r.harvest(), !r.byLabels()})
	}
	return list
}

// bytes is about what a row of the table of pages takes.
func (f *Found) bytes() int {
	n := 400 + len(f.URL) + len(f.Href) + len(f.Title) + len(f.Operator) + len(f.Niche)
	for _, s := range f.Lineage {
		n += 160 + len(s.URL) + len(s.Title) + len(s.Query) + len(s.Operator)
		for _, p := range s.Parents {
			n += 20 + len(p)
		}
		for _, r := range s.Reasons {
			n += 30 + len(r.Name)
		}
	}
	return n
}

// rows is the pages that there is room for.
func rows(pages []Found, room int) []Found {
	for i := range pages {
		if room -= pages[i].bytes(); room < 0 {
			return pages[:i]
		}
	}
	return pages
}

// at is the value of a curve at a cost: that at the last point which is not
// beyond it, and NaN where there is none.
func (c *Curves) at(curve []float64, cost int) float64 {
	i, found := slices.BinarySearch(c.Cost, cost)
	if !found {
		i--
	}
	if i < 0 || i >= len(curve) {
		return math.NaN()
	}
	return curve[i]
}

// reached is the least cost at which the curve is at v or above; 0 if it never is.
func (c *Curves) reached(curve []float64, v float64) int {
	for i := range min(len(curve), len(c.Cost)) {
		if curve[i] >= v {
			return c.Cost[i]
		}
	}
	return 0
}
