package evolve

import (
	"fmt"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/scope"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// maxOutside is the maximum number of addresses out of scope that a generation lists.
const maxOutside = 100_000

// operatorOutside is the operator of addresses that are out of scope.
const operatorOutside = "outside"

// outside removes links that are out of scope before the strategy sees them: a strategy that
// proposes only as many addresses as a generation fetches would otherwise spend its proposals on
// them, and the crawl would end early. The addresses are listed for the frontier, which
// excludes them.
type outside struct {
	scope *scope.Scope // nil: all links are in scope
	found []wire.Record
	seen  map[string]bool // URLs of found
}

// readScope reads a scope file that names its hosts and sites.
func readScope(name string) (*scope.Scope, error) {
	lines, err := filter.ReadScope(name, scope.Check)
	if err != nil {
		return nil, err
	}
	s, err := scope.Parse(lines)
	if err == nil && s.NeedsSeeds() {
		err = fmt.Errorf("%s: same-host and same-site without a name: evolve does not know the seeds\nhint: same-host example.org", name)
	}
	return s, err
}

// remove removes the links of a page that are out of scope.
func (o *outside) remove(rec *wire.Record) {
	if o.scope == nil {
		return
	}
	kept := rec.Links[:0]
	for _, link := range rec.Links {
		u, err := weburl.Parse(link.URL)
		if err == nil {
			if reason, _ := o.scope.Decide(u, rec.Depth+1, scope.Link); reason != scope.InScope {
				o.add(rec, u)
				continue
			}
		}
		kept = append(kept, link)
	}
	clear(rec.Links[len(kept):])
	rec.Links = kept
}

// add lists an address that rec links to.
func (o *outside) add(rec *wire.Record, u weburl.URL) {
	if o.seen[u.String()] || len(o.found) == maxOutside {
		return
	}
	url := strings.Clone(u.String())
	if o.seen == nil {
		o.seen = map[string]bool{}
	}
	o.seen[url] = true
	o.found = append(o.found, wire.Record{V: wire.Version, URL: url, Via: strings.Clone(rec.URL), Depth: rec.Depth + 1, Operator: operatorOutside})
}

// write writes the listed addresses as those of a generation, and forgets them.
func (o *outside) write(w *wire.Writer, generation int, tally *filter.Tally) error {
	for i := range o.found {
		o.found[i].Generation = generation
		if err := w.Write(&o.found[i]); err != nil {
			return fmt.Errorf("writing records: %w", err)
		}
		tally.Out++
	}
	o.found, o.seen = nil, nil
	return nil
}
