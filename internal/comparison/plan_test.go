package comparison

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

// readPlan reads a plan of a web with a topic, and these lines.
func readPlan(t *testing.T, lines string) (*Plan, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"web.warc": "", "labels": "", "query": "jazz", "easy": "",
		"test.plan": "web hosts web.warc labels\ntopic jazz hosts jazz query\nseeds {set} easy\n" + lines,
	} {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	return ReadPlan(filepath.Join(dir, "test.plan"), dir, []string{"bestfirst", "niche"}, func(strategy string, params []string) error {
		if i := slices.Index(params, "pcc=1"); i >= 0 {
			return fmt.Errorf("strategy %s: no parameter %s", strategy, params[i])
		}
		return nil
	})
}

func TestCommandIsTheRestOfTheLine(t *testing.T) {
	p, err := readPlan(t, "evolve  evolve-2\t evolve 'a  b' \"$SPOOR_RUN\" \\# # said \n"+
		"score s awk '{ print }'\ntrack K evolve-2 -score=s -size 4 # mine\n track Q bestfirst -compat -param=a=b")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Jobs(), []string{"K.evolve-2-score-s-size-4.jazz.easy.1", "Q.bestfirst-compat-param-a=b.jazz.easy.1"}; !slices.Equal(got, want) {
		t.Errorf("the crawls are %q, want %q", got, want)
	}
	mine, other := p.crawlers[0], p.crawlers[1]
	if mine.evolve != `evolve 'a  b' "$SPOOR_RUN" \# # said` || mine.score != "awk '{ print }'" {
		t.Errorf("the commands are %q and %q", mine.evolve, mine.score)
	}
	if got, want := strings.Join(mine.flags, " "), "-size 4"; got != want {
		t.Errorf("crawl gets the flags %s, want %s", got, want)
	}
	if got, want := other.name, "bestfirst -compat -param a=b"; got != want {
		t.Errorf("the name is %s, want %s", got, want)
	}
}

func TestTrackWithoutStrategiesHasAllOfEvolve(t *testing.T) {
	p, err := readPlan(t, "evolve mine cat\ntrack K\nchance 2 01\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"K.bestfirst.jazz.easy.2", "K.bestfirst.jazz.easy.1", "K.niche.jazz.easy.2", "K.niche.jazz.easy.1"}
	if got := p.Jobs(); !slices.Equal(got, want) {
		t.Errorf("the crawls are %q, want %q", got, want)
	}
}

// A topic is crawled from the sets of seeds that it does not lack, and a label may have blanks.
func TestATopicMayLackSeedsAndHaveALabelOfWords(t *testing.T) {
	p, err := readPlan(t, "topic tea hosts green%20tea query\nseeds easy other\nlacking tea other\ntrack K niche\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Jobs(), []string{"K.niche.jazz.easy.1", "K.niche.jazz.other.1", "K.niche.tea.easy.1"}; !slices.Equal(got, want) {
		t.Errorf("the crawls are %q, want %q", got, want)
	}
	if got := p.topics[1].label; got != "green tea" {
		t.Errorf("the label is %q", got)
	}
}

func TestWrongLineIsNamed(t *testing.T) {
	for line, want := range map[string]string{
		"topic tea hosts tea query positive": "test.plan:4: topic NAME WEB",
		"topic tea hosts %zz query":          "label %zz",
		"lacking tea easy":                   "topic tea is not defined",
		"lacking jazz hard":                  "no set of seeds hard",
		"pages 0":                            "test.plan:4: pages N",
		"evolve mine # cat":                  "test.plan:4: evolve NAME COMMAND",
		"track E niche":                      "test.plan: track E needs example pages of jazz",
		"track K niche niche":                "test.plan: K.niche.jazz.easy.1 is planned twice",
		"track K bestfirst niche -param=pc=1 -param pcc=1": "test.plan:4: strategy bestfirst: no parameter pcc=1",
		"track K niche -size many":                         "test.plan:4: -size many: want a number",
		"track K niche -fair=page":                         "test.plan:4: -fair page: want host or niche",
		"search easy 5":                                    "test.plan:4: the set of seeds easy is defined twice",
		"search found 1001":                                "test.plan:4: 1001: want a number of results from 1 to 1000",
		"judged-by own classifier":                         "test.plan:4: the measure classifier cannot judge",
		"judged-by own bm25=2e6":                           "test.plan:4: 2e6: want a score above 0 and at most 1,000,000",
		"score a/b cat":                                    "test.plan:4: a/b cannot be a name",
	} {
		_, err := readPlan(t, line)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of the line %q it says %v, want %s", line, err, want)
		}
	}
}

// Results of one plan are not mixed with those of a plan whose seeds or limits differ.
func TestInputsDiffer(t *testing.T) {
	inputs := func(line string) map[string]string {
		t.Helper()
		p, err := readPlan(t, line+"\ntrack K niche\n")
		if err != nil {
			t.Fatal(err)
		}
		in, err := p.inputs()
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	for _, lines := range [][2]string{
		{"", "pages 5"}, {"", "relevant 5"}, {"relevant 5", ""},
		{"search found 5", "search found 6"}, {"search found 5", "seeds easy found"}, {"judged-by own bm25", "judged-by own bm25=1"},
	} {
		a, b := inputs(lines[0]), inputs(lines[1])
		differ := false
		for name, value := range a {
			other, both := b[name]
			differ = differ || both && value != other
		}
		if !differ {
			t.Errorf("%q and %q have the same inputs", lines[0], lines[1])
		}
	}
}

// Scores and measures of the plan do not steer every strategy. Commands are the user's, who knows.
func TestCrawlersThatScoresDoNotSteerAreNamed(t *testing.T) {
	p, err := readPlan(t, "evolve mine cat\nscore s cat\ntrack K bestfirst niche mine -score s\ntrack K niche -size 4\ntrack Q niche bestfirst -fitness=bm25\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"niche -score s", "niche -fitness bm25"}
	if got := p.Unsteered([]string{"mine", "niche"}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := p.Unsteered([]string{"random"}); got != nil {
		t.Errorf("a strategy that is not compared gives %q", got)
	}
}

// The table of Pal and others is not the one that topic -compat makes.
func TestTopicOfAJudge(t *testing.T) {
	for line, want := range map[string]string{
		"judged-by m weighttable -compat":        "-positive s -archive a -compat",
		"judged-by m weighttable":                "-positive s -archive a",
		"judged-by m weighttable-tf=0.4 -compat": "-positive s -archive a -threshold 0.4",
		"judged-by m jaccard -compat":            "-positive s -archive a -compat",
		"judged-by m vsm=0.05 -compat":           "-threshold 0.05",
	} {
		p, err := readPlan(t, line+"\ntrack K bestfirst\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.judges[0].topicFlags("s", "a"), " "); got != want {
			t.Errorf("%s: topic gets %q, want %q", line, got, want)
		}
	}
}
