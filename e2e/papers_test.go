package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spoor/internal/judge"
	"spoor/internal/testfile"
)

const paperPlans = "../doc/plans/papers"

// crawlersOf returns the names of the crawlers of a plan, and of its judges.
func crawlersOf(t *testing.T, plan string) (crawlers, judges []string) {
	t.Helper()
	for line := range strings.Lines(string(testfile.Read(t, filepath.Join(paperPlans, plan+".plan")))) {
		switch words := strings.Fields(line); {
		case len(words) > 2 && words[0] == "track":
			n := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
			for _, strategy := range words[2:n] {
				crawlers = append(crawlers, strings.Join(append([]string{strategy}, words[n:]...), " "))
			}
		case len(words) > 1 && words[0] == "judged-by":
			judges = append(judges, words[1])
		}
	}
	return crawlers, judges
}

func publishedValues(t *testing.T) *judge.Published {
	t.Helper()
	p, err := judge.ReadPublished(bytes.NewReader(testfile.Read(t, filepath.Join(paperPlans, "published.json"))))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every published value is of a crawler and a judge of its plan.
func TestPublishedValuesArePlanned(t *testing.T) {
	values := 0
	for _, paper := range publishedValues(t).Papers {
		for _, table := range paper.Tables {
			crawlers, judges := crawlersOf(t, table.Plan)
			if table.Judge != "" && !slices.Contains(judges, table.Judge) {
				t.Errorf("%s: %s: the plan has no judge %s", paper.Name, table.Title, table.Judge)
			}
			for _, row := range table.Rows {
				values += len(row.Values)
				for name := range strings.SplitSeq(row.Crawler, judge.PairSeparator) {
					if !slices.Contains(crawlers, name) {
						t.Errorf("%s: %s: %s is not among %q of the plan %s", paper.Name, table.Title, name, crawlers, table.Plan)
					}
				}
			}
		}
	}
	if values != 31 {
		t.Errorf("%d values, want the 3 of niche, 8 of symbiosis, 12 of antnet and 8 of tunnel", values)
	}
}

// The plans of the papers in short: one topic and one random seed, 60 pages. Every crawler has a value.
func TestPapersInShort(t *testing.T) {
	skipShort(t, "nothing is crawled by topics in a short test")
	dir := shared()
	if dir == "" {
		t.Skip("the shared webs are not there (SPOOR_SHARED)")
	}
	into := t.TempDir()
	c := comparison{&crawl{dir: into, env: append(os.Environ(), environment(t)...)}}
	published := judge.Published{}
	for _, paper := range publishedValues(t).Papers {
		if paper.Name == "niche" {
			t.Log("left out: the plan of niche, whose web is large and packed")
			continue
		}
		for i := range paper.Tables {
			paper.Tables[i].Cost = 0
		}
		published.Papers = append(published.Papers, paper)
		for _, table := range paper.Tables {
			name := table.Plan + ".plan"
			if _, err := os.Stat(filepath.Join(into, name)); err == nil {
				continue
			}
			var plan strings.Builder
			topics := 0
			for line := range strings.Lines(string(testfile.Read(t, filepath.Join(paperPlans, name)))) {
				key, _, _ := strings.Cut(line, " ")
				if key == "topic" {
					topics++
				}
				if key == "topic" && topics != 4 || key == "chance" || key == "pages" { // the fourth is webkb-course
					continue
				}
				plan.WriteString(line)
			}
			plan.WriteString("pages 60\n")
			testfile.Write(t, filepath.Join(into, name), plan.String())
			if out, err := c.compare("-data", filepath.Join(dir, "webs"), "-into", table.Plan, name).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
		}
	}
	for _, paper := range published.Papers {
		for _, table := range paper.Tables {
			f, err := table.Compare(results(t, into, &table, table.Judge), results(t, into, &table, ""), 1)
			if err != nil {
				t.Fatalf("%s: %s: %v", paper.Name, table.Title, err)
			}
			for _, row := range f.Rows {
				if row.Own.Units == 0 && row.Ended == 0 || row.Crawls != 1 {
					t.Errorf("%s: %s: %s has no value: %+v", paper.Name, table.Title, row.Published.Name, row)
				}
			}
		}
	}
}

// results reads the results of a comparison by a judge of its plan, or by labels.
func results(t *testing.T, dir string, table *judge.PublishedTable, by string) (list []*judge.Result) {
	t.Helper()
	name := "results.ndjson"
	if by != "" {
		name = "results." + by + ".ndjson"
	}
	for r, err := range judge.Results(bytes.NewReader(testfile.Read(t, filepath.Join(dir, table.Plan, name))), "") {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}
