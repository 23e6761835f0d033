package frontier

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/wire"
)

// A queueModel is a simple implementation of the queue with limits, delays and leases.
type queueModel struct {
	pages          map[string]*queuedURL
	hostDelays     map[string]int64 // second before which a host must not be asked
	lastGeneration int              // latest leased generation
}

// A queuedURL is the state of a URL.
type queuedURL struct {
	generation, retries, leasedBy int // leasedBy: a generation, or -1
	priority                      float64
	null, failed, done            bool
	due, leasedUntil              int64 // leasedUntil: end of a lease by the clock
}

func (b *queueModel) add(u string, generation int, priority float64, null bool, due int64) {
	p := b.pages[u]
	if p == nil {
		p = &queuedURL{generation: -1, leasedBy: -1}
		b.pages[u] = p
	}
	if generation > p.generation || generation == p.generation && (p.null && !null || p.null == null && priority > p.priority) {
		p.generation, p.priority, p.null = generation, priority, null
		if !p.failed {
			p.due = due
		}
	}
}

// next leases a batch. If it is empty, earliest is when a URL will be due; 0: never.
func (b *queueModel) next(q Request) (batch []string, earliest int64) {
	urls := slices.Sorted(maps.Keys(b.pages))
	var ready []candidate
	for i, u := range urls {
		p, now, latest := b.pages[u], q.Now.Unix(), b.lastGeneration
		if q.Generation >= 0 {
			latest = q.Generation
		}
		if p.done || p.null || p.retries > maxRetries || p.leasedBy >= 0 && p.leasedBy == latest {
			continue
		}
		at := max(p.due, b.hostDelays[hostOf(u)]) - int64(q.Horizon/time.Second)
		if at = max(at, p.leasedUntil); at <= now {
			host := uint32(hostOf(u)[1]) // h0 to h4
			niche := uint32(len(nicheOf(u)))
			if niche == 0 {
				niche = 100 + host
			}
			ready = append(ready, candidate{p.priority, uint32(i), host, niche})
		} else if earliest == 0 || at < earliest {
			earliest = at
		}
	}
	for _, i := range chooseSimply(ready, q.N, q.PerHost, q.PerNiche, q.Fair) {
		p := b.pages[urls[i]]
		p.leasedBy, p.leasedUntil = q.Generation, 0
		if q.Generation < 0 {
			p.leasedUntil = q.Now.Add(q.Lease).Unix()
		}
		batch = append(batch, urls[i])
	}
	if len(batch) > 0 {
		b.lastGeneration = max(b.lastGeneration, q.Generation)
	}
	return batch, earliest
}

func hostOf(u string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(u, "http://"), "/")
	return host
}

// nicheOf returns the niche in all addresses of a URL; "" for some.
func nicheOf(u string) string { return []string{"", "a", "bc", ""}[u[len(u)-1]%4] }

// A modelTest performs the same operations on a store and on a model.
type modelTest struct {
	*testing.T
	rng     *rand.Rand
	dir     string
	s       *Store
	b       queueModel
	now     time.Time
	lines   []string       // added so far
	batches map[int]string // by generation
}

func (p *modelTest) add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	p.lines = append(p.lines, line)
	add(p, p.s, line)
}

func (p *modelTest) request() Request {
	return Request{
		N: 1 + p.rng.IntN(12), PerHost: max(0, p.rng.IntN(6)-3), PerNiche: max(0, p.rng.IntN(7)-3), Fair: Group(p.rng.IntN(3)),
		Horizon: time.Duration(max(0, p.rng.IntN(600)-300)) * time.Second, Now: p.now,
		Generation: -1, Lease: time.Duration(1+p.rng.IntN(900)) * time.Second,
	}
}

// addAddress adds a random address.
func (p *modelTest) addAddress() {
	u := fmt.Sprintf("http://h%d.org/%d", p.rng.IntN(5), p.rng.IntN(30))
	generation, priority := p.b.lastGeneration+1, float64(p.rng.IntN(9)-1)/4
	switch {
	case p.rng.IntN(12) == 0:
		p.b.add(u, generation, 0, true, 0)
		p.add(`{"v":1,"url":%q,"generation":%d,"priority":null,"niche":%q}`, u, generation, nicheOf(u))
	case len(u)%2 == 0 && generation%5 == 0: // the same time for all addresses that could tie
		due := noon.Add(time.Duration(generation) * time.Minute)
		p.b.add(u, generation, priority, false, due.Unix())
		p.add(`{"v":1,"url":%q,"generation":%d,"priority":%g,"niche":%q,"not_before":%q}`, u, generation, priority, nicheOf(u), due.Format(time.RFC3339))
	default:
		p.b.add(u, generation, priority, false, 0)
		p.add(`{"v":1,"url":%q,"generation":%d,"priority":%g,"niche":%q}`, u, generation, priority, nicheOf(u))
	}
}

// leaseBatch leases a batch.
func (p *modelTest) leaseBatch() {
	q := p.request()
	if p.rng.IntN(3) > 0 {
		q.Generation = p.b.lastGeneration + 1
	}
	want, earliest := p.b.next(q)
	lines, err := p.s.Next(q)
	if none, ok := errors.AsType[*NothingDue](err); ok {
		if at := none.Earliest; len(want) > 0 || at.IsZero() != (earliest == 0) || !at.IsZero() && at.Unix() != earliest {
			p.Fatalf("%+v: nothing before %v (%d), want %v or nothing before %d", q, at, at.Unix(), want, earliest)
		}
		return
	} else if err != nil {
		p.Fatal(err)
	}
	if got := "http://" + strings.ReplaceAll(urls(string(lines)), " ", " http://"); got != strings.Join(want, " ") {
		p.Fatalf("%+v:\n got %v\nwant %v", q, got, want)
	}
	if q.Generation >= 0 {
		p.batches[q.Generation] = string(lines)
	}
}

// addOutcome adds the outcome of a leased URL.
func (p *modelTest) addOutcome() {
	var out []string
	for _, u := range slices.Sorted(maps.Keys(p.b.pages)) {
		if e := p.b.pages[u]; !e.done && (e.leasedBy >= 0 || e.leasedUntil > 0) {
			out = append(out, u)
		}
	}
	if len(out) == 0 {
		return
	}
	u := out[p.rng.IntN(len(out))]
	e, at := p.b.pages[u], p.now.Add(time.Duration(p.rng.IntN(600))*time.Second)
	head := fmt.Sprintf(`{"v":1,"url":%q,"generation":%d,"retries":%d`, u, max(e.leasedBy, 0), e.retries)
	hold := func() { p.b.hostDelays[hostOf(u)] = max(p.b.hostDelays[hostOf(u)], at.Unix()) }
	switch p.rng.IntN(6) {
	case 0:
		hold()
		p.add(`%s,"error":"budget","not_before":%q}`, head, at.Format(time.RFC3339))
	case 1:
		hold()
		e.retries, e.failed, e.due = e.retries+1, true, at.Unix()
		p.add(`%s,"error":"timeout","not_before":%q}`, head, at.Format(time.RFC3339))
	case 2:
		e.retries, e.failed = e.retries+1, true
		e.due = at.Add(time.Minute << (e.retries - 1)).Unix()
		p.add(`%s,"error":"tls","timestamp":%q}`, head, at.Format(time.RFC3339))
	case 3:
		e.done = true
		p.add(`%s,"status_code":404}`, head)
	default:
		e.done = true
		p.add(`%s,"status_code":200}`, head)
	}
	e.leasedBy, e.leasedUntil = -1, 0
}

// checkCounts compares the counts that are updated with those of a scan.
func (p *modelTest) checkCounts() {
	stats, err := p.s.Stats(p.now)
	if err != nil {
		p.Fatal(err)
	}
	want := Counts{stats.URLs, stats.States["waiting"], stats.States["visited"], stats.HostsVisited, stats.Reasons}
	if got := p.s.Counts(p.now); !reflect.DeepEqual(got, want) {
		p.Fatalf("counts %+v, want %+v", got, want)
	}
}

func (p *modelTest) reopen() {
	closeStore(p, p.s)
	if p.rng.IntN(2) == 0 {
		os.Remove(filepath.Join(p.dir, snapshotName))
	}
	p.s = open(p, p.dir, Options{segmentSize: 4000})
}

// repeatGenerations asks for leased generations again, with other parameters.
func (p *modelTest) repeatGenerations() {
	for generation, lines := range p.batches {
		q := p.request()
		q.Generation = generation
		if got, err := p.s.Next(q); err != nil || string(got) != lines {
			p.Fatalf("generation %d again: %v\n got %s\nwant %s", generation, err, got, lines)
		}
	}
}

func TestStoreAgreesWithTheModel(t *testing.T) {
	for seed := range rounds(60) {
		p := &modelTest{T: t, rng: rand.New(rand.NewPCG(seed, 5)), dir: t.TempDir(), now: noon, batches: map[int]string{}}
		p.b = queueModel{map[string]*queuedURL{}, map[string]int64{}, 0}
		p.s = open(t, p.dir, Options{segmentSize: 4000})
		for range 400 {
			if p.rng.IntN(2) == 0 {
				p.checkCounts()
			}
			switch p.rng.IntN(12) {
			case 0, 1, 2, 3:
				p.addAddress()
			case 4, 5:
				p.leaseBatch()
			case 6, 7, 8:
				p.addOutcome()
			case 9, 10:
				p.now = p.now.Add(time.Duration(p.rng.IntN(200)) * time.Second)
			case 11:
				if p.rng.IntN(4) == 0 {
					p.reopen()
					p.repeatGenerations()
				}
			}
		}
		closeStore(t, p.s)
		checkSound(t, p.dir)

		// The same records in another order, some twice, give another store the same state
		// except for the leases.
		for _, e := range p.b.pages {
			e.leasedBy, e.leasedUntil = -1, 0
		}
		for i := range p.lines {
			if p.rng.IntN(4) == 0 {
				p.lines = append(p.lines, p.lines[i])
			}
		}
		p.rng.Shuffle(len(p.lines), func(i, j int) { p.lines[i], p.lines[j] = p.lines[j], p.lines[i] })
		p.s = open(t, t.TempDir(), Options{segmentSize: 4000})
		add(t, p.s, p.lines...)
		for range 8 {
			p.leaseBatch()
		}
		closeStore(t, p.s)
	}
}

// An address leased before it is due has its time in not_before.
func TestNextWithHorizonSetsNotBefore(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	add(t, s, `{"v":1,"url":"http://a.org/","error":"budget","not_before":"2026-11-20T12:05:00Z"}`,
		`{"v":1,"url":"http://b.org/","not_before":"2026-11-20T12:04:59Z"}`, `{"v":1,"url":"http://c.org/","not_before":"2026-11-20T11:00:00Z"}`)
	r := wire.NewReader(strings.NewReader(next(t, s, Request{N: 9, Generation: 1, Horizon: 5 * time.Minute})), wire.All)
	for _, want := range []string{"2026-11-20T12:05:00Z", "2026-11-20T12:04:59Z", ""} {
		var rec wire.Record
		if err := r.Read(&rec); err != nil || rec.NotBefore != want || rec.IsOutcome() {
			t.Errorf("%v: %+v, want not_before %q", err, rec, want)
		}
	}
	closeStore(t, s)
}
