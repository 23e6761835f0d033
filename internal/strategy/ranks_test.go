package strategy

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The delta of a generation is as long as what it brought, however much is known and
// however many numbers were worked out from it.
func TestLinkOrdersSaveOnlyChanges(t *testing.T) {
	for _, variant := range linkOrders {
		s := newStrategy(t, kindOf(variant), nil, paramsOf(variant))
		var first, last int
		for g := range 40 {
			for i := range 30 {
				n := 30*g + i
				w := tiny{fmt.Sprint(n): fmt.Sprintf("0.5 %d %d %d", n+1, n+50, n+5000)}
				s.Visit(w.fetch(Address{URL: address(fmt.Sprint(n))}, g))
			}
			s.Breed(30, rand.New(rand.NewPCG(1, 1)))
			last = len(s.AppendDelta(nil))
			if g == 3 {
				first = last
			}
		}
		if last > first*3/2 {
			t.Errorf("%s: the delta of generation 40 has %d bytes, that of generation 4 %d", variant, last, first)
		}
	}
}
