package strategy

import (
	"encoding/binary"
	"iter"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

func classicKinds() []Kind {
	return []Kind{
		{"fish", "De Bra and Post 1994",
			"a list in which links of relevant pages go to the front", Stages{}, newFish},
		{"gcrawler", "Shokouhi, Chubak and Raeesy 2005",
			"best-first by the keywords that a genetic algorithm picks from a growing table",
			Stages{Fitness: "weighttable-tf", Learn: "table", Expand: "tunnel"}, newGcrawler},
		{"infospiders", "Menczer and Belew 2000; Menczer, Pant and Srinivasan 2004",
			"spiders that learn which links pay, multiply and die", Stages{}, newInfoSpiders},
		{"qinchen", "Qin and Chen 2005",
			"a genetic algorithm over pages, with searches for the lexicon's words", Stages{Search: true}, newQinChen},
		{"shark", "Hersovici et al. 1998",
			"links inherit from their ancestors and are read with their neighbourhood", Stages{Fitness: "vsm"}, newShark},
	}
}

// arrive learns the outcome rec. ok is true if it is a page that was not known
// and could be fetched, which stands at place.
func (m *memory) arrive(rec *wire.Record) (place int, ok bool) {
	known := len(m.pages)
	place, ok = m.visit(rec)
	return place, ok && place >= known && !m.pages[place].failed
}

// follow are the links of rec, the page at place, that lead elsewhere and can be
// answered, in their order on the page, where an address may stand twice.
func (m *memory) follow(rec *wire.Record, place int) iter.Seq2[graph.ID, *wire.Link] {
	return func(yield func(graph.ID, *wire.Link) bool) {
		p := m.pages[place]
		for i := range rec.Links {
			link := &rec.Links[i]
			id, known := m.web.Find(link.URL)
			if !known || link.Archived == wire.False || id == p.node || id == p.final {
				continue
			}
			if !yield(id, link) {
				return
			}
		}
	}
}

// offers are the addresses that a generation has made worth more, each as it was
// offered last, in the order of the first time.
type offers struct {
	order []graph.ID
	last  map[graph.ID]Address
}

func (o *offers) put(id graph.ID, a Address) {
	if o.last == nil {
		o.last = map[graph.ID]Address{}
	}
	if !o.has(id) {
		o.order = append(o.order, id)
	}
	o.last[id] = a
}

func (o *offers) has(id graph.ID) bool {
	_, offered := o.last[id]
	return offered
}

// take empties the offers and returns those that were not fetched meanwhile.
func (o *offers) take(m *memory) (next []Address) {
	for _, id := range o.order {
		if _, fetched := m.page(id); !fetched {
			next = append(next, o.last[id])
		}
	}
	*o = offers{}
	return next
}

// appendStrings appends a number of strings, each with its length before it.
func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// strings reads what appendStrings wrote.
func (r *reader) strings() (list []string) {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		size := r.uvarint()
		if size > uint64(len(r.b)) {
			r.b, r.bad = nil, true
			return nil
		}
		list = append(list, string(r.b[:size]))
		r.b = r.b[size:]
	}
	return list
}
