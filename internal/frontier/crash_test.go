package frontier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"
)

// saveSnapshotNow commits and writes a snapshot.
func (s *Store) saveSnapshotNow() error {
	if err := s.Commit(); err != nil {
		return err
	}
	return s.saveSnapshot()
}

// A session is the length of the log and the export of a store after a commit.
type session struct {
	length int64
	known  []string
}

func smallStore(t testing.TB, dir string) (sessions []session) {
	for i := range 4 {
		s := open(t, dir, Options{})
		for j := range 5 {
			add(t, s, fmt.Sprintf(`{"v":1,"url":"http://a.org/%d/%d","priority":%d}`, i, j, j))
		}
		if i == 2 {
			next(t, s, Request{N: 3, Generation: 1})
		}
		commit(t, s)
		info, err := os.Stat(s.log.path(1))
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, session{info.Size(), export(t, s, noon)})
		closeStore(t, s)
	}
	return sessions
}

// storeOf returns the directory of a store with one segment.
func storeOf(t testing.TB, log []byte) string {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, segmentName(1)), log)
	return dir
}

// Tables are indexed by the numbers of segments, so a strange number would take memory for all below it.
func TestASegmentWithANumberThatNoPlaceHoldsIsRefused(t *testing.T) {
	for _, number := range []uint32{maxSegments, 99_999_999} {
		dir := t.TempDir()
		smallStore(t, dir)
		name := filepath.Join(dir, segmentName(number))
		testfile.Write(t, name, appendSegment(nil, number, 7, span{1, 1}))
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), name+": the number is not below") {
			t.Errorf("opening gives %v", err)
		}
		if _, err := Check(dir, Options{}, true); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("check gives %v", err)
		}
	}
}

func TestTruncatedLogKeepsAcknowledgedRecords(t *testing.T) {
	dir := t.TempDir()
	sessions := smallStore(t, dir)
	log := testfile.Read(t, filepath.Join(dir, segmentName(1)))
	for n := segmentHeader; n <= len(log); n += step(5) {
		cut := storeOf(t, log[:n])
		s := open(t, cut, Options{})
		got := export(t, s, noon)
		for _, a := range sessions {
			if int64(n) >= a.length && !contains(got, a.known) {
				t.Fatalf("cut at %d, where %d was acknowledged: %q lacks some of %q", n, a.length, got, a.known)
			}
		}
		add(t, s, `{"v":1,"url":"http://new.org/"}`) // it goes on
		closeStore(t, s)
		s = open(t, cut, Options{})
		if again := export(t, s, noon); len(again) != len(got)+1 || s.Opened().Truncated != 0 {
			t.Fatalf("cut at %d: %q, then %q", n, got, again)
		}
		closeStore(t, s)
	}
}

// contains reports whether all URLs of part are in all.
func contains(all, part []string) bool {
	have := map[string]bool{}
	for _, line := range all {
		have[urls(line)] = true
	}
	for _, line := range part {
		if !have[urls(line)] {
			return false
		}
	}
	return true
}

func TestDamageIsDetected(t *testing.T) {
	dir := t.TempDir()
	sessions := smallStore(t, dir)
	log := testfile.Read(t, filepath.Join(dir, segmentName(1)))
	acknowledged := int(sessions[len(sessions)-1].length)
	for n := 0; n < acknowledged; n += 1 + rand.IntN(5*step(4)) {
		damaged := slices.Clone(log)
		damaged[n] ^= 0x10
		dir := storeOf(t, damaged)
		_, err := Open(dir, Options{disk: noSyncDisk{}})
		if err == nil {
			t.Fatalf("byte %d: opened as if nothing were wrong", n)
		}
		if n < segmentHeader {
			continue // a damaged header is tested elsewhere
		}
		if _, ok := errors.AsType[*Damage](err); !ok {
			t.Fatalf("byte %d: %v", n, err)
		}
		found, err := Check(dir, Options{disk: noSyncDisk{}}, false)
		if err != nil || !found.Wrong() || len(found.Damaged) != 1 {
			t.Fatalf("byte %d: check finds %+v, %v", n, found, err)
		}
		found, err = Check(dir, Options{disk: noSyncDisk{}}, true)
		if err != nil || found.Wrong() || len(found.Repaired) != 1 {
			t.Fatalf("byte %d: repair gives %+v, %v", n, found, err)
		}
		s := open(t, dir, Options{})
		if got := len(export(t, s, noon)); got < 15 {
			t.Fatalf("byte %d: %d URLs are left of 20", n, got)
		}
		closeStore(t, s)
	}
}

func TestRepairOfDamageSmallerThanAGap(t *testing.T) {
	dir := t.TempDir()
	smallStore(t, dir)
	log := testfile.Read(t, filepath.Join(dir, segmentName(1)))
	dir = storeOf(t, slices.Insert(log, segmentHeader, []byte("torn")...))
	if found, err := Check(dir, Options{disk: noSyncDisk{}}, true); err != nil || found.Wrong() || len(found.Repaired) != 1 {
		t.Errorf("repair gives %+v, %v", found, err)
	}
	s := open(t, dir, Options{})
	defer closeStore(t, s)
	if got := len(export(t, s, noon)); got < 15 {
		t.Errorf("%d URLs are left of 20", got)
	}
}

func TestDamagedSnapshotIsRebuilt(t *testing.T) {
	dir := t.TempDir()
	smallStore(t, dir)
	s := open(t, dir, Options{})
	want := export(t, s, noon)
	if err := s.saveSnapshotNow(); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	name := filepath.Join(dir, snapshotName)
	snapshot := testfile.Read(t, name)
	for n := 0; n < len(snapshot); n += step(13) {
		damaged := slices.Clone(snapshot)
		damaged[n] ^= 0x10
		if n%7 == 0 {
			damaged = damaged[:n]
		}
		testfile.Write(t, name, damaged)
		s := open(t, dir, Options{ReadOnly: true})
		if s.Opened().Snapshot == nil {
			t.Fatalf("byte %d: the damage was not seen", n)
		}
		if n%50 == 0 && !slices.Equal(export(t, s, noon), want) {
			t.Fatalf("byte %d: the rebuilt state is another", n)
		}
		closeStore(t, s)
	}
}

// A process whose disk fails from one of its operations on goes on, and closes the store.
func TestFailedDiskKeepsAcknowledgedRecords(t *testing.T) {
	for operations, done := 0, false; !done; operations += step(4) {
		disk := newCircuit(t, inMemory(t))
		disk.operationsLeft = operations
		var known []string
		for i := range 6 {
			s, err := Open(disk.dir, Options{Create: true, segmentSize: 300, disk: disk})
			if err != nil {
				break
			}
			err = addSome(s, i)
			if err == nil {
				err = s.Commit()
			}
			if err == nil {
				known = export(t, s, noon)
			}
			if cerr := s.Close(); cerr != nil && err == nil {
				err = cerr
			}
			if err != nil {
				if !errors.Is(err, errPower) {
					t.Fatalf("operation %d: %v", operations, err)
				}
				break
			}
			done = i == 5
		}
		s, err := Open(disk.dir, Options{disk: noSyncDisk{}})
		if known == nil && err != nil {
			continue // there is no store yet
		}
		if err != nil {
			t.Fatalf("operation %d: %v", operations, err)
		}
		if got := export(t, s, noon); !contains(got, known) {
			t.Fatalf("operation %d: %q lacks some of %q", operations, got, known)
		}
		closeStore(t, s)
	}
}

func addSome(s *Store, i int) error {
	for j := range 4 {
		rec := record(fmt.Sprintf("http://a.org/%d/%d", i, j))
		if _, err := s.Add(rec); err != nil {
			return err
		}
	}
	_, err := s.Next(Request{N: 1, Generation: i, Now: noon})
	return err
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{Holder: "process 7, a test"})
	_, err := Open(dir, Options{Wait: time.Millisecond})
	if l, ok := errors.AsType[*Locked](err); !ok || l.Holder != "process 7, a test" {
		t.Errorf("the second writer gets %v", err)
	}
	if _, err = Open(dir, Options{ReadOnly: true}); err == nil {
		t.Error("a reader came in while there was a writer")
	}
	closeStore(t, s)
	a, b := open(t, dir, Options{ReadOnly: true}), open(t, dir, Options{ReadOnly: true})
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("a writer came in while there were readers")
	}
	closeStore(t, a)
	closeStore(t, b)
}

func TestReadOnlyDoesNotWrite(t *testing.T) {
	dir := t.TempDir()
	smallStore(t, dir)
	log := filepath.Join(dir, segmentName(1))
	b := testfile.Read(t, log)
	torn := append(b, "torn"...)
	testfile.Write(t, log, torn)
	s := open(t, dir, Options{ReadOnly: true})
	if len(export(t, s, noon)) != 20 {
		t.Error("the torn log was not read")
	}
	closeStore(t, s)
	if after, err := os.ReadFile(log); err != nil || len(after) != len(torn) {
		t.Errorf("the log has %d bytes, not %d", len(after), len(torn))
	}
}

func TestOpenWithoutStore(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "no store") {
			t.Errorf("open: %v", err)
		}
		if _, err := Check(dir, Options{disk: noSyncDisk{}}, false); err == nil || !strings.Contains(err.Error(), "no store") {
			t.Errorf("check: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, lockName)); !errors.Is(err, fs.ErrNotExist) {
			t.Error("something was made of nothing")
		}
	}
}

// An acknowledged record is not truncated because a record that it is compared with, which is
// in the snapshot, cannot be read.
func TestDamageBeforeSnapshotDoesNotTruncate(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	add(t, s, `{"v":1,"url":"http://a.org/","status_code":200,"timestamp":"2026-11-01T00:00:00Z"}`)
	if err := errors.Join(s.Commit(), s.saveSnapshot()); err != nil {
		t.Fatal(err)
	}
	at := s.log.offset
	add(t, s, `{"v":1,"url":"http://a.org/","status_code":200,"timestamp":"2026-11-02T00:00:00Z"}`)
	commit(t, s)
	name := s.log.path(1)
	s.abandon()
	b := testfile.Read(t, name)
	b[at-1] ^= 1
	testfile.Write(t, name, b)
	if s, err := Open(dir, Options{}); err == nil {
		t.Errorf("it was opened, and %d bytes were cut off", s.Opened().Truncated)
		s.abandon()
	}
	if info, err := os.Stat(name); err != nil || info.Size() != int64(len(b)) {
		t.Errorf("of %d bytes %d are left, %v", len(b), info.Size(), err)
	}
	if f, err := Check(dir, Options{disk: noSyncDisk{}}, true); err != nil || len(f.Repaired) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	s = open(t, dir, Options{ReadOnly: true})
	if got := export(t, s, noon); len(got) != 1 || !strings.Contains(got[0], "2026-11-02") {
		t.Errorf("of the two is left: %q", got)
	}
	closeStore(t, s)
}

// The log is synced before a snapshot is written, so a log that is shorter than its snapshot
// says has lost acknowledged data.
func TestLogShorterThanSnapshotIsDamaged(t *testing.T) {
	whole := t.TempDir()
	sessions := smallStore(t, whole)
	s := open(t, whole, Options{})
	if err := s.saveSnapshotNow(); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	length := sessions[len(sessions)-1].length
	for _, left := range []int64{0, 10, segmentHeader, sessions[0].length, sessions[0].length + 7, length - 1} {
		dir := t.TempDir()
		copyFiles(t, dir, os.DirFS(whole))
		name := filepath.Join(dir, segmentName(1))
		testfile.Check(t, os.Truncate(name, left))
		for range 2 {
			if _, err := Open(dir, Options{Create: true, disk: noSyncDisk{}}); !is[*Damage](err) {
				t.Errorf("%d bytes left: opening gives %v", left, err)
			}
			if f, err := Check(dir, Options{disk: noSyncDisk{}}, false); err != nil || !f.Wrong() || len(f.Damaged) == 0 {
				t.Errorf("%d bytes left: check finds %+v, %v", left, f, err)
			}
		}
		if f, err := Check(dir, Options{disk: noSyncDisk{}}, true); err != nil || f.Wrong() {
			t.Errorf("%d bytes left: repair gives %+v, %v", left, f, err)
		}
		s := open(t, dir, Options{})
		add(t, s, `{"v":1,"url":"http://new.org/"}`)
		closeStore(t, s)
		checkSound(t, dir)
	}
}

func TestMissingLastSegmentIsDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{segmentSize: 1})
	for i := range 3 {
		add(t, s, fmt.Sprintf(`{"v":1,"url":"http://a.org/%d"}`, i))
		commit(t, s)
	}
	if err := s.saveSnapshot(); err != nil {
		t.Fatal(err)
	}
	last := s.log.path(s.log.number)
	closeStore(t, s)
	testfile.Check(t, os.Remove(last))
	if _, err := Open(dir, Options{disk: noSyncDisk{}}); !is[*Damage](err) {
		t.Errorf("opening gives %v", err)
	}
	if f, err := Check(dir, Options{disk: noSyncDisk{}}, true); err != nil || f.Wrong() || len(f.Damaged) != 1 || f.URLs != 2 {
		t.Errorf("repair gives %+v, %v", f, err)
	}
	closeStore(t, open(t, dir, Options{}))
}

// A file of zeros that takes no room on the disk would take all memory.
func TestSegmentThatIsTooLongIsNotRead(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	add(t, s, `{"v":1,"url":"http://a.org/"}`)
	last := s.log.path(s.log.number)
	closeStore(t, s)
	testfile.Check(t, os.Truncate(last, 1<<36))
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "more than a segment can have") {
		t.Errorf("opening the store: %v", err)
	}
}

// After a compaction the last segment does not have the highest number. If the process is
// killed during a compaction, the snapshot belongs to other segments.
func TestDamageAfterCompaction(t *testing.T) {
	for _, name := range []string{"last segment gone", "last segment cut, killed"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, Options{segmentSize: 300})
			for i := range 30 {
				add(t, s, fmt.Sprintf(`{"v":1,"url":"http://a.org/%d","priority":0.%d}`, i%5, i+1))
				commit(t, s)
			}
			if name == "last segment gone" {
				compact(t, s)
			} else if err := s.log.roll(); err != nil {
				t.Fatal(err)
			}
			add(t, s, `{"v":1,"url":"http://new.org/"}`)
			if err := errors.Join(s.Commit(), s.saveSnapshot()); err != nil {
				t.Fatal(err)
			}
			last, length := s.log.path(s.log.number), s.log.offset
			if name == "last segment gone" {
				closeStore(t, s)
				testfile.Check(t, os.Remove(last))
			} else {
				if _, err := s.Compact(new(Compaction)); err != nil {
					t.Fatal(err)
				}
				begun := s.log.path(s.log.numbers[len(s.log.numbers)-1])
				s.abandon()
				if err := errors.Join(os.Truncate(last, length-5), os.Remove(begun)); err != nil {
					t.Fatal(err)
				}
			}
			if f, err := Check(dir, Options{disk: noSyncDisk{}}, false); err != nil || len(f.Damaged) == 0 {
				t.Errorf("check finds %+v, %v", f, err)
			}
			if _, err := Open(dir, Options{disk: noSyncDisk{}}); !is[*Damage](err) {
				t.Errorf("opening gives %v", err)
			}
		})
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// A repair rebuilds the snapshot without the lost records.
func TestRepairRebuildsTheIndex(t *testing.T) {
	dir := t.TempDir()
	smallStore(t, dir)
	s := open(t, dir, Options{})
	if err := s.saveSnapshotNow(); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	name := filepath.Join(dir, segmentName(1))
	b := testfile.Read(t, name)
	b[segmentHeader+30] ^= 1
	testfile.Write(t, name, b)
	if f, err := Check(dir, Options{disk: noSyncDisk{}}, true); err != nil || f.Wrong() || len(f.Repaired) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	if s := open(t, dir, Options{}); s.Opened().Replayed > 0 {
		t.Errorf("the index was not rebuilt: %d lines were replayed", s.Opened().Replayed)
	} else {
		closeStore(t, s)
	}
}

// A place has 20 bits for the segment number; a store refuses to write beyond that.
func TestSegmentNumbersRunOut(t *testing.T) {
	s := open(t, t.TempDir(), Options{Create: true})
	defer s.abandon()
	if p := placeOf(maxSegments-1, maxSegment-1, 0xffff); p.segment() != maxSegments-1 {
		t.Errorf("the last segment is taken for %d", p.segment())
	}
	if err := s.log.createSegment(maxSegments, span{}); err == nil {
		t.Error("a segment was begun whose number no place can hold")
	}
	if err := s.Commit(); err == nil {
		t.Error("the store goes on")
	}
}

// Any damaged byte of any header is repaired from the checksum.
func TestRepairOfAHeaderByte(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{segmentSize: 2000})
	for i := range 90 {
		if i == 60 {
			compact(t, s)
		}
		add(t, s, fmt.Sprintf(`{"v":1,"url":"http://a.org/%d","generation":%d}`, i%40, i))
		commit(t, s)
	}
	closeStore(t, s)
	whole := open(t, dir, Options{ReadOnly: true})
	want := export(t, whole, noon)
	numbers := slices.Clone(whole.log.numbers)
	closeStore(t, whole)
	if len(numbers) < 3 || slices.IsSorted(numbers) {
		t.Fatalf("segments %d", numbers)
	}
	for _, number := range numbers {
		name := filepath.Join(dir, segmentName(number))
		log := testfile.Read(t, name)
		for at := range segmentHeader {
			damaged := slices.Clone(log)
			damaged[at] = log[at] ^ byte(1+at)
			testfile.Write(t, name, damaged)
			if len(log) == segmentHeader && number == numbers[len(numbers)-1] {
				continue // taken for a segment whose creation was not finished
			}
			if _, err := Open(dir, Options{disk: noSyncDisk{}}); !is[*Damage](err) {
				t.Fatalf("byte %d of %s: opening gives %v", at, name, err)
			}
			for _, repair := range []bool{false, true} {
				found, err := Check(dir, Options{disk: noSyncDisk{}}, repair)
				if err != nil || found.Wrong() == repair || len(found.Damaged) != 1 || *found.Damaged[0] != (Damage{segmentName(number), 0, segmentHeader}) {
					t.Fatalf("byte %d of %s: check finds %+v, %v", at, name, found, err)
				}
			}
			if got, err := os.ReadFile(name); err != nil || !bytes.HasPrefix(got, log) { // the last segment may have a new mark
				t.Fatalf("byte %d of %s: it is not what it was, %v", at, name, err)
			}
		}
		if s := open(t, dir, Options{}); !slices.Equal(export(t, s, noon), want) {
			t.Errorf("%s: the export is another", name)
		} else {
			closeStore(t, s)
		}
	}
}

// An empty compacted segment with a damaged header is not taken for a segment whose creation
// was not finished.
func TestRepairOfTheHeaderOfAnEmptySegment(t *testing.T) {
	dir := t.TempDir()
	smallStore(t, dir)
	s := open(t, dir, Options{})
	if err := s.log.roll(); err != nil {
		t.Fatal(err)
	}
	want := export(t, s, noon)
	closeStore(t, s)
	name := filepath.Join(dir, segmentName(3)) // its position is that after the first
	head := appendSegment(nil, 3, s.log.id, span{2, 2})
	last := appendSegment(nil, 2, s.log.id, span{3, 3})
	for at := range segmentHeader {
		damaged := slices.Clone(head)
		damaged[at] ^= byte(1 + at)
		if err := errors.Join(os.WriteFile(name, damaged, 0o666), os.WriteFile(filepath.Join(dir, segmentName(2)), last, 0o666)); err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(dir, snapshotName))
		if _, err := Open(dir, Options{disk: noSyncDisk{}}); !is[*Damage](err) {
			t.Fatalf("byte %d: opening gives %v", at, err)
		}
		if found, err := Check(dir, Options{disk: noSyncDisk{}}, true); err != nil || found.Wrong() || len(found.Repaired) != 1 {
			t.Fatalf("byte %d: repair gives %+v, %v", at, found, err)
		}
		s := open(t, dir, Options{ReadOnly: true})
		if got := export(t, s, noon); !slices.Equal(got, want) {
			t.Fatalf("byte %d: %q", at, got)
		}
		closeStore(t, s)
	}
}

// mendHeader relies on this: no two changes of one byte have the same effect on the difference
// between the checksum of a header and the checksum stored in it.
func TestChecksumIdentifiesADamagedHeaderByte(t *testing.T) {
	right := appendSegment(nil, 1, 1, span{1, 1})
	sum := func(b []byte) uint32 {
		return crc32.Checksum(b[:segmentHeader-4], castagnoli) ^ binary.LittleEndian.Uint32(b[segmentHeader-4:])
	}
	seen := map[uint32]bool{sum(right): true}
	for at := range right {
		b := slices.Clone(right)
		for b[at]++; b[at] != right[at]; b[at]++ {
			if seen[sum(b)] {
				t.Fatalf("byte %d as %d makes a difference that another makes", at, b[at])
			}
			seen[sum(b)] = true
		}
	}
}

// The span of a segment does not follow from anything but its header.
func TestHeaderWithTwoDamagedBytesIsNotRepaired(t *testing.T) {
	dir := t.TempDir()
	smallStore(t, dir)
	name := filepath.Join(dir, segmentName(1))
	log := testfile.Read(t, name)
	log[24], log[28] = 7, 9
	testfile.Write(t, name, log)
	if found, err := Check(dir, Options{disk: noSyncDisk{}}, true); err == nil || !strings.Contains(err.Error(), "its place in the log is not known") {
		t.Errorf("check finds %+v, %v", found, err)
	}
}
