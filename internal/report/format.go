package report

import (
	"html/template"
	"math"
	"strconv"
	"strings"
)

const (
	thin = "\u202f" // between a number and its unit
	none = "–"      // where there is no number
)

// count writes a number with a comma after the thousands.
func count(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// thousands is count of a tick, which may be a fraction.
func thousands(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return count(int(v))
	}
	return decimal(v)
}

// decimal writes a number with as many digits as one reads: three behind the
// point at most, and no zeros in the end.
func decimal(v float64) string {
	if !finite(v) {
		return none
	}
	if a := math.Abs(v); a != 0 && (a < 0.0005 || a >= 1e7) {
		return strings.Replace(strconv.FormatFloat(v, 'g', 2, 64), "-", "−", 1)
	}
	s := strconv.FormatFloat(v, 'f', 3, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return strings.Replace(s, "-", "−", 1)
}

// decimalFew writes a number with a digit behind the point if it is small and has one.
func decimalFew(v float64) string {
	if v >= 10 || v == math.Trunc(v) {
		return thousands(math.Round(v))
	}
	return fixed(v, 1)
}

// fixed writes a number with so many digits behind the point.
func fixed(v float64, digits int) string {
	if !finite(v) {
		return none
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return strings.Replace(s, "-", "−", 1)
}

// percent writes a share: whole percents from 10 on, and tenths below.
func percent(v float64) string {
	if !finite(v) {
		return none
	}
	digits := 0
	if a := math.Abs(v); a > 0 && a < 0.0995 {
		digits = 1
	}
	return fixed(100*v, digits) + thin + "%"
}

// ratio is a/b, and NaN where there is no b.
func ratio(a, b int) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}

// duration writes seconds as one says them.
func duration(seconds float64) string {
	switch {
	case !finite(seconds) || seconds <= 0:
		return none
	case seconds < 1:
		return strconv.Itoa(int(math.Round(seconds*1000))) + thin + "ms"
	case seconds < 10:
		return fixed(seconds, 1) + thin + "s"
	case seconds < 120:
		return fixed(seconds, 0) + thin + "s"
	case seconds < 7200:
		return fixed(seconds/60, 0) + thin + "min"
	case seconds < 48*3600:
		return fixed(seconds/3600, 1) + thin + "h"
	}
	return fixed(seconds/86400, 1) + thin + "days"
}

// plural is a number with its noun: 1 page, 2 pages.
func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + more
}

// probability writes a p-value: small ones as smaller than the least that is
// written.
func probability(p float64) string {
	if finite(p) && p < 0.0005 {
		return "<" + thin + "0.001"
	}
	return fixed(p, 3)
}

// breakable is a name that a line may break after its slashes and points.
func breakable(name string) template.HTML {
	return template.HTML(strings.NewReplacer("/", "/<wbr>", ".", ".<wbr>").Replace(template.HTMLEscapeString(name)))
}

// span is an interval, or nothing if it is unknown.
func span(low, high float64) string {
	if !finite(low) || !finite(high) {
		return ""
	}
	return fixed(low, 2) + " to " + fixed(high, 2)
}

// signed is a difference with its sign.
func signed(v float64) string {
	if s := fixed(v, 2); v > 0 && s != "0.00" {
		return "+" + s
	}
	return fixed(v, 2)
}
