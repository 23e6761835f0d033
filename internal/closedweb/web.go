// Package closedweb reads closed webs, and judges the records of crawls through them.
//
// A closed web consists of the pages of web archives, or of a graph file, the links between
// them, and the labels that people gave the pages. Links that leave the web are ignored.
// Package judge computes the measures; this package finds the page and the cost of each
// record.
package closedweb

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"
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
	labelled    []labels // the labels in a graph file
}

// labels are the labels of a page.
type labels struct {
	page   int32
	labels []string
}

// Find returns the page at an address. If the web has no such page, the Page of the result
// is [judge.None], and its Key distinguishes unknown pages.
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

// Seeds are seeds of crawls of a web.
type Seeds struct {
	Pages   []int32 // without duplicates
	Unknown int     // number of addresses that are not in the web
	Digest  string  // 8 hexadecimal digits of the SHA-256 of the sorted addresses, one for each page
}

// ReadSeeds reads the addresses or records of seeds.
func (w *Web) ReadSeeds(r *wire.Reader) (*Seeds, error) {
	seeds, addresses := new(Seeds), map[int32]string{}
	var rec wire.Record
	for {
		if err := r.Read(&rec); errors.Is(err, io.EOF) {
			sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(maps.Values(addresses)), "\n")))
			seeds.Digest = hex.EncodeToString(sum[:4])
			return seeds, nil
		} else if err != nil {
			return nil, err
		}
		if rec.URL == "" {
			continue // a query
		}
		page := w.Find(rec.URL).Page
		if page == judge.None {
			seeds.Unknown++
			continue
		}
		before, seen := addresses[page]
		if !seen {
			seeds.Pages = append(seeds.Pages, page)
		}
		if !seen || rec.URL < before {
			addresses[page] = rec.URL
		}
	}
}

// Numbers assigns numbers to names, from 0 on, in the order in which it sees new names.
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
