package crawler

import (
	"spoor/internal/scope"
	"spoor/internal/weburl"
)

// registrableDomain returns the domain within which sitemaps may list each other's addresses.
func registrableDomain(u weburl.URL) string { return scope.Site(u) }
