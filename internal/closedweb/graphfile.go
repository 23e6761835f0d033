package closedweb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"spoor/internal/judge"
)

// FromGraphFile returns the web of a graph file, which is one JSON object:
//
//	{"out": {page: [page, …]}, "redirects": {name: name}, "labels": {page: [label, …]}}
//
// Pages have the names that [PageName] returns, and their links are in the order on the page. The
// members may come in any order; other members are ignored.
func FromGraphFile(r io.Reader) (*Web, error) {
	f, err := decodeGraph(r)
	if err != nil {
		return nil, fmt.Errorf("%w\nhint: a graph file is one JSON object with out, redirects and labels; see judge -help=all", err)
	}
	return f.web()
}

// A graphFile is the content of a graph file.
type graphFile struct {
	number    map[string]int32  // the number of every name
	names     []string          // the name of every number
	rows      []row             // the row of every number; the zero row for a name that is not a page
	targets   []int32           // the targets of all links
	redirects map[string]string // the target of each redirect
	labels    map[string][]string
}

// A row is the range of targets that are the links of a page.
type row struct {
	page       bool
	start, end int
}

func decodeGraph(r io.Reader) (*graphFile, error) {
	g := &graphFile{number: map[string]int32{}, redirects: map[string]string{}, labels: map[string][]string{}}
	dec := json.NewDecoder(r)
	err := members(dec, func(name string) error {
		switch name {
		case "out":
			return members(dec, func(page string) error { return g.readPage(dec, page) })
		case "redirects":
			return members(dec, func(from string) error {
				var to string
				err := dec.Decode(&to)
				g.redirects[from] = to
				return err
			})
		case "labels":
			return members(dec, func(page string) error {
				var labels []string
				err := dec.Decode(&labels)
				g.labels[page] = labels
				return err
			})
		}
		var other json.RawMessage
		return dec.Decode(&other)
	})
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case len(g.names) == 0:
		return nil, errors.New("no page in it")
	}
	return g, nil
}

// members calls f for each member of the next JSON object; f must read the value of the member.
func members(dec *json.Decoder, f func(name string) error) error {
	switch token, err := dec.Token(); {
	case err != nil:
		return err
	case token != json.Delim('{'):
		return fmt.Errorf("%v at byte %d where an object should begin", token, dec.InputOffset())
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		if err := f(name.(string)); err != nil { // the decoder accepts only strings here
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// readPage reads the links of a page.
func (g *graphFile) readPage(dec *json.Decoder, name string) error {
	var links []string
	if err := dec.Decode(&links); err != nil {
		return err
	}
	from, err := g.intern(name)
	if err != nil {
		return err
	}
	start := len(g.targets)
	for _, to := range links {
		n, err := g.intern(to)
		if err != nil {
			return err
		}
		g.targets = append(g.targets, n)
	}
	g.rows[from] = row{true, start, len(g.targets)}
	return nil
}

// intern returns the number of a name. A new name is added.
func (g *graphFile) intern(s string) (int32, error) {
	if n, ok := g.number[s]; ok {
		return n, nil
	}
	if len(g.names) == math.MaxInt32 {
		return 0, fmt.Errorf("more than %d names", math.MaxInt32)
	}
	n := int32(len(g.names))
	g.number[s] = n
	g.names = append(g.names, s)
	g.rows = append(g.rows, row{})
	return n, nil
}

// maxHops bounds the redirects of a graph file that are followed for one address.
const maxHops = 10

// resolve returns the name of the page that an address leads to, or a name that is not
// a page.
func (g *graphFile) resolve(address string) string {
	name := PageName(address)
	for range maxHops {
		to, ok := g.redirects[name]
		if n, known := g.number[name]; !ok || known && g.rows[n].page {
			break
		}
		name = to
	}
	return name
}

// web returns the web. It numbers the pages in the order of the file, and then, sorted, the names
// that have labels but no links: these are pages, too.
func (g *graphFile) web() (*Web, error) {
	number := make([]int32, len(g.names)) // the page of each name
	var pages []int32                     // the name of each page
	for i, r := range g.rows {
		number[i] = judge.None
		if r.page {
			number[i] = int32(len(pages))
			pages = append(pages, int32(i))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.labels)) {
		i, err := g.intern(name)
		if err != nil {
			return nil, err
		}
		if int(i) == len(number) {
			number = append(number, judge.None)
		}
		if number[i] == judge.None {
			number[i] = int32(len(pages))
			pages = append(pages, i)
		}
	}
	w := &Web{Web: new(judge.Web), Source: "graph file"}
	hosts := Numbers{}
	var links []int32
	for _, i := range pages {
		links = links[:0]
		for _, to := range g.targets[g.rows[i].start:g.rows[i].end] {
			if number[to] != judge.None {
				links = append(links, number[to])
			}
		}
		host, _, _ := strings.Cut(g.names[i], "/")
		w.Host[w.Add(links)] = hosts.Of(host)
	}
	w.find = func(address string) PageID {
		name := g.resolve(address)
		if i, ok := g.number[name]; ok && number[i] != judge.None {
			return PageID{Page: number[i]}
		}
		return PageID{Page: judge.None, Key: name}
	}
	for name, list := range g.labels {
		w.labelled = append(w.labelled, labels{number[g.number[name]], list})
	}
	return w, nil
}
