package stores

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"spoor/internal/wire"
)

// leased returns the URLs and priorities that a store leases.
func leased(t *testing.T, s Store, n, perHost int, priorities map[string]float64) (urls []string, values []float64) {
	t.Helper()
	lines, err := s.Lease(n, perHost, time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		url := strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(url, "{") {
			var rec struct{ URL string }
			if err := json.Unmarshal([]byte(line), &rec); err != nil {
				t.Fatal(err)
			}
			url = rec.URL
		}
		urls, values = append(urls, url), append(values, priorities[url])
	}
	return urls, values
}

func TestStoresDoTheSameJob(t *testing.T) {
	const n, perHost = 300, 2
	var links Links
	priorities := map[string]float64{}
	generations := make([][]wire.Record, 3)
	for i := range generations {
		generations[i] = make([]wire.Record, Generation)
		if err := links.Next(generations[i]); err != nil {
			t.Fatal(err)
		}
		for j := range generations[i] {
			priorities[generations[i][j].URL] = generations[i][j].Priority.Value
		}
	}
	if len(priorities) != 3*New {
		t.Fatalf("three generations have %d URLs, want %d", len(priorities), 3*New)
	}
	var want []float64 // of the databases
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			before := map[string]bool{}
			var got []float64
			for i, generation := range generations {
				s, err := Open(name, dir)
				if err != nil {
					t.Fatal(err)
				}
				if added, err := s.Add(generation); added != New || err != nil {
					t.Errorf("generation %d: %d URLs are new, want %d; %v", i, added, New, err)
				}
				urls, values := leased(t, s, n, perHost, priorities)
				hosts := map[string]int{}
				for _, url := range urls {
					if _, known := priorities[url]; !known || before[url] {
						t.Errorf("%s was leased twice or never added", url)
					}
					before[url] = true
					host := strings.Split(url, "/")[2]
					if hosts[host]++; hosts[host] > perHost {
						t.Errorf("generation %d: more than %d from %s", i, perHost, host)
					}
				}
				got = append(got, values...)
				if added, err := s.Add(generation); added != 0 || err != nil {
					t.Errorf("generation %d: %d URLs are new that were leased or wait; %v", i, added, err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if len(got) != 3*n {
				t.Errorf("%d were leased, want %d", len(got), 3*n)
			}
			if name == "spoor" {
				return // shares a batch between hosts in another way
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("the priorities %v… were leased, want %v…", got[:5], want[:5])
			}
		})
	}
}

func TestPlacesAreOrderedByPriority(t *testing.T) {
	priorities := []float64{1e300, 1, 0.5, 1e-300, 0, -1e-300, -1, -1e300}
	for i := range priorities[1:] {
		if bytes.Compare(place(priorities[i], 9), place(priorities[i+1], 1)) >= 0 {
			t.Errorf("%g does not come before %g", priorities[i], priorities[i+1])
		}
	}
	if bytes.Compare(place(1, 1), place(1, 2)) >= 0 {
		t.Error("fingerprints do not break ties")
	}
}

// BenchmarkStore adds generations until a store has a number of URLs, without the time to make
// the links, and then leases 1,000 links ten times. It reports links/s, the processor time for a
// link, the median time of a lease, and the size of the files after Close. Use -benchtime 1x.
func BenchmarkStore(b *testing.B) {
	for _, urls := range []int{100_000, 1_000_000} {
		for _, name := range Names() {
			b.Run(fmt.Sprintf("urls=%d/program=%s", urls, name), func(b *testing.B) {
				for b.Loop() {
					fill(b, name, urls)
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func fill(b *testing.B, name string, urls int) {
	dir := b.TempDir()
	s, err := Open(name, dir)
	if err != nil {
		b.Fatal(err)
	}
	var links Links
	records := make([]wire.Record, Generation)
	var wall, cpu time.Duration
	for links.known < urls {
		if err := links.Next(records); err != nil {
			b.Fatal(err)
		}
		start, used := time.Now(), processorTime(b)
		added, err := s.Add(records)
		if err != nil || added != New {
			b.Fatalf("%d of %d new URLs were added: %v", added, New, err)
		}
		wall += time.Since(start)
		cpu += processorTime(b) - used
	}
	var leases []time.Duration
	for range 10 {
		start := time.Now()
		lines, err := s.Lease(1000, 10, start.Add(time.Hour))
		if err != nil || bytes.Count(lines, []byte("\n")) != 1000 {
			b.Fatalf("%d of 1000 links were leased: %v", bytes.Count(lines, []byte("\n")), err)
		}
		leases = append(leases, time.Since(start))
	}
	slices.Sort(leases)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	total := float64(links.known / New * Generation)
	b.ReportMetric(total/wall.Seconds(), "links/s")
	b.ReportMetric(cpu.Seconds()*1e6/total, "cpu-µs/link")
	b.ReportMetric(leases[5].Seconds()*1e3, "lease-ms")
	b.ReportMetric(size(b, dir)/float64(links.known), "B/url")
}

// processorTime returns the user and system time of this process.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// size returns the bytes of the files in a directory.
func size(b *testing.B, dir string) (n float64) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += float64(info.Size())
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}
