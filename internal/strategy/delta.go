package strategy

import (
	"encoding/binary"
	"math"
	"slices"

	"spoor/internal/graph"
)

// A codec encodes or decodes a delta. Its methods append their argument to the delta, or set it to
// the next value in the delta, so that one function describes both directions. After an error, all
// decoded values are zero.
type codec struct {
	b       []byte // the bytes written, or the bytes still to read
	reading bool
	bad     bool
	web     *graph.Graph // the graph to which the IDs in a delta refer
}

// A part is a part of a strategy's state whose changes are saved: code encodes the changes since the
// last delta, or decodes and applies them.
type part interface{ code(c *codec) }

// check marks the delta as damaged if a delta is being read and ok is false. It reports whether a
// delta is being read and was valid so far.
func (c *codec) check(ok bool) (restoring bool) {
	if c.reading && !ok {
		c.b, c.bad = nil, true
	}
	return c.reading && !c.bad
}

// next returns the next n bytes to read, or zeros if there are fewer.
func (c *codec) next(n int) []byte {
	if !c.check(n <= len(c.b)) {
		return make([]byte, n)
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *codec) byte(p *byte) {
	if c.reading {
		*p = c.next(1)[0]
	} else {
		c.b = append(c.b, *p)
	}
}

func (c *codec) bool(p *bool) {
	var b byte
	if *p {
		b = 1
	}
	c.byte(&b)
	c.check(b <= 1)
	*p = b == 1
}

func (c *codec) uint32(p *uint32) {
	if c.reading {
		*p = binary.LittleEndian.Uint32(c.next(4))
	} else {
		c.b = binary.LittleEndian.AppendUint32(c.b, *p)
	}
}

func (c *codec) uint64(p *uint64) {
	if c.reading {
		*p = binary.LittleEndian.Uint64(c.next(8))
	} else {
		c.b = binary.LittleEndian.AppendUint64(c.b, *p)
	}
}

func (c *codec) float(p *float64) {
	if c.reading {
		*p = math.Float64frombits(binary.LittleEndian.Uint64(c.next(8)))
	} else {
		c.b = binary.LittleEndian.AppendUint64(c.b, math.Float64bits(*p))
	}
}

// finite is like float, but rejects NaN, infinities and huge values.
func (c *codec) finite(p *float64) {
	c.float(p)
	if c.check(math.Abs(*p) < 1e12); c.bad {
		*p = 0
	}
}

// integer writes or reads a number as a varint.
func integer[T ~int | ~int32 | ~uint16 | ~uint32 | ~uint64](c *codec, p *T) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, uint64(*p))
		return
	}
	v, n := binary.Uvarint(c.b)
	if *p = T(v); c.check(n > 0 && uint64(*p) == v) {
		c.b = c.b[n:]
	} else {
		*p = 0
	}
}

// index is like integer, for numbers below n.
func (c *codec) index(p *int, n int) {
	integer(c, p)
	if c.check(0 <= *p && *p < n); c.bad {
		*p = 0
	}
}

// id is like integer, for addresses of the graph.
func (c *codec) id(p *graph.ID) {
	integer(c, p)
	if c.check(int(*p) < c.web.Len()); c.bad {
		*p = 0
	}
}

// text writes or reads a string, preceded by its length.
func (c *codec) text(p *string) {
	n := len(*p)
	integer(c, &n)
	if !c.reading {
		c.b = append(c.b, *p...)
	} else if *p = ""; c.check(0 <= n && n <= len(c.b)) {
		*p = string(c.next(n))
	}
}

// bits writes or reads n bits, eight to a byte, the lowest bit first.
func (c *codec) bits(p *[]bool, n int) {
	if c.reading {
		*p = make([]bool, min(n, 8*len(c.b)))
		c.check(len(*p) == n)
	}
	for group := range slices.Chunk(*p, 8) {
		var b byte
		for i, bit := range group {
			if bit {
				b |= 1 << i
			}
		}
		c.byte(&b)
		for i := range group {
			group[i] = b>>i&1 == 1
		}
	}
}

// each writes items, preceded by their number, or reads items into items[:0]. It calls item for each
// item; item must write or read at least one byte.
func each[T any](c *codec, items []T, item func(*T)) []T {
	n := len(items)
	integer(c, &n)
	if !c.reading {
		for i := range items {
			item(&items[i])
		}
		return items
	}
	c.check(0 <= n && n <= len(c.b))
	items = items[:0]
	for ; n > 0 && !c.bad; n-- {
		items = append(items, *new(T))
		item(&items[len(items)-1])
	}
	return items
}

// graph writes or reads the data added to g since saved, and updates saved.
func (c *codec) graph(g *graph.Graph, saved *graph.Mark) {
	if !c.reading {
		c.b = g.AppendSince(c.b, *saved)
	} else if rest, err := g.Replay(c.b); c.check(err == nil) {
		c.b = rest
	}
	*saved = g.Mark()
}

// rounded returns x rounded to 24 bits. The last bits of exponentials and logarithms differ
// between machines.
func rounded(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	return math.Ldexp(float64(float32(fraction)), exponent)
}

// A counter is an integer saved in full.
type counter int

func (n *counter) code(c *codec) { integer(c, n) }

// A list is a list of addresses that is saved as the length of the unchanged prefix and the addresses
// after this prefix.
type list struct {
	ids   []graph.ID
	saved []graph.ID
}

func (l *list) code(c *codec) {
	keep := 0
	for keep < min(len(l.ids), len(l.saved)) && l.ids[keep] == l.saved[keep] {
		keep++
	}
	c.index(&keep, len(l.saved)+1)
	l.ids = append(l.ids[:keep], each(c, l.ids[keep:], c.id)...)
	l.saved = append(l.saved[:keep], l.ids[keep:]...)
}
