package archive

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// The heads of records are short, and to make a Huffman code for each takes longer than
// to pack it. So they share one, made of 3,000 synthetic ones of requests, responses and metadata
// such as crawls have; a member has room for it (RFC 1951, section 3.2.7). These are the
// lengths of its words, "a" being 1 and "." none, for the bytes from space to tilde, the
// end of a line and of a block, the lengths of repetitions and their distances, and for
// the lengths themselves, in the order of that section.
const (
	terseBytes     = "emimmlmkjjjjheffeeefefffffeiihilkghgghhhhgiihhihgighfhihiihmkmmjmefeedffgfkifgfefjefegihhhjlmll"
	terseEnds      = "ffi" // \n, \r, block
	terseLengths   = "mfghggihhjiklklmlllmmmmmmmmm"
	terseDistances = "gejiiiegceddccddcddgkmml"
	terseSizes     = "egfgcccceceedec"
)

const (
	endOfBlock = 256

	// Of a longer head the library makes a code of its own, which is worth it, and for
	// this length there are words for all distances.
	maxTerse = 4 << 10

	// So much room, in bytes, a head is in while it is packed.
	roomTerse = maxTerse + 8

	shortest, longest = 4, 257 // repetitions
)

// A word is what stands for a symbol, its first bit the lowest.
type word struct {
	bits uint32
	size uint8
}

// words gives symbols their words (RFC 1951, section 3.2.2).
func words(sizes []byte) []word {
	all := make([]word, len(sizes))
	next := uint16(0)
	for size := range uint8(16) {
		for symbol, s := range sizes {
			if s == size && s > 0 {
				all[symbol] = word{uint32(bits.Reverse16(next << (16 - size))), size}
				next++
			}
		}
		next <<= 1
	}
	return all
}

// sizes reads the lengths of words.
func sizes(letters string) []byte {
	all := []byte(letters)
	for i, c := range all {
		all[i] = max(c, 'a'-1) - ('a' - 1)
	}
	return all
}

// A bitBuffer is written to at its end, bit by bit.
type bitBuffer struct {
	out  []byte
	last uint64 // bits that are not in out yet
	n    uint   // how many
}

// add adds up to 56 bits. Fewer than 8 of them stay behind: to write the others without
// asking how many they are is faster.
func (b *bitBuffer) add(v uint64, n uint) {
	b.last |= v << (b.n & 63)
	b.n += n
	b.out = binary.LittleEndian.AppendUint64(b.out, b.last)[:len(b.out)+int(b.n/8)]
	b.last >>= b.n &^ 7 & 63
	b.n &= 7
}

func (b *bitBuffer) word(w word) { b.add(uint64(w.bits), uint(w.size)) }

// align goes to the end of the byte.
func (b *bitBuffer) align() {
	for n := b.n; n > 0; n -= min(n, 8) {
		b.out = append(b.out, byte(b.last))
		b.last >>= 8
	}
	b.n = 0
}

// stored adds a deflate block of bytes as they are.
func (b *bitBuffer) stored(last bool, data []byte) {
	b.begin(last, 0)
	b.align()
	b.out = binary.LittleEndian.AppendUint16(b.out, uint16(len(data)))
	b.out = binary.LittleEndian.AppendUint16(b.out, ^uint16(len(data)))
	b.out = append(b.out, data...)
}

// begin begins a deflate block of a kind.
func (b *bitBuffer) begin(last bool, kind uint64) {
	final := uint64(0)
	if last {
		final = 1
	}
	b.add(final|kind<<1, 3)
}

// sizeOrder is the order of the lengths of words for lengths.
var sizeOrder = [...]byte{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// A terseCode is the code.
type terseCode struct {
	bytes     [256]word         // of size 0: there is none
	repeats   [longest + 1]word // by length
	distances [32]word
	end       word
	begin     bitBuffer // of a block that is not the last, up to its first word
}

var terse = newTerse()

func newTerse() *terseCode {
	all := make([]byte, endOfBlock+1)
	copy(all[' ':], sizes(terseBytes))
	ends := sizes(terseEnds)
	all['\n'], all['\r'], all[endOfBlock] = ends[0], ends[1], ends[2]
	all = append(all, sizes(terseLengths)...)
	symbols, distances, lengths := words(all), sizes(terseDistances), make([]byte, 19)
	for i, size := range sizes(terseSizes) {
		lengths[sizeOrder[i]] = size
	}
	c := &terseCode{bytes: [256]word(symbols), end: symbols[endOfBlock]}
	copy(c.distances[:], words(distances))
	for n := shortest; n <= longest; n++ {
		x, extra := n-3, 0
		if x >= 8 {
			extra = bits.Len(uint(x)) - 3
		}
		c.repeats[n] = symbols[endOfBlock+1+4*extra+x>>extra].and(x, extra)
	}
	const dynamic = 2
	b := &c.begin
	b.begin(false, dynamic)
	b.add(uint64(len(all)-257), 5)
	b.add(uint64(len(distances)-1), 5)
	b.add(uint64(len(terseSizes)-4), 4)
	for _, symbol := range sizeOrder[:len(terseSizes)] {
		b.add(uint64(lengths[symbol]), 3)
	}
	of := words(lengths)
	for all = append(all, distances...); len(all) > 0; {
		same := 1
		for same < len(all) && all[same] == all[0] {
			same++
		}
		switch {
		case all[0] > 0:
			b.word(of[all[0]])
			same--
			all = all[1:]
			for ; same >= 3; same -= min(same, 6) {
				b.word(of[16])
				b.add(uint64(min(same, 6)-3), 2)
				all = all[min(same, 6):]
			}
		case same >= 11:
			same = min(same, 138)
			b.word(of[18])
			b.add(uint64(same-11), 7)
			all = all[same:]
		case same >= 3:
			b.word(of[17])
			b.add(uint64(same-3), 3)
			all = all[same:]
		default:
			b.word(of[0])
			all = all[1:]
		}
	}
	return c
}

// and is the word with the n lowest bits of x behind it.
func (w word) and(x, n int) word {
	return word{w.bits | uint32(x&(1<<n-1))<<w.size, w.size + uint8(n)}
}

// distance is the word for how far back a repetition begins.
func (c *terseCode) distance(n int) word {
	x, extra := n-1, 0
	if x >= 4 {
		extra = bits.Len(uint(x)) - 2
	}
	return c.distances[2*extra+x>>extra].and(x, extra)
}

// pack appends a head as a deflate block that begins a byte. It tells whether it could:
// a long one, or one with bytes that have no word, is for the library.
func (c *terseCode) pack(b *bitBuffer, head []byte, last bool) bool {
	if len(head) > maxTerse {
		return false
	}
	block := bitBuffer{append(b.out, c.begin.out...), c.begin.last, c.begin.n}
	if last {
		block.out[len(b.out)] |= 1
	}
	// In an array of known length nobody asks whether a place is inside.
	text := (*[roomTerse]byte)(slices.Grow(head, roomTerse-len(head))[:roomTerse])
	four := func(i int) uint32 { return binary.LittleEndian.Uint32(text[uint(i)%maxTerse:]) }
	var seen [1 << 11]uint16 // where four bytes with that checksum stood, or the beginning
	slot := func(four uint32) *uint16 { return &seen[four*0x9E3779B1>>(32-11)] }
	known, i, done := true, 1, 0
	for i+shortest <= len(head) {
		next := four(i)
		at := slot(next)
		from := int(*at)
		*at = uint16(i)
		if four(from) != next {
			i++
			continue
		}
		known = c.spell(&block, head[done:i]) && known
		same := alike(head, from, i)
		block.word(c.repeats[same])
		block.word(c.distance(i - from))
		done = i + same
		for i++; i < done; i++ { // at the end of the head for nothing
			*slot(four(i)) = uint16(i)
		}
	}
	known = c.spell(&block, head[done:]) && known
	block.word(c.end)
	if known {
		*b = block
	}
	return known
}

// spell adds bytes that are no repetition, and tells whether all have words, of which
// none is longer than 13 bits: those of four bytes are put together before they are added.
func (c *terseCode) spell(b *bitBuffer, text []byte) bool {
	known := true
	for ; len(text) >= 4; text = text[4:] {
		w, x, y, z := c.bytes[text[0]], c.bytes[text[1]], c.bytes[text[2]], c.bytes[text[3]]
		known = known && w.size > 0 && x.size > 0 && y.size > 0 && z.size > 0
		n := uint(w.size)
		four := uint64(w.bits) | uint64(x.bits)<<(n&63)
		n += uint(x.size)
		four |= uint64(y.bits) << (n & 63)
		n += uint(y.size)
		four |= uint64(z.bits) << (n & 63)
		b.add(four, n+uint(z.size))
	}
	for _, x := range text {
		known = known && c.bytes[x].size > 0
		b.word(c.bytes[x])
	}
	return known
}

// alike is how many bytes from i on are those from an earlier place on, of which
// shortest are known to be.
func alike(head []byte, from, i int) int {
	most := min(longest, len(head)-i)
	same := shortest
	for same+8 <= most {
		if x := binary.LittleEndian.Uint64(head[from+same:]) ^ binary.LittleEndian.Uint64(head[i+same:]); x != 0 {
			return same + bits.TrailingZeros64(x)/8
		}
		same += 8
	}
	for same < most && head[from+same] == head[i+same] {
		same++
	}
	return same
}
