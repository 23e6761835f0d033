package frontier

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spoor/internal/wire"
)

var million = flag.Bool("million", false, "measure fairness with one host of a million links and 1,000 hosts of ten, and print the table")

// A skewedWeb has one big host and many small ones of ten links each.
type skewedWeb struct {
	big, small int
	priorities string
}

// store creates a store of the web. The big host comes first in the alphabet, so it wins
// every tie.
func (w skewedWeb) store(t testing.TB, dir string) {
	s := open(t, dir, Options{})
	var rec wire.Record
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range w.big + 10*w.small {
		u, priority := fmt.Sprintf("http://big.example/%07d", i), 0.5
		if i >= w.big {
			u = fmt.Sprintf("http://host%04d.example/%d", (i-w.big)/10, i%10)
		}
		switch {
		case w.priorities == "better" && i < w.big:
			priority = 0.9
		case w.priorities == "drawn alike":
			priority = rng.Float64()
		}
		rec.Reset()
		rec.URL, rec.Priority = u, wire.Float{Value: priority, Kind: wire.Present}
		rec.Touch(wire.Address)
		if _, err := s.Add(&rec); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
}

// A generationShare describes the hosts after a generation.
type generationShare struct {
	share float64 // of the big host in the generation
	hosts int     // number asked so far
	left  int     // links of small hosts that wait
}

// crawl leases generations, and adds a page for each address.
func (w skewedWeb) crawl(t testing.TB, dir string, q Request, generations int) (all []generationShare) {
	s := open(t, dir, Options{})
	hosts, left := map[string]bool{}, 10*w.small
	for q.Generation = 1; q.Generation <= generations; q.Generation++ {
		var outcomes []string
		big := 0
		for u := range strings.FieldsSeq(urls(next(t, s, q))) {
			host, _, _ := strings.Cut(u, "/")
			hosts[host] = true
			if host == "big.example" {
				big++
			} else {
				left--
			}
			outcomes = append(outcomes, fmt.Sprintf(`{"v":1,"url":"http://%s","generation":%d,"status_code":200}`, u, q.Generation))
		}
		add(t, s, outcomes...)
		all = append(all, generationShare{float64(big) / float64(len(outcomes)), len(hosts), left})
	}
	closeStore(t, s)
	return all
}

// policies are the policies compared.
var policies = []struct {
	name string
	Request
}{
	{"priority alone", Request{}},
	{"`-per-host 10`", Request{PerHost: 10}},
	{"`-fair host`", Request{Fair: ByHost}},
}

// The command
//
//	go test ./internal/frontier -run OneSite -v -million
//
// prints how each policy shares generations among a host with a million links and a thousand others.
func TestOneSiteCannotFillAGeneration(t *testing.T) {
	for _, priorities := range []string{"the same", "better", "drawn alike"} {
		w, n, generations := skewedWeb{2000, 20, priorities}, 20, 12
		if *million {
			w, n, generations = skewedWeb{1_000_000, 1000, priorities}, 200, 100
		}
		dir := t.TempDir()
		w.store(t, filepath.Join(dir, "store"))
		for _, p := range policies {
			to := filepath.Join(dir, "copy")
			copyFiles(t, to, os.DirFS(filepath.Join(dir, "store")))
			p.N = n
			begun := time.Now()
			all := w.crawl(t, to, p.Request, generations)
			os.RemoveAll(to)
			if *million {
				var b strings.Builder
				for _, g := range []int{1, 10, 50, 100} {
					fmt.Fprintf(&b, " %.1f %% | %d | %d |", 100*all[g-1].share, all[g-1].hosts, all[g-1].left)
				}
				t.Logf("| %s | %s |%s %v", priorities, p.name, &b, time.Since(begun).Round(time.Second))
				continue
			}
			first, last := all[0], all[generations-1]
			switch p.name {
			case "priority alone":
				if priorities != "drawn alike" && (last.hosts != 1 || last.share != 1) {
					t.Errorf("%s, %s: %+v; the big host is expected to have it all", priorities, p.name, all)
				}
			case "`-per-host 10`":
				if first.share != 0.5 {
					t.Errorf("%s, %s: %+v; half is the limit", priorities, p.name, first)
				}
			default: // equal hosts get equal shares, until only the big one is left
				if first.share > 0.1 || first.hosts < 20 || last.hosts != w.small+1 || last.left > w.small {
					t.Errorf("%s, %s: %+v", priorities, p.name, all)
				}
			}
		}
	}
}
