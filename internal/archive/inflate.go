package archive

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
)

// This file decompresses gzip members (RFC 1951, RFC 1952) from memory to memory. Because the
// whole member is in memory, it needs no window, and reads and writes several bytes at a time.
// It takes half the time of klauspost/compress, which still handles all unusual members. A
// result is used only if its length and checksum are correct.

// A status is the outcome of [inflater.member].
type status int

const (
	decoded     status = iota
	needInput          // the input ends within the member
	needOutput         // the output is too short
	unsupported        // the member is corrupt, or must be decompressed by the library
)

const (
	trailerSize = 8 // size of the checksum and length at the end of a member
	maxCodeLen  = 15

	// Codes of up to this many bits are found by one lookup; the rest of a longer
	// code is looked up in a second table.
	litBits  = 11
	distBits = 8
	lenBits  = 7 // maximum length of the codes of code lengths

	maxMatch     = 258
	maxDistBits  = maxCodeLen + 13 // maximum length of a distance code with its extra bits
	copySize     = 48
	outputMargin = 2 + maxMatch + copySize // maximum number of bytes that one iteration of the main loop writes
)

// A tableEntry is the entry of a decoding table for a code:
//
//	bits 0-7   length of the code and its extra bits
//	bits 8-11  length of the code alone
//	bits 16-   literal, base of a length or distance, or offset of the second table
type tableEntry uint32

const (
	isLiteral  tableEntry = 1 << 12
	isSubtable tableEntry = 1 << 13 // bits 0-7 are the number of bits that index the second table
	isEnd      tableEntry = 1 << 14 // end of the block
	isInvalid  tableEntry = 1 << 15

	isSpecial            = isSubtable | isEnd | isInvalid
	oneBit    tableEntry = 1 | 1<<8 // adds one to both lengths
)

// An inflater holds the state of one call of member, and its tables.
type inflater struct {
	in  []byte
	bit int // position in in, in bits
	out []byte
	n   int // bytes written to out

	lit  [1<<litBits + 286/2<<(maxCodeLen-litBits)]tableEntry
	dist [1<<distBits + 30/2<<(maxCodeLen-distBits)]tableEntry
	lens [1 << lenBits]tableEntry
}

// member decompresses the gzip member at the start of src into dst. The last outputMargin bytes
// of dst are scratch space and hold no result. It returns how many bytes it wrote, and how many
// bytes of src belong to the member.
func (f *inflater) member(dst, src []byte) (n, size int, s status) {
	f.in, f.out, f.n = src, dst, 0
	defer func() { f.in, f.out = nil, nil }()
	const headerSize, hasExtra = 10, 1 << 2 // wget writes a field of extra data
	f.bit = 8 * headerSize
	switch {
	case len(src) < headerSize+trailerSize:
		return 0, 0, needInput
	case !bytes.HasPrefix(src, gzipMagic) || src[3]&^hasExtra != 0:
		return 0, 0, unsupported
	case src[3] == hasExtra:
		f.bit += 8 * (2 + int(binary.LittleEndian.Uint16(src[headerSize:])))
	}
	for last := false; !last; {
		var s status
		last = f.take(1) == 1
		switch f.take(2) {
		case 0:
			s = f.stored()
		case 1:
			buildTable(f.lit[:], litBits, fixedLengths[:288], litEntries)
			buildTable(f.dist[:], distBits, fixedLengths[288:], distEntries)
			s = f.block()
		case 2:
			if s = f.readTables(); s == decoded {
				s = f.block()
			}
		default:
			s = unsupported
		}
		if f.bit > 8*(len(src)-trailerSize) { // the bits that were read may be beyond the end of src
			return 0, 0, needInput
		}
		if s != decoded {
			return 0, 0, s
		}
	}
	end := (f.bit + 7) / 8
	sum, length := binary.LittleEndian.Uint32(src[end:]), binary.LittleEndian.Uint32(src[end+4:])
	if length != uint32(f.n) || sum != crc32.ChecksumIEEE(dst[:f.n]) {
		return 0, 0, unsupported
	}
	return f.n, end + trailerSize, decoded
}

// take returns the next n bits. After the end of the input the bits are arbitrary; member detects
// the end by the position.
func (f *inflater) take(n int) int {
	v := binary.LittleEndian.Uint64(f.in[min(f.bit>>3, len(f.in)-8):]) >> (f.bit & 7)
	f.bit += n
	return int(v & (1<<n - 1))
}

// stored copies a block that is not compressed (section 3.2.4).
func (f *inflater) stored() status {
	f.bit = (f.bit + 7) &^ 7
	length, complement := f.take(16), f.take(16)
	begin := f.bit / 8
	switch {
	case length != complement^0xffff:
		return unsupported
	case begin+length > len(f.in)-trailerSize:
		return needInput
	case f.n+length > len(f.out)-outputMargin:
		return needOutput
	}
	f.n += copy(f.out[f.n:], f.in[begin:begin+length])
	f.bit += 8 * length
	return decoded
}

// readTables reads the code lengths of a block (section 3.2.7).
func (f *inflater) readTables() status {
	nlit, ndist, nlens := f.take(5)+257, f.take(5)+1, f.take(4)+4
	if nlit > 286 || ndist > 30 {
		return unsupported
	}
	var lens [19]uint8
	for _, i := range lengthOrder[:nlens] {
		lens[i] = uint8(f.take(3))
	}
	if !buildTable(f.lens[:], lenBits, lens[:], lenEntries) {
		return unsupported
	}
	var lengths [286 + 30]uint8
	for i := 0; i < nlit+ndist; {
		e := f.lens[f.take(lenBits)]
		f.bit -= lenBits - int(e>>8&15)
		length, repeat := uint8(0), 1
		switch symbol := e >> 16; {
		case e&isInvalid != 0, symbol == 16 && i == 0:
			return unsupported
		case symbol < 16:
			length = uint8(symbol)
		case symbol == 16:
			length, repeat = lengths[i-1], 3+f.take(2)
		case symbol == 17:
			repeat = 3 + f.take(3)
		default:
			repeat = 11 + f.take(7)
		}
		if i+repeat > nlit+ndist {
			return unsupported
		}
		for range repeat {
			lengths[i] = length
			i++
		}
	}
	if !buildTable(f.lit[:], litBits, lengths[:nlit], litEntries) || !buildTable(f.dist[:], distBits, lengths[nlit:nlit+ndist], distEntries) {
		return unsupported
	}
	return decoded
}

// block decompresses a block of codes. The lowest n bits of buf are the next bits of the input,
// followed by byte pos of the input. The higher bits of buf are zero, or already hold the bits
// that the next load sets again. block does not load bytes of the trailer, because the codes of a
// complete member end before it.
func (f *inflater) block() status {
	in, out, w := f.in, f.out, f.n
	last, limit := len(in)-trailerSize, len(out)-outputMargin
	pos, n := f.bit>>3+7, 56-f.bit&7
	if pos-7 > last {
		return needInput
	}
	buf := binary.LittleEndian.Uint64(in[pos-7:]) >> (f.bit & 7)
	s := needOutput
	e := f.lit[buf&(1<<litBits-1)]
	for w <= limit {
		if pos <= last {
			buf |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
			pos += (63 - n) >> 3
			n |= 56
		} else if 8*pos-n > 8*last {
			s = needInput
			break
		}
		if e&isLiteral != 0 {
			out[w] = byte(e >> 16)
			w++
			buf >>= e & 63
			n -= int(e & 63)
			e = f.lit[buf&(1<<litBits-1)]
			if e&isLiteral != 0 {
				out[w] = byte(e >> 16)
				w++
				buf >>= e & 63
				n -= int(e & 63)
				e = f.lit[buf&(1<<litBits-1)]
				if e&isLiteral != 0 {
					continue
				}
			}
		}
		if e&isSpecial != 0 {
			if e&isSubtable != 0 { // two literals and the longest length take 42 of 56 bits
				e = f.lit[uint64(e>>16)+buf>>litBits&(1<<(e&31)-1)]
			}
			if e&isInvalid != 0 {
				s = unsupported
				break
			}
			if e&(isLiteral|isEnd) != 0 {
				buf >>= e & 63
				n -= int(e & 63)
				if e&isEnd != 0 {
					s = decoded
					break
				}
				out[w] = byte(e >> 16)
				w++
				e = f.lit[buf&(1<<litBits-1)]
				continue
			}
		}
		length := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>8&15))
		buf >>= e & 63
		n -= int(e & 63)
		if n < maxDistBits+litBits && pos <= last {
			buf |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
			pos += (63 - n) >> 3
			n |= 56
		}
		e = f.dist[buf&(1<<distBits-1)]
		if e&isSubtable != 0 {
			e = f.dist[uint64(e>>16)+buf>>distBits&(1<<(e&31)-1)]
		}
		distance := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>8&15))
		buf >>= e & 63
		n -= int(e & 63)
		if e&isInvalid != 0 || distance > w {
			s = unsupported
			break
		}
		e = f.lit[buf&(1<<litBits-1)] // look up the next code before the copy, which takes longer
		from, end := w-distance, w+length
		for ; distance < 16 && w < end; distance *= 2 { // the copy overlaps itself
			*(*[16]byte)(out[w : w+16]) = [16]byte(out[from : from+16])
			w += distance
		}
		for ; w < end; w, from = w+copySize, from+copySize {
			src, dst := out[from:from+copySize], out[w:w+copySize]
			*(*[16]byte)(dst) = [16]byte(src)
			*(*[16]byte)(dst[16:]) = [16]byte(src[16:])
			*(*[16]byte)(dst[32:]) = [16]byte(src[32:])
		}
		w = end
	}
	f.bit, f.n = 8*pos-n, w
	return s
}

// buildTable fills t, which is indexed by size bits, with a canonical code (section 3.2.2).
// Symbol i has a code of lengths[i] bits (no code if 0), and the meaning entries[i]. buildTable
// reports whether the lengths are those of a valid code. An incomplete code is valid only if it has
// no symbol, or one symbol of one bit.
func buildTable(t []tableEntry, size int, lengths []uint8, entries []tableEntry) bool {
	var count, place [maxCodeLen + 1]int
	longest := 0
	for _, n := range lengths {
		count[n]++
		longest = max(longest, int(n))
	}
	symbols, codes := 0, 0
	for n := 1; n <= longest; n++ {
		place[n] = symbols
		symbols += count[n]
		codes = codes<<1 + count[n]
		if codes > 1<<n {
			return false
		}
	}
	if codes != 1<<longest && (longest > 1 || codes > 1) {
		return false
	}
	var buf [288]uint16
	sorted := buf[:symbols] // sorted by length, then by symbol
	for i, n := range lengths {
		if n > 0 {
			sorted[place[n]] = uint16(i)
			place[n]++
		}
	}
	// Codes are read from the lowest bit on. A table of n bits starts as two copies of the
	// table of n-1 bits, in which then the codes of n bits are entered.
	next := uint(0)
	t[0] = isInvalid | maxCodeLen<<8
	for n := 1; n <= size; n++ {
		copy(t[1<<(n-1):1<<n], t[:1<<(n-1)])
		for ; count[n] > 0; count[n]-- {
			t[next] = entries[sorted[0]] + tableEntry(n)*oneBit
			next, sorted = nextCode(next, n), sorted[1:]
		}
	}
	if longest <= size {
		return true
	}
	// The remaining codes are longer, and all lead to a second table.
	more := longest - size
	for i, sub := next, 1<<size; ; sub += 1 << more {
		t[i] = isSubtable | tableEntry(more) | tableEntry(sub)<<16
		if i = nextCode(i, size); i == 0 {
			break
		}
	}
	for n := size + 1; n <= longest; n++ {
		for ; count[n] > 0; count[n]-- {
			base := uint(t[next&(1<<size-1)] >> 16)
			for i := next >> size; i < 1<<more; i += 1 << (n - size) {
				t[base+i] = entries[sorted[0]] + tableEntry(n)*oneBit
			}
			next, sorted = nextCode(next, n), sorted[1:]
		}
	}
	return true
}

// nextCode returns the code that follows a code of n bits, or 0 after the last code. The first
// bit of a code is its lowest bit.
func nextCode(c uint, n int) uint {
	zeros := c ^ (1<<n - 1)
	if zeros == 0 {
		return 0
	}
	carry := uint(1) << (bits.Len(zeros) - 1)
	return c&(carry-1) | carry
}

// The meanings of symbols, to which buildTable adds the lengths of their codes.
var (
	litEntries  = slices.Concat(numberEntries(256, 0, 256, isLiteral), []tableEntry{isEnd}, numberEntries(28, 3, 4, 0), []tableEntry{maxMatch << 16, isInvalid, isInvalid})
	distEntries = append(numberEntries(30, 1, 2, 0), isInvalid, isInvalid)
	lenEntries  = numberEntries(19, 0, 19, 0)
)

// numberEntries returns n entries for ascending numbers from first on. Each of the first 2*step
// entries stands for one number; after that, each group of step entries has one extra bit more
// than the group before, so its entries stand for twice as many numbers.
func numberEntries(n, first, step int, flags tableEntry) []tableEntry {
	all := make([]tableEntry, n)
	for i := range all {
		extra := max(0, i/step-1)
		all[i] = flags | tableEntry(first)<<16 | tableEntry(extra)
		first += 1 << extra
	}
	return all
}

// fixedLengths are the code lengths of section 3.2.6; lengthOrder is the order of section 3.2.7.
var (
	fixedLengths = slices.Concat(bytes.Repeat([]byte{8}, 144), bytes.Repeat([]byte{9}, 112), bytes.Repeat([]byte{7}, 24), bytes.Repeat([]byte{8}, 8), bytes.Repeat([]byte{5}, 32))
	lengthOrder  = [...]byte{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
)
