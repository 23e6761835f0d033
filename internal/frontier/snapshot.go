package frontier

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"
)

// This file is the snapshot: the index as it lies in memory, with a header. It is
// derived from the log, so it is written without fsync, checked whole before it
// is used, and may be deleted at any time.

const (
	snapshotName    = "index"
	snapshotMagic   = "spoorsnp"
	snapshotVersion = 1
	snapshotHeader  = 128
	byteOrder       = 0x01020304 // in the byte order of the machine
)

// A SnapshotError says that the snapshot could not be written. The log is whole:
// nothing is lost, only the next opening takes longer.
type SnapshotError struct{ Err error }

func (e *SnapshotError) Error() string {
	return "the snapshot was not written (nothing is lost, opening takes longer): " + e.Err.Error()
}

// Unwrap returns e.Err.
func (e *SnapshotError) Unwrap() error { return e.Err }

// snapshotFields is what the header says behind the magic.
type snapshotFields struct {
	order, version uint32
	id             uint64
	segment        uint64 // up to where the log is in the snapshot
	offset         uint64
	entries        uint64 // the counts of the sections, in their order
	slots          uint64
	hosts          uint64
	handouts       uint64
	lists          uint64
	text           uint64
	names          uint64 // bytes
	body           uint64 // checksum of all sections
	_              [2]uint64
	header         uint64 // checksum of all that stands before it
}

var _ [snapshotHeader - 8]byte = [unsafe.Sizeof(snapshotFields{})]byte{}

// bytesOf is the memory of s.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// of is the inverse of bytesOf; b must be aligned for T.
func of[T any](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// sections are the pieces of the snapshot, in order. Every piece but the last
// begins at a multiple of 8 bytes if its predecessors are padded.
func (x *index) sections() [][]byte {
	return [][]byte{
		bytesOf(x.base), bytesOf(x.more),
		bytesOf(x.slots),
		bytesOf(x.hosts),
		bytesOf(x.handouts),
		bytesOf(x.lists), make([]byte, padding(len(x.lists)*4)),
		x.baseText, x.moreText,
		[]byte(strings.Join(x.names, "\n")),
	}
}

func padding(n int) int { return -n & 7 }

// saveSnapshot writes the index beside the log, which must be on disk.
func (s *Store) saveSnapshot() error {
	part := filepath.Join(s.dir, snapshotName+".part")
	err := s.writeSnapshot(part)
	if err == nil {
		err = os.Rename(part, filepath.Join(s.dir, snapshotName))
	}
	if err != nil {
		os.Remove(part)
		return &SnapshotError{err}
	}
	s.fresh = 0
	return nil
}

func (s *Store) writeSnapshot(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	x := s.x
	h := snapshotFields{
		order: byteOrder, version: snapshotVersion, id: s.log.id,
		segment: uint64(s.log.number), offset: uint64(s.log.offset),
		entries: uint64(x.len()), slots: uint64(len(x.slots)), hosts: uint64(len(x.hosts)),
		handouts: uint64(len(x.handouts)), lists: uint64(len(x.lists)),
		text: uint64(len(x.baseText) + len(x.moreText)),
	}
	var sum uint32
	for i, b := range x.sections() {
		sum = crc32.Update(sum, castagnoli, b)
		if i == len(x.sections())-1 {
			h.names = uint64(len(b))
		}
	}
	h.body = uint64(sum)
	head := append([]byte(snapshotMagic), bytesOf([]snapshotFields{h})...)
	binary.NativeEndian.PutUint64(head[snapshotHeader-8:], uint64(crc32.Checksum(head[:snapshotHeader-8], castagnoli)))
	_, err = f.Write(head)
	for _, b := range x.sections() {
		if err == nil && len(b) > 0 {
			_, err = f.Write(b)
		}
	}
	return errors.Join(err, f.Close())
}

// loadSnapshot makes the index from the snapshot, which holds the log up to from.
// If that cannot be, the index stays nil and the error says why.
func (s *Store) loadSnapshot(from *position) error {
	f, err := os.Open(filepath.Join(s.dir, snapshotName))
	if err != nil {
		return err
	}
	defer f.Close()
	b, unmap, err := mapFile(f)
	if err != nil {
		return err
	}
	x, h, err := parseSnapshot(b)
	if err == nil {
		err = s.fits(h)
	}
	if err != nil {
		unmap()
		return fmt.Errorf("%s: %w", snapshotName, err)
	}
	s.x, s.unmap = x, unmap
	s.log.id = h.id
	*from = position{segment: uint32(h.segment), offset: int64(h.offset), synced: int64(h.offset)}
	return nil
}

// fits tells whether a snapshot is one of this store's log.
func (s *Store) fits(h snapshotFields) error {
	if h.segment == 0 || h.segment > uint64(len(s.log.numbers)) || h.offset < segmentHeader || h.offset > 1<<32 {
		return errors.New("is not of this log")
	}
	f, err := os.Open(s.log.path(uint32(h.segment)))
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, segmentHeader)
	if _, err := io.ReadFull(bufio.NewReaderSize(f, segmentHeader), head); err != nil {
		return err
	}
	id, err := parseSegment(head, uint32(h.segment))
	if err == nil && id != h.id {
		err = errors.New("is not of this log")
	}
	return err
}

var errSnapshot = errors.New("is damaged")

// parseSnapshot makes an index of b, whose memory it keeps using. Whatever b is,
// an index that is returned can be used without fear.
func parseSnapshot(b []byte) (x *index, h snapshotFields, err error) {
	if len(b) < snapshotHeader || string(b[:8]) != snapshotMagic {
		return nil, h, errSnapshot
	}
	h = of[snapshotFields](b[8:snapshotHeader])[0]
	switch {
	case h.order != byteOrder:
		return nil, h, errors.New("was written on another kind of machine")
	case h.version != snapshotVersion:
		return nil, h, fmt.Errorf("has version %d of the format", h.version)
	case h.header != uint64(crc32.Checksum(b[:snapshotHeader-8], castagnoli)):
		return nil, h, errSnapshot
	}
	rest := b[snapshotHeader:]
	if crc32.Checksum(rest, castagnoli) != uint32(h.body) {
		return nil, h, errSnapshot
	}
	take := func(count, size uint64) (piece []byte) {
		if err != nil || count > uint64(len(rest))/size {
			err = errSnapshot
			return nil
		}
		n := count * size
		piece, rest = rest[:n:n], rest[n:]
		return piece
	}
	x = newIndex(h.id)
	x.base = of[entry](take(h.entries, entrySize))
	x.slots = of[uint64](take(h.slots, 8))
	x.hosts = slices.Clone(of[host](take(h.hosts, hostSize)))
	x.handouts = slices.Clone(of[handout](take(h.handouts, handoutSize)))
	x.lists = slices.Clone(of[uint32](take(h.lists, 4)))
	take(uint64(padding(len(x.lists)*4)), 1)
	x.baseText = take(h.text, 1)
	x.names = strings.Split(string(take(h.names, 1)), "\n")
	if err == nil && (len(rest) != 0 || !x.sound()) {
		err = errSnapshot
	}
	if err != nil {
		return nil, h, err
	}
	return x, h, nil
}

// sound tells whether all references in the index lead somewhere.
func (x *index) sound() bool {
	text := uint64(len(x.baseText))
	inText := func(ref uint64) bool { return ref>>16 <= text && ref>>16+ref&0xffff <= text }
	used := 0
	for _, s := range x.slots {
		if s != 0 {
			used++
			if uint64(uint32(s)-1) >= uint64(len(x.base)) {
				return false
			}
		}
	}
	if used != len(x.base) || len(x.slots) > 0 && used == len(x.slots) || len(x.slots) == 0 && len(x.base) > 0 {
		return false
	}
	for i := range x.hosts {
		if !inText(x.hosts[i].text) {
			return false
		}
	}
	for i := range x.base {
		e := &x.base[i]
		if !inText(e.text) || int(e.host) >= len(x.hosts) || int(e.operator) >= len(x.names) || int(e.reason) >= len(x.names) ||
			e.class >= classes || e.parents != 0 && !x.soundList(e.parents) {
			return false
		}
	}
	return len(x.lists) > 0 && len(x.names) < 256 && x.names[0] == ""
}

func (x *index) soundList(at uint32) bool {
	if int(at) >= len(x.lists) {
		return false
	}
	list := x.lists[at+1:]
	n := x.lists[at]
	if n > maxParents || int(n) > len(list) {
		return false
	}
	for _, id := range list[:n] {
		if int(id) >= len(x.base) {
			return false
		}
	}
	return true
}
