package closedweb

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"spoor/internal/wire"
)

func TestCostOfQueriesIsBounded(t *testing.T) {
	for cost, want := range map[int]int64{math.MinInt: 1, -1: 1, 0: 1, 1: 1, 12: 12, math.MaxInt: maxCost} {
		var a Account
		for range 3 {
			if p := a.Pay(&wire.Record{Query: "words", Cost: cost}, PageID{}); p.Cost != want || !p.Query {
				t.Errorf("cost %d: %+v", cost, p)
			}
		}
		if a.Spent != 3*want || a.Queries != 3 {
			t.Errorf("cost %d: spent %d for %d queries", cost, a.Spent, a.Queries)
		}
	}
}

// A long crawl has millions of pages outside the web.
func TestAccountTakesLittleMemory(t *testing.T) {
	const pages = 200_000
	var a Account
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range pages {
		rec := wire.Record{URL: fmt.Sprintf("http://host%d.example/a/page/with/a/rather/long/name/%d", i%100, i)}
		if a.Pay(&rec, IDWithoutWeb(&rec)).Repeated {
			t.Fatalf("page %d: repeated", i)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := int64(after.HeapAlloc-before.HeapAlloc) / pages; got > 64 {
		t.Errorf("%d bytes a page, want at most 64", got)
	}
	runtime.KeepAlive(&a)
}
