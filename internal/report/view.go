package report

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A runView holds the data of a run for the template, with its charts drawn and its
// sentences written.
type runView struct {
	*Run
	ID       string
	Nested   bool // whether there are other runs on the page
	Lead     template.HTML
	Own      bool // whether the sections are by the steering measure, although there is a judge's summary
	Figures  []figure
	Curve    template.HTML // pages found
	Rate     template.HTML // pages found per fetch
	Numbers  []point
	Judge    []Setting     // all measures of the judge
	Brought  template.HTML // pages found by each operator
	Best     string        // conclusions about the operators, the niches and the scores
	BestIn   string
	Tells    string
	Telling  string // conclusion about the signals
	PartEnds []int  // fetched pages after which each part of the crawl ends, for the signals
	Grown    string // whether the weight table has grown
	Pale     string // explains the pale bars among the scores
	Niched   template.HTML
	Scores   template.HTML
	Trusted  template.HTML // the calibration of the strategy's estimates
	Trust    string        // conclusion about it
	Shown    []Found
	LeftOut  int
	MostHost int // highest number of fetches of a host
	MostMS   int
	Timed    bool // whether a host has a time
	Failing  bool // whether a host has failures
}

// measured lists the judge's measures. The list is empty without a judge.
func measured(m *Measures) (list []Setting) {
	if m == nil {
		return nil
	}
	add := func(name, value string) { list = append(list, Setting{name, value}) }
	share := func(name string, v float64) {
		if !math.IsNaN(v) {
			add(name, percent(v))
		}
	}
	cost := func(name string, v int) {
		if v > 0 {
			add(name, count(v))
		} else {
			add(name, "not reached")
		}
	}
	add("label", m.Label)
	add("budget T", count(m.T))
	add("reachable pages", count(m.Reachable))
	add("reachable relevant pages", count(m.R))
	share("harvest", m.Harvest)
	share("self-harvest, by the measure of the crawl itself", m.SelfHarvest)
	if !math.IsNaN(m.MeanScore) {
		add("mean score", fixed(m.MeanScore, 3))
	}
	for _, name := range slices.Sorted(maps.Keys(m.AveragePrecision)) {
		add("average precision of "+name, fixed(m.AveragePrecision[name], 3))
	}
	share("recall", m.Recall)
	share("recall of the clairvoyant crawler", m.ClairvoyantRecall)
	cost("fetches to 50 % recall", m.Cost50)
	cost("to 80 %", m.Cost80)
	cost("to 90 %", m.Cost90)
	add("hosts of relevant pages", count(m.RelevantHosts))
	add("nAUC", signed(m.NAUC))
	if m.Seeing != nil {
		add("nAUC, seeing", signed(m.Seeing.NAUC))
	}
	if m.SeeingChildren != nil {
		add("nAUC, seeing children", signed(m.SeeingChildren.NAUC))
	}
	share("AUC / clairvoyant", m.AUCClairvoyant)
	share("AUC / bound", m.AUCBound)
	add("source of the links", m.Graph)
	return list
}

// A figure is a number shown in large type.
type figure struct {
	Label, Value, Note string
	Picture            template.HTML
}

// A point holds the values of the curves at a cost.
type point struct {
	Cost                                                          int
	Run, Rate, Random, Clairvoyant, Bound, Seeing, SeeingChildren float64
}

func runID(n int) string { return "run-" + strconv.Itoa(n) }

func viewRun(r *Run, n int, nested bool, room int) runView {
	v := runView{Run: r, ID: runID(n), Nested: nested, Lead: lead(r), Own: r.Measures != nil && !r.Judged}
	v.Figures = figures(r)
	v.Curve, v.Rate = curves(r)
	v.Numbers = numbers(&r.Curves)
	v.Grown = describeGrowth(r)
	v.Judge = measured(r.Measures)
	if r.Fetched > 0 && len(r.Generations) > 0 {
		v.Brought, v.Best = operators(r)
		v.Niched, v.BestIn = niches(r)
	}
	if len(r.Signals) > 0 {
		v.Telling, v.PartEnds = describeSignals(r)
	}
	if len(r.Fitness.Bins) > 0 {
		v.Scores, v.Tells = scores(r)
		if r.Judged && r.Relevant > 0 && slices.ContainsFunc(r.Fitness.Bins, func(b Bin) bool { return b.Unlabelled > 0 }) {
			v.Pale = "Bars are shares of the relevant and of the other pages. The pale parts are pages without a label, which count as not relevant."
		}
	}
	v.Trusted, v.Trust = calibration(r)
	v.Shown = rows(r.Pages, room)
	v.LeftOut = r.PagesTotal - len(v.Shown)
	for _, h := range r.Hosts {
		v.MostHost = max(v.MostHost, h.Fetched)
		v.Timed = v.Timed || h.MedianMS > 0
		v.Failing = v.Failing || h.Failed > 0
	}
	for _, h := range r.Slowest {
		v.MostMS = max(v.MostMS, h.MedianMS)
	}
	return v
}

// ended describes why a crawl has ended, given the number of links out of its archives.
func ended(reason string, outside int) string {
	switch reason {
	case "":
		return "It has not ended."
	case "pages":
		return "It ended when its fetches were spent."
	case "generations":
		return "It ended after the requested number of generations."
	case "frontier_empty":
		if outside > 0 {
			return "It ended because nothing was left to fetch; " + plural(outside, "link leads to a page", "links lead to pages") + " that the archives do not hold."
		}
		return "It ended because nothing was left to fetch."
	case "not_due":
		return "It ended because no waiting address was due."
	case "stop_file":
		return "It was stopped by its stop file."
	case "interrupted":
		return "It was interrupted."
	case "relevant":
		return "It ended because the requested number of relevant pages was found."
	case "no_page":
		return "It ended because no page could be fetched."
	}
	return "It ended: " + reason + "."
}

// Title returns the heading of the run. It is the heading of the page if there is only one run.
func (v runView) Title() template.HTML { return heading(v.Nested, 1, v.ID+"-title", v.Name) }

// Head returns the heading of a section.
func (v runView) Head(section, words string) template.HTML {
	return heading(v.Nested, 2, v.ID+"-"+section, words)
}

// heading returns a heading of a level, or of the next level if it is nested.
func heading(nested bool, level int, id, words string) template.HTML {
	if nested {
		level++
	}
	h := "h" + strconv.Itoa(level)
	return template.HTML("<" + h + ` id="` + id + `"><bdi>` + template.HTMLEscapeString(words) + "</bdi></" + h + ">")
}

// byLabels reports whether labels decide which pages are relevant. A judge may have written
// verdicts, a summary, or both.
func (r *Run) byLabels() bool { return r.Judged || r.Measures != nil }

// found returns the number of relevant pages found: up to T if the run has a summary.
func (r *Run) found() int {
	if r.Measures != nil {
		return int(math.Round(r.Measures.Recall * float64(r.Measures.R)))
	}
	return r.Relevant
}

// judgedCost returns the cost at which the pages of found were found: that of the whole run, unless the
// run has a summary of less.
func (r *Run) judgedCost() int {
	if m := r.Measures; m != nil {
		return min(m.T, m.Cost, r.Fetched)
	}
	return r.Fetched
}

// harvest returns the relevant share of the cost.
func (r *Run) harvest() float64 {
	if r.Measures != nil {
		return r.Measures.Harvest
	}
	return ratio(r.Relevant, r.Fetched)
}

// selfHarvest returns the share of the cost that is relevant according to the steering measure.
func (r *Run) selfHarvest() float64 { return ratio(r.SelfRelevant, r.Fetched) }

// lastCost returns the highest cost for which the run has values on its curves.
func (r *Run) lastCost() int {
	n := len(r.Curves.Cost)
	if n == 0 {
		return 0
	}
	return min(r.judgedCost(), r.Curves.Cost[n-1])
}

// harvestOf returns the harvest of another crawl at the cost of this one.
func (r *Run) harvestOf(curve []float64) float64 {
	cost := r.lastCost()
	return r.Curves.at(curve, cost) / float64(cost)
}

// lead returns a summary of the run in a sentence or two.
func lead(r *Run) template.HTML {
	bold := func(s string) string { return "<strong>" + s + "</strong>" }
	var b strings.Builder
	switch random, best := r.harvestOf(r.Curves.Random), r.harvestOf(r.Curves.Clairvoyant); {
	case r.Fetched == 0 && r.StopReason == "":
		b.WriteString("Nothing has been fetched yet.")
	case r.Fetched == 0: // ended says it
	case !r.byLabels():
		fmt.Fprintf(&b, "%s of %s returned a page that is relevant by the measure of the crawl itself.", bold(count(r.SelfRelevant)), bold(plural(r.Fetched, "fetch", "fetches")))
		if r.Agreement == nil {
			b.WriteString(" There are no labels to check it.")
		}
	default:
		fmt.Fprintf(&b, "%s for ", bold(plural(r.found(), "relevant page", "relevant pages")))
		if n := r.judgedCost(); n < r.Fetched {
			fmt.Fprintf(&b, "the first %s of %s", bold(count(n)), bold(plural(r.Fetched, "fetch", "fetches")))
		} else {
			b.WriteString(bold(plural(r.Fetched, "fetch", "fetches")))
		}
		if finite(random) && finite(best) {
			fmt.Fprintf(&b, ": %s; a random crawl of the same web has %s, and a clairvoyant one %s", percent(r.harvest()), percent(random), percent(best))
		}
		b.WriteByte('.')
	}
	if r.Fetched > 0 || r.StopReason != "" {
		b.WriteString(" " + template.HTMLEscapeString(ended(r.StopReason, r.LinksOutside)))
	}
	return template.HTML(strings.TrimSpace(b.String()))
}

// figures returns the three or four numbers at the top.
func figures(r *Run) []figure {
	hosts := figure{Label: "Hosts", Value: count(r.HostsTotal), Note: plural(len(r.Generations), "generation", "generations")}
	if n := len(r.Generations); n > 0 {
		hosts.Note = plural(r.Generations[n-1].Last, "generation", "generations")
	}
	if !r.byLabels() {
		self := figure{Label: "Relevant pages", Value: count(r.SelfRelevant), Note: "by the same measure"}
		if r.Calibration.Pages > 0 {
			self = figure{Label: "Mean estimate", Value: fixed(r.Calibration.Mean, 2), Note: "of relevance, by " + r.Strategy + " itself; it orders pages, and is no share of them"}
		}
		list := []figure{
			{Label: "Self-harvest", Value: percent(r.selfHarvest()), Note: "of what was fetched is relevant, by the measure of the crawl itself"},
			self,
			{Label: "Fetched", Value: count(r.Fetched), Note: spent(r)},
		}
		if r.Seconds > 0 {
			return append(list, figure{Label: "Time", Value: duration(r.Seconds), Note: rate(r) + ", " + plural(r.HostsTotal, "host", "hosts")})
		}
		return append(list, hosts)
	}
	harvest := figure{Label: "Harvest", Value: percent(r.harvest()), Note: "of what was fetched is relevant"}
	if random := r.harvestOf(r.Curves.Random); finite(random) {
		harvest.Note = "of what was fetched is relevant; at random " + percent(random)
	}
	m := r.Measures
	if m == nil {
		return []figure{harvest,
			{Label: "Relevant pages", Value: count(r.Relevant), Note: "by labels"},
			{Label: "Self-harvest", Value: percent(r.selfHarvest()), Note: "by the measure of the crawl itself"},
			hosts,
		}
	}
	half := figure{Label: "50 % recall after", Value: count(m.Cost50), Note: "fetches"}
	if m.Cost50 == 0 {
		half = figure{Label: "50 % recall", Value: "not reached", Note: fmt.Sprintf("in %s fetches", count(r.judgedCost()))}
	}
	if best := r.Curves.reached(r.Curves.Clairvoyant, float64(m.R)/2); best > 0 && m.R > 0 {
		half.Note += "; a clairvoyant crawl needs " + count(best)
	}
	return []figure{
		harvest,
		{Label: "Recall", Value: percent(m.Recall), Note: fmt.Sprintf("of the %s reachable relevant pages", count(m.R))},
		{Label: "nAUC", Value: fixed(m.NAUC, 2), Note: fmt.Sprintf("T = %s fetches", count(m.T)), Picture: gauge(m.NAUC, "random", "clairvoyant")},
		half,
	}
}

// spent describes the fetches that returned no page, or a page without text.
func spent(r *Run) string {
	var parts []string
	if r.Queries > 0 {
		parts = append(parts, count(r.Queries)+" for queries")
	}
	if r.Failed > 0 {
		parts = append(parts, count(r.Failed)+" failed")
	}
	if len(parts) == 0 {
		parts = append(parts, "none failed")
	}
	if r.NeedsBrowser > 0 {
		parts = append(parts, count(r.NeedsBrowser)+" without text because scripts make it")
	}
	return strings.Join(parts, ", ")
}

func rate(r *Run) string { return decimalFew(float64(r.Fetched)/r.Seconds) + " fetches a second" }

// curves draws the pages found, as a share of all relevant pages if their number is known,
// and the pages found per fetch.
func curves(r *Run) (found, rate template.HTML) {
	c := &r.Curves
	if len(c.Cost) < 2 {
		return "", ""
	}
	one := plot{title: "Relevant pages found, by fetches", format: thousands, top: 1}
	of := func(_ int, v float64) float64 { return v }
	if c.R > 0 {
		one.title, one.format, one.top = "Share of all relevant pages found, by fetches", percent, .01
		of = func(_ int, v float64) float64 { return v / float64(c.R) }
	}
	two := plot{title: "Share of relevant pages among those fetched, by fetches", format: percent, top: .01}
	per := func(i int, v float64) float64 {
		if i >= len(c.Cost) {
			return math.NaN()
		}
		return v / float64(c.Cost[i])
	}
	one.description, two.description = describeCurves(r, false), describeCurves(r, true)
	draw := func(p plot, of func(int, float64) float64) template.HTML {
		p.add(r, of)
		return wideAndNarrow(half, func(width float64, class string) template.HTML { return p.draw(width, 320, class) })
	}
	return draw(one, of), draw(two, per)
}

func (p *plot) add(r *Run, of func(i int, v float64) float64) {
	c := &r.Curves
	p.unit = "fetches"
	for _, v := range c.Cost {
		p.x = append(p.x, float64(v))
	}
	name := func(name, class string, y []float64) {
		if y = each(y, of); len(y) == 0 {
			return
		}
		p.lines = append(p.lines, line{name, class, y})
		for _, v := range y {
			if finite(v) {
				p.top = max(p.top, v)
			}
		}
	}
	own := until(c.Run, c.Cost, r.judgedCost())
	name("clairvoyant", "clairvoyant", c.Clairvoyant)
	name("seeing", "seeing", c.Seeing)
	name("random", "random", c.Random)
	name("this crawl", "s1", own)
	p.bands = []band{
		{"band", each(c.Clairvoyant, of), each(c.Bound, of)},
		{"band", each(c.RandomLow, of), each(c.RandomHigh, of)},
	}
	p.tip = func(i int) string {
		words := []string{"After " + plural(c.Cost[i], "fetch", "fetches")}
		if i < len(own) && finite(own[i]) {
			words[0] += fmt.Sprintf(": %s relevant, %s", decimalFew(own[i]), percent(own[i]/float64(c.Cost[i])))
		}
		for _, o := range []struct {
			name string
			y    []float64
		}{{"clairvoyant", c.Clairvoyant}, {"seeing", c.Seeing}, {"random", c.Random}} {
			if i < len(o.y) && finite(o.y[i]) {
				words = append(words, o.name+" "+decimalFew(o.y[i]))
			}
		}
		return strings.Join(words, " · ")
	}
}

// until cuts a curve at the end of the run.
func until(y []float64, cost []int, end int) []float64 {
	for i := range min(len(y), len(cost)) {
		if cost[i] > end {
			return y[:i]
		}
	}
	return y
}

func each(y []float64, f func(i int, v float64) float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = f(i, v)
	}
	return out
}

func describeCurves(r *Run, perPage bool) string {
	c := &r.Curves
	cost := r.lastCost()
	say := func(v float64) string {
		if perPage {
			return percent(v / float64(cost))
		}
		return decimalFew(v)
	}
	words := []string{"this crawl " + say(c.at(c.Run, cost))}
	for _, o := range []struct {
		name string
		y    []float64
	}{{"a clairvoyant crawl", c.Clairvoyant}, {"a crawl that sees which waiting links are relevant", c.Seeing}, {"random crawls on average", c.Random}} {
		if v := c.at(o.y, cost); finite(v) {
			words = append(words, o.name+" "+say(v))
		}
	}
	return fmt.Sprintf("After %s: %s.", plural(cost, "fetch", "fetches"), strings.Join(words, ", "))
}

// numbers returns the curves at round costs and at the end.
func numbers(c *Curves) []point {
	if len(c.Cost) == 0 {
		return nil
	}
	last := c.Cost[len(c.Cost)-1]
	var costs []int
	for power := 10; power < last; power *= 10 {
		for _, m := range []int{1, 2, 5} {
			if m*power < last {
				costs = append(costs, m*power)
			}
		}
		if power > last/10 { // the next power might overflow
			break
		}
	}
	var list []point
	for _, cost := range append(costs, last) {
		run := c.at(c.Run, cost)
		list = append(list, point{
			Cost: cost, Run: run, Rate: run / float64(cost),
			Random: c.at(c.Random, cost), Clairvoyant: c.at(c.Clairvoyant, cost), Bound: c.at(c.Bound, cost),
			Seeing: c.at(c.Seeing, cost), SeeingChildren: c.at(c.SeeingChildren, cost),
		})
	}
	return list
}

// seriesClass returns the class of the nth of several series. Rest has a special class.
func seriesClass(n int, name string) string {
	if name == Rest {
		return "s0"
	}
	return "s" + strconv.Itoa(n%8+1)
}

func generationName(g Generation) string {
	if g.First == g.Last {
		return "Generation " + count(g.First)
	}
	return "Generations " + count(g.First) + " to " + count(g.Last)
}

func labels(gs []Generation) []int {
	list := make([]int, len(gs))
	for i, g := range gs {
		list[i] = g.First
	}
	return list
}

func yieldNote(fetched, relevant int) string {
	return fmt.Sprintf("%s of %s relevant", count(relevant), count(fetched))
}

// yieldRows returns a row of bars for each yield.
func yieldRows(r *Run, list []Yield, of func(Generation) []Yield, class func(i int, name string) string) []ribbon {
	var rows []ribbon
	for i, y := range list {
		row := ribbon{name: displayName(y.Name), note: yieldNote(y.Fetched, y.Relevant), class: class(i, y.Name)}
		for _, g := range r.Generations {
			b := bar{}
			if ys := of(g); i < len(ys) {
				b.fetched = ys[i].Fetched
				b.parts = []part{{row.class, ys[i].Relevant}}
			}
			row.bars = append(row.bars, b)
		}
		rows = append(rows, row)
	}
	return rows
}

func displayName(name string) string {
	if name == Rest {
		return "all others"
	}
	return name
}

// yieldTips returns a tooltip for each generation.
func yieldTips(r *Run, of func(Generation) []Yield) []string {
	var tips []string
	for _, g := range r.Generations {
		words := []string{generationName(g) + ": " + yieldNote(g.Fetched, g.Relevant)}
		for _, y := range of(g) {
			if y.Fetched > 0 {
				words = append(words, fit(displayName(y.Name), 250)+" "+count(y.Relevant)+" of "+count(y.Fetched))
			}
		}
		tips = append(tips, strings.Join(words, " · "))
	}
	return tips
}

// operators draws what each operator found, by generation.
func operators(r *Run) (template.HTML, string) {
	of := func(g Generation) []Yield { return g.Operators }
	rows := yieldRows(r, r.Operators, of, seriesClass)
	if countNotSeed(r.Operators) > 1 { // else it would be the same as the first row
		all := ribbon{name: "every generation", note: yieldNote(r.Fetched, r.Relevant)}
		for _, g := range r.Generations {
			b := bar{fetched: g.Fetched}
			for i, y := range g.Operators {
				if i < len(r.Operators) {
					b.parts = append(b.parts, part{seriesClass(i, r.Operators[i].Name), y.Relevant})
				}
			}
			all.bars = append(all.bars, b)
		}
		rows = slices.Insert(rows, 0, all)
	}
	tips := yieldTips(r, of)
	picture := wideAndNarrow(full, func(width float64, class string) template.HTML {
		return ribbons("Relevant pages by generation and by operator", listYields(r.Operators), rows, labels(r.Generations), tips, width, class)
	})
	return picture, mostRelevant(r.Operators, r.Relevant, "by")
}

func countNotSeed(list []Yield) (n int) {
	for _, y := range list {
		if y.Name != seed {
			n++
		}
	}
	return n
}

// seed is the operator of addresses that the user gave.
const seed = "seed"

// niches draws what each niche found, by generation.
func niches(r *Run) (template.HTML, string) {
	if len(r.Niches) < 2 {
		return "", ""
	}
	of := func(g Generation) []Yield { return g.Niches }
	rows := yieldRows(r, r.Niches, of, func(_ int, name string) string {
		if name == Rest {
			return "s0"
		}
		return "s1"
	})
	tips := yieldTips(r, of)
	picture := wideAndNarrow(full, func(width float64, class string) template.HTML {
		return ribbons("Relevant pages by generation and by niche", listYields(r.Niches), rows, labels(r.Generations), tips, width, class)
	})
	return picture, mostRelevant(r.Niches, r.Relevant, "from")
}

func listYields(list []Yield) string {
	var words []string
	for _, y := range list {
		words = append(words, y.Name+": "+yieldNote(y.Fetched, y.Relevant))
	}
	return strings.Join(words, "; ")
}

// mostRelevant names the yield with the most relevant pages and, among the yields with enough
// fetches, the yield with the highest share of relevant pages.
func mostRelevant(list []Yield, relevant int, how string) string {
	known := slices.DeleteFunc(slices.Clone(list), func(y Yield) bool { return y.Name == Rest || y.Relevant == 0 })
	if len(known) == 0 || len(list) == 1 {
		return ""
	}
	top := slices.MaxFunc(known, func(a, b Yield) int { return a.Relevant - b.Relevant })
	if top.Relevant == relevant {
		return fmt.Sprintf("All relevant pages came %s %s.", how, top.Name)
	}
	words := fmt.Sprintf("Most came %s %s: %s of %s.", how, top.Name, count(top.Relevant), plural(relevant, "relevant page", "relevant pages"))
	tried := slices.DeleteFunc(known, func(y Yield) bool { return y.Fetched < often || y.Name == seed })
	if len(tried) > 1 {
		best := slices.MaxFunc(tried, func(a, b Yield) int { return a.Relevant*b.Fetched - b.Relevant*a.Fetched })
		who := "The most precise was " + best.Name
		if best.Name == top.Name {
			who = "It was also the most precise"
		}
		words += fmt.Sprintf(" %s: %s of its %s fetches were relevant.", who, percent(ratio(best.Relevant, best.Fetched)), count(best.Fetched))
	}
	return words
}

// often is the minimum number of fetches for which a share is mentioned.
const often = 20

// scores draws how the steering measure scores the relevant pages, and the others. Bars are
// shares of each kind, because one kind may have ten times as many pages.
func scores(r *Run) (template.HTML, string) {
	h := r.Fitness
	m := mirror{title: "Pages by score", lo: h.Bins[0].From, step: h.Bins[0].To - h.Bins[0].From, threshold: h.Threshold, above: "called relevant", format: thousands, least: 1}
	if last := h.Bins[len(h.Bins)-1]; len(h.Bins) > 1 && last.To > last.From+1.001*m.step {
		m.rest = "last bar: " + decimal(last.From) + " to " + decimal(last.To)
	}
	good, other := 0, 0
	for _, b := range h.Bins {
		good += b.Relevant
		other += b.Irrelevant + b.Unlabelled
	}
	judged := r.Judged && good > 0
	if judged {
		m.above, m.below = fmt.Sprintf("%s relevant by labels", count(good)), fmt.Sprintf("%s others", count(other))
		m.description = "Above the axis the pages that are relevant by labels, below it the others, each as shares of their number."
		m.format, m.least = percent, .01
	}
	for i, b := range h.Bins {
		tip := "Score " + decimal(b.From) + " to " + decimal(b.To)
		if i == len(h.Bins)-1 {
			tip = "Score " + decimal(b.From) + " and more"
		}
		one := mirrored{up: float64(b.Relevant + b.Irrelevant + b.Unlabelled), grey: !(b.From >= h.Threshold || b.To > h.Threshold || b.To == h.Threshold && i == len(h.Bins)-1)}
		if judged {
			tip += fmt.Sprintf(": %s relevant, %s not", count(b.Relevant), count(b.Irrelevant))
			if b.Unlabelled > 0 {
				tip += fmt.Sprintf(", %s without a label", count(b.Unlabelled))
			}
			of := float64(max(other, 1))
			one = mirrored{up: float64(b.Relevant) / float64(good), down: float64(b.Irrelevant) / of, faint: float64(b.Unlabelled) / of}
		} else {
			tip += ": " + plural(int(one.up), "page", "pages")
		}
		one.tip = tip
		m.bins = append(m.bins, one)
	}
	return wideAndNarrow(half, func(width float64, class string) template.HTML { return m.draw(width, 330, class) }), steeringNote(r)
}

// steeringNote describes the agreement of the steering measure with the labels.
func steeringNote(r *Run) string {
	if !r.Judged {
		return ""
	}
	verdict := "about as many, but not necessarily the same pages"
	switch self, labels := float64(r.SelfRelevant), float64(r.Relevant); {
	case self > 1.1*labels:
		verdict = "it was too lenient"
	case self < .9*labels:
		verdict = "it was too strict"
	}
	return fmt.Sprintf("The measure of the crawl itself called %s relevant, the labels %s: %s.", plural(r.SelfRelevant, "page", "pages"), count(r.Relevant), verdict)
}

// glance draws the pages found by one of several runs as a small chart. All runs have the same scale.
func glance(r *Run, cost, most float64) template.HTML {
	const width, height = 220, 56
	d := newDrawing(width, height, "chart", "Relevant pages found by "+r.Name, describeCurves(r, false))
	x, y := scale{0, cost, 1, width - 2}, scale{0, max(most, 1), height - 2, 4}
	xs := make([]float64, len(r.Curves.Cost))
	for i, v := range r.Curves.Cost {
		xs[i] = x.at(float64(v))
	}
	d.line("axis", 0, y.from, width, y.from)
	d.path("line random", curve(xs, y.of(each(r.Curves.Random, func(_ int, v float64) float64 { return min(v, most) }))))
	d.path("line s1", curve(xs, y.of(until(r.Curves.Run, r.Curves.Cost, r.judgedCost()))))
	return d.done()
}
