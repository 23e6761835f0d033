package strategy

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/topic"
	"spoor/internal/wire"
)

// A synthetic web is large and has no failures: every page has 30 links, 20 of them to its own
// host, with anchors, contexts, tag paths and scores, and 200 words, a share of which are those
// of the topic.
type synthetic struct {
	pages, hosts int
	words        []string // not about the topic
}

const (
	syntheticLinks = 30
	syntheticWords = 200
	syntheticQuery = "genetic crawler evolution selection crossover mutation"
)

func newSynthetic(pages, hosts int) *synthetic {
	w := &synthetic{pages: pages, hosts: hosts}
	syllables := strings.Fields("ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu")
	for i := range 3000 {
		w.words = append(w.words, syllables[i%20]+syllables[i/20%20]+syllables[i/400]+"n")
	}
	return w
}

// rng returns the random generator of page i for a purpose.
func (w *synthetic) rng(i int, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(i), purpose))
}

func (w *synthetic) url(i int) string {
	return fmt.Sprintf("http://host%d.test/section%d/page%d.html", i%w.hosts, i/w.hosts%7, i)
}

// relevance returns the relevance of page i, which depends on that of its host.
func (w *synthetic) relevance(i int) float64 {
	host := w.rng(i%w.hosts, 1).Float64()
	return host * host * w.rng(i, 2).Float64()
}

// text returns n words, of which a share of relevance/2 is about the topic.
func (w *synthetic) text(n int, relevance float64, rng *rand.Rand) string {
	topical := strings.Fields(syntheticQuery)
	var b strings.Builder
	for range n {
		word := w.words[int(float64(len(w.words))*rng.Float64()*rng.Float64())]
		if rng.Float64() < relevance/2 {
			word = topical[rng.IntN(len(topical))]
		}
		b.WriteString(word)
		b.WriteByte(' ')
	}
	return b.String()
}

// link returns a page that page i links to.
func (w *synthetic) link(i int, rng *rand.Rand) int {
	to := rng.IntN(w.pages)
	if rng.IntN(3) > 0 { // on its own host
		to = min(to-to%w.hosts+i%w.hosts, w.pages-1)
	}
	return to
}

// page returns the record that score would write for a.
func (w *synthetic) page(a Address, generation int) *wire.Record {
	var i, section, host int
	fmt.Sscanf(a.URL, "http://host%d.test/section%d/page%d.html", &host, &section, &i)
	rec := new(wire.Record)
	a.Fill(rec, generation)
	rng, relevance := w.rng(i, 3), w.relevance(i)
	rec.StatusCode, rec.ContentType, rec.Lang = 200, "text/html", "en"
	rec.Title = w.text(5, relevance, rng)
	rec.Text = w.text(syntheticWords, relevance, rng)
	rec.Score, rec.Relevant = wire.Num(relevance), wire.False
	if relevance > 0.3 {
		rec.Relevant = wire.True
	}
	rec.Scores = []wire.Scored{{Name: "vsm", Value: relevance}}
	rec.OutDegree = syntheticLinks
	for n := range syntheticLinks {
		to := w.link(i, rng)
		hint := w.relevance(to)
		link := wire.Link{
			URL: w.url(to), Tag: "a",
			Anchor:  w.text(3, hint, rng),
			Context: w.text(15, (hint+relevance)/2, rng),
			Path:    fmt.Sprintf("html body div.%s ul li a", []string{"menu", "main", "footer"}[n*3/syntheticLinks]),
			Score:   wire.Num(hint),
		}
		link.Scores = []wire.Scored{{Name: "anchor", Value: hint}, {Name: "context", Value: (hint + relevance) / 2}, {Name: "url", Value: 0}}
		rec.AnchorText += link.Anchor
		rec.Links = append(rec.Links, link)
	}
	return rec
}

// topic returns a topic learned from the first pages.
func (w *synthetic) topic(tb testing.TB) *topic.Topic {
	tb.Helper()
	t := topicOf(tb, "en", syntheticQuery)
	var positive, negative []topic.Page
	for i := range 400 {
		rec := w.page(Address{URL: w.url(i)}, 1)
		p := topic.Page{URL: rec.URL, Title: rec.Title, Text: rec.Text}
		for _, link := range rec.Links {
			p.Links = append(p.Links, link.URL)
		}
		if rec.Relevant == wire.True && len(positive) < 20 {
			positive = append(positive, p)
		} else if len(negative) < 40 {
			negative = append(negative, p)
		}
	}
	if err := t.Learn(positive, negative, topic.LearnOptions{Size: topic.TableSize}); err != nil {
		tb.Fatal(err)
	}
	return t
}

// A testFrontier is a frontier without politeness. Several proposals of an address replace each
// other.
type testFrontier struct {
	waiting map[string]Address
	visited map[string]bool
	queue   proposalQueue // includes replaced proposals
	fresh   int           // pages leased without a proposal
}

func newTestFrontier() *testFrontier {
	return &testFrontier{waiting: map[string]Address{}, visited: map[string]bool{}}
}

// A proposalQueue is a heap of proposals: the highest priority first, ties by address.
type proposalQueue []proposal

type proposal struct {
	priority float64
	url      string
}

func (q proposalQueue) Len() int { return len(q) }
func (q proposalQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[j].priority, q[i].priority), cmp.Compare(q[i].url, q[j].url)) < 0
}
func (q proposalQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *proposalQueue) Push(x any)   { *q = append(*q, x.(proposal)) }
func (q *proposalQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// next leases the n addresses with the highest priorities and, if there are fewer, pages of w
// that were not proposed.
func (f *testFrontier) next(w *synthetic, n int) (batch []Address) {
	for len(batch) < n && len(f.queue) > 0 {
		top := heap.Pop(&f.queue).(proposal)
		if a, waiting := f.waiting[top.url]; waiting && a.Priority == top.priority {
			batch = append(batch, a)
			delete(f.waiting, a.URL)
		}
	}
	for ; len(batch) < n; f.fresh++ {
		a := Address{URL: w.url(f.fresh), Operator: "seed"}
		if _, waiting := f.waiting[a.URL]; !waiting && !f.visited[a.URL] && !slices.ContainsFunc(batch, func(b Address) bool { return a.URL == b.URL }) {
			batch = append(batch, a)
		}
	}
	for _, a := range batch {
		f.visited[a.URL] = true
	}
	return batch
}

func (f *testFrontier) add(addresses []Address) {
	for _, a := range addresses {
		if a.URL != "" && !f.visited[a.URL] {
			f.waiting[a.URL] = a
			heap.Push(&f.queue, proposal{a.Priority, a.URL})
		}
	}
}

// BenchmarkLongCrawl measures 2,000 generations of 20 pages. It reports the milliseconds of a
// generation (Visit, Breed and AppendDelta) and the bytes of its delta, each the mean of the
// hundred generations up to the one after @; the memory of the strategy at the end; and the time
// of Replay for all deltas. Use -benchtime 1x.
func BenchmarkLongCrawl(b *testing.B) {
	const n, generations, mean = 20, 2000, 100
	w := newSynthetic(2_000_000, 2000)
	target := w.topic(b)
	for _, kind := range Kinds() {
		b.Run(kind.Name, func(b *testing.B) {
			for b.Loop() {
				s := newStrategy(b, kind.Name, target, nil)
				c := newTestFrontier()
				var deltas [][]byte
				var spent time.Duration
				size := 0
				for g := 1; g <= generations; g++ {
					var batch []*wire.Record
					for _, a := range c.next(w, n) {
						batch = append(batch, w.page(a, g))
					}
					began := time.Now()
					for _, rec := range batch {
						s.Visit(rec)
					}
					next := s.Breed(n, rand.New(rand.NewPCG(1, uint64(g))))
					delta := s.AppendDelta(nil)
					spent += time.Since(began)
					size += len(delta)
					deltas = append(deltas, delta)
					c.add(next)
					if g%(generations/4) == 0 {
						b.ReportMetric(spent.Seconds()*1e3/mean, fmt.Sprintf("ms/gen@%d", g))
						b.ReportMetric(float64(size)/mean, fmt.Sprintf("B/gen@%d", g))
					}
					if g%mean == 0 {
						spent, size = 0, 0
					}
				}
				c = nil
				again := newStrategy(b, kind.Name, target, nil)
				held := heapOf(func() { s = nil })
				began := time.Now()
				for _, delta := range deltas {
					if err := again.Replay(delta); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(time.Since(began).Seconds()*1e3, "replay-ms")
				b.ReportMetric(held/1e6, "MB")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// heapOf returns the number of bytes that are freed after release.
func heapOf(release func()) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	release()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return float64(before.HeapAlloc) - float64(after.HeapAlloc)
}
