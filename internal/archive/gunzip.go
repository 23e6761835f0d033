package archive

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// A gunzip reads one member of a gzip file (RFC 1952) and no byte more.
type gunzip struct {
	f   inflater
	sum uint32
	n   uint32 // bytes, modulo 2³² as in the trailer
	err error

	some [16]byte // of the header
}

var (
	errGzip     = errors.New("header of a gzip member is damaged")
	errChecksum = errors.New("checksum of a gzip member is wrong")
)

const (
	gzipHeaderSum = 1 << 1
	gzipExtra     = 1 << 2
	gzipName      = 1 << 3
	gzipComment   = 1 << 4
)

// reset reads the header of the member that in begins with.
func (z *gunzip) reset(in *bufio.Reader) error {
	z.f.reset(in)
	z.sum, z.n, z.err = 0, 0, nil
	head, err := z.head(10)
	if err != nil {
		return err
	}
	if string(head[:3]) != string(gzipMagic) {
		return errGzip
	}
	flags := head[3]
	if flags&gzipExtra != 0 {
		size, err := z.head(2)
		if err != nil {
			return err
		}
		for left := int(binary.LittleEndian.Uint16(size)); left > 0; {
			some, err := z.head(min(left, len(z.some)))
			if err != nil {
				return err
			}
			left -= len(some)
		}
	}
	for _, flag := range []byte{gzipName, gzipComment} {
		for more := flags&flag != 0; more; {
			c, err := z.head(1)
			if err != nil {
				return err
			}
			more = c[0] != 0
		}
	}
	if flags&gzipHeaderSum != 0 {
		want := uint16(z.sum)
		got, err := z.head(2)
		if err != nil {
			return err
		}
		if binary.LittleEndian.Uint16(got) != want {
			return errGzip
		}
	}
	z.sum = 0
	return nil
}

// head reads a few bytes of the header, or of the trailer.
func (z *gunzip) head(n int) ([]byte, error) {
	b := z.some[:n]
	_, err := io.ReadFull(z.f.in, b)
	z.sum = crc32.Update(z.sum, crc32.IEEETable, b)
	return b, noEOF(err)
}

func (z *gunzip) Read(p []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.f.Read(p)
	z.sum = crc32.Update(z.sum, crc32.IEEETable, p[:n])
	z.n += uint32(n)
	if err == io.EOF {
		err = z.end()
	}
	z.err = err
	return n, err
}

// end reads the trailer. It is io.EOF if that is right.
func (z *gunzip) end() error {
	sum, n := z.sum, z.n
	tail, err := z.head(8)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(tail) != sum || binary.LittleEndian.Uint32(tail[4:]) != n {
		return errChecksum
	}
	return io.EOF
}

// gunzips reads one member after the other, up to the end or to what is none.
type gunzips struct{ gunzip }

func (z *gunzips) Read(p []byte) (int, error) {
	for {
		n, err := z.gunzip.Read(p)
		if err != io.EOF {
			return n, err
		}
		if head, _ := z.f.in.Peek(len(gzipMagic)); !bytes.Equal(head, gzipMagic) {
			return n, io.EOF
		}
		if err := z.reset(z.f.in); err != nil || n > 0 {
			return n, err
		}
	}
}
