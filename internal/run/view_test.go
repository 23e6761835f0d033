package run

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"spoor/internal/terminal"
	"spoor/internal/wire"
)

// The only control sequences on the screen are those of the view itself.
func TestTheLiveViewEscapesNames(t *testing.T) {
	const hostile = "\x1b[2J\u009b2J\u202e\n\x9b"
	var b strings.Builder
	v := &View{Out: &terminal.Writer{W: &b}, Screen: &b, name: hostile}
	c := &Crawl{Settings: &Settings{Strategy: hostile, Pages: 10}, Totals: &Totals{Errors: map[string]int{hostile: 1}, Last: &Summary{}}, View: v}
	v.Progress(c, "fetching", &Summary{})
	v.Final(c, "done")
	v.Say("%s", hostile)
	own := regexp.MustCompile(`\x1b\[(\?7[lh]|[0-9]*[mJKA])|\r`)
	left := own.ReplaceAllString(strings.ReplaceAll(b.String(), "\x1b[2J", "CLEARED"), "")
	if terminal.Escape(left) != left || strings.Contains(left, "CLEARED") || strings.Count(left, "\n") != 2*blockLines+2 {
		t.Errorf("%q", left)
	}
	if n := strings.Count(left, `\u001b[2J\u009b2J\u202e`); n != 7 {
		t.Errorf("%d names in %q", n, left)
	}
}

// A crawl that waits says which errors there were, with their names escaped.
func TestAWaitingCrawlSaysItsErrors(t *testing.T) {
	until := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		errors map[string]int
		want   string
	}{
		{nil, "crawl: nothing is due before 2026-11-26T12:00:00Z; waiting\n"},
		{map[string]int{"timeout": 2, "connect": 1, "budget": 3}, "crawl: nothing is due before 2026-11-26T12:00:00Z; waiting (errors so far: put back 3, connect 1, timeout 2)\n"},
	} {
		var b strings.Builder
		v := &View{Out: &b}
		v.Waiting(until, &Totals{Errors: test.errors})
		v.Waiting(until, &Totals{Errors: test.errors})
		if b.String() != test.want {
			t.Errorf("got %q, want %q", b.String(), test.want)
		}
	}
}

func TestUnreadPDF(t *testing.T) {
	c := &Crawl{Stages: Stages{{"parse", "parse", true}}, Settings: &Settings{}, Totals: NewTotals()}
	sum := NewSummary(1)
	sum.Count(&wire.Record{URL: "http://a.test/a.pdf", Error: wire.ErrorUnsupportedType, ContentType: "application/pdf"})
	sum.Count(&wire.Record{URL: "http://a.test/", StatusCode: 200, ContentType: "text/html"})
	c.Totals.Add(sum)
	if got := c.unreadPDF(); !strings.HasPrefix(got, "1 PDF files were not read\nhint: ") {
		t.Errorf("got %q", got)
	}
	c.Settings.Convert = []string{"application/*=cat"}
	if got := c.unreadPDF(); got != "" {
		t.Errorf("with -convert: %q", got)
	}
}
