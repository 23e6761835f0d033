package frontier

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

// chooseSimply chooses a batch one candidate at a time: of those that the limits admit, the
// one with the greatest weight, then of the group with fewer addresses, then with the higher
// priority, then with the smaller URL (here: id).
func chooseSimply(all []candidate, n, perHost, perNiche int, share Group) (ids []uint32) {
	hosts, niches := map[uint32]int{}, map[uint32]int{}
	left := slices.Clone(all)
	for len(ids) < n {
		best, most, fewest := -1, math.Inf(-1), 0
		for i, e := range left {
			if perHost > 0 && hosts[e.host] >= perHost || perNiche > 0 && niches[e.niche] >= perNiche {
				continue
			}
			taken := [...]int{0, hosts[e.host], niches[e.niche]}[share]
			w := e.priority / float64(taken+1)
			if e.priority < 0 {
				w = e.priority * float64(taken+1)
			}
			if best < 0 || w > most || w == most && (taken < fewest || taken == fewest &&
				(e.priority > left[best].priority || e.priority == left[best].priority && e.id < left[best].id)) {
				best, most, fewest = i, w, taken
			}
		}
		if best < 0 {
			break
		}
		e := left[best]
		left = slices.Delete(left, best, best+1)
		hosts[e.host]++
		niches[e.niche]++
		ids = append(ids, e.id)
	}
	return ids
}

// chooseWith returns the batch that a chooser chooses from candidates offered in this order,
// and the largest number of candidates it kept.
func chooseWith(all []candidate, n, perHost, perNiche int, share Group, full int) (ids []uint32, kept int) {
	c := newChooser(n, limits{perHost, perNiche, nil}, share, cmp.Compare[uint32])
	c.pruneAt = n + full
	for _, e := range all {
		c.offer(e)
		kept = max(kept, len(c.candidates))
	}
	for _, b := range c.choose() {
		ids = append(ids, b.id)
	}
	return ids, kept
}

// randomCandidates returns candidates of few or many hosts, in niches that are hosts, parts of
// hosts, or span hosts, with different, equal, zero and negative priorities.
func randomCandidates(rng *rand.Rand) []candidate {
	all := make([]candidate, rng.IntN(60))
	hosts, niches, kind, values := 1+rng.IntN(8), 1+rng.IntN(8), rng.IntN(3), 1+rng.IntN(9)
	for i := range all {
		e := candidate{float64(rng.IntN(values)-rng.IntN(2)) / 4, uint32(i), uint32(rng.IntN(hosts)), 0}
		switch kind {
		case 0:
			e.niche = e.host
		case 1:
			e.niche = e.host*100 + uint32(rng.IntN(niches))
		case 2:
			e.niche = uint32(rng.IntN(niches))
		}
		all[i] = e
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func TestChooseAgreesWithASimpleImplementation(t *testing.T) {
	for seed := range rounds(20_000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		all := randomCandidates(rng)
		n, perHost, perNiche, share := 1+rng.IntN(12), max(0, rng.IntN(6)-2), max(0, rng.IntN(6)-2), Group(rng.IntN(3))
		want := chooseSimply(all, n, perHost, perNiche, share)
		for range 3 {
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if got, _ := chooseWith(all, n, perHost, perNiche, share, 1+rng.IntN(10)); !slices.Equal(got, want) {
				t.Fatalf("seed %d: n %d, per host %d, per niche %d, shared by %d, of %v:\n got %v\nwant %v", seed, n, perHost, perNiche, share, all, got, want)
			}
		}
	}
}

// Of two hosts with enough addresses, the one with three times the priority gets three
// quarters of the batch.
func TestSharesAreProportionalToPriority(t *testing.T) {
	var all []candidate
	for i := range uint32(4000) {
		all = append(all, candidate{0.9, i, 0, 0}, candidate{0.3, 4000 + i, 1, 1})
	}
	ids, kept := chooseWith(all, 400, 0, 0, ByHost, 400)
	dear := 0
	for _, id := range ids {
		if id < 4000 {
			dear++
		}
	}
	if len(ids) != 400 || dear != 300 || kept > 800 {
		t.Errorf("%d of %d, with %d in memory; want 300 of 400 with 800", dear, len(ids), kept)
	}
}

// All batches of a few candidates are tried: with one kind of limit none has a greater total
// priority than the one chosen, with both kinds none has more than twice its priority.
func TestBatchWeightIsWithinItsBound(t *testing.T) {
	worst := 1.0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		all := make([]candidate, 1+rng.IntN(11))
		for i := range all {
			all[i] = candidate{float64(1 + rng.IntN(9)), uint32(i), uint32(rng.IntN(3)), uint32(rng.IntN(3))}
		}
		n, perHost, perNiche := 1+rng.IntN(6), 1+rng.IntN(2), rng.IntN(3)
		best := 0.0
		for set := range 1 << len(all) {
			sum, size, l := 0.0, 0, limits{perHost, perNiche, nil}.tally(n)
			for i, e := range all {
				if set>>i&1 == 0 {
					continue
				}
				if size++; size > n || !l.admit(e) {
					sum = -1
					break
				}
				sum += e.priority
			}
			best = max(best, sum)
		}
		got := 0.0
		ids, _ := chooseWith(all, n, perHost, perNiche, NoGroup, 1)
		for _, id := range ids {
			got += all[id].priority
		}
		if perNiche == 0 && got != best || got < best/2 {
			t.Fatalf("seed %d: %v of %v", seed, got, best)
		}
		worst = min(worst, got/best)
	}
	if worst == 1 {
		t.Error("greedy was never beaten: the test tries too little")
	}
}

// Memory is bounded also for limits of hosts and niches, with few and with many hosts.
func TestChooserMemoryIsBounded(t *testing.T) {
	for _, hosts := range []int{2, 40, 100_000} {
		for share := range ByNiche + 1 {
			rng := rand.New(rand.NewPCG(1, 1))
			all := make([]candidate, 100_000/step(10))
			for i := range all {
				all[i] = candidate{rng.Float64(), uint32(i), uint32(rng.IntN(hosts)), uint32(rng.IntN(1000))}
			}
			ids, kept := chooseWith(all, 20, 0, 15, share, 20)
			if want := chooseSimply(all, 20, 0, 15, share); !slices.Equal(ids, want) || kept > 600 {
				t.Errorf("%d hosts, shared by %d: %d kept,\n got %v\nwant %v", hosts, share, kept, ids, want)
			}
		}
	}
}

func TestHugeBatch(t *testing.T) {
	all := []candidate{{1, 1, 1, 1}, {1, 2, 1, 2}, {2, 3, 2, 2}}
	for share := range ByNiche + 1 {
		if got, _ := chooseWith(all, math.MaxInt>>2, 1, 9, share, 9); !slices.Equal(got, []uint32{3, 1}) {
			t.Errorf("shared by %d: %v", share, got)
		}
	}
}

// link appends the ith link of an artificial web of 50,000 hosts, as evolve would write it. 140
// links are on the same page; the mean length of a URL is 78 bytes.
func link(b []byte, i int) []byte {
	rng := rand.New(rand.NewPCG(uint64(i), 3))
	host := int(float64(50_000) * rng.Float64() * rng.Float64())
	b = fmt.Appendf(b, `{"v":1,"url":"https://www.host%05d.example/section/%d/articles/%x-%x.html","generation":%d,"depth":%d,`,
		host, rng.IntN(40), rng.Uint64()>>20, i, i/28_000, 1+i/100_000)
	page := i / 140
	b = fmt.Appendf(b, `"via":"https://www.host%05d.example/section/%d/page-%x.html","operator":"link","priority":%.6f,"niche":"www.host%05d.example"}`,
		page%50_000, page%40, uint64(page)*0x9e3779b97f4a7c15>>20, rng.Float64(), host)
	return append(b, '\n')
}

// The batch does not depend on the number of processors.
func TestChooseOnManyProcessors(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	n := 3*chunkSize + 10
	if testing.Short() {
		n = chunkSize + 10
	}
	for i := range n {
		add(t, s, string(link(nil, i)))
	}
	many := []int{1, 2, 3, 16}
	if testing.Short() {
		many = []int{1, 3}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, q := range []Request{
		{N: 100},
		{N: 2000, PerHost: 3},
		{N: 300, Fair: ByHost},
		{N: 300, Fair: ByNiche, PerHost: 5, PerNiche: 20},
		{N: 1000, MaxPerHost: 2},
		{N: 1e6},
	} {
		var first []uint32
		for _, processors := range many {
			runtime.GOMAXPROCS(processors)
			q.Now = noon
			ids, err := s.chooseBatch(q)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = ids
			}
			if !slices.Equal(ids, first) {
				t.Errorf("%+v: %d processors choose others", q, processors)
			}
		}
		if len(first) < 100 {
			t.Errorf("%+v: only %d are chosen", q, len(first))
		}
	}
	if _, err := s.Next(Request{N: 1e6, Generation: 0, Now: noon}); err != nil {
		t.Fatal(err)
	}
	for _, processors := range []int{1, 16} {
		runtime.GOMAXPROCS(processors)
		_, err := s.chooseBatch(Request{N: 10, Generation: 0, Now: noon})
		if none, ok := errors.AsType[*NothingDue](err); !ok || none.Leased != n || !none.Earliest.IsZero() {
			t.Errorf("%d processors say %v", processors, err)
		}
	}
	closeStore(t, s)
}

// Lines, their order and errors do not depend on the number of processors. Some lines are of
// records not yet written as a frame, and some of revisits.
func TestRenderBatchOnManyProcessors(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	for i := range 2000 {
		add(t, s, fmt.Sprintf(`{"v":1,"url":"http://h%d.org/%d","priority":%d,"parents":["http://a.org/%d"],"reasons":{"padding":%d}}`,
			i%7, i, i*7919%2000, i%5, i*i*i))
	}
	for i := range 300 {
		add(t, s, fmt.Sprintf(`{"v":1,"url":"http://h%d.org/%d","priority":1500,"status_code":200,"timestamp":"2026-01-01T00:00:00Z","digest":"sha1:%d"}`, i%7, i, i))
	}
	if s.log.blockLines == 0 {
		t.Fatal("all records are in frames")
	}
	q := Request{N: 2500, Generation: 3, Recrawl: true, Now: noon}
	ids, err := s.chooseBatch(q)
	if err != nil || len(ids) != 2000 {
		t.Fatal(len(ids), err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	each := func(do func(processors int)) {
		for _, processors := range []int{1, 2, 3, 16} {
			runtime.GOMAXPROCS(processors)
			do(processors)
		}
	}
	var first [][]byte
	each(func(processors int) {
		lines, err := s.renderBatch(ids, q)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range lines {
			if want := `"url":"` + s.x.url(ids[i]) + `"`; !bytes.Contains(line, []byte(want)) {
				t.Fatalf("%d processors: line %d is %s, without %s", processors, i, line, want)
			}
		}
		if first == nil {
			first = lines
		}
		if !slices.EqualFunc(lines, first, bytes.Equal) {
			t.Errorf("%d processors make other lines", processors)
		}
	})

	// Of two damaged frames the first is reported.
	closeStore(t, s)
	name := filepath.Join(dir, segmentName(1))
	b := testfile.Read(t, name)
	s = open(t, dir, Options{ReadOnly: true})
	var frames []int
	if _, err := scan(b[segmentHeader:], func(at int64, f frame) error {
		frames = append(frames, int(at))
		return nil
	}); err != nil || len(frames) < 4 {
		t.Fatal(len(frames), err)
	}
	for _, at := range frames[1:3] {
		b[segmentHeader+at+frameHeader] ^= 1
	}
	testfile.Write(t, name, b)
	want := fmt.Sprintf("byte %d: no valid frame", segmentHeader+frames[1])
	each(func(processors int) {
		if _, err := s.renderBatch(ids, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d processors say %v, not %s", processors, err, want)
		}
	})
	closeStore(t, s)
}
