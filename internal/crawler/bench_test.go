package crawler

import (
	"fmt"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

// BenchmarkReplay answers from an archive of real pages, by address and in bulk.
func BenchmarkReplay(b *testing.B) {
	web := testfile.SharedLink(b, "webs/webkb.warc.gz")
	recs, _ := allOf(b, web)
	var in strings.Builder
	var size int64
	for _, r := range recs {
		fmt.Fprintln(&in, r.URL)
		size += r.ContentLength
	}
	for name, run := range map[string]func(){
		"address": func() { replay(b, in.String(), web) },
		"all":     func() { allOf(b, web) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(size)
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(len(recs)*b.N)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}
