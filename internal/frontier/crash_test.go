package frontier

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A reference is the queue as one would write it without disk, limits or speed.
type reference map[string]*struct {
	asked, lease, retries int
	priority              float64
	done                  bool
}

func (m reference) add(url string, generation int, priority float64) {
	if m[url] == nil {
		m[url] = &struct {
			asked, lease, retries int
			priority              float64
			done                  bool
		}{asked: -1, lease: -1}
	}
	if e := m[url]; generation > e.asked || generation == e.asked && priority > e.priority {
		e.asked, e.priority = generation, priority
	}
}

func (m reference) next(generation, n int) (urls []string) {
	for u, e := range m {
		if !e.done && e.retries <= maxRetries && e.lease < generation {
			urls = append(urls, u)
		}
	}
	slices.SortFunc(urls, func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b].priority, m[a].priority), strings.Compare(a, b))
	})
	urls = urls[:min(n, len(urls))]
	for _, u := range urls {
		m[u].lease = generation
	}
	return urls
}

func TestStoreAgreesWithTheReference(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		dir, model := t.TempDir(), reference{}
		s := open(t, dir, Options{segment: 4000})
		out := map[string]bool{} // handed out, no outcome yet
		for generation := 0; generation < 60; {
			switch rng.IntN(8) {
			case 0, 1, 2, 3:
				u, p := fmt.Sprintf("http://h%d.org/%d", rng.IntN(5), rng.IntN(60)), float64(rng.IntN(5))
				model.add(u, generation, p)
				add(t, s, fmt.Sprintf(`{"v":1,"url":%q,"generation":%d,"priority":%g}`, u, generation, p))
			case 4:
				n := 1 + rng.IntN(6)
				want := model.next(generation, n)
				got := strings.Fields(strings.ReplaceAll(" "+urls(next(t, s, Request{N: n, Generation: generation})), " ", " http://"))
				if urls := strings.Fields(strings.Join(got, " ")); !slices.Equal(urls, want) && !(len(want) == 0 && slices.Equal(urls, []string{"http://"})) {
					t.Fatalf("seed %d, generation %d: got %v, want %v", seed, generation, urls, want)
				}
				for _, u := range want {
					out[u] = true
				}
				if len(want) == 0 {
					continue
				}
				for _, u := range slices.Sorted(maps.Keys(out)) {
					e := model[u]
					switch rng.IntN(3) {
					case 0:
						e.done = true
						add(t, s, fmt.Sprintf(`{"v":1,"url":%q,"generation":%d,"retries":%d,"status_code":200}`, u, e.lease, e.retries))
					case 1:
						add(t, s, fmt.Sprintf(`{"v":1,"url":%q,"generation":%d,"retries":%d,"error":"tls"}`, u, e.lease, e.retries))
						e.retries++
					default:
						continue
					}
					delete(out, u)
				}
				generation++
			case 5:
				closeStore(t, s)
				s = open(t, dir, Options{segment: 4000})
			case 6:
				closeStore(t, s)
				os.Remove(filepath.Join(dir, snapshotName))
				s = open(t, dir, Options{segment: 4000})
			case 7:
				if rng.IntN(4) == 0 {
					if err := s.saveSnapshotNow(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		closeStore(t, s)
		found, err := Check(dir, Options{open: openHasty}, false)
		if err != nil || found.Wrong() {
			t.Fatalf("seed %d: check finds %+v, %v", seed, found, err)
		}
	}
}

// saveSnapshotNow is what Close does with a stale snapshot.
func (s *Store) saveSnapshotNow() error {
	if err := s.Commit(); err != nil {
		return err
	}
	return s.saveSnapshot()
}

// A small store, written in several sessions, with the length that its log had
// when each of them was acknowledged, and what was known then.
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
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(s.log.path(1))
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, session{info.Size(), export(t, s, noon)})
		closeStore(t, s)
	}
	return sessions
}

// copyStore is a store with the given log and nothing else.
func storeOf(t testing.TB, log []byte) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, segmentName(1)), log, 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestALogCutAnywhereHoldsWhatWasAcknowledged(t *testing.T) {
	dir := t.TempDir()
	sessions := smallStore(t, dir)
	log, err := os.ReadFile(filepath.Join(dir, segmentName(1)))
	if err != nil {
		t.Fatal(err)
	}
	for n := segmentHeader; n <= len(log); n++ {
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
		if again := export(t, s, noon); len(again) != len(got)+1 || s.Opened().Cut != 0 {
			t.Fatalf("cut at %d: %q, then %q", n, got, again)
		}
		closeStore(t, s)
	}
}

// contains tells whether all URLs of part are in all.
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

func TestADamagedLogIsNeverTakenForAWholeOne(t *testing.T) {
	dir := t.TempDir()
	sessions := smallStore(t, dir)
	log, err := os.ReadFile(filepath.Join(dir, segmentName(1)))
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := int(sessions[len(sessions)-1].length)
	for n := 0; n < acknowledged; n += 1 + rand.IntN(5) {
		damaged := slices.Clone(log)
		damaged[n] ^= 0x10
		dir := storeOf(t, damaged)
		_, err := Open(dir, Options{open: openHasty})
		if err == nil {
			t.Fatalf("byte %d: opened as if nothing were wrong", n)
		}
		if n < segmentHeader {
			continue // nothing to repair it with
		}
		if _, ok := errors.AsType[*Damage](err); !ok {
			t.Fatalf("byte %d: %v", n, err)
		}
		found, err := Check(dir, Options{open: openHasty}, false)
		if err != nil || !found.Wrong() || len(found.Damaged) != 1 {
			t.Fatalf("byte %d: check finds %+v, %v", n, found, err)
		}
		found, err = Check(dir, Options{open: openHasty}, true)
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

func TestAStaleOrDamagedSnapshotIsRebuilt(t *testing.T) {
	dir := t.TempDir()
	smallStore(t, dir)
	s := open(t, dir, Options{})
	want := export(t, s, noon)
	if err := s.saveSnapshotNow(); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	name := filepath.Join(dir, snapshotName)
	snapshot, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for n := range snapshot {
		damaged := slices.Clone(snapshot)
		damaged[n] ^= 0x10
		if n%7 == 0 {
			damaged = damaged[:n]
		}
		if err := os.WriteFile(name, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
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

// failing is a disk that is full after so many bytes, or whose sync fails.
type failing struct {
	*os.File
	room  *int
	syncs *int
}

func (f failing) Write(p []byte) (int, error) {
	n, err := f.File.Write(p[:min(len(p), *f.room)])
	*f.room -= n
	if n < len(p) && err == nil {
		err = syscall.ENOSPC
	}
	return n, err
}

func (f failing) Sync() error {
	if *f.syncs--; *f.syncs < 0 {
		return syscall.EIO
	}
	return nil // tests do not wait for disks
}

func TestAFullDiskLosesNothingThatWasAcknowledged(t *testing.T) {
	for room := 0; room < 1200; room += 7 {
		for syncs := range 5 {
			dir := t.TempDir()
			left, leftSyncs := room, syncs
			o := Options{Create: true, segment: 300, open: func(name string, at int64) (file, error) {
				f, err := openFile(name, at)
				if err != nil {
					return nil, err
				}
				return failing{f.(*os.File), &left, &leftSyncs}, nil
			}}
			var known []string
			for i := range 6 {
				s, err := Open(dir, o)
				if err != nil {
					break
				}
				err = addUntilItFails(s, i)
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
					if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EIO) {
						t.Fatalf("room %d: %v", room, err)
					}
					break
				}
			}
			s, err := Open(dir, Options{})
			if known == nil && err != nil {
				continue // there is no store yet
			}
			if err != nil {
				t.Fatalf("room %d, syncs %d: %v", room, syncs, err)
			}
			if got := export(t, s, noon); !contains(got, known) {
				t.Fatalf("room %d, syncs %d: %q lacks some of %q", room, syncs, got, known)
			}
			closeStore(t, s)
		}
	}
}

func addUntilItFails(s *Store, i int) error {
	for j := range 4 {
		rec := record(fmt.Sprintf("http://a.org/%d/%d", i, j))
		if _, err := s.Add(rec); err != nil {
			return err
		}
	}
	_, err := s.Next(Request{N: 1, Generation: i, Now: noon})
	return err
}

func TestTwoProcessesAtOnce(t *testing.T) {
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

func TestReadingChangesNothing(t *testing.T) {
	dir := t.TempDir()
	smallStore(t, dir)
	log := filepath.Join(dir, segmentName(1))
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	torn := append(b, "torn"...)
	if err := os.WriteFile(log, torn, 0o666); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, Options{ReadOnly: true})
	if len(export(t, s, noon)) != 20 {
		t.Error("the torn log was not read")
	}
	closeStore(t, s)
	if after, err := os.ReadFile(log); err != nil || len(after) != len(torn) {
		t.Errorf("the log has %d bytes, not %d", len(after), len(torn))
	}
}

func TestThereMustBeAStore(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "no store") {
			t.Errorf("open: %v", err)
		}
		if _, err := Check(dir, Options{open: openHasty}, false); err == nil || !strings.Contains(err.Error(), "no store") {
			t.Errorf("check: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, lockName)); !errors.Is(err, fs.ErrNotExist) {
			t.Error("something was made of nothing")
		}
	}
}

// TestPowerCuts writes in many short sessions, of which some are killed and some
// end with the power: then what was written since the last sync is there in part,
// as zeros, as noise, or not at all.
func TestPowerCuts(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 4))
		dir := t.TempDir()
		name := filepath.Join(dir, segmentName(1))
		var durable int64 // bytes of the log that are on disk
		var acknowledged, added []string
		for round := range 12 {
			s, err := Open(dir, Options{Create: true, open: openHasty})
			if err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
			durable = max(durable, segmentHeader)
			if got := export(t, s, noon); !contains(got, acknowledged) {
				t.Fatalf("seed %d, round %d: %d of %d URLs are left", seed, round, len(got), len(acknowledged))
			}
			for range rng.IntN(4) {
				for range rng.IntN(4) {
					line := fmt.Sprintf(`{"v":1,"url":"http://a.org/%d","priority":1}`, rng.IntN(200))
					added = append(added, line)
					add(t, s, line)
				}
				if err := s.log.flush(); err != nil {
					t.Fatal(err)
				}
			}
			if rng.IntN(2) == 0 {
				if err := s.Commit(); err != nil {
					t.Fatal(err)
				}
				durable, acknowledged = s.log.offset, added
			}
			if rng.IntN(2) == 0 {
				closeStore(t, s) // commits too, and writes a mark that is not synced
				durable, acknowledged = s.log.synced, added
			} else if err := s.abandon(); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(2) == 0 {
				cutPower(t, rng, name, durable)
				added = slices.Clone(acknowledged)
			}
		}
	}
}

// abandon lets go of the store as a killed process does.
func (s *Store) abandon() error {
	var err error
	if s.log.out != nil {
		err = s.log.out.Close()
	}
	return errors.Join(err, s.unmap(), s.lock.release())
}

func cutPower(t *testing.T, rng *rand.Rand, name string, durable int64) {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const sector = 16 // small, as the frames here are
	for at := durable; at < int64(len(b)); at += sector {
		part := b[at:min(at+sector, int64(len(b)))]
		switch rng.IntN(4) {
		case 0:
			clear(part)
		case 1:
			for i := range part {
				part[i] = byte(rng.Uint32())
			}
		}
	}
	if rng.IntN(2) == 0 {
		b = b[:durable+rng.Int64N(int64(len(b))-durable+1)]
	}
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}
