package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

type comparisonView struct {
	*Comparison
	Nested  bool   // whether there are runs on the page
	Heading string // the number of strategies and the measure
	Tracks  []trackView

	Pictures []smallView // of the figures
}

type trackView struct {
	Track
	ID       string
	Heading  string
	Lead     string
	Figures  []figure
	Picture  template.HTML
	Harvests []smallView
	Against  bool // whether the reference is among the strategies
}

// A smallView is one of the small multiples.
type smallView struct {
	Name    string
	Picture template.HTML
}

func viewComparison(c Comparison, nested bool) *comparisonView {
	if c.Title == "" {
		c.Title = strings.ReplaceAll(c.Measure, "_", " ")
	}
	c = c.clean()
	v := &comparisonView{Comparison: &c, Nested: nested}
	most := 0
	for i, t := range c.Tracks {
		tv := trackView{Track: t, ID: "track-" + strconv.Itoa(i+1), Heading: trackName(t.Name)}
		tv.Against = slices.ContainsFunc(t.Strategies, func(s Strategy) bool { return s.Name == c.Reference })
		tv.Lead, tv.Figures = against(&c, t, tv.Against)
		tv.Picture = means(&c, t, tv.Against)
		tv.Harvests = harvests(t)
		v.Tracks = append(v.Tracks, tv)
		most = max(most, len(t.Strategies))
	}
	for _, f := range c.Figures {
		var name strings.Builder
		name.WriteString(f.Title)
		for _, l := range f.Lines {
			if l.Ended > 0 {
				fmt.Fprintf(&name, "; %s: %d of %s ended before the last cost", l.Name, l.Ended, plural(l.Crawls, "crawl", "crawls"))
			}
		}
		v.Pictures = append(v.Pictures, smallView{Name: name.String(), Picture: f.picture()})
	}
	v.Heading = plural(most, "strategy", "strategies") + " compared by " + cmp.Or(c.Title, c.Measure)
	return v
}

// clean returns the comparison with names for display.
func (c Comparison) clean() Comparison {
	c.Name, c.Reference = clean(c.Name, maxName), clean(c.Reference, maxName)
	c.Figures = slices.Clone(c.Figures)
	for i := range c.Figures {
		f := &c.Figures[i]
		f.Title, f.Lines, f.Points = clean(f.Title, maxName), slices.Clone(f.Lines), slices.Clone(f.Points)
		for k := range f.Lines {
			f.Lines[k].Name = clean(f.Lines[k].Name, maxName)
		}
		for k := range f.Points {
			f.Points[k].Name = clean(f.Points[k].Name, maxName)
		}
	}
	c.Tracks = slices.Clone(c.Tracks)
	for i := range c.Tracks {
		t := &c.Tracks[i]
		t.Name, t.Topics, t.Strategies = clean(t.Name, maxName), slices.Clone(t.Topics), slices.Clone(t.Strategies)
		for k := range t.Topics {
			t.Topics[k] = clean(t.Topics[k], maxName)
		}
		for k := range t.Strategies {
			t.Strategies[k].Name = clean(t.Strategies[k].Name, maxName)
		}
	}
	return c
}

// Title returns the heading of the comparison. It is the heading of the page if there are no runs.
func (v *comparisonView) Title() template.HTML { return heading(v.Nested, 1, "comparison", v.Heading) }

// trackName describes the information that the crawlers of a track are given.
func trackName(name string) string {
	switch name {
	case "":
		return "All crawls"
	case "K":
		return "Track K: keywords alone"
	case "E":
		return "Track E: keywords and example pages"
	case "Q":
		return "Track Q: keywords and a search"
	}
	return "Track " + name
}

const alpha = 0.05

// against returns the summary of a track, and its figures.
func against(c *Comparison, t Track, reference bool) (string, []figure) {
	if len(t.Strategies) == 0 {
		return "", nil
	}
	best := t.Strategies[0]
	if i := slices.IndexFunc(t.Strategies, func(s Strategy) bool { return s.Units >= t.Units }); i >= 0 {
		best = t.Strategies[i]
	}
	few := t.Units < fewUnits && len(t.Strategies) > 1
	near := overlapping(t, best)
	list := []figure{{Label: "Best", Value: best.Name, Note: c.Title + " " + interval(best)}}
	lead := fmt.Sprintf("%s comes first, with a mean %s of %s.", best.Name, c.Title, fixed(best.Mean, 2))
	if few || near != nil {
		list[0].Label = "First by the mean"
	}
	if reference {
		var ref Strategy
		better, worse := 0, 0
		for _, s := range t.Strategies {
			switch standing(c, s, reference) {
			case "reference":
				ref = s
			case "s1":
				better++
			case "s0":
				worse++
			}
		}
		others := len(t.Strategies) - 1
		list = append(list,
			figure{Label: "Reference", Value: ref.Name, Note: c.Title + " " + interval(ref)},
			figure{Label: "Better than " + ref.Name, Value: count(better), Note: fmt.Sprintf("of %s; %s worse", count(others), count(worse))})
		open := others - better - worse
		if open > 0 {
			list[len(list)-1].Note += fmt.Sprintf(", %s not significantly different", count(open))
		}
		switch {
		case others == 0:
		case open == others:
			lead += fmt.Sprintf(" No strategy differs significantly from %s.", c.Reference)
		default:
			lead += fmt.Sprintf(" Of %s, %s better than %s and %s worse", plural(others, "other", "others"), isAre(better), c.Reference, isAre(worse))
			if open > 0 {
				lead += "; the rest do not differ significantly"
			}
			lead += "."
		}
	} else if t.Units == 1 && len(t.Strategies) > 1 {
		lead += " This is one topic with one set of seeds, so it says nothing about others."
	}
	if near != nil && !reference {
		lead += " Its interval overlaps with " + strings.Join(near, ", ") + "."
	}
	if few && t.Units > 1 {
		lead += fmt.Sprintf(" Fewer than %d sets of seeds cannot show a difference.", fewUnits)
	}
	if names := notRunEverywhere(t); names != "" {
		lead += " Not run from all sets of seeds, so their means are of fewer: " + names + "."
	}
	return lead, append(list, figure{Label: "Crawls", Value: count(t.Runs), Note: plural(len(t.Topics), "topic", "topics") + ", " + plural(t.Units, "set of seeds", "sets of seeds")})
}

// fewUnits is the number of units below which no p of Wilcoxon's test is below alpha: the smallest is 2/2ⁿ.
const fewUnits = 6

// overlapping lists the strategies whose intervals overlap with that of the best one: three, and the number
// of others.
func overlapping(t Track, best Strategy) (names []string) {
	const maxListed = 3
	more := 0
	for _, s := range t.Strategies {
		switch {
		case s.Name == best.Name || !(s.Low <= best.High && best.Low <= s.High):
		case len(names) < maxListed:
			names = append(names, s.Name)
		default:
			more++
		}
	}
	if more > 0 {
		names = append(names, count(more)+" more")
	}
	return names
}

// notRunEverywhere lists the strategies without results for some units. They are never named as the
// best.
func notRunEverywhere(t Track) string {
	var names []string
	for _, s := range t.Strategies {
		if s.Units < t.Units {
			names = append(names, fmt.Sprintf("%s (%s of %s)", s.Name, count(s.Units), count(t.Units)))
		}
	}
	return strings.Join(names, ", ")
}

func isAre(n int) string {
	switch n {
	case 0:
		return "none is"
	case 1:
		return "1 is"
	}
	return count(n) + " are"
}

// interval formats a mean with its interval.
func interval(s Strategy) string {
	if !finite(s.Low) || !finite(s.High) {
		return fixed(s.Mean, 2)
	}
	return fmt.Sprintf("%s (95%s%%: %s)", fixed(s.Mean, 2), thin, span(s.Low, s.High))
}

// maxColumns is the largest number of topics that are drawn next to the mean.
const maxColumns = 6

// means draws the means of the strategies and, if there are not too many topics, the means by topic.
func means(c *Comparison, t Track, reference bool) template.HTML {
	p := dots{title: "Mean " + c.Title + " of each strategy", columns: []string{"all, with 95 % intervals"}, hi: 0.1, format: decimal}
	var words []string
	for _, s := range t.Strategies {
		row := dotRow{name: s.Name, class: standing(c, s, reference), cells: []dot{{s.Mean, s.Low, s.High, s.Name + ": " + interval(s)}}}
		for i, v := range s.Topics {
			if i < len(t.Topics) {
				row.cells = append(row.cells, dot{v, math.NaN(), math.NaN(), fmt.Sprintf("%s on %s: %s", s.Name, t.Topics[i], fixed(v, 2))})
			}
		}
		for _, d := range row.cells {
			for _, v := range []float64{d.value, d.low, d.high} {
				if finite(v) {
					p.lo, p.hi = min(p.lo, v), max(p.hi, v)
				}
			}
		}
		if s.Name == c.Reference {
			for _, d := range row.cells {
				p.guides = append(p.guides, d.value)
			}
		}
		words = append(words, s.Name+" "+interval(s))
		p.rows = append(p.rows, row)
	}
	p.description = strings.Join(words, "; ")
	for _, m := range []mark{{"seeing", t.Seeing}, {"seeing children", t.SeeingChildren}} {
		if finite(m.at) {
			p.marks = append(p.marks, m)
			p.lo, p.hi = min(p.lo, m.at), max(p.hi, m.at)
		}
	}
	beside := p
	if 1 < len(t.Topics) && len(t.Topics) <= maxColumns {
		beside.columns = append(slices.Clone(p.columns), t.Topics...)
	}
	return beside.draw(full, "wide") + p.draw(narrow, "narrow")
}

// standing returns the class of the comparison with the reference: better, worse, or no significant
// difference. The sign of the difference decides, not the number of wins, because differences that
// are small enough for ties may still be significant.
func standing(c *Comparison, s Strategy, reference bool) string {
	switch {
	case s.Name == c.Reference:
		return "reference"
	case reference && !(s.P < alpha && (s.Difference < 0 || s.Difference > 0)):
		return "open"
	case reference && (s.Difference > 0) == c.Lower:
		return "s0"
	}
	return "s1"
}

// harvests draws, for each strategy, its harvest over cost in front of the curves of the others.
func harvests(t Track) []smallView {
	if len(t.Costs) < 2 {
		return nil
	}
	x := make([]float64, len(t.Costs))
	for i, v := range t.Costs {
		x[i] = float64(v)
	}
	top := 0.0
	var all [][]float64
	for _, s := range t.Strategies {
		all = append(all, s.Harvest)
		for _, v := range s.Harvest {
			if finite(v) {
				top = max(top, v)
			}
		}
	}
	var list []smallView
	for i, s := range t.Strategies {
		if lastFinite(s.Harvest) < 0 {
			continue
		}
		list = append(list, smallView{Name: s.Name, Picture: spark("Harvest of "+s.Name+" by fetches", "", x, all, i, top, percent)})
	}
	return list
}

// figureClasses are the classes of the lines of a figure, from the first on.
var figureClasses = [...]string{"s1", "s2", "s3", "s4", "s0"}

// picture draws all lines on one axis.
func (f Figure) picture() template.HTML {
	p := plot{title: f.Title, unit: "fetches", format: percent, top: .01}
	for _, v := range f.Costs {
		p.x = append(p.x, float64(v))
	}
	class := map[string]string{}
	for i, l := range f.Lines {
		class[l.Name] = figureClasses[i%len(figureClasses)]
		p.lines = append(p.lines, line{l.Name, class[l.Name], l.Y})
		for _, v := range l.Y {
			if finite(v) {
				p.top = max(p.top, v)
			}
		}
	}
	var words []string
	for _, m := range f.Points {
		p.spots = append(p.spots, spot{fmt.Sprintf("%s: %s after %s, in the paper", m.Name, percent(m.Y), plural(m.Cost, "fetch", "fetches")), class[m.Name], float64(m.Cost), m.Y})
		p.top = max(p.top, m.Y)
		words = append(words, p.spots[len(p.spots)-1].name)
	}
	p.top = min(1, 1.05*p.top)
	p.description = strings.Join(words, "; ")
	return wideAndNarrow(full, func(width float64, class string) template.HTML { return p.draw(width, 360, class) })
}
