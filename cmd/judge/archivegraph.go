package main

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"spoor/internal/archive"
	"spoor/internal/page"
	"spoor/internal/weburl"
)

// A linked is the web that archives hold: the pages that fetch -archive answers with,
// and the links that parse finds on them. Links and addresses that the archives do not
// answer, or only with redirects that lead nowhere, do not exist.
type linked struct {
	pages   list    // their addresses: where redirects end
	aliases list    // addresses that redirect to a page
	targets []int32 // by alias: the page
	ends    []int   // by page: where its links end in links
	links   []int32 // pages, in the order of the links on the page; each once, and never itself
}

// A list is addresses in order, no two alike.
type list struct {
	text string
	ends []int // by address: where it ends in text
}

func (l *list) len() int { return len(l.ends) }

func (l *list) at(i int) string {
	start := 0
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.text[start:l.ends[i]]
}

// find is the place of an address.
func (l *list) find(address string) (int, bool) {
	return sort.Find(l.len(), func(i int) int { return strings.Compare(address, l.at(i)) })
}

// newList is the list of addresses that are in order.
func newList(sorted []string) list {
	l := list{text: strings.Join(sorted, ""), ends: make([]int, len(sorted))}
	end := 0
	for i, s := range sorted {
		end += len(s)
		l.ends[i] = end
	}
	return l
}

// find is the number of the page that answers for an address.
func (g *linked) find(address string) (int32, bool) {
	if i, ok := g.pages.find(address); ok {
		return int32(i), true
	}
	if i, ok := g.aliases.find(address); ok {
		return g.targets[i], true
	}
	return 0, false
}

// row is the links of a page.
func (g *linked) row(page int) []int32 {
	start := 0
	if page > 0 {
		start = g.ends[page-1]
	}
	return g.links[start:g.ends[page]]
}

// An answer is what the archives have for an address: a page with links, or the
// address of a page elsewhere, or nothing. Addresses are numbers.
type answer struct {
	page  int32 // itself, another, or none
	links []int32
}

const none int32 = -1

// readLinks reads the pages of archives, with so many workers at a time.
func readLinks(archives []string, replay *archive.Replay, workers int) (*linked, error) {
	addresses, err := addressesOf(archives)
	if err != nil {
		return nil, err
	}
	number := make(map[string]int32, len(addresses))
	for i, a := range addresses {
		number[a] = int32(i)
	}
	answers := make([]answer, len(addresses))
	var next atomic.Int64
	var group sync.WaitGroup
	for range max(1, workers) {
		group.Go(func() {
			r := reader{replay, number, page.NewExtractor()}
			for i := next.Add(1) - 1; int(i) < len(addresses); i = next.Add(1) - 1 {
				answers[i] = r.read(addresses[i])
			}
		})
	}
	group.Wait()
	return gather(addresses, answers), nil
}

// addressesOf is the addresses of all captures of archives, in order. What is wrong
// with an archive was told when it was indexed.
func addressesOf(archives []string) ([]string, error) {
	seen := map[string]bool{}
	for volume, err := range archive.Volumes(archives, nil) {
		if _, fault := errors.AsType[*archive.FormatError](err); fault {
			continue
		} else if err != nil {
			return nil, err
		}
		for record, err := range volume.Records() {
			if _, fault := errors.AsType[*archive.FormatError](err); fault {
				continue
			} else if err != nil {
				return nil, err
			}
			switch record.Type() {
			case "response", "resource", "revisit":
				if url, err := weburl.Canonical(record.TargetURI()); err == nil && !seen[url] {
					seen[strings.Clone(url)] = true
				}
			}
		}
	}
	addresses := make([]string, 0, len(seen))
	for url := range seen {
		addresses = append(addresses, url)
	}
	slices.Sort(addresses)
	return addresses, nil
}

// A reader is one worker.
type reader struct {
	replay    *archive.Replay
	number    map[string]int32
	extractor *page.Extractor
}

// read reads what the archives have for an address.
func (r *reader) read(address string) answer {
	p, err := r.replay.Fetch(address)
	if p == nil || p.Response == nil {
		return answer{page: none}
	}
	at, ok := r.number[p.URL]
	if !ok {
		return answer{page: none}
	}
	a := answer{page: at}
	if p.URL != address || err != nil && max(len(p.Body), len(p.Raw)) < archive.DefaultBody {
		return a // an alias; or, as for fetch, a body that is none
	}
	sent := p.Header.Get("Content-Type")
	content := r.extractor.Extract(page.Document{
		URL:         p.URL,
		ContentType: cmp.Or(p.ContentType(), sent),
		Charset:     archive.Charset(sent),
		Body:        p.Body,
	})
	for i := range content.Links {
		if to, ok := r.number[content.Links[i].URL]; ok {
			a.links = append(a.links, to)
		}
	}
	return a
}

// gather numbers the pages among the addresses, and has links lead to them.
func gather(addresses []string, answers []answer) *linked {
	var pages, aliases []string
	number := make([]int32, len(addresses)) // by address: the page
	for i, a := range answers {
		number[i] = none
		if int(a.page) == i {
			number[i] = int32(len(pages))
			pages = append(pages, addresses[i])
		}
	}
	g := &linked{pages: newList(pages)}
	for i, a := range answers {
		if a.page != none && int(a.page) != i {
			if number[i] = number[a.page]; number[i] != none {
				aliases = append(aliases, addresses[i])
				g.targets = append(g.targets, number[i])
			}
		}
	}
	g.aliases = newList(aliases)
	met := make([]int32, len(pages)) // by page: the last page that links to it, plus one
	for i, a := range answers {
		if int(a.page) != i {
			continue
		}
		from := number[i]
		met[from] = from + 1
		for _, l := range a.links {
			if to := number[l]; to != none && met[to] != from+1 {
				met[to] = from + 1
				g.links = append(g.links, to)
			}
		}
		g.ends = append(g.ends, len(g.links))
	}
	return g
}

// attrs describe the web for the log.
func (g *linked) attrs() []any {
	return []any{slog.Int("pages", g.pages.len()), slog.Int("redirects", g.aliases.len()), slog.Int("links", len(g.links))}
}
