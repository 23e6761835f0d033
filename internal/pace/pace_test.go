package pace

import (
	"fmt"
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
