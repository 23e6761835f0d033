package text

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages returns texts of real pages, roughly stripped of scripts, styles and tags, or
// synthetic ones without the shared data.
func pages(b *testing.B) []string {
	root := os.Getenv("SPOOR_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(root, "webs", "modern.warc.gz"))
	if err != nil {
		b.Logf("made-up text: %v", err)
		return synthetic()
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := io.ReadAll(io.LimitReader(z, 30<<20))
	if err != nil {
		b.Fatal(err)
	}
	saw := regexp.MustCompile(`(?is)<script.*?</script>|<style.*?</style>|<[^<>]*>`)
	space := regexp.MustCompile(`\s+`)
	var all []string
	for _, page := range strings.Split(string(raw), "WARC/1.")[1:] {
		all = append(all, space.ReplaceAllString(saw.ReplaceAllString(page, " "), " "))
	}
	return all
}

// synthetic returns pages of words with realistic frequencies.
func synthetic() []string {
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 3, 80_000)
	var all []string
	for range 300 {
		var page strings.Builder
		for range 2000 {
			fmt.Fprintf(&page, "%s%c ", []string{"", "Re", "over", "inter"}[zipf.Uint64()%4], 'a'+rune(zipf.Uint64()%26))
			n := zipf.Uint64()
			for ; n > 0; n /= 26 {
				page.WriteByte(byte('a' + n%26))
			}
			page.WriteByte(' ')
		}
		all = append(all, page.String())
	}
	return all
}

func BenchmarkTerms(b *testing.B) {
	all := pages(b)
	size := 0
	for _, p := range all {
		size += len(p)
	}
	b.Run("warm", func(b *testing.B) {
		a := analyzer(b, "porter")
		var dst []Term
		for _, p := range all {
			dst = a.Append(dst[:0], p)
		}
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, p := range all {
				dst = a.Append(dst[:0], p)
				a.Trim()
			}
		}
	})
	b.Run("cold", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			a := analyzer(b, "porter")
			var dst []Term
			for _, p := range all {
				dst = a.Append(dst[:0], p)
				a.Trim()
			}
		}
	})
	b.Run("narrow", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			a := analyzer(b, "porter")
			dst := a.Append(nil, "university course homework lecture syllabus assignments instructor exam")
			a.Restrict()
			for _, p := range all {
				dst = a.Append(dst[:0], p)
				a.Trim()
			}
		}
	})
	b.Run("words", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			for _, p := range all {
				for start, end, next := nextWord(p, 0); start < end; start, end, next = nextWord(p, next) {
				}
			}
		}
	})
}

// BenchmarkScripts analyzes text that is not ASCII with a warm cache.
func BenchmarkScripts(b *testing.B) {
	for _, bb := range []struct{ script, code, text string }{
		{"Latin", "de", "Die Größe der Städte überrascht die Gäste, für die schöne Straßen nötig wären. "},
		{"Vietnamese", "und", "Thư viện Quốc gia Việt Nam được thành lập ở Hà Nội. "},
		{"Turkish", "tr", "Kütüphanelerimizdeki kitapların ÇOĞUNU öğrenciler okuyor. "},
		{"Cyrillic", "ru", "Национальные библиотеки хранят важнейшие рукописи исследователей. "},
		{"Japanese", "und", "国立国会図書館は、日本のデータベースを公開しています。"},
		{"Korean", "und", "국립중앙도서관은 한국의 자료를 모읍니다. "},
		{"Thai", "und", "หอสมุดแห่งชาติเก็บรักษาหนังสือ "},
	} {
		b.Run(bb.script, func(b *testing.B) {
			a, s := analyzerOf(b, bb.code), strings.Repeat(bb.text, 200)
			dst := a.Append(nil, s)
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				dst = a.Append(dst[:0], s)
			}
		})
	}
}

func BenchmarkStem(b *testing.B) {
	var words []string
	size := 0
	for _, p := range pages(b)[:20] {
		for w := range Words(p) {
			if len(w) <= maxWord {
				words = append(words, string(plain.fold(nil, w)))
				size += len(w)
			}
		}
	}
	for _, l := range languages {
		for _, st := range l.stemmers {
			b.Run(st.name, func(b *testing.B) {
				stem, buf := st.make(), make([]byte, 0, 4*maxWord)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					for _, w := range words {
						stem(append(buf[:0], w...))
					}
				}
			})
		}
	}
}
