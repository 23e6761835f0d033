package archive

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
)

// An inflater unpacks DEFLATE (RFC 1951) and takes no byte of its input that is
// not part of it, which is how the offset of the next gzip member is known. Most
// of the time of reading an archive is spent here: it keeps 64 bits at hand and
// asks for input once a symbol or two, where package flate asks once a byte.
type inflater struct {
	in    *bufio.Reader
	bits  uint64 // taken from in and not used yet, the next one lowest
	n     uint   // how many; less than 8 whenever somebody else may read in
	block blockState
	final bool // the block is the last
	left  int  // bytes of a stored block
	err   error

	buf  []byte // history, and behind it what was not read yet
	r, w int    // read to, written to

	lit  [1<<litBits + 286/2<<(maxCode-litBits)]code
	dist [1<<distBits + 30/2<<(maxCode-distBits)]code
	pre  [1 << preBits]code
}

type blockState int

const (
	blockHead blockState = iota
	blockStored
	blockCodes
)

const (
	historySize = 32 << 10
	maxMatch    = 258
	slack       = maxMatch + 8 // a match, which is copied eight bytes at a time
	maxCode     = 15           // bits of the longest code

	// Codes are looked up by this many bits; those that are longer in a second
	// table, of which each holds two codes at least.
	litBits  = 10
	distBits = 8
	preBits  = 7 // no code of code lengths is longer
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

var errDeflate = errors.New("deflated data is damaged")

// reset starts to unpack what in holds.
func (f *inflater) reset(in *bufio.Reader) {
	if f.buf == nil {
		f.buf = make([]byte, historySize+bufferSize+slack)
	}
	f.in, f.bits, f.n, f.block, f.final, f.err, f.r, f.w = in, 0, 0, blockHead, false, nil, 0, 0
}

func (f *inflater) Read(p []byte) (int, error) {
	b, err := f.next()
	n := copy(p, b)
	f.r += n
	return n, err
}

// next is what was unpacked and not read, at least a byte unless there is an error.
func (f *inflater) next() ([]byte, error) {
	if f.r == f.w && f.err == nil {
		f.fill()
	}
	if f.r == f.w {
		return nil, f.err
	}
	return f.buf[f.r:f.w], nil
}

// fill unpacks as much as there is room for, or to the end.
func (f *inflater) fill() {
	if f.w > historySize {
		copy(f.buf, f.buf[f.w-historySize:f.w])
		f.r, f.w = historySize, historySize
	}
	for f.err == nil && f.w < len(f.buf)-slack {
		switch f.block {
		case blockHead:
			f.err = f.head()
		case blockStored:
			f.err = f.stored()
		case blockCodes:
			f.err = f.codes()
		}
	}
}

// need takes bytes until there are n bits, at most 57.
func (f *inflater) need(n uint) error {
	for f.n < n {
		c, err := f.in.ReadByte()
		if err != nil {
			return noEOF(err)
		}
		f.bits |= uint64(c) << f.n
		f.n += 8
	}
	return nil
}

// take is the next n bits.
func (f *inflater) take(n uint) (uint, error) {
	if err := f.need(n); err != nil {
		return 0, err
	}
	v := uint(f.bits & (1<<n - 1))
	f.bits >>= n
	f.n -= n
	return v, nil
}

// head begins a block, or ends the stream with io.EOF.
func (f *inflater) head() error {
	if f.final {
		return io.EOF
	}
	v, err := f.take(3)
	if err != nil {
		return err
	}
	f.final = v&1 == 1
	switch v >> 1 {
	case 0:
		f.bits, f.n = 0, 0 // the rest of the byte
		size, err := f.take(32)
		if err != nil {
			return err
		}
		if size&0xffff != ^size>>16&0xffff {
			return errDeflate
		}
		f.left, f.block = int(size&0xffff), blockStored
	case 1:
		f.fixed()
		f.block = blockCodes
	case 2:
		f.block = blockCodes
		return f.dynamic()
	default:
		return errDeflate
	}
	return nil
}

// stored copies from a block that is not packed.
func (f *inflater) stored() error {
	if f.left == 0 {
		f.block = blockHead
		return nil
	}
	n, err := f.in.Read(f.buf[f.w:min(f.w+f.left, len(f.buf))])
	f.w += n
	f.left -= n
	return noEOF(err)
}

// fixed makes the tables of RFC 1951, section 3.2.6.
func (f *inflater) fixed() {
	var lengths [288 + 32]uint8
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		case i < 288:
			lengths[i] = 8
		default:
			lengths[i] = 5
		}
	}
	table(f.lit[:], litBits, lengths[:288], litCodes[:])
	table(f.dist[:], distBits, lengths[288:], distCodes[:])
}

// order is that of the lengths of the codes for code lengths.
var order = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the tables of a block (section 3.2.7).
func (f *inflater) dynamic() error {
	v, err := f.take(14)
	if err != nil {
		return err
	}
	nlit, ndist, npre := int(v&31)+257, int(v>>5&31)+1, int(v>>10)+4
	if nlit > 286 || ndist > 30 {
		return errDeflate
	}
	var few [19]uint8
	for _, i := range order[:npre] {
		v, err := f.take(3)
		if err != nil {
			return err
		}
		few[i] = uint8(v)
	}
	if !table(f.pre[:], preBits, few[:], preCodes[:]) {
		return errDeflate
	}
	var lengths [286 + 30]uint8
	for i := 0; i < nlit+ndist; {
		c, err := f.symbol(f.pre[:], preBits)
		if err != nil {
			return err
		}
		sym := c >> 16
		if sym < 16 {
			lengths[i] = uint8(sym)
			i++
			continue
		}
		again, least, extra := uint8(0), 11, uint(7)
		switch sym {
		case 16:
			if i == 0 {
				return errDeflate
			}
			again, least, extra = lengths[i-1], 3, 2
		case 17:
			least, extra = 3, 3
		}
		more, err := f.take(extra)
		if err != nil {
			return err
		}
		n := least + int(more)
		if i+n > nlit+ndist {
			return errDeflate
		}
		for range n {
			lengths[i] = again
			i++
		}
	}
	if !table(f.lit[:], litBits, lengths[:nlit], litCodes[:]) || !table(f.dist[:], distBits, lengths[nlit:nlit+ndist], distCodes[:]) {
		return errDeflate
	}
	return nil
}

// symbol takes the next code, but not its extra bits, a byte at a time.
func (f *inflater) symbol(t []code, size uint) (code, error) {
	for {
		c := t[f.bits&(1<<size-1)]
		if c&isSub != 0 {
			c = t[uint64(c>>16)+f.bits>>size&(1<<(c&0xff)-1)]
		}
		n := uint(c >> 8 & 15)
		if n <= f.n {
			if c&isNone != 0 {
				return 0, errDeflate
			}
			f.bits >>= n
			f.n -= n
			return c, nil
		}
		if err := f.need(f.n + 1); err != nil {
			return 0, err
		}
	}
}

// codes unpacks symbols until there is no room for another or the block ends.
func (f *inflater) codes() error {
	for f.w < len(f.buf)-slack {
		if n := f.in.Buffered(); n >= fastInput {
			in, err := f.in.Peek(n)
			if err != nil {
				return err
			}
			used, err := f.fast(in)
			f.in.Discard(used) // no more than there is
			if err != nil || f.block != blockCodes {
				return err
			}
			if f.w >= len(f.buf)-slack {
				return nil
			}
		}
		if err := f.one(); err != nil || f.block != blockCodes {
			return err
		}
	}
	return nil
}

// one unpacks one symbol with no more input than it takes.
func (f *inflater) one() error {
	c, err := f.symbol(f.lit[:], litBits)
	switch {
	case err != nil:
		return err
	case c&isLiteral != 0:
		f.buf[f.w] = byte(c >> 16)
		f.w++
		return nil
	case c&isEnd != 0:
		f.block = blockHead
		return nil
	}
	extra, err := f.take(uint(c&0xff - c>>8&15))
	if err != nil {
		return err
	}
	length := int(c>>16) + int(extra)
	if c, err = f.symbol(f.dist[:], distBits); err != nil {
		return err
	}
	if extra, err = f.take(uint(c&0xff - c>>8&15)); err != nil {
		return err
	}
	distance := int(c>>16) + int(extra)
	if distance > f.w {
		return errDeflate
	}
	for range length {
		f.buf[f.w] = f.buf[f.w-distance]
		f.w++
	}
	return nil
}

// fastInput is how many bytes of input fast wants to see: it looks 8 bytes ahead
// after having used up to 7, twice.
const fastInput = 24

// fast unpacks symbols as long as there is plenty of input and room. It returns
// how many bytes of in it used.
func (f *inflater) fast(in []byte) (used int, err error) {
	var (
		have, n = f.bits, f.n
		buf, w  = f.buf, f.w
		ip      = 0
		most    = len(in) - fastInput
		room    = len(buf) - slack - 3 // three literals may come before a match
	)
loop:
	for ip <= most && w < room {
		have |= binary.LittleEndian.Uint64(in[ip:]) << (n & 63)
		ip += int(63-n) >> 3
		n |= 56
		c := f.lit[have&(1<<litBits-1)]
		if c&isSub != 0 {
			c = f.lit[uint64(c>>16)+have>>litBits&(1<<(c&31)-1)]
		}
		if c&isLiteral != 0 {
			have >>= c & 63
			n -= uint(c & 63)
			buf[w] = byte(c >> 16)
			w++
			c = f.lit[have&(1<<litBits-1)]
			if c&isLiteral != 0 {
				have >>= c & 63
				n -= uint(c & 63)
				buf[w] = byte(c >> 16)
				w++
				c = f.lit[have&(1<<litBits-1)]
				if c&isLiteral != 0 {
					have >>= c & 63
					n -= uint(c & 63)
					buf[w] = byte(c >> 16)
					w++
					continue
				}
			}
			have |= binary.LittleEndian.Uint64(in[ip:]) << (n & 63)
			ip += int(63-n) >> 3
			n |= 56
			if c&isSub != 0 {
				c = f.lit[uint64(c>>16)+have>>litBits&(1<<(c&31)-1)]
				if c&isLiteral != 0 {
					have >>= c & 63
					n -= uint(c & 63)
					buf[w] = byte(c >> 16)
					w++
					continue
				}
			}
		}
		if c&(isEnd|isNone) != 0 {
			if c&isNone != 0 {
				err = errDeflate
				break
			}
			have >>= c & 63
			n -= uint(c & 63)
			f.block = blockHead
			break
		}
		length := int(c>>16) + int(have&(1<<(c&63)-1)>>(c>>8&15))
		have >>= c & 63
		n -= uint(c & 63)
		// No more than 20 of 56 bits are gone, and a distance takes 28.
		c = f.dist[have&(1<<distBits-1)]
		if c&isSub != 0 {
			c = f.dist[uint64(c>>16)+have>>distBits&(1<<(c&31)-1)]
		}
		distance := int(c>>16) + int(have&(1<<(c&63)-1)>>(c>>8&15))
		if c&isNone != 0 || distance > w {
			err = errDeflate
			break
		}
		have >>= c & 63
		n -= uint(c & 63)
		from, end := w-distance, w+length
		switch {
		case distance >= 8 && length <= 64:
			for {
				binary.LittleEndian.PutUint64(buf[w:], binary.LittleEndian.Uint64(buf[from:]))
				w += 8
				from += 8
				if w >= end {
					w = end
					continue loop
				}
			}
		case distance >= length:
			copy(buf[w:end], buf[from:])
			w = end
		default: // what is copied is copied again
			for w < end {
				w += copy(buf[w:end], buf[from:w])
			}
		}
	}
	// Give back the bytes of which no bit was used.
	ip -= int(n >> 3)
	n &= 7
	f.bits, f.n, f.w = have&(1<<n-1), n, w
	return ip, err
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

// The meanings of symbols: without the bits of the code, which table adds.
var (
	litCodes = func() (all [288]code) {
		for i := range 256 {
			all[i] = isLiteral | code(i)<<16
		}
		all[256] = isEnd
		least := 3
		for i := range 28 {
			extra := max(0, i/4-1)
			all[257+i] = code(least)<<16 | code(extra)
			least += 1 << extra
		}
		all[285] = maxMatch << 16
		all[286], all[287] = isNone, isNone
		return all
	}()

	distCodes = func() (all [32]code) {
		least := 1
		for i := range 30 {
			extra := max(0, i/2-1)
			all[i] = code(least)<<16 | code(extra)
			least += 1 << extra
		}
		all[30], all[31] = isNone, isNone
		return all
	}()

	preCodes = func() (all [19]code) {
		for i := range all {
			all[i] = code(i) << 16
		}
		return all
	}()
)
