//go:build linux

package crawler

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"spoor/internal/polite"
)

// BenchmarkPoliteCrawl crawls 200 hosts and reports the share of the requests that politeness
// permits: if each host were requested again the moment its pause is over, and nothing but the
// hosts took time. %-of-permitted is for the whole crawl, from its first request to its last,
// %-by-host for each host from its first request to its last.
func BenchmarkPoliteCrawl(b *testing.B) {
	const hosts, each = 200, 10
	const pause = 200 * time.Millisecond
	for _, c := range []struct {
		latency time.Duration // of a response
		workers int
	}{{0, 64}, {0, 8}, {100 * time.Millisecond, 32}, {100 * time.Millisecond, 64}} {
		b.Run(fmt.Sprintf("latency=%v/j=%d", c.latency, c.workers), func(b *testing.B) {
			var took, busy time.Duration
			n := 0
			for b.Loop() {
				b.StopTimer()
				v := newVillage(b, func(_ int, w http.ResponseWriter, r *http.Request) {
					if c.latency > 0 {
						<-time.After(c.latency)
					}
					if r.URL.Path == "/robots.txt" {
						w.WriteHeader(http.StatusNotFound)
						return
					}
					w.Header().Set("Content-Type", "text/html")
					io.WriteString(w, "<p>page")
				})
				in := v.addresses(hosts, each)
				b.StartTimer()
				recs, o := fetch(b, in, allowPrivate, delay(pause), workers(c.workers))
				b.StopTimer()
				for _, r := range recs {
					if r.StatusCode != 200 {
						b.Fatalf("%s: %s %s\n%s", r.URL, r.Error, r.ErrorDetail, o.log)
					}
				}
				var first, last time.Time
				for _, visits := range v.visits {
					begun, end := visits[0].came, visits[len(visits)-1].came
					if first.IsZero() || begun.Before(first) {
						first = begun
					}
					if end.After(last) {
						last = end
					}
					busy += end.Sub(begun)
				}
				took += last.Sub(first)
				n++
				v.Close()
				b.StartTimer()
			}
			// One pause for each page, after robots.txt.
			permitted := each * (c.latency + max(pause, polite.DefaultSlowness*c.latency))
			b.ReportMetric(100*float64(permitted)/(float64(took)/float64(n)), "%-of-permitted")
			b.ReportMetric(100*float64(permitted)/(float64(busy)/float64(n*hosts)), "%-by-host")
			b.ReportMetric(hosts*(each+1)/(took.Seconds()/float64(n)), "requests/s")
		})
	}
}
