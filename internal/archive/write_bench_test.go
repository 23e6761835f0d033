package archive

import (
	"bytes"
	stdgzip "compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// corpora are exchanges of real size: pages of the shared webs, as they are
// there and as most servers send them, coded as gzip.
func corpora(b *testing.B, run func(b *testing.B, all []*Exchange, size int64)) {
	for _, name := range []string{"modern", "planetmath", "webkb"} {
		path := shared(b, "webs/"+name+".warc.gz")
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

// BenchmarkWrite writes exchanges to files, from one goroutine and from as many
// as there are processors, beside the standard library that packs the bodies
// alone.
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
		// The packing alone, of the same bytes: of all that is in the member, and nothing digested.
		heads := make([][]byte, len(all))
		for i, x := range all {
			e := testEncoder(b, false)
			e.begin("response", &e.ids[0], x, "")
			e.end(httpResponse, x.Head, x.Body)
			heads[i] = e.head
		}
		b.Run("packing/ours", func(b *testing.B) {
			e := testEncoder(b, false)
			b.SetBytes(size / int64(len(all)))
			for n := 0; b.Loop(); n++ {
				x := all[n%len(all)]
				e.reset()
				e.head = append(e.head[:0], heads[n%len(all)]...)
				e.member(x.Head, x.Body)
			}
		})
		b.Run("packing/stdlib", func(b *testing.B) {
			b.SetBytes(size / int64(len(all)))
			z := stdgzip.NewWriter(nil)
			var out bytes.Buffer
			for n := 0; b.Loop(); n++ {
				x := all[n%len(all)]
				packPlainly(z, &out, heads[n%len(all)], x.Head, x.Body, recordEnd)
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

// packPlainly makes a member of the parts by the standard library, in place of what out holds.
func packPlainly(z *stdgzip.Writer, out *bytes.Buffer, parts ...[]byte) {
	out.Reset()
	z.Reset(out)
	for _, part := range parts {
		z.Write(part)
	}
	z.Close()
}

// fresh is the nth exchange, as it was never written before: a body that is cut
// short is not looked for.
func fresh(all []*Exchange, n int) *Exchange {
	x := *all[n%len(all)]
	x.Truncated = "length"
	return &x
}

// BenchmarkRevisit writes exchanges whose payloads are there already.
func BenchmarkRevisit(b *testing.B) {
	w := newWriter(b, testOptions(b.TempDir()))
	x := exchange("http://example.com/"+strings.Repeat("x", 60), 50_000)
	write(b, w, x)
	b.ReportAllocs()
	for b.Loop() {
		if at := write(b, w, x); !at.Revisit {
			b.Fatal("no revisit")
		}
	}
}

func BenchmarkOpenWriter(b *testing.B) {
	o := testOptions(b.TempDir())
	w := newWriter(b, o)
	for i := range 1 << 17 {
		w.ledger.put(key(fmt.Appendf(nil, "%16x", i*7919)), position{1, int64(i)})
	}
	w.Close()
	for b.Loop() {
		w, err := NewWriter(o)
		if err != nil {
			b.Fatal(err)
		}
		w.Close()
	}
}

// BenchmarkDigest is what the two digests of a record cost.
func BenchmarkDigest(b *testing.B) {
	body := make([]byte, 100_000)
	for _, name := range []string{"sha1", "sha256"} {
		b.Run(name, func(b *testing.B) {
			d, _ := newDigester(name)
			p := newEncoder(d, nil, DefaultLevel)
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				p.take(body)
			}
		})
	}
}

func BenchmarkLedger(b *testing.B) {
	l := testLedger(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		k := key(fmt.Appendf(nil, "%016x", i*7919))
		l.put(k, position{1, int64(i)})
		l.get(k)
	}
}
