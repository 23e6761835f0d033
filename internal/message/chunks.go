package message

import (
	"bytes"
	"strconv"
)

// Limits of the line before a chunk, with its extensions, and of the trailer, in bytes.
const (
	maxSizeLine = 4 << 10
	maxTrailer  = 64 << 10
)

// Chunks removes the chunk framing of a body (RFC 9112, section 7.1), piece by piece. The zero
// value is at the start of a body.
//
// If the first chunk is malformed, the body has no chunks, which occurs in archives. If a later one
// is malformed, it counts as content, with all data after it, and the body is not whole. Line
// breaks may be bare newlines.
type Chunks struct {
	state chunkState
	left  uint64 // number of bytes of the chunk, or of the longest trailer, that are left
	line  []byte // the start of a size line that is incomplete
	begun bool   // a chunk has begun
}

type chunkState int

const (
	sizeLine chunkState = iota
	chunkData
	chunkCR // before the line break after a chunk, which may be missing
	chunkLF
	trailer     // at the start of a line after the last chunk
	trailerLine // within such a line
	trailerLF   // after CR at the start of such a line
	ended
	malformed
)

// Next reads the start of b: it returns the next piece of content, and the number of bytes that it
// has read. The content is valid until the next call and as long as b. If it is empty, Next has
// read all of b, or the body has ended.
func (c *Chunks) Next(b []byte) (content []byte, n int) {
	for n < len(b) {
		rest := b[n:]
		switch c.state {
		case sizeLine:
			i := bytes.IndexByte(rest, '\n') + 1
			if i == 0 {
				i = len(rest)
			}
			i = min(i, maxSizeLine+1-len(c.line))
			c.line = append(c.line, rest[:i]...)
			n += i
			if c.readSize(); c.state == malformed {
				return c.line, n
			}
		case chunkData:
			k := int(min(c.left, uint64(len(rest))))
			if c.left -= uint64(k); c.left == 0 {
				c.state = chunkCR
			}
			return rest[:k], n + k
		case chunkCR:
			c.state = chunkLF
			if rest[0] == '\r' {
				n++
			}
		case chunkLF:
			c.state = sizeLine
			if rest[0] == '\n' {
				n++
			}
		case trailer, trailerLF, trailerLine:
			switch {
			case rest[0] == '\n' && c.state == trailerLine:
				c.state = trailer
			case rest[0] == '\n' || c.left == 0:
				c.state = ended
			case rest[0] == '\r' && c.state == trailer:
				c.state = trailerLF
			default:
				c.state = trailerLine
			}
			c.left--
			n++
		case malformed:
			return rest, len(b)
		case ended:
			return nil, n
		}
	}
	return nil, n
}

// readSize reads the line before a chunk, if it is complete.
func (c *Chunks) readSize() {
	whole := c.line[len(c.line)-1] == '\n'
	switch {
	case len(c.line) > maxSizeLine:
		c.state = malformed
		return
	case !whole:
		return
	}
	size, _, _ := bytes.Cut(c.line, []byte(";"))
	n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 63)
	switch {
	case err != nil:
		c.state = malformed
		return
	case n == 0:
		c.state, c.left = trailer, maxTrailer
	default:
		c.state, c.left = chunkData, n
	}
	c.begun, c.line = true, c.line[:0]
}

// Ended reports whether the last chunk and the trailer after it were read. A longer trailer than 64
// KiB is cut.
func (c *Chunks) Ended() bool { return c.state == ended }

// Malformed reports whether a chunk is malformed; if it is the first one, the body has no chunks.
func (c *Chunks) Malformed() (isMalformed, first bool) { return c.state == malformed, !c.begun }

// Close ends the body where the input ended. It returns the rest of the content, once, and reports
// whether the body is whole: the last chunk was read, or there are no chunks at all.
func (c *Chunks) Close() (content []byte, whole bool) {
	if !c.begun && c.state == sizeLine {
		c.state = malformed
		return c.line, true
	}
	return nil, c.state >= trailer && (c.state != malformed || !c.begun)
}

// Dechunk removes the chunk framing of a body by the rules of [Chunks]. It returns raw itself if
// that has no chunks; otherwise the content is stored in dst, if the capacity of dst suffices for
// raw. whole is false if the last chunk is missing, or a later chunk than the first is malformed.
func Dechunk(dst, raw []byte) (content []byte, whole bool) {
	var c Chunks
	for rest := raw; len(rest) > 0 && !c.Ended(); {
		piece, n := c.Next(rest)
		rest = rest[n:]
		if !c.begun {
			continue
		}
		if content == nil {
			if content = dst[:0]; cap(dst) < len(raw) {
				content = make([]byte, 0, len(raw))
			}
		}
		content = append(content, piece...)
	}
	if _, whole = c.Close(); !c.begun {
		return raw, whole
	}
	return content, whole
}
