package archive

import (
	"bytes"
	"compress/flate"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// A blockWriter writes one deflate block symbol by symbol.
type blockWriter struct {
	data      []byte
	n         int // bits of it
	lit, dist []uint8
}

// put writes n bits, the lowest first.
func (p *blockWriter) put(v uint, n int) {
	for i := range n {
		if p.n%8 == 0 {
			p.data = append(p.data, 0)
		}
		p.data[p.n/8] |= byte(v>>i&1) << (p.n % 8)
		p.n++
	}
}

// code writes the code of symbol (RFC 1951, section 3.2.2).
func (p *blockWriter) code(lengths []uint8, symbol int) {
	c, size := uint(0), lengths[symbol]
	for i, n := range lengths {
		if n > 0 && (n < size || n == size && i < symbol) {
			c += 1 << (size - n)
		}
	}
	for i := range size {
		p.put(c>>(size-1-i), 1)
	}
}

// number writes the symbol of a length or distance, and its extra bits.
func (p *blockWriter) number(lengths []uint8, entries []tableEntry, first, v int) {
	i := first
	for j := first; j < min(len(lengths), len(entries)); j++ {
		if lengths[j] > 0 && entries[j]&isInvalid == 0 && int(entries[j]>>16) <= v {
			i = j
		}
	}
	p.code(lengths, i)
	p.put(uint(v)-uint(entries[i]>>16), int(entries[i]&0xff))
}

func (p *blockWriter) literal(c byte) { p.code(p.lit, int(c)) }

func (p *blockWriter) match(length, distance int) {
	p.number(p.lit, litEntries, 257, length)
	p.number(p.dist, distEntries, 0, distance)
}

// end ends the block and returns it.
func (p *blockWriter) end() []byte {
	p.code(p.lit, 256)
	return p.data
}

// fixedCodes begins a block with the codes of section 3.2.6; last is 1 for the last block.
func fixedCodes(last uint) *blockWriter {
	p := &blockWriter{lit: fixedLengths[:288], dist: fixedLengths[288:]}
	p.put(last|1<<1, 3)
	return p
}

// longCodes begins a block with codes of 1 to 15 bits: the literals 0 to 10 have 1 to 11 bits,
// the lengths 3, 11, 12 and 195 to 257 up to 15; there are distances up to 128 and from 16385
// on.
func longCodes() *blockWriter {
	p := &blockWriter{lit: make([]uint8, 286), dist: make([]uint8, 30)}
	for i, symbol := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 257, 265, 256, 283} {
		p.lit[symbol] = uint8(i + 1)
	}
	p.lit[284] = 15
	for i := range 14 {
		p.dist[i] = uint8(i + 1)
	}
	p.dist[28], p.dist[29] = 15, 15
	p.put(1|2<<1, 3)
	p.put(286-257, 5)
	p.put(30-1, 5)
	p.put(19-4, 4)
	pre := make([]uint8, 19) // each length from 0 to 15 has four bits
	for i := range 16 {
		pre[i] = 4
	}
	for _, i := range lengthOrder {
		p.put(uint(pre[i]), 3)
	}
	for _, n := range slices.Concat(p.lit, p.dist) {
		p.code(pre, int(n))
	}
	return p
}

func TestInflateMatches(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	p, n := fixedCodes(1), 0
	literals := func(few int) {
		for range few {
			p.literal(byte(random.Uint32()))
		}
		n += few
	}
	literals(70)
	for length := 3; length <= maxMatch; length += 1 + length/40 {
		for distance := 1; distance <= 70; distance++ {
			p.match(length, distance)
			n += length
			literals(random.IntN(5))
		}
		p.match(length, 1+random.IntN(min(n, 32768)))
		n += length
	}
	data := p.end()
	checkInflate(t, data)
	if _, err := io.Copy(io.Discard, flate.NewReader(bytes.NewReader(data))); err != nil {
		t.Error(err)
	}
}

// longMatches returns a block with many long matches.
func longMatches(many int) []byte {
	random := rand.New(rand.NewPCG(7, 8))
	p := longCodes()
	p.literal(7)
	p.literal(10)
	for range 200 {
		p.match(257, 2)
	}
	for i := range many {
		for range i % 5 {
			p.literal(byte(10 - random.IntN(2)*random.IntN(11)))
		}
		distance := 1 + random.IntN(128)
		if random.IntN(3) > 0 {
			distance = 16385 + random.IntN(16384)
		}
		p.match([]int{3, 11, 12, 195, 226, 227 + random.IntN(31)}[random.IntN(6)], distance)
	}
	return p.end()
}

func TestInflateLongCodes(t *testing.T) {
	data := longMatches(4000)
	checkInflate(t, data)
	if _, err := io.Copy(io.Discard, flate.NewReader(bytes.NewReader(data))); err != nil {
		t.Error(err)
	}
}

func TestInflateDistanceTooLarge(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	room := make([]byte, 1<<17)
	for i := range room {
		room[i] = byte(random.Uint32())
	}
	const at = 1 << 16
	text := bytes.Repeat([]byte("text"), 100)
	for _, distance := range []int{1, 2, 3, 15, 16, 17, 100, 32768} {
		p := fixedCodes(1)
		p.literal(room[at])
		p.match(3, distance)
		for _, c := range text {
			p.literal(c)
		}
		from := at + 1 - distance
		whole := bytes.Clone(room[at : at+1])
		for i := range 3 {
			whole = append(whole, slices.Concat(room[from:at], whole)[i])
		}
		whole = append(whole, text...)
		if _, _, s := new(inflater).member(bytes.Clone(room)[at:], gzipMember(p.end(), whole)); (s == decoded) != (distance == 1) {
			t.Errorf("distance %d after one byte: status %d", distance, s)
		}
	}
}

func TestInflateInvalidSymbols(t *testing.T) {
	text := bytes.Repeat([]byte("text"), 100)
	for _, symbols := range [][]int{{256}, {286}, {287}, {257, 30}, {257, 31}} {
		p := fixedCodes(0)
		for _, c := range text {
			p.literal(c)
		}
		p.code(p.lit, symbols[0])
		for _, symbol := range symbols[1:] {
			p.code(p.dist, symbol)
		}
		p.put(1, 3) // a block that is not packed
		data := append(p.data, byte(len(text)), byte(len(text)>>8), ^byte(len(text)), ^byte(len(text)>>8))
		whole := gzipMember(append(data, text...), slices.Concat(text, text))
		if _, _, s := new(inflater).member(make([]byte, 1<<12), whole); (s == decoded) != (symbols[0] == 256) {
			t.Errorf("symbols %d: status %d", symbols, s)
		}
	}
}
