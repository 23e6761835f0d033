package frontier

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/trap"
	"spoor/internal/wire"
)

// skippedURLs returns the skipped URLs, each with its reason.
func skippedURLs(t testing.TB, s *Store) map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Export(&b, noon, Skipped); err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for line := range strings.Lines(b.String()) {
		var rec wire.Record
		if err := decode([]byte(strings.TrimSuffix(line, "\n")), &rec); err != nil {
			t.Fatal(err)
		}
		m[strings.Clone(strings.TrimPrefix(rec.URL, "http://"))] = strings.Clone(rec.Error)
	}
	return m
}

func linkRecord(url string, priority float64) string {
	return fmt.Sprintf(`{"v":1,"url":"http://%s","operator":"link","priority":%g}`, url, priority)
}

func outcomeRecord(url string, generation int, hash uint64) string {
	return fmt.Sprintf(`{"v":1,"url":"http://%s","generation":%d,"status_code":200,"simhash":"%016x"}`, url, generation, hash)
}

// linkOn returns a link on the page via.
func linkOn(url, via string, priority float64) string {
	return fmt.Sprintf(`{"v":1,"url":"http://%s","via":"http://%s","operator":"link","priority":%g}`, url, via, priority)
}

// trapRecords returns links with traps of all kinds but duplicates.
func trapRecords() (lines []string) {
	for i := range 150 {
		lines = append(lines,
			linkOn(fmt.Sprintf("a.org/cal/%d/%d/", 1950+i, 1+i%12), "a.org/cal/2000/1/", float64(i)),
			linkOn(fmt.Sprintf("a.org/archive/%d/%d/", 1950+i, 1+i%12), "a.org/archive/", 1),
			linkOn(fmt.Sprintf("a.org/listed?colour=%d&size=%d&sort=%d", i%10, i/10%5, i/50), "a.org/list", 1),
			linkRecord(fmt.Sprintf("a.org/news/%d/%d/%c%c", 1950+i, 1+i%12, 'a'+i/26, 'a'+i%26), 1),
			linkRecord(fmt.Sprintf("a.org/view?id=%d&op=show", i), 1),
			linkOn(fmt.Sprintf("a.org/shop?colour=%d&size=%d&sort=%d", i%10, i/10%5, i/50), "a.org/shop", float64(-i)))
	}
	for i := range 4 {
		lines = append(lines,
			linkRecord(fmt.Sprintf("c.org/%c/about/us/", 'a'+i), 1),
			linkOn(fmt.Sprintf("c.org/%c/about/us/about/us/", 'a'+i), fmt.Sprintf("c.org/%c/about/us/", 'a'+i), 1))
	}
	return append(lines,
		linkRecord("c.org/about/us/", 1),
		linkRecord("c.org/e/about/us/team/", 1),
		linkRecord("c.org/e/about/", 1),
		linkRecord("b.org/abc/abc/abc/", 1),
		linkRecord("b.org/"+strings.Repeat("x", 3000), 1),
		linkRecord("b.org"+strings.Repeat("/x/y", 12), 1),
		linkRecord("b.org/page", 1),
		linkRecord("b.org/page;jsessionid=0123456789ABCDEF", 2),
		linkRecord("b.org/other;jsessionid=0123456789ABCDEF", 2),
		linkRecord("b.org/other;jsessionid=0123456789ABCDE0", 3),
		`{"v":1,"url":"http://b.org/seed/seed/seed/","operator":"seed","priority":9}`)
}

func TestTrapsAreExcluded(t *testing.T) {
	s := open(t, t.TempDir(), Options{ExcludeTraps: true})
	add(t, s, trapRecords()...)
	commit(t, s)
	got := skippedURLs(t, s)
	counts := map[string]int{}
	for _, reason := range got {
		counts[reason]++
	}
	want := map[string]int{
		string(trap.Calendar): 150 - maxDates, string(trap.Parameters): 150 - (10 + 5 + 3) - maxCombinations,
		string(trap.Repetition): 1 + 4 + 4 + 1, string(trap.Length): 1, string(trap.Depth): 1, string(trap.Session): 2,
	}
	if d := cmp.Diff(want, counts); d != "" {
		t.Error(d)
	}
	for url, reason := range map[string]string{
		"a.org/cal/1950/1/":                       "trap_calendar", // has the lowest priority
		"a.org/cal/2099/6/":                       "",
		"b.org/page":                              "",
		"c.org/about/us/":                         "",
		"c.org/e/about/":                          "",
		"c.org/e/about/us/team/":                  "trap_repetition",
		"b.org/seed/seed/seed/":                   "", // a seed
		"b.org/abc/abc/abc/":                      "trap_repetition",
		"b.org/other;jsessionid=0123456789ABCDE0": "",
	} {
		if got[url] != reason {
			t.Errorf("%s: %q, want %q", url, got[url], reason)
		}
	}
	st, err := s.Stats(noon)
	if err != nil || st.Reasons["trap_calendar"] != 150-maxDates || st.States["skipped"] != len(got) || s.Excluded() != len(got) {
		t.Errorf("%+v, excluded %d, %v", st, s.Excluded(), err)
	}
	if strings.Contains(next(t, s, Request{N: 1000, Generation: 1}), "cal/1950/1/") {
		t.Error("an excluded URL was leased")
	}
	closeStore(t, s)
}

// Proposing an excluded URL again changes nothing, unless it is a seed.
func TestSeedOverridesExclusion(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{ExcludeTraps: true})
	add(t, s, linkRecord("b.org/abc/abc/abc/", 1))
	s.Commit()
	add(t, s, `{"v":1,"url":"http://b.org/abc/abc/abc/","generation":7,"operator":"link","priority":5}`)
	s.Commit()
	if got := urls(next(t, s, Request{N: 9, Generation: 8})); got != "" {
		t.Errorf("leased: %s", got)
	}
	add(t, s, `{"v":1,"url":"http://b.org/abc/abc/abc/","generation":8,"operator":"seed","priority":5}`)
	s.Commit()
	if got := urls(next(t, s, Request{N: 9, Generation: 9})); got != "b.org/abc/abc/abc/" {
		t.Errorf("leased: %s", got)
	}
	closeStore(t, s)
	checkReplay(t, dir)
}

// checkReplay checks that replaying the log, and adding an export, give the same state without
// applying the trap rules.
func checkReplay(t *testing.T, dir string) {
	t.Helper()
	f, err := Check(dir, Options{}, false)
	if err != nil || f.Wrong() {
		t.Errorf("check: %+v, %v", f, err)
	}
	s := open(t, dir, Options{})
	before := export(t, s, noon)
	closeStore(t, s)
	for i := range before {
		before[i] = strings.Replace(before[i], `"leased"`, `"waiting"`, 1) // leases are not exported
	}
	s = open(t, t.TempDir(), Options{}) // without ExcludeTraps
	add(t, s, before...)
	s.Commit()
	if d := cmp.Diff(before, export(t, s, noon)); d != "" {
		t.Error("an export that is added again:", d)
	}
	closeStore(t, s)
}

func TestOrderOfTrapsDoesNotMatter(t *testing.T) {
	var want []string
	for seed := range uint64(8 / step(3)) {
		dir := t.TempDir()
		s := open(t, dir, Options{ExcludeTraps: true})
		r := rand.New(rand.NewPCG(seed, 0))
		lines := trapRecords()
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		lines = append(lines, lines[:r.IntN(len(lines))]...)
		if seed%2 == 1 { // kill the process, and add everything again
			add(t, s, lines[:r.IntN(len(lines))]...)
			if err := s.log.flush(); err != nil {
				t.Fatal(err)
			}
			s.abandon()
			s = open(t, dir, Options{ExcludeTraps: true})
		}
		add(t, s, lines...)
		s.Commit()
		got := export(t, s, noon)
		if want == nil {
			want = got
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
		closeStore(t, s)
		checkReplay(t, dir)
	}
}

// Accepted URLs of earlier generations count.
func TestTrapCountsSpanGenerations(t *testing.T) {
	dir := t.TempDir()
	var leased []string
	for g := range 5 {
		s := open(t, dir, Options{ExcludeTraps: true})
		for i := range 40 {
			add(t, s,
				linkOn(fmt.Sprintf("a.org/cal?month=%d", 40*g+i), "a.org/cal?month=1", float64(g)),
				linkOn(fmt.Sprintf("a.org/shop?colour=%d&size=%d", (40*g+i)%20, (40*g+i)/20), "a.org/shop?colour=1", 1))
		}
		leased = append(leased, strings.Fields(urls(next(t, s, Request{N: 30, Generation: g + 1})))...)
		closeStore(t, s)
	}
	s := open(t, dir, Options{ExcludeTraps: true})
	leased = append(leased, strings.Fields(urls(next(t, s, Request{N: 1000, Generation: 9})))...)
	slices.Sort(leased)
	leased = slices.Compact(leased) // URLs without outcome are leased again
	dates := len(slices.DeleteFunc(slices.Clone(leased), func(u string) bool { return !strings.Contains(u, "month") }))
	if dates != maxDates || len(leased)-dates != 20+10+maxCombinations {
		t.Errorf("%d dates and %d combinations were leased", dates, len(leased)-dates)
	}
	closeStore(t, s)
}

// That every topic has pages 2 to 4 combines two parameters but is no trap; that each can be
// seen in three ways is one.
func TestPagesOfForumTopicsAreNoTrap(t *testing.T) {
	s := open(t, t.TempDir(), Options{ExcludeTraps: true})
	var topics, pages []string
	for i := range 100 {
		topic := fmt.Sprintf("a.org/viewtopic.php?f=%d&t=%d", i%5, i)
		topics = append(topics, linkOn(topic, fmt.Sprintf("a.org/viewforum.php?f=%d", i%5), 1))
		for p := range 3 {
			pages = append(pages, linkOn(fmt.Sprintf("%s&start=%d", topic, 15*p+15), topic, 1),
				linkOn(fmt.Sprintf("%s&view=%c", topic, 'a'+p), topic, 0))
		}
	}
	add(t, s, topics...)
	s.Commit()
	add(t, s, pages...)
	s.Commit()
	counts := map[bool]int{}
	for url := range skippedURLs(t, s) {
		counts[strings.Contains(url, "start")]++
	}
	if counts[true] > 0 || counts[false] < 280 {
		t.Errorf("excluded: %d pages of topics and %d views", counts[true], counts[false])
	}
	closeStore(t, s)
}

// If there are too many parameter values none are counted, in any order of the URLs.
func TestParameterCountsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("counts a million parameter values")
	}
	const path = 7
	for _, more := range []int{0, 1} {
		for seed := range uint64(1 + more) {
			s := parameterCounts{map[trap.Key]*pathCounts{}, map[trap.Key]bool{}, map[trap.Key]int{}}
			queries := []string{"a=1", "b=2"}
			for i := range maxCounted/8 - 1 {
				var q strings.Builder
				for j := range 8 {
					fmt.Fprintf(&q, "%d=%d&", j, i)
				}
				queries = append(queries, q.String())
			}
			for i := range 5 + more { // together with the path, a and b: the limit, or one more
				queries = append(queries, fmt.Sprintf("c=%d", i))
			}
			rand.New(rand.NewPCG(seed, 1)).Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
			for i, q := range queries {
				if s.addNew(path, q); i%2 == 0 {
					s.addAccepted(path, q)
				}
			}
			if counted := s.paths != nil; counted != (more == 0) {
				t.Errorf("%d pairs too many: counted is %v", more, counted)
			}
			if more > 0 && (s.onlyRecombines(path, "a=1") || s.namesItem(path, "a=1") || len(s.pairs) > 0) {
				t.Error("something is counted still")
			}
		}
	}
}

// The months of an archive, accepted once, are not excluded when every month links to them all.
func TestAcceptedURLsStayAccepted(t *testing.T) {
	for _, reopen := range []bool{false, true} {
		dir := t.TempDir()
		s := open(t, dir, Options{ExcludeTraps: true})
		month := func(i int) string { return fmt.Sprintf("a.org/%d/%d/", 1990+i/12, 1+i%12) }
		for i := range 200 {
			add(t, s, linkOn(month(i), "a.org/", 1))
		}
		for g := 1; g <= 3; g++ {
			next(t, s, Request{N: 10, Generation: g})
			for i := range 201 { // the last is new
				add(t, s, strings.Replace(linkOn(month(i), month(g), float64(g)), `"v":1`, fmt.Sprintf(`"v":1,"generation":%d`, g+1), 1))
			}
			if reopen { // to replay the log
				s.Commit()
				s.abandon()
				s = open(t, dir, Options{ExcludeTraps: true})
			}
		}
		s.Commit()
		if got := skippedURLs(t, s); len(got) != 1 || got[month(200)] == "" {
			t.Errorf("excluded: %v", got)
		}
		closeStore(t, s)
		checkReplay(t, dir)
	}
}

func TestCopiesExcludeTheirDirectory(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{ExcludeTraps: true})
	add(t, s, linkRecord("a.org/good/x", 1), linkRecord("a.org/copies/late", -1), linkRecord("a.org/copies/later", -1), linkRecord("b.org/copies/x", -1))
	for i := range 20 {
		add(t, s, linkRecord(fmt.Sprintf("a.org/good/%c", 'a'+i), 1), linkRecord(fmt.Sprintf("a.org/copies/%c", 'a'+i), 1))
	}
	s.Commit()
	next(t, s, Request{N: 41, Generation: 1})
	for i := range 20 {
		add(t, s, outcomeRecord(fmt.Sprintf("a.org/good/%c", 'a'+i), 1, hash64(1, fmt.Sprint(i))), outcomeRecord(fmt.Sprintf("a.org/copies/%c", 'a'+i), 1, 1<<(i/19)))
	}
	add(t, s, linkRecord("a.org/copies/new", 5), linkRecord("a.org/good/new", 5))
	s.Commit()
	want := map[string]string{"a.org/copies/late": "trap_duplicates", "a.org/copies/later": "trap_duplicates", "a.org/copies/new": "trap_duplicates"}
	if d := cmp.Diff(want, skippedURLs(t, s)); d != "" {
		t.Error(d)
	}
	closeStore(t, s)
	checkReplay(t, dir)
	s = open(t, dir, Options{ExcludeTraps: true}) // fingerprints are known to the next process
	add(t, s, linkRecord("a.org/copies/newest", 5))
	s.Commit()
	if skippedURLs(t, s)["a.org/copies/newest"] == "" {
		t.Error("forgotten")
	}
	closeStore(t, s)
}

// Neither URLs that wait since before the trap was known, nor later ones added by another
// process, are requested.
func TestBrokenRelativeLinksAreExcluded(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{ExcludeTraps: true})
	add(t, s, linkRecord("a.org/late/about/us/", -1), linkRecord("a.org/about/us/", 1))
	for i := range 4 {
		add(t, s, linkRecord(fmt.Sprintf("a.org/%c/about/us/", 'a'+i), 1))
	}
	if got := urls(next(t, s, Request{N: 5, Generation: 1})); strings.Count(got, "about") != 5 {
		t.Fatalf("leased: %s", got)
	}
	for i := range 4 {
		address := fmt.Sprintf("a.org/%c/about/us/", 'a'+i)
		add(t, s, outcomeRecord(address, 1, hash64(1, address)), linkOn(address+"about/us/", address, 2))
	}
	closeStore(t, s)
	s = open(t, dir, Options{ExcludeTraps: true})
	add(t, s, linkRecord("a.org/later/about/us/", 5), linkRecord("a.org/later/about/", 5))
	closeStore(t, s)
	s = open(t, dir, Options{ExcludeTraps: true})
	got := skippedURLs(t, s)
	for i := range 4 {
		address := fmt.Sprintf("a.org/%c/about/us/about/us/", 'a'+i)
		if got[address] != "trap_repetition" {
			t.Errorf("%s: %q", address, got[address])
		}
	}
	if len(got) != 6 || got["a.org/late/about/us/"] != "trap_repetition" || got["a.org/later/about/us/"] != "trap_repetition" {
		t.Errorf("excluded: %v", got)
	}
	closeStore(t, s)
	checkReplay(t, dir)
}

// TestChangedURLsAreComplete compares with a store that checks all URLs each time.
func TestChangedURLsAreComplete(t *testing.T) {
	for seed := range uint64(6 / step(3)) {
		r := rand.New(rand.NewPCG(seed, 5))
		a, b := open(t, t.TempDir(), Options{ExcludeTraps: true}), open(t, t.TempDir(), Options{ExcludeTraps: true})
		lines := trapRecords()
		for range 60 {
			lines = append(lines, outcomeRecord(fmt.Sprintf("a.org/copies/%d", len(lines)), 1, 1), linkRecord(fmt.Sprintf("a.org/copies/%d", len(lines)+1), -3))
		}
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		excluded := 0
		for g := 1; len(lines) > 0; g++ {
			n := min(1+r.IntN(60), len(lines))
			op := r.IntN(8)
			for _, s := range []*Store{a, b} {
				add(t, s, lines[:n]...)
				if s == b {
					s.changed = changedURLs{}
				}
				commit(t, s)
				switch op {
				case 0:
					compact(t, s)
				case 1, 2:
					next(t, s, Request{N: 15, Generation: g})
				case 3:
					if _, err := s.Forget(Selection{Prefixes: []string{"http://a.org/cal/19"}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			lines = lines[n:]
			excluded = a.Excluded()
		}
		for _, s := range []*Store{a, b} { // only outcomes change
			add(t, s, linkRecord("d.org/copies/late", -9))
			for i := range 20 {
				add(t, s, linkRecord(fmt.Sprintf("d.org/copies/%c", 'a'+i), 999))
			}
			next(t, s, Request{N: 20, Generation: 900})
			for i := range 20 {
				add(t, s, outcomeRecord(fmt.Sprintf("d.org/copies/%c", 'a'+i), 900, 1))
			}
			if s == b {
				s.changed = changedURLs{}
			}
			commit(t, s)
		}
		if skippedURLs(t, a)["d.org/copies/late"] == "" {
			t.Error("what waited where copies were found waits still")
		}
		if d := cmp.Diff(export(t, b, noon), export(t, a, noon)); d != "" || excluded < 100 {
			t.Fatalf("seed %d, %d excluded: %s", seed, excluded, d)
		}
		closeStore(t, a)
		closeStore(t, b)
	}
}

// The names of the rules are in the vocabulary of errors.
func TestTrapRulesAreErrors(t *testing.T) {
	for _, r := range []trap.Rule{trap.Length, trap.Depth, trap.Repetition, trap.Session, trap.Calendar, trap.Parameters, trap.Duplicates} {
		rec := wire.Record{Error: string(r)}
		if !rec.Excluded() || !rec.Final() || !rec.Free() {
			t.Errorf("%s is not an error of excluded URLs", r)
		}
	}
}

// Writing a snapshot commits, and committing excludes traps, which adds records. That must not
// start another snapshot.
func TestSnapshotWithTrapsPending(t *testing.T) {
	s := open(t, t.TempDir(), Options{ExcludeTraps: true})
	add(t, s, `{"v":1,"url":"http://a.org/x/x/x/x/x/x/x/x/x/"}`, `{"v":1,"url":"http://a.org/a/b/a/b/a/b/a/b/a/b/"}`)
	s.snapshotAt = s.log.written - snapshotInterval
	add(t, s, `{"v":1,"url":"http://a.org/next"}`)
	if n := s.Excluded(); n != 2 || s.snapshotAt < 0 {
		t.Errorf("%d excluded; snapshot at %d", n, s.snapshotAt)
	}
	closeStore(t, s)
}

// Compaction gives older lines higher segment numbers; the last batch stays the last.
func TestLastBatchAfterCompaction(t *testing.T) {
	s := open(t, t.TempDir(), Options{ExcludeTraps: true})
	q := Request{N: 1, Generation: -1, Lease: 1e12}
	add(t, s, `{"v":1,"url":"http://a.org/"}`, `{"v":1,"url":"http://a.org/","generation":1}`)
	next(t, s, q)
	if c := compact(t, s); c.Dropped != 1 {
		t.Fatalf("%+v", c)
	}
	add(t, s, `{"v":1,"url":"http://b.org/"}`)
	next(t, s, q)
	if s.lastBatch.segment() != s.log.number {
		t.Errorf("the latest batch is said to be in %s, not in %s", segmentName(s.lastBatch.segment()), segmentName(s.log.number))
	}
	closeStore(t, s)
}

// A repeated path segment shows a broken relative link only if the URL was found where such a
// link would be: not on another site, and not in one directory.
func TestRepeatedSegmentAloneIsNoTrap(t *testing.T) {
	s := open(t, t.TempDir(), Options{ExcludeTraps: true})
	add(t, s, linkOn("victim.org/shop/docs/", "victim.org/shop/", 1), linkOn("victim.org/shop/docs/manual.html", "victim.org/shop/docs/", 1))
	for i := range 8 {
		add(t, s,
			linkOn(fmt.Sprintf("victim.org/no%d/docs/docs/", i), "evil.org/", -9),
			linkOn(fmt.Sprintf("a.org/proj/data/data/?C=N;O=%d", i), "a.org/proj/data/data/", 1),
			linkOn(fmt.Sprintf("hub.org/kube/kube/issues?page=%d", i), "hub.org/kube/kube/issues", 1))
	}
	add(t, s, linkRecord("a.org/other/data/report.html", 1), linkRecord("a.org/proj/data/", 1), linkRecord("a.org/proj/data/data/x.html", 1), linkRecord("hub.org/kube/kube/issues", 1))
	commit(t, s)
	for url, reason := range skippedURLs(t, s) {
		t.Errorf("%s is excluded: %s", url, reason)
	}
	closeStore(t, s)
}
