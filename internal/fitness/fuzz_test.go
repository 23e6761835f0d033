package fitness

import (
	"math"
	"strings"
	"testing"
)

// FuzzMeasures applies all measures in all forms to arbitrary texts.
func FuzzMeasures(f *testing.F) {
	for _, s := range [][6]string{
		{},
		{"Call for papers", "data bases", "networks", "the frogs of 2009", "http://a.example/data-base/%6eetwork", "a network\nof frogs"},
		{"\xff\xfe", "12345 network", "network network network", "x", "%", "\n\n"},
		{"日本語", "ünïcode network", strings.Repeat("network ", 100), "データ", "http://%zz%f/%%%", "data\nbase"},
	} {
		f.Add(s[0], s[1], s[2], s[3], s[4], s[5])
	}
	t := target(f, topicOfTests...)
	var all []Measure
	forms := variants(f)
	for _, v := range forms {
		all = append(all, v.make(t, 1))
	}
	f.Fuzz(func(tt *testing.T, title, meta, body, anchor, url, context string) {
		page := Page{URL: url, Title: title, Description: meta, Keywords: anchor, Anchors: anchor, Text: body, Links: []string{url, context, url}}
		link := Link{URL: url, Anchor: anchor, Context: context}
		r := t.Read(&page)
		values := make([]float64, len(all))
		for i, m := range all {
			values[i] = m.Page(r)
			if !(0 <= values[i] && values[i] <= forms[i].page) || math.IsInf(values[i], 0) {
				tt.Fatalf("%s: %v", forms[i].name, values[i])
			}
			sum := 0.0
			for _, reason := range m.Explain(r) {
				sum += reason.Part
			}
			if !(math.Abs(sum-values[i]) <= 1e-9*max(1, values[i])) {
				tt.Fatalf("%s: %v, its reasons sum to %v", forms[i].name, values[i], sum)
			}
		}
		l := t.ReadLink(&link)
		for i, m := range all {
			p := m.Link(l)
			for _, x := range []float64{p.Anchor, p.Context, p.URL, p.Score} {
				if !(0 <= x && x <= forms[i].link) || math.IsInf(x, 0) {
					tt.Fatalf("%s: %+v", forms[i].name, p)
				}
			}
			if again := m.Page(r); again != values[i] {
				tt.Fatalf("%s: %v, after a link %v", forms[i].name, values[i], again)
			}
		}
	})
}
