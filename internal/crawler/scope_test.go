package crawler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"spoor/internal/scope"
	"spoor/internal/wire"
)

// within returns the option of a scope with these rules.
func within(t *testing.T, rules ...string) option {
	t.Helper()
	s, err := scope.Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) { o.Scope = s }
}

// outside returns a site whose requests are errors.
func outside(t *testing.T) *faultySite {
	site := newFaultySite(t)
	t.Cleanup(func() {
		site.Close()
		if len(site.paths) > 0 {
			t.Errorf("out of scope, and requested: %q", site.paths)
		}
	})
	return site
}

func host(site *faultySite) string { return strings.TrimPrefix(site.URL, "http://") }

// TestNothingOutOfScopeIsRequested lets addresses, redirects, robots.txt and sitemaps lead to
// another site, whose log stays empty.
func TestNothingOutOfScopeIsRequested(t *testing.T) {
	in, out := newFaultySite(t), outside(t)
	defer in.Close()
	in.robots = "User-agent: *\nDisallow:\nSitemap: " + out.URL + "/sitemap.xml\nSitemap: " + in.URL + "/own.xml\n"
	other := in.URL + "/goto?to=" + out.URL + "/page"
	chain := in.URL + "/goto?to=" + in.URL + "/goto%3Fto=" + out.URL + "/page"
	private := in.URL + "/goto?to=/closed/x"
	lines := []string{
		in.URL + "/page", out.URL + "/page", in.URL + "/closed/y",
		fmt.Sprintf(`{"v":1,"url":%q,"operator":"link","depth":1}`, other),
		fmt.Sprintf(`{"v":1,"url":%q,"operator":"link","depth":1}`, chain),
		fmt.Sprintf(`{"v":1,"url":%q,"operator":"seed"}`, private),
		fmt.Sprintf(`{"v":1,"url":"%s/page/deep","operator":"link","depth":9}`, in.URL),
		fmt.Sprintf(`{"v":1,"url":"%s/map.xml","operator":"sitemap","via":"%s/robots.txt"}`, out.URL, in.URL),
	}
	recs, _ := fetch(t, strings.Join(lines, "\n"), loopback, withSitemaps, within(t, "same-host "+host(in), "exclude /closed/*", "depth 3"))
	for url, want := range map[string]string{
		in.URL + "/page": "", out.URL + "/page": wire.ErrorOutOfScope, in.URL + "/closed/y": wire.ErrorScopeExcluded,
		other: wire.ErrorScopeRedirect, chain: wire.ErrorScopeRedirect, private: wire.ErrorScopeRedirect,
		in.URL + "/page/deep": wire.ErrorScopeDepth, out.URL + "/map.xml": wire.ErrorOutOfScope, out.URL + "/sitemap.xml": wire.ErrorOutOfScope,
		in.URL + "/own.xml": "",
	} {
		if rec := recs[url]; rec == nil || rec.Error != want {
			t.Errorf("%s: %+v, want the error %q", url, rec, want)
		}
	}
	rec := recs[chain]
	if len(rec.Redirects) != 2 || rec.FinalURL != rec.Redirects[1].URL || !strings.Contains(rec.ErrorDetail, out.URL+"/page: same-host") {
		t.Errorf("redirects %v to %s: %s", rec.Redirects, rec.FinalURL, rec.ErrorDetail)
	}
	for _, path := range in.requests() {
		if strings.HasPrefix(path, "/closed") || path == "/page/deep" {
			t.Errorf("excluded, and requested: %s", path)
		}
	}
}

// TestRobotsRedirectOutOfScope: rules that may not be requested forbid everything.
func TestRobotsRedirectOutOfScope(t *testing.T) {
	in, out := newFaultySite(t), outside(t)
	defer in.Close()
	in.robotsTo = out.URL + "/robots.txt"
	recs, _ := fetch(t, in.URL+"/page", loopback, within(t, "same-host "+host(in)))
	if rec := recs[in.URL+"/page"]; rec.Error != wire.ErrorRobots || !strings.Contains(rec.ErrorDetail, out.URL) {
		t.Errorf("%s: %s", rec.Error, rec.ErrorDetail)
	}
	if got := in.requests(); len(got) > 0 {
		t.Errorf("requested without rules: %q", got)
	}
}

// TestSeedsNeedNoIncludeRule fetches a seed, where it redirects to, and the sitemaps of its host,
// while links need a rule.
func TestSeedsNeedNoIncludeRule(t *testing.T) {
	in, out := newFaultySite(t), outside(t)
	defer in.Close()
	seed, link, away := in.URL+"/goto?to=/page", in.URL+"/goto?to=/page&link", in.URL+"/goto?to="+strings.Replace(out.URL, "127.0.0.1", "localhost", 1)+"/page"
	recs, _ := fetch(t, fmt.Sprintf(`{"v":1,"url":%q,"operator":"seed"}
{"v":1,"url":%q,"operator":"seed"}
{"v":1,"url":%q,"operator":"link"}`, seed, away, link), loopback, withSitemaps, within(t, "include "+host(in)+"/docs/*"))
	if rec := recs[seed]; rec.Error != "" || rec.FinalURL != in.URL+"/page" {
		t.Errorf("%+v", rec)
	}
	if rec := recs[link]; rec.Error != wire.ErrorOutOfScope {
		t.Errorf("a link: %s", rec.Error)
	}
	if rec := recs[away]; rec.Error != wire.ErrorScopeRedirect { // to another site
		t.Errorf("a redirect away: %s", rec.Error)
	}
	if !slices.Contains(in.requests(), "/sitemap.xml") {
		t.Errorf("no sitemap was requested: %q", in.requests())
	}
}
