// Package closedweb reads closed webs, and judges the records of crawls through them.
//
// A closed web is the pages of web archives, or of a graph file, the links between them,
// and the labels that people gave the pages. Links that leave the web do not exist.
// Package judge computes the measures; this package finds the page of each record and what
// it has cost.
package closedweb

import (
	"errors"
	"io"
	"strings"

	"spoor/internal/judge"
	"spoor/internal/wire"
)

// A Web is a closed web whose pages can be found by address.
type Web struct {
	*judge.Web
	Source string // where the links come from: "archive" or "graph file"

	find        func(address string) PageID
	followFinal bool     // an unknown address of a record may be found by its final_url
	labelled    []labels // of a graph file
}

// labels are the labels of a page.
type labels struct {
	page   int32
	labels []string
}

// Find returns the page at an address. If the web has no such page, the Page of the result
// is [judge.None], and its Key tells unknown pages apart.
func (w *Web) Find(address string) PageID { return w.find(address) }

// FindRecord returns the page that a record is about.
func (w *Web) FindRecord(rec *wire.Record) PageID {
	if rec.URL == "" {
		return PageID{Page: judge.None}
	}
	id := w.find(rec.URL)
	if id.Page == judge.None && w.followFinal && rec.FinalURL != "" {
		id = w.find(rec.FinalURL)
	}
	return id
}

// Seeds reads addresses or records, and returns the pages they are about, without
// duplicates, and how many are not in the web.
func (w *Web) Seeds(r *wire.Reader) (seeds []int32, unknown int, err error) {
	seen := map[int32]bool{}
	var rec wire.Record
	for {
		if err := r.Read(&rec); errors.Is(err, io.EOF) {
			return seeds, unknown, nil
		} else if err != nil {
			return nil, 0, err
		}
		if rec.URL == "" {
			continue // a query
		}
		if page := w.Find(rec.URL).Page; page == judge.None {
			unknown++
		} else if !seen[page] {
			seen[page] = true
			seeds = append(seeds, page)
		}
	}
}

// Numbers numbers names from 0, in the order in which they are first seen.
type Numbers map[string]int32

// Of returns the number of a name.
func (n Numbers) Of(name string) int32 {
	if i, ok := n[name]; ok {
		return i
	}
	i := int32(len(n))
	n[strings.Clone(name)] = i
	return i
}
