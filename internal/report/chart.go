package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// The widths of charts, in CSS pixels. Scaling a wide chart down would make its text
// unreadable on a phone, so the page has both versions, and page.css shows one.
const (
	full   = 1080 // across the page
	half   = 520  // two side by side
	narrow = 344  // a phone
)

func wideAndNarrow(wide float64, draw func(width float64, class string) template.HTML) template.HTML {
	return draw(wide, "wide") + draw(narrow, "narrow")
}

// A plot has lines and bands over one x axis. Each line has its name at its end.
type plot struct {
	title, description string
	x                  []float64 // ascending
	unit               string    // unit of x
	bands              []band
	lines              []line // the last is drawn on top
	spots              []spot // points that are not of a line
	top                float64
	format             func(float64) string // of the tick labels of y
	tip                func(i int) string   // the tooltip at x[i]
}

type line struct {
	name, class string
	y           []float64
}

type spot struct {
	name, class string
	x, y        float64
}

type band struct {
	class     string
	low, high []float64
}

// near is the distance from the right edge within which the name of a line is written in the
// column on the right.
const near = 60

// maxTips is the largest number of tooltips of a plot.
const maxTips = 48

func (p plot) draw(width, height float64, class string) template.HTML {
	d := newDrawing(width, height, "chart "+class, p.title, p.description)
	right := 0.0
	for _, l := range p.lines {
		right = max(right, extent(l.name))
	}
	const left, top, bottom = 44, 12, 34
	right += 14
	x := scale{0, 1, left, width - right}
	if n := len(p.x); n > 0 {
		x.hi = p.x[n-1]
	}
	y := scale{0, p.top, height - bottom, top}
	if y.hi <= 0 {
		y.hi = 1
	}
	for _, v := range ticks(0, y.hi, int((height-top-bottom)/44), 0) {
		if v > 0 {
			d.line("grid", left, y.at(v), x.to, y.at(v))
		}
		d.text("tick end", left-8, y.at(v), p.format(v))
	}
	d.line("axis", left, y.from, x.to, y.from)
	for _, v := range ticks(0, x.hi, int((x.to-x.from)/72), 1) {
		d.line("axis", x.at(v), y.from, x.at(v), y.from+4)
		if v > 0 {
			d.text("tick mid", x.at(v), y.from+14, thousands(v))
		}
	}
	d.text("tick", left, y.from+14, p.unit)

	xs := x.of(p.x)
	inside := func(v []float64) []float64 {
		return y.of(each(v, func(_ int, v float64) float64 { return min(max(v, 0), y.hi) }))
	}
	for _, b := range p.bands {
		d.path(b.class, area(xs, inside(b.low), inside(b.high)))
	}
	var ends []float64 // ends of the lines that are named in the column on the right
	var column []line
	for _, l := range p.lines {
		ys := inside(l.y)
		d.path("line "+l.class, curve(xs, ys))
		i := lastFinite(l.y)
		if i < 0 || i >= len(xs) {
			continue
		}
		d.circle("end "+l.class, xs[i], ys[i], 2.5, "")
		if xs[i] > x.to-near {
			ends, column = append(ends, ys[i]), append(column, l)
		} else {
			d.text("name "+l.class, xs[i]+2, max(ys[i]-13, top), l.name)
		}
	}
	for i, at := range spread(ends, 15, top, y.from-4) {
		d.text("name "+column[i].class, x.to+8, at, column[i].name)
	}
	if p.tip != nil {
		p.hits(d, x, y, xs)
	}
	for _, m := range p.spots {
		d.circle("spot "+m.class, x.at(min(m.x, x.hi)), y.at(min(m.y, y.hi)), 5, m.name)
	}
	return d.done()
}

// hits adds invisible strips with tooltips.
func (p plot) hits(d *drawing, x, y scale, xs []float64) {
	n := min(len(xs), maxTips)
	from := x.from
	for k := range n {
		i := (k+1)*len(xs)/n - 1
		to := x.to
		if k+1 < n {
			to = (xs[i] + xs[(k+2)*len(xs)/n-1]) / 2
		}
		d.rect("hit", from, y.to, to-from, y.from-y.to, p.tip(i))
		from = to
	}
}

func lastFinite(v []float64) int {
	for i := len(v) - 1; i >= 0; i-- {
		if finite(v[i]) {
			return i
		}
	}
	return -1
}

// A ribbon is a row of bars, one for each generation: the fetched pages, and the relevant parts of
// them.
type ribbon struct {
	name, note, class string
	bars              []bar
}

type bar struct {
	fetched int
	parts   []part // from the bottom; together at most fetched
}

type part struct {
	class string
	n     int
}

// ribbons draws rows of bars on one axis and one scale, with labels under the bars and a
// tooltip for each column.
func ribbons(title, description string, rows []ribbon, labels []int, tips []string, width float64, class string) template.HTML {
	beside := width >= full
	left, head := 0.0, 22.0
	if beside {
		left, head = 270, 0
	}
	const axis, space = 24, 14
	most, n := 1, 1
	for _, r := range rows {
		n = max(n, len(r.bars))
		for _, b := range r.bars {
			most = max(most, b.fetched)
		}
	}
	// A row is as high as its highest bar, so that rows with low bars take less space, but high
	// enough for its name.
	const scaled, least = 64, 30
	tall := make([]float64, len(rows))
	height := float64(axis)
	for i, r := range rows {
		peak := 0
		for _, b := range r.bars {
			peak = max(peak, b.fetched)
		}
		tall[i] = scaled * float64(peak) / float64(most)
		if beside {
			tall[i] = max(tall[i], least)
		}
		height += head + tall[i] + space
	}
	d := newDrawing(width, height, "chart "+class, title, description)
	pitch := min((width-left)/float64(n), 40)
	gap := min(3, pitch*.22)
	base := 0.0
	for i, r := range rows {
		base += head + tall[i] + space
		if beside {
			d.text("name "+r.class, 0, base-22, fit(r.name, left-30))
			d.text("tick", 0, base-6, fit(r.note, left-30))
		} else {
			d.text("name "+r.class, 0, base-tall[i]-11, fit(r.name, width-extent(r.note)-20))
			d.text("tick end", width, base-tall[i]-11, r.note)
		}
		if i == 0 && beside {
			d.text("tick end", left-6, base-tall[i]+5, count(most))
		}
		d.line("axis", left, base, left+pitch*float64(n), base)
		d.bars(r, left, base, pitch, gap, scale{0, float64(most), 0, scaled})
	}
	for k, tip := range tips {
		d.rect("hit", left+float64(k)*pitch-gap/2, 0, pitch, base, tip)
	}
	every := 1
	for _, e := range []int{1, 2, 5, 10, 20, 50, 100} {
		if every = e; float64(e)*pitch >= 34 {
			break
		}
	}
	for k, l := range labels {
		if (k+1)%every == 0 && (beside || float64(k)*pitch > 76) {
			d.text("tick mid", left+float64(k)*pitch+(pitch-gap)/2, base+13, thousands(float64(l)))
		}
	}
	if beside {
		d.text("tick end", left-6, base+13, "generation")
	} else {
		d.text("tick", 0, base+13, "generation")
	}
	return d.done()
}

// bars draws the bars of a ribbon, one path for each class.
func (d *drawing) bars(r ribbon, left, base, pitch, gap float64, y scale) {
	var classes []string
	paths := map[string]*strings.Builder{}
	add := func(class string, k int, from float64, n int) (to float64) {
		if n <= 0 {
			return from
		}
		b, ok := paths[class]
		if !ok {
			b = new(strings.Builder)
			paths[class], classes = b, append(classes, class)
		}
		to = from - y.at(float64(n))
		x := left + float64(k)*pitch
		b.WriteString("M" + short(x) + " " + short(from) + "V" + short(to) + "H" + short(x+pitch-gap) + "V" + short(from) + "Z")
		return to
	}
	for k, b := range r.bars {
		add("rest "+r.class, k, base, b.fetched)
	}
	for k, b := range r.bars {
		at := base
		for _, p := range b.parts {
			at = add("part "+p.class, k, at, p.n)
		}
	}
	for _, class := range classes {
		d.path(class, paths[class].String())
	}
}

// A mirror is a histogram with bars above and below its axis.
type mirror struct {
	title, description string
	above, below       string // captions; below is "" if there is nothing below
	lo, step           float64
	bins               []mirrored
	threshold          float64              // NaN for none
	rest               string               // describes the last bin, if it is wider than the others
	format             func(float64) string // of the tick labels of y
	least              float64              // smallest step of ticks
}

type mirrored struct {
	up, down, faint float64 // faint is drawn below down
	grey            bool    // whether up is in the colour of the bars below
	tip             string
}

func (m mirror) draw(width, height float64, class string) template.HTML {
	d := newDrawing(width, height, "chart "+class, m.title, m.description)
	const left, top, bottom = 44, 40, 50
	up, down := 0.0, 0.0
	for _, b := range m.bins {
		up, down = max(up, b.up), max(down, b.down+b.faint)
	}
	x := scale{0, max(1, float64(len(m.bins))), left, width - 8}
	y := scale{-down, max(up, m.least), height - bottom, top}
	for _, v := range ticks(y.lo, y.hi, 8, m.least) {
		d.line("grid", left, y.at(v), x.to, y.at(v))
		d.text("tick end", left-8, y.at(v), m.format(math.Abs(v)))
	}
	pitch := x.at(1) - x.at(0)
	gap := min(2, pitch*.2)
	for i, b := range m.bins {
		at := x.at(float64(i)) + gap/2
		style := "part s1"
		if b.grey {
			style = "other"
		}
		d.rect(style, at, y.at(b.up), pitch-gap, y.at(0)-y.at(b.up), b.tip)
		if down > 0 {
			d.rect("other", at, y.at(0), pitch-gap, y.at(-b.down)-y.at(0), b.tip)
			d.rect("faint", at, y.at(-b.down), pitch-gap, y.at(-b.down-b.faint)-y.at(-b.down), b.tip)
		}
	}
	d.line("axis strong", left, y.at(0), x.to, y.at(0))
	if m.step > 0 {
		for _, v := range ticks(m.lo, m.lo+m.step*float64(len(m.bins)), int((x.to-left)/60), 0) {
			d.text("tick mid", x.at((v-m.lo)/m.step), height-bottom+14, decimal(v))
		}
		if m.rest != "" {
			d.text("tick end", x.to, height-bottom+30, m.rest)
		}
		if finite(m.threshold) {
			at := min(max(x.at((m.threshold-m.lo)/m.step), left), x.to)
			d.line("threshold", at, top-6, at, height-bottom)
			words := "threshold"
			if m.threshold > m.lo+m.step*float64(len(m.bins)) {
				words += " " + decimal(m.threshold) + " →"
			}
			if at+extent(words)+10 > x.to {
				d.text("tick end", at-5, top-10, words)
			} else {
				d.text("tick", at+5, top-10, words)
			}
		}
	}
	d.text("name s1", left, 8, m.above)
	d.text("name", left, height-8, m.below)
	return d.done()
}

// dots has a row for each strategy, with a wide column for the mean and its interval, and
// narrow columns for the parts of the mean.
type dots struct {
	title, description string
	columns            []string // captions; the first column is the wide one
	rows               []dotRow
	marks              []mark // in the first column, with captions
	lo, hi             float64
	guides             []float64 // a vertical line in each column; NaN for none
	format             func(float64) string
}

type mark struct {
	name string
	at   float64
}

type dotRow struct {
	name, class string
	cells       []dot
}

type dot struct {
	value, low, high float64 // NaN for none
	tip              string
}

func (t dots) draw(width float64, class string) template.HTML {
	const step, foot = 26, 26
	head := 46.0
	if len(t.marks) > 0 && len(t.columns) > 1 {
		head += 16 // space for their captions
	}
	height := head + step*float64(len(t.rows)) + foot
	d := newDrawing(width, height, "chart "+class, t.title, t.description)
	left := 0.0
	for _, r := range t.rows {
		left = max(left, extent(r.name))
	}
	left = min(left+18, width*.36)
	const gutter = 22
	first, others := width-left, 0.0
	if n := float64(len(t.columns) - 1); n > 0 {
		first = max((width-left)*.42, 120)
		others = (width - left - first) / n
	}
	base := head + step*float64(len(t.rows))
	column := func(k int) scale {
		s := scale{t.lo, t.hi, left + 8, left + first - 14}
		if k > 0 {
			s.from = left + first + float64(k-1)*others + gutter/2
			s.to = s.from + others - gutter/2 - 8
		}
		return s
	}
	for k, name := range t.columns {
		s := column(k)
		captionWidth := s.to - s.from + 14
		if i := strings.LastIndexByte(name, '-'); i > 0 && extent(name) > captionWidth {
			d.text("column", s.from, 8, fit(name[:i], captionWidth))
			d.text("column", s.from, 23, fit(name[i+1:], captionWidth))
		} else {
			d.text("column", s.from, 8, fit(name, captionWidth))
		}
		for _, v := range ticks(t.lo, t.hi, max(int((s.to-s.from)/56), 3), 0) {
			style := "grid"
			if v == 0 {
				style = "axis"
			}
			d.line(style, s.at(v), head-8, s.at(v), base)
			d.text("tick mid", s.at(v), base+12, t.format(v))
		}
		if k < len(t.guides) && finite(t.guides[k]) {
			d.line("threshold", s.at(t.guides[k]), head-8, s.at(t.guides[k]), base)
		}
	}
	for i, m := range t.marks {
		at := column(0).at(m.at)
		d.line("threshold far", at, head-8, at, base)
		switch {
		case len(t.columns) == 1: // no space for captions
		case i == 0 && len(t.marks) > 1: // to the left, away from the next mark
			d.text("tick end", at+3, head-16, m.name)
		default:
			d.text("tick", at-3, head-16, m.name)
		}
	}
	for i, r := range t.rows {
		y := head + step*(float64(i)+.5)
		d.line("row", left, y, width, y)
		d.text("row "+r.class, 0, y, fit(r.name, left-10))
		for k, c := range r.cells {
			if !finite(c.value) || k >= len(t.columns) {
				continue
			}
			s := column(k)
			if finite(c.low) && finite(c.high) {
				d.line("interval "+r.class, s.at(c.low), y, s.at(c.high), y)
			}
			radius := 4.5
			if k > 0 {
				radius = 3.5
			}
			d.circle("dot "+r.class, s.at(c.value), y, radius, c.tip)
		}
	}
	return d.done()
}

// spark draws one line in front of all others: one of a set of small multiples.
func spark(title, description string, x []float64, all [][]float64, chosen int, top float64, format func(float64) string) template.HTML {
	const width, height, left, head, foot = 168, 112, 2, 6, 18
	d := newDrawing(width, height, "chart", title, description)
	sx := scale{0, max(1, float64(len(x)-1)), left + 4, width - 40}
	sy := scale{0, top, height - foot, head}
	if top <= 0 {
		sy.hi = 1
	}
	at := make([]float64, len(x))
	for i := range at {
		at[i] = sx.at(float64(i)) // the costs are 1, 2, 5, 10, …: equal steps
	}
	d.line("axis", left, sy.from, sx.to, sy.from)
	for i, y := range all {
		if i != chosen {
			d.path("line back", curve(at, sy.of(y)))
		}
	}
	y := all[chosen]
	d.path("line s1", curve(at, sy.of(y)))
	for i, v := range y {
		if finite(v) && i < len(at) {
			d.circle("dot s1", at[i], sy.at(v), 2, fmt.Sprintf("%s after %s fetches", format(v), thousands(x[i])))
		}
	}
	if i := lastFinite(y); i >= 0 && i < len(at) {
		d.text("name s1", at[i]+6, sy.at(y[i]), format(y[i]))
	}
	if len(x) > 0 {
		d.text("tick", left, height-8, thousands(x[0]))
		d.text("tick mid", sx.to, height-8, thousands(x[len(x)-1]))
	}
	return d.done()
}

// gauge draws a value on a scale from 0 to 1, with captions for the ends.
func gauge(v float64, low, high string) template.HTML {
	const width, height = 200, 34
	d := newDrawing(width, height, "chart gauge", fmt.Sprintf("%s on a scale where 0 is %s and 1 %s", decimal(v), low, high), "")
	lo := min(0, math.Floor(v*4)/4)
	s := scale{lo, max(1, v), 5, width - 5}
	d.line("track", s.from, 9, s.to, 9)
	d.line("reach", s.at(0), 9, s.at(v), 9)
	d.line("stop", s.at(0), 4, s.at(0), 14)
	d.line("stop", s.at(1), 4, s.at(1), 14)
	d.circle("dot s1", s.at(v), 9, 5, "")
	if lo < 0 {
		d.text("tick mid", s.at(0), 26, low)
	} else {
		d.text("tick", 0, 26, low)
	}
	d.text("tick end", width, 26, high)
	return d.done()
}

// share draws a bar in a table. Its length is whole/most of the maximum, and the length of its
// coloured part is part/most of the maximum.
func share(part, whole, most int) template.HTML {
	if most <= 0 {
		return ""
	}
	s := scale{0, float64(most), 0, 100}
	var d drawing
	d.b.WriteString(`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">`)
	d.rect("pale", 0, 0, s.at(float64(whole)), 8, "")
	d.rect("part s1", 0, 0, s.at(float64(part)), 8, "")
	return d.done()
}

// extent returns an estimate of the width of words in a chart. It is usually too high, because
// fonts differ.
func extent(words string) float64 {
	w := 0.0
	for _, r := range words {
		w += advance(r)
	}
	return w
}

func advance(r rune) float64 {
	switch {
	case strings.ContainsRune("iljt.,:;'|!/ ()[]-", r):
		return 4.8
	case r >= 'A' && r <= 'Z' || r == 'm' || r == 'w' || r == '…':
		return 11
	case r >= 0x1100:
		return 13
	}
	return 8
}

// fit shortens words to a width. It removes the middle, where names of niches and hosts differ
// least.
func fit(words string, width float64) string {
	if extent(words) <= width {
		return words
	}
	all := []rune(words)
	width -= advance('…')
	head, tail := 0, len(all)
	for head < tail {
		// The end is more informative: keep three letters of it for two letters of the beginning.
		if len(all)-tail < head*3/2 {
			if width -= advance(all[tail-1]); width < 0 {
				break
			}
			tail--
		} else {
			if width -= advance(all[head]); width < 0 {
				break
			}
			head++
		}
	}
	return string(all[:head]) + "…" + string(all[tail:])
}
