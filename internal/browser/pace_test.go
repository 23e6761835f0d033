package browser

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
)

func TestRequestsToAHostHaveAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var mu sync.Mutex
		at := map[string]time.Duration{} // of the last request
		load := Paced(func(_ context.Context, r *Request) (*Response, error) {
			mu.Lock()
			defer mu.Unlock()
			at[r.URL] = time.Since(begun)
			return &Response{StatusCode: 200}, nil
		}, 10)
		var pages sync.WaitGroup
		for range 4 {
			for range 25 {
				pages.Go(func() { load(t.Context(), &Request{URL: "http://victim.test/"}) })
			}
			pages.Go(func() { load(t.Context(), &Request{URL: "http://other.test/"}) })
		}
		pages.Wait()
		if at["http://victim.test/"] != 7*time.Second { // the 70 after the burst
			t.Errorf("100 requests to a host took %v", at["http://victim.test/"])
		}
		if at["http://other.test/"] != 0 {
			t.Errorf("another host was asked after %v", at["http://other.test/"])
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := load(ctx, &Request{URL: "http://victim.test/"}); !errors.Is(err, ErrPace) {
			t.Error("a request did not wait, or did not end with its page:", err)
		}
	})
}

func TestHostsThatAreNotAskedAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace{perSecond: 10, hosts: map[string]*rate.Limiter{}}
		busy := p.of("busy.test")
		for i := range 100_000 {
			time.Sleep(time.Millisecond)
			busy.Allow()
			p.of(fmt.Sprint(i, ".test")).Allow()
			if len(p.hosts) > 2000 {
				t.Fatalf("%d hosts are held", len(p.hosts))
			}
		}
		if p.of("busy.test") != busy {
			t.Error("a host that is asked was forgotten")
		}
	})
}
