package archive

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
)

// A guarded is memory before and behind which nothing can be read or written.
type guarded []byte

func newGuarded(t *testing.T, size int) guarded {
	t.Helper()
	page := os.Getpagesize()
	size = (size + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	for _, guard := range [][]byte{b[:page], b[page+size:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return b[page : page+size : page+size]
}

// of is size bytes of it, at its end or where it begins, which begin with data.
func (g guarded) of(data []byte, size int, atEnd bool) []byte {
	at := 0
	if atEnd {
		at = len(g) - size
	}
	copy(g[at:at+size], data)
	return g[at : at+size : at+size]
}

// guarded unpacks a block and those behind it as inPieces does, out of one memory into another.
func (f *inflater) guarded(in, out guarded, data []byte, step, room int, atEnd bool) progress {
	f.start()
	f.stage, f.out = between, out.of(nil, inflateSlack+room, atEnd)
	for n := min(step, len(data)); ; {
		f.in = in.of(data[:n], n, atEnd)
		switch p := f.run(); {
		case p == short && n < len(data):
			n = min(n+step, len(data))
		case p == full:
			f.out = out.of(bytes.Clone(f.out[:f.n]), len(f.out)+1+f.n/2, atEnd)
		default:
			return p
		}
	}
}

func TestNothingIsReadOrWrittenOutsideOfInputAndRoom(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	const most = 1000 // bytes of a sample
	in, out := newGuarded(t, most), [2]guarded{newGuarded(t, 1<<21), newGuarded(t, 1<<21)}
	samples := deflated(t)
	for n := range 20 {
		samples[fmt.Sprintf("long codes %d", n)] = longMatches(20 + 8*n)
	}
	random := rand.New(rand.NewPCG(11, 12))
	var inflaters [2]inflater // with what the last sample left in their tables
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		data := samples[name]
		for range 200 {
			some := bytes.Clone(data[:random.IntN(min(len(data), most)+1)])
			if len(some) > 0 && random.IntN(2) == 0 {
				some[random.IntN(len(some))] ^= 1 << random.IntN(8)
			}
			step, room, atEnd := 1+random.IntN(most), random.IntN(600), random.IntN(4) > 0
			var p [2]progress
			way := 0
			eachWay(func() {
				p[way] = inflaters[way].guarded(in, out[way], some, step, room, atEnd)
				way++
			})
			if way == 1 {
				continue
			}
			a, b := &inflaters[0], &inflaters[1]
			if n := min(a.n, b.n); p[0] != p[1] || p[0] == done && (a.at != b.at || a.n != b.n) || !bytes.Equal(a.out[:n], b.out[:n]) {
				t.Fatalf("%s: %x, %d bytes at a time, room for %d: progress %d, %d bytes, at bit %d; in Go %d, %d, %d", name, some, step, room, p[0], a.n, a.at, p[1], b.n, b.at)
			}
		}
	}
}
