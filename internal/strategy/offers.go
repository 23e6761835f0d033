package strategy

import "spoor/internal/graph"

// offers collects the addresses whose priority this generation raised. It keeps the last proposal
// of each address, in the order of the first proposals.
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

// take empties the offers and returns the offers that were not fetched in the meantime.
func (o *offers) take(m *memory) (next []Address) {
	for _, id := range o.order {
		if _, fetched := m.page(id); !fetched {
			next = append(next, o.last[id])
		}
	}
	*o = offers{}
	return next
}
