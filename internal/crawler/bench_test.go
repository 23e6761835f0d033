package crawler

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// BenchmarkLive fetches pages from loopback, with a crawler and with net/http alone.
func BenchmarkLive(b *testing.B) {
	const number, size, concurrent = 200, 100 << 10, 8
	page := []byte("<title>page</title>" + strings.Repeat("<p>some words of a page, and <a href=/x>a link</a></p>\n", size/55))
	packed := pack("gzip", page)
	server := serve(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if strings.HasPrefix(r.URL.Path, "/gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed)
			return
		}
		w.Write(page)
	})
	for _, kind := range []string{"plain", "gzip"} {
		var in strings.Builder
		for i := range number {
			fmt.Fprintf(&in, "%s/%s/%d\n", server.URL, kind, i)
		}
		report := func(b *testing.B) {
			b.ReportMetric(float64(number*b.N)/b.Elapsed().Seconds(), "pages/s")
		}
		run := func(b *testing.B, changes ...option) {
			b.ReportAllocs()
			b.SetBytes(number * int64(len(page)))
			for b.Loop() {
				if _, err := crawl(b.Context(), strings.NewReader(in.String()), io.Discard, changes...); err != nil {
					b.Fatal(err)
				}
			}
			report(b)
		}
		b.Run(kind+"/fetch", func(b *testing.B) { run(b, loopback, workers(concurrent)) })
		b.Run(kind+"/fetch-warc", func(b *testing.B) {
			run(b, loopback, workers(concurrent), warcTo(filepath.Join(b.TempDir(), "w")))
		})
		b.Run(kind+"/nethttp", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(number * int64(len(page)))
			for b.Loop() {
				client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: concurrent}}
				urls := make(chan string)
				var wg sync.WaitGroup
				for range concurrent {
					wg.Go(func() {
						for u := range urls {
							resp, err := client.Get(u)
							if err != nil {
								b.Error(err)
								return
							}
							io.ReadAll(resp.Body)
							resp.Body.Close()
						}
					})
				}
				for u := range strings.FieldsSeq(in.String()) {
					urls <- u
				}
				close(urls)
				wg.Wait()
				client.CloseIdleConnections()
			}
			report(b)
		})
	}
}

// BenchmarkReplay answers from an archive of real pages, by address and in bulk.
func BenchmarkReplay(b *testing.B) {
	web := shared(b, "webs", "webkb.warc.gz")
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
