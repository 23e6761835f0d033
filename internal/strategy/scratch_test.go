package strategy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/testfile"
	"spoor/internal/wire"
)

// scratched makes everything leave the heap.
func scratched(t *testing.T) {
	if !mapsFiles {
		t.Skip("this system has no scratch files")
	}
	before := scratchAfter
	scratchAfter = 0
	t.Cleanup(func() { scratchAfter = before })
}

func TestScratchReturnsWhatItKeeps(t *testing.T) {
	scratched(t)
	s := scratch{dir: t.TempDir()}
	var kept, want [][]byte
	for i := range 5 {
		block := bytes.Repeat([]byte{byte(i)}, 100_000+i)
		kept, want = append(kept, s.keep(block)), append(want, bytes.Clone(block))
		clear(block) // the copy is elsewhere
	}
	for i := range kept {
		if !bytes.Equal(kept[i], want[i]) {
			t.Errorf("block %d differs", i)
		}
	}
	if left, err := os.ReadDir(s.dir); err != nil || len(left) > 0 || s.err != nil {
		t.Errorf("%v are left, %v, %v", left, err, s.err)
	}
}

// Without a scratch file nothing is lost, and the state is not saved, so that evolve ends.
func TestScratchThatCannotBeWritten(t *testing.T) {
	scratched(t)
	dir := t.TempDir()
	s := newForage()
	j, _, err := OpenJournal(dir, Signature("forage", s), s, 1)
	testfile.Check(t, err)
	j.scratch.dir = filepath.Join(dir, "missing")
	block := []byte("words")
	if got := j.scratch.keep(block); &got[0] != &block[0] {
		t.Error("the block is not in the heap")
	}
	if err := j.Append(1, s); !os.IsNotExist(err) {
		t.Errorf("%v, want an error that names the file", err)
	}
}

// With its words in a scratch file, a crawl is the same, and so is one that is restored.
func TestForageWithScratch(t *testing.T) {
	scratched(t)
	const generations = 30
	w := newRough(1500, 1)
	plain, large, restored := newStrategy(t, "forage", target(t), nil), newStrategy(t, "forage", target(t), nil), newStrategy(t, "forage", target(t), nil)
	dir := t.TempDir()
	j, _, err := OpenJournal(dir, "forage", large, 1)
	testfile.Check(t, err)
	breed := func(s Strategy, outcomes []*wire.Record, g int) string {
		for _, rec := range outcomes {
			s.Visit(rec)
		}
		bred := s.Breed(40, rand.New(rand.NewPCG(1, uint64(g))))
		if s == plain {
			w.offer(bred)
		}
		return fmt.Sprint(bred)
	}
	for g := 1; g <= generations; g++ {
		outcomes := w.generation(40, g)
		for i, rec := range outcomes {
			var text strings.Builder
			for word := range 1000 { // the pages of a crawl need more than a block
				fmt.Fprintf(&text, " word%d", (1000*(i+g)+word*g)%20_000)
			}
			rec.Text += text.String()
		}
		if g == generations {
			again, _, err := OpenJournal(dir, "forage", restored, g)
			testfile.Check(t, err)
			if bred := breed(restored, outcomes, g); bred != breed(large, outcomes, g) {
				t.Errorf("restored, the strategy proposes\n%s", bred)
			}
			if j.scratch.size == 0 || again.scratch.size == 0 {
				t.Errorf("the scratch files have %d and %d bytes", j.scratch.size, again.scratch.size)
			}
			break
		}
		if bred := breed(large, outcomes, g); bred != breed(plain, outcomes, g) {
			t.Fatalf("generation %d, with a scratch file, proposes\n%s", g, bred)
		}
		testfile.Check(t, j.Append(g, large))
	}
}
