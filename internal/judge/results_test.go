package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	gocmp "github.com/google/go-cmp/cmp"
)

const line = `{"v":1,"name":"niche -compat","strategy":"niche","track":"K","web":"webkb","topic":"webkb-course","label":"course","seeds":"easy-1","seed":1,` +
	`"stop":"pages","T":1145,"R":287,"reachable":4581,"fetched":1145,"cost":1145,"queries":0,"free":7,"harvest":0.125764,"recall":0.501742,"auc":0.3,` +
	`"auc_random":0.2,"nauc":null,"auc_clairvoyant_ratio":0.4,"auc_bound_ratio":0.38,"cost_50":1140,"cost_80":0,"cost_90":0,"relevant_hosts":41,"self_harvest":0.5,` +
	`"mean_score":0.21,"seeing":{"nauc":0.7,"auc_clairvoyant_ratio":0.8,"recall":0.9},"graph":"archive","harvest_at":{"100":0.2,"200":0.15},"recall_at":{"100":0.07},"new":[1]}`

func TestResults(t *testing.T) {
	for r, err := range Results(strings.NewReader("\n"+line), "") {
		if err != nil {
			t.Fatal(err)
		}
		want := &Result{
			V: 1, Name: "niche -compat", Strategy: "niche", Track: "K", Web: "webkb", Topic: "webkb-course", Label: "course", Seeds: "easy-1", Seed: 1, Stop: "pages",
			Figures: Figures{
				T: 1145, R: 287, Reachable: 4581, Fetched: 1145, Cost: 1145, Free: 7, Graph: "archive",
				Harvest: new(0.125764), Recall: new(0.501742), AUC: new(0.3), AUCRandom: new(0.2), AUCClairvoyant: new(0.4), AUCBound: new(0.38),
				Cost50: new(1140.), Cost80: new(0.), Cost90: new(0.), RelevantHosts: new(41.), SelfHarvest: new(0.5), MeanScore: new(0.21),
				Seeing:    Sighted{NAUC: new(0.7), AUCClairvoyant: new(0.8), Recall: new(0.9)},
				HarvestAt: map[int]float64{100: 0.2, 200: 0.15}, RecallAt: map[int]float64{100: 0.07},
			},
		}
		if diff := gocmp.Diff(want, r); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		values := map[string]float64{}
		for _, c := range Criteria() {
			if v := c.value(r); v != nil {
				values[c.Name] = *v
			}
		}
		if diff := gocmp.Diff(map[string]float64{
			"auc_clairvoyant_ratio": 0.4, "auc_bound_ratio": 0.38, "auc": 0.3, "harvest": 0.125764, "recall": 0.501742, "cost_50": 1140. / 1145, "cost_80": 1, "cost_90": 1,
			"relevant_hosts": 41, "self_harvest": 0.5, "mean_score": 0.21, "spent": 1,
		}, values); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

// TestSummaryIsAResult reads what judge -summary writes.
func TestSummaryIsAResult(t *testing.T) {
	w := webOf([][]int32{{1, 2}, {3}, {}, {}}, 3)
	s := judgeOf(t, w, []int32{0}, 0).Summary([]int32{0, 1, 3}, 3)
	s.Label, s.Seeds, s.Graph = "jazz", 1, "archive"
	written, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range Results(bytes.NewReader(written), "mine") {
		if err != nil {
			t.Fatal(err)
		}
		want := &Result{V: 1, Name: "mine", Topic: "jazz", Label: "jazz", Seeds: "1 seed", Figures: s.Figures}
		want.Figures.V, want.Figures.Label, want.Figures.Seeds = 0, "", 0 // those of the result hide them
		if diff := gocmp.Diff(want, r); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

func TestBadLineOfResultsIsSkipped(t *testing.T) {
	swap := func(old, new string) string {
		if !strings.Contains(line, old) {
			t.Fatalf("%s is not in the line", old)
		}
		return strings.Replace(line, old, new, 1)
	}
	costs := make([]string, maxCosts+1)
	for i := range costs {
		costs[i] = fmt.Sprintf(`"%d":0.5`, i+1)
	}
	for _, tt := range []struct{ bad, want string }{
		{"strategy nauc", "invalid character"},
		{"[]", "cannot unmarshal array"},
		{"{}", "v is 0"},
		{line[:99], "unexpected end"},
		{swap(`"v":1`, `"v":2`), "v is 2"},
		{swap(`"niche -compat"`, `""`), "no name"},
		{swap(`"topic":"webkb-course","label":"course"`, `"topic":""`), "no topic"},
		{swap(`"easy-1"`, `3.5`), "cannot unmarshal number"},
		{swap(`"easy-1"`, `"`+strings.Repeat("x", 201)+`"`), "seeds is longer than 200 bytes"},
		{swap(`"T":1145`, `"T":0`), "T is 0"},
		{swap(`"T":1145`, `"T":10000001`), "T is 10000001"},
		{swap(`"R":287`, `"R":-1`), "R -1"},
		{swap(`"cost":1145`, `"cost":-1`), "cost -1"},
		{swap(`"pages"`, `"`+strings.Repeat("x", 201)+`"`), "stop is longer than 200 bytes"},
		{swap(`"recall":0.501742`, `"recall":-2e12`), "recall is -2e+12"},
		{swap(`"mean_score":0.21`, `"mean_score":1e999`), "1e999"},
		{swap(`"100":0.2`, `"100":1.2`), "1.2 at cost 100"},
		{swap(`"100":0.07`, `"100":-0.07`), "-0.07 at cost 100"},
		{swap(`"100":0.07`, `"100":2e12`), "2e+12 at cost 100"},
		{swap(`"100":0.2`, `"0":0.2`), "0.2 at cost 0"},
		{swap(`"100":0.2`, `"many":0.2`), "many"},
		{swap(`"100":0.2,"200":0.15`, strings.Join(costs, ",")), "more than 64 costs"},
	} {
		good, bad := 0, []error(nil)
		for r, err := range Results(strings.NewReader(line+"\n"+tt.bad+"\n"+line+"\n"), "") {
			if err != nil {
				bad = append(bad, err)
			} else if r != nil {
				good++
			}
		}
		if good != 2 || len(bad) != 1 {
			t.Errorf("%.60s: %d results, errors %v", tt.bad, good, bad)
			continue
		}
		if s, ok := errors.AsType[*LineError](bad[0]); !ok || s.Line != 2 || !strings.Contains(s.Error(), tt.want) {
			t.Errorf("%.60s: %v, want %s", tt.bad, bad[0], tt.want)
		}
	}
}

// A search finds pages that no link reaches from the seeds, and so the crawl may find more
// than R.
func TestRecallMayExceedOne(t *testing.T) {
	found := strings.NewReplacer(`"recall":0.501742`, `"recall":1.25`, `"100":0.07`, `"100":1.25`).Replace(line)
	for r, err := range Results(strings.NewReader(found), "") {
		if err != nil {
			t.Fatal(err)
		}
		if *r.Recall != 1.25 || r.RecallAt[100] != 1.25 {
			t.Errorf("recall is %g, and %g at 100", *r.Recall, r.RecallAt[100])
		}
	}
}

func TestTooLongLineEndsReading(t *testing.T) {
	good, last := 0, error(nil)
	for _, err := range Results(strings.NewReader(line+"\n"+strings.Repeat(" ", maxLine+1)+"\n"+line), "") {
		if last = err; err == nil {
			good++
		}
	}
	if good != 1 || last == nil || !strings.Contains(last.Error(), "line 2: longer than") {
		t.Errorf("%d results, then %v", good, last)
	}
}

func TestReadErrorEndsReading(t *testing.T) {
	broken := errors.New("broken")
	var errs []error
	for _, err := range Results(io.MultiReader(strings.NewReader(line+"\n"), iotest.ErrReader(broken)), "") {
		errs = append(errs, err)
	}
	if len(errs) != 2 || errs[0] != nil || !errors.Is(errs[1], broken) {
		t.Errorf("%v", errs)
	}
	for range Results(strings.NewReader(line+"\n"+line), "") {
		break // stopping early must not panic
	}
}

func TestParseCriterionListsTheMeasures(t *testing.T) {
	_, err := ParseCriterion("precision")
	if err == nil || !strings.Contains(err.Error(), `no measure "precision"; there are nauc, auc_clairvoyant_ratio,`) {
		t.Error(err)
	}
}

func FuzzResults(f *testing.F) {
	f.Add(line, "niche -compat")
	f.Add(line+"\n"+strings.Replace(line, "niche -compat", "b|<\u0000", 1), "b")
	f.Add(strings.Replace(line, `"nauc":null`, `"nauc":-1e12`, 1)+"\n{}\n[]", "")
	f.Fuzz(func(t *testing.T, input, reference string) {
		var results []*Result
		for r, err := range Results(strings.NewReader(input), "") {
			if err == nil {
				results = append(results, r)
			}
		}
		if len(results) > 20 {
			return // slow, and covers nothing new
		}
		all := Criteria()
		tables, err := Compare(results, CompareOptions{
			By: all[len(input)%len(all)], Also: all[3:5], Reference: reference, Tie: 0.01, ByTopic: len(reference)%2 == 0,
		})
		if err != nil {
			return
		}
		for _, table := range tables {
			checkTable(t, table)
		}
	})
}

// checkTable checks invariants of tables.
func checkTable(t *testing.T, table *Table) {
	for i, r := range table.Rows {
		if r.Units == 0 || r.Units > table.Units || math.IsNaN(r.Mean) || math.IsInf(r.Mean, 0) {
			t.Errorf("%d units, mean %v", r.Units, r.Mean)
		}
		if r.Interval != nil && r.Interval.Low > r.Interval.High {
			t.Errorf("interval %v", *r.Interval)
		}
		if i > 0 && table.compareValues(r.Mean, table.Rows[i-1].Mean) > 0 {
			t.Errorf("%v stands behind %v", r.Mean, table.Rows[i-1].Mean)
		}
		if a := r.Against; a != nil && (a.Wins+a.Ties+a.Losses > a.Units || a.P < 0 || a.P > a.Holm || a.Holm > 1 || a.A12 < 0 || a.A12 > 1) {
			t.Errorf("%+v", *a)
		}
	}
	forms := []Form{Overall, Topics, Seeds, Ranks}
	if table.By.at != nil {
		forms = append(forms, Costs)
	}
	for _, form := range forms {
		var b strings.Builder
		if err := errors.Join(WriteMarkdown(&b, []*Table{table}, form), WriteLegend(&b, []*Table{table}, form)); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		for _, l := range lines[:len(table.Rows)+2] {
			if !strings.HasPrefix(l, "|") || !strings.HasSuffix(l, "|") {
				t.Errorf("%s: %q is no row", form, l)
			}
		}
	}
}
