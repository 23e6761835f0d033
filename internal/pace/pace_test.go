package pace

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestRestedKeysAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New[string](10, 30)
		busy := p.of("busy.test")
		for i := range 100_000 {
			time.Sleep(time.Millisecond)
			busy.Allow()
			p.of(fmt.Sprint(i, ".test")).Allow()
			if len(p.limits) > 2000 {
				t.Fatalf("%d keys are held", len(p.limits))
			}
		}
		if p.of("busy.test") != busy {
			t.Error("a host that is asked was forgotten")
		}
	})
}

// Refusals, also concurrent ones, do not move the next turn.
func TestRefusalsReserveNothing(t *testing.T) {
	p := New[string](1, 1)
	for ok := true; ok; {
		_, ok = p.Reserve("a", time.Minute)
	}
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			for range 1000 {
				p.Reserve("a", time.Minute)
			}
		})
	}
	group.Wait()
	if wait, ok := p.Reserve("a", time.Hour); !ok || wait > 62*time.Second {
		t.Errorf("the next turn is in %v", wait)
	}
}
