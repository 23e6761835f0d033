package strategy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"spoor/internal/wire"
)

func TestTwinKeys(t *testing.T) {
	for _, test := range []struct {
		a, b string
		kind int // of twins they are; twinKinds if of none
	}{
		{"http://a.test/x", "https://www.A.test/x/", twinAddress},
		{"http://a.test/x/index.html", "http://a.test/x", twinAddress},
		{"http://a.test/x.html", "http://a.test/x//", twinAddress},
		{"http://a.test", "http://a.test/index.htm", twinAddress},
		{"http://a.test/x.php", "http://a.test/x", twinAddress},
		{"http://a.test/x/index.php?q=1", "http://a.test/x/?q=1", twinAddress},
		{"http://a.test/x.y", "http://a.test/x", twinKinds},
		{"http://a.test/x?q=1", "http://a.test/x?q=2", twinQuery},
		{"http://a.test/x?q=1", "http://a.test/x", twinQuery},
		{"http://a.test/x?q=1&p=2", "http://a.test/x?q=1&p=3", twinParameter},
		{"http://a.test/x?q=1&p=2", "http://a.test/x?q=2&p=3", twinQuery},
		{"http://a.test/x?q=1&p=2", "http://a.test/y?q=1&p=3", twinKinds},
		{"http://a.test/old/Name", "http://a.test/new/b/name.html", twinName},
		{"http://a.test/old/name", "http://b.test/old/name", twinKinds},
		{"http://a.test/", "http://a.test/x/index.html", twinKinds},
	} {
		a, b := twinsByAddress(test.a), twinsByAddress(test.b)
		kind := twinKinds
		for _, x := range a {
			if slices.ContainsFunc(b, func(y twinKey) bool { return x.key != 0 && x.kind == y.kind && x.key == y.key }) {
				kind = min(kind, x.kind)
			}
		}
		if kind != test.kind {
			t.Errorf("%s and %s are twins of kind %d, not %d", test.a, test.b, kind, test.kind)
		}
	}
}

// twinsByAddress returns the keys of an address, as twinsOf does for those of a crawl without mirrors.
func twinsByAddress(url string) []twinKey {
	keys, queries := twinKeys(url)
	list := append([]twinKey{{kind: twinAddress, key: keys[0]}, {kind: twinName, key: keys[1]}}, queries...)
	if queries == nil {
		list = append(list, twinKey{kind: twinQuery, key: keys[0]})
	}
	return list
}

// A moved web has five lists of articles with new and old addresses. The old ones redirect to the new, or
// are pages of their own.
type moved struct{ redirects bool }

func (w moved) fetch(a Address, generation int) *wire.Record {
	rec := new(wire.Record)
	a.Fill(rec, generation)
	rec.StatusCode, rec.Relevant, rec.Title, rec.Text = 200, wire.False, "garden", "flower river"
	if list, ok := strings.CutPrefix(a.URL, "http://a.test/list/"); ok {
		n := 0
		fmt.Sscan(list, &n)
		for i := range 20 {
			for _, dir := range []string{"new", "old"} {
				rec.Links = append(rec.Links, wire.Link{URL: fmt.Sprintf("http://a.test/%s/%d-%d", dir, n, i), Anchor: "genetic crawler"})
			}
		}
		if n < 4 {
			rec.Links = append(rec.Links, wire.Link{URL: fmt.Sprintf("http://a.test/list/%d", n+1), Anchor: "genetic crawler"})
		}
	} else if name, ok := strings.CutPrefix(a.URL, "http://a.test/old/"); ok && w.redirects {
		rec.FinalURL = "http://a.test/new/" + name
		rec.Redirects = []wire.Redirect{{URL: a.URL, StatusCode: 301}}
	}
	return rec
}

// Once a few old addresses have turned out to be known pages, those of other known pages wait. Where
// old addresses are pages of their own they do not.
func TestForageAvoidsOtherAddressesOfKnownPages(t *testing.T) {
	for _, redirects := range []bool{true, false} {
		known, twins, fetches := map[string]bool{}, 0, 0
		for _, line := range crawl(t, moved{redirects}, "forage", nil, 10, 30, "a.test/list/0") {
			for item := range strings.FieldsSeq(line) {
				if !strings.Contains(item, "/") {
					continue // the operator
				}
				name := strings.TrimSuffix(item[strings.LastIndexByte(item, '/'):], ",")
				if fetches++; fetches <= 90 && known[name] {
					twins++
				}
				known[name] = true
			}
		}
		if redirects && twins > 10 || !redirects && twins < 15 {
			t.Errorf("redirects %v: %d of the first 90 fetches were of names that were known", redirects, twins)
		}
	}
}
