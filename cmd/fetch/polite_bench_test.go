//go:build linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// BenchmarkPoliteCrawl crawls 200 hosts and tells which share it got of the requests
// that the pauses permit: as if each host were asked again the moment its pause is
// over, and everything else took no time.
func BenchmarkPoliteCrawl(b *testing.B) {
	const hosts, each = 200, 10
	const delay = 200 * time.Millisecond
	for _, workers := range []int{0, 8} { // 0: as many as there are by default
		args := []string{"-allow-private", "-delay", delay.String()}
		name := "j=default"
		if workers > 0 {
			args = append(args, "-j", fmt.Sprint(workers))
			name = fmt.Sprintf("j=%d", workers)
		}
		b.Run(name, func(b *testing.B) {
			var took, busy time.Duration
			n := 0
			for b.Loop() {
				b.StopTimer()
				v := newVillage(b, func(_ int, w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/robots.txt" {
						w.WriteHeader(http.StatusNotFound)
						return
					}
					w.Header().Set("Content-Type", "text/html")
					io.WriteString(w, "<p>page")
				})
				in := v.addresses(hosts, each)
				b.StartTimer()
				recs, log := fetch(b, in, args...)
				b.StopTimer()
				for _, r := range recs {
					if r.StatusCode != 200 {
						b.Fatalf("%s: %s %s\n%s", r.URL, r.Error, r.ErrorDetail, log)
					}
				}
				var first, last time.Time
				for _, visits := range v.visits {
					if t := visits[0].came; first.IsZero() || t.Before(first) {
						first = t
					}
					end := visits[len(visits)-1].came
					if end.After(last) {
						last = end
					}
					busy += end.Sub(visits[0].came)
				}
				took += last.Sub(first)
				n++
				v.Close()
				b.StartTimer()
			}
			permitted := each * delay // robots.txt, and as many pauses as pages
			b.ReportMetric(100*float64(permitted)/(float64(took)/float64(n)), "%-of-permitted")
			b.ReportMetric(100*float64(permitted)/(float64(busy)/float64(n*hosts)), "%-by-host")
			b.ReportMetric(float64(hosts*(each+1))/(float64(took)/float64(n))*1e9, "requests/s")
		})
	}
}
