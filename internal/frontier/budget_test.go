package frontier

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// leaseAll leases batches until nothing is left, and adds outcomes: most are pages, some fail
// once, some are forbidden, which costs nothing, and some get no outcome in their generation.
// It returns the number of different addresses requested, by host.
func leaseAll(t *testing.T, dir string, q Request, reopen bool) map[string]int {
	t.Helper()
	s := open(t, dir, Options{ExcludeTraps: true})
	cost := map[string]map[string]bool{}
	tried := map[string]int{}
	for q.Generation = 1; ; q.Generation++ {
		q.Now = noon.Add(time.Duration(q.Generation) * 48 * time.Hour)
		b, err := s.Next(q)
		if none, ok := errors.AsType[*NothingDue](err); ok {
			if !none.Earliest.IsZero() || none.Leased > 0 {
				t.Fatalf("generation %d: %v", q.Generation, none)
			}
			closeStore(t, s)
			counts := map[string]int{}
			for host, pages := range cost {
				counts[host] = len(pages)
			}
			return counts
		} else if err != nil {
			t.Fatal(err)
		}
		for u := range strings.FieldsSeq(urls(string(b))) {
			host, _, _ := strings.Cut(u, "/")
			if cost[host] == nil {
				cost[host] = map[string]bool{}
			}
			tried[u]++
			record := fmt.Sprintf(`{"v":1,"url":"http://%s","generation":%d,`, u, q.Generation)
			if n, ok := strings.CutPrefix(u, "b.org/"); ok {
				record += fmt.Sprintf(`"niche":"n%d",`, (n[len(n)-1]-'0')%2)
			}
			switch kind := hash64(3, u) % 8; {
			case kind == 0 && tried[u] == 1: // leased again
				continue
			case kind == 1 && tried[u] == 1:
				cost[host][u] = true
				add(t, s, record+`"error":"timeout","timestamp":"`+q.Now.Format(time.RFC3339)+`"}`)
			case kind == 2 && !strings.HasSuffix(u, "seed"):
				add(t, s, record+`"error":"robots"}`)
			default:
				cost[host][u] = true
				add(t, s, record+`"status_code":200}`)
			}
		}
		if reopen {
			closeStore(t, s)
			s = open(t, dir, Options{})
		}
	}
}

func TestBudgets(t *testing.T) {
	var want map[string]string
	for seed := range uint64(4) {
		dir := t.TempDir()
		s := open(t, dir, Options{})
		var lines []string
		for i := range 100 {
			lines = append(lines,
				linkRecord(fmt.Sprintf("a.org/%d", i), float64(i)),
				fmt.Sprintf(`{"v":1,"url":"http://b.org/%d","operator":"link","niche":"n%d","priority":%d}`, i, i%2, i))
		}
		lines = append(lines, linkRecord("c.org/1", 1), linkRecord("c.org/2", 1), `{"v":1,"url":"http://a.org/seed","operator":"seed","priority":-99}`)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		add(t, s, lines...)
		closeStore(t, s)
		got := leaseAll(t, dir, Request{N: 7, MaxPerHost: 20, MaxPerNiche: 9}, seed%2 == 1)
		// a.org is one niche, and its seed, which comes last, is not limited; b.org has two niches.
		if got["a.org"] != 9+1 || got["b.org"] != 18 || got["c.org"] < 1 {
			t.Errorf("leased: %v", got)
		}
		s = open(t, dir, Options{})
		skipped := skippedURLs(t, s)
		counts := map[string]int{}
		for _, reason := range skipped {
			counts[reason]++
		}
		if counts["niche_budget"] < 160 || skipped["a.org/0"] != "niche_budget" || skipped["a.org/99"] != "" {
			t.Errorf("%v", counts)
		}
		if st, _ := s.Stats(noon.AddDate(1, 0, 0)); st.States["waiting"] != 0 {
			t.Errorf("%d wait still", st.States["waiting"])
		}
		closeStore(t, s)
		checkReplay(t, dir)
		if want == nil {
			want = skipped
		}
		for u, reason := range want {
			if skipped[u] != reason {
				t.Errorf("seed %d: %s: %s, want %s", seed, u, skipped[u], reason)
			}
		}
		dir = t.TempDir()
		s = open(t, dir, Options{})
		add(t, s, lines...)
		closeStore(t, s)
		if got := leaseAll(t, dir, Request{N: 50, MaxPerHost: 12, Fair: ByHost}, false); got["a.org"] < 12 || got["a.org"] > 12+1 || got["b.org"] != 12 { // the seed counts
			t.Errorf("leased with a budget of hosts: %v", got)
		}
	}
}
