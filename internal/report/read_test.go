package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A run of three generations, worked out by hand. Costs are in brackets: a free record costs
// nothing, a query what it says, everything else 1.
//
//	generation 1  a.test/   [1] seed, 0.5, relevant     100 ms
//	              b.test/   [2] seed, status 404
//	generation 2  jazz      [4] a query, which costs 2
//	              a.test/x  [5] link from a.test/, 0.9, relevant     300 ms
//	              c.test/   [6] found by the query, 0.2
//	              d.test/       robots.txt forbids it
//	generation 3  a.test/y  [7] link from a.test/x, 0.8, relevant    200 ms
//	              c.test/z  [8] crossover of c.test/ and a.test/x, 0.4
//	              a.test/x  [9] again, which the measure calls relevant again
//	              nonsense      no record
//
// The labels say that a.test/, a.test/x and c.test/ are relevant, a.test/y is not, and
// nothing of c.test/z.
var (
	generations = []string{
		`{"url":"http://a.test/","generation":1,"operator":"seed","timestamp":"2026-01-01T00:00:01.000Z","status_code":200,"fetch_ms":100,"title":" Home\n of  jazz ","score":0.5,"relevant":true}
{"url":"http://b.test/","generation":1,"operator":"seed","timestamp":"2026-01-01T00:00:02.000Z","status_code":404}
`,
		`{"query":"jazz","generation":2,"cost":2,"parents":["http://a.test/"],"operator":"mutation","reasons":{"fitness":0.6}}
{"url":"http://a.test/x","generation":2,"depth":1,"via":"http://a.test/","operator":"link","niche":"a.test","reasons":{"anchor":0.7,"page":0.5},"timestamp":"2026-01-01T00:00:04.000Z","status_code":200,"fetch_ms":300,"title":"X","score":0.9,"relevant":true}
{"url":"http://c.test/","generation":2,"query":"jazz","parents":["http://a.test/"],"operator":"search","status_code":200,"final_url":"http://c.test/home","title":"C","score":0.2,"relevant":false}
{"url":"http://d.test/","generation":2,"operator":"link","error":"robots"}
`,
		`{"url":"http://a.test/y","generation":3,"depth":2,"via":"http://a.test/x","operator":"link","niche":"a.test","status_code":200,"fetch_ms":200,"title":"Y","score":0.8,"relevant":true}
{"url":"http://c.test/z","generation":3,"depth":1,"parents":["http://c.test/home","http://a.test/x"],"operator":"crossover","niche":"c.test","status_code":200,"score":0.4,"relevant":false}
nonsense
{"url":"http://a.test/x","generation":3,"operator":"link","status_code":200,"score":0.9,"relevant":true}
`,
	}
	opinion = `{"url":"http://a.test/","verdict":"relevant"}
{"url":"http://b.test/","verdict":"unlabelled"}
{"query":"jazz"}
{"url":"http://a.test/x","verdict":"relevant"}
{"url":"http://c.test/","query":"jazz","verdict":"relevant"}
{"url":"http://d.test/","verdict":"free"}
{"url":"http://a.test/y","verdict":"irrelevant"}
{"url":"http://c.test/z","verdict":"unlabelled"}
{"url":"http://a.test/x","verdict":"repeated"}
`
)

// source returns the run above, without a judge.
func source(faults *[]string) *Source {
	s := &Source{
		Name:       "hand",
		Settings:   []byte("strategy niche\nfitness vsm,bm25\nparam -param\nparam pc=0.5\narchive /somewhere/secret/web.warc.gz\nstage fetch fetch -archive web\nreplaced \nseeds 382789956 24\n"),
		Topic:      []byte(`{"query":"jazz\nmusic"}`),
		StopReason: []byte("pages\n"),
		Fault:      func(err error) { *faults = append(*faults, err.Error()) },
	}
	for i, lines := range generations {
		p := Part{Number: i + 1, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(lines)), nil }}
		if i < 2 {
			p.Stats = fmt.Appendf(nil, `{"seconds":%d.5,"hosts":%d}`, i+1, i+2)
		}
		s.Generations = append(s.Generations, p)
	}
	return s
}

var nan = cmpopts.EquateNaNs()

func TestRunWithoutJudge(t *testing.T) {
	var faults []string
	got := readRun(t, source(&faults))
	home := Step{URL: "http://a.test/", Known: true, Title: "Home of jazz", Generation: 1, Operator: "seed", Score: 0.5, Relevant: true}
	x := Step{
		URL: "http://a.test/x", Known: true, Title: "X", Generation: 2, Operator: "link",
		Score: 0.9, Relevant: true, Reasons: []Reason{{"anchor", 0.7}, {"page", 0.5}},
	}
	y := Step{URL: "http://a.test/y", Known: true, Title: "Y", Generation: 3, Operator: "link", Score: 0.8, Relevant: true}
	want := &Run{
		Name: "hand", Topic: "jazz music", Strategy: "niche", StopReason: "pages",
		Settings: []Setting{{"strategy", "niche"}, {"fitness", "vsm,bm25"}, {"param", "pc=0.5"}, {"archive", "web.warc.gz"}, {"stage fetch", "fetch -archive web"}},
		First:    "2026-01-01T00:00:01.000Z", Last: "2026-01-01T00:00:04.000Z",
		Records: 8, Fetched: 9, Queries: 2, Failed: 1, Relevant: 4, SelfRelevant: 4, Seconds: 4,
		Curves: Curves{
			By:   ByMeasure,
			Cost: []int{1, 2, 3, 4, 5, 6, 7, 8, 9},
			Run:  []float64{1, 1, 1, 1, 2, 2, 3, 3, 4},
		},
		Generations: []Generation{
			{
				First: 1, Last: 1, Fetched: 2, Relevant: 1,
				Operators: []Yield{{"link", 0, 0}, {"seed", 2, 1}, {"crossover", 0, 0}, {"search", 0, 0}},
				Niches:    []Yield{{"a.test", 0, 0}, {"c.test", 0, 0}},
			},
			{
				First: 2, Last: 2, Fetched: 4, Relevant: 1,
				Operators: []Yield{{"link", 1, 1}, {"seed", 0, 0}, {"crossover", 0, 0}, {"search", 1, 0}},
				Niches:    []Yield{{"a.test", 1, 1}, {"c.test", 0, 0}},
			},
			{
				First: 3, Last: 3, Fetched: 3, Relevant: 2,
				Operators: []Yield{{"link", 2, 2}, {"seed", 0, 0}, {"crossover", 1, 0}, {"search", 0, 0}},
				Niches:    []Yield{{"a.test", 1, 1}, {"c.test", 1, 0}},
			},
		},
		Operators: []Yield{{"link", 3, 3}, {"seed", 2, 1}, {"crossover", 1, 0}, {"search", 1, 0}},
		Niches:    []Yield{{"a.test", 2, 2}, {"c.test", 1, 0}},
		Signals: []Signal{ // of one page
			{"anchor", 1, 0.7, math.NaN(), math.NaN(), []float64{math.NaN()}},
			{"page", 1, 0.5, math.NaN(), math.NaN(), []float64{math.NaN()}},
		},
		HostsTotal: 3,
		Hosts: []Host{
			{Name: "a.test", Fetched: 4, Relevant: 4, MedianMS: 200},
			{Name: "c.test", Fetched: 2},
			{Name: "b.test", Fetched: 1, Failed: 1},
		},
		Slowest: []Host{{Name: "a.test", Fetched: 4, Relevant: 4, MedianMS: 200}},
		Errors:  []Count{{"status 404", 1}},
		Skipped: []Count{{"malformed", 1}, {"robots", 1}},
		Fitness: Histogram{
			Measure:   "vsm",
			Threshold: 0.45, // the next page that is not relevant has 0.4
			// 0.9, the highest, is less than 24 bins of 0.05.
			Bins: []Bin{
				{0, 0.05, 0, 0, 0}, {0.05, 0.1, 0, 0, 0}, {0.1, 0.15, 0, 0, 0}, {0.15, 0.2, 0, 0, 0},
				{0.2, 0.25, 0, 0, 1}, {0.25, 0.3, 0, 0, 0}, {0.3, 0.35, 0, 0, 0}, {0.35, 0.4, 0, 0, 0},
				{0.4, 0.45, 0, 0, 1}, {0.45, 0.5, 0, 0, 0}, {0.5, 0.55, 0, 0, 1}, {0.55, 0.6, 0, 0, 0},
				{0.6, 0.65, 0, 0, 0}, {0.65, 0.7, 0, 0, 0}, {0.7, 0.75, 0, 0, 0}, {0.75, 0.8, 0, 0, 0},
				{0.8, 0.85, 0, 0, 1}, {0.85, 0.9, 0, 0, 2},
			},
		},
		PagesTotal: 4,
		Pages: []Found{
			{URL: "http://a.test/x", Href: "http://a.test/x", Title: "X", Score: 0.9, Generation: 2, Depth: 1, Operator: "link", Niche: "a.test", Lineage: []Step{x, home}},
			{URL: "http://a.test/y", Href: "http://a.test/y", Title: "Y", Score: 0.8, Generation: 3, Depth: 2, Operator: "link", Niche: "a.test", Lineage: []Step{y, x, home}},
			{URL: "http://a.test/", Href: "http://a.test/", Title: "Home of jazz", Score: 0.5, Generation: 1, Operator: "seed", Lineage: []Step{home}},
		},
	}
	if d := cmp.Diff(want, got, nan); d != "" {
		t.Error(d)
	}
	if want := []string{"generation 3: line 3: 'n' at byte 1 where { is expected"}; !cmp.Equal(want, faults) {
		t.Errorf("%q, want %q", faults, want)
	}
}

// A run whose stage evolve was replaced is not one of the strategy of its settings.
func TestStrategyOfTheUser(t *testing.T) {
	for settings, want := range map[string]string{
		"strategy own\nreplaced evolve\n": "own", "strategy forage\nreplaced evolve\n": "own", // of an earlier version
		"replaced score\nreplaced evolve\nstrategy shortest\n": "shortest (own)",
	} {
		s := source(new([]string))
		s.Settings = []byte(settings)
		run := readRun(t, s)
		if i := slices.IndexFunc(run.Settings, func(s Setting) bool { return s.Name == "strategy" }); run.Strategy != want || run.Settings[i].Value != want {
			t.Errorf("%q: %q, %q", settings, run.Strategy, run.Settings)
		}
	}
}

func TestVerdicts(t *testing.T) {
	var faults []string
	s := source(&faults)
	s.Verdicts = strings.NewReader(opinion)
	got := readRun(t, s)
	if !got.Judged || got.Relevant != 3 || got.SelfRelevant != 4 {
		t.Errorf("judged %v, %d relevant and %d by the measure, want 3 and 4", got.Judged, got.Relevant, got.SelfRelevant)
	}
	want := Curves{By: ByLabels, Cost: []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, Run: []float64{1, 1, 1, 1, 2, 3, 3, 3, 3}}
	if d := cmp.Diff(want, got.Curves); d != "" {
		t.Error(d)
	}
	verdicts := []Count{{"relevant", 3}, {"irrelevant", 1}, {"unlabelled", 2}, {"repeated", 1}, {"free", 1}}
	if d := cmp.Diff(verdicts, got.Verdicts); d != "" {
		t.Error(d)
	}
	operators := []Yield{{"link", 3, 1}, {"seed", 2, 1}, {"crossover", 1, 0}, {"search", 1, 1}}
	if d := cmp.Diff(operators, got.Operators); d != "" {
		t.Error(d)
	}
	var bins []Bin
	for _, b := range got.Fitness.Bins {
		if b.Relevant+b.Irrelevant+b.Unlabelled > 0 {
			bins = append(bins, b)
		}
	}
	// b.test has no score, and the repeated page counts once.
	if d := cmp.Diff([]Bin{{0.2, 0.25, 1, 0, 0}, {0.4, 0.45, 0, 0, 1}, {0.5, 0.55, 1, 0, 0}, {0.8, 0.85, 0, 1, 0}, {0.85, 0.9, 1, 0, 0}}, bins); d != "" {
		t.Error(d)
	}
	c := Found{
		URL: "http://c.test/", Href: "http://c.test/", Title: "C", Score: 0.2, Generation: 2, Operator: "search",
		Lineage: []Step{{
			URL: "http://c.test/", Known: true, Title: "C", Generation: 2, Operator: "search", Query: "jazz", Reasons: []Reason{{"fitness", 0.6}},
			Parents: []string{"http://a.test/"}, Score: 0.2, Relevant: true,
		}},
	}
	if d := cmp.Diff(c, got.Pages[2]); d != "" || len(got.Pages) != 3 {
		t.Errorf("%d pages, the last\n%s", len(got.Pages), d)
	}
}

// c.test/z is found by the address to which its parent redirected.
func TestLineageFollowsRedirectsToAQuery(t *testing.T) {
	var faults []string
	s := source(&faults)
	s.Verdicts = strings.NewReader(strings.Replace(opinion, `z","verdict":"unlabelled"`, `z","verdict":"relevant"`, 1))
	got := readRun(t, s)
	for _, p := range got.Pages {
		if p.URL != "http://c.test/z" {
			continue
		}
		want := []Step{
			{
				URL: "http://c.test/z", Known: true, Generation: 3, Operator: "crossover",
				Parents: []string{"http://c.test/home", "http://a.test/x"}, Score: 0.4, Relevant: true,
			},
			{
				URL: "http://c.test/home", Known: true, Title: "C", Generation: 2, Operator: "search", Query: "jazz", Reasons: []Reason{{"fitness", 0.6}},
				Parents: []string{"http://a.test/"}, Score: 0.2, Relevant: true,
			},
		}
		if d := cmp.Diff(want, p.Lineage); d != "" {
			t.Error(d)
		}
		return
	}
	t.Error("the page is not there")
}

func TestLongLineageKeepsItsSeed(t *testing.T) {
	s := &Source{Name: "deep"}
	address := func(i int) string { return fmt.Sprintf("http://a.test/%d", i) }
	for i := range 30 {
		line := fmt.Sprintf(`{"url":"%s","generation":%d,"status_code":200,"score":%g,"relevant":true,"operator":"link","via":"%s"}`,
			address(i), i, float64(i)/100, address(i-1))
		if i == 0 {
			line = `{"url":"http://a.test/0","status_code":200,"score":0,"relevant":true,"operator":"seed"}`
		}
		s.Generations = append(s.Generations, Part{Number: i, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(line)), nil }})
	}
	got := readRun(t, s)
	lineage := func(i int) []Step { return got.Pages[29-i].Lineage }
	if steps := lineage(11); len(steps) != 12 || steps[11].Omitted != 0 || steps[11].Operator != "seed" {
		t.Errorf("of 12 steps there are %d, the last %+v", len(steps), steps[len(steps)-1])
	}
	if steps := lineage(29); len(steps) != 12 || steps[10].URL != address(19) || steps[11].Omitted != 18 || steps[11].Operator != "seed" {
		t.Errorf("of 30 steps there are %d, the last %+v", len(steps), steps[len(steps)-1])
	}
}

// A page that was fetched twice, the second time after a page that it led to, is not its own
// ancestor: only earlier records count.
func TestLineageOfRepeatedAddresses(t *testing.T) {
	s := &Source{Name: "twice"}
	for i, lines := range []string{
		`{"url":"http://a.test/","status_code":200,"operator":"seed","title":"first"}`,
		`{"url":"http://b.test/","status_code":200,"operator":"link","via":"http://a.test/","score":1,"relevant":true}`,
		`{"url":"http://a.test/","status_code":200,"operator":"link","via":"http://b.test/","title":"second"}` + "\n" +
			`{"url":"http://b.test/","error":"timeout"}` + "\n" +
			`{"url":"http://c.test/","status_code":200,"via":"http://nowhere.test/","score":0.1,"relevant":true}`,
		`{"url":"http://d.test/","status_code":200,"operator":"link","via":"http://a.test/","score":0.5,"relevant":true}`,
	} {
		s.Generations = append(s.Generations, Part{Number: i + 1, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(lines)), nil }})
	}
	got := readRun(t, s)
	var paths []string
	for _, p := range got.Pages {
		var path []string
		for _, step := range p.Lineage {
			path = append(path, fmt.Sprint(step.URL, " ", step.Title, step.Known))
		}
		paths = append(paths, strings.Join(path, ", "))
	}
	want := []string{
		"http://b.test/ true, http://a.test/ firsttrue",
		"http://d.test/ true, http://a.test/ secondtrue, http://b.test/ true, http://a.test/ firsttrue",
		"http://c.test/ true, http://nowhere.test/ false",
	}
	if d := cmp.Diff(want, paths); d != "" {
		t.Error(d)
	}
}

func TestVerdictsOfAnotherRun(t *testing.T) {
	var faults []string
	s := source(&faults)
	s.Verdicts = strings.NewReader(`{"url":"http://elsewhere.test/","verdict":"relevant"}` + "\n" + opinion)
	if _, err := Read(s); err == nil || !strings.Contains(err.Error(), "do not belong to the records") {
		t.Errorf("%v", err)
	}
}

func TestRunContinuedAfterJudging(t *testing.T) {
	var faults []string
	s := source(&faults)
	before, _, _ := strings.Cut(opinion, `{"url":"http://a.test/y"`)
	s.Verdicts = strings.NewReader(before + "damaged\n")
	got, err := Read(s)
	if err != nil || got.Relevant != 3 {
		t.Errorf("%v, and %d relevant", err, got.Relevant)
	}
	if len(faults) != 2 || !strings.Contains(faults[1], "3 records have no verdict") {
		t.Errorf("%q", faults)
	}
}

func TestSummary(t *testing.T) {
	var faults []string
	s := source(&faults)
	s.Verdicts = strings.NewReader(opinion)
	s.Summary = []byte(`{"v":1,"T":9,"R":4,"reachable":20,"fetched":7,"cost":9,"harvest":0.333333,"recall":0.75,"auc":0.5,"auc_random":0.25,
		"nauc":0.5,"auc_clairvoyant_ratio":0.8,"auc_bound_ratio":0.7,"cost_50":5,"cost_80":0,"cost_90":0,"relevant_hosts":2,"self_harvest":0.444444,
		"mean_score":0.6,"seeing":{"nauc":0.9,"auc_clairvoyant_ratio":0.95,"recall":1},"clairvoyant_recall":1,"label":"jazz","seeds":2,"graph":"archive",
		"harvest_at":{"100":0.1},"curves":{"cost":[3,9],"run":[1,3],"random":[0.5,1.5],"random_low":[0,1],"random_high":[1,2],"clairvoyant":[3,4],"bound":[3,4]}}`)
	got := readRun(t, s)
	measures := &Measures{
		T: 9, R: 4, Cost: 9, Reachable: 20, Label: "jazz", Graph: "archive", Harvest: 0.333333, Recall: 0.75, NAUC: 0.5,
		AUCClairvoyant: 0.8, AUCBound: 0.7, Cost50: 5, RelevantHosts: 2, SelfHarvest: 0.444444, MeanScore: 0.6,
		Seeing: &Reference{0.9}, ClairvoyantRecall: 1,
	}
	if d := cmp.Diff(measures, got.Measures); d != "" {
		t.Error(d)
	}
	curves := Curves{
		By: ByLabels, R: 4, Cost: []int{3, 9}, Run: []float64{1, 3}, Random: []float64{0.5, 1.5},
		RandomLow: []float64{0, 1}, RandomHigh: []float64{1, 2}, Clairvoyant: []float64{3, 4}, Bound: []float64{3, 4},
	}
	if d := cmp.Diff(curves, got.Curves); d != "" {
		t.Error(d)
	}
}

func TestDamagedSummaryIsReported(t *testing.T) {
	for _, summary := range []string{
		`{`,
		`{"T":"many"}`,
		`{"T":-1}`,
		`{"R":1e15}`,
		`{"curves":{"cost":[1,2],"run":[1]}}`,
		`{"curves":{"cost":[1,2],"run":[1,2],"bound":[1]}}`,
		`{"curves":{"cost":[2,1],"run":[1,2]}}`,
		`{"curves":{"cost":[0,1],"run":[1,2]}}`,
	} {
		var faults []string
		s := source(&faults)
		s.Summary = []byte(summary)
		got, err := Read(s)
		if err != nil || got.Measures != nil || len(got.Curves.Run) != 9 || len(faults) != 2 {
			t.Errorf("%s: %v, %+v, %q", summary, err, got.Measures, faults)
		}
	}
}

func TestDamagedSmallFiles(t *testing.T) {
	var faults []string
	s := source(&faults)
	s.Topic = []byte(`{"query":7}`)
	s.Generations[0].Stats = []byte(`[]`)
	s.Generations = s.Generations[:2]
	s.Settings = []byte(strings.Repeat("x "+strings.Repeat("y", 1000)+"\n", 1000))
	got, err := Read(s)
	if err != nil || got.Topic != "" || got.Seconds != 2.5 || len(faults) != 2 {
		t.Errorf("%v, %+v, %q", err, got, faults)
	}
	if n := len(got.Settings); n != MaxSettings {
		t.Errorf("%d settings, want %d", n, MaxSettings)
	}
}

func TestSkippedByStages(t *testing.T) {
	s := &Source{Stages: strings.NewReader(`level=WARN msg="skipped a line that is no record" cmd=parse line=3
level=INFO msg=done cmd=parse in=20 out=19 skipped_malformed=2 seconds=0.1
level=INFO msg=done cmd="frontier add" in=20 out=0 changed=3 known=0 skipped_query=4 skipped_refused=1 seconds=0.001
level=INFO msg=done cmd=parse in=20 out=19 skipped_malformed=1 skipped_x=-5 seconds=0.1
level=INFO msg=done cmd=evolve in=20 out=40 generation=1 held_copies=9 seconds=0.1
level=INFO msg=done cmd=evolve in=20 out=40 generation=2 held_copies=2 seconds=0.1
`)}
	got := readRun(t, s)
	if d := cmp.Diff([]Count{{"parse: malformed", 3}, {"evolve: probable copies", 2}, {"frontier add: refused", 1}}, got.Skipped); d != "" {
		t.Error(d)
	}
}

func TestUnreadablePart(t *testing.T) {
	broken := errors.New("broken")
	for when := range 2 {
		opened := 0
		s := source(new([]string))
		first := s.Generations[0].Open
		s.Generations[0].Open = func() (io.ReadCloser, error) {
			if opened++; opened > when {
				return nil, broken
			}
			return first()
		}
		if _, err := Read(s); !errors.Is(err, broken) {
			t.Errorf("the time %d: %v", when+1, err)
		}
	}
}

func TestGenerationsAreMerged(t *testing.T) {
	s := &Source{}
	for i := range 2*MaxGenerations + 1 {
		line := fmt.Sprintf(`{"url":"http://a.test/%d","status_code":200,"operator":"o%d","niche":"n%d","relevant":true}`, i, i%20, i%20)
		s.Generations = append(s.Generations, Part{
			Number: i + 1, Stats: []byte(`{"seconds":1}`),
			Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(line)), nil },
		})
	}
	got := readRun(t, s)
	// 241 generations are merged to 80 of three and one of one; each operator has 12 pages, and
	// o0 has 13.
	if n := len(got.Generations); n != 81 {
		t.Errorf("%d generations", n)
	}
	first, last := got.Generations[0], got.Generations[80]
	if first.First != 1 || first.Last != 3 || first.Fetched != 3 || got.Seconds != 241 || last.First != 241 || last.Last != 241 || last.Fetched != 1 {
		t.Errorf("%+v\n%+v", first, last)
	}
	want := []Yield{{"o0", 13, 13}, {"o1", 12, 12}, {"o10", 12, 12}, {"o11", 12, 12}, {"o12", 12, 12}, {"o13", 12, 12}, {"o14", 12, 12}, {"o15", 12, 12}, {Rest, 144, 144}}
	if d := cmp.Diff(want, got.Operators); d != "" {
		t.Error(d)
	}
	for i := range want {
		want[i].Name = strings.Replace(want[i].Name, "o", "n", 1)
	}
	if d := cmp.Diff(want, got.Niches); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Yield{{"o0", 1, 1}, {"o1", 1, 1}}, first.Operators[:2]); d != "" || first.Operators[8] != (Yield{Rest, 1, 1}) {
		t.Errorf("%+v", first.Operators)
	}
}

func TestBestPagesAreShown(t *testing.T) {
	var lines strings.Builder
	n := MaxPages + 50
	for i := range n {
		fmt.Fprintf(&lines, `{"url":"http://h%d.test/","status_code":200,"score":%g,"relevant":true}`+"\n", i, float64(i*37%n)/1000)
	}
	lines.WriteString(`{"url":"http://none.test/","status_code":200,"relevant":true}` + "\n")
	s := &Source{Generations: []Part{{Number: 1, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(lines.String())), nil }}}}
	got := readRun(t, s)
	if len(got.Pages) != MaxPages || got.PagesTotal != n+1 || len(got.Hosts) != MaxHosts || got.HostsTotal != n+1 {
		t.Errorf("%d of %d pages, %d of %d hosts", len(got.Pages), got.PagesTotal, len(got.Hosts), got.HostsTotal)
	}
	for i, p := range got.Pages {
		if want := float64(n-1-i) / 1000; p.Score != want {
			t.Fatalf("page %d has the score %g, want %g", i, p.Score, want)
		}
	}
}

func TestClean(t *testing.T) {
	for _, test := range []struct {
		in, want string
		n        int
	}{
		{"", "", 5},
		{"plain", "plain", 5},
		{"plain.", "plai…", 5},
		{" a \t\n b\u00a0 ", "a b", 5},
		{"a\x00b\u202ec", "a bc", 5},
		{"bad \xff utf", "bad \ufffd utf", 20},
		{"äöüß", "äöüß", 4},
		{"äöüßx", "äöü…", 4},
		{"aaa bbb", "aaa…", 5},
		{"     ", "", 3},
	} {
		if got := clean(test.in, test.n); got != test.want {
			t.Errorf("%q to %d is %q, want %q", test.in, test.n, got, test.want)
		}
	}
	for address, want := range map[string]string{
		"http://a.test/?q=1":                        "http://a.test/?q=1",
		"http://a.test":                             "",
		"javascript:alert(1)":                       "",
		"http://a.test/" + strings.Repeat("x", 2e3): "",
	} {
		if got := href(address); got != want {
			t.Errorf("%q may be linked to as %q, want %q", address, got, want)
		}
	}
}

func TestThreshold(t *testing.T) {
	nan := math.NaN()
	list := []Bin{{From: 0}, {From: 0.25}, {From: 0.5}, {From: 0.75, To: 1}}
	for _, test := range []struct {
		about             string
		most, least, want float64
	}{
		{"nothing lies between, so the first border parts them", 0, 1, 0.25},
		{"a page at a border is above it", 0.25, 0.5, 0.5},
		{"a bin holds pages of both kinds", 0.3, 0.4, 0.4},
		{"not every page above is relevant", 0.9, 0.4, 0.4},
		{"all pages are relevant", nan, 0.6, 0},
		{"none is", 0.6, nan, nan},
		{"there are none", nan, nan, nan},
	} {
		if got := threshold(list, test.most, test.least); got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("%s: %g, want %g", test.about, got, test.want)
		}
	}
}

// The topic's threshold is drawn, unless pages contradict it: the crawl may have had another.
// Words that pages have added come first, then the heaviest, and all beyond MaxTable are left out.
func TestTableOfTheTopic(t *testing.T) {
	entry := func(word, origin, url string, weight float64) string {
		return fmt.Sprintf(`{"term":"x","word":%q,"weight":%v,"origin":%q,"url":%q}`, word, weight, origin, url)
	}
	entries := []string{entry("b", "query", "", 1), entry("a", "query", "", 1), entry("new", "expansion", "http://a.test/", 0.7), entry("odd", "expansion", "javascript:x", 0.8)}
	for i := range 2 * MaxTable {
		entries = append(entries, entry(fmt.Sprint("w", i), "page", "", 0.5))
	}
	for settings, expands := range map[string]bool{
		"stage grow topic -expand tunnel": true, "stage score score -windows x | topic -expand tunnel -windows x": true,
		"stage grow cat": false, "param -expand tunnel": false,
	} {
		got := readRun(t, &Source{Settings: []byte(settings), Topic: []byte(`{"query":"jazz","growth":{"limit":0.7,"pages":4,"known":3,"words":2},"table":[` + strings.Join(entries, ",") + `]}`)})
		if got.TableTotal != len(entries) || len(got.Table) != MaxTable || got.Expands != expands || *got.Growth != (Growth{0.7, 4, 3, 2}) {
			t.Errorf("%s: %d words of %d, expands %v, %+v", settings, len(got.Table), got.TableTotal, got.Expands, got.Growth)
		}
		want := []Word{{"odd", 0.8, "expansion", "javascript:x", ""}, {"new", 0.7, "expansion", "http://a.test/", "http://a.test/"}, {"a", 1, "query", "", ""}, {"b", 1, "query", "", ""}}
		if diff := cmp.Diff(want, got.Table[:4]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestThresholdOfTheTopic(t *testing.T) {
	for _, test := range []struct {
		score    float64
		relevant bool
		want     float64
	}{{16, true, 10.18}, {3, false, 10.18}, {10.18, true, 10.18}, {9.5, true, 0}, {12, false, math.NaN()}} {
		line := fmt.Sprintf(`{"url":"http://a.test/","generation":1,"status_code":200,"score":%g,"relevant":%t}`, test.score, test.relevant)
		got := readRun(t, &Source{Topic: []byte(`{"query":"jazz","threshold":10.18}`), Generations: []Part{{Number: 1, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(line)), nil
		}}}}).Fitness.Threshold
		if got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("score %g, relevant %t: %g, want %g", test.score, test.relevant, got, test.want)
		}
	}
}

func TestBins(t *testing.T) {
	for _, test := range []struct {
		scores      []float64
		n           int
		first, last Bin // by their borders
	}{
		{[]float64{0}, 1, Bin{From: 0, To: 1}, Bin{From: 0, To: 1}},
		{[]float64{0, 1}, 20, Bin{From: 0, To: 0.05}, Bin{From: 0.95, To: 1}},
		{[]float64{0.1, 0.24}, 24, Bin{From: 0, To: 0.01}, Bin{From: 0.23, To: 0.24}},
		{[]float64{0, 23}, 23, Bin{From: 0, To: 1}, Bin{From: 22, To: 23}},
		{[]float64{0, 2000}, 20, Bin{From: 0, To: 100}, Bin{From: 1900, To: 2000}},
		{[]float64{-1, 1}, 20, Bin{From: -1, To: -0.9}, Bin{From: 0.9, To: 1}},
		{[]float64{3e-7, 2e-7}, 15, Bin{From: 0, To: 2e-8}, Bin{From: 2.8e-7, To: 3e-7}},
		{[]float64{5e-324}, 1, Bin{From: 0, To: 5e-324}, Bin{From: 0, To: 5e-324}},
		{[]float64{-1e300}, 1, Bin{From: -1e300, To: math.Nextafter(-1e300, 0)}, Bin{From: -1e300, To: math.Nextafter(-1e300, 0)}},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, 1, Bin{From: -math.MaxFloat64, To: math.MaxFloat64}, Bin{From: -math.MaxFloat64, To: math.MaxFloat64}},
	} {
		var pages []scored
		for _, s := range test.scores {
			pages = append(pages, scored{score: s})
		}
		got := bins(pages)
		sum := 0
		for _, b := range got {
			sum += b.Unlabelled
		}
		first, last := got[0], got[len(got)-1]
		first.Unlabelled, last.Unlabelled = 0, 0
		if len(got) != test.n || sum != len(test.scores) || first != test.first || last != test.last {
			t.Errorf("%g: %d bins with %d pages, from %+v to %+v, want %d from %+v to %+v", test.scores, len(got), sum, first, last, test.n, test.first, test.last)
		}
	}
	// Of a thousand pages ten may be outside: they are in the last bin.
	var pages []scored
	for i := range 1000 {
		pages = append(pages, scored{score: float64(i%10) / 100})
	}
	for i := range 10 {
		pages[i*100].score = 1
	}
	got := bins(pages)
	if last := got[len(got)-1]; last.To != 1 || last.Unlabelled != 110 || last.From != 0.085 {
		t.Errorf("%+v", got)
	}
}

func TestSteeringMeasureIsDetected(t *testing.T) {
	for _, test := range []struct{ settings, lines, want string }{
		{"fitness bm25,vsm", `{"url":"u","error":"dns","score":0.5,"scores":{"vsm":0.5}}`, "bm25"},
		{"fitness default", `{"url":"u","error":"dns","score":0.5,"scores":{"bm25":2,"vsm":0.5}}`, "vsm"},
		{"fitness default", `{"url":"u","error":"dns","score":0,"scores":{"bm25":0,"vsm":0}}
{"url":"u","error":"dns"}
{"url":"u","error":"dns","score":1,"scores":{"bm25":3,"vsm":1}}`, "vsm"},
		{"fitness default", `{"url":"u","error":"dns","score":0,"scores":{"bm25":0,"vsm":0}}`, ""},
		{"fitness default", `{"url":"u","error":"dns","score":7,"scores":{"vsm":0}}
{"url":"u","error":"dns","score":7,"scores":{"vsm":7}}`, ""},
		{"", `{"url":"u","error":"dns","score":7}`, ""},
	} {
		s := &Source{Settings: []byte(test.settings)}
		s.Generations = []Part{{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(test.lines)), nil }}}
		got, err := Read(s)
		if err != nil || got.Fitness.Measure != test.want {
			t.Errorf("%s\n%s\n%v, %q, want %q", test.settings, test.lines, err, got.Fitness.Measure, test.want)
		}
	}
}

// A classifier in place of labels is not a judge: its verdicts are ignored, and none of its
// figures is called harvest.
func TestAgreementIsNotAJudgement(t *testing.T) {
	var faults []string
	s := source(&faults)
	s.Verdicts = strings.NewReader(opinion)
	s.Summary = []byte(`{"v":1,"fetched":7,"cost":9,"queries":1,"free":1,"agreement":{"with":"classifier","held_out":true,"pages":6,"both":2,
		"only_crawl":1,"only_classifier":1,"neither":2,"precision":0.666667,"recall":0.666667,"f1":0.666667,"kappa":0.333333}}`)
	got := readRun(t, s)
	want := &Agreement{
		HeldOut: true, Pages: 6, Both: 2, OnlyCrawl: 1, OnlyClassifier: 1, Neither: 2,
		Kappa: 0.333333,
	}
	if d := cmp.Diff(want, got.Agreement); d != "" {
		t.Error(d)
	}
	if got.Judged || got.Measures != nil || got.Relevant != got.SelfRelevant || got.Curves.By != ByMeasure {
		t.Errorf("judged %v, %+v, %d relevant, by %s", got.Judged, got.Measures, got.Relevant, got.Curves.By)
	}
}

// A crafted run may have an error, an operator and a niche of its own in each record.
func TestNamesAreBounded(t *testing.T) {
	var lines strings.Builder
	n := maxNames + 1000
	for i := range n {
		fmt.Fprintf(&lines, `{"url":"http://a.test/%d","generation":1,"operator":"o%d","niche":"n%d","error":"e%d"}`+"\n", i, i, i, i)
	}
	run, err := Read(&Source{Generations: []Part{{Number: 1, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(lines.String())), nil
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Errors) != maxKinds+1 {
		t.Errorf("%d kinds of errors, want %d", len(run.Errors), maxKinds+1)
	}
	sum := 0
	for _, e := range run.Errors {
		sum += e.N
	}
	if sum != n || run.Errors[0].Name != Rest {
		t.Errorf("%d errors, first %+v; want %d", sum, run.Errors[0], n)
	}
	sum = 0
	for _, y := range run.Operators {
		sum += y.Fetched
	}
	if len(run.Operators) != MaxOperators+1 || sum != n {
		t.Errorf("%d operators with %d pages, want %d with %d", len(run.Operators), sum, MaxOperators+1, n)
	}
}

// readRun reads a run that can be read.
func readRun(t *testing.T, s *Source) *Run {
	t.Helper()
	run, err := Read(s)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// A crawl that has used up its archives says where the links lead that it did not follow.
func TestTheEndNamesLinksOutOfTheArchives(t *testing.T) {
	for _, test := range []struct {
		reason  string
		outside int
		want    string
	}{
		{"frontier_empty", 0, "It ended because nothing was left to fetch."},
		{"frontier_empty", 1, "It ended because nothing was left to fetch; 1 link leads to a page that the archives do not hold."},
		{"frontier_empty", 101, "It ended because nothing was left to fetch; 101 links lead to pages that the archives do not hold."},
		{"pages", 101, "It ended when its fetches were spent."},
	} {
		if got := ended(test.reason, test.outside); got != test.want {
			t.Errorf("%s, %d: got %q", test.reason, test.outside, got)
		}
	}
}
