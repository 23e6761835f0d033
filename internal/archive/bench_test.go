package archive

import (
	"bufio"
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// pages are exchanges of real size: the first pages of a shared web, or made up
// where that is absent.
func pages(b *testing.B) (all []*Exchange, size int64) {
	b.Helper()
	path := shared(b, "webs/planetmath.warc.gz")
	for page, err := range All([]string{path}, Filter{}, Limits{}) {
		if err != nil {
			b.Fatal(err)
		}
		x := exchange(page.URL, 0)
		x.Body = page.Body
		size += int64(len(page.Body))
		if all = append(all, x); len(all) == 300 {
			break
		}
	}
	return all, size
}

func BenchmarkPack(b *testing.B) {
	all, size := pages(b)
	b.Run("ours", func(b *testing.B) {
		o := testOptions(b.TempDir())
		o.MaxSize = 1 << 40
		w := newWriter(b, o)
		b.SetBytes(size)
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			b.StopTimer()
			clear(w.seen)
			w.order, w.oldest = nil, 0
			b.StartTimer()
			for _, x := range all {
				if _, err := w.Write(x); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("member", func(b *testing.B) { // the response alone, and into memory
		p := new(packer)
		p.gz, _ = gzip.NewWriterLevel(&p.out, level)
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			for _, x := range all {
				p.reset()
				p.record(&record{kind: "response", url: x.URL}, x.Head, x.Body)
			}
		}
	})
	b.Run("stdlib", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "x"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		b.SetBytes(size)
		b.ReportAllocs()
		z := stdgzip.NewWriter(nil)
		for b.Loop() {
			for _, x := range all {
				var out bytes.Buffer
				z.Reset(&out)
				z.Write(x.Head)
				z.Write(x.Body)
				z.Close()
				if _, err := f.Write(out.Bytes()); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	path := shared(b, "webs/planetmath.warc.gz")
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
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
			path := linked(b, "webs/"+name+".warc.gz")
			var size int64
			for page := range All([]string{path}, Filter{}, Limits{}) {
				size += int64(len(page.Raw))
			}
			b.Run("build", func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				for b.Loop() {
					os.Remove(path + ".cdxj")
					x, err := OpenIndex(path, IndexOptions{})
					if err != nil {
						b.Fatal(err)
					}
					x.Close()
				}
			})
			b.Run("open", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					x, err := OpenIndex(path, IndexOptions{})
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
