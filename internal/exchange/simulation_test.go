package exchange

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"spoor/internal/partition"
	"spoor/internal/run"
	"spoor/internal/wire"
)

// This file simulates crawls of a web in memory. Only the pipeline of a partition is simulated;
// filter, restorer, ledger, blocks and commits are the real ones.

type noTally struct{}

func (noTally) Count()                {}
func (noTally) Skip(string)           {}
func (noTally) Bad(*wire.SyntaxError) {}
func (noTally) Refuse(string, error)  {}

var quiet run.Log = slog.New(slog.DiscardHandler)

// A testWeb has pages with links and a relevance, by URL.
type testWeb map[string]testPage

type testPage struct {
	links    []string
	relevant bool
}

// newTestWeb returns a web of pages on hosts of very different sizes.
func newTestWeb(rng *rand.Rand, hosts, pages int) testWeb {
	w := testWeb{}
	var urls []string
	for i := range pages {
		h := int(float64(hosts) * rng.Float64() * rng.Float64() * rng.Float64())
		urls = append(urls, fmt.Sprintf("http://h%d.test/%d", h, i))
	}
	for _, u := range urls {
		p := testPage{relevant: rng.IntN(4) == 0}
		for range 1 + rng.IntN(6) {
			p.links = append(p.links, urls[rng.IntN(len(urls))])
		}
		w[u] = p
	}
	return w
}

// A disk is what a partition keeps on a machine.
type disk struct {
	last  int                // the last generation that is in the store; -1: none
	store map[string]float64 // priority by URL
	done  map[string]bool
	state string // directory of the journal
}

func (d *disk) add(line []byte) {
	var rec wire.Record
	if err := wire.NewReader(bytes.NewReader(line), wire.Address|wire.Fetch|wire.Score).Read(&rec); err != nil {
		panic(err)
	}
	if rec.IsOutcome() {
		d.done[strings.Clone(rec.URL)] = true
		return
	}
	if p, ok := d.store[rec.URL]; !ok || rec.Priority.Value > p {
		d.store[strings.Clone(rec.URL)] = rec.Priority.Value
	}
}

// waiting returns the URLs to fetch, the best first.
func (d *disk) waiting() []string {
	urls := slices.DeleteFunc(slices.Collect(maps.Keys(d.store)), func(u string) bool { return d.done[u] })
	slices.SortFunc(urls, func(a, b string) int { return cmp.Or(cmp.Compare(d.store[b], d.store[a]), cmp.Compare(a, b)) })
	return urls
}

// A simulation is a crawl of a web.
type simulation struct {
	web      testWeb
	stream   *fakeStream
	settings *Settings
	dir      string
}

// seed publishes the seeds as Create does.
func (s *simulation) seed(t *testing.T, urls ...string) {
	t.Helper()
	s.seedOn(t, s.stream, urls...)
}

func (s *simulation) seedOn(t *testing.T, stream Stream, urls ...string) {
	t.Helper()
	var seeds bytes.Buffer
	w := wire.NewWriter(&seeds)
	for _, u := range urls {
		rec := wire.Record{V: 1, URL: u, Operator: "seed", Priority: wire.Num(1)}
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	got, err := Create(t.Context(), stream, "test", *s.settings, &seeds, nil, 30*time.Second, quiet)
	if err != nil {
		t.Fatal(err)
	}
	s.settings = got
}

func newDisk(t *testing.T, dir string) *disk {
	t.Helper()
	state, err := os.MkdirTemp(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return &disk{last: -1, store: map[string]float64{}, done: map[string]bool{}, state: state}
}

// partition runs a partition on a disk until the crawl ends, or ctx is done.
func (s *simulation) partition(ctx context.Context, p int, attempt string, d *disk) (end string, err error) {
	return s.partitionOn(ctx, s.stream, p, attempt, d)
}

func (s *simulation) partitionOn(ctx context.Context, stream Stream, p int, attempt string, d *disk) (end string, err error) {
	var lines bytes.Buffer
	r := Restorer{Stream: stream, Name: "test", Settings: s.settings, Partition: p, After: d.last, State: d.state, Out: &lines, Patience: time.Minute, Log: quiet}
	last, err := r.Run(ctx)
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(lines.Bytes()) {
		d.add(line)
	}
	d.last = last
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, toFilter := io.Pipe()
	fromFilter, out := io.Pipe()
	f := Filter{Stream: stream, Name: "test", Settings: s.settings, Partition: p, Attempt: attempt, State: d.state, In: in, Out: out, Patience: time.Minute, Log: quiet, Tally: noTally{}}
	failed := make(chan error, 1)
	go func() {
		err := f.Run(ctx)
		in.CloseWithError(errors.New("the filter has ended"))
		out.CloseWithError(cmp.Or(err, io.EOF))
		failed <- err
	}()
	stop := context.AfterFunc(ctx, func() { toFilter.CloseWithError(io.ErrClosedPipe); fromFilter.CloseWithError(context.Canceled) })
	defer stop()
	end, err = s.pipeline(p, d, toFilter, fromFilter)
	toFilter.Close()
	fromFilter.Close()
	return end, cmp.Or(<-failed, err)
}

// pipeline plays frontier serve, fetch, score and evolve.
func (s *simulation) pipeline(p int, d *disk, w io.Writer, r io.Reader) (end string, err error) {
	send := func(g int, body []byte) error {
		m := wire.Mark{}
		for _, u := range d.waiting() {
			if len(m.Best) < wire.MaxBest {
				m.Best = append(m.Best, d.store[u])
			}
		}
		body, err := wire.AppendMark(body, g, m)
		if err == nil {
			_, err = w.Write(body)
		}
		return err
	}
	if err := send(d.last, nil); err != nil {
		return "", err
	}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return "", err
		}
		var mark struct {
			Operator   string
			Generation int
			wire.Mark
		}
		if err := json.Unmarshal(line, &mark); err != nil {
			return "", err
		}
		if mark.Operator != "mark" {
			d.add(line)
			continue
		}
		d.last = mark.Generation
		if mark.End != "" {
			return mark.End, nil
		}
		g := mark.Generation + 1
		batch := d.waiting()
		batch = batch[:min(len(batch), *mark.N)]
		var body bytes.Buffer
		out := wire.NewWriter(&body)
		var links []wire.Record
		for _, u := range batch {
			if partition.Of(strings.Split(u, "/")[2], s.settings.Partitions) != p {
				return "", fmt.Errorf("%s was given to partition %d", u, p)
			}
			page := s.web[u]
			rec := wire.Record{V: 1, URL: u, Generation: g, StatusCode: 200, Relevant: wire.Bool{Value: page.relevant, Kind: wire.Present}}
			if err := out.Write(&rec); err != nil {
				return "", err
			}
			for _, l := range page.links {
				priority := float64(partition.Hash(l)%16) / 16
				if page.relevant {
					priority += 0.5
				}
				links = append(links, wire.Record{V: 1, URL: l, Generation: g + 1, Via: u, Operator: "link", Priority: wire.Num(priority)})
			}
		}
		for i := range links {
			if err := out.Write(&links[i]); err != nil {
				return "", err
			}
		}
		out.Flush()
		journal, err := os.OpenFile(filepath.Join(d.state, journalName), os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			return "", err
		}
		journal.Seek(0, io.SeekEnd)
		fmt.Fprintf(journal, "%d %d\n", g, len(batch))
		journal.Close()
		if err := send(g, body.Bytes()); err != nil {
			return "", err
		}
	}
}

// result is what a finished crawl must agree in.
func (s *simulation) result(t *testing.T) (digest string, cost int) {
	t.Helper()
	st, err := Summarize(t.Context(), s.stream, "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range st.Partitions {
		cost += p.Spent
	}
	return st.Digest, cost
}

// crawlOnce runs a crawl in which partitions are killed at random, the given number of times.
func crawlOnce(t *testing.T, web testWeb, s Settings, kills int, rng *rand.Rand) (digest string, cost int, reasons []string) {
	t.Helper()
	sim := &simulation{web: web, stream: newFake(), settings: &s, dir: t.TempDir()}
	urls := slices.Sorted(maps.Keys(web))
	sim.seed(t, urls[0], urls[len(urls)/2], urls[len(urls)-1])
	var mu sync.Mutex
	var wg sync.WaitGroup
	left := kills
	for p := range s.Partitions {
		wg.Go(func() {
			d := newDisk(t, sim.dir)
			for attempt := 0; ; attempt++ {
				ctx, cancel := context.WithCancel(t.Context())
				mu.Lock()
				if left > 0 && rng.IntN(2) == 0 {
					left--
					time.AfterFunc(time.Duration(rng.IntN(20_000))*time.Microsecond, cancel)
				}
				loses := rng.IntN(2) == 0
				mu.Unlock()
				end, err := sim.partition(ctx, p, fmt.Sprintf("%d.%d", p, attempt), d)
				cancel()
				if err == nil && end != "" {
					mu.Lock()
					reasons = append(reasons, end)
					mu.Unlock()
					return
				}
				if t.Context().Err() != nil || ctx.Err() == nil && !errors.Is(err, io.EOF) {
					t.Errorf("partition %d: %v", p, err)
					return
				}
				if loses {
					d = newDisk(t, sim.dir)
				}
			}
		})
	}
	wg.Wait()
	digest, cost = sim.result(t)
	return digest, cost, reasons
}

// Whatever is killed, with or without its disk, the crawl is the same; its cost is the budget.
func TestTheCrawlIsTheSameWhateverIsKilled(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	web := newTestWeb(rng, 40, 3000)
	rounds, pages, lags := 3, 317, []int{0, 1, 3}
	if testing.Short() {
		rounds, pages, lags = 1, 131, []int{0, 2}
	}
	for _, share := range []string{ByPriority, ByReward} {
		for _, partitions := range []int{1, 4, 16} {
			for _, lag := range lags {
				s := Settings{Partitions: partitions, Size: 5, Pages: pages, Lag: lag, Share: share, Patience: 1}
				t.Run(fmt.Sprintf("%s/%d/%d", share, partitions, lag), func(t *testing.T) {
					want, cost, reasons := crawlOnce(t, web, s, 0, rng)
					if cost != s.Pages || len(reasons) != partitions || slices.Max(reasons) != run.EndPages || slices.Min(reasons) != run.EndPages {
						t.Fatalf("cost %d instead of %d, ended by %v", cost, s.Pages, reasons)
					}
					for range rounds {
						if digest, cost, _ := crawlOnce(t, web, s, 6, rng); digest != want || cost != s.Pages {
							t.Errorf("after kills the digest is %s instead of %s, the cost %d", digest, want, cost)
						}
					}
				})
			}
		}
	}
}

// A crawl of a small web ends when nothing is left, on all partitions, and has fetched everything
// that links lead to.
func TestTheCrawlEndsWithTheWeb(t *testing.T) {
	for _, lag := range []int{0, 1, 2} {
		rng := rand.New(rand.NewPCG(3, uint64(lag)))
		web := newTestWeb(rng, 9, 60)
		reachable := map[string]bool{}
		urls := slices.Sorted(maps.Keys(web))
		for queue := []string{urls[0], urls[len(urls)/2], urls[len(urls)-1]}; len(queue) > 0; queue = queue[1:] {
			if !reachable[queue[0]] {
				reachable[queue[0]] = true
				queue = append(queue, web[queue[0]].links...)
			}
		}
		s := Settings{Partitions: 5, Size: 2, Lag: lag, Share: ByPriority, Patience: 1}
		_, cost, reasons := crawlOnce(t, web, s, 0, rng)
		if cost != len(reachable) || len(reasons) != 5 || reasons[0] != run.EndEmpty {
			t.Errorf("lag %d: %d of %d pages, ended by %v", lag, cost, len(reachable), reasons)
		}
	}
}

// A process that has lost its partition cannot commit another result; one with the same result goes on.
func TestSecondAttemptsAreFenced(t *testing.T) {
	s := Settings{Partitions: 1, Size: 2, Pages: 4, Share: ByPriority, Patience: 1}
	for _, same := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(8, 8))
		web := newTestWeb(rng, 3, 50)
		sim := &simulation{web: web, stream: newFake(), settings: &s, dir: t.TempDir()}
		sim.seed(t, slices.Sorted(maps.Keys(web))...)
		first := newDisk(t, sim.dir)
		if _, err := sim.partition(t.Context(), 0, "first", first); err != nil {
			t.Fatal(err)
		}
		// A second process that sees the stream as it was before the first commit.
		slow := &hidingStream{fakeStream: sim.stream, hidden: "spoor.test.c."}
		late := &simulation{web: web, stream: sim.stream, settings: sim.settings, dir: sim.dir}
		if !same {
			late.web = testWeb{} // its pages have no links
		}
		_, err := late.partitionOn(t.Context(), slow, 0, "second", newDisk(t, sim.dir))
		if same && err != nil || !same && !errors.Is(err, ErrFenced) {
			t.Errorf("same %v: %v", same, err)
		}
		if digest, cost := sim.result(t); cost != 4 || digest == "" {
			t.Errorf("cost %d", cost)
		}
	}
}

// A hidingStream does not return messages of some subjects until one is published.
type hidingStream struct {
	*fakeStream
	hidden string
}

func (s *hidingStream) PublishFirst(ctx context.Context, subject string, data []byte) error {
	s.hidden = ""
	return s.fakeStream.PublishFirst(ctx, subject, data)
}

func (s *hidingStream) Range(ctx context.Context, filter string, from uint64, limit int) ([]Message, error) {
	if s.hidden != "" && strings.HasPrefix(filter, s.hidden) {
		return nil, nil
	}
	return s.fakeStream.Range(ctx, filter, from, limit)
}

// A store that is ahead of the stream is never published again, and a missing message is named.
func TestLostMessagesAreNamed(t *testing.T) {
	s := Settings{Partitions: 1, Size: 2, Pages: 4, Share: ByPriority, Patience: 1}
	web := newTestWeb(rand.New(rand.NewPCG(9, 9)), 3, 50)
	sim := &simulation{web: web, stream: newFake(), settings: &s, dir: t.TempDir()}
	sim.seed(t, slices.Sorted(maps.Keys(web))...)
	d := newDisk(t, sim.dir)
	if _, err := sim.partition(t.Context(), 0, "first", d); err != nil {
		t.Fatal(err)
	}
	for i, m := range sim.stream.messages {
		if m.Subject == "spoor.test.c.2.0" {
			sim.stream.lost[uint64(i)+1] = true
		}
	}
	if _, err := sim.partition(t.Context(), 0, "second", d); err == nil || !strings.Contains(err.Error(), "the store holds generation 2, and the stream ends with 1") {
		t.Errorf("%v", err)
	}
}
