package crawler

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"spoor/internal/wire"
)

func TestHeadersAreBounded(t *testing.T) {
	line := func(h http.Header) (int, []wire.Values, int) {
		all, left := headers(h)
		var out strings.Builder
		w := wire.NewWriter(&out)
		if err := w.Write(&wire.Record{URL: "http://a.test/", Headers: all}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		return out.Len(), all, left
	}
	many := http.Header{}
	for i := range 50_000 {
		many[fmt.Sprintf("X-%d", i)] = []string{"y"}
	}
	for name, h := range map[string]http.Header{
		"one":        {"Set-Cookie": {strings.Repeat("x", 300<<10)}, "Content-Type": {"text/html"}},
		"one, twice": {"Set-Cookie": slices.Repeat([]string{strings.Repeat("x", 1<<10)}, 200), "Content-Type": {"text/html"}},
		"escaped":    {"X": {strings.Repeat("\x01", maxHeaders-100)}, "Y": {strings.Repeat("\x02", maxHeaders)}, "Content-Type": {"text/html"}},
		"no UTF-8":   {"X": {strings.Repeat("\xff\x01", 10<<10)}, "Content-Type": {"text/html"}},
		"empty":      {"X": make([]string, 200<<10), "Content-Type": {"text/html"}},
		"many":       many,
	} {
		n, all, left := line(h)
		if n > 256<<10 || left == 0 || left+len(all) != len(h) || len(all) > maxNames {
			t.Errorf("%s: %d headers left out of %d, a line of %d bytes", name, left, len(h), n)
		}
		if name != "many" && !slices.ContainsFunc(all, func(v wire.Values) bool { return v.Name == "content-type" }) {
			t.Errorf("%s: the short ones are omitted", name)
		}
		if !slices.IsSortedFunc(all, func(a, b wire.Values) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%s: out of order", name)
		}
	}
	// Among fields of equal length the choice is deterministic.
	_, want, _ := line(many)
	for range 3 {
		if _, all, _ := line(maps.Clone(many)); !slices.EqualFunc(all, want, func(a, b wire.Values) bool { return a.Name == b.Name }) {
			t.Error("other fields are omitted")
		}
	}
	if want[0].Name != "x-0" || len(want) != maxNames || want[maxNames-1].Name != "x-999" {
		t.Errorf("%d fields, %s to %s", len(want), want[0].Name, want[len(want)-1].Name)
	}
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", strings.Repeat("x", 100<<10))
		w.Header().Set("Location", "/"+strings.Repeat("x", 100<<10))
	})
	recs, _ := fetch(t, server.URL+"/page", loopback)
	if r := recs[server.URL+"/page"]; r.Error != "" || r.StatusCode != 200 || !strings.HasPrefix(r.ErrorDetail, "2 of 5 headers left out") {
		t.Errorf("%d %s %s", r.StatusCode, r.Error, r.ErrorDetail)
	}
}
