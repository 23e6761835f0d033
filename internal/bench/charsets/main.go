// Charsets measures how often the charset of a page that declares none is recognized, by the
// extractor of parse, by a port of ICU's detector (gogs/chardet) and by Chromium. The texts are
// those of the program translations.
//
//	usage: go run ./charsets [-n SAMPLES] [-chromium PROGRAM] DIR    (in internal/bench)
//
// It prints a table: for each charset and language, the share of SAMPLES (20) texts of 20, 60, 200 and
// 1000 characters that are decoded correctly. A text may be decoded correctly by another charset than
// its own, because many charsets have the same bytes for most letters. Characters that a charset
// lacks are left out. Every text has a character that is not ASCII. The same texts give the same
// table.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"html"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"spoor/internal/page"
)

// lengths are the lengths of the texts in characters.
var lengths = [...]int{20, 60, 200, 1000}

// rows lists the charsets, and the languages that are written in them.
var rows = [...]struct{ charset, languages string }{
	{"windows-1252", "ca da de es fi fr it nb nl pt sv"},
	{"windows-1250", "cs hr hu pl sk sl"},
	{"iso-8859-2", "cs hr hu pl sk sl"},
	{"windows-1251", "be bg mk ru sr uk"},
	{"iso-8859-5", "bg ru sr"},
	{"koi8-r", "ru"},
	{"koi8-u", "uk"},
	{"ibm866", "ru"},
	{"windows-1253", "el"},
	{"iso-8859-7", "el"},
	{"windows-1254", "tr"},
	{"windows-1255", "he"},
	{"windows-1256", "ar"},
	{"windows-1257", "et lt lv"},
	{"windows-874", "th"},
	{"shift_jis", "ja"},
	{"euc-jp", "ja"},
	{"iso-2022-jp", "ja"},
	{"gbk", "zh-cn"},
	{"gb18030", "zh-cn"},
	{"big5", "zh-tw"},
	{"euc-kr", "ko"},
}

// timeout is the maximum time that Chromium may take.
const timeout = 30 * time.Minute

// A sample is a page, and the text that it should yield.
type sample struct {
	text string
	page []byte
}

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 20, "number of texts")
	chromium := flag.String("chromium", "", "also measure this `program`")
	wrong := flag.Bool("wrong", false, "also print what is decoded incorrectly by the extractor")
	flag.Parse()
	if flag.NArg() != 1 || *n < 1 {
		log.Fatal("usage: charsets [-n SAMPLES] [-chromium PROGRAM] DIR")
	}
	if err := run(flag.Arg(0), *n, *chromium, *wrong); err != nil {
		log.Fatal(err)
	}
}

// A program returns the charset of each page.
type program struct {
	name     string
	charsets func(pages [][]byte) ([]string, error)
}

// A group is the samples of a cell of the table.
type group struct {
	charset, language string
	length            int
	samples           []sample
}

func run(dir string, n int, chromium string, wrong bool) error {
	var (
		groups []group
		pages  [][]byte
	)
	for _, row := range rows {
		enc, err := htmlindex.Get(row.charset)
		if err != nil {
			return err
		}
		for language := range strings.FieldsSeq(row.languages) {
			for _, length := range lengths {
				samples, err := samples(filepath.Join(dir, language), n, length, enc)
				if err != nil {
					return err
				}
				groups = append(groups, group{row.charset, language, length, samples})
				for _, s := range samples {
					pages = append(pages, s.page)
				}
			}
		}
	}
	programs := []program{{"spoor", inExtractor}, {"chardet", inChardet}}
	if chromium != "" {
		programs = append(programs, program{"Chromium", func(pages [][]byte) ([]string, error) { return inChromium(chromium, pages) }})
	}
	var charsets [][]string
	head, rule := "", ""
	for _, program := range programs {
		names, err := program.charsets(pages)
		if err != nil {
			return err
		}
		charsets = append(charsets, names)
	}
	for _, length := range lengths {
		for _, program := range programs {
			head += fmt.Sprintf(" %s %d |", program.name, length)
			rule += "--:|"
		}
	}
	fmt.Printf("| charset | language |%s\n|---|---|%s", head, rule)
	from := 0
	for _, g := range groups {
		if g.length == lengths[0] {
			fmt.Printf("\n| %s | %s |", g.charset, g.language)
		}
		for i, names := range charsets {
			fmt.Printf(" %.2f |", g.share(names[from:from+len(g.samples)], wrong && i == 0))
		}
		from += len(g.samples)
	}
	fmt.Println()
	return nil
}

// share returns the share of the samples that are decoded correctly.
func (g *group) share(names []string, wrong bool) float64 {
	right := 0
	for i, s := range g.samples {
		if enc, err := htmlindex.Get(names[i]); err == nil {
			if decoded, _ := enc.NewDecoder().Bytes(s.page); bytes.Contains(decoded, []byte(s.text)) {
				right++
				continue
			}
		}
		if wrong {
			fmt.Fprintf(os.Stderr, "%s %s %d as %s: %.100s\n", g.charset, g.language, g.length, names[i], s.text)
		}
	}
	return float64(right) / float64(len(g.samples))
}

// inExtractor returns the charset that the extractor uses for each page.
func inExtractor(pages [][]byte) ([]string, error) {
	var names []string
	extractor := page.NewExtractor()
	for _, body := range pages {
		names = append(names, extractor.Extract(page.Document{ContentType: "text/html", Body: body}).Charset)
	}
	return names, nil
}

// inChardet returns the charset that chardet finds in each page. Its results of equal confidence are in
// random order.
func inChardet(pages [][]byte) ([]string, error) {
	var names []string
	for _, body := range pages {
		name := ""
		if found, err := chardet.NewHtmlDetector().DetectAll(body); err == nil {
			best := slices.MinFunc(found, func(a, b chardet.Result) int {
				return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), strings.Compare(a.Charset, b.Charset))
			})
			name = strings.Replace(best.Charset, "GB-18030", "gb18030", 1)
		}
		names = append(names, name)
	}
	return names, nil
}

// samples returns n pages with texts of a length in characters, of files that are evenly distributed.
func samples(dir string, n, length int, enc encoding.Encoding) ([]sample, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no texts in %s: %v", dir, err)
	}
	var made []sample
	seen := map[string]bool{}
	for i := range n {
		data, err := os.ReadFile(files[i*len(files)/n])
		if err != nil {
			return nil, err
		}
		paragraphs := strings.Split(encodable(enc, string(data)), "\n")
		from := (len(paragraphs) + i) / 2 % len(paragraphs) // the first paragraphs are titles
		for try := range paragraphs {
			start := (from + try) % len(paragraphs)
			text := []rune(strings.Join(append(paragraphs[start:len(paragraphs):len(paragraphs)], paragraphs[:start]...), " "))
			text = text[:min(len(text), length)]
			cut := strings.TrimSpace(string(text))
			if len(cut) == utf8.RuneCountInString(cut) || seen[cut] { // ASCII, or already used
				continue
			}
			seen[cut] = true
			encoded, err := enc.NewEncoder().String(html.EscapeString(cut))
			if err != nil {
				return nil, err
			}
			made = append(made, sample{html.EscapeString(cut), []byte("<!DOCTYPE html><title></title><p>" + encoded + "</p>")})
			break
		}
	}
	if len(made) == 0 {
		return nil, fmt.Errorf("no text in %s has a character that is not ASCII", dir)
	}
	return made, nil
}

// encodable returns the text without the characters that the encoding lacks.
func encodable(enc encoding.Encoding, text string) string {
	known := map[rune]bool{}
	return strings.Map(func(r rune) rune {
		is, seen := known[r]
		if !seen {
			_, err := enc.NewEncoder().String(string(r))
			is = err == nil
			known[r] = is
		}
		if !is {
			return -1
		}
		return r
	}, text)
}

// inChromium returns the charset that Chromium uses for each page: each reports its charset by
// loading the next page.
func inChromium(program string, pages [][]byte) ([]string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "spoor-charsets-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(profile)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	names := make([]string, len(pages))
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		i, err := strconv.Atoi(r.URL.Path[1:])
		switch {
		case err != nil || i > len(pages):
			w.WriteHeader(http.StatusNotFound)
			return
		case i > 0:
			names[i-1] = strings.ToLower(r.FormValue("charset"))
		}
		if i == len(pages) {
			cancel()
			return
		}
		w.Write(pages[i])
		fmt.Fprintf(w, "<script>location.replace('%d?charset=' + document.characterSet)</script>", i+1)
	})}
	go server.Serve(listener)
	defer server.Close()
	flags := []string{"--headless", "--disable-ipc-flooding-protection", "--user-data-dir=" + profile}
	if os.Geteuid() == 0 {
		flags = append(flags, "--no-sandbox")
	}
	stderr, err := exec.CommandContext(ctx, program, append(flags, fmt.Sprintf("http://%s/0", listener.Addr()))...).CombinedOutput()
	if ctx.Err() != context.Canceled {
		return nil, fmt.Errorf("%s: %w\n%s", program, err, stderr)
	}
	return names, nil
}
