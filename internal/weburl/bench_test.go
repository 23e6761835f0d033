package weburl

import (
	"net/url"
	"testing"
)

// Typical links of pages: most are relative or absolute and clean, a few need work.
var links = []string{
	"/about.html",
	"index.html",
	"../people/smith/",
	"images/logo.gif",
	"#top",
	"http://www.example.com/a/b/index.html",
	"https://en.wikipedia.org/wiki/Focused_crawler#History",
	"/search?q=focused+crawler&lang=en&page=2",
	"http://www.cs.example.edu/~smith/courses/cs101/fall96/syllabus.html",
	"?page=3",
	"//cdn.example.net/lib/1.2.3/lib.min.js",
	"https://shop.example.co.uk/item.php?id=12345&ref=home%20page",
	"/%7Esmith/papers/a b.ps",
	"HTTP://WWW.Example.COM:80/Index.HTML",
	"mailto:smith@example.edu",
	"javascript:void(0)",
}

func benchmark(b *testing.B, resolve func(ref string) int) {
	b.ReportAllocs()
	n, bytes := 0, 0
	for _, l := range links {
		bytes += len(l)
	}
	b.SetBytes(int64(bytes))
	for b.Loop() {
		for _, l := range links {
			n += resolve(l)
		}
	}
	b.ReportMetric(float64(len(links)*b.N)/b.Elapsed().Seconds(), "links/s")
}

const benchBase = "http://www.cs.example.edu/courses/cs101/index.html"

func BenchmarkResolve(b *testing.B) {
	base, err := Parse(benchBase)
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, func(ref string) int {
		u, _ := base.Resolve(ref)
		return len(u.String())
	})
}

// For comparison: net/url does not normalize case, ports, dots, escapes and international
// hosts.
func BenchmarkResolveNetURL(b *testing.B) {
	base, err := url.Parse(benchBase)
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, func(ref string) int {
		u, err := base.Parse(ref)
		if err != nil {
			return 0
		}
		return len(u.String())
	})
}

func BenchmarkOne(b *testing.B) {
	base, err := Parse(benchBase)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, ref string }{
		{"relative", "../people/smith/index.html"},
		{"absolute", "http://www.example.com/a/b/index.html"},
		{"international", "http://www.bücher.example/a/b/index.html"},
		{"dirty", "HTTP://WWW.Example.COM:80/%7Ea/./b/../Ünï cödé?q=é#x"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.ref)))
			for b.Loop() {
				if _, err := base.Resolve(c.ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkKeys(b *testing.B) {
	const s = "http://www.cs.example.edu/courses/cs101/index.html?b=2&a=1"
	n := 0
	for _, c := range []struct {
		name string
		key  func() string
	}{
		{"Host", func() string { return Host(s) }},
		{"Niche", func() string { return Niche(s, 2) }},
		{"SURT", func() string { return SURT(s) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n += len(c.key())
			}
		})
	}
}
