package report

import (
	"bufio"
	"cmp"
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

// A Page holds the content of the page: runs in this order, a comparison, or both.
type Page struct {
	Title      string // "": the name of the only run, or of the comparison
	Runs       []*Run
	Comparison *Comparison // may be nil
	Reload     int         // seconds after which a browser reads the file again; 0: never
}

// maxRows is the maximum total size of all tables of relevant pages, in bytes.
const maxRows = 1 << 20

// Write writes the page as one self-contained HTML file. Its Content-Security-Policy allows
// only its own style and script, and no connection. The same page gives the same bytes.
//
// Tables of relevant pages are cut, with a note, if they would make the file much larger than
// a megabyte.
func Write(w io.Writer, p *Page) error {
	t, err := template.New("page").Funcs(Functions()).Parse(pageTemplate)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	if err := t.Execute(b, view(p)); err != nil {
		return err
	}
	return b.Flush()
}

// Functions returns the functions of templates that show the figures of a crawl.
func Functions() template.FuncMap {
	return template.FuncMap{
		"count":       count,
		"percent":     percent,
		"decimal":     decimal,
		"fixed":       fixed,
		"duration":    duration,
		"plural":      plural,
		"share":       share,
		"finite":      finite,
		"seconds":     func(ms int) float64 { return float64(ms) / 1000 },
		"counts":      newCountList,
		"address":     address,
		"breakable":   breakable,
		"probability": probability,
		"span":        span,
		"signed":      signed,
	}
}

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

type pageView struct {
	Title      string
	From       string // time of the first fetch of all runs
	Until      string // time of the last fetch of all runs
	Policy     string // Content-Security-Policy
	Reload     int    // seconds
	Style      template.CSS
	Script     template.JS
	Runs       []runView
	Overview   []overview // if there are several runs
	Apart      string     // why the relevant pages of the runs cannot be compared; "" if they can
	Unequal    string     // why the nAUC of the runs cannot be compared; "" if they can
	Comparison *comparisonView
}

func view(p *Page) pageView {
	v := pageView{
		Title:  p.Title,
		Style:  template.CSS(pageStyle),
		Script: template.JS(pageScript),
		Reload: p.Reload,
		Policy: "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + hash(pageStyle) + "; script-src " + hash(pageScript),
	}
	if v.Title == "" {
		switch {
		case len(p.Runs) == 1:
			v.Title = p.Runs[0].Name
		case len(p.Runs) > 1:
			v.Title = plural(len(p.Runs), "crawl", "crawls")
		}
	}
	for i, r := range p.Runs {
		v.Runs = append(v.Runs, viewRun(r, i+1, len(p.Runs) > 1, maxRows/len(p.Runs)))
		if first := day(r.First); first != "" && (v.From == "" || first < v.From) {
			v.From = first
		}
		v.Until = max(v.Until, day(r.Last))
	}
	if len(p.Runs) > 1 {
		v.Overview = overviews(p.Runs)
		v.Apart = apart(v.Overview)
		v.Unequal = unequal(p.Runs)
	}
	if p.Comparison != nil {
		v.Comparison = viewComparison(*p.Comparison, len(p.Runs) > 0)
		v.Title = cmp.Or(v.Title, v.Comparison.Heading)
	}
	return v
}

// hash returns the source expression of a policy for an inline style or script.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// day returns the date of an RFC 3339 time.
func day(timestamp string) string {
	date, _, _ := strings.Cut(timestamp, "T")
	return date
}

type overview struct {
	*Run
	ID     string
	Figure template.HTML
	Found  int
	Cost   int // at which the pages were found; less than Fetched if the judge's summary covers only a part
	Rate   float64
	By     string // what determines which pages are relevant: labels, or the name of a measure
}

// overviews draws the pages found by every run, on one scale.
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
		list = append(list, overview{r, runID(i + 1), glance(r, cost, most), r.found(), r.judgedCost(), r.harvest(), r.relevantBy()})
	}
	return list
}

// relevantBy returns what determines which pages are relevant.
func (r *Run) relevantBy() string {
	if r.byLabels() {
		return "labels"
	}
	return cmp.Or(r.Fitness.Measure, "its own measure")
}

// apart returns a sentence if the relevant pages of the runs are not determined by the same labels or measure.
func apart(list []overview) string {
	var by []string
	for _, o := range list {
		if !slices.Contains(by, o.By) {
			by = append(by, o.By)
		}
	}
	if len(by) < 2 {
		return ""
	}
	return "These crawls call different pages relevant (by " + strings.Join(by, ", by ") + "), so their numbers of relevant pages cannot be compared."
}

// unequal returns a sentence if the runs were judged with different T, R or seeds, for which judge table refuses
// to compare them.
func unequal(runs []*Run) string {
	var first *Measures
	var differ []string
	for _, r := range runs {
		m := r.Measures
		if m == nil {
			continue
		}
		if first == nil {
			first = m
			continue
		}
		for _, d := range []struct {
			name    string
			differs bool
		}{
			{"T", m.T != first.T},
			{"R", m.R != first.R},
			{"seeds", m.SeedDigest != "" && first.SeedDigest != "" && m.SeedDigest != first.SeedDigest},
		} {
			if d.differs && !slices.Contains(differ, d.name) {
				differ = append(differ, d.name)
			}
		}
	}
	if differ == nil {
		return ""
	}
	return "These crawls were judged with different " + strings.Join(differ, " and ") + ", so their nAUC cannot be compared, and is left out here. (T is the number of fetches that are judged, R the number of reachable relevant pages.)"
}

// bytes returns an estimate of the size of a row in the table of pages.
func (f *Found) bytes() int {
	n := 500 + size(f.Href) + 2*size(f.Title) + 2*size(f.URL) + size(f.Operator) + size(f.Niche)
	for _, s := range f.Lineage {
		n += 200 + size(s.URL) + size(s.Title) + size(s.Query) + size(s.Operator)
		for _, p := range s.Parents {
			n += 40 + size(p)
		}
		for _, r := range s.Reasons {
			n += 30 + size(r.Name)
		}
	}
	return n
}

// size returns the size of a string after escaping.
func size(s string) int {
	n := len(s)
	for i := range len(s) {
		switch s[i] {
		case '&', '<', '>', '"', '\'', '+', 0:
			n += 4
		}
	}
	return n
}

// maxRow is the size of a row, in bytes, above which parents that are not part of the lineage are
// omitted.
const maxRow = 6 << 10

// rows returns as many pages as fit in room bytes.
func rows(pages []Found, room int) []Found {
	var list []Found
	for _, f := range pages {
		if f.bytes() > maxRow {
			f.Lineage = slices.Clone(f.Lineage)
			for i := range f.Lineage {
				f.Lineage[i].Parents = nil
			}
		}
		if room -= f.bytes(); room < 0 {
			break
		}
		list = append(list, f)
	}
	return list
}

// address returns href if it is an http or https address, and otherwise "".
func address(href string) string {
	if strings.HasPrefix(href, "http://") || strings.HasPrefix(href, "https://") {
		return href
	}
	return ""
}

// at returns the value of a curve at a cost: the value at the last point whose cost is not higher, or
// NaN if there is no such point.
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

// reached returns the lowest cost at which the curve is at least v, or 0 if there is none.
func (c *Curves) reached(curve []float64, v float64) int {
	for i := range min(len(curve), len(c.Cost)) {
		if curve[i] >= v {
			return c.Cost[i]
		}
	}
	return 0
}
