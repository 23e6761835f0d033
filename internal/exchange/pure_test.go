package exchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// The shares add up to the total, and no partition gets none while another gets two.
func TestSharesAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		partitions, total := 1+rng.IntN(20), rng.IntN(100)
		best, records := make([][]float64, partitions), make([]record, partitions)
		for p := range partitions {
			for range rng.IntN(30) {
				best[p] = append(best[p], float64(rng.IntN(5)))
			}
			slices.SortFunc(best[p], func(a, b float64) int { return cmp.Compare(b, a) })
			records[p] = record{rng.IntN(50), rng.IntN(50), rng.IntN(30)}
		}
		for _, n := range [][]int{shareByPriority(total, best), shareByReward(rng.IntN(1e6), total, records)} {
			got := 0
			for _, k := range n {
				got += k
			}
			if got != total || slices.Min(n) < 0 {
				t.Fatalf("%d addresses are shared as %v", total, n)
			}
		}
	}
}

func TestSharesByPriority(t *testing.T) {
	for _, c := range []struct {
		total int
		best  [][]float64
		want  []int
	}{
		{4, [][]float64{{9, 8, 1}, {7, 7, 7}}, []int{2, 2}},
		{3, [][]float64{{1, 1, 1}, {1, 1}}, []int{2, 1}}, // equal priorities: in turn
		{5, [][]float64{{3}, nil, nil}, []int{3, 1, 1}},
	} {
		if got := shareByPriority(c.total, c.best); !equal(got, c.want) {
			t.Errorf("%v of %d: %v instead of %v", c.best, c.total, got, c.want)
		}
	}
}

// Shares by reward are in proportion to the share of relevant pages, in the mean of many generations
// also where they are less than one.
func TestSharesByReward(t *testing.T) {
	sum := make([]int, 4)
	for g := range 1000 {
		for p, n := range shareByReward(g, 2, []record{{39, 0, 9}, {99, 70, 9}, {99, 10, 9}, {0, 0, 0}}) { // 0.01, 0.70 and 0.10, about
			sum[p] += n
		}
	}
	if total := sum[0] + sum[1] + sum[2]; total != 2000 || sum[3] > 0 || sum[0] < 1 || sum[0] > 40 || sum[1] < 1650 || sum[2] < 200 || sum[2] > 270 {
		t.Errorf("by reward: %v", sum)
	}
	for _, c := range []struct {
		partitions []record
		want       []int
	}{
		{[]record{{0, 0, 0}}, []int{9}},
		{[]record{{9, 9, 2}, {9, 3, 20}, {9, 3, 3}}, []int{2, 4, 3}}, // the first and the last have no more
		{[]record{{9, 9, 1}, {9, 3, 1}, {9, 3, 1}}, []int{3, 3, 3}},  // more may come
	} {
		if got := shareByReward(0, 9, c.partitions); !equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.partitions, got, c.want)
		}
	}
}

func equal(a, b []int) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// Blocks with another content than their commit says are refused, and bombs are not decompressed.
func TestBlocksOfStrangers(t *testing.T) {
	data := []byte("{\"v\":1,\"url\":\"http://a.test/\"}\n")
	good := Block{To: "3", Records: 1, Bytes: len(data), Sum: sum(data)}
	if got, err := good.unpack(pack(data)); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%q, %v", got, err)
	}
	bomb := pack(make([]byte, maxBlock))
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	big := e.EncodeAll(make([]byte, 1<<26), nil)
	for name, c := range map[string]struct {
		change  func(*Block)
		message []byte
	}{
		"sum":       {func(b *Block) { b.Sum = sum(nil) }, pack(data)},
		"lines":     {func(b *Block) { b.Records = 2 }, pack(data)},
		"no end":    {func(b *Block) { b.Bytes--; b.Sum = sum(data[:len(data)-1]) }, pack(data[:len(data)-1])},
		"size":      {func(b *Block) { b.Bytes = 5 }, pack(data)},
		"huge":      {func(b *Block) { b.Bytes = maxBlock + 1 }, pack(data)},
		"negative":  {func(b *Block) { b.Bytes = -1 }, pack(data)},
		"bomb":      {func(*Block) {}, bomb},
		"large":     {func(*Block) {}, big},
		"plain":     {func(*Block) {}, data},
		"truncated": {func(*Block) {}, pack(data)[:20]},
		"empty":     {func(*Block) {}, nil},
	} {
		b := good
		c.change(&b)
		begun := time.Now()
		if got, err := b.unpack(c.message); !errors.Is(err, errBlock) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if time.Since(begun) > 2*time.Second {
			t.Errorf("%s: it was decompressed", name)
		}
	}
}

func TestPackerDividesLines(t *testing.T) {
	var p packer
	line := []byte(strings.Repeat("x", 100_000) + "\n")
	for range 17 {
		if err := p.add(line); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, piece := range p.pieces {
		if len(piece) > maxBlock {
			t.Errorf("a piece of %d bytes", len(piece))
		}
		n += bytes.Count(piece, []byte("\n"))
	}
	if n != 17 || p.add(make([]byte, maxBlock+1)) == nil {
		t.Errorf("%d lines", n)
	}
}

// Commits that contradict themselves are refused by name.
func TestCommitsOfStrangers(t *testing.T) {
	good := Commit{Version: formatVersion, Partition: 2, Generation: 5, Attempt: "a", Total: 9, N: 3, Outcomes: 3, Cost: 2, Spent: 7, Blocks: []Block{{To: "1", Sum: "x"}, {To: toJournal}}}
	marshal := func(c Commit) []byte {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	good.Digest = good.digest()
	if _, err := parseCommit(marshal(good), 2, 5, 4); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Commit){
		"version":     func(c *Commit) { c.Version++ },
		"partition":   func(c *Commit) { c.Partition = 1 },
		"generation":  func(c *Commit) { c.Generation = 6 },
		"cost":        func(c *Commit) { c.Cost = 8 },
		"negative":    func(c *Commit) { c.Relevant = -1 },
		"n":           func(c *Commit) { c.N = 10 },
		"order":       func(c *Commit) { c.Best = []float64{1, 2} },
		"due":         func(c *Commit) { c.Due = "soon" },
		"due alone":   func(c *Commit) { c.Due = "2026-01-02T03:04:05Z" },
		"destination": func(c *Commit) { c.Blocks = []Block{{To: "4"}} },
		"spelling":    func(c *Commit) { c.Blocks = []Block{{To: "01"}} },
	} {
		c := good
		change(&c)
		c.Digest = c.digest()
		if _, err := parseCommit(marshal(c), 2, 5, 4); err == nil || !strings.Contains(err.Error(), "generation 5 of partition 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := good
	bad.N = 2 // its digest no longer fits
	for _, message := range [][]byte{marshal(bad), []byte("{"), nil, make([]byte, maxCommit+1)} {
		if _, err := parseCommit(message, 2, 5, 4); err == nil {
			t.Errorf("%.20q was accepted", message)
		}
	}
}
