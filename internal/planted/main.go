// Planted writes a random web in which it is known what is relevant, for scripts/million:
//
//	planted PAGES HOSTS LINKS DIR [SEED]
//
// It creates the directory DIR with WARC files of 50,000 pages, and with the files seeds.txt,
// query (words for topic -query) and labels.ndjson (for judge). The label of the query is topic0.
// The same arguments give the same bytes. Memory use does not depend on PAGES and LINKS.
//
// Each host is about one of 50 topics, which are equally frequent, and so are five of six pages of
// the host. Pages have 300 to 600 words: a Zipf distribution of 100,000 words, with words of the
// topic of the page among them. A page has a menu of its host, links within the host, and links to
// other hosts, seven of ten to one that is about the topic of the page. Hosts differ in size. Links lead
// to all pages.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

const (
	numTopics     = 50
	numWords      = 100_000
	topicSize     = 300 // words of a topic
	pagesPerFile  = 50_000
	menuSize      = 5
	maxPages      = 1 << 30
	maxLinksAPage = 1000
)

func main() {
	w, dir, err := parseArguments(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "planted: %v\nusage: planted PAGES HOSTS LINKS DIR [SEED]\n", err)
		os.Exit(2)
	}
	if err := w.write(dir); err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(1)
	}
}

func parseArguments(args []string) (*web, string, error) {
	if len(args) == 4 {
		args = append(args, "1")
	}
	if len(args) != 5 {
		return nil, "", errors.New("it needs four or five arguments")
	}
	dir := args[3]
	var n []int
	for _, arg := range append(args[:3:3], args[4]) {
		i, err := strconv.Atoi(arg)
		if err != nil || i < 1 || i > maxPages {
			return nil, "", fmt.Errorf("%s is not a number from 1 to %d", arg, maxPages)
		}
		n = append(n, i)
	}
	pages, hosts, links := n[0], n[1], n[2]
	if hosts > pages || hosts < numTopics || links/pages < 2*menuSize || links/pages > maxLinksAPage {
		return nil, "", fmt.Errorf("it needs %d hosts or more, not more hosts than pages, and %d to %d links a page", numTopics, 2*menuSize, maxLinksAPage)
	}
	return newWeb(pages, hosts, links/pages, uint64(n[3])), dir, nil
}

// A web computes each of its pages from the number of the page. Pages of a host have consecutive
// numbers; the first one is its home page.
type web struct {
	pages, links int   // links is the mean number of links of a page
	first        []int // the home page of each host, and the number of pages
	words        []string
	seed         uint64
}

// newWeb returns a web whose host of rank r has, beyond its home page, a number of pages that is
// proportional to 1/(r+10).
func newWeb(pages, hosts, links int, seed uint64) *web {
	w := &web{pages: pages, links: links, seed: seed, first: make([]int, hosts+1)}
	total := 0.0
	for r := range hosts {
		total += 1 / float64(r+10)
	}
	sum := 0.0
	for r := range hosts {
		sum += 1 / float64(r+10)
		w.first[r+1] = r + 1 + int(math.Round(sum/total*float64(pages-hosts)))
	}
	w.words = strings.Fields("the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no more if out")
	known := map[string]bool{}
	for _, word := range w.words {
		known[word] = true
	}
	for rng := w.random(0, 'w'); len(w.words) < numWords; {
		if word := newWord(rng); !known[word] {
			known[word] = true
			w.words = append(w.words, word)
		}
	}
	return w
}

// newWord returns a word of two to four syllables.
func newWord(rng *rand.Rand) string {
	const consonants, vowels = "bcdfghjklmnpqrstvwz", "aeiou"
	var b []byte
	for range 2 + rng.IntN(3) {
		b = append(b, consonants[rng.IntN(len(consonants))], vowels[rng.IntN(len(vowels))])
	}
	return string(append(b, "klmnrt"[rng.IntN(6)]))
}

// random returns the source of random numbers for one purpose of a page.
func (w *web) random(page int, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed<<8|purpose, uint64(page)))
}

// host returns the number of the host of a page.
func (w *web) host(page int) int {
	h, found := slices.BinarySearch(w.first, page)
	if !found {
		h--
	}
	return h
}

// topicWord returns a word of a topic. Low numbers are its most frequent words.
func (w *web) topicWord(topic, n int) string { return w.words[1000+n*numTopics+topic] }

// A page is what other pages show of it.
type page struct {
	number, host, topic int
	title               string
}

func (w *web) page(number int) page {
	rng := w.random(number, 't')
	p := page{number: number, host: w.host(number)}
	p.topic = p.host % numTopics
	if rng.IntN(6) == 0 {
		p.topic = rng.IntN(numTopics)
	}
	p.title = w.topicWord(p.topic, rng.IntN(40)) + " " + w.words[50+rng.IntN(5000)]
	if rng.IntN(2) == 0 {
		p.title += " " + w.topicWord(p.topic, rng.IntN(topicSize))
	}
	return p
}

func (w *web) url(p page) string {
	home := fmt.Sprintf("http://www.%s%d.example/", w.words[100+p.host%1000], p.host)
	if p.number == w.first[p.host] {
		return home
	}
	title, _, _ := strings.Cut(p.title, " ")
	return fmt.Sprintf("%s%s/%d.html", home, title, p.number)
}

// target returns the page to which a link of p leads.
func (w *web) target(rng *rand.Rand, p page) int {
	home, next := w.first[p.host], w.first[p.host+1]
	if next-home > menuSize && rng.IntN(5) < 2 {
		return home + rng.IntN(next-home)
	}
	to := rng.IntN(w.pages)
	h := w.host(to)
	if rng.IntN(10) < 7 { // the host of this topic that is next in size
		h += p.topic - h%numTopics
		if h >= len(w.first)-1 {
			h -= numTopics
		}
		to = w.first[h] + rng.IntN(w.first[h+1]-w.first[h])
	}
	if rng.IntN(2) == 0 {
		to = w.first[h]
	}
	return to
}

// html writes a page.
func (w *web) html(b *bytes.Buffer, p page) {
	rng := w.random(p.number, 'p')
	zipf, own := rand.NewZipf(rng, 1.07, 2, numWords-1), rand.NewZipf(rng, 1.1, 5, topicSize-1)
	link := func(to int) {
		q := w.page(to)
		fmt.Fprintf(b, `<a href="%s">%s</a>`, w.url(q), q.title)
	}
	fmt.Fprintf(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>%s</title></head>\n<body>\n<nav><ul>\n", p.title)
	home, next := w.first[p.host], w.first[p.host+1]
	for to := home; to < min(next, home+menuSize); to++ {
		b.WriteString("<li>")
		link(to)
		b.WriteString("</li>\n")
	}
	fmt.Fprintf(b, "</ul></nav>\n<main><h1>%s</h1>\n<p>", p.title)
	words, links := 300+rng.IntN(301), w.links/2+rng.IntN(w.links+1)-min(next-home, menuSize)-1
	for n := range words {
		switch {
		case rng.IntN(words) < links:
			link(w.target(rng, p))
		case rng.IntN(7) == 0:
			b.WriteString(w.topicWord(p.topic, int(own.Uint64())))
		case rng.IntN(30) == 0: // of a related topic
			b.WriteString(w.topicWord((p.topic+1)%numTopics, int(own.Uint64())))
		default:
			b.WriteString(w.words[zipf.Uint64()])
		}
		switch {
		case n%80 == 79:
			b.WriteString(".</p>\n<p>")
		case n%12 == 11:
			b.WriteString(". ")
		default:
			b.WriteByte(' ')
		}
	}
	b.WriteString("</p></main>\n<footer>")
	link(max(home, min(p.number+1, next-1))) // leads to all pages of the host
	b.WriteString("</footer>\n</body>\n</html>\n")
}

// write writes the files of the web.
func (w *web) write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var query []string
	for n := range 8 {
		query = append(query, w.topicWord(0, n))
	}
	if err := os.WriteFile(filepath.Join(dir, "query"), []byte(strings.Join(query, " ")+"\n"), 0o666); err != nil {
		return err
	}
	var seeds bytes.Buffer // five hosts of the topic, and five others
	for n := range 10 {
		h := len(w.first) / 20 * n
		fmt.Fprintln(&seeds, w.url(w.page(w.first[h-h%numTopics+n%2])))
	}
	if err := os.WriteFile(filepath.Join(dir, "seeds.txt"), seeds.Bytes(), 0o666); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "labels.ndjson"), func(b *bufio.Writer) error {
		for i := range w.pages {
			p := w.page(i)
			if _, err := fmt.Fprintf(b, "{\"url\":%q,\"labels\":[\"topic%d\"]}\n", w.url(p), p.topic); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for first := 0; first < w.pages; first += pagesPerFile {
		name := filepath.Join(dir, fmt.Sprintf("web-%05d.warc.gz", first/pagesPerFile))
		if err := writeFile(name, func(b *bufio.Writer) error { return w.writeArchive(b, first, min(w.pages, first+pagesPerFile)) }); err != nil {
			return err
		}
	}
	return nil
}

// writeArchive writes the pages from first to next, without next, as responses in a WARC file.
func (w *web) writeArchive(b *bufio.Writer, first, next int) error {
	member, err := gzip.NewWriterLevel(b, gzip.BestSpeed)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	for i := first; i < next; i++ {
		body.Reset()
		p := w.page(i)
		w.html(&body, p)
		head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n", body.Len())
		member.Reset(b)
		fmt.Fprintf(member, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012x>\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s",
			w.url(p), time.Unix(1767225600+int64(i), 0).UTC().Format(time.RFC3339), i, len(head)+body.Len(), head)
		member.Write(body.Bytes())
		member.Write([]byte("\r\n\r\n"))
		if err := member.Close(); err != nil { // also returns errors of the writes
			return err
		}
	}
	return nil
}

// writeFile creates a file with what write writes.
func writeFile(name string, write func(*bufio.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(write(b), b.Flush(), f.Close())
}
