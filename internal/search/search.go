// Package search answers queries with addresses, and an index also with what it has of each page.
//
// There are three kinds of [Source]: an [Index] of pages, a [SearXNG] server, and a
// [Command] of the user. A [Cache] can store the answers of the latter two. Package
// pageindex fills an index from archives.
package search

import (
	"context"

	"spoor/internal/weburl"
)

// A Source finds addresses for queries.
type Source interface {
	// Search returns at most n addresses, the best first: http or https, canonical,
	// without duplicates. If there are none, it returns no error. A *[SetupError] means that
	// every query would fail.
	Search(ctx context.Context, query string, n int) ([]string, error)

	// Name identifies the source in a [Cache].
	Name() string
}

// A SetupError means that every query would fail: the source does not work as it should, or
// refuses requests. Its message says what to do.
type SetupError struct{ Err error }

func (e *SetupError) Error() string { return e.Err.Error() }
func (e *SetupError) Unwrap() error { return e.Err }

// maxURL is the maximum length of an address in bytes.
const maxURL = 8 << 10

// results collects canonical addresses without duplicates, up to a limit.
type results struct {
	limit int
	urls  []string
	seen  map[string]bool
}

func newResults(limit int) *results { return &results{limit: limit, seen: map[string]bool{}} }

func (r *results) full() bool { return len(r.urls) >= r.limit }

// add adds an address if it is valid, and reports whether it was new.
func (r *results) add(address string) bool {
	if r.full() || len(address) > maxURL {
		return false
	}
	url, err := weburl.Canonical(address)
	if err != nil || r.seen[url] {
		return false
	}
	r.seen[url] = true
	r.urls = append(r.urls, url)
	return true
}
