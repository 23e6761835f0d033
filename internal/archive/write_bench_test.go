package archive

import (
	"bytes"
	stdgzip "compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"spoor/internal/testfile"
)

// corpora returns exchanges of pages of the shared webs, without content coding and with gzip.
func corpora(b *testing.B, run func(b *testing.B, all []*Exchange, size int64)) {
	for _, name := range []string{"modern", "planetmath", "webkb"} {
		path := testfile.Shared(b, "webs/"+name+".warc.gz")
		var all, coded []*Exchange
		var size, codedSize int64
		for page, err := range All([]string{path}, Filter{}, Limits{}) {
			if err != nil {
				b.Fatal(err)
			}
			x := exchange(page.URL, 0)
			x.Body = bytes.Clone(page.Body)
			size += int64(len(x.Body))
			all = append(all, x)

			var body bytes.Buffer
			z := stdgzip.NewWriter(&body)
			z.Write(page.Body)
			z.Close()
			x = exchange(page.URL, 0)
			x.Head = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n")
			x.Body = body.Bytes()
			codedSize += int64(len(x.Body))
			if coded = append(coded, x); len(all) == 300 {
				break
			}
		}
		b.Run("web="+name+"/coding=none", func(b *testing.B) { run(b, all, size) })
		b.Run("web="+name+"/coding=gzip", func(b *testing.B) { run(b, coded, codedSize) })
	}
}

// BenchmarkWrite writes exchanges from one goroutine and from several, and compares with gzip
// of the standard library for the bodies alone.
func BenchmarkWrite(b *testing.B) {
	corpora(b, func(b *testing.B, all []*Exchange, size int64) {
		one := func(zstd bool) (*Writer, func(b *testing.B)) {
			o := testOptions(b.TempDir())
			o.MaxSize, o.Zstd = 1<<40, zstd
			w := newWriter(b, o)
			return w, func(b *testing.B) {
				b.SetBytes(size / int64(len(all)))
				b.ReportAllocs()
			}
		}
		for _, zstd := range []bool{false, true} {
			name := fmt.Sprintf("zstd=%t", zstd)
			b.Run("ours/"+name+"/goroutines=1", func(b *testing.B) {
				w, set := one(zstd)
				set(b)
				for n := 0; b.Loop(); n++ {
					if _, err := w.Write(fresh(all, n)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(w.size)/float64(b.N)/float64(size/int64(len(all))), "out/in")
			})
			b.Run("ours/"+name+"/goroutines=all", func(b *testing.B) {
				w, set := one(zstd)
				set(b)
				var n atomic.Int64
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if _, err := w.Write(fresh(all, int(n.Add(1)))); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
		b.Run("member", func(b *testing.B) { // the response alone, and into memory
			e := testEncoder(b, false)
			b.SetBytes(size / int64(len(all)))
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				x := all[n%len(all)]
				e.reset()
				e.begin("response", &e.ids[0], x, "")
				e.end(httpResponse, x.Head, x.Body)
			}
		})
		b.Run("stdlib", func(b *testing.B) {
			f, err := os.Create(filepath.Join(b.TempDir(), "x"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			b.SetBytes(size / int64(len(all)))
			b.ReportAllocs()
			z := stdgzip.NewWriter(nil)
			var out bytes.Buffer
			for n := 0; b.Loop(); n++ {
				x := all[n%len(all)]
				packPlainly(z, &out, x.Head, x.Body)
				if _, err := f.Write(out.Bytes()); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// packPlainly compresses the parts to a gzip member with the standard library.
func packPlainly(z *stdgzip.Writer, out *bytes.Buffer, parts ...[]byte) {
	out.Reset()
	z.Reset(out)
	for _, part := range parts {
		z.Write(part)
	}
	z.Close()
}

// fresh returns the nth exchange as a payload that is never known: truncated bodies are not
// looked up.
func fresh(all []*Exchange, n int) *Exchange {
	x := *all[n%len(all)]
	x.Truncated = "length"
	return &x
}
