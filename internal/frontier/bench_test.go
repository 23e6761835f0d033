package frontier

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"spoor/internal/wire"
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

// bigStore returns the directory of a store of n URLs, which all benchmarks share.
func bigStore(b *testing.B, n int) string {
	dir := filepath.Join(os.TempDir(), "spoor-bench-frontier-"+strconv.Itoa(n))
	if _, err := os.Stat(filepath.Join(dir, snapshotName)); err == nil {
		return dir
	}
	s := open(b, dir, Options{})
	r := wire.NewReader(&links{stride: 1}, Sections)
	var rec wire.Record
	for range n {
		if err := r.Read(&rec); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Add(&rec); err != nil {
			b.Fatal(err)
		}
	}
	closeStore(b, s)
	return dir
}

// copyOf returns the directory of a copy of a store.
func copyOf(b *testing.B, dir string) string {
	to := b.TempDir()
	if err := os.CopyFS(filepath.Join(to, "store"), os.DirFS(dir)); err != nil {
		b.Fatal(err)
	}
	return filepath.Join(to, "store")
}

var sizes = []int{100_000, 1_000_000}

// BenchmarkAdd reads and adds batches of 28,000 links, 80 % of them known, and commits each
// batch.
func BenchmarkAdd(b *testing.B) {
	const batch = 28_000
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := open(b, copyOf(b, bigStore(b, n)), Options{disk: osDisk{}})
			var input []byte
			for i := range 40 * batch {
				if i%5 == 0 {
					input = link(input, n+i/5)
				} else {
					input = link(input, i*7919%n)
				}
			}
			src := &repeated{data: input}
			r := wire.NewReader(src, Sections)
			var rec wire.Record
			b.ReportAllocs()
			count, start := 0, time.Now()
			for b.Loop() {
				for range batch {
					if err := r.Read(&rec); err != nil {
						b.Fatal(err)
					}
					if _, err := s.Add(&rec); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.Commit(); err != nil {
					b.Fatal(err)
				}
				count += batch
			}
			b.ReportMetric(float64(count)/time.Since(start).Seconds(), "links/s")
			closeStore(b, s)
		})
	}
}

type repeated struct {
	data []byte
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.at == len(r.data) {
		r.at = 0
	}
	n := copy(p, r.data[r.at:])
	r.at += n
	return n, nil
}

// BenchmarkOpen opens and closes a store, from its snapshot.
func BenchmarkOpen(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := bigStore(b, n)
			b.ReportAllocs()
			for b.Loop() {
				s := open(b, dir, Options{ReadOnly: true})
				if s.Opened().Snapshot != nil || s.Opened().Replayed > 0 {
					b.Fatal(s.Opened())
				}
				closeStore(b, s)
			}
		})
	}
}

// BenchmarkReplay opens a store without its snapshot.
func BenchmarkReplay(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := copyOf(b, bigStore(b, n))
			os.Remove(filepath.Join(dir, snapshotName))
			b.ReportAllocs()
			for b.Loop() {
				closeStore(b, open(b, dir, Options{ReadOnly: true}))
			}
		})
	}
}

// BenchmarkNext leases 200 addresses, durably, in an open store.
func BenchmarkNext(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := open(b, copyOf(b, bigStore(b, n)), Options{disk: osDisk{}})
			b.ReportAllocs()
			for generation := 1; b.Loop(); generation++ {
				if _, err := s.Next(Request{N: 200, PerHost: 10, Generation: generation, Now: noon}); err != nil {
					b.Fatal(err)
				}
			}
			closeStore(b, s)
		})
	}
}

// BenchmarkCompact compacts a log half of which was replaced by later records.
func BenchmarkCompact(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			old := copyOf(b, bigStore(b, n))
			s := open(b, old, Options{disk: osDisk{}})
			var line []byte
			var rec wire.Record
			for i := range n {
				line = bytes.Replace(link(line[:0], i), []byte(`,"generation":`), []byte(`,"generation":9`), 1)
				if err := decode(line[:len(line)-1], &rec); err != nil {
					b.Fatal(err)
				}
				if verdict, err := s.Add(&rec); verdict != Changed {
					b.Fatal(verdict, err)
				}
			}
			closeStore(b, s)
			lines := 0
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				s := open(b, copyOf(b, old), Options{disk: osDisk{}})
				b.StartTimer()
				var c Compaction
				for more, err := true, error(nil); more; {
					if more, err = s.Compact(&c); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				if c.Dropped < n*9/10 {
					b.Fatalf("%d of %d lines dropped", c.Dropped, c.Lines)
				}
				lines += c.Lines
				b.ReportMetric(float64(c.Before)/float64(c.After), "smaller")
				closeStore(b, s)
				b.StartTimer()
			}
			b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// BenchmarkSize reports the bytes of a URL on disk and in memory.
func BenchmarkSize(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := bigStore(b, n)
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				s := open(b, dir, Options{ReadOnly: true})
				runtime.ReadMemStats(&after)
				size, err := s.bytes()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(size.Log)/float64(n), "log-B/url")
				b.ReportMetric(float64(size.Snapshot)/float64(n), "index-B/url")
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "heap-B/url")
				closeStore(b, s)
			}
		})
	}
}
