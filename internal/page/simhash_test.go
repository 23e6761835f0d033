package page

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// plainSimhash counts as the paper describes it, bit by bit.
func plainSimhash(hashes []uint64) (sum uint64) {
	for bit := range 64 {
		vote := 0
		for _, h := range hashes {
			if h>>bit&1 == 1 {
				vote++
			} else {
				vote--
			}
		}
		if vote > 0 {
			sum |= 1 << bit
		}
	}
	return sum
}

func TestUprightCountersVoteLikePlainOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var v votes
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = rng.Uint64() & rng.Uint64() // ones are rarer, so ties are not
			if i%3 == 0 {
				hashes[i] = ^hashes[i]
			}
			v.add(hashes[i])
		}
		if got, want := v.majority(), plainSimhash(hashes); got != want {
			t.Fatalf("%d hashes: %016x, want %016x", n, got, want)
		}
	}
}

func TestSimhashIsOfWords(t *testing.T) {
	for _, same := range [][2]string{
		{"Eine, zwei; DREI!", "eine zwei drei"},
		{"a b c", "c b a"},
		{"ÉTÉ 42", "été\n42"},
		{"", " … "},
	} {
		if a, b := Simhash(same[0]), Simhash(same[1]); a != b {
			t.Errorf("%q and %q: %016x and %016x", same[0], same[1], a, b)
		}
	}
	if Simhash("ab") == Simhash("ba") || Simhash("ab c") == Simhash("a bc") {
		t.Error("different words have the same fingerprint")
	}
	if Simhash("") != 0 {
		t.Error("no words, but a fingerprint")
	}
}

func TestLikeTextsHaveLikeFingerprints(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", rng.IntN(5000))
	}
	text := strings.Join(words, " ")
	near := append(strings.Fields("six words that were not there"), words...)
	far := make([]string, 1000)
	for i := range far {
		far[i] = fmt.Sprintf("other%d", rng.IntN(5000))
	}
	distance := func(words []string) int {
		return bits.OnesCount64(Simhash(text) ^ Simhash(strings.Join(words, " ")))
	}
	if d := distance(near); d > 6 {
		t.Errorf("0.6 %% of the words changed %d bits", d)
	}
	if d := distance(far); d < 20 {
		t.Errorf("another text differs in %d bits only", d)
	}
}
