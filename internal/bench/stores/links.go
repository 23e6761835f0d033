package stores

import (
	"io"
	"math/rand/v2"
	"strconv"
)

// What a generation of a crawl finds: so many links, in batches, of which every
// fifth leads to where none has led before.
const (
	Generation = 28_000 // 200 pages of 140 links
	Batch      = 1_000
	stride     = 5
	Fresh      = Generation / stride
)

// Links are the links of a made-up web of 50,000 hosts of very unequal size, as
// records of evolve's.
type Links struct {
	Given int // URLs until now
}

// Append appends the links of the next generation to b. Those that are not new are
// any of those that were given, and as they were the first time.
func (l *Links) Append(b []byte) []byte {
	for i := range Generation {
		if i%stride == 0 {
			b = appendLink(b, l.Given)
			l.Given++
			continue
		}
		known := rand.NewPCG(uint64(l.Given), uint64(i)).Uint64() % uint64(l.Given)
		b = appendLink(b, int(known))
	}
	return b
}

// appendLink appends the link to the nth URL, which has 78 bytes in the mean.
func appendLink(b []byte, n int) []byte {
	rng := rand.NewPCG(uint64(n), 3)
	share := func() float64 { return float64(rng.Uint64()>>11) / (1 << 53) }
	page := uint64(n) / 28 // that many of a page's 140 links are new
	section := int64(rng.Uint64() % 40)
	host := int64(50_000 * share() * share())

	b = append(b, `{"v":1,"url":"https://www.`...)
	b = appendHost(b, host)
	b = append(b, `/section/`...)
	b = strconv.AppendInt(b, section, 10)
	b = append(b, `/articles/`...)
	b = strconv.AppendUint(b, rng.Uint64()>>20, 16)
	b = append(b, '-')
	b = strconv.AppendInt(b, int64(n), 16)
	b = append(b, `.html","generation":`...)
	b = strconv.AppendInt(b, int64(n/Fresh), 10)
	b = append(b, `,"depth":`...)
	b = strconv.AppendInt(b, int64(1+n/1_000_000), 10)
	b = append(b, `,"via":"https://www.`...)
	b = appendHost(b, int64(page%50_000))
	b = append(b, `/section/`...)
	b = strconv.AppendUint(b, page%40, 10)
	b = append(b, `/page-`...)
	b = strconv.AppendUint(b, page*0x9e3779b97f4a7c15>>20, 16)
	b = append(b, `.html","operator":"link","priority":`...)
	b = strconv.AppendFloat(b, share(), 'f', 6, 64)
	b = append(b, `,"niche":"www.`...)
	b = appendHost(b, host)
	return append(b, "\"}\n"...)
}

// appendHost appends the name of a host, without www.
func appendHost(b []byte, n int64) []byte {
	b = append(b, `host`...)
	return append(strconv.AppendInt(b, 100_000+n, 10), `.example`...)
}

// A feed is a reader of what is put into it.
type feed struct{ left []byte }

func (f *feed) Read(p []byte) (int, error) {
	if len(f.left) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, f.left)
	f.left = f.left[n:]
	return n, nil
}
