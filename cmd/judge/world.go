package main

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"spoor/internal/judge"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// A world is a closed web as judge needs it.
type world struct {
	graph string // "archive" or "graph file": where its links come from
	web   *judge.Web
	marks *marks

	find func(address string) identity
	ends bool // where redirects ended counts too, when an address is unknown
}

// page is the page that a record is about.
func (w *world) page(rec *wire.Record) identity {
	id := w.find(rec.URL)
	if id.page == none && w.ends && rec.FinalURL != "" {
		id = w.find(rec.FinalURL)
	}
	return id
}

// openWorld reads the web and its labels.
func (o *options) openWorld(log *slog.Logger) (w *world, err error) {
	if o.graph != "" {
		w, err = o.fromFile()
	} else {
		w, err = o.fromArchives(log)
	}
	if err != nil {
		return nil, err
	}
	if o.labels != "" {
		w.marks = newMarks(o.label, w.web.Len())
		if err := labelsOf(o.labels, w.marks, func(address string) int32 { return w.find(address).page }, log); err != nil {
			return nil, err
		}
	}
	if err := w.marks.check(); err != nil {
		return nil, err
	}
	for page, m := range w.marks.of {
		w.web.Relevant[page] = m == relevant
	}
	return w, nil
}

// fromFile reads the web from a graph file, with the labels in it.
func (o *options) fromFile() (*world, error) {
	d, err := readGraph(o.graph)
	if err != nil {
		return nil, fmt.Errorf("-graph: %w", err)
	}
	// Pages are numbered as they stand in the file; what is labelled and has no links
	// is a page that no link leads to.
	number := make([]int32, len(d.names))
	var pages []int32
	for i, r := range d.rows {
		number[i] = none
		if r.page {
			number[i] = int32(len(pages))
			pages = append(pages, int32(i))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.labels)) {
		i, err := d.name(name)
		if err != nil {
			return nil, fmt.Errorf("-graph: %s: %w", o.graph, err)
		}
		if int(i) == len(number) {
			number = append(number, none)
		}
		if number[i] == none {
			number[i] = int32(len(pages))
			pages = append(pages, i)
		}
	}
	w := &world{graph: "graph file", web: new(judge.Web)}
	hosts := numbers{}
	var links []int32
	for _, i := range pages {
		links = links[:0]
		for _, to := range d.targets[d.rows[i].start:d.rows[i].end] {
			if number[to] != none {
				links = append(links, number[to])
			}
		}
		host, _, _ := strings.Cut(d.names[i], "/")
		w.web.Host[w.web.Add(links)] = hosts.of(host)
	}
	w.find = func(address string) identity {
		name := d.resolve(address)
		if i, ok := d.number[name]; ok && number[i] != none {
			return identity{page: number[i]}
		}
		return identity{none, name}
	}
	w.marks = newMarks(o.label, w.web.Len())
	for name, labels := range d.labels {
		w.marks.add(number[d.number[name]], labels)
	}
	return w, nil
}

// fromArchives reads the web from the archives, or what is kept of it.
func (o *options) fromArchives(log *slog.Logger) (*world, error) {
	g, err := o.readArchives(log)
	if err != nil {
		return nil, err
	}
	w := &world{graph: "archive", web: new(judge.Web), ends: true}
	hosts := numbers{}
	for i := range g.pages.len() {
		w.web.Host[w.web.Add(g.row(i))] = hosts.of(weburl.Host(g.pages.at(i)))
	}
	w.find = func(address string) identity {
		url, err := weburl.Canonical(address)
		if err != nil {
			return identity{none, address}
		}
		if page, ok := g.find(url); ok {
			return identity{page: page}
		}
		return identity{none, url}
	}
	return w, nil
}

// numbers gives numbers to names.
type numbers map[string]int32

func (n numbers) of(name string) int32 {
	if i, ok := n[name]; ok {
		return i
	}
	i := int32(len(n))
	n[strings.Clone(name)] = i
	return i
}
