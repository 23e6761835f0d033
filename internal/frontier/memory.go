package frontier

import "unsafe"

// This file is where the index lies: in memory of the system's, not of Go's, so
// that the garbage collector neither looks at it nor lets it double, and in
// chunks, so that nothing moves when it grows and a snapshot is used as mapped.

// An arena gives memory that is zero, and takes all of it back at once.
type arena struct {
	blocks [][]byte
	left   []byte // of the last block
}

const arenaBlock = 16 << 20

// take returns n bytes, which must be a multiple of 64.
func (a *arena) alloc(n int) []byte {
	if n > len(a.left) {
		a.left = allocate(max(n, arenaBlock))
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

// chunkSize is how many elements of a column lie together.
const (
	chunkBits = 16
	chunkSize = 1 << chunkBits
)

// A column is a sequence that grows at its end, without pointers in its elements.
type column[T any] struct {
	chunks [][]T // of chunkSize each
	n      int
}

// at is the ith element.
func (c *column[T]) at(i uint32) *T { return &c.chunks[i>>chunkBits][i&(chunkSize-1)] }

// extend adds n elements that lie together, at most chunkSize, and returns where.
func (c *column[T]) extend(a *arena, n int) int {
	if c.n&(chunkSize-1)+n > chunkSize {
		c.n = (c.n + chunkSize - 1) &^ (chunkSize - 1)
	}
	if c.n+n > len(c.chunks)*chunkSize {
		c.chunks = append(c.chunks, sliceOf[T](a.alloc(chunkSize*int(unsafe.Sizeof(*new(T))))))
	}
	at := c.n
	c.n += n
	return at
}

// push adds an element.
func (c *column[T]) push(a *arena, v T) uint32 {
	at := uint32(c.extend(a, 1))
	*c.at(at) = v
	return at
}

// span is n elements from at on, which must have been added together.
func (c *column[T]) slice(at uint64, n int) []T {
	return c.chunks[at>>chunkBits][at&(chunkSize-1):][:n]
}

// pieces is the memory of the column, in order.
func (c *column[T]) chunkBytes() [][]byte {
	var list [][]byte
	for i := range c.chunks {
		if n := min(chunkSize, c.n-i*chunkSize); n > 0 {
			list = append(list, bytesOf(c.chunks[i][:n]))
		}
	}
	return list
}

// adopt makes the column of memory that it goes on using. Only the last chunk,
// to which more may be added, is copied if it is not full.
func (c *column[T]) adopt(a *arena, b []byte) {
	s := sliceOf[T](b)
	*c = column[T]{n: len(s)}
	for len(s) >= chunkSize {
		c.chunks = append(c.chunks, s[:chunkSize:chunkSize])
		s = s[chunkSize:]
	}
	if len(s) > 0 {
		last := sliceOf[T](a.alloc(chunkSize * int(unsafe.Sizeof(*new(T)))))
		copy(last, s)
		c.chunks = append(c.chunks, last)
	}
}

// A table finds numbers by a digest: a hash table with linear probing. The high
// half of a slot is that of a digest, the low half a number + 1.
type table struct {
	slots  []uint64
	n      int
	mapped bool // the slots belong to a snapshot
}

// slot is where the search for a tag begins. Only its high bits decide, so that a
// larger table can be made of the slots alone, from one end to the other.
func slot(tag uint64, slots int) int { return int(tag * uint64(slots) >> 32) }

// after is the slot behind the ith.
func (t *table) nextSlot(i int) int {
	if i++; i == len(t.slots) {
		return 0
	}
	return i
}

// find returns the number under a tag for which is holds, or the slot where one
// would be.
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

// put puts a number where find did not find one; at is no longer good if the
// table grows.
func (t *table) insert(tag uint64, at int, n uint32) {
	t.n++
	if t.n*5 > len(t.slots)*4 {
		t.grow()
		for at = slot(tag, len(t.slots)); t.slots[at] != 0; at = t.nextSlot(at) {
		}
	}
	t.slots[at] = tag<<32 | uint64(n+1)
}

// grow makes the table a quarter larger. What was copied of the old one is given
// back at once, so that never both are there as a whole.
func (t *table) grow() {
	old := t.slots
	t.slots = sliceOf[uint64](allocate(8 * max(64, len(old)+len(old)/4)))
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
	if !t.mapped {
		freeMemory(bytesOf(old))
	}
	t.mapped = false
}

func (t *table) free() {
	if !t.mapped {
		freeMemory(bytesOf(t.slots))
	}
	*t = table{}
}
