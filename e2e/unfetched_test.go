package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

// smallSite serves 300 pages on three hosts, with the given number of words out of 30. The first
// page of each host links to a page of another, to itself in 20 sessions, and to pages that must not
// be fetched.
func smallSite(t *testing.T, n int) (seed string) {
	var hosts [3]*httptest.Server
	forms := [3]string{"/view?id=%d", "/page-%d.html", "/p/%d/"}
	for host := range hosts {
		hosts[host] = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
				return
			}
			i, session := 0, r.URL.Query().Get("visit")
			for i < 100 && session == "" && r.URL.RequestURI() != fmt.Sprintf(forms[host], i) {
				i++
			}
			if i == 100 {
				http.NotFound(w, r)
				return
			}
			words := rand.New(rand.NewPCG(uint64(host), uint64(i)))
			var b strings.Builder
			for range n {
				b.WriteString(lexicon[words.IntN(30)] + " ")
			}
			for _, k := range []int{2*i + 1, 2*i + 2} { // a binary tree
				if k < 100 {
					fmt.Fprintf(&b, `<a href="`+forms[host]+`">next</a> `, k)
				}
			}
			switch {
			case i == 0:
				next := (host + 1) % len(hosts)
				fmt.Fprintf(&b, `<a href="%s`+forms[next]+`">other</a> <a href="/private/%d">private</a> <a href="/deep%s/">deep</a> `, hosts[next].URL, 0, host, strings.Repeat("/x", 30))
				for k := range 20 {
					fmt.Fprintf(&b, `<a href="%s">session</a> `, fmt.Sprintf(forms[host], 0)+map[bool]string{true: "&", false: "?"}[host == 0]+"visit="+strconv.Itoa(1000+k))
				}
			case i == 99:
				b.WriteString(`<meta name="robots" content="nofollow"><a href="/secret.html">secret</a>`)
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, htmlPage(fmt.Sprintf("Page %d", i), b.String()))
		}))
		t.Cleanup(hosts[host].Close)
	}
	return hosts[0].URL + fmt.Sprintf(forms[0], 0)
}

// TestUnfetchedAddressesAreExplained crawls a site with few different words. All its pages must be
// fetched, and the last lines must name the reasons why other addresses were not.
func TestUnfetchedAddressesAreExplained(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		need(t, "bash")
	}
	t.Parallel()
	for _, test := range []struct {
		name, args string
		words      int
	}{{"steady", "-steady", 400}, {"generations", "-steady=false", 40}} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.name == "generations" {
				t.Skip("a crawl of many generations")
			}
			dir := t.TempDir()
			testfile.Write(t, filepath.Join(dir, "seeds.txt"), smallSite(t, test.words)+"\n")
			run := func(script string) string {
				cmd := exec.Command("bash", "-c", script)
				cmd.Dir, cmd.Env = dir, append(environment(t), "HOME="+dir)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", script, err, out)
				}
				return string(out)
			}
			run("topic -query " + lexicon[0] + " >topic.json")
			crawl := `"$SPOOR/scripts/crawl" -run run -topic topic.json -seeds seeds.txt -strategy breadthfirst -allow-private -delay 0s -size 20 ` + test.args
			run(crawl + " -pages 100")
			resumed, again := run(crawl+" -pages 1000"), run(crawl+" -pages 1000")
			fetched := strings.Count(run("frontier export -store run/frontier | grep '\"visited\"' | grep -v visit="), "\n")
			if fetched != 300 {
				t.Errorf("%d of 300 pages were fetched", fetched)
			}
			skipped := strings.Count(run("frontier skipped -store run/frontier"), "\n")
			for _, want := range []string{
				fmt.Sprintf(`crawl: %d known addresses were not fetched: %d that lead to copies of fetched pages \(trap_duplicates\), 3 that robots.txt forbids \(robots\), 3 in too many directories \(trap_depth\)\n`, skipped, skipped-6),
				`crawl: frontier skipped -store run/frontier lists them\n`,
				`crawl: the links on 3 pages were not followed, because the pages say nofollow: frontier export -store run/frontier \| grep '"robots_meta"' lists the pages\n`,
			} {
				for _, said := range []string{resumed, again} {
					if !regexp.MustCompile(want).MatchString(said) {
						t.Errorf("the last lines are\n%s\nwant a match of %s", said, want)
					}
				}
			}
			if n := strings.Count(run("frontier export -store run/frontier | grep '\"robots_meta\"'"), "\n"); n != 3 {
				t.Errorf("%d pages with nofollow are listed", n)
			}
		})
	}
}
