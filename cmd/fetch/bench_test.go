package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// BenchmarkLive asks loopback for pages as the command does, and for the same
// pages with nothing but net/http.
func BenchmarkLive(b *testing.B) {
	const number, size, workers = 200, 100 << 10, 8
	page := []byte("<title>page</title>" + strings.Repeat("<p>some words of a page, and <a href=/x>a link</a></p>\n", size/55))
	packed := pack("gzip", page)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if strings.HasPrefix(r.URL.Path, "/gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed)
			return
		}
		w.Write(page)
	}))
	defer server.Close()
	for _, kind := range []string{"plain", "gzip"} {
		var in strings.Builder
		for i := range number {
			fmt.Fprintf(&in, "%s/%s/%d\n", server.URL, kind, i)
		}
		report := func(b *testing.B) {
			b.ReportMetric(float64(number*b.N)/b.Elapsed().Seconds(), "pages/s")
		}
		command := func(b *testing.B, args ...string) {
			b.ReportAllocs()
			b.SetBytes(number * int64(len(page)))
			for b.Loop() {
				if err := run(args, strings.NewReader(in.String()), io.Discard, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			report(b)
		}
		args := append(loopback, "-j", fmt.Sprint(workers))
		b.Run(kind+"/fetch", func(b *testing.B) { command(b, args...) })
		b.Run(kind+"/fetch-warc", func(b *testing.B) {
			command(b, append(args, "-warc", filepath.Join(b.TempDir(), "w"))...)
		})
		b.Run(kind+"/nethttp", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(number * int64(len(page)))
			for b.Loop() {
				client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
				urls := make(chan string)
				var wg sync.WaitGroup
				for range workers {
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
	recs, _, err := fetchAll(b, "", "-archive", web, "-all")
	if err != nil {
		b.Fatal(err)
	}
	var in strings.Builder
	var size int64
	for _, r := range recs {
		fmt.Fprintln(&in, r.URL)
		size += r.ContentLength
	}
	for name, args := range map[string][]string{
		"address": {"-archive", web}, "address-j1": {"-archive", web, "-j", "1"}, "all": {"-archive", web, "-all"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(size)
			for b.Loop() {
				if err := run(args, strings.NewReader(in.String()), io.Discard, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(recs)*b.N)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}
