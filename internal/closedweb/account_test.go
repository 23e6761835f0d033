package closedweb

import (
	"math"
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
