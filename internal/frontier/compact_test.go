package frontier

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// compact compacts s completely.
func compact(t testing.TB, s *Store) (c Compaction) {
	t.Helper()
	for {
		more, err := s.Compact(&c)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return c
		}
	}
}

// exported returns the export of s, unsorted.
func exported(t testing.TB, s *Store) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Export(&b, noon); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// randomCrawl performs the same random operations on all stores, and returns the next
// generation.
func randomCrawl(t testing.TB, rng *rand.Rand, steps, generation int, stores ...*Store) int {
	for range steps {
		lines := randomRecords(rng, 1+rng.IntN(8))
		n, kind, recrawl := 1+rng.IntN(5), rng.IntN(12), rng.IntN(2) == 0
		forget := fmt.Sprintf("http://h%d.org/%d", rng.IntN(3), rng.IntN(8))
		var first string
		for i, s := range stores {
			var got string
			switch {
			case kind < 7:
				add(t, s, lines...)
			case kind < 9:
				got = next(t, s, Request{N: n, PerHost: 2, Generation: generation, Recrawl: recrawl})
			case kind < 11:
				got = next(t, s, Request{N: n, Generation: -1, Lease: 1e12, Recrawl: recrawl})
			default:
				if _, err := s.Forget(Selection{URLs: []string{forget}}); err != nil {
					t.Fatal(err)
				}
			}
			if i > 0 && got != first {
				t.Fatalf("one leases\n%sand the other\n%s", first, got)
			}
			first = got
		}
		if (kind == 7 || kind == 8) && first != "" {
			generation++
		}
	}
	return generation
}

func TestCompactionKeepsTheState(t *testing.T) {
	for seed := range rounds(30) {
		rng := rand.New(rand.NewPCG(seed, 5))
		dirs := []string{t.TempDir(), t.TempDir()}
		o := Options{segmentSize: 1500}
		plain, dense := open(t, dirs[0], o), open(t, dirs[1], o)
		dropped, generation := 0, 1
		for round := range 6 {
			generation = randomCrawl(t, rng, 25, generation, plain, dense)
			var c Compaction
			for {
				more, err := dense.Compact(&c)
				if err != nil {
					t.Fatal(err)
				}
				if !more {
					break
				}
				generation = randomCrawl(t, rng, 2, generation, plain, dense)
			}
			dropped += c.Dropped
			if round%2 == 1 {
				closeStore(t, dense)
				if round%4 == 1 {
					os.Remove(filepath.Join(dirs[1], snapshotName))
				}
				found, err := Check(dirs[1], Options{disk: noSyncDisk{}}, false)
				if err != nil || found.Wrong() {
					t.Fatalf("seed %d, round %d: check finds %+v, %v", seed, round, found, err)
				}
				dense = open(t, dirs[1], o)
				if err := dense.Opened().Snapshot; err != nil {
					t.Fatalf("seed %d: the snapshot: %v", seed, err)
				}
			}
			if diff := cmp.Diff(export(t, plain, noon), export(t, dense, noon)); diff != "" {
				t.Fatalf("seed %d, round %d (-plain +compacted):\n%s", seed, round, diff)
			}
			for g := max(1, generation-2); g < generation; g++ { // the last two
				q := Request{N: 1, Generation: g}
				if a, b := next(t, plain, q), next(t, dense, q); a != b {
					t.Fatalf("seed %d, round %d: generation %d is\n%snot\n%s", seed, round, g, b, a)
				}
			}
		}
		if dropped == 0 {
			t.Errorf("seed %d: nothing was dropped", seed)
		}
		closeStore(t, plain)
		closeStore(t, dense)
	}
}

// Other processes may use the store between any two frames of a compaction: add, lease,
// compact, and rebuild the index.
func TestCompactionYields(t *testing.T) {
	for seed := range rounds(8) {
		rng := rand.New(rand.NewPCG(seed, 7))
		dir, o := t.TempDir(), Options{segmentSize: 1500, disk: noSyncDisk{}, Wait: time.Minute}
		plain, dense := open(t, t.TempDir(), o), open(t, dir, o)
		generation := randomCrawl(t, rng, 160, 1, plain, dense)
		closeStore(t, dense)
		turns, frames, ended := make(chan bool), 0, error(nil)
		go func() {
			defer close(turns)
			o := o
			o.Yield, o.shouldYield = true, func(dir string) bool {
				if frames++; frames%3 > 0 {
					return false
				}
				for turns <- true; !hasWaiters(dir); {
					time.Sleep(time.Millisecond)
				}
				return true
			}
			s, err := Open(dir, o)
			c := Compaction{}
			for more := true; more && err == nil; {
				more, err = s.Compact(&c)
			}
			if err == nil {
				err = s.Close()
			}
			ended = err
		}()
		given := 0
		for range turns {
			given++
			s := open(t, dir, o)
			generation = randomCrawl(t, rng, 1, generation, plain, s)
			switch {
			case rng.IntN(12) == 0:
				compact(t, s)
			case given%5 == 3:
				s.unsaved = 1 << 30 // makes the snapshot stale
			}
			closeStore(t, s)
			if given%7 == 4 {
				os.Remove(filepath.Join(dir, snapshotName))
			}
		}
		if ended != nil || given < 10 {
			t.Errorf("seed %d: it gave way %d times, %v", seed, given, ended)
		}
		checkSound(t, dir)
		dense = open(t, dir, o)
		if diff := cmp.Diff(export(t, plain, noon), export(t, dense, noon)); diff != "" {
			t.Fatalf("seed %d (-plain +compacted):\n%s", seed, diff)
		}
		for g := max(1, generation-2); g < generation; g++ {
			q := Request{N: 1, Generation: g}
			if a, b := next(t, plain, q), next(t, dense, q); a != b {
				t.Fatalf("seed %d: generation %d is\n%snot\n%s", seed, g, b, a)
			}
		}
		closeStore(t, plain)
		closeStore(t, dense)
	}
}

func TestCompactionDropsReplacedRecords(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{segmentSize: 20_000})
	generations := 50 / step(2)
	for generation := range generations {
		for i := range 200 {
			add(t, s, fmt.Sprintf(`{"v":1,"url":"http://a.org/%d","generation":%d,"priority":%d}`, i, generation, i*generation%7))
		}
		next(t, s, Request{N: 3, Generation: generation})
	}
	want := exported(t, s)
	c := compact(t, s)
	if c.Dropped < (generations-1)*200 || c.After*8 > c.Before {
		t.Errorf("%+v", c)
	}
	if got := exported(t, s); got != want {
		t.Error("the export is another")
	}
	closeStore(t, s)
	s = open(t, dir, Options{})
	if n := s.Opened().Replayed; n > 0 {
		t.Errorf("%d lines were read again", n)
	}
	if again := compact(t, s); again.Dropped > 0 {
		t.Errorf("there was more to drop: %+v", again)
	}
	closeStore(t, s)
}

// TestCompactionKilledAnywhere kills a compaction at each of its disk operations.
func TestCompactionKilledAnywhere(t *testing.T) {
	made := t.TempDir()
	s := open(t, made, Options{segmentSize: 1500})
	generation := randomCrawl(t, rand.New(rand.NewPCG(1, 6)), 60, 1, s)
	closeStore(t, s)
	s = open(t, made, Options{ReadOnly: true})
	want := export(t, s, noon)
	closeStore(t, s)
	for n := 0; ; n += step(3) {
		dir := filepath.Join(t.TempDir(), "store")
		copyFiles(t, dir, os.DirFS(made))
		disk := newCircuit(t, dir)
		disk.operationsLeft = n
		s, err := Open(dir, Options{segmentSize: 1500, disk: disk})
		if err != nil {
			t.Fatal(err)
		}
		var c Compaction
		more := true
		for more && err == nil {
			more, err = s.Compact(&c)
		}
		s.abandon()
		done := err == nil
		s = open(t, dir, Options{segmentSize: 1500})
		if got := export(t, s, noon); !slices.Equal(got, want) {
			t.Fatalf("killed at %d: %s", n, cmp.Diff(want, got))
		}
		first := next(t, s, Request{N: 1, Generation: generation - 1})
		compact(t, s)
		if got := export(t, s, noon); !slices.Equal(got, want) {
			t.Fatalf("killed at %d, and compacted again: %s", n, cmp.Diff(want, got))
		}
		if got := next(t, s, Request{N: 1, Generation: generation - 1}); got != first {
			t.Fatalf("killed at %d: the last generation is %s", n, got)
		}
		closeStore(t, s)
		if parts, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(parts) > 0 {
			t.Errorf("killed at %d: %q are left", n, parts)
		}
		if done {
			if n < 30 {
				t.Errorf("only %d things were done", n)
			}
			return
		}
	}
}

// Compaction keeps only the addresses that a batch without a generation still leases: others
// may have been leased since by a generation that is dropped.
func TestCompactionDropsEndedLeases(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	for i := range 6 {
		add(t, s, fmt.Sprintf(`{"v":1,"url":"http://a.org/%d","priority":%d}`, i, 9-i))
	}
	next(t, s, Request{N: 2, Generation: -1, Lease: time.Minute})
	later := noon.Add(time.Hour)
	for generation, want := range []string{"a.org/0", "a.org/2", "a.org/3", "a.org/4"} {
		if got := urls(next(t, s, Request{N: 1, Generation: generation, Now: later})); got != want {
			t.Fatalf("generation %d is %s", generation, got)
		}
		add(t, s, `{"v":1,"url":"http://a.org/0","generation":5,"priority":-9}`, `{"v":1,"url":"http://a.org/1","generation":5,"priority":-9}`,
			fmt.Sprintf(`{"v":1,"url":"http://%s","generation":5,"priority":-9}`, want))
	}
	compact(t, s)
	closeStore(t, s)
	checkSound(t, dir)
}

// Compaction keeps the lease of a revisit, and that it was handed back with error budget.
func TestCompactionKeepsRevisitLeases(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	q := Request{N: 2, Generation: -1, Lease: time.Hour, Recrawl: true}
	again := func(want string) {
		t.Helper()
		compact(t, s)
		closeStore(t, s)
		os.Remove(filepath.Join(dir, snapshotName))
		s = open(t, dir, Options{})
		if got := urls(next(t, s, q)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	add(t, s, `{"v":1,"url":"http://a.org/x","status_code":200,"timestamp":"2026-11-01T00:00:00.000Z"}`, `{"v":1,"url":"http://a.org/y"}`)
	again("a.org/x a.org/y")
	again("")
	add(t, s, `{"v":1,"url":"http://a.org/x","visits":1,"error":"budget"}`)
	again("a.org/x")
	add(t, s, // of two attempts one succeeds
		`{"v":1,"url":"http://a.org/x","visits":1,"error":"timeout","timestamp":"2026-11-20T12:01:00Z"}`,
		`{"v":1,"url":"http://a.org/x","visits":1,"status_code":200,"timestamp":"2026-11-20T12:02:00Z"}`)
	again("")
	closeStore(t, s)
	checkSound(t, dir)
}
