package report

import (
	"cmp"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A drawing builds an SVG image. Classes are constants of this package; page.css defines
// their look, in light and dark mode. Untrusted text occurs only as text, titles and
// descriptions, which are escaped.
type drawing struct {
	b strings.Builder
}

// newDrawing starts an image with a title and a description for screen readers. The class
// determines where the image is shown.
func newDrawing(width, height float64, class, title, description string) *drawing {
	d := new(drawing)
	d.b.WriteString(`<svg`)
	d.class(class)
	d.number("width", width)
	d.number("height", height)
	d.b.WriteString(` viewBox="0 0 ` + short(width) + " " + short(height) + `" role="img"><title>`)
	d.words(title)
	d.b.WriteString(`</title>`)
	if description != "" {
		d.b.WriteString(`<desc>`)
		d.words(description)
		d.b.WriteString(`</desc>`)
	}
	return d
}

func (d *drawing) done() template.HTML {
	d.b.WriteString("</svg>")
	return template.HTML(d.b.String())
}

func (d *drawing) class(class string) {
	if class != "" {
		d.b.WriteString(` class="` + class + `"`)
	}
}

func (d *drawing) number(name string, v float64) {
	d.b.WriteString(" " + name + `="` + short(v) + `"`)
}

func (d *drawing) words(s string) { template.HTMLEscape(&d.b, []byte(s)) }

// shape draws an element with numbers as attributes, and a tooltip if tip is not empty.
func (d *drawing) shape(element, class, tip string, names []string, values ...float64) {
	d.b.WriteString("<" + element)
	d.class(class)
	for i, name := range names {
		d.number(name, values[i])
	}
	if tip == "" {
		d.b.WriteString("/>")
		return
	}
	d.b.WriteString("><title>")
	d.words(tip)
	d.b.WriteString("</title></" + element + ">")
}

// path draws the path commands that curve or area returned.
func (d *drawing) path(class, commands string) {
	if commands == "" {
		return
	}
	d.b.WriteString(`<path`)
	d.class(class)
	d.b.WriteString(` d="` + commands + `"/>`)
}

func (d *drawing) rect(class string, x, y, width, height float64, tip string) {
	d.shape("rect", class, tip, []string{"x", "y", "width", "height"}, x, y, max(0, width), max(0, height))
}

func (d *drawing) circle(class string, x, y, r float64, tip string) {
	d.shape("circle", class, tip, []string{"cx", "cy", "r"}, x, y, r)
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.shape("line", class, "", []string{"x1", "y1", "x2", "y2"}, x1, y1, x2, y2)
}

// text writes words, vertically centred at y.
func (d *drawing) text(class string, x, y float64, words string) {
	d.b.WriteString(`<text`)
	d.class(class)
	d.number("x", x)
	d.number("y", y)
	d.b.WriteString(` dy=".35em">`)
	d.words(words)
	d.b.WriteString("</text>")
}

// short formats a coordinate with at most one decimal. It returns 0 if v is not finite.
func short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	v = math.Round(v*10) / 10
	if v == 0 {
		return "0" // not -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// curve returns path commands of a line through the points, with gaps at points that are not
// finite.
func curve(x, y []float64) string {
	var b strings.Builder
	pen := byte('M')
	for i := range min(len(x), len(y)) {
		if !finite(x[i]) || !finite(y[i]) {
			pen = 'M'
			continue
		}
		b.WriteByte(pen)
		b.WriteString(short(x[i]) + " " + short(y[i]))
		pen = 'L'
	}
	return b.String()
}

// area returns path commands of the area between two lines, from the left to the first gap in one of
// the lines.
func area(x, low, high []float64) string {
	n := 0
	for n < min(len(x), len(low), len(high)) && finite(x[n]) && finite(low[n]) && finite(high[n]) {
		n++
	}
	if n < 2 {
		return ""
	}
	var b strings.Builder
	b.WriteString(curve(x[:n], high[:n]))
	for i := n - 1; i >= 0; i-- {
		b.WriteString("L" + short(x[i]) + " " + short(low[i]))
	}
	b.WriteByte('Z')
	return b.String()
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// A scale maps values in [lo, hi] to coordinates in [from, to].
type scale struct{ lo, hi, from, to float64 }

func (s scale) at(v float64) float64 {
	if s.hi == s.lo {
		return s.from
	}
	return s.from + (v-s.lo)/(s.hi-s.lo)*(s.to-s.from)
}

// of maps several values.
func (s scale) of(vs []float64) []float64 {
	at := make([]float64, len(vs))
	for i, v := range vs {
		at[i] = s.at(v)
	}
	return at
}

// ticks returns about n round numbers from lo to hi: multiples of 1, 2 or 5 times a power of
// ten, at least least apart.
func ticks(lo, hi float64, n int, least float64) []float64 {
	if !(hi > lo) || n < 1 {
		return []float64{lo}
	}
	rough := max((hi-lo)/float64(n), least)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step := 10 * power
	for _, m := range []float64{1, 2, 5} {
		if m*power >= rough*(1-1e-9) {
			step = m * power
			break
		}
	}
	var at []float64
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9 && len(at) < 100; i++ {
		at = append(at, i*step+0) // not -0
	}
	return at
}

// spread moves labels at these heights until they are at least gap apart, within [top, bottom]. It
// makes one pass down and one pass up, and moves labels as little as these passes allow.
func spread(y []float64, gap, top, bottom float64) []float64 {
	order := make([]int, len(y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(y[a], y[b]) })
	moved := make([]float64, len(y))
	edge := top
	for _, i := range order {
		moved[i] = max(y[i], edge)
		edge = moved[i] + gap
	}
	edge = bottom
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		moved[i] = min(moved[i], edge)
		edge = moved[i] - gap
	}
	return moved
}
