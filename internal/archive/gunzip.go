package archive

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// A gunzip decompresses one gzip member and reads nothing behind it, so the offset of the
// next member is known. It reads like a gzip.Reader of klauspost/compress, which it uses for
// members that it cannot decompress at once.
type gunzip struct {
	lib    gzip.Reader
	whole  bool // the member was decompressed at once
	fast   *inflater
	buf    []byte // output of fast
	unread []byte // of buf
	size   int    // of unread at first
}

// reset starts to read the member at the start of in: at once, if it is complete in in's
// buffer, unless streaming is set.
func (g *gunzip) reset(in *bufio.Reader, streaming bool) error {
	if g.whole = !streaming && g.decompress(in); g.whole {
		return nil
	}
	// A Reader that is reused would read a corrupt block with the codes of an earlier one,
	// and the error would depend on what was read before.
	g.lib = gzip.Reader{}
	if err := g.lib.Reset(in); err != nil {
		return fmt.Errorf("reading the header of a gzip member: %w", noEOF(err))
	}
	g.lib.Multistream(false)
	return nil
}

// decompress decompresses the member at the start of in, and reports whether it could. If
// not, nothing of in was consumed.
func (g *gunzip) decompress(in *bufio.Reader) bool {
	const maxReads = 4      // after that the member is read as a stream
	limit := 16 * in.Size() // of the output
	if g.fast == nil {
		g.fast = new(inflater)
	}
	for reads := 0; ; {
		src, _ := in.Peek(in.Buffered())
		n, size, s := g.fast.member(g.buf, src)
		switch {
		case s == decoded:
			in.Discard(size)
			g.unread, g.size = g.buf[:n], n
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
	if !g.whole {
		return g.lib.Read(p)
	}
	// The first read is for the header of a record. It is kept short, so that the caller does
	// not buffer much of the block before it reads that directly.
	const firstRead = 2 << 10
	if len(g.unread) == g.size {
		p = p[:min(len(p), firstRead)]
	}
	n := copy(p, g.unread)
	g.unread = g.unread[n:]
	if len(g.unread) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// A gunzips reads the gzip members at the start of a body. Anything behind them is ignored:
// some servers append rubbish.
type gunzips struct {
	z   gzip.Reader
	src *bytes.Reader
}

func (g *gunzips) reset(src *bytes.Reader) error {
	g.src = src
	err := g.z.Reset(src)
	g.z.Multistream(false)
	return err
}

func (g *gunzips) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		switch {
		case err != io.EOF:
			return n, err
		case n > 0:
			return n, nil
		case g.reset(g.src) != nil:
			return 0, io.EOF
		}
	}
}
