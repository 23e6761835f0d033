package archive

import (
	"bufio"
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"os"
	"testing"

	"spoor/internal/testfile"
)

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"modern", "planetmath", "webkb"} {
		b.Run(name, func(b *testing.B) { benchmarkRead(b, testfile.Shared(b, "webs/"+name+".warc.gz")) })
	}
}

func benchmarkRead(b *testing.B, path string) {
	data := testfile.Read(b, path)
	z, err := stdgzip.NewReader(bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	size, err := io.Copy(io.Discard, z)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		var r Reader
		for b.Loop() {
			if err := r.Reset(bytes.NewReader(data)); err != nil {
				b.Fatal(err)
			}
			for {
				rec, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, rec)
			}
		}
	})
	b.Run("stdlib", func(b *testing.B) { // unpacks, and finds no records
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if err := z.Reset(bufio.NewReader(bytes.NewReader(data))); err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, z)
		}
	})
	b.Run("pages", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			for _, err := range All([]string{path}, Filter{}, Limits{}) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "pages/s")
	})
}

func BenchmarkIndex(b *testing.B) {
	for _, name := range []string{"webkb", "planetmath"} {
		b.Run(name, func(b *testing.B) {
			path := testfile.SharedLink(b, "webs/"+name+".warc.gz")
			var size int64
			for page := range All([]string{path}, Filter{}, Limits{}) {
				size += int64(len(page.Raw))
			}
			b.Run("build", func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				for b.Loop() {
					os.Remove(path + ".cdxj")
					x, err := OpenIndex(path, IndexOptions{Beside: true})
					if err != nil {
						b.Fatal(err)
					}
					x.Close()
				}
			})
			b.Run("open", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					x, err := OpenIndex(path, IndexOptions{Beside: true})
					if err != nil {
						b.Fatal(err)
					}
					x.Close()
				}
			})
			r := replay(b, path)
			var urls []string
			for page := range All([]string{path}, Filter{}, Limits{}) {
				urls = append(urls, page.URL, page.URL+"x")
			}
			b.Run("has", func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if url := urls[i*7919%len(urls)]; r.Has(url) != (i*7919%len(urls)%2 == 0) {
						b.Fatal(url)
					}
				}
			})
			b.Run("fetch", func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if _, err := r.Fetch(urls[i*7919%len(urls)&^1]); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
