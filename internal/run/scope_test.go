package run

import (
	"io"
	"slices"
	"testing"

	"spoor/internal/wire"
)

func TestUnusedExcludes(t *testing.T) {
	d := Dir(t.TempDir())
	s := &Settings{Scope: []string{"exclude b.test", "include a.test", "exclude ext:pdf", "exclude */never/*"}}
	if err := d.writeScope(s.Scope); err != nil {
		t.Fatal(err)
	}
	c := &Crawl{Dir: d, Settings: s, Totals: NewTotals(), View: &View{Out: io.Discard}}
	if err := c.openStore(); err != nil {
		t.Fatal(err)
	}
	defer c.closeStore()
	for _, url := range []string{"http://a.test/", "http://a.test/b.pdf", "http://c.test/"} {
		if _, err := c.store.Add(&wire.Record{V: wire.Version, URL: url, Depth: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.store.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.unusedExcludes(); err != nil || !slices.Equal(got, []string{"exclude b.test", "exclude */never/*"}) {
		t.Errorf("%q, %v", got, err)
	}
}
