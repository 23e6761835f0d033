package frontier

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/wire"
)

const stamp = "2006-01-02T15:04:05.000Z"

func TestRevisitInterval(t *testing.T) {
	const day = 24 * time.Hour
	at := "2026-11-20T12:00:00.000Z"
	modified := func(d time.Duration) []wire.Values {
		return []wire.Values{{Name: "last-modified", Values: []string{noon.Add(-d).Format("Mon, 02 Jan 2006 15:04:05 GMT")}}}
	}
	for _, test := range []struct {
		name string
		rec  wire.Record
		want time.Duration
	}{
		{"the first, of unknown age", wire.Record{StatusCode: 200, Timestamp: at}, 7 * day},
		{"a tenth of its age", wire.Record{StatusCode: 200, Timestamp: at, Headers: modified(30 * day)}, 3 * day},
		{"the young", wire.Record{StatusCode: 200, Timestamp: at, Headers: modified(time.Minute)}, minInterval},
		{"the old", wire.Record{StatusCode: 200, Timestamp: at, Headers: modified(3650 * day)}, maxInterval},
		{"from the future", wire.Record{StatusCode: 200, Timestamp: at, Headers: modified(-day)}, 7 * day},
		{"gone at first", wire.Record{StatusCode: 404, Timestamp: at}, 7 * day * 3 / 2},
		{"304", wire.Record{StatusCode: 304, Visits: 1, Interval: 100_000}, 140_000 * time.Second},
		{"the same digest", wire.Record{StatusCode: 200, Visits: 1, Interval: 100_000, Digest: "a", LastDigest: "a"}, 140_000 * time.Second},
		{"another digest", wire.Record{StatusCode: 200, Visits: 1, Interval: 100_000, Digest: "a", LastDigest: "b"}, 80_000 * time.Second},
		{"nothing to compare", wire.Record{StatusCode: 200, Visits: 1, Interval: 100_000, Digest: "a"}, 100_000 * time.Second},
		{"gone", wire.Record{StatusCode: 410, Visits: 1, Interval: 100_000, Digest: "a", LastDigest: "b"}, 150_000 * time.Second},
		{"forbidden by now", wire.Record{Error: "robots", Visits: 1, Interval: 100_000}, 150_000 * time.Second},
		{"not below an hour", wire.Record{StatusCode: 200, Visits: 1, Interval: 3601, Digest: "a", LastDigest: "b"}, minInterval},
		{"not above the longest", wire.Record{StatusCode: 304, Visits: 1, Interval: 1 << 40}, maxInterval},
		{"nonsense", wire.Record{StatusCode: 304, Visits: -1, Interval: -5}, 7 * day},
	} {
		if got := revisitInterval(&test.rec); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// A site is a page that changes at intervals.
type site struct {
	url    string
	every  time.Duration // 0: never
	etag   bool
	gone   time.Time // when it starts to answer 404
	down   time.Time // when it stops to answer
	visits []time.Time
	unseen int // visits that found no change
}

func (p *site) version(now time.Time) int {
	if p.every == 0 {
		return 0
	}
	return int(now.Sub(noon) / p.every)
}

// answer sets rec to the outcome of a request.
func (p *site) answer(t *testing.T, rec *wire.Record, now time.Time) {
	p.visits = append(p.visits, now)
	rec.Timestamp = now.UTC().Format(stamp)
	etag := fmt.Sprintf(`"%d"`, p.version(now))
	switch {
	case !p.down.IsZero() && !now.Before(p.down):
		rec.Error = wire.ErrorTimeout
	case !p.gone.IsZero() && !now.Before(p.gone):
		rec.StatusCode, rec.Digest = 404, "sha1:gone"
	case p.etag && rec.ETag == etag:
		rec.StatusCode = 304
		p.unseen++
	default:
		rec.StatusCode, rec.Digest = 200, "sha1:"+etag
		if rec.LastDigest == rec.Digest {
			p.unseen++
		}
		if p.etag {
			rec.Headers = []wire.Values{{Name: "etag", Values: []string{etag}}}
		}
	}
	rec.Touch(wire.Fetch)
}

// simulate crawls the pages with Recrawl, once an hour.
func simulate(t *testing.T, web []*site, days int, each func(s *Store, now time.Time)) {
	s := emptyStore(t, Options{})
	pages := map[string]*site{}
	for _, p := range web {
		pages[p.url] = p
		add(t, s, fmt.Sprintf(`{"v":1,"url":%q,"priority":0.5}`, p.url))
	}
	var rec wire.Record
	for hour := range days * 24 {
		now := noon.Add(time.Duration(hour) * time.Hour)
		lines := next(t, s, Request{N: 100, Generation: hour + 1, Now: now, Recrawl: true})
		for line := range strings.Lines(lines) {
			if err := rec.Unmarshal([]byte(line), wire.All); err != nil {
				t.Fatal(err)
			}
			pages[rec.URL].answer(t, &rec, now)
			if _, err := s.Add(&rec); err != nil {
				t.Fatal(err)
			}
		}
		if each != nil {
			each(s, now)
		}
	}
}

// The interval converges to about 0.6 of the time between two changes, with and without
// validators, and grows if nothing changes.
func TestIntervalsConverge(t *testing.T) {
	const day = 24 * time.Hour
	web := []*site{
		{url: "http://daily.org/", every: day, etag: true},
		{url: "http://daily.org/plain", every: day},
		{url: "http://weekly.org/", every: 7 * day, etag: true},
		{url: "http://monthly.org/", every: 30 * day, etag: true},
		{url: "http://never.org/", etag: true},
		{url: "http://never.org/plain"},
		{url: "http://gone.org/", gone: noon.Add(10 * day)},
	}
	const days = 360
	simulate(t, web, days, nil)
	for _, p := range web {
		early, late, lateStart := 0, 0, noon.Add(180*day)
		for _, v := range p.visits {
			if v.Before(noon.Add(60 * day)) {
				early++
			}
			if !v.Before(lateStart) {
				late++
			}
		}
		mean := 180.0 / float64(max(late, 1))
		t.Logf("%-26s changes every %4v d: %3d visits in 60 days, %3d in 360; days between visits from day 180 on: %.2f; found unchanged: %d", p.url, p.every.Hours()/24, early, len(p.visits), mean, p.unseen)
		if p.every > 0 && p.every < 30*day {
			if want := 0.6 * p.every.Hours() / 24; mean < want*0.75 || mean > want*1.25 {
				t.Errorf("%s is visited every %.2f days, want about %.2f", p.url, mean, want)
			}
		}
		if p.every == 0 && (early > 6 || mean < 60) {
			t.Errorf("%s does not change and was visited %d times", p.url, len(p.visits))
		}
	}
}

func TestRecrawlIsOptional(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s, `{"v":1,"url":"http://a.org/","status_code":200,"timestamp":"2026-11-20T12:00:00Z"}`, `{"v":1,"url":"http://b.org/","status_code":200}`)
	years := noon.AddDate(10, 0, 0)
	if got := next(t, s, Request{N: 9, Generation: 1, Now: years}); got != "" {
		t.Errorf("next gives %s", got)
	}
	if got := urls(next(t, s, Request{N: 9, Generation: 2, Now: noon, Recrawl: true})); got != "b.org/" {
		t.Errorf("nobody knows when b.org was visited: %s", got)
	}
	if got := urls(next(t, s, Request{N: 9, Generation: 3, Now: noon.AddDate(0, 0, 6), Recrawl: true})); got != "b.org/" {
		t.Errorf("before its week is over: %s", got)
	}
	if got := urls(next(t, s, Request{N: 9, Generation: 4, Now: noon.AddDate(0, 0, 7), Recrawl: true})); got != "a.org/ b.org/" {
		t.Errorf("after its week: %s", got)
	}
}

func TestKnownOnlyLeavesNewPages(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s, `{"v":1,"url":"http://a.org/","status_code":200,"timestamp":"2026-11-20T12:00:00Z"}`, `{"v":1,"url":"http://new.org/","priority":0.9}`)
	q := Request{N: 9, Generation: 1, Now: noon.AddDate(0, 0, 7), Recrawl: true, KnownOnly: true}
	if got := urls(next(t, s, q)); got != "a.org/" {
		t.Errorf("only what is known: %s", got)
	}
	q.Generation, q.KnownOnly = 2, false
	if got := urls(next(t, s, q)); got != "new.org/ a.org/" {
		t.Errorf("all: %s", got)
	}
}

func TestRevisitRecord(t *testing.T) {
	due := noon.AddDate(0, 1, 0)
	for _, test := range []struct{ name, outcome, want string }{
		{"validators, digest and interval",
			`{"v":1,"url":"http://a.org/","generation":1,"via":"http://v.org/","priority":0.5,"retries":2,"timestamp":"2026-11-20T12:00:00Z","status_code":200,"headers":{"etag":["\"x\""],"last-modified":["Tue, 10 Nov 2026 12:00:00 GMT"]},"digest":"sha1:A","score":0.5}`,
			`{"v":1,"url":"http://a.org/","generation":5,"depth":0,"via":"http://v.org/","priority":0.5,"etag":"\"x\"","last_modified":"Tue, 10 Nov 2026 12:00:00 GMT","last_digest":"sha1:A","visits":1,"interval":86400`},
		{"304: those of before",
			`{"v":1,"url":"http://a.org/","generation":2,"etag":"\"x\"","last_digest":"sha1:A","visits":1,"interval":100000,"timestamp":"2026-11-20T12:00:00Z","status_code":304}`,
			`{"v":1,"url":"http://a.org/","generation":5,"depth":0,"etag":"\"x\"","last_digest":"sha1:A","visits":2,"interval":140000`},
		{"of a redirect they are not of this address",
			`{"v":1,"url":"http://a.org/","generation":2,"timestamp":"2026-11-20T12:00:00Z","final_url":"http://b.org/","status_code":200,"headers":{"etag":["\"x\""]},"digest":"sha1:A"}`,
			`{"v":1,"url":"http://a.org/","generation":5,"depth":0,"last_digest":"sha1:A","visits":1,"interval":604800`},
	} {
		s := open(t, t.TempDir(), Options{})
		add(t, s, test.outcome)
		got := next(t, s, Request{N: 9, Generation: 5, Now: due, Recrawl: true})
		if !strings.HasPrefix(got, test.want) || strings.Contains(got, "status_code") || strings.Contains(got, "score") || strings.Contains(got, "b.org") {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
		closeStore(t, s)
	}
}

func TestFailedRevisitsKeepAPageVisited(t *testing.T) {
	web := []*site{{url: "http://a.org/", down: noon.AddDate(0, 0, 3)}}
	simulate(t, web, 60, func(s *Store, now time.Time) {
		if id, ok := s.lookup("http://a.org/"); !ok || s.state(id, now) != Visited {
			t.Fatalf("%v: it is %v", now, s.state(id, now))
		}
	})
	if n := len(web[0].visits); n < 8 || n > 14 {
		t.Errorf("asked %d times: four times at once, then by its interval", n)
	}
}

func TestExportOfAFailedRevisit(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s,
		`{"v":1,"url":"http://a.org/","generation":1,"retries":3,"timestamp":"2026-11-20T12:00:00Z","status_code":200,"digest":"sha1:A"}`,
		`{"v":1,"url":"http://a.org/","generation":2,"last_digest":"sha1:A","visits":1,"interval":604800,"timestamp":"2026-11-27T12:00:00Z","error":"timeout"}`)
	want := export(t, s, noon)
	if len(want) != 1 || !strings.Contains(want[0], `"error":"timeout","state":"visited"`) {
		t.Fatalf("exported: %s", want)
	}
	other := open(t, t.TempDir(), Options{})
	defer closeStore(t, other)
	add(t, other, want...)
	if diff := cmp.Diff(want, export(t, other, noon)); diff != "" {
		t.Error(diff)
	}
	soon := time.Date(2026, 11, 27, 12, 1, 0, 0, time.UTC)
	for _, s := range []*Store{s, other} {
		if got := next(t, s, Request{N: 9, Generation: 3, Now: soon.Add(-time.Second), Recrawl: true}); got != "" {
			t.Errorf("too early: %s", got)
		}
		got := next(t, s, Request{N: 9, Generation: 4, Now: soon, Recrawl: true})
		if !strings.Contains(got, `"retries":1,"last_digest":"sha1:A","visits":1,"interval":604800`) {
			t.Errorf("leased: %s", got)
		}
	}
}

func TestLastModMakesAPageDue(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s, `{"v":1,"url":"http://a.org/","generation":1,"timestamp":"2026-11-20T12:00:00Z","status_code":200}`)
	tomorrow := Request{N: 9, Now: noon.AddDate(0, 0, 1), Recrawl: true}
	for i, test := range []struct {
		line string
		v    Verdict
		want string
	}{
		{`{"v":1,"url":"http://a.org/","lastmod":"2026-11-20"}`, Known, ""},
		{`{"v":1,"url":"http://a.org/","lastmod":"2026-11-20T11:59:59+00:00"}`, Known, ""},
		{`{"v":1,"url":"http://a.org/","lastmod":"nonsense"}`, Known, ""},
		{`{"v":1,"url":"http://new.org/","lastmod":"2026-11-21"}`, Changed, "new.org/"},
		{`{"v":1,"url":"http://a.org/","lastmod":"2026-11-21"}`, Changed, "a.org/ new.org/"},
		{`{"v":1,"url":"http://a.org/","lastmod":"2026-11-21"}`, Known, "a.org/ new.org/"},
		{`{"v":1,"url":"http://a.org/","generation":5,"visits":1,"interval":604800,"timestamp":"2026-11-21T12:00:00Z","status_code":304}`, Changed, "new.org/"},
	} {
		if v := add(t, s, test.line); v[0] != test.v {
			t.Errorf("%s: %v, want %v", test.line, v[0], test.v)
		}
		tomorrow.Generation = i + 1
		if got := urls(next(t, s, tomorrow)); got != test.want {
			t.Errorf("after %s: %q, want %q", test.line, got, test.want)
		}
	}
}

// randomRevisits returns records as a crawl with Recrawl may add them.
func randomRevisits(rng *rand.Rand, n int) []string {
	lines := randomRecords(rng, n)
	for i, line := range lines {
		var b bytes.Buffer
		b.WriteString(strings.TrimSuffix(line, "}"))
		if rng.IntN(3) > 0 {
			fmt.Fprintf(&b, `,"visits":%d,"interval":%d,"last_digest":"sha1:%d"`, rng.IntN(4), rng.IntN(3)*100_000, rng.IntN(3))
		}
		if strings.Contains(line, "status_code") {
			fmt.Fprintf(&b, `,"timestamp":"2026-11-20T12:%02d:00Z","digest":"sha1:%d"`, rng.IntN(60), rng.IntN(3))
		} else if rng.IntN(4) == 0 && !strings.Contains(line, "error") {
			fmt.Fprintf(&b, `,"not_before":"2026-11-20T12:%02d:00Z"`, rng.IntN(60))
		}
		lines[i] = b.String() + "}"
	}
	return lines
}

// Neither the order of the records matters, nor repetitions, nor whether the store is opened again
// between them.
func TestOrderAndRepetitionDoNotMatter(t *testing.T) {
	for seed := range rounds(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		records := randomRevisits(rng, 60)
		var want []string
		for round := range 4 {
			dir := t.TempDir()
			s := open(t, dir, Options{segmentSize: 4000})
			for i, r := range records {
				add(t, s, r)
				if rng.IntN(5) == 0 {
					add(t, s, records[rng.IntN(i+1)])
				}
				if rng.IntN(20) == 0 {
					closeStore(t, s)
					s = open(t, dir, Options{segmentSize: 4000})
				}
			}
			got := export(t, s, noon)
			if round == 0 {
				other := open(t, t.TempDir(), Options{}) // adding the export gives the same state
				add(t, other, got...)
				if diff := cmp.Diff(got, export(t, other, noon)); diff != "" {
					t.Fatalf("seed %d, exported and added:\n%s", seed, diff)
				}
				closeStore(t, other)
			}
			for id := range uint32(s.x.len()) { // state that is not exported
				if s.x.isKnown(id) {
					p := s.x.history(id)
					got = append(got, fmt.Sprintln(s.x.url(id), p.due, p.retries, p.class, p.visits, s.x.isRecrawlable(id)))
				}
			}
			slices.Sort(got)
			if round == 0 {
				want = got
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, round %d:\n%s", seed, round, diff)
			}
			closeStore(t, s)
			if round == 1 {
				os.Remove(filepath.Join(dir, snapshotName))
				checkSound(t, dir)
			}
			rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		}
	}
}

// A failure without a timestamp delays nothing and ends nothing.
func TestFailedRevisitWithoutTimestampIsRetried(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	add(t, s, `{"v":1,"url":"http://a.org/","status_code":200,"timestamp":"2026-11-01T00:00:00Z"}`)
	for g := range 3 {
		if got := urls(next(t, s, Request{N: 1, Generation: g + 1, Recrawl: true})); got != "a.org/" {
			t.Fatalf("generation %d: %q", g+1, got)
		}
		add(t, s, fmt.Sprintf(`{"v":1,"url":"http://a.org/","generation":%d,"visits":1,"retries":%d,"error":"timeout"}`, g+1, g))
	}
	closeStore(t, s)
}
