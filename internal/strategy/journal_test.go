package strategy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

// live runs one generation of niche over w with its state in dir and returns
// what it proposes.
func live(t *testing.T, dir string, generation int, addresses []Address, w tiny) []Address {
	t.Helper()
	s := newNiche()
	j, g := openJournal(t, dir, Signature("niche", s), s, generation)
	for _, a := range addresses {
		s.Visit(w.fetch(a, g))
	}
	next := s.Breed(20, rand.New(rand.NewPCG(1, uint64(g))))
	if err := j.Append(g, s); err != nil {
		t.Fatal(err)
	}
	return next
}

func seeds(names ...string) (addresses []Address) {
	for _, n := range names {
		addresses = append(addresses, Address{URL: address(n), Operator: "seed"})
	}
	return addresses
}

func journal(t *testing.T, dir string) []byte {
	t.Helper()
	b := testfile.Read(t, filepath.Join(dir, journalName))
	return b
}

func TestRepeatedGenerationGivesSameBytes(t *testing.T) {
	w, dir := random(300, 5), t.TempDir()
	first := live(t, dir, 1, seeds("0", "1", "2"), w)
	second := live(t, dir, 2, first, w)
	live(t, dir, 3, second, w)
	after3 := journal(t, dir)

	again := live(t, dir, 2, first, w) // two generations back
	if fmt.Sprint(again) != fmt.Sprint(second) {
		t.Error("generation 2 proposed something else the second time")
	}
	live(t, dir, 0, second, w) // the next, whatever its number
	if !bytes.Equal(journal(t, dir), after3) {
		t.Error("the journal differs after the same generations")
	}
}

// Whatever part of the last frame reached the disk, the generation before it is
// there, and the last can be run again.
func TestTornFrameIsDiscarded(t *testing.T) {
	w, dir := random(60, 6), t.TempDir()
	first := live(t, dir, 1, seeds("0", "1", "2"), w)
	after1 := len(journal(t, dir))
	live(t, dir, 2, first, w)
	whole := journal(t, dir)
	for size := range len(whole) {
		torn := t.TempDir()
		testfile.Write(t, filepath.Join(torn, journalName), whole[:size])
		if size < after1 {
			live(t, torn, 1, seeds("0", "1", "2"), w)
		}
		live(t, torn, 2, first, w)
		if !bytes.Equal(journal(t, torn), whole) {
			t.Fatalf("cut to %d of %d bytes, the journal did not come back", size, len(whole))
		}
	}
}

func TestJournalErrorsHaveHints(t *testing.T) {
	w := random(60, 7)
	for _, test := range []struct {
		name       string
		generation int
		params     []string
		harm       func([]byte) []byte
		want       string
	}{
		{"a gap", 4, nil, nil, "hint: run generation 3 first"},
		{"other parameters", 3, []string{"pc=0.5", "lazy=true"}, nil, "this is the state of niche pc=0.6 lazy=false, not of niche pc=0.5 lazy=true\nhint: "},
		{"no journal", 3, nil, func(b []byte) []byte { return append([]byte("PK\x03\x04"), b...) }, "not a state of this version"},
		{"damage in the middle", 3, nil, func(b []byte) []byte {
			b[bytes.IndexByte(b, '\n')+30] ^= 1
			return b
		}, "hint: run the generations from 1 again"},
		{"a damaged length", 3, nil, func(b []byte) []byte {
			b[bytes.IndexByte(b, '\n')+3] ^= 1
			return b
		}, "hint: run the generations from 1 again"},
		{"an empty journal", 3, nil, func([]byte) []byte { return nil }, "hint: run generation 1 first"},
	} {
		dir := t.TempDir()
		live(t, dir, 2, live(t, dir, 1, seeds("0", "1"), w), w)
		if test.harm != nil {
			testfile.Write(t, filepath.Join(dir, journalName), test.harm(journal(t, dir)))
		}
		s := newStrategy(t, "niche", nil, test.params)
		if _, _, err := OpenJournal(dir, Signature("niche", s), s, test.generation); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want «%s»", test.name, err, test.want)
		}
	}
}

func TestGenerationsAfterDamageCanBeRepeated(t *testing.T) {
	w, dir := random(60, 7), t.TempDir()
	first := live(t, dir, 1, seeds("0", "1"), w)
	after1 := len(journal(t, dir))
	second := live(t, dir, 2, first, w)
	live(t, dir, 3, second, w)
	whole := journal(t, dir)
	harmed := bytes.Clone(whole)
	harmed[after1+2] ^= 1
	testfile.Write(t, filepath.Join(dir, journalName), harmed)
	live(t, dir, 2, first, w)
	live(t, dir, 3, second, w)
	if !bytes.Equal(journal(t, dir), whole) {
		t.Error("the journal did not come back")
	}
}

// Arbitrary bytes may be an error, but never a panic.
func FuzzReplay(f *testing.F) {
	w, topic := random(60, 8), target(f)
	for i, kind := range Kinds() {
		s := newStrategy(f, kind.Name, topic, nil)
		for _, a := range seeds("0", "1", "2") {
			s.Visit(w.fetch(a, 1))
		}
		s.Breed(20, rand.New(rand.NewPCG(1, 1)))
		f.Add(uint8(i), s.AppendDelta(nil))
	}
	f.Fuzz(func(t *testing.T, number uint8, b []byte) {
		kinds := Kinds()
		s := newStrategy(t, kinds[int(number)%len(kinds)].Name, topic, nil)
		if s.Replay(b) == nil {
			s.Breed(20, rand.New(rand.NewPCG(1, 1)))
		}
	})
}

func TestAJournalIsNotWrittenThroughALink(t *testing.T) {
	w, dir, elsewhere := random(300, 5), t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	testfile.Write(t, elsewhere, "mine")
	if err := os.Symlink(elsewhere, filepath.Join(dir, journalName)); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	s := newNiche()
	j, g := openJournal(t, dir, Signature("niche", s), s, 1)
	s.Visit(w.fetch(seeds("0")[0], g))
	if err := j.Append(g, s); err == nil || !strings.Contains(err.Error(), "journal is a symbolic link") {
		t.Errorf("got error %v", err)
	}
	if got, err := os.ReadFile(elsewhere); err != nil || string(got) != "mine" {
		t.Errorf("the file elsewhere holds %q, %v", got, err)
	}
}

// FuzzJournal restores strategies from journals of arbitrary deltas with right checksums: it may
// be an error, but never a panic, and a restored state can be continued and restored again.
func FuzzJournal(f *testing.F) {
	w, topic := random(60, 8), target(f)
	kinds := Kinds()
	create := func(tb testing.TB, number uint8) (Strategy, string) {
		name := kinds[int(number)%len(kinds)].Name
		s := newStrategy(tb, name, topic, nil)
		return s, Signature(name, s)
	}
	live := func(s Strategy, n int) {
		for _, a := range seeds("0", "1", "2", "3", "4", "5")[2*n-2 : 2*n] {
			s.Visit(w.fetch(a, n))
		}
		s.Breed(20, rand.New(rand.NewPCG(1, uint64(n))))
	}
	for i := range kinds {
		s, _ := create(f, uint8(i))
		live(s, 1)
		first := s.AppendDelta(nil)
		live(s, 2)
		second := s.AppendDelta(nil)
		f.Add(uint8(i), first, second, uint32(2), []byte{})
		f.Add(uint8(i), first, first, uint32(2), []byte{})
		f.Add(uint8(i), second, first, uint32(1<<32-1), []byte("tail"))
		f.Add(uint8(i), []byte{}, first, uint32(0), make([]byte, frameHead))
	}
	f.Fuzz(func(t *testing.T, number uint8, first, second []byte, last uint32, tail []byte) {
		s, signature := create(t, number)
		dir := t.TempDir()
		b := []byte(journalFormat + signature + "\n")
		b = appendFrame(b, first, 1)
		b = appendFrame(b, second, last)
		testfile.Write(t, filepath.Join(dir, journalName), append(b, tail...))
		j, next, err := OpenJournal(dir, signature, s, 0)
		if err != nil {
			if !strings.Contains(err.Error(), filepath.Join(dir, journalName)) {
				t.Fatalf("an error without the name of the file: %v", err)
			}
			return
		}
		live(s, 3)
		if err := j.Append(next, s); err != nil {
			t.Fatal(err)
		}
		again, _ := create(t, number)
		if _, n, err := OpenJournal(dir, signature, again, 0); err != nil || n != next+1 {
			t.Fatalf("the journal cannot be read again: generation %d after %d, %v", n, next, err)
		}
	})
}

func TestAJournalThatIsTooLargeIsNotRead(t *testing.T) {
	s := newNiche()
	signature := Signature("niche", s)
	head := []byte(journalFormat + signature + "\n")
	claimed := appendFrame(nil, nil, 1) // a delta of 2 GiB, of which the file has none
	binary.LittleEndian.PutUint32(claimed, 2<<30)
	binary.LittleEndian.PutUint32(claimed[12:], crc32.Checksum(claimed[:12], castagnoli))
	for _, test := range []struct {
		name string
		data []byte
		size int64 // of the file, which is sparse
		want string
	}{
		{"file", head, maxJournal + 1, "it has 17179869185 bytes, and at most 17179869184 are read\nhint: "},
		{"delta", append(head[:len(head):len(head)], claimed...), 3 << 30, "the frame after generation 0 is damaged\nhint: "},
	} {
		name := filepath.Join(t.TempDir(), journalName)
		testfile.Write(t, name, test.data)
		if err := os.Truncate(name, test.size); err != nil {
			t.Skip(err)
		}
		if _, _, err := OpenJournal(filepath.Dir(name), signature, s, 0); err == nil || !strings.Contains(err.Error(), name+": "+test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A generation is a number that somebody may have written into the file.
func TestGenerationsOfAJournalFollowEachOther(t *testing.T) {
	w := random(60, 6)
	for _, last := range []uint32{0, 1, 3, 1<<32 - 1} {
		dir := t.TempDir()
		live(t, dir, 2, live(t, dir, 1, seeds("0"), w), w)
		b := journal(t, dir)
		first := bytes.IndexByte(b, '\n') + 1
		second := first + frameHead + int(binary.LittleEndian.Uint32(b[first:]))
		b = appendFrame(b[:second:second], b[second+frameHead:], last)
		testfile.Write(t, filepath.Join(dir, journalName), b)
		s := newNiche()
		if _, n, err := OpenJournal(dir, Signature("niche", s), s, 0); err == nil || !strings.Contains(err.Error(), "after generation 1 is damaged") {
			t.Errorf("generation %d after 1: the next is %d, %v", last, n, err)
		}
	}
}

// appendFrame appends the frame of a delta.
func appendFrame(b, delta []byte, generation uint32) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(delta)))
	b = binary.LittleEndian.AppendUint32(b, generation)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(delta, castagnoli))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli))
	return append(b, delta...)
}

// openJournal opens the journal in dir, and restores s from it.
func openJournal(t *testing.T, dir, signature string, s Strategy, generation int) (*Journal, int) {
	t.Helper()
	j, next, err := OpenJournal(dir, signature, s, generation)
	if err != nil {
		t.Fatal(err)
	}
	return j, next
}
