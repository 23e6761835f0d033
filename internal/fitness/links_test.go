package fitness

import (
	"math"
	"testing"
)

func TestLinksPromise(t *testing.T) {
	v := vsm(t, Keyword{"network", 3}, Keyword{"database", 4}) // |q| = 5
	for _, tt := range []struct {
		link Link
		want Promise
	}{
		{Link{}, Promise{}},
		{Link{"https://example.org/frogs", "frogs", "about frogs"}, Promise{}},
		{Link{"https://example.org/", "Networks", ""}, Promise{Anchor: 0.6, Score: 0.8*0.6 + 0.2}},
		{Link{"https://example.org/", "here", "networks: here"}, Promise{Context: 0.6, Score: 0.2 * 0.6}},
		{Link{"https://example.org/", "Networks", "Networks and frogs"}, Promise{Anchor: 0.6, Context: 0.6, Score: 0.8*0.6 + 0.2}},
		{Link{"https://example.org/database-1.html", "here", ""}, Promise{URL: 0.8, Score: 0.8}},
		{Link{"https://network.example/", "here", ""}, Promise{URL: 0.6, Score: 0.6}},
		{Link{"network://example.org/", "here", ""}, Promise{}}, // a scheme says nothing
		{Link{"https://example.org/a%20d%61tabase%2", "here", ""}, Promise{URL: 0.8, Score: 0.8}},
		{Link{"https://example.org/%", "", ""}, Promise{}},
		{Link{"https://example.org/%zz%f", "", ""}, Promise{}},
		{Link{"https://example.org/database", "Networks", ""}, Promise{Anchor: 0.6, URL: 0.8, Score: 1 - (1-0.68)*0.2}},
		{Link{"https://example.org/", "3 networks, 4 databases: network network database database database", ""},
			Promise{Anchor: 25. / 25, Score: 1}},
	} {
		got := v.promise(&tt.link)
		if !near(got.Anchor, tt.want.Anchor) || !near(got.Context, tt.want.Context) || !near(got.URL, tt.want.URL) || !near(got.Score, tt.want.Score) {
			t.Errorf("%+v: got %+v, want %+v", tt.link, got, tt.want)
		}
	}
}

func TestPageNormAppliesToLinks(t *testing.T) {
	v := vsm(t, Keyword{"network", 3}, Keyword{"database", 4})
	v.measure.Norm = PageNorm
	got := v.promise(&Link{"https://network.org/", "network frogs", "frogs frogs network"})
	want := Promise{Anchor: 0.6 / math.Sqrt2, Context: 0.6 / math.Sqrt(5), URL: 0.6 / math.Sqrt2}
	if !near(got.Anchor, want.Anchor) || !near(got.Context, want.Context) || !near(got.URL, want.URL) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
