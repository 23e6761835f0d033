// Languages measures how often the language of a text is detected, by the extractor of parse and by
// the libraries whatlanggo and lingua. The texts are those of the program translations.
//
//	usage: go run ./languages [-n SAMPLES] DIR    (in internal/bench)
//
// It prints a table: for each language, the share of SAMPLES (40) texts of 20, 60, 200 and 1000
// characters whose language is detected, and the means of the shares of texts with the right language and
// with a wrong one; the others have none. Then it prints the mean time for a text, and the memory that is
// in use after all texts. The time of the extractor includes all that it does with a plain text.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/abadojack/whatlanggo"
	"github.com/pemistahl/lingua-go"

	"spoor/internal/page"
)

// lengths are the lengths of the texts in characters.
var lengths = [...]int{20, 60, 200, 1000}

// A detector returns the code of the language of a text in ISO 639-1, or "".
type detector struct {
	name   string
	detect func(text string) string
}

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 40, "number of texts")
	flag.Parse()
	if flag.NArg() != 1 || *n < 1 {
		log.Fatal("usage: languages [-n SAMPLES] DIR")
	}
	if err := run(flag.Arg(0), *n); err != nil {
		log.Fatal(err)
	}
}

func run(dir string, n int) error {
	dirs, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(dirs) == 0 {
		return fmt.Errorf("no languages in %s: %v", dir, err)
	}
	var languages []string
	texts := map[string][len(lengths)][]string{}
	for _, dir := range dirs {
		language := filepath.Base(dir)
		languages = append(languages, language)
		var all [len(lengths)][]string
		for i, length := range lengths {
			if all[i], err = sample(dir, n, length); err != nil {
				return err
			}
		}
		texts[language] = all
	}
	var (
		head, rule, times, memories string
		shares                      = map[string]string{}
	)
	for _, make := range []func() detector{inExtractor, inWhatlanggo, inLingua} {
		before := inUse()
		d := make()
		var sums, wrong [len(lengths)]float64
		var spent [len(lengths)]time.Duration
		for _, language := range languages {
			for i, all := range texts[language] {
				right := 0
				begin := time.Now()
				for _, text := range all {
					switch normal(d.detect(text)) {
					case normal(language):
						right++
					case "":
					default:
						wrong[i]++
					}
				}
				spent[i] += time.Since(begin)
				share := float64(right) / float64(len(all))
				sums[i] += share
				shares[language] += fmt.Sprintf(" %.2f |", share)
			}
		}
		for i, length := range lengths {
			head += fmt.Sprintf(" %s %d |", d.name, length)
			rule += "--:|"
			shares["mean"] += fmt.Sprintf(" **%.3f** |", sums[i]/float64(len(languages)))
			shares["wrong"] += fmt.Sprintf(" %.3f |", wrong[i]/float64(n*len(languages)))
			times += fmt.Sprintf(" %d |", spent[i].Microseconds()/int64(n*len(languages)))
			memories += fmt.Sprintf(" %d |", (inUse()-before)>>20)
		}
	}
	fmt.Printf("| |%s\n|---|%s\n", head, rule)
	for _, language := range append(languages, "mean", "wrong") {
		fmt.Printf("| %s |%s\n", language, shares[language])
	}
	fmt.Printf("| µs a text |%s\n| MiB in use |%s\n", times, memories)
	return nil
}

// inUse returns the number of bytes of the heap that are in use.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// normal returns the primary subtag of a language, with one name for the written Norwegian languages.
func normal(language string) string {
	language, _, _ = strings.Cut(language, "-")
	if language == "nb" || language == "nn" {
		return "no"
	}
	return language
}

func inExtractor() detector {
	x := page.NewExtractor()
	return detector{"spoor", func(text string) string {
		return x.Extract(page.Document{ContentType: "text/plain", Charset: "utf-8", Body: []byte(text)}).Lang
	}}
}

func inWhatlanggo() detector {
	return detector{"whatlanggo", func(text string) string { return whatlanggo.DetectLang(text).Iso6391() }}
}

func inLingua() detector {
	d := lingua.NewLanguageDetectorBuilder().FromAllLanguages().Build()
	return detector{"lingua", func(text string) string {
		language, ok := d.DetectLanguageOf(text)
		if !ok {
			return ""
		}
		return strings.ToLower(language.IsoCode639_1().String())
	}}
}

// sample returns n texts of a length in characters, of files that are evenly distributed.
func sample(dir string, n, length int) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no texts in %s: %v", dir, err)
	}
	texts := make([]string, n)
	for i := range texts {
		data, err := os.ReadFile(files[i*len(files)/n])
		if err != nil {
			return nil, err
		}
		paragraphs := strings.Split(strings.TrimSpace(string(data)), "\n")
		from := (len(paragraphs) + i) / 2 % len(paragraphs) // the first paragraphs are titles
		text := []rune(strings.Join(append(paragraphs[from:len(paragraphs):len(paragraphs)], paragraphs[:from]...), "\n"))
		texts[i] = string(text[:min(len(text), length)])
	}
	return texts, nil
}
