package stores

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"spoor/internal/frontier"
	"spoor/internal/wire"
)

// A generation of the simulated crawl fetches 200 pages of 140 links. Every fifth link is new.
const (
	Generation = 28_000
	New        = Generation / 5
)

// Links are the links of a synthetic web: 50,000 hosts of very different sizes.
type Links struct {
	known int // URLs until now
	lines []byte
}

// Next reads the links of the next generation into records. Links that are not new are drawn from
// all that were before, and equal them.
func (l *Links) Next(records []wire.Record) error {
	l.lines = l.lines[:0]
	for i := range Generation {
		n := l.known
		if i%5 == 0 {
			l.known++
		} else {
			n = int(rand.NewPCG(uint64(l.known), uint64(i)).Uint64() % uint64(l.known))
		}
		l.lines = appendLink(l.lines, n)
	}
	r := wire.NewReader(bytes.NewReader(l.lines), frontier.Sections)
	for i := range Generation {
		if err := r.Read(&records[i]); err != nil {
			return err
		}
	}
	return nil
}

// appendLink appends a record of the nth URL, as evolve writes it. URLs have 78 bytes on average.
func appendLink(b []byte, n int) []byte {
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	host := 100_000 + int(50_000*rng.Float64()*rng.Float64())
	page := uint64(n) / 28 // 28 of the 140 links of a page are new
	return fmt.Appendf(b, `{"v":1,"url":"https://www.host%d.example/section/%d/articles/%x-%x.html","generation":%d,"depth":%d,`+
		`"via":"https://www.host%d.example/section/%d/page-%x.html","operator":"link","priority":%.6f,"niche":"www.host%[1]d.example"}`+"\n",
		host, rng.IntN(40), rng.Uint64()>>20, n, n/New, 1+n/1_000_000,
		100_000+page%50_000, page%40, page*0x9e3779b97f4a7c15>>20, rng.Float64())
}
