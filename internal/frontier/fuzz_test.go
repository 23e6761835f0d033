package frontier

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

// FuzzLog opens a store whose first segment has any bytes behind its header. The
// checksums are corrected first, so that the fuzzer gets past them.
func FuzzLog(f *testing.F) {
	dir := f.TempDir()
	smallStore(f, dir)
	log, err := os.ReadFile(filepath.Join(dir, segmentName(1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(log[segmentHeader:])
	f.Add(appendFrame(nil, frame{kind: frameRecords, lines: 2, raw: 3, payload: []byte("a\nb")}))
	f.Add(appendFrame(nil, frame{kind: frameBatch, lines: 1, raw: 3, payload: []byte("{}\n")}))
	f.Add(appendFrame(nil, frame{kind: frameRecords, lines: 1, raw: 1 << 20, codec: codecZstd, payload: []byte("\x28\xb5\x2f\xfd")}))
	f.Add(appendFrame(nil, frame{kind: frameGap, payload: make([]byte, 100)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		for at := 0; at+frameHeader <= len(b); {
			size := frameHeader + int(binary.LittleEndian.Uint32(b[at+4:]))
			if size > len(b)-at {
				break
			}
			binary.LittleEndian.PutUint32(b[at:], crc32.Checksum(b[at+4:at+size], castagnoli))
			at += size
		}
		dir := storeOf(t, append(appendSegment(nil, 1, 7), b...))
		s, err := Open(dir, Options{open: openHasty})
		if err == nil {
			use(t, s)
		}
		if _, err := Check(dir, Options{open: openHasty}, true); err != nil {
			return
		}
		if s, err := Open(dir, Options{open: openHasty}); err == nil {
			use(t, s)
		} else {
			t.Fatalf("repaired, and still %v", err)
		}
	})
}

// use does with a store what can be done; errors are fine, panics are not.
func use(t *testing.T, s *Store) {
	s.Export(io.Discard, noon)
	s.Stats(noon)
	s.Lineage(io.Discard, "http://a.org/1/1", noon)
	s.Next(Request{N: 3, PerHost: 2, Generation: 1, Now: noon})
	s.Add(record("http://a.org/1/1"))
	s.Add(record("http://a.org/new"))
	s.Close()
}

// FuzzSnapshot reads any bytes as a snapshot, with their checksums corrected.
// What it accepts must be an index that can be used.
func FuzzSnapshot(f *testing.F) {
	dir := f.TempDir()
	smallStore(f, dir)
	s := open(f, dir, Options{})
	add(f, s, `{"v":1,"url":"http://a.org/1/1","generation":1,"parents":["http://b.org/","http://c.org/"],"error":"dns"}`)
	if err := s.saveSnapshotNow(); err != nil {
		f.Fatal(err)
	}
	closeStore(f, s)
	b, err := os.ReadFile(filepath.Join(dir, snapshotName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < snapshotHeader {
			return
		}
		words := make([]uint64, (len(b)+7)/8) // aligned, as a snapshot always is
		b = append(bytesOf(words)[:0], b...)
		body := snapshotHeader - 8 - 3*8
		binary.NativeEndian.PutUint64(b[body:], uint64(crc32.Checksum(b[snapshotHeader:], castagnoli)))
		binary.NativeEndian.PutUint64(b[snapshotHeader-8:], uint64(crc32.Checksum(b[:snapshotHeader-8], castagnoli)))
		x, _, err := parseSnapshot(b)
		if err != nil {
			return
		}
		s := &Store{x: x}
		for id := range uint32(x.len()) {
			e := x.at(id)
			if u := x.url(e); len(u) < len("http://") {
				t.Fatal(u)
			}
			x.list(e)
			s.summary(x.url(e))
		}
		s.choose(Request{N: 3, PerHost: 2, Generation: -1, Now: noon})
		s.inherit(0, []string{"http://a.org/", "http://new.org/"})
	})
}

func TestSnapshotChecksumIsWhereTheFuzzerCorrectsIt(t *testing.T) {
	var h snapshotFields
	if at := unsafe.Offsetof(h.body); at != snapshotHeader-8-8-3*8 {
		t.Error(at)
	}
}
