package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"spoor/internal/testfile"
)

// A logSite is a site of endless links that logs what is requested.
type logSite struct {
	*httptest.Server
	mu    sync.Mutex
	paths map[string]int
	other string // the address of another site that it leads to in every way
}

func newLogSite(t *testing.T) *logSite {
	s := &logSite{paths: map[string]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *logSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.paths[r.URL.Path]++
	s.mu.Unlock()
	path := strings.TrimRight(r.URL.Path, "/")
	switch {
	case r.URL.Path == "/robots.txt":
		fmt.Fprintf(w, "User-agent: *\nDisallow:\nSitemap: %s/map.xml\n", s.other)
		return
	case strings.HasSuffix(path, "/away"):
		http.Redirect(w, r, s.other+"/redirected", http.StatusFound)
		return
	case strings.HasSuffix(path, "/inside"):
		http.Redirect(w, r, "/tag/inside", http.StatusFound)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, "<title>jazz music</title><p>All about jazz music and musicians.</p>")
	for _, link := range []string{path + "/a", path + "/b", path + "/tag/x", path + "/x.pdf", path + "/away", path + "/inside", s.other + path + "/x"} {
		fmt.Fprintf(w, "<a href=%q>jazz music</a>\n", link)
	}
}

// TestACrawlStaysInItsScope crawls a site whose pages, redirects and robots.txt lead to another one,
// by strategies of both kinds and with both loops. The servers' logs hold no address out of scope,
// and frontier skipped lists each that was found, with its rule.
func TestACrawlStaysInItsScope(t *testing.T) {
	skipShort(t, "nothing is crawled in a short test")
	bin := build(t)
	scripts := inRoot("scripts")
	path := "PATH=" + strings.Join([]string{bin, scripts, os.Getenv("PATH")}, string(os.PathListSeparator))
	excluded := regexp.MustCompile(`^/(tag/|.*/tag/|.*\.pdf$)`)
	for _, c := range []struct{ strategy, loop string }{{"breadthfirst", "-steady=false"}, {"hits", "-steady=false"}, {"forage", "-steady"}} {
		t.Run(c.strategy+c.loop, func(t *testing.T) {
			t.Parallel()
			in, out := newLogSite(t), newLogSite(t)
			in.other, out.other = out.URL, in.URL
			dir := t.TempDir()
			testfile.Write(t, filepath.Join(dir, "rules.txt"), "# rules\nexclude */tag/*\nexclude ext:pdf\ndepth 3\n")
			crawl := func(args ...string) string {
				t.Helper()
				cmd := exec.Command(filepath.Join(scripts, "crawl"), args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), path)
				said, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("crawl %q: %v\n%s", args, err, said)
				}
				return string(said)
			}
			args := []string{"-topic", "jazz music", "-allow-private", "-delay", "0s", "-sitemaps", "-strategy", c.strategy, "-size", "4", "-same-host", "-scope", "rules.txt", in.URL + "/"}
			if c.loop != "" {
				args = append(args, c.loop)
			}
			crawl(append(args, "-pages", "6")...)
			settings, err := os.ReadFile(filepath.Join(dir, "crawl-jazz-music", "settings"))
			if err != nil || !bytes.Contains(settings, []byte("scope same-host\nscope exclude */tag/*\nscope exclude ext:pdf\nscope depth 3\n")) {
				t.Errorf("%v: settings\n%s", err, settings)
			}
			// The run continues with its scope, and with a narrower one, which is said.
			crawl("-run", "crawl-jazz-music", "-pages", "10")
			said := crawl("-run", "crawl-jazz-music", "-pages", "200", "-exclude", "/b/*")
			if !strings.Contains(said, "scope is now: same-host, exclude */tag/*, exclude ext:pdf, depth 3, exclude /b/*") {
				t.Errorf("the change is not said:\n%s", said)
			}

			if len(out.paths) > 0 {
				t.Errorf("requested out of scope: %v", out.paths)
			}
			for path := range in.paths {
				if excluded.MatchString(path) || strings.Count(path, "/") > 3 {
					t.Errorf("requested out of scope: %s", path)
				}
			}
			for _, path := range []string{"/a", "/a/b/a", "/a/away", "/a/inside"} { // all that is in scope
				if in.paths[path] == 0 {
					t.Errorf("not requested: %s", path)
				}
			}
			cmd := exec.Command(filepath.Join(bin, "frontier"), "skipped", "-store", "crawl-jazz-music/frontier")
			cmd.Dir = dir
			skipped, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			rules := map[string][]string{}
			for _, rec := range jsonLines[struct {
				URL, Error string
				Detail     string `json:"error_detail"`
			}](t, skipped) {
				rules[rec.URL] = []string{rec.Error, rec.Detail}
			}
			for url, want := range map[string][]string{
				out.URL + "/x": {"out_of_scope", "same-host"}, in.URL + "/a/tag/x": {"scope_excluded", "exclude */tag/*"},
				in.URL + "/a/x.pdf": {"scope_excluded", "exclude ext:pdf"}, in.URL + "/a/a/a/a": {"scope_depth", "depth 3"},
				in.URL + "/a/away":   {"scope_redirect", "a redirect to " + out.URL + "/redirected: same-host"},
				in.URL + "/a/inside": {"scope_redirect", "a redirect to " + in.URL + "/tag/inside: exclude */tag/*"},
			} {
				if !slices.Equal(rules[url], want) {
					t.Errorf("%s is skipped for %q, want %q", url, rules[url], want)
				}
			}
		})
	}
}
