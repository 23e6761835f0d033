package strategy

import (
	"slices"

	"spoor/internal/graph"
)

// A column holds a number for every address, 0 until it is set. Its changes are saved.
type column struct {
	values  []float64 // by graph.ID
	changed []graph.ID
}

func (c *column) at(id graph.ID) float64 {
	if int(id) < len(c.values) {
		return c.values[id]
	}
	return 0
}

func (c *column) set(id graph.ID, x float64) {
	if x == c.at(id) {
		return
	}
	c.values = grown(c.values, int(id)+1)
	c.values[id] = x
	c.changed = append(c.changed, id)
}

func (c *column) raise(id graph.ID, x float64) { c.set(id, max(x, c.at(id))) }

func (c *column) code(d *codec) {
	slices.Sort(c.changed)
	each(d, slices.Compact(c.changed), func(id *graph.ID) {
		d.id(id)
		c.values = grown(c.values, int(*id)+1)
		d.float(&c.values[*id])
	})
	c.changed = c.changed[:0]
}

// grown returns s extended with zeros to length n, if it is shorter.
func grown[T any](s []T, n int) []T { return append(s, make([]T, max(0, n-len(s)))...) }
