// Package arena stores many short byte strings in a few large blocks of memory. A string takes its
// bytes and one or two more; there is no pointer for each that the garbage collector would follow,
// and a growing arena does not copy what it holds.
package arena

import "encoding/binary"

// blockSize is the size of a block in bytes. A longer record has a block of its own.
const (
	blockBits = 18
	blockSize = 1 << blockBits
)

// A Ref is the position of a record in an Arena.
type Ref uint64

// An Arena is an append-only store of records. The zero value is empty and ready to use.
type Arena struct {
	blocks [][]byte // each record after its length; records are not split
	keep   Keeper   // or nil
}

// A Keeper is given a block that is full, and returns the same bytes: the block, or a copy of it in
// memory that is not the heap's. Neither is changed afterwards.
type Keeper func(block []byte) []byte

// KeepWith passes each block to keep as soon as it is full.
func (a *Arena) KeepWith(keep Keeper) { a.keep = keep }

// Append stores a copy of record.
func (a *Arena) Append(record []byte) Ref {
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(record)))
	last := len(a.blocks) - 1
	switch {
	case last < 0:
		a.blocks = append(a.blocks, nil) // small arenas have a small block
		last++
	case len(a.blocks[last])+n+len(record) > blockSize:
		if a.keep != nil {
			a.blocks[last] = a.keep(a.blocks[last])
		}
		a.blocks = append(a.blocks, make([]byte, 0, max(blockSize, n+len(record))))
		last++
	}
	b := &a.blocks[last]
	ref := Ref(last)<<blockBits | Ref(len(*b))
	*b = append(append(*b, length[:n]...), record...)
	return ref
}

// At returns the record at ref. It must not be changed.
func (a *Arena) At(ref Ref) []byte {
	b := a.blocks[ref>>blockBits][ref&(blockSize-1):]
	if n := int(b[0]); n < 0x80 { // most records are short
		return b[1 : 1+n : 1+n]
	}
	length, n := binary.Uvarint(b)
	end := n + int(length)
	return b[n:end:end]
}

// next returns the position of the record that follows the one at ref.
func (a *Arena) next(ref Ref) Ref {
	b := a.blocks[ref>>blockBits]
	at := ref & (blockSize - 1)
	length, n := uint64(b[at]), 1
	if length >= 0x80 {
		length, n = binary.Uvarint(b[at:])
	}
	if end := at + Ref(n) + Ref(length); end < Ref(len(b)) {
		return ref - at + end
	}
	return (ref>>blockBits + 1) << blockBits
}

// group is the number of records of a List for which one position is stored.
const group = 8

// A List is an append-only list of records, numbered from 0. The zero value is empty and ready to
// use.
type List struct {
	arena Arena
	refs  []Ref // of every group-th record
	n     int
}

// Len returns the number of records.
func (l *List) Len() int { return l.n }

// KeepWith is that of Arena.
func (l *List) KeepWith(keep Keeper) { l.arena.KeepWith(keep) }

// Append stores a copy of record as the last record.
func (l *List) Append(record []byte) {
	ref := l.arena.Append(record)
	if l.n%group == 0 {
		l.refs = append(l.refs, ref)
	}
	l.n++
}

// At returns the record with number i. It must not be changed.
func (l *List) At(i int) []byte {
	ref := l.refs[i/group]
	for range i % group {
		ref = l.arena.next(ref)
	}
	return l.arena.At(ref)
}
