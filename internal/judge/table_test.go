package judge

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// print returns a table as Markdown.
func print(t *testing.T, table *Table, form Form) string {
	t.Helper()
	var b strings.Builder
	if err := errors.Join(WriteMarkdown(&b, []*Table{table}, form), WriteLegend(&b, []*Table{table}, form)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// flat returns a text on one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// rows returns the lines of the table, without the text below it.
func rows(markdown string) string {
	before, _, _ := strings.Cut(markdown, "\n\n")
	return before + "\n"
}

// curves adds curves to small results: the budget of course ends early.
func curves(results []*Result) []*Result {
	for _, r := range results {
		r.Harvest, r.Recall, r.Cost = new(*r.NAUC/2), new(min(1, *r.NAUC*1.5)), 150
		r.HarvestAt, r.RecallAt = map[int]float64{100: *r.NAUC}, map[int]float64{100: 0.1}
		if r.Topic == "project" {
			r.HarvestAt[1000], r.RecallAt[1000] = *r.NAUC/2, 0.2
		}
	}
	return results
}

func TestMarkdownTables(t *testing.T) {
	table := compare(t, curves(small()), CompareOptions{Reference: "b", Tie: 0.01, Seed: 1, Also: []Criterion{by(t, "recall"), by(t, "spent")}})
	harvest := compare(t, curves(small()), CompareOptions{By: by(t, "harvest"), Tie: 0.01})
	for _, tt := range []struct {
		table *Table
		form  Form
		want  string
	}{
		{table, Overall, `
| strategy |   nAUC |    95 % interval | recall | spent |    − b |    95 % interval | p (Holm) |  A12 | better / same / worse |  units |
|----------|-------:|-----------------:|-------:|------:|-------:|-----------------:|---------:|-----:|----------------------:|-------:|
| c -x=1   | +0.500 |                – |  0.750 |  0.75 | +0.400 |                – |   1.0000 | 1.00 |             1 / 0 / 0 | 1 of 4 |
| a        | +0.350 | +0.125 to +0.550 |  0.525 |  0.75 | +0.101 | -0.050 to +0.275 |   0.7500 | 0.69 |             2 / 1 / 1 |      4 |
| *b*      | +0.249 | +0.100 to +0.471 |  0.373 |  0.75 |      – |                – |        – |    – |                     – |      4 |
`},
		{table, Topics, `
| strategy |                    course |                   project |                       all |
|----------|--------------------------:|--------------------------:|--------------------------:|
| c -x=1   |                 – / – / – |     +0.500 / 0.750 / 0.75 |     +0.500 / 0.750 / 0.75 |
| a        | **+0.200 / 0.300 / 0.75** | **+0.500 / 0.750 / 0.75** | **+0.350 / 0.525 / 0.75** |
| *b*      |     +0.150 / 0.225 / 0.75 |     +0.347 / 0.521 / 0.75 |     +0.249 / 0.373 / 0.75 |
`},
		{harvest, Seeds, `
| strategy |      easy |      hard |       all |
|----------|----------:|----------:|----------:|
| c -x=1   |         – |     0.250 |     0.250 |
| a        | **0.225** | **0.125** | **0.175** |
| b        |     0.174 |     0.075 |     0.124 |
`},
		{table, Ranks, `
| strategy | mean rank | course | project |
|----------|----------:|-------:|--------:|
| a        |      1.00 |      1 |       1 |
| *b*      |      2.00 |      2 |       2 |
| c -x=1   |         – |      – |       – |
`},
		{harvest, Costs, `
| strategy |            100 |          1,000 |         T |
|----------|---------------:|---------------:|----------:|
| c -x=1   | 0.500 (1 of 4) | 0.250 (1 of 4) |     0.250 |
| a        |      **0.350** |      **0.250** | **0.175** |
| b        |          0.249 |          0.174 |     0.124 |
`},
	} {
		if diff := gocmp.Diff(strings.TrimPrefix(tt.want, "\n"), rows(print(t, tt.table, tt.form))); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.form, diff)
		}
	}
}

// The text below a table must be true.
func TestTablesNameWhatIsMissing(t *testing.T) {
	few := small()
	few[4].NAUC = nil
	for _, tt := range []struct {
		name string
		text string
		want []string
		not  []string
	}{
		{"whole", print(t, compare(t, small()[:9], CompareOptions{}), Overall),
			[]string{"2 topics, 4 units, up to 2 random seeds each. Measure: nAUC, the area", "10,000 bootstrap samples"},
			[]string{"comparison", "Comparison", "Not run", "Left out", "greedy"}},
		{"missing", print(t, compare(t, few, CompareOptions{}), Topics),
			[]string{"Left out: 1 run without nauc.", "Not run in all units, so their means are of fewer units: c -x=1 (1 of 4), a (3 of 4)."}, nil},
		{"one", print(t, compare(t, small()[2:3], CompareOptions{}), Overall), []string{"1 topic, 1 unit."}, nil},
		{"against", print(t, compare(t, small(), CompareOptions{Reference: "b", Tie: 0.01}), Overall),
			[]string{
				"; 2 comparisons with b, whose p is at least 0.1250 with so few units.", "Comparison with b, in",
				"the numbers of units that are better, the same within 0.01, and worse.", "the interval is more reliable",
			}, []string{"≈ +"}},
		{"against in one topic", print(t, compare(t, append(small()[:2], small()[5]), CompareOptions{Reference: "b"}), Overall),
			[]string{"Comparison with b, in", "With fewer than 6 units it is hardly more than the range of their values."}, []string{"reliable"}},
		{"random seeds", print(t, compare(t, append(small()[:2], trial("b", "course", "easy", 1, 0.3), trial("b", "course", "easy", 2, 0.3)), CompareOptions{}), Overall),
			[]string{"1 topic, 1 unit, up to 2 random seeds each (1 of 2 rows do not vary with the seed)."}, nil},
		{"many units", print(t, compare(t, distinct(), CompareOptions{}), Overall), []string{"it is too narrow"}, []string{"range"}},
		{"against by topic", print(t, compare(t, small(), CompareOptions{Reference: "b", Tie: 0.5, ByTopic: true}), Overall),
			[]string{"at least 0.5000 with so few topics", "test over topics", "the probability that a topic", "≈ +0.101", "(≈: the difference is at most 0.5,"}, []string{"reliable"}},
		{"topics with a reference", print(t, compare(t, small(), CompareOptions{Reference: "b"}), Topics),
			[]string{"Cells: nAUC in each topic, and", "*b*"}, []string{"comparison", "Comparison"}},
		{"seeds", print(t, compare(t, small(), CompareOptions{}), Seeds), []string{"Cells: nAUC from each set of seeds"}, []string{"10,000"}},
		{"costs", print(t, compare(t, curves(small()), CompareOptions{By: by(t, "recall")}), Costs),
			[]string{"Budgets differ, so the columns have different numbers of units: 4 at 100, 2 at 1,000."}, []string{"greedy"}},
		{"ranks", print(t, compare(t, small(), CompareOptions{}), Ranks),
			[]string{"Friedman's test: p = ", "Two of the 2 mean ranks differ significantly if they are more than 1.00 apart", "Not run in all units, so they have no rank: c -x=1 (1 of 4).", "the rank by nAUC in each topic"}, []string{"greedy"}},
		{"one rank", print(t, compare(t, small()[:5], CompareOptions{}), Ranks), nil, []string{"Friedman's test: p", "apart."}},
		{"ranks that differ", print(t, compare(t, distinct(), CompareOptions{}), Ranks), []string{"p < 0.0001. Two of the 4", "| **1.00** |", "| 4.00 |"}, nil},
		{"costs everywhere", print(t, compare(t, curves(small())[3:5], CompareOptions{By: by(t, "recall")}), Costs),
			[]string{"Cells: recall at each cost"}, []string{"Budgets differ"}},
		{"less", print(t, compare(t, costly(small()), CompareOptions{By: by(t, "cost_90")}), Overall), []string{"Less is better."}, nil},
	} {
		for _, want := range tt.want {
			if !strings.Contains(flat(tt.text), want) {
				t.Errorf("%s: %q is not in\n%s", tt.name, want, tt.text)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(flat(tt.text), not) {
				t.Errorf("%s: %q is in\n%s", tt.name, not, tt.text)
			}
		}
	}
}

// distinct returns results of four names with the same order in twelve topics.
func distinct() (results []*Result) {
	for topic := range 12 {
		for i, name := range []string{"a", "b", "c", "d"} {
			results = append(results, trial(name, fmt.Sprint("topic-", topic), "s", 1, 1-float64(i)/10))
		}
	}
	return results
}

func costly(results []*Result) []*Result {
	for _, r := range results {
		r.Cost90 = new(120.)
	}
	return results
}

func TestSightedMeansBelowTheTable(t *testing.T) {
	results := small()[:9] // those who were run everywhere
	for _, r := range results {
		r.Seeing.NAUC = new(0.75)
	}
	text := print(t, compare(t, results, CompareOptions{}), Overall)
	if !strings.Contains(flat(text), "the relevance of waiting links reaches +0.750. Measure") {
		t.Error(text)
	}
	for _, r := range results {
		r.SeeingChildren.NAUC = new(0.8)
	}
	text = print(t, compare(t, results, CompareOptions{}), Overall)
	if !strings.Contains(flat(text), "reaches +0.750; one that also sees the relevance of the links on their pages, +0.800. Measure") {
		t.Error(text)
	}
}

func TestParagraphWraps(t *testing.T) {
	word := strings.Repeat("é", 49)
	for _, tt := range []struct{ s, want string }{
		{"", "\n"},
		{"one", "one\n"},
		{word + " " + word + "  1 " + word, word + " " + word + "\n1 " + word + "\n"},
		{strings.Repeat("x", 120) + " y", strings.Repeat("x", 120) + "\ny\n"},
	} {
		if got := paragraph(tt.s); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestFormat(t *testing.T) {
	nauc, harvest, hosts := by(t, "nauc"), by(t, "harvest"), by(t, "relevant_hosts")
	for _, tt := range []struct{ got, want string }{
		{nauc.format(0.25), "+0.250"},
		{nauc.format(-0.0004), "+0.000"},
		{nauc.format(-0.0006), "-0.001"},
		{harvest.format(-0.0004), "0.000"},
		{harvest.format(0.9996), "1.000"},
		{hosts.format(12.25), "12.2"},
		{probability(0.00009), "< 0.0001"},
		{probability(0.0001), "0.0001"},
		{probability(1), "1.0000"},
		{thousands(0), "0"},
		{thousands(999), "999"},
		{thousands(1000), "1,000"},
		{thousands(1234567), "1,234,567"},
		{count(1, "unit"), "1 unit"},
		{count(0, "unit"), "0 units"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

func TestEscapedNames(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"niche -compat", "niche -compat"},
		{"a|b\n|c|", `a\|b \|c\|`},
		{"<script>*x*`y`[z](u)&amp;\\", "\\<script>\\*x\\*\\`y\\`\\[z\\](u)\\&amp;\\\\"},
		{"\x1b[31mred\u202e\u2028", ` \[31mred  `},
		{"grün", "grün"},
	} {
		if got := escape(tt.name); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.name, got, tt.want)
		}
	}
	results := small()
	for _, r := range results {
		if r.Name == "b" {
			r.Name = "grün|\n<b>"
		}
	}
	table := rows(print(t, compare(t, results, CompareOptions{Reference: "grün|\n<b>"}), Overall))
	widths := map[int]bool{}
	for l := range strings.Lines(table) {
		widths[len([]rune(l))] = true
	}
	if len(widths) != 1 {
		t.Errorf("lines of %d lengths:\n%s", len(widths), table)
	}
}

func TestParseForm(t *testing.T) {
	for _, tt := range []struct{ form, criterion, want string }{
		{"overall", "nauc", ""}, {"topics", "nauc", ""}, {"seeds", "cost_50", ""}, {"ranks", "auc", ""}, {"costs", "harvest", ""}, {"costs", "recall", ""},
		{"costs", "nauc", "nauc is not known at every cost, but harvest and recall are"},
		{"paper", "nauc", `no form "paper"; there are overall, topics, seeds, ranks, costs`},
	} {
		form, err := ParseForm(tt.form, by(t, tt.criterion))
		if got := fmt.Sprint(err); err == nil && (tt.want != "" || string(form) != tt.form) || err != nil && got != tt.want {
			t.Errorf("%s of %s: %q, %v; want %q", tt.form, tt.criterion, form, err, tt.want)
		}
	}
}
