package frontier

import "unsafe"

// This file manages the memory of the index. The memory is outside of the Go heap, because the
// garbage collector would scan it and let it grow to twice its size. It is allocated in chunks, so
// that nothing moves when the index grows, and the content of a snapshot file can be used directly.

// An arena allocates zeroed memory that is freed all at once.
type arena struct {
	blocks [][]byte
	left   []byte // unused part of the last block
}

const arenaBlock = 16 << 20

// alloc returns n bytes, which must be a multiple of 64.
func (a *arena) alloc(n int) []byte {
	if n > len(a.left) {
		a.left = allocate(max(n, arenaBlock))
		adviseHugePages(a.left)
		a.blocks = append(a.blocks, a.left)
	}
	b := a.left[:n:n]
	a.left = a.left[n:]
	return b
}

func (a *arena) free() {
	for _, b := range a.blocks {
		freeMemory(b)
	}
	*a = arena{}
}

// chunkSize is the number of elements in a chunk of a column.
const (
	chunkBits = 16
	chunkSize = 1 << chunkBits
)

// A column is a growing sequence of elements without pointers.
type column[T any] struct {
	chunks [][]T // of chunkSize elements each
	n      int
}

func (c *column[T]) at(i uint32) *T { return &c.chunks[i>>chunkBits][i&(chunkSize-1)] }

// extend adds n contiguous elements, at most chunkSize, and returns the index of the first.
func (c *column[T]) extend(a *arena, n int) int {
	if c.n&(chunkSize-1)+n > chunkSize {
		c.n = (c.n + chunkSize - 1) &^ (chunkSize - 1)
	}
	if c.n+n > len(c.chunks)*chunkSize {
		c.chunks = append(c.chunks, sliceOf[T](a.alloc(chunkSize*c.elementSize())))
	}
	at := c.n
	c.n += n
	return at
}

func (c *column[T]) push(a *arena, v T) uint32 {
	at := uint32(c.extend(a, 1))
	*c.at(at) = v
	return at
}

// slice returns n elements from at on, which must be in one chunk.
func (c *column[T]) slice(at uint64, n int) []T {
	return c.chunks[at>>chunkBits][at&(chunkSize-1):][:n]
}

func (c *column[T]) elementSize() int { return int(unsafe.Sizeof(*new(T))) }

// memory returns the memory of the chunks, in order.
func (c *column[T]) memory() [][]byte {
	var list [][]byte
	for i := range c.chunks {
		if n := min(chunkSize, c.n-i*chunkSize); n > 0 {
			list = append(list, bytesOf(c.chunks[i][:n]))
		}
	}
	return list
}

// adopt uses b as the memory of the column. Only the last chunk, which may grow, is copied if
// it is not full.
func (c *column[T]) adopt(a *arena, b []byte) {
	s := sliceOf[T](b)
	*c = column[T]{n: len(s)}
	for len(s) >= chunkSize {
		c.chunks = append(c.chunks, s[:chunkSize:chunkSize])
		s = s[chunkSize:]
	}
	if len(s) > 0 {
		last := sliceOf[T](a.alloc(chunkSize * c.elementSize()))
		copy(last, s)
		c.chunks = append(c.chunks, last)
	}
}

// A table is a hash table with linear probing from hashes to numbers. The high half of a slot
// is the high half of a hash, called its tag; the low half is a number + 1.
type table struct {
	slots   []uint64
	n       int  // slots in use
	adopted bool // whether the slots are part of a snapshot's memory
}

// slot returns the index at which the search for a tag begins. The index depends only on the high
// bits of the tag, so a table can grow in one pass over its slots, without other data.
func slot(tag uint64, slots int) int { return int(tag * uint64(slots) >> 32) }

// nextSlot returns the index of the slot after the ith.
func (t *table) nextSlot(i int) int {
	if i++; i == len(t.slots) {
		return 0
	}
	return i
}

// find returns the number with the given tag for which is returns true, and its slot. If there is
// none, it returns the slot in which to insert the number.
func (t *table) find(tag uint64, is func(uint32) bool) (n uint32, at int, ok bool) {
	if len(t.slots) == 0 {
		return 0, 0, false
	}
	for i := slot(tag, len(t.slots)); ; i = t.nextSlot(i) {
		s := t.slots[i]
		if s == 0 {
			return 0, i, false
		}
		if n := uint32(s) - 1; s>>32 == tag && is(n) {
			return n, i, true
		}
	}
}

// insert inserts a number at the slot returned by find.
func (t *table) insert(tag uint64, at int, n uint32) {
	t.n++
	if t.n*5 > len(t.slots)*4 {
		t.grow()
		for at = slot(tag, len(t.slots)); t.slots[at] != 0; at = t.nextSlot(at) {
		}
	}
	t.slots[at] = tag<<32 | uint64(n+1)
}

// grow makes the table a quarter larger. It frees old slots while it copies them, so the two tables
// together need little more memory than one.
func (t *table) grow() {
	old := t.slots
	b := allocate(8 * max(64, len(old)+len(old)/4))
	if len(b) >= 4<<20 {
		adviseHugePages(b)
	}
	t.slots = sliceOf[uint64](b)
	const part = 1 << 19 // slots
	for i, s := range old {
		if i%part == 0 && i > 0 {
			discard(bytesOf(old[i-part : i]))
		}
		if s == 0 {
			continue
		}
		j := slot(s>>32, len(t.slots))
		for ; t.slots[j] != 0; j = t.nextSlot(j) {
		}
		t.slots[j] = s
	}
	if !t.adopted {
		freeMemory(bytesOf(old))
	}
	t.adopted = false
}

func (t *table) free() {
	if !t.adopted {
		freeMemory(bytesOf(t.slots))
	}
	*t = table{}
}
