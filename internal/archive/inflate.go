package archive

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
)

// An inflater unpacks gzip members (RFC 1951, 1952) that are there as a whole, into
// memory that is large enough: half of the time that a page takes is spent here. The
// library is half as fast, because it reads byte by byte and writes through a window. It
// remains the judge of all else: of what is torn or damaged, has a name in its header, or
// anything behind it. What was unpacked here is believed because its length and its
// checksum are right.
type inflater struct {
	in  []byte
	at  int // bits of it that were read
	out []byte
	n   int // bytes of it that were written

	lit  [1<<litBits + 286/2<<(maxCode-litBits)]code
	dist [1<<distBits + 30/2<<(maxCode-distBits)]code
	pre  [1 << preBits]code
}

const (
	maxCode = 15 // bits of the longest code

	// Codes are looked up by this many bits; those that are longer in a second
	// table, of which each holds two codes at least.
	litBits  = 11
	distBits = 8
	preBits  = 7 // no code of code lengths is longer

	maxMatch = 258

	// inflateSlack is how much room there must be behind what a member becomes, so that
	// only who begins to write there is stopped: two literals and a match.
	inflateSlack = 2 + maxMatch
)

// A code is an entry of a table: what to do when its bits come.
//
//	bits 0-7   how many bits it takes, with the extra bits behind it
//	bits 8-11  how many of them are the code
//	bits 16-   a literal, the least length or distance, or where a second table is
type code uint32

const (
	isLiteral code = 1 << 12
	isSub     code = 1 << 13 // in a second table, by as many more bits as bits 0-7 say
	isEnd     code = 1 << 14 // of the block
	isNone    code = 1 << 15 // no code has these bits

	oneBit code = 1 | 1<<8
)

// member unpacks a member into the capacity of out. It tells whether that is what the
// member says of itself at its end: if not, it is for the library.
func (f *inflater) member(out, in []byte) ([]byte, bool) {
	const head, tail = 10, 8
	if len(in) < head+tail || !bytes.HasPrefix(in, gzipMagic) || in[len(gzipMagic)] != 0 {
		return nil, false
	}
	end := in[len(in)-tail:]
	sum, size := binary.LittleEndian.Uint32(end), int64(binary.LittleEndian.Uint32(end[4:]))
	if size+inflateSlack > int64(cap(out)) {
		return nil, false
	}
	f.in, f.at, f.out, f.n = in, 8*head, out[:size+inflateSlack], 0
	ok := f.blocks() && (f.at+7)/8 == len(in)-tail && int64(f.n) == size && crc32.ChecksumIEEE(out[:size]) == sum
	f.in, f.out = nil, nil
	return out[:size], ok
}

// blocks unpacks to the end of the last block.
func (f *inflater) blocks() bool {
	for last := false; !last; {
		last = f.take(1) == 1
		ok := false
		switch f.take(2) {
		case 0:
			ok = f.stored()
		case 1:
			table(f.lit[:], litBits, fixedLengths[:288], litCodes)
			table(f.dist[:], distBits, fixedLengths[288:], distCodes)
			ok = f.codes()
		case 2:
			ok = f.dynamic() && f.codes()
		}
		if !ok || f.at > 8*len(f.in) {
			return false
		}
	}
	return true
}

// take is the next n bits. Behind the last there is the end of the member, which is as
// long as what is read here; who reads on in spite of that is found out.
func (f *inflater) take(n int) int {
	next := binary.LittleEndian.Uint64(f.in[min(f.at>>3, len(f.in)-8):]) >> (f.at & 7)
	f.at += n
	return int(next & (1<<n - 1))
}

// stored copies a block that is not packed (RFC 1951, section 3.2.4).
func (f *inflater) stored() bool {
	f.at = (f.at + 7) &^ 7
	n, not := f.take(16), f.take(16)
	from := f.at / 8
	if n != not^0xffff || n > len(f.in)-from || n > len(f.out)-f.n {
		return false
	}
	f.n += copy(f.out[f.n:], f.in[from:from+n])
	f.at += 8 * n
	return true
}

// dynamic reads the tables of a block (section 3.2.7).
func (f *inflater) dynamic() bool {
	nlit, ndist, npre := f.take(5)+257, f.take(5)+1, f.take(4)+4
	if nlit > 286 || ndist > 30 {
		return false
	}
	var few [19]uint8
	for _, i := range sizeOrder[:npre] {
		few[i] = uint8(f.take(3))
	}
	if !table(f.pre[:], preBits, few[:], preCodes) {
		return false
	}
	var lengths [286 + 30]uint8
	for i := 0; i < nlit+ndist; {
		c := f.pre[f.take(preBits)]
		f.at -= preBits - int(c>>8&15)
		again, n := uint8(0), 1
		switch symbol := c >> 16; {
		case c&isNone != 0, symbol == 16 && i == 0:
			return false
		case symbol < 16:
			again = uint8(symbol)
		case symbol == 16:
			again, n = lengths[i-1], 3+f.take(2)
		case symbol == 17:
			n = 3 + f.take(3)
		default:
			n = 11 + f.take(7)
		}
		if i+n > nlit+ndist {
			return false
		}
		for range n {
			lengths[i] = again
			i++
		}
	}
	return table(f.lit[:], litBits, lengths[:nlit], litCodes) && table(f.dist[:], distBits, lengths[nlit:nlit+ndist], distCodes)
}

// codes unpacks to the end of the block.
func (f *inflater) codes() bool {
	in, at, out, w := f.in, f.at, f.out, f.n
	for at>>3 <= len(in)-8 && w <= len(out)-inflateSlack {
		next := binary.LittleEndian.Uint64(in[at>>3:]) >> (at & 7)
		c := f.lit[next&(1<<litBits-1)]
		// Two short literals leave 35 bits of 57: enough for a long one, or for a length.
		for range 2 {
			if c&isLiteral == 0 {
				break
			}
			next >>= c & 63
			at += int(c & 63)
			out[w] = byte(c >> 16)
			w++
			c = f.lit[next&(1<<litBits-1)]
		}
		if c&isSub != 0 {
			c = f.lit[uint64(c>>16)+next>>litBits&(1<<(c&31)-1)]
		}
		at += int(c & 63)
		switch {
		case c&isLiteral != 0:
			out[w] = byte(c >> 16)
			w++
			continue
		case c&isEnd != 0:
			f.at, f.n = at, w
			return true
		case c&isNone != 0 || at>>3 > len(in)-8:
			return false
		}
		length := int(c>>16) + int(next&(1<<(c&63)-1)>>(c>>8&15))
		next = binary.LittleEndian.Uint64(in[at>>3:]) >> (at & 7)
		c = f.dist[next&(1<<distBits-1)]
		if c&isSub != 0 {
			c = f.dist[uint64(c>>16)+next>>distBits&(1<<(c&31)-1)]
		}
		at += int(c & 63)
		distance := int(c>>16) + int(next&(1<<(c&63)-1)>>(c>>8&15))
		if c&isNone != 0 || distance > w {
			return false
		}
		from, end := w-distance, w+length
		switch {
		case distance >= 16 && length <= 48:
			for w < end { // what is too much is written over
				*(*[16]byte)(out[w:]) = [16]byte(out[from:])
				w += 16
				from += 16
			}
		case distance >= length:
			copy(out[w:end], out[from:])
		default: // what is copied is copied again
			for w < end {
				w += copy(out[w:end], out[from:w])
			}
		}
		w = end
	}
	return false
}

// table makes the table of a canonical code (section 3.2.2), each symbol having
// the length that is given for it, 0 for none, and meaning what symbols says. It
// tells whether the lengths are those of a code: one that leaves bits without a
// meaning must have no symbol, or one of one bit.
func table(t []code, size int, lengths []uint8, symbols []code) bool {
	var count [maxCode + 1]int
	longest := 0
	for _, n := range lengths {
		count[n]++
		longest = max(longest, int(n))
	}
	count[0] = 0
	var next [maxCode + 1]int // the code that the next symbol of a length gets
	value := 0
	for n := 1; n <= longest; n++ {
		value <<= 1
		next[n] = value
		value += count[n]
		if value > 1<<n {
			return false
		}
	}
	if longest == 0 || value != 1<<longest {
		if longest > 1 || value > 1 {
			return false
		}
		for i := range t[:1<<size] {
			t[i] = isNone | maxCode<<8
		}
	}
	sub := 1 << size // where the next second table goes
	more := max(0, longest-size)
	if more > 0 {
		// Codes of more than size bits come last and begin with the largest
		// numbers: all that begin with them lead to second tables.
		for i := next[size+1] >> 1; i < 1<<size; i++ {
			t[bits.Reverse32(uint32(i))>>(32-size)] = isSub | code(more) | code(sub)<<16
			sub += 1 << more
		}
	}
	for i, n := range lengths {
		if n == 0 {
			continue
		}
		at := int(bits.Reverse32(uint32(next[n])) >> (32 - n))
		next[n]++
		c := symbols[i] + code(n)*oneBit
		if int(n) <= size {
			for ; at < 1<<size; at += 1 << n {
				t[at] = c
			}
			continue
		}
		base := int(t[at&(1<<size-1)] >> 16)
		for at >>= size; at < 1<<more; at += 1 << (int(n) - size) {
			t[base+at] = c
		}
	}
	return true
}

// The meanings of symbols, without the bits of their codes, which table adds.
var (
	litCodes  = slices.Concat(meanings(256, 0, 256, isLiteral), []code{isEnd}, meanings(28, 3, 4, 0), []code{maxMatch << 16, isNone, isNone})
	distCodes = append(meanings(30, 1, 2, 0), isNone, isNone)
	preCodes  = meanings(19, 0, 19, 0)
)

// meanings are those of n symbols for ranges of numbers, from the least on: twice as many
// of them hold one number as double it, and then each so many hold twice as many.
func meanings(n, least, step int, kind code) []code {
	all := make([]code, n)
	for i := range all {
		extra := max(0, i/step-1)
		all[i] = kind | code(least)<<16 | code(extra)
		least += 1 << extra
	}
	return all
}

// fixedLengths are those of the codes of section 3.2.6.
var fixedLengths = slices.Concat(bytes.Repeat([]byte{8}, 144), bytes.Repeat([]byte{9}, 112), bytes.Repeat([]byte{7}, 24), bytes.Repeat([]byte{8}, 8), bytes.Repeat([]byte{5}, 32))
