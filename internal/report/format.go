package report

import (
	"html/template"
	"math"
	"strconv"
	"strings"
)

const (
	thin = "\u202f" // between a number and its unit
	none = "–"      // for a missing number
)

// count formats a number with commas.
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

// thousands formats a tick, which may be a fraction, like count.
func thousands(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return count(int(v))
	}
	return decimal(v)
}

// decimal formats a number with at most three decimals, without trailing zeros.
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

// decimalFew formats a number with one decimal if it is small and not whole.
func decimalFew(v float64) string {
	if v >= 10 || v == math.Trunc(v) {
		return thousands(math.Round(v))
	}
	return fixed(v, 1)
}

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

// percent formats a share: without decimals from 10 % on, with one decimal below.
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

// ratio returns a/b, or NaN if b is 0.
func ratio(a, b int) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}

// duration formats seconds for people.
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

// plural returns a number with its noun: 1 page, 2 pages.
func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + more
}

func probability(p float64) string {
	if finite(p) && p < 0.0005 {
		return "<" + thin + "0.001"
	}
	return fixed(p, 3)
}

// breakable returns a name that may be wrapped after slashes and dots.
func breakable(name string) template.HTML {
	return template.HTML(strings.NewReplacer("/", "/<wbr>", ".", ".<wbr>").Replace(template.HTMLEscapeString(name)))
}

// span formats an interval; it returns "" if the interval is unknown.
func span(low, high float64) string {
	if !finite(low) || !finite(high) {
		return ""
	}
	return fixed(low, 2) + " to " + fixed(high, 2)
}

// signed formats a difference with its sign.
func signed(v float64) string {
	if s := fixed(v, 2); v > 0 && s != "0.00" {
		return "+" + s
	}
	return fixed(v, 2)
}
