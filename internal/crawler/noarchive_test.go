package crawler

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestForbidsArchiving(t *testing.T) {
	const inHeader, inPage = "X-Robots-Tag: noarchive", "meta robots: noarchive"
	for _, c := range []struct {
		name   string
		header []string
		media  string
		body   string
		want   string
	}{
		{"no directive", nil, "text/html", "<p>noarchive", ""},
		{"a header", []string{"noindex", "NoArchive"}, "application/pdf", "", inHeader},
		{"a header for us", []string{"spoor: nocache"}, "", "", inHeader},
		{"a header for others", []string{"otherbot: noarchive"}, "", "", ""},
		{"none means noindex and nofollow", []string{"none"}, "text/html", "<meta name=robots content=none>", ""},
		{"a meta element", nil, "text/html", "<title></title><META NAME='Robots' CONTENT='index, noarchive'/>", inPage},
		{"a meta element for us", nil, "application/xhtml+xml", "<meta content=noarchive name=Spoor>", inPage},
		{"a meta element for others", nil, "text/html", "<meta name=otherbot content=noarchive>", ""},
		{"the second of two", nil, "", "<meta name=robots content=index><meta name=robots content='no&#97;rchive'>", inPage},
		{"in a script or a comment", nil, "text/html", "<script>'<meta name=robots content=noarchive>'</script><!--<meta name=robots content=noarchive>-->", ""},
		{"not HTML", nil, "text/plain", "<meta name=robots content=noarchive>", ""},
		{"beyond maxMeta", nil, "text/html", strings.Repeat(" ", maxMeta) + "<meta name=robots content=noarchive>", ""},
		{"across maxMeta", nil, "text/html", strings.Repeat(" ", maxMeta-20) + "<meta name=robots content=noarchive>", ""},
	} {
		header := http.Header{"X-Robots-Tag": c.header}
		if got := forbidsArchiving("spoor/0.1", header, c.media, []byte(c.body)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNoArchive(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			w.Header().Set("X-Robots-Tag", "noarchive")
		case "/header":
			w.Header().Set("X-Robots-Tag", "noarchive")
			fmt.Fprint(w, "<html><p>/header itself")
		case "/meta":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<meta name=robots content=noarchive><p>/meta itself")
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>/page itself")
		}
	})
	in := fmt.Sprintf("%s/header\n%[1]s/meta\n%[1]s/page\n", server.URL)
	for _, c := range []struct {
		options []option
		kept    []string
	}{
		{nil, []string{"/robots.txt", "/header", "/meta", "/page"}},
		{[]option{func(o *Options) { o.NoArchive = true }}, []string{"/robots.txt", "/page"}},
	} {
		dir := t.TempDir()
		recs, o, err := fetchAll(t, in, append(c.options, loopback, warcTo(filepath.Join(dir, "x")))...)
		if err != nil || len(recs) != 3 {
			t.Fatalf("%v: %s", err, o.log)
		}
		names, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
		if len(names) != 1 {
			t.Fatal(names)
		}
		warc := unpack(t, names[0])
		for _, path := range []string{"/robots.txt", "/header", "/meta", "/page"} {
			want := slices.Contains(c.kept, path)
			response := "WARC-Type: response\r\n"
			kept := false
			for record := range strings.SplitSeq(warc, "WARC/1.1\r\n") {
				if strings.Contains(record, response) && strings.Contains(record, "WARC-Target-URI: "+server.URL+path+"\r\n") {
					kept = true
				}
			}
			if kept != want {
				t.Errorf("%v: %s is in the archive: %v", c.options, path, kept)
			}
		}
		if forbidden := strings.Count(warc, "noarchive: "); c.options != nil && (forbidden != 2 || strings.Contains(warc, "/meta itself")) {
			t.Errorf("%d reasons in the archive", forbidden)
		}
		for _, rec := range recs {
			if rec.Body == "" || rec.Digest == "" {
				t.Errorf("%v: %s has no body or no digest", c.options, rec.URL)
			}
		}
	}
}
