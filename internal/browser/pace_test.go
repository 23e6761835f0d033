package browser

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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
