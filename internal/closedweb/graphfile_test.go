package closedweb

import (
	"strings"
	"testing"

	"spoor/internal/judge"
)

func TestMalformedGraphFile(t *testing.T) {
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

func TestGraphFileMembersInAnyOrder(t *testing.T) {
	w, err := FromGraphFile(strings.NewReader(`{
		"labels": {"a/x": ["jazz"], "a/alone": ["jazz"], "a/y": null},
		"redirects": {"a/old": "a/older", "a/older": "a/x", "a/x": "a/y", "a/loop": "a/pool", "a/pool": "a/loop"},
		"more": {"out": [1, {"a": null}]},
		"out": {"a/x": ["a/y", "b/", "a/y"], "a/y": ["a/x"], "a/": [], "a/x": ["a/"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	number := func(address string) int32 { return w.Find(address).Page }
	if w.Len() != 4 { // the last of two members with the same name counts
		t.Errorf("%d pages", w.Len())
	}
	x := number("http://a/X")
	if links := w.Links(x); len(links) != 1 || links[0] != number("http://a/") {
		t.Errorf("links %v", links)
	}
	for address, want := range map[string]int32{"http://a/old": x, "http://a/loop": judge.None, "http://b/": judge.None, "http://a/none": judge.None} {
		if got := number(address); got != want {
			t.Errorf("%s: page %d, want %d", address, got, want)
		}
	}
	labels := w.Labels("jazz")
	for address, want := range map[string]Verdict{"http://a/x": Relevant, "http://a/y": Irrelevant, "http://a/": Unlabelled, "http://a/alone": Relevant} {
		if got := labels.Verdict(number(address)); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	if w.Host[x] != w.Host[number("http://a/")] || w.Host[x] < 0 {
		t.Error("pages of one host have different host numbers")
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
