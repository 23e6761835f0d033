package frontier

import (
	"fmt"
	"math/rand/v2"
)

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

// links is a stream of links, of which every stride-th is new, from first on.
type links struct {
	first, known, stride, i int
	buf, left               []byte
}

func (l *links) Read(p []byte) (int, error) {
	if len(l.left) == 0 {
		l.buf = l.buf[:0]
		for range 100 {
			if l.i%l.stride == 0 {
				l.buf = link(l.buf, l.first)
				l.first++
			} else {
				l.known = (l.known + 7919) % l.first
				l.buf = link(l.buf, l.known)
			}
			l.i++
		}
		l.left = l.buf
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}
