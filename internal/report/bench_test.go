package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// bigRun returns a run of n pages of about 8 KB, a fifth of them relevant, in generations of
// 200. Each page was found on a page of the previous generation.
func bigRun(n int) (s *Source, size int64) {
	s = &Source{Name: "big"}
	words := strings.Repeat("a page of some words about this and that ", 60)
	var links strings.Builder
	for i := range 60 {
		fmt.Fprintf(&links, `,{"url":"http://h%d.test/of/%d","anchor":"some words","context":"before some words after","tag":"a","path":"html/body/p/a","score":0.25}`, i, i)
	}
	var lines bytes.Buffer
	for i := range n {
		fmt.Fprintf(&lines, `{"v":1,"url":"http://h%d.test/p%d","generation":%d,"depth":%d,"via":"http://h%d.test/p%d","operator":"link","niche":"h%d.test","reasons":{"anchor":0.5,"page":0.25},"status_code":200,"fetch_ms":%d,"title":"Page %d","text":"%s","links":[%s],"score":%g,"relevant":%t}`+"\n",
			i%500, i, i/200+1, i/200, max(0, i-200)%500, max(0, i-200), i%50, i%300, i, words, links.String()[1:], float64(i*7919%n)/float64(n), i%5 == 0)
		if (i+1)%200 == 0 || i == n-1 {
			records := bytes.Clone(lines.Bytes())
			lines.Reset()
			size += int64(len(records))
			s.Generations = append(s.Generations, Part{
				Number: len(s.Generations) + 1,
				Open:   func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(records)), nil },
			})
		}
	}
	return s, size
}

func BenchmarkRead(b *testing.B) {
	s, size := bigRun(10_000)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(s); err != nil {
			b.Fatal(err)
		}
	}
}
