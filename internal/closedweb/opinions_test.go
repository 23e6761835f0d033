package closedweb

import (
	"math"
	"testing"
	"unsafe"

	"spoor/internal/wire"
)

// Average precision by hand, with pages of equal score, and of a measure that some pages lack.
func TestAveragePrecision(t *testing.T) {
	var o opinions
	if got := o.averagePrecision(); got != nil {
		t.Errorf("without pages it is %v", got)
	}
	names := []byte("ab") // as a reader does, which uses the memory of a record again
	add := func(relevant bool, scores ...wire.Scored) {
		for i := range scores {
			at := scores[i].Name[0] - 'a'
			scores[i].Name = unsafe.String(&names[at], 1)
		}
		o.add(scores, relevant)
		copy(names, "xx")
		clear(scores)
		copy(names, "ab")
	}
	add(true, wire.Scored{Name: "a", Value: 1}) // lacks b, so it does not count
	for _, p := range []struct {
		a, b     float64
		relevant bool
	}{{0.9, 0, true}, {0.8, 0, false}, {0.8, 0, true}, {0.1, 1, false}} {
		add(p.relevant, wire.Scored{Name: "a", Value: p.a}, wire.Scored{Name: "b", Value: p.b}, wire.Scored{Name: "a", Value: 7})
	}
	add(true) // lacks both
	// a: recall 1/2 at precision 1, then 1 at 2/3. b: nothing at the first page, then 1 at 2/4.
	for name, want := range map[string]float64{"a": 0.5 + 0.5*2/3, "b": 0.5} {
		if got := o.averagePrecision()[name]; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
	}
	if got := len(o.averagePrecision()); got != 2 {
		t.Errorf("%d scores", got)
	}
}

// Names of scores are limited, because records are untrusted.
func TestOpinionsAreBounded(t *testing.T) {
	var o opinions
	for i := range 1000 {
		o.add([]wire.Scored{{Name: string(rune('a' + i))}}, true)
	}
	if len(o.scores) != maxOpinions {
		t.Errorf("%d names, want %d", len(o.scores), maxOpinions)
	}
}
