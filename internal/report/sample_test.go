package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"spoor/internal/report"
)

// sampleRun makes up a judged run with the maximal size of all lists, the same for the same
// seed.
func sampleRun(name string, seed uint64) *report.Run {
	rng := rand.New(rand.NewPCG(seed, 1))
	const fetched, all, bound = 1145, 640, 20
	r := &report.Run{
		Name: name, Topic: "cryptography: ciphers, hashes, certificates, TLS", Strategy: "niche",
		Settings:   []report.Setting{{Name: "strategy", Value: "niche"}, {Name: "seed", Value: "1"}, {Name: "size", Value: "20"}, {Name: "compat", Value: "no"}, {Name: "fitness", Value: "vsm"}, {Name: "param", Value: "lazy=true"}},
		StopReason: "pages", First: "2026-11-19T08:00:00.000Z", Last: "2026-11-20T08:00:00.000Z",
		Records: 1190, Fetched: fetched, Failed: 41, NeedsBrowser: 12, Seconds: 93.4, Judged: true,
		HostsTotal: 57,
	}
	operators := []string{"crossover", "child", "mutation", "restart", "seed"}
	shares := []float64{.44, .3, .16, .08, .02}
	luck := []float64{.55, .38, .2, .25, .8}
	niches := []string{"www.cs.example.edu/users/faculty/", "www.math.example.edu/courses/2026/", "www.example.org/", "lists.example.org/archive/2024/", "a-very-long-name-of-a-host.department.university.example.ac.uk/~someone/teaching/", "www.example.com/docs/", "wiki.example.net/", "ftp.example.edu/pub/", report.Rest}
	for _, o := range operators {
		r.Operators = append(r.Operators, report.Yield{Name: o})
	}
	for _, n := range niches {
		r.Niches = append(r.Niches, report.Yield{Name: n})
	}
	cost, hits := 0, 0
	for g := 1; cost < fetched; g++ {
		n := min(bound, fetched-cost)
		gen := report.Generation{First: g, Last: g, Fetched: n}
		fade := 1 / (1 + float64(g)/70)
		ops, ns := make([]report.Yield, len(operators)), make([]report.Yield, len(niches))
		for range n {
			cost++
			o, x := 0, rng.Float64()
			for o < len(shares)-1 && x > shares[o] {
				x -= shares[o]
				o++
			}
			if g == 1 {
				o = 4
			} else if o == 4 {
				o = 0
			}
			k := min(int(math.Abs(rng.NormFloat64())*3), len(niches)-1)
			ops[o].Fetched++
			ns[k].Fetched++
			if rng.Float64() < luck[o]*fade*(1.3-float64(k)/10) {
				hits++
				gen.Relevant++
				ops[o].Relevant++
				ns[k].Relevant++
			}
			if cost%6 == 1 || cost == fetched {
				r.Curves.Cost = append(r.Curves.Cost, cost)
				r.Curves.Run = append(r.Curves.Run, float64(hits))
			}
		}
		for i := range ops {
			ops[i].Name = operators[i]
			r.Operators[i].Fetched += ops[i].Fetched
			r.Operators[i].Relevant += ops[i].Relevant
		}
		for i := range ns {
			ns[i].Name = niches[i]
			r.Niches[i].Fetched += ns[i].Fetched
			r.Niches[i].Relevant += ns[i].Relevant
		}
		gen.Operators, gen.Niches = ops, ns
		r.Generations = append(r.Generations, gen)
	}
	r.Relevant, r.SelfRelevant = hits, hits*5/4
	c := &r.Curves
	c.By, c.R = report.ByLabels, all
	for _, x := range c.Cost {
		f := float64(x)
		c.Random = append(c.Random, f*.11)
		c.RandomLow = append(c.RandomLow, max(0, f*.11-2.2*math.Sqrt(f*.5)))
		c.RandomHigh = append(c.RandomHigh, f*.11+2.2*math.Sqrt(f*.5))
		best := all * (1 - math.Exp(-f/330))
		c.Clairvoyant = append(c.Clairvoyant, min(f, best))
		c.Bound = append(c.Bound, min(f, best*1.06, all))
		c.Seeing = append(c.Seeing, min(f, best*.83))
		c.SeeingChildren = append(c.SeeingChildren, min(f, best*.88))
	}
	r.Measures = &report.Measures{T: fetched, R: all, Cost: fetched, Reachable: 5200, Label: "course", Graph: "archive",
		Harvest: float64(hits) / fetched, Recall: float64(hits) / all, NAUC: .58, AUCClairvoyant: .66, AUCBound: .6,
		Cost50: 811, RelevantHosts: 22, SelfHarvest: .5, MeanScore: .2,
		Seeing: &report.Reference{NAUC: .8}, SeeingChildren: &report.Reference{NAUC: .85}, ClairvoyantRecall: .97}
	for i := range 40 {
		f := max(1, 220/(i+1)+rng.IntN(9))
		r.Hosts = append(r.Hosts, report.Host{Name: fmt.Sprintf("www%d.department.example.edu", i), Fetched: f, Failed: rng.IntN(4) * (i % 2), Relevant: f * (7 - i%7) / 14, MedianMS: 40 + rng.IntN(800)})
	}
	for i := range 14 {
		r.Slowest = append(r.Slowest, report.Host{Name: fmt.Sprintf("slow%d.example.org", i), Fetched: 20, MedianMS: 9000 / (i + 1)})
	}
	r.Errors = []report.Count{{Name: "status 404", N: 22}, {Name: "timeout", N: 9}, {Name: "connect", N: 6}, {Name: "status 503", N: 4}}
	r.Skipped = []report.Count{{Name: "robots", N: 31}, {Name: "budget", N: 14}, {Name: "not_archived", N: 3}, {Name: "parse: body is not text", N: 2}}
	r.Verdicts = []report.Count{{Name: "relevant", N: hits}, {Name: "irrelevant", N: fetched - hits - 90}, {Name: "unlabelled", N: 20}, {Name: "repeated", N: 70}, {Name: "free", N: 45}}
	r.Fitness = report.Histogram{Measure: "vsm", Threshold: .05}
	for i := range 25 {
		f := float64(i)
		r.Fitness.Bins = append(r.Fitness.Bins, report.Bin{From: f * .02, To: (f + 1) * .02,
			Relevant: int(70 * math.Exp(-(f-7)*(f-7)/40)), Irrelevant: int(150 * math.Exp(-f/3)), Unlabelled: 4 / (i + 1)})
	}
	r.TableTotal, r.Growth = 57, &report.Growth{Limit: .7, Pages: 3, Known: 2, Words: 1}
	r.Table = []report.Word{
		{Word: "cipher", Weight: .71, Origin: "expansion", URL: "https://www1.department.example.edu/~someone/", Href: "https://www1.department.example.edu/~someone/"},
		{Word: "cryptography", Weight: 1, Origin: "query"},
		{Word: "lecture", Weight: .9, Origin: "page"},
	}
	r.PagesTotal = hits
	for i := range min(hits, report.MaxPages) {
		p := report.Found{URL: fmt.Sprintf("https://www%d.department.example.edu/~someone/teaching/2026/course-%d/index.html", i%40, i), Title: fmt.Sprintf("Course %d: elliptic curves, certificates and the hashes of spring", i),
			Score: .5 / (1 + float64(i)/90), Generation: 2 + i%50, Depth: 1 + i%5, Operator: operators[i%4], Niche: niches[i%8]}
		p.Href = p.URL
		for k := range 1 + i%5 {
			s := report.Step{URL: fmt.Sprintf("https://www%d.department.example.edu/~someone/step-%d.html", i%40, k), Known: true, Title: fmt.Sprintf("Step %d on the way", k), Generation: 50 - k,
				Operator: operators[(i+k)%4], Score: .3, Relevant: k%2 == 0, Reasons: []report.Reason{{Name: "crossover", Value: 1.2345}, {Name: "pages", Value: 4}}}
			if k == 0 {
				s.URL, s.Title = p.URL, p.Title
				s.Parents = []string{"https://example.org/a", "https://example.org/b", "https://example.org/c"}
			}
			if k == 3 {
				s.Omitted = 7
			}
			p.Lineage = append(p.Lineage, s)
		}
		r.Pages = append(r.Pages, p)
	}
	return r
}

// unjudged returns a run without a judge and without niches, on one host.
func unjudged(r *report.Run) *report.Run {
	r.Judged, r.Measures, r.Verdicts, r.Niches = false, nil, nil, nil
	c := &r.Curves
	r.Curves = report.Curves{By: report.ByMeasure, Cost: c.Cost, Run: c.Run}
	r.Relevant = r.SelfRelevant
	for i := range r.Generations {
		r.Generations[i].Niches = nil
	}
	for i, b := range r.Fitness.Bins {
		r.Fitness.Bins[i] = report.Bin{From: b.From, To: b.To, Unlabelled: b.Relevant + b.Irrelevant}
	}
	r.Hosts, r.HostsTotal, r.Slowest, r.Errors = r.Hosts[:1], 1, nil, nil
	r.Growth, r.Expands, r.Table, r.TableTotal = nil, true, r.Table[1:], 2
	return r
}

// by returns the run with another name of its measure.
func by(measure string, r *report.Run) *report.Run {
	r.Fitness.Measure = measure
	return r
}

// sampleComparison makes up a comparison of all strategies in two tracks.
func sampleComparison() *report.Comparison {
	rng := rand.New(rand.NewPCG(7, 1))
	c := &report.Comparison{Name: "results", Reference: "bestfirst", Measure: "nauc", Title: "nAUC", Meaning: "the area under recall over cost, where 0 is a random crawl and 1 a clairvoyant one", Tie: .01}
	names := []string{"linearq", "niche", "anthelion", "apprentice", "tagpath", "shark", "bestfirst", "bestn", "tunnel", "symbiosis", "infospiders", "qinchen", "gcrawler", "antnet", "jaccard", "fish", "hits", "pagerank", "indegree", "breadthfirst", "random", "depthfirst"}
	for _, name := range []string{"E", "K"} {
		t := report.Track{Name: name, Runs: 660, Units: 30, Topics: []string{"webkb-course", "webkb-faculty", "webkb-student", "planetmath-11", "planetmath-05"}, Costs: []int{100, 200, 500, 1000}, Seeing: .79, SeeingChildren: .84}
		for i, n := range names {
			m := .62 - float64(i)*.035 + .02*rng.NormFloat64()
			s := report.Strategy{Name: n, Units: 30, Mean: m, Low: m - .06 - .02*rng.Float64(), High: m + .06, A12: .5 + (m-.4)*.8, P: math.Abs(m-.4) * .01, Wins: 20 - i/2, Ties: 3, Losses: 7 + i/2}
			s.Difference, s.DiffLow, s.DiffHigh = m-.4, m-.45, m-.36
			s.Wins, s.Losses = int(15+30*(m-.4)), int(12-30*(m-.4))
			if n == c.Reference {
				s.A12, s.P = math.NaN(), math.NaN()
				s.Difference, s.DiffLow, s.DiffHigh = math.NaN(), math.NaN(), math.NaN()
				s.Wins, s.Ties, s.Losses = 0, 0, 0
			} else if math.Abs(m-.41) < .06 {
				s.P = .3
			}
			for range t.Topics {
				s.Topics = append(s.Topics, m+.07*rng.NormFloat64())
			}
			for k := range t.Costs {
				s.Harvest = append(s.Harvest, max(0.02, m*(1.2-.2*float64(k))+.03*rng.NormFloat64()))
			}
			t.Strategies = append(t.Strategies, s)
		}
		c.Tracks = append(c.Tracks, t)
	}
	return c
}

// withoutTable returns the run of a topic that is only words.
func withoutTable(r *report.Run) *report.Run {
	r.Table, r.TableTotal, r.Growth = nil, 0, nil
	return r
}
