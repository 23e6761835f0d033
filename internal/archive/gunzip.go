package archive

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// A gunzip reads one member of a gzip file (RFC 1952) and no byte more, which is
// how the offset of the next one is known. It has those that are not unpacked ahead.
type gunzip struct{ z gzip.Reader }

// reset reads the header of the member that in begins with.
func (g *gunzip) reset(in *bufio.Reader) error {
	if err := g.z.Reset(in); err != nil {
		return fmt.Errorf("reading the header of a gzip member: %w", noEOF(err))
	}
	g.z.Multistream(false)
	return nil
}

func (g *gunzip) Read(p []byte) (int, error) { return g.z.Read(p) }

// A gunzips reads the members that a body begins with. What stands behind them is
// none of its business: servers leave rubbish there.
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
