package strategy

import (
	"encoding/binary"
	"math"
	"slices"

	"spoor/internal/graph"
)

// A reader decodes a delta. After an error all its methods return zero values.
type reader struct {
	b   []byte
	bad bool
}

// end returns an error unless everything was read without errors.
func (r *reader) end() error {
	if r.bad || len(r.b) > 0 {
		return errCorrupt
	}
	return nil
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) float() float64 {
	if len(r.b) < 8 {
		r.b, r.bad = nil, true
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(r.b))
	r.b = r.b[8:]
	return v
}

// uint32 reads four bytes.
func (r *reader) uint32() uint32 {
	if len(r.b) < 4 {
		r.b, r.bad = nil, true
		return 0
	}
	v := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v
}

// rounded returns x rounded to 24 bits. The last bits of exponentials and logarithms differ
// between machines.
func rounded(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	return math.Ldexp(float64(float32(fraction)), exponent)
}

// finite reads a number and rejects NaN, infinities and huge values.
func (r *reader) finite() float64 {
	x := r.float()
	if !(math.Abs(x) < 1e12) {
		r.bad = true
		return 0
	}
	return x
}

func appendFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

// appendText appends a string preceded by its length.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// text reads what appendText wrote.
func (r *reader) text() string {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
	}
	if r.bad {
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// appendStrings appends strings preceded by their number.
func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

// strings reads what appendStrings wrote.
func (r *reader) strings() (list []string) {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		list = append(list, r.text())
	}
	return list
}

// A part is state of a strategy that is saved as its changes.
type part interface {
	appendDelta(b []byte) []byte
	replay(m *memory, r *reader)
}

func appendParts(b []byte, parts []part) []byte {
	for _, p := range parts {
		b = p.appendDelta(b)
	}
	return b
}

// parts restores the parts of m, which must be all that is left to read.
func (r *reader) parts(m *memory) error {
	for _, p := range m.parts {
		p.replay(m, r)
	}
	return r.end()
}

// A counter is an integer saved in full.
type counter int

func (c *counter) appendDelta(b []byte) []byte { return binary.AppendUvarint(b, uint64(*c)) }
func (c *counter) replay(_ *memory, r *reader) { *c = counter(r.uvarint()) }

// A number is a float saved in full.
type number float64

func (n *number) appendDelta(b []byte) []byte { return appendFloat(b, float64(*n)) }
func (n *number) replay(_ *memory, r *reader) { *n = number(r.float()) }

// A flag is a boolean saved in full.
type flag bool

func (f *flag) appendDelta(b []byte) []byte {
	if *f {
		return append(b, 1)
	}
	return append(b, 0)
}

func (f *flag) replay(_ *memory, r *reader) { *f = r.byte() == 1 }

// A queryLog holds the queries emitted so far, so that none is emitted twice.
type queryLog struct {
	queries []string
	saved   int // how many of them are in a delta
}

func (l *queryLog) has(query string) bool { return slices.Contains(l.queries, query) }
func (l *queryLog) add(query string)      { l.queries = append(l.queries, query) }

func (l *queryLog) appendDelta(b []byte) []byte {
	b = appendStrings(b, l.queries[l.saved:])
	l.saved = len(l.queries)
	return b
}

func (l *queryLog) replay(_ *memory, r *reader) {
	l.queries = append(l.queries, r.strings()...)
	l.saved = len(l.queries)
}

// A list is a list of addresses that is saved as the length of the unchanged prefix and what
// follows it.
type list struct {
	ids   []graph.ID
	saved []graph.ID
}

func (l *list) appendDelta(b []byte) []byte {
	keep := 0
	for keep < min(len(l.ids), len(l.saved)) && l.ids[keep] == l.saved[keep] {
		keep++
	}
	b = binary.AppendUvarint(b, uint64(keep))
	b = binary.AppendUvarint(b, uint64(len(l.ids)-keep))
	for _, id := range l.ids[keep:] {
		b = binary.AppendUvarint(b, uint64(id))
	}
	l.saved = append(l.saved[:keep], l.ids[keep:]...)
	return b
}

func (l *list) replay(m *memory, r *reader) {
	keep := r.uvarint()
	if keep > uint64(len(l.ids)) {
		r.bad = true
		return
	}
	l.ids, l.saved = l.ids[:keep], l.saved[:keep]
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		id := m.node(r)
		l.ids, l.saved = append(l.ids, id), append(l.saved, id)
	}
}
