package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"sort"

	"spoor/internal/wire"
)

// A store is a file:
//
//	answers   {"url":"…",members}, a line each, in the order of the records that made them
//	entries   sorted by fingerprint, then offset; of entrySize bytes, little-endian:
//	          fingerprint of the url (8), offset (8), length (4) and checksum (4) of the line
//	footer    offset of the first entry (8), number of entries (8), checksum of these (4), magic (12)
//
// Checksums are CRC-32C. The file is written from its beginning to its end, and
// renamed to its name when it is whole.
const (
	entrySize  = 24
	footerSize = 32
	magic      = "spoor memo1\n"
)

// maxLine is how long a line of a store may be: the longest record, and a url once more.
const maxLine = 2 * wire.DefaultLimit

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errNoStore is about a file that is no store, or not all of one.
var errNoStore = errors.New("this is no store of memo, or not all of one\nhint: memo -fill makes one")

// An entry says where the answer for an address is.
type entry struct {
	fingerprint uint64
	offset      int64
	length      uint32 // of the line
	sum         uint32 // of the line
}

// fingerprint is that of an address. Nobody can make addresses of which many have the
// same.
func fingerprint(url string) uint64 {
	sum := sha256.Sum256([]byte(url))
	return binary.LittleEndian.Uint64(sum[:])
}

// beginning is how the line of an address begins; what follows is a comma or a brace.
func beginning(url string) []byte {
	quoted, err := json.Marshal(url)
	if err != nil {
		panic(err) // a string has always a JSON form
	}
	return append([]byte(`{"url":`), quoted...)
}

// --- reading ----------------------------------------------------------------

// A store answers addresses.
type store struct {
	file    *os.File
	entries int64 // offset of the first
	count   int64
}

// open opens a store; of a file that is none the error is [errNoStore].
func open(name string) (*store, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w\nhint: memo -fill makes it", err)
	}
	s := &store{file: f}
	if err := s.readFooter(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func (s *store) close() { s.file.Close() }

func (s *store) readFooter() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	end := info.Size() - footerSize
	if end < 0 {
		return errNoStore
	}
	var b [footerSize]byte
	if _, err := s.file.ReadAt(b[:], end); err != nil {
		return err
	}
	s.entries, s.count = int64(binary.LittleEndian.Uint64(b[:])), int64(binary.LittleEndian.Uint64(b[8:]))
	whole := string(b[20:]) == magic && binary.LittleEndian.Uint32(b[16:]) == crc32.Checksum(b[:16], castagnoli) &&
		s.entries >= 0 && s.entries <= end && end-s.entries == s.count*entrySize
	if !whole {
		return errNoStore
	}
	return nil
}

// entry reads the i-th entry, from 0.
func (s *store) entry(i int64) (e entry, err error) {
	var b [entrySize]byte
	if _, err := s.file.ReadAt(b[:], s.entries+i*entrySize); err != nil {
		return e, err
	}
	e.fingerprint, e.offset = binary.LittleEndian.Uint64(b[:]), int64(binary.LittleEndian.Uint64(b[8:]))
	e.length, e.sum = binary.LittleEndian.Uint32(b[16:]), binary.LittleEndian.Uint32(b[20:])
	if e.offset < 0 || e.offset > s.entries || int64(e.length) > min(s.entries-e.offset, maxLine) {
		return e, s.damaged()
	}
	return e, nil
}

// damaged is about a store that was whole once.
func (s *store) damaged() error {
	return fmt.Errorf("%s is damaged\nhint: fill it anew", s.file.Name())
}

// find looks an address up.
func (s *store) find(url string) (a answer, found bool, err error) {
	want, begins := fingerprint(url), beginning(url)
	i := sort.Search(int(s.count), func(i int) bool {
		e, eerr := s.entry(int64(i))
		err = cmp.Or(err, eerr)
		return err != nil || e.fingerprint >= want
	})
	begun := make([]byte, len(begins))
	for ; err == nil && int64(i) < s.count; i++ {
		e, err := s.entry(int64(i))
		if err != nil {
			return a, false, err
		}
		if e.fingerprint != want {
			break
		}
		if int(e.length) <= len(begins) {
			continue
		}
		if _, err := s.file.ReadAt(begun, e.offset); err != nil {
			return a, false, err
		}
		if bytes.Equal(begun, begins) {
			return answer{e, len(begins)}, true, nil
		}
	}
	return a, false, err
}

// An answer is a line of the store, and how much of it is the url.
type answer struct {
	entry
	begins int
}

// read reads what an answer has behind the url: a comma and the other members, if there
// are any, a brace and a newline. It uses the memory of buf.
func (s *store) read(a answer, buf []byte) ([]byte, error) {
	line := slices.Grow(buf[:0], int(a.length))[:a.length]
	if _, err := s.file.ReadAt(line, a.offset); err != nil {
		return nil, err
	}
	if crc32.Checksum(line, castagnoli) != a.sum || !bytes.HasSuffix(line[a.begins:], []byte("}\n")) {
		return nil, s.damaged()
	}
	return line[a.begins:], nil
}

// --- writing ----------------------------------------------------------------

// A builder makes a store.
type builder struct {
	name    string
	file    *os.File // called otherwise until it is whole
	w       *bufio.Writer
	offset  int64
	entries []entry
}

// create begins the store that will be called name.
func create(name string) (*builder, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("making the store: %s is there, and is no file", name)
	}
	f, err := os.Create(fmt.Sprintf("%s.%d.part", name, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("making the store: %w", err)
	}
	return &builder{name: name, file: f, w: bufio.NewWriterSize(f, 1<<18)}, nil
}

// add adds an answer: an object, with a newline, that has no url.
func (b *builder) add(url string, answer []byte) error {
	line := beginning(url)
	if members := answer[1:]; members[0] != '}' {
		line = append(line, ',')
	}
	line = append(line, answer[1:]...)
	if len(line) > maxLine {
		return fmt.Errorf("the answer for %.200s is longer than a store can hold", url)
	}
	b.entries = append(b.entries, entry{fingerprint(url), b.offset, uint32(len(line)), crc32.Checksum(line, castagnoli)})
	b.offset += int64(len(line))
	_, err := b.w.Write(line)
	return err // which commit meets again
}

// commit gives the store its name, once it is safe.
func (b *builder) commit() error {
	// Of two answers for an address the first is found.
	slices.SortFunc(b.entries, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.fingerprint, y.fingerprint), cmp.Compare(x.offset, y.offset))
	})
	var buf []byte
	for _, e := range b.entries {
		buf = binary.LittleEndian.AppendUint64(buf[:0], e.fingerprint)
		buf = binary.LittleEndian.AppendUint64(buf, uint64(e.offset))
		buf = binary.LittleEndian.AppendUint32(buf, e.length)
		buf = binary.LittleEndian.AppendUint32(buf, e.sum)
		b.w.Write(buf) // the error is Flush's
	}
	buf = binary.LittleEndian.AppendUint64(buf[:0], uint64(b.offset))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(len(b.entries)))
	buf = binary.LittleEndian.AppendUint32(buf, crc32.Checksum(buf, castagnoli))
	b.w.Write(append(buf, magic...))
	err := cmp.Or(b.w.Flush(), b.file.Sync())
	if err = errors.Join(err, b.file.Close()); err == nil {
		err = os.Rename(b.file.Name(), b.name)
	}
	if err != nil {
		return fmt.Errorf("making the store: %w", err)
	}
	return nil
}

// abandon removes what was not committed.
func (b *builder) abandon() {
	b.file.Close()
	os.Remove(b.file.Name())
}
