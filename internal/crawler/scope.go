package crawler

import (
	"fmt"

	"spoor/internal/archive"
	"spoor/internal/scope"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// A scopeError is returned for an address that does not belong to the crawl.
type scopeError struct {
	url    weburl.URL
	reason scope.Reason
	rule   string
}

func (e *scopeError) Error() string { return e.rule }

// checkScope returns an error if u does not belong to the crawl. u is the address of rec or, if
// redirected is true, an address to which it redirects.
//
// No include rule is necessary for a seed, for addresses of its site to which it redirects, and
// for a sitemap on the host that lists it.
func (o *Options) checkScope(rec *wire.Record, u weburl.URL, redirected bool) *scopeError {
	if o.Scope == nil {
		return nil
	}
	role := scope.Link
	switch rec.Operator {
	case "seed":
		role = scope.Seed
		if redirected {
			role = scope.Link
			if seed, err := weburl.Parse(rec.URL); err == nil && scope.Site(seed) == scope.Site(u) {
				role = scope.Auxiliary
			}
		}
	case sitemapOperator:
		if via, err := weburl.Parse(rec.Via); err == nil && via.Host() == u.Host() {
			role = scope.Auxiliary
		}
	}
	reason, rule := o.Scope.Decide(u, rec.Depth, role)
	if reason == scope.InScope {
		return nil
	}
	return &scopeError{u, reason, rule}
}

// failScope records that the address of rec, or an address to which it redirects through hops, was
// not requested because it does not belong to the crawl.
func failScope(rec *wire.Record, hops []archive.Hop, e *scopeError) {
	if len(hops) == 0 {
		fail(rec, string(e.reason), e)
		return
	}
	last := len(hops) - 1
	setRedirects(rec, hops[last].URL, hops) // the target was not requested, and so has no outcome
	fail(rec, wire.ErrorScopeRedirect, fmt.Errorf("a redirect to %s: %s", truncate(e.url.String(), 200), e.rule))
}

// checkArchived replaces the outcome of rec, which comes from an archive, by a failure if the
// archived redirects leave the scope.
func (o *Options) checkArchived(rec *wire.Record) {
	if o.Scope == nil || rec.FinalURL == "" {
		return
	}
	hops := make([]archive.Hop, 0, len(rec.Redirects))
	for _, r := range rec.Redirects {
		hops = append(hops, archive.Hop{URL: r.URL, StatusCode: r.StatusCode})
	}
	targets := append(hops, archive.Hop{URL: rec.FinalURL})
	for i := 1; i < len(targets); i++ {
		u, err := weburl.Parse(targets[i].URL)
		if err != nil {
			return // rec has another error then
		}
		if e := o.checkScope(rec, u, true); e != nil {
			reset(rec)
			failScope(rec, hops[:i], e)
			return
		}
	}
}

// checkRobotsRedirect returns an error if the robots.txt of origin redirects to an address of another
// host that is out of scope.
func (o *Options) checkRobotsRedirect(origin, to weburl.URL) error {
	if o.Scope == nil || origin.Host() == to.Host() {
		return nil
	}
	if reason, rule := o.Scope.Decide(to, 0, scope.Link); reason != scope.InScope {
		return &scopeError{to, reason, rule}
	}
	return nil
}
