package search

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// webkb returns a link to the archive of a real web of 8,189 pages. The benchmark is skipped
// if the shared data is absent.
func webkb(b *testing.B) string {
	b.Helper()
	root := os.Getenv("SPOOR_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared")
	}
	from, err := filepath.Abs(filepath.Join(root, "webs", "webkb.warc.gz"))
	if err == nil {
		_, err = os.Stat(from)
	}
	if err != nil {
		b.Skipf("shared data absent: %v (hint: set SPOOR_SHARED)", err)
	}
	to := filepath.Join(b.TempDir(), "webkb.warc.gz")
	if err := os.Symlink(from, to); err != nil {
		b.Skipf("no symbolic links here: %v", err)
	}
	return to
}

var quiet = slog.New(slog.DiscardHandler)

// BenchmarkIndex indexes a real web.
func BenchmarkIndex(b *testing.B) {
	web := webkb(b)
	b.ReportAllocs()
	pages := 0
	var size int64
	for b.Loop() {
		name := filepath.Join(b.TempDir(), "web.db")
		x, err := openIndex(name, []string{web}, quiet)
		if err != nil {
			b.Fatal(err)
		}
		if pages, err = x.Len(); err != nil {
			b.Fatal(err)
		}
		x.Close()
		if info, err := os.Stat(name); err == nil {
			size = info.Size()
		}
		os.Remove(name)
	}
	b.ReportMetric(float64(pages*b.N)/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(size)/float64(pages), "B/page")
}

// BenchmarkQuery queries the index of a real web, with words as strategies use them, and with
// words that all pages have.
func BenchmarkQuery(b *testing.B) {
	x, err := openIndex(filepath.Join(b.TempDir(), "web.db"), []string{webkb(b)}, quiet)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	for _, c := range []struct{ name, query string }{
		{"rare", "syllabus assignments"},
		{"two", "machine learning"},
		{"ten", "university course homework lecture syllabus assignments instructor exam project grading"},
		{"everywhere", "the of and computer science university page"},
	} {
		b.Run("words="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if urls, err := x.Search(b.Context(), c.query, 10); err != nil || len(urls) != 10 {
					b.Fatal(urls, err)
				}
			}
		})
	}
}

// BenchmarkStart measures a process that finds its index up to date, without and with a query.
func BenchmarkStart(b *testing.B) {
	web, index := webkb(b), filepath.Join(b.TempDir(), "web.db")
	if err := run([]string{"-index", index, "-archive", web, "-query", "x"}, nil, io.Discard, io.Discard); err != nil {
		b.Fatal(err)
	}
	for name, args := range map[string][]string{
		"queries=0": {"-index", index, "-archive", web, os.DevNull},
		"queries=1": {"-index", index, "-archive", web, "-query", "machine learning"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := command(b, args...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
