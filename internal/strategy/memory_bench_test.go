package strategy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"
	"spoor/internal/wire"
)

// BenchmarkMemory measures the memory of strategies that read the pages of $SPOOR_RECORDS, a file
// that score has written, in its order. When all are read, they are read again, with other hosts and
// a quarter of the words changed. All links are stored, also those that are not archived, as in a
// crawl of the web. It reports bytes of live heap for each page and milliseconds of processor time
// for a thousand pages, each at the number of pages after @. $SPOOR_PAGES is the number of pages;
// $SPOOR_PROFILE is a directory for heap profiles. Use -benchtime 1x.
func BenchmarkMemory(b *testing.B) {
	file := os.Getenv("SPOOR_RECORDS")
	if file == "" {
		b.Skip("SPOOR_RECORDS is not set")
	}
	most := 50_000
	if n, err := strconv.Atoi(os.Getenv("SPOOR_PAGES")); err == nil {
		most = n
	}
	target := topicOf(b, "en", "machine learning data sets")
	for _, name := range []string{"breadthfirst", "bestfirst", "shark", "niche", "antnet", "forage"} {
		b.Run(name, func(b *testing.B) {
			var s Strategy
			before := liveHeap()
			s = newStrategy(b, name, target, nil)
			size := 0
			spent := time.Duration(0) // includes waiting
			pages, copies := 0, 0
			for ; pages < most; copies++ {
				f := testfile.Open(b, file)
				r := wire.NewReader(f, wire.All&^wire.Body)
				rec := new(wire.Record)
				for pages < most && r.Read(rec) == nil {
					varied(rec, copies)
					pages++
					began := time.Now()
					s.Visit(rec)
					if pages%250 == 0 {
						s.Breed(20, rand.New(rand.NewPCG(1, uint64(pages))))
						size += len(s.AppendDelta(nil))
					}
					spent += time.Since(began)
					switch pages {
					case 20_000, 50_000, 100_000, 200_000, most:
						b.ReportMetric(float64(liveHeap()-before)/float64(pages), fmt.Sprintf("B/page@%d", pages))
						b.ReportMetric(float64(size)/float64(pages), fmt.Sprintf("journal-B/page@%d", pages))
						b.ReportMetric(spent.Seconds()*1e6/float64(pages), fmt.Sprintf("ms/1000pages@%d", pages))
						if dir := os.Getenv("SPOOR_PROFILE"); dir != "" {
							out, _ := os.Create(fmt.Sprintf("%s/%s-%d.pprof", dir, name, pages))
							testfile.Check(b, pprof.WriteHeapProfile(out))
							out.Close()
						}
					}
				}
				f.Close()
			}
			runtime.KeepAlive(s)
			b.ReportMetric(0, "ns/op")
		})
	}
}

func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// varied makes rec the page of a copy of the web.
func varied(rec *wire.Record, copies int) {
	mark := ""
	if copies > 0 {
		mark = string(rune('a' + copies - 1))
	}
	url := func(s *string) {
		if i := strings.Index(*s, "://"); i >= 0 {
			*s = (*s)[:i+3] + mark + (*s)[i+3:]
		}
	}
	words := func(s *string) {
		if copies == 0 {
			return
		}
		list := strings.Fields(*s)
		for i, w := range list {
			if fnv64(w)%4 == 0 {
				list[i] = mark + "q" + w
			}
		}
		*s = strings.Join(list, " ")
	}
	if copies > 0 {
		url(&rec.URL)
		url(&rec.FinalURL)
		words(&rec.Title)
		words(&rec.Text)
	}
	for i := range rec.Links {
		l := &rec.Links[i]
		l.Archived = wire.Bool{}
		if copies > 0 {
			url(&l.URL)
			words(&l.Anchor)
			words(&l.Context)
		}
	}
}
