package exchange

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxBlock is the maximum size of a block before compression, in bytes. By default NATS servers accept
// messages of up to 1 MiB, and data that cannot be compressed hardly grows.
const maxBlock = 512 << 10

// maxBlocks is the maximum number of blocks in a commit.
const maxBlocks = 1 << 16

// A Block describes a message with lines of records, or with a piece of a file.
type Block struct {
	To      string `json:"to"`      // a partition, or one of the files of the strategy
	Seq     uint64 `json:"seq"`     // sequence number of the message in the stream
	Records int    `json:"records"` // lines; 0 in a piece of a file
	Bytes   int    `json:"bytes"`   // size before compression
	Sum     string `json:"sum"`     // checksum of these bytes
}

// The destinations of blocks that are files, not records for a partition.
const (
	toJournal = "j" // what a generation appended to the journal of the strategy
	toTopic   = "t" // the topic after a generation
	toNodes   = "f" // the files for all nodes: a JSON object of their contents by name
)

// sum returns the checksum of data: the first half of its SHA-256 in hexadecimal digits.
func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:16])
}

// encoder and decoder are created only once, because creating one takes longer than compressing a
// block. Both are safe for concurrent use.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(maxBlock))
		if err != nil {
			panic(err) // the options are constant
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxBlock), zstd.WithDecoderMaxWindow(8<<20))
		if err != nil {
			panic(err)
		}
		return d
	})
)

// pack compresses data, which has at most maxBlock bytes.
func pack(data []byte) []byte { return encoder().EncodeAll(data, nil) }

// errBlock is returned for a block whose content differs from what the commit describes.
var errBlock = errors.New("the block does not have the content that its commit describes")

// unpack returns the content of the message that b describes. It decompresses at most b.Bytes bytes,
// and returns an error for a message with other content.
func (b *Block) unpack(message []byte) ([]byte, error) {
	if b.Bytes < 0 || b.Bytes > maxBlock {
		return nil, fmt.Errorf("%w: it has %d bytes, and at most %d are permitted", errBlock, b.Bytes, maxBlock)
	}
	data, err := decoder().DecodeAll(message, make([]byte, 0, b.Bytes))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBlock, err)
	}
	switch {
	case len(data) != b.Bytes:
		return nil, fmt.Errorf("%w: %d bytes instead of %d", errBlock, len(data), b.Bytes)
	case sum(data) != b.Sum:
		return nil, fmt.Errorf("%w: its checksum is %s instead of %s", errBlock, sum(data), b.Sum)
	case b.To != toJournal && b.To != toTopic && b.To != toNodes && (bytes.Count(data, []byte("\n")) != b.Records || len(data) > 0 && data[len(data)-1] != '\n'):
		return nil, fmt.Errorf("%w: %d lines instead of %d", errBlock, bytes.Count(data, []byte("\n")), b.Records)
	}
	return data, nil
}

// A packer collects lines for one destination in pieces of at most maxBlock bytes.
type packer struct {
	pieces [][]byte
}

// add adds a line with its newline.
func (p *packer) add(line []byte) error {
	if len(line) > maxBlock {
		return fmt.Errorf("a record has %d bytes, and at most %d can be exchanged\nhint: a stage adds large fields; evolve removes only text and links", len(line), maxBlock)
	}
	if n := len(p.pieces); n == 0 || len(p.pieces[n-1])+len(line) > maxBlock {
		p.pieces = append(p.pieces, nil)
	}
	n := len(p.pieces) - 1
	p.pieces[n] = append(p.pieces[n], line...)
	return nil
}

// cut divides a file into pieces.
func cut(data []byte) (pieces [][]byte) {
	for len(data) > 0 {
		n := min(len(data), maxBlock)
		pieces = append(pieces, data[:n])
		data = data[n:]
	}
	return pieces
}
