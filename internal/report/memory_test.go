package report

import (
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// manyRecords returns a run of n short records in generations of 10,000, made while they are read.
// Every page is on a host of its own, or all are on a hundred hosts.
func manyRecords(n int, ownHosts bool) *Source {
	const size = 10_000
	s := &Source{Name: "many"}
	for first := 0; first < n; first += size {
		s.Generations = append(s.Generations, Part{
			Number: len(s.Generations) + 1,
			Open: func() (io.ReadCloser, error) {
				r, w := io.Pipe()
				go func() {
					for i := first; i < min(n, first+size); i++ {
						host := i
						if !ownHosts {
							host %= 100
						}
						if _, err := fmt.Fprintf(w, `{"v":1,"url":"http://www.host%d.example/p%d","generation":%d,"operator":"link","status_code":200,"fetch_ms":%d,"score":%g,"relevant":%t}`+"\n",
							host, i, first/size+1, 1+i%300, float64(i*7919%n)/float64(n), i%5 == 0); err != nil {
							break
						}
					}
					w.Close()
				}()
				return r, nil
			},
		})
	}
	return s
}

// peakHeap returns the most memory that f had in use on the heap, beyond what was in use before.
func peakHeap(f func()) uint64 {
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before := inUse()
	var stop atomic.Bool
	peak := make(chan uint64)
	go func() {
		most := uint64(0)
		for !stop.Load() {
			runtime.GC()
			most = max(most, inUse())
			time.Sleep(time.Millisecond)
		}
		peak <- most
	}()
	f()
	stop.Store(true)
	return max(before, <-peak) - before
}

// The limits are those that [Read] states, and a fifth more.
func TestMemoryPerRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 400,000 records")
	}
	const n = 200_000
	for _, tt := range []struct {
		name     string
		ownHosts bool
		limit    int // bytes a record
	}{
		{"every page on a host of its own", true, 190},
		{"a hundred hosts", false, 55},
	} {
		s := manyRecords(n, tt.ownHosts)
		var r *Run
		var err error
		used := peakHeap(func() { r, err = Read(s) })
		if err != nil || r.Records != n {
			t.Fatalf("%d records, %v", r.Records, err)
		}
		if perRecord := int(used / n); perRecord > tt.limit {
			t.Errorf("%s: %d bytes a record, want at most %d", tt.name, perRecord, tt.limit)
		}
	}
}
