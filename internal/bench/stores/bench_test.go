//go:build linux

package stores

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// cut is how long a database may add; ours is never cut.
const cut = time.Minute

// BenchmarkStore fills a store in a process of its own, with generations of a crawl
// of whose links four in five are known, in batches; after so many links everything
// must be on disk. That process is killed; then the store is opened, closed and
// opened again, hands out, is given one more generation, killed, and opened again.
// What was acknowledged must be there each time. Up to a million, every second URL
// is forgotten at last, and the files are compacted.
//
// Links come as records, and reading them counts. Databases have a minute to grow:
// what is told of them is of the URLs they have then.
func BenchmarkStore(b *testing.B) {
	for _, size := range []struct {
		name string
		urls int
	}{{"1e5", 100_000}, {"1e6", 1_000_000}, {"1e7", 10_000_000}} {
		for _, durable := range []int{Batch, Generation} {
			for _, store := range Names() {
				b.Run(fmt.Sprintf("%s/fsync=%d/%s", size.name, durable, store), func(b *testing.B) {
					a := GrowArgs{URLs: size.urls, Durable: durable}
					if store != Names()[0] {
						a.Cut = cut
					}
					for b.Loop() {
						dir, urls := live(b, store, a)
						if durable == Generation && size.urls <= 1_000_000 {
							compact(b, store, dir, urls)
						}
					}
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

// live measures the life of a store, and returns where it is and how many URLs it has
// then.
func live(b *testing.B, name string, a GrowArgs) (dir string, known int) {
	dir = filepath.Join(b.TempDir(), "store")
	ms := func(d time.Duration, unit string) { b.ReportMetric(float64(d)/1e6, unit) }

	p := start(b, name)
	p.open(dir, 0)
	var marks []Mark
	p.call("Grow", a, &marks)
	begin, end := marks[0], marks[len(marks)-1]
	i, _ := slices.BinarySearchFunc(marks, end.URLs*9/10, func(m Mark, urls int) int { return m.URLs - urls })
	late := marks[min(i, len(marks)-2)]
	urls := float64(end.URLs)
	b.ReportMetric(urls, "urls")
	b.ReportMetric(rate(begin, end), "links/s-all")
	b.ReportMetric(rate(late, end), "links/s")
	b.ReportMetric(end.CPU.Seconds()*1e6/(urls*Generation/Fresh), "cpu-us/link")
	m := p.memory()
	b.ReportMetric((m.all-p.rest.all)/urls, "grown-B/url")
	b.ReportMetric(m.most/(1<<20), "most-MiB")
	p.kill()

	p = start(b, name)
	ms(p.open(dir, end.URLs), "open-grown-ms")
	p.nothingLost()
	var took time.Duration
	p.call("Close", 0, &took)
	ms(took, "close-ms")
	p.kill()
	b.ReportMetric(size(b, dir)/urls, "disk-B/url")

	p = start(b, name)
	ms(p.open(dir, end.URLs), "open-ms")
	var times []time.Duration
	p.call("Next", 0, &times)
	ms(times[0], "next-first-ms")
	slices.Sort(times)
	ms(times[len(times)/2], "next-ms")
	m = p.memory()
	b.ReportMetric((m.all-p.rest.all)/urls, "open-B/url")
	b.ReportMetric((m.anonymous-p.rest.anonymous)/urls, "open-anonymous-B/url")
	b.ReportMetric(m.all/(1<<20), "open-MiB")
	marks = nil
	p.call("Grow", GrowArgs{URLs: end.URLs + 1, Durable: a.Durable}, &marks)
	p.kill()

	p = start(b, name)
	ms(p.open(dir, end.URLs+Fresh), "open-killed-ms")
	p.nothingLost()
	p.call("Close", 0, &took)
	p.kill()
	return dir, end.URLs + Fresh
}

// compact measures what it takes to rid a store of the half of its URLs, which are
// forgotten.
func compact(b *testing.B, name, dir string, known int) {
	p := start(b, name)
	p.open(dir, known)
	var took time.Duration
	p.call("Forget", 0, &took)
	p.call("Close", 0, &took)
	p.kill()
	b.ReportMetric(size(b, dir)/(1<<20), "long-MiB")

	p = start(b, name)
	p.open(dir, known)
	p.call("Compact", 0, &took)
	b.ReportMetric(took.Seconds(), "compact-s")
	b.ReportMetric(float64(known)/took.Seconds(), "compact-urls/s")
	b.ReportMetric(p.memory().most/(1<<20), "compact-most-MiB")
	p.call("Close", 0, &took)
	p.kill()
	b.ReportMetric(size(b, dir)/(1<<20), "short-MiB")

	p = start(b, name)
	p.open(dir, known)
	fresh := 0
	p.call("Forgotten", 0, &fresh)
	if fresh != Fresh/2 {
		b.Fatalf("%d URLs of the latest generation are new instead of the %d that were forgotten", fresh, Fresh/2)
	}
	p.kill()
}

// nothingLost fails if URLs of the latest generation are not there.
func (p *process) nothingLost() {
	lost := 0
	p.call("Again", 0, &lost)
	if lost > 0 {
		p.b.Fatalf("%d URLs of the latest generation were lost", lost)
	}
}

// rate is how many links a second there were between two marks.
func rate(from, to Mark) float64 {
	return float64(to.URLs-from.URLs) * Generation / Fresh / (to.Took - from.Took).Seconds()
}

// BenchmarkFsync appends what a batch adds to a file and waits for the disk: no
// store that does so after every batch is faster.
func BenchmarkFsync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "file"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	data := make([]byte, 100*Batch*Fresh/Generation)
	for b.Loop() {
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms")
}
