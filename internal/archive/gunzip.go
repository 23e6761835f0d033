package archive

import (
	"bufio"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// maxAtOnce limits the size of members that are decompressed at once, in bytes.
const maxAtOnce = 4 << 20

// A gunzip decompresses one gzip member and reads nothing after it, so the offset of the
// next member is known. It behaves like a gzip.Reader of klauspost/compress, which it uses for
// members that it cannot decompress at once.
type gunzip struct {
	lib  gzip.Reader
	fast *inflater
	buf  []byte // output of fast
	data []byte // content of the member if it was decompressed at once; a part of buf
	read int    // number of bytes of data that were read
}

// reset starts to read the member at the start of in. It decompresses the member at once if the
// buffer of in contains the whole member and streaming is false.
func (g *gunzip) reset(in *bufio.Reader, streaming bool) error {
	g.data = nil
	if !streaming && g.decompress(in) {
		return nil
	}
	// A reused Reader would read a corrupt block with the codes of an earlier block, and the
	// error would depend on the data that was read before.
	g.lib = gzip.Reader{}
	if err := g.lib.Reset(in); err != nil {
		return fmt.Errorf("reading the header of a gzip member: %w", noEOF(err))
	}
	g.lib.Multistream(false)
	return nil
}

// decompress decompresses the member at the start of in, and reports whether it succeeded. If
// it returns false, it has consumed nothing of in.
func (g *gunzip) decompress(in *bufio.Reader) bool {
	const maxReads = 4                    // after that the member is read as a stream
	limit := min(16*in.Size(), maxAtOnce) // maximum size of the output
	if g.fast == nil {
		g.fast = new(inflater)
	}
	for reads := 0; ; {
		src, _ := in.Peek(in.Buffered())
		n, size, s := g.fast.member(g.buf, src)
		switch {
		case s == decoded:
			in.Discard(size)
			g.data, g.read = g.buf[:n], 0
			return true
		case s == needInput && reads < maxReads && in.Buffered() < in.Size():
			if _, err := in.Peek(in.Buffered() + 1); err != nil {
				return false
			}
			reads++
		case s == needOutput && len(g.buf) < limit:
			g.buf = make([]byte, min(max(4*len(g.buf), bufferSize), limit))
		default:
			return false
		}
	}
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.data == nil {
		return g.lib.Read(p)
	}
	n := copy(p, g.data[g.read:])
	g.read += n
	if g.read == len(g.data) {
		return n, io.EOF
	}
	return n, nil
}
