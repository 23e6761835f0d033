package archive

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
)

// An inflater unpacks gzip members (RFC 1951, 1952) out of memory into memory: half of
// the time that a page takes is spent here. The library is half as fast, because it reads
// byte by byte and writes through a window. It remains the judge of all else: of what is
// torn or damaged, very large, or has in its header what hardly any has. What was unpacked
// here is believed because its length and its checksum are right.
type inflater struct {
	in  []byte // from the first byte of the member on
	at  int    // bits of it that were read
	out []byte // as long as there is room
	n   int    // bytes of it that were written

	stage stage
	last  bool // no block follows
	left  int  // bytes of the block that are still to be copied

	lit  [1<<litBits + 286/2<<(maxCode-litBits)]code
	dist [1<<distBits + 30/2<<(maxCode-distBits)]code
	pre  [1 << preBits]code
}

// A stage is what comes next in a member.
type stage int

const (
	heading stage = iota // the header of the member
	between              // that of a block, or the end
	inCopy               // bytes that are not packed
	inCodes              // codes
)

// A progress is how far an inflater came. It goes on where it stands when it got what it lacks.
type progress int

const (
	done    progress = iota // behind the member, which is what it says of itself
	short                   // more input is needed
	full                    // more room is needed
	refused                 // it is for the library
)

// tailSize is how long the end of a member is, its checksum and length. It is never looked
// further ahead than so many bytes.
const tailSize = 8

const (
	maxCode = 15 // bits of the longest code

	// Codes are looked up by this many bits; those that are longer in a second
	// table, of which each holds two codes at least.
	litBits  = 11
	distBits = 8
	preBits  = 7 // no code of code lengths is longer

	maxMatch    = 258
	maxDistance = maxCode + 13 // bits of one

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

// member unpacks a member, which is all that in holds, into the capacity of out. It tells
// whether it is for us.
func (f *inflater) member(out, in []byte) ([]byte, bool) {
	if len(in) < tailSize {
		return nil, false
	}
	size := int64(binary.LittleEndian.Uint32(in[len(in)-4:]))
	if size+inflateSlack > int64(cap(out)) {
		return nil, false
	}
	f.start()
	f.in, f.out = in, out[:size+inflateSlack]
	ok := f.run() == done && f.at/8 == len(in)
	f.in, f.out = nil, nil
	return out[:size], ok
}

// start begins with a member.
func (f *inflater) start() { f.at, f.n, f.stage, f.last = 0, 0, heading, false }

// run unpacks to the end of the member, or as far as it can.
func (f *inflater) run() progress {
	if len(f.in) < tailSize {
		return short
	}
	for {
		p := done
		switch begin := f.at; f.stage {
		case heading:
			p = f.heading()
		case between:
			if f.last {
				return f.end()
			}
			ok := f.block()
			switch {
			case f.at > 8*(len(f.in)-tailSize): // what was read may have been behind the end
				f.at, f.stage, f.last = begin, between, false
				return short
			case !ok:
				return refused
			}
		case inCopy:
			p = f.copied()
		case inCodes:
			p = f.codes()
		}
		if p != done {
			return p
		}
	}
}

// Flags of a header that are understood. Any others are for the library, and so is a
// name that is too long for it.
const (
	hasExtra = 1 << 2
	hasName  = 1 << 3
	maxName  = 512
)

// heading reads the header of the member (RFC 1952, section 2.3).
func (f *inflater) heading() progress {
	const fixed = 10
	switch flags := f.in[len(gzipMagic)]; {
	case !bytes.HasPrefix(f.in, gzipMagic) || flags&^(hasExtra|hasName) != 0:
		return refused
	case len(f.in) < fixed+2:
		return short
	default:
		size := fixed
		if flags&hasExtra != 0 {
			size += 2 + int(binary.LittleEndian.Uint16(f.in[size:]))
		}
		if size > len(f.in) {
			return short
		}
		if flags&hasName != 0 {
			name := bytes.IndexByte(f.in[size:min(size+maxName, len(f.in))], 0)
			switch {
			case name >= 0:
				size += name + 1
			case len(f.in) < size+maxName:
				return short
			default:
				return refused
			}
		}
		f.at, f.stage = 8*size, between
		return done
	}
}

// end compares what was unpacked with what the member says of it.
func (f *inflater) end() progress {
	at := (f.at + 7) / 8
	if at > len(f.in)-tailSize {
		return short
	}
	tail := f.in[at:]
	if binary.LittleEndian.Uint32(tail) != crc32.ChecksumIEEE(f.out[:f.n]) || binary.LittleEndian.Uint32(tail[4:]) != uint32(f.n) {
		return refused
	}
	f.at = 8 * (at + tailSize)
	return done
}

// block reads the header of a block, and tells whether it is one.
func (f *inflater) block() bool {
	f.last = f.take(1) == 1
	kind := f.take(2)
	f.stage = inCodes
	switch kind {
	case 0: // RFC 1951, section 3.2.4
		f.at = (f.at + 7) &^ 7
		n, not := f.take(16), f.take(16)
		f.stage, f.left = inCopy, n
		return n == not^0xffff
	case 1:
		return table(f.lit[:], litBits, fixedLengths[:288], litCodes) && table(f.dist[:], distBits, fixedLengths[288:], distCodes)
	case 2:
		return f.dynamic()
	}
	return false
}

// copied copies to the end of a block that is not packed.
func (f *inflater) copied() progress {
	from := f.at / 8
	in := f.in[from:min(from+f.left, len(f.in)-tailSize)]
	n := copy(f.out[f.n:max(f.n, len(f.out)-inflateSlack)], in)
	f.at, f.n, f.left = f.at+8*n, f.n+n, f.left-n
	switch {
	case f.left == 0:
		f.stage = between
		return done
	case n < len(in):
		return full
	}
	return short
}

// take is the next n bits. If there are not so many before the last tailSize bytes they may
// be wrong, which whoever takes them finds out by where they end.
func (f *inflater) take(n int) int {
	next := binary.LittleEndian.Uint64(f.in[min(f.at>>3, len(f.in)-8):]) >> (f.at & 7)
	f.at += n
	return int(next & (1<<n - 1))
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

// codes unpacks to the end of the block. It holds the next bits, of which n count: those
// above are the ones that follow or 0, and come again with the bytes from pos on. Only near
// the end of the input, where there are no eight such bytes, are they taken from where they lie.
// It does what mostCodes leaves: on some processors that is what is near the ends.
func (f *inflater) codes() progress {
	in, out := f.in, f.out
	if f.at>>3 > len(in)-tailSize {
		return short
	}
	next, n, pos, w, p := f.mostCodes(bitsAt(in, f.at))
	if p != short {
		f.at, f.n, f.stage = 8*pos-n, w, between
		return p
	}
	for w <= len(out)-inflateSlack {
		if pos <= len(in)-8 {
			next |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
			pos += (63 - n) >> 3
			n |= 56
		} else {
			at := 8*pos - n
			if at>>3 > len(in)-tailSize {
				f.at, f.n = at, w
				return short
			}
			next, n, pos = bitsAt(in, at)
		}
		// Two short literals leave 27 bits of 49: enough for any third, or for a length.
		c := f.lit[next&(1<<litBits-1)]
		if c&isLiteral != 0 {
			next >>= c & 63
			n -= int(c & 63)
			out[w] = byte(c >> 16)
			w++
			c = f.lit[next&(1<<litBits-1)]
			if c&isLiteral != 0 {
				next >>= c & 63
				n -= int(c & 63)
				out[w] = byte(c >> 16)
				w++
				c = f.lit[next&(1<<litBits-1)]
			}
		}
		if c&isSub != 0 {
			c = f.lit[uint64(c>>16)+next>>litBits&(1<<(c&31)-1)]
		}
		took := int(c & 63)
		length := int(c>>16) + int(next&(1<<(c&63)-1)>>(c>>8&15))
		next >>= c & 63
		n -= took
		if c&(isLiteral|isEnd|isNone) != 0 {
			switch {
			case c&isLiteral != 0:
				out[w] = byte(c >> 16)
				w++
				continue
			case c&isEnd != 0:
				f.at, f.n, f.stage = 8*pos-n, w, between
				return done
			}
			return refused
		}
		if n < maxDistance {
			if pos <= len(in)-8 {
				next |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
				pos += (63 - n) >> 3
				n |= 56
			} else {
				at := 8*pos - n
				if at>>3 > len(in)-tailSize {
					f.at, f.n = at-took, w
					return short
				}
				next, n, pos = bitsAt(in, at)
			}
		}
		c = f.dist[next&(1<<distBits-1)]
		if c&isSub != 0 {
			c = f.dist[uint64(c>>16)+next>>distBits&(1<<(c&31)-1)]
		}
		distance := int(c>>16) + int(next&(1<<(c&63)-1)>>(c>>8&15))
		next >>= c & 63
		n -= int(c & 63)
		if c&isNone != 0 || distance > w {
			return refused
		}
		from, end := w-distance, w+length
		switch {
		case distance >= 16 && length <= 48: // what is too much is written over
			dst, src := (*[48]byte)(out[w:]), (*[48]byte)(out[from:])
			*(*[16]byte)(dst[:]) = [16]byte(src[:])
			if length > 16 {
				*(*[16]byte)(dst[16:]) = [16]byte(src[16:])
			}
			if length > 32 {
				*(*[16]byte)(dst[32:]) = [16]byte(src[32:])
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
	f.at, f.n = 8*pos-n, w
	return full
}

// bitsAt is the bits from the one at on, how many of them count, and where the bytes behind
// those begin.
func bitsAt(in []byte, at int) (next uint64, n, pos int) {
	return binary.LittleEndian.Uint64(in[at>>3:]) >> (at & 7), 56 - at&7, at>>3 + 7
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
	var place [maxCode + 1]int // where the next symbol of a length stands among the sorted
	places, codes := 0, 0
	for n := 1; n <= longest; n++ {
		place[n] = places
		places += count[n]
		codes = codes<<1 + count[n]
		if codes > 1<<n {
			return false
		}
	}
	if codes != 1<<longest && (longest > 1 || codes > 1) {
		return false
	}
	var sorted [288]uint16
	for i, n := range lengths {
		if n > 0 {
			sorted[place[n]] = uint16(i)
			place[n]++
		}
	}
	// The table for codes of n bits begins as the one for those of a bit less, twice.
	next, left := uint(0), sorted[:places]
	t[0] = isNone | maxCode<<8
	for n := 1; n <= size; n++ {
		copy(t[1<<(n-1):1<<n], t[:1<<(n-1)])
		for _, i := range left[:count[n]] {
			t[next] = symbols[i] + code(n)*oneBit
			next = following(next, n)
		}
		left = left[count[n]:]
	}
	if longest <= size {
		return true
	}
	// What is left of it leads to second tables.
	more := longest - size
	for at, sub := next, 1<<size; ; sub += 1 << more {
		t[at] = isSub | code(more) | code(sub)<<16
		if at = following(at, size); at == 0 {
			break
		}
	}
	for n := size + 1; n <= longest; n++ {
		for _, i := range left[:count[n]] {
			base := uint(t[next&(1<<size-1)] >> 16)
			for at := next >> size; at < 1<<more; at += 1 << (n - size) {
				t[base+at] = symbols[i] + code(n)*oneBit
			}
			next = following(next, n)
		}
		left = left[count[n]:]
	}
	return true
}

// following is the code behind one of n bits, both with their first bit lowest; 0 behind the
// last.
func following(c uint, n int) uint {
	zeros := c ^ (1<<n - 1)
	if zeros == 0 {
		return 0
	}
	carry := uint(1) << (bits.Len(zeros) - 1)
	return c&(carry-1) | carry
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
