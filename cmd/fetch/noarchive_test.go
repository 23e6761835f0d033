package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestWhoeverForbidsACopyIsHeard(t *testing.T) {
	const inHeader, inPage = "X-Robots-Tag: noarchive", "meta robots: noarchive"
	for _, c := range []struct {
		name   string
		header []string
		media  string
		body   string
		want   string
	}{
		{"nothing is said", nil, "text/html", "<p>noarchive", ""},
		{"a header", []string{"noindex", "NoArchive"}, "application/pdf", "", inHeader},
		{"a header for us", []string{"spoor: nocache"}, "", "", inHeader},
		{"a header for others", []string{"otherbot: noarchive"}, "", "", ""},
		{"none is no index and no following", []string{"none"}, "text/html", "<meta name=robots content=none>", ""},
		{"a meta element", nil, "text/html", "<title></title><META NAME='Robots' CONTENT='index, noarchive'/>", inPage},
		{"one for us", nil, "application/xhtml+xml", "<meta content=noarchive name=Spoor>", inPage},
		{"one for others", nil, "text/html", "<meta name=otherbot content=noarchive>", ""},
		{"the second of two", nil, "", "<meta name=robots content=index><meta name=robots content='no&#97;rchive'>", inPage},
		{"in a script or a comment", nil, "text/html", "<script>'<meta name=robots content=noarchive>'</script><!--<meta name=robots content=noarchive>-->", ""},
		{"no page", nil, "text/plain", "<meta name=robots content=noarchive>", ""},
		{"far down", nil, "text/html", strings.Repeat(" ", maxMeta) + "<meta name=robots content=noarchive>", ""},
		{"cut in two", nil, "text/html", strings.Repeat(" ", maxMeta-20) + "<meta name=robots content=noarchive>", ""},
	} {
		header := http.Header{"X-Robots-Tag": c.header}
		if got := forbidden("spoor/0.1", header, c.media, []byte(c.body)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func BenchmarkNoArchive(b *testing.B) {
	page := []byte(strings.Repeat("<p class=x>words and <a href=/more>more</a> words\n", 2000))
	b.SetBytes(maxMeta)
	b.ReportAllocs()
	for b.Loop() {
		if forbidden("spoor", nil, "text/html", page) != "" {
			b.Fatal("it says so?")
		}
	}
}
