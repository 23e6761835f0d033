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
	bucketSize = 8 * entrySize // the header has the same size

	// A ledger starts with 2^minLedger buckets, in 64 KiB, and grows up to 2^maxLedger buckets:
	// 8 MiB for 262,144 entries.
	minLedger = 8
	maxLedger = 15
)

// A key is the start of the digest of a payload or a URL. Different payloads or URLs may have the
// same key, so the record that is found by a key must be compared with the full digest or URL.
type key [16]byte

// A position is the position of a record.
type position struct {
	file   uint32 // checksum of the file name
	offset int64
}

func nameSum(name string) uint32 { return crc32.ChecksumIEEE([]byte(name)) }

// A ledger stores where payloads were written, and the newest capture of each URL, for all
// processes with the same prefix. It is a hash table in a file, with buckets of eight entries,
// the newest first; in a full bucket the oldest is dropped.
//
// Entries may be lost or out of date: each entry has a checksum, and readers check the record that
// it refers to. Therefore the file is never synced, and several processes may write to it.
//
//	header  "spoor captures 1", logarithm of the number of buckets, 1
//	entry   key, file, offset, CRC-32 of these
type ledger struct {
	f    *os.File
	mu   sync.Mutex
	bits int // there are 2^bits buckets

	old, new [bucketSize]byte
}

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
	case n < len(head): // new, or truncated when it was created
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
	n := copy(head[:], ledgerMagic)
	head[n], head[n+1] = byte(l.bits), 1
	_, err := l.f.WriteAt(head[:], 0)
	return err
}

func (l *ledger) close() error { return l.f.Close() }

// at returns the offset of the bucket of a key.
func (l *ledger) at(k key) int64 {
	return bucketSize * (1 + int64(binary.LittleEndian.Uint16(k[:]))&(1<<l.bits-1))
}

// bucket reads the valid entries of a bucket.
func (l *ledger) bucket(at int64) []byte {
	n, _ := l.f.ReadAt(l.old[:], at) // bytes that cannot be read were never written
	all := l.old[:0]
	for e := range slices.Chunk(l.old[:n-n%entrySize], entrySize) {
		if crc32.ChecksumIEEE(e[:28]) == binary.LittleEndian.Uint32(e[28:]) {
			all = append(all, e...)
		}
	}
	return all
}

// get returns the latest position that was stored for the key.
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

// put stores the position for the key. It ignores errors, for example on a full disk; then get does
// not find the position later.
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

// grow doubles the number of buckets. The entries of a bucket either stay or move to the second
// half of the file. If writing fails, entries that had to move are lost.
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
