package frontier

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"path/filepath"
	"testing"
	"unsafe"

	"spoor/internal/testfile"
	"spoor/internal/wire"
)

// FuzzLog opens a store whose segment has arbitrary bytes after its header. Checksums are
// corrected first, so that the fuzzer gets past them.
func FuzzLog(f *testing.F) {
	dir := f.TempDir()
	smallStore(f, dir)
	log := testfile.Read(f, filepath.Join(dir, segmentName(1)))
	f.Add(log[segmentHeader:])
	f.Add(appendFrame(nil, frame{kind: frameRecords, lines: 2, raw: 3, payload: []byte("a\nb")}))
	f.Add(appendFrame(nil, frame{kind: frameBatch, lines: 1, raw: 3, payload: []byte("{}\n")}))
	f.Add(appendFrame(nil, frame{kind: frameRecords, lines: 1, raw: 1 << 20, codec: codecZstd, payload: []byte("\x28\xb5\x2f\xfd")}))
	f.Add(appendFrame(nil, frame{kind: frameGap, payload: make([]byte, 100)}))
	f.Add(appendFrame(nil, frame{kind: frameForgotten, lines: 1, raw: 17, payload: []byte("http://a.org/1/1\n")}))
	f.Add(appendFrame(nil, frame{kind: frameResidue, lines: 1, raw: 44, payload: []byte(`{"v":1,"url":"http://a.org/1/1","retries":2}` + "\n")}))
	f.Add(append([]byte("torn"), log[segmentHeader:]...))
	f.Fuzz(func(t *testing.T, b []byte) {
		for at := 0; at+frameHeader <= len(b); {
			size := frameHeader + int(binary.LittleEndian.Uint32(b[at+4:]))
			if size > len(b)-at {
				break
			}
			binary.LittleEndian.PutUint32(b[at:], crc32.Checksum(b[at+4:at+size], castagnoli))
			at += size
		}
		dir := storeOf(t, append(appendSegment(nil, 1, 7, span{1, 1}), b...))
		s, err := Open(dir, Options{disk: noSyncDisk{}})
		if err == nil {
			exercise(t, s)
		}
		if _, err := Check(dir, Options{disk: noSyncDisk{}}, true); err != nil {
			return
		}
		if s, err := Open(dir, Options{disk: noSyncDisk{}}); err == nil {
			exercise(t, s)
		} else {
			t.Fatalf("repaired, and still %v", err)
		}
	})
}

// exercise calls all operations of a store. They may return errors but not panic.
func exercise(t *testing.T, s *Store) {
	s.Export(io.Discard, noon)
	s.Stats(noon)
	s.Lineage(io.Discard, "http://a.org/1/1", noon)
	s.Next(Request{N: 3, PerHost: 2, Generation: 1, Now: noon})
	s.Add(record("http://a.org/1/1"))
	s.Add(record("http://a.org/new"))
	s.Reprioritise(&wire.Record{URL: "http://a.org/2/2", Priority: wire.Num(7)})
	s.Forget(Selection{URLs: []string{"http://a.org/1/1"}, Prefixes: []string{"http://a.org/3"}})
	var c Compaction
	for range 3 {
		if more, err := s.Compact(&c); err != nil || !more {
			break
		}
	}
	s.Close()
}

// FuzzSnapshot parses arbitrary bytes with correct checksums as a snapshot. If it is accepted,
// using the index must not panic.
func FuzzSnapshot(f *testing.F) {
	dir := f.TempDir()
	smallStore(f, dir)
	s := open(f, dir, Options{})
	add(f, s, `{"v":1,"url":"http://a.org/1/1","generation":1,"parents":["http://b.org/","http://c.org/"],"error":"dns"}`)
	if err := s.saveSnapshotNow(); err != nil {
		f.Fatal(err)
	}
	closeStore(f, s)
	b := testfile.Read(f, filepath.Join(dir, snapshotName))
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < snapshotHeader {
			return
		}
		words := make([]uint64, (len(b)+7)/8) // aligned, as a snapshot always is
		b = append(bytesOf(words)[:0], b...)
		body := snapshotHeader - 8 - 8
		binary.NativeEndian.PutUint64(b[body:], uint64(crc32.Checksum(b[snapshotHeader:], castagnoli)))
		binary.NativeEndian.PutUint64(b[snapshotHeader-8:], uint64(crc32.Checksum(b[:snapshotHeader-8], castagnoli)))
		x, _, err := parseSnapshot(b)
		if err != nil {
			return
		}
		defer x.free()
		s := &Store{x: x}
		for id := range uint32(x.len()) {
			if u := x.url(id); len(u) < len("http://") {
				t.Fatal(u)
			}
			x.parents(id)
			s.stateSummary(x.url(id))
		}
		s.chooseBatch(Request{N: 3, PerHost: 2, Generation: -1, Now: noon})
		s.addParents(0, []string{"http://a.org/", "http://new.org/"})
	})
}

func TestOffsetOfSnapshotChecksum(t *testing.T) {
	var h snapshotFields
	if at := unsafe.Offsetof(h.bodyChecksum); at != snapshotHeader-8-8-8 {
		t.Error(at)
	}
}
