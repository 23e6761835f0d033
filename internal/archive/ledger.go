package archive

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sync"
)

const (
	ledgerSuffix = ".captures"
	ledgerMagic  = "spoor captures 1"

	entrySize  = 32
	bucketSize = 8 * entrySize // of the header, too

	// A ledger begins with 2^minLedger buckets, which is 64 KiB, and stops
	// growing at 2^maxLedger: 8 MiB for 262,144 entries.
	minLedger = 8
	maxLedger = 15
)

// A key is what a capture is looked up by: the beginning of the digest of its
// payload, or of its address. What is found is compared with all of it.
type key [16]byte

// A position is where a record was written.
type position struct {
	file   uint32 // checksum of the name of the file
	offset int64
}

func nameSum(name string) uint32 { return crc32.ChecksumIEEE([]byte(name)) }

// A ledger remembers where payloads were written, and which capture of an
// address is the newest, from one process to the next. It is a hash table in a
// file that is never read as a whole: buckets of eight entries, each a list with
// the newest first, from which the oldest falls off at the end.
//
// It may forget and it may be out of date, but does no harm if it is: each entry
// has a checksum, and whoever finds a place looks at the record there. So nothing
// is synced, and several processes may write to one ledger at once.
//
//	header  "spoor captures 1", logarithm of the number of buckets
//	entry   key, file, offset, CRC-32 of what is before it
type ledger struct {
	f    *os.File
	mu   sync.Mutex
	bits int // 2^bits buckets

	old, new [bucketSize]byte
}

// openLedger opens the ledger at path, or makes one.
func openLedger(path string) (*ledger, error) {
	f, err := openFile(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	l := &ledger{f: f, bits: minLedger}
	var head [bucketSize]byte
	n, err := f.ReadAt(head[:], 0)
	switch {
	case err != nil && err != io.EOF:
	case n < len(head): // new, or torn when it was
		err = l.writeHead()
	case string(head[:len(ledgerMagic)]) != ledgerMagic:
		err = fmt.Errorf("%s is no list of captures (hint: remove it or take another prefix)", path)
	default:
		err = nil
		l.bits = min(max(int(head[len(ledgerMagic)]), minLedger), maxLedger)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

func (l *ledger) writeHead() error {
	var head [bucketSize]byte
	head[copy(head[:], ledgerMagic)] = byte(l.bits)
	_, err := l.f.WriteAt(head[:], 0)
	return err
}

func (l *ledger) close() error { return l.f.Close() }

// at is the offset of the bucket of a key.
func (l *ledger) at(k key) int64 {
	return bucketSize * (1 + int64(binary.LittleEndian.Uint16(k[:]))&(1<<l.bits-1))
}

// bucket reads the good entries of a bucket.
func (l *ledger) bucket(at int64) []byte {
	n, _ := l.f.ReadAt(l.old[:], at) // what cannot be read was never written
	all := l.old[:0]
	for e := range slices.Chunk(l.old[:n-n%entrySize], entrySize) {
		if crc32.ChecksumIEEE(e[:28]) == binary.LittleEndian.Uint32(e[28:]) {
			all = append(all, e...)
		}
	}
	return all
}

// get is the place that was put last for the key.
func (l *ledger) get(k key) (position, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := range slices.Chunk(l.bucket(l.at(k)), entrySize) {
		if key(e) == k {
			return position{binary.LittleEndian.Uint32(e[16:]), int64(binary.LittleEndian.Uint64(e[20:]))}, true
		}
	}
	return position{}, false
}

// put remembers the place for the key. If it cannot, as on a full disk, the next
// who asks does not find it.
func (l *ledger) put(k key, p position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.bucket(l.at(k))
	if len(all) == bucketSize && l.bits < maxLedger {
		l.grow()
		all = l.bucket(l.at(k))
	}
	l.new = [bucketSize]byte{}
	e := append(l.new[:0], k[:]...)
	e = binary.LittleEndian.AppendUint32(e, p.file)
	e = binary.LittleEndian.AppendUint64(e, uint64(p.offset))
	e = binary.LittleEndian.AppendUint32(e, crc32.ChecksumIEEE(e))
	for old := range slices.Chunk(all, entrySize) {
		if len(e) < bucketSize && key(old) != k {
			e = append(e, old...)
		}
	}
	l.f.WriteAt(l.new[:], l.at(k))
}

// grow doubles the number of buckets: a bucket keeps some of its entries, and
// the others move as far behind it as the file was long. If it is torn, those
// that had to move are lost.
func (l *ledger) grow() {
	half := int64(1) << l.bits
	data := make([]byte, 2*half*bucketSize)
	wider := ledger{bits: l.bits + 1}
	for i := range half {
		var ends [2]int64
		for e := range slices.Chunk(l.bucket((1+i)*bucketSize), entrySize) {
			side := (wider.at(key(e))/bucketSize - 1) >> l.bits
			copy(data[(i+side*half)*bucketSize+ends[side]:], e)
			ends[side] += entrySize
		}
	}
	l.bits++
	if _, err := l.f.WriteAt(data, bucketSize); err == nil {
		l.writeHead()
	}
}
