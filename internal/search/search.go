// Package search answers queries with addresses.
//
// There are three [Source]s: an [Index] of pages that somebody has, a [SearXNG]
// server, and a [Command] of the user's own; a [Cache] stands before the latter
// two. Where the pages of an index come from, and what is in them, is for its owner
// to say: he hands over documents.
package search

import (
	"context"

	"spoor/internal/weburl"
)

// A Source finds addresses for words.
type Source interface {
	// Search returns at most n addresses, the best first: http or https, canonical,
	// each once. Nothing found is no error. A *[SetupError] says that it would be
	// the same for every query.
	Search(ctx context.Context, query string, n int) ([]string, error)

	// Name tells the source from others, for a [Cache].
	Name() string
}

// A SetupError is one that no other query would fare better with: the source is not
// what it is taken for, or does not want us. It says what to do.
type SetupError struct{ Err error }

func (e *SetupError) Error() string { return e.Err.Error() }
func (e *SetupError) Unwrap() error { return e.Err }

// maxURL is the longest address in bytes that a source may give.
const maxURL = 8 << 10

// results collects addresses: canonical, each once, and no more than most.
type results struct {
	most int
	urls []string
	seen map[string]bool
}

func newResults(most int) *results { return &results{most: most, seen: map[string]bool{}} }

func (r *results) full() bool { return len(r.urls) >= r.most }

// add takes an address, if it is one, and tells whether it was new.
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
