package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"spoor/cmd/internal/filter"
)

// A drawn is a web as a graph file draws it:
//
//	{"out": {page: [page, …]}, "redirects": {name: name}, "labels": {page: [label, …]}}
//
// Pages are named as [canon] names them, and have their links in the order in which
// these stand on the page. The members may come in any order, others are passed over.
type drawn struct {
	number    map[string]int32  // of everything that is named
	names     []string          // by number
	rows      []row             // by number; of what is no page the zero row
	targets   []int32           // of all links
	redirects map[string]string // names that are no pages
	labels    map[string][]string
}

// A row is where the links of a page are among all targets.
type row struct {
	page       bool
	start, end int
}

// readGraph reads a graph file, packed or not.
func readGraph(name string) (*drawn, error) {
	f, err := filter.Open(nil, []string{name})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := decodeGraph(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w\nhint: a graph file is one JSON object with out, redirects and labels; judge -h tells more", name, err)
	}
	return d, nil
}

func decodeGraph(r io.Reader) (*drawn, error) {
	d := &drawn{number: map[string]int32{}, redirects: map[string]string{}, labels: map[string][]string{}}
	dec := json.NewDecoder(r)
	err := members(dec, func(name string) error {
		switch name {
		case "out":
			return members(dec, func(page string) error { return d.page(dec, page) })
		case "redirects":
			return members(dec, func(from string) error {
				var to string
				err := dec.Decode(&to)
				d.redirects[from] = to
				return err
			})
		case "labels":
			return members(dec, func(page string) error {
				var labels []string
				err := dec.Decode(&labels)
				d.labels[page] = labels
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
	case len(d.names) == 0:
		return nil, errors.New("no page in it")
	}
	return d, nil
}

// members calls f for each member of the object that comes next, to read its value.
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
		if err := f(name.(string)); err != nil { // the decoder takes nothing else for a name
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// page reads the links of a page.
func (d *drawn) page(dec *json.Decoder, name string) error {
	var links []string
	if err := dec.Decode(&links); err != nil {
		return err
	}
	from, err := d.name(name)
	if err != nil {
		return err
	}
	start := len(d.targets)
	for _, to := range links {
		n, err := d.name(to)
		if err != nil {
			return err
		}
		d.targets = append(d.targets, n)
	}
	d.rows[from] = row{true, start, len(d.targets)}
	return nil
}

// name is the number of a name.
func (d *drawn) name(s string) (int32, error) {
	if n, ok := d.number[s]; ok {
		return n, nil
	}
	if len(d.names) == math.MaxInt32 {
		return 0, fmt.Errorf("more than %d names", math.MaxInt32)
	}
	n := int32(len(d.names))
	d.number[s] = n
	d.names = append(d.names, s)
	d.rows = append(d.rows, row{})
	return n, nil
}

// maxHops is how many redirects of a graph file are followed for one address.
const maxHops = 10

// resolve is the name of the page that an address leads to, or of nothing that is
// known.
func (d *drawn) resolve(address string) string {
	name := canon(address)
	for range maxHops {
		to, ok := d.redirects[name]
		if n, known := d.number[name]; !ok || known && d.rows[n].page {
			break
		}
		name = to
	}
	return name
}
