package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/cmd/internal/filter"
)

// writeFile makes a file of the test.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAGraphFileThatIsTornOrOddIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                                   "unexpected EOF",
		`{`:                                  "unexpected EOF",
		`{"out":{"a":["b"`:                   "unexpected EOF",
		`[]`:                                 "[ at byte 1 where an object should begin",
		`{"out":[]}`:                         "[ at byte 8 where an object should begin",
		`{"out":{"a":{"b":1}}}`:              "json: cannot unmarshal object into Go value of type []string",
		`{"out":{"a":[1]}}`:                  "json: cannot unmarshal number into Go value of type string",
		`{"out":{},"labels":{"a":["jazz"]}}`: "no page in it",
	} {
		if _, err := decodeGraph(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestTheMembersOfAGraphFileComeInAnyOrder(t *testing.T) {
	o := options{label: "jazz", graph: writeFile(t, "graph.json", `{
		"labels": {"a/x": ["jazz"], "a/alone": ["jazz"], "a/y": null},
		"redirects": {"a/old": "a/older", "a/older": "a/x", "a/x": "a/y", "a/loop": "a/pool", "a/pool": "a/loop"},
		"more": {"out": [1, {"a": null}]},
		"out": {"a/x": ["a/y", "b/", "a/y"], "a/y": ["a/x"], "a/": [], "a/x": ["a/"]}}`)}
	w, err := o.openWorld(filter.Logger(t.Output(), "test", "text"))
	if err != nil {
		t.Fatal(err)
	}
	number := func(address string) int32 { return w.find(address).page }
	if w.web.Len() != 4 { // of two members of a name the last one counts
		t.Errorf("%d pages", w.web.Len())
	}
	x := number("http://a/X")
	if links := w.web.Links(x); len(links) != 1 || links[0] != number("http://a/") {
		t.Errorf("links %v", links)
	}
	for address, want := range map[string]int32{"http://a/old": x, "http://a/loop": none, "http://b/": none, "http://a/none": none} {
		if got := number(address); got != want {
			t.Errorf("%s: page %d, want %d", address, got, want)
		}
	}
	for address, want := range map[string]mark{"http://a/x": relevant, "http://a/y": irrelevant, "http://a/": unlabelled, "http://a/alone": relevant} {
		if got := w.marks.of[number(address)]; got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	if w.web.Host[x] != w.web.Host[number("http://a/")] || w.web.Host[x] < 0 {
		t.Error("pages of one host have two")
	}
}

func FuzzGraphFile(f *testing.F) {
	f.Add(`{"out":{"a/":["a/x","b/"],"a/x":[]},"redirects":{"a/y":"a/x"},"labels":{"a/x":["jazz"],"c/":[]}}`)
	f.Add(`{"labels":null,"out":{"":null},"redirects":{"":""}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := decodeGraph(strings.NewReader(text))
		if err != nil {
			return
		}
		if len(d.rows) != len(d.names) || len(d.number) != len(d.names) {
			t.Fatalf("%d names, %d rows, %d numbers", len(d.names), len(d.rows), len(d.number))
		}
		for i, r := range d.rows {
			for _, to := range d.targets[r.start:r.end] {
				if int(to) >= len(d.names) {
					t.Fatalf("page %d links to %d of %d", i, to, len(d.names))
				}
			}
			d.resolve(d.names[i])
		}
	})
}
