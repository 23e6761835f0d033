package e2e

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spoor/internal/testfile"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file compares the measures of package fitness with human labels, for
// doc/results/measures.md: a topic is made of a query and example pages, and every page
// of the archive is scored.

// The measures that are compared: with examples, and of a query alone.
var (
	judged  = []string{"vsm", "weighttable", "bm25", "classifier"}
	queried = []string{"bm25", "vsm", "wordscore"} // the first is the default
)

// webs lists the archived webs and the labels that are used as topics.
var webs = []struct {
	name   string
	labels []string
}{
	{"planetmath", []string{"msc05", "msc20", "msc54"}},
	{"webkb", []string{"course", "project"}},
}

// A judgement is how the scores of some pages agree with labels.
type judgement struct {
	precision, recall float64 // of the pages called relevant
	average           float64 // precision, over the positive pages in the order of scores
	auc               float64 // how often a positive page is before another
	brier             float64 // mean square of score − label; where scores are in [0, 1]
	bounded           bool    // they are
}

// A guess is the score of a page with the correct answer.
type guess struct {
	url      string
	score    float64
	relevant bool // what the measure says
	positive bool // what people say
}

// judgeScores compares scores with labels. Pages with the same score are ordered by address for
// the average precision, and count one half for the area under the ROC curve.
func judgeScores(guesses []guess) judgement {
	guesses = slices.Clone(guesses)
	slices.SortFunc(guesses, func(a, b guess) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.url, b.url))
	})
	j := judgement{bounded: true}
	var positives, called, right float64
	for i, g := range guesses {
		truth := 0.0
		if g.positive {
			positives++
			truth = 1
			j.average += positives / float64(i+1)
		}
		if g.relevant {
			called++
			right += truth
		}
		j.brier += (g.score - truth) * (g.score - truth) / float64(len(guesses))
		j.bounded = j.bounded && g.score >= 0 && g.score <= 1
	}
	before := 0.0 // positive pages with higher scores
	for i := 0; i < len(guesses); {
		same, others := 0.0, 0.0
		for score := guesses[i].score; i < len(guesses) && guesses[i].score == score; i++ {
			if guesses[i].positive {
				same++
			} else {
				others++
			}
		}
		j.auc += others * (before + same/2)
		before += same
	}
	j.auc /= max(1, positives*(float64(len(guesses))-positives))
	j.average /= max(1, positives)
	j.precision, j.recall = right/max(1, called), right/max(1, positives)
	return j
}

func TestJudgementsOfScores(t *testing.T) {
	page := func(url string, score float64, relevant, positive bool) guess {
		return guess{url, score, relevant, positive}
	}
	for _, tt := range []struct {
		name    string
		guesses []guess
		want    judgement
	}{
		{"right", []guess{page("a", 1, true, true), page("b", 0, false, false)}, judgement{1, 1, 1, 1, 0, true}},
		{"wrong", []guess{page("a", 0, false, true), page("b", 1, true, false)}, judgement{0, 0, 0.5, 0, 1, true}},
		{"all the same", []guess{page("b", 0.5, true, true), page("a", 0.5, true, false)}, judgement{0.5, 1, 0.5, 0.5, 0.25, true}},
		{"four", []guess{page("a", 8, true, true), page("b", 4, true, false), page("c", 4, true, true), page("d", 1, false, false)},
			judgement{2. / 3, 1, (1 + 2./3) / 2, (1 + 1 + 0.5 + 1) / 4, (49 + 16 + 9 + 1) / 4., false}},
		{"none", nil, judgement{bounded: true}},
	} {
		if diff := gocmp.Diff(tt.want, judgeScores(tt.guesses), gocmp.AllowUnexported(judgement{}), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

// measuresPage is the page that the test checks, or writes with -update.
const measuresPage = "doc/results/measures.md"

const measuresHead = `# Measures against labels

Written by ` + "`go test -count 1 -run TestMeasuresAgainstLabels ./e2e -update`" + `, which fails without -update if the page
differs from what the code measures; do not edit.

Each of five topics is made by ` + "`topic -query … -positive … -negative …`" + ` from a query and 20 + 40 example pages.
Every other page of the archive is scored and compared with its human labels, which neither ` + "`topic`" + ` nor
` + "`score`" + ` reads. Precision and recall are those of ` + "`relevant`" + `, at the measure's own threshold. For links, the
highest score of all links to a page is compared with that page's label.

`

func TestMeasuresAgainstLabels(t *testing.T) {
	skipShort(t, "scores two webs: not with -short")
	if shared() == "" {
		t.Skip("the shared data is not on this machine")
	}
	t.Parallel()
	trained, alone := newMeasureTable(judged), newMeasureTable(queried)
	for _, w := range webs {
		j := newJury(t, w.name, w.labels)
		for _, label := range w.labels {
			trained.add(w.name+" "+label, j.verdicts(j.topic(label), label, judged))
			alone.add(w.name+" "+label, j.verdicts(j.query(label), label, queried))
		}
	}
	page := measuresHead + trained.String() + queryHead + alone.String()
	if got := alone.sums[0].precision / alone.topics; got < 0.6 {
		t.Errorf("of a query alone, the default measure has a mean precision of %.3f, want 0.6", got)
	}

	if *update {
		testfile.Write(t, inRoot(measuresPage), page)
		return
	}
	want := testfile.Read(t, inRoot(measuresPage))
	if diff := gocmp.Diff(string(want), page); diff != "" {
		t.Errorf("%s differs (-update rewrites it): -file +now\n%s", measuresPage, diff)
	}
}

const queryHead = `
## By a query alone

The same, for topics that are made by ` + "`topic -query …`" + `. The first measure is the default of ` + "`score`" + `.

`

// A measureTable is a table of measures, with their means over topics.
type measureTable struct {
	strings.Builder
	names  []string
	topics float64
	sums   []measureSums
}

type measureSums struct{ precision, recall, average, auc, with, links float64 }

func newMeasureTable(names []string) *measureTable {
	m := &measureTable{names: names, sums: make([]measureSums, len(names))}
	m.WriteString("| topic | measure | precision | recall | average precision | ROC area | Brier | average precision with the examples | ROC area of links |\n")
	m.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|\n")
	return m
}

// add adds the rows of a topic.
func (m *measureTable) add(topic string, verdicts []verdict) {
	m.topics++
	for i, v := range verdicts {
		pages, all, links := judgeScores(v.pages), judgeScores(v.all), judgeScores(v.links)
		s := &m.sums[i]
		s.precision += pages.precision
		s.recall += pages.recall
		s.average += pages.average
		s.auc += pages.auc
		s.with += all.average
		s.links += links.auc
		brier, what := "–", ""
		if pages.bounded {
			brier = fmt.Sprintf("%.3f", pages.brier)
		}
		if i == 0 {
			what = fmt.Sprintf("%s, %d of %d", topic, positives(v.pages), len(v.pages))
		}
		fmt.Fprintf(m, "| %s | %s | %.3f | %.3f | %.3f | %.3f | %s | %.3f | %.3f |\n",
			what, m.names[i], pages.precision, pages.recall, pages.average, pages.auc, brier, all.average, links.auc)
	}
}

// String returns the table, with the means in its last rows.
func (m *measureTable) String() string {
	var b strings.Builder
	b.WriteString(m.Builder.String())
	for i, name := range m.names {
		what, s := "", m.sums[i]
		if i == 0 {
			what = "**mean**"
		}
		fmt.Fprintf(&b, "| %s | %s | %.3f | %.3f | %.3f | %.3f | | %.3f | %.3f |\n", what, name,
			s.precision/m.topics, s.recall/m.topics, s.average/m.topics, s.auc/m.topics, s.with/m.topics, s.links/m.topics)
	}
	return b.String()
}

// positives is how many of the guesses are about positive pages.
func positives(guesses []guess) (n int) {
	for _, g := range guesses {
		if g.positive {
			n++
		}
	}
	return n
}

// A jury holds the parsed pages of a web and their human labels.
type jury struct {
	*testing.T
	dir, web, parsed string
	there            map[string]bool     // addresses of pages
	examples         map[string][]string // addresses by label and kind
	lines            map[string][]byte   // of parsed, by address of an example
	labels           map[string][]string // by address
}

// newJury fetches and parses the archive called web.
func newJury(t *testing.T, web string, labels []string) *jury {
	j := &jury{
		T: t, dir: t.TempDir(), web: web, there: make(map[string]bool),
		examples: make(map[string][]string), lines: make(map[string][]byte), labels: make(map[string][]string),
	}
	link := filepath.Join(j.dir, web+".warc.gz")
	if err := os.Symlink(j.data(".warc.gz"), link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	j.parsed = filepath.Join(j.dir, "parsed.ndjson")
	fetched := filepath.Join(j.dir, "fetched.ndjson")
	j.run(fetched, "fetch", "-archive", link, "-all")
	j.run(j.parsed, "parse", fetched)

	for _, label := range labels {
		for _, kind := range kinds {
			list := testfile.Read(t, j.data("-"+label+"/"+kind+".txt"))
			for url := range strings.FieldsSeq(string(list)) {
				c := j.canonical(url)
				j.examples[label+"."+kind] = append(j.examples[label+"."+kind], c)
				j.lines[c] = nil
			}
		}
	}
	j.read(j.parsed, wire.Address, func(rec *wire.Record) {
		j.there[strings.Clone(rec.URL)] = true
		if _, ok := j.lines[rec.URL]; ok {
			var line bytes.Buffer
			w := wire.NewWriter(&line)
			if err := errors.Join(w.Write(rec), w.Flush()); err != nil {
				t.Fatal(err)
			}
			j.lines[strings.Clone(rec.URL)] = line.Bytes()
		}
	})
	list := testfile.Read(t, j.data(".labels.ndjson"))
	for _, page := range jsonLines[struct {
		URL    string
		Labels []string
	}](t, list) {
		j.labels[j.canonical(page.URL)] = page.Labels
	}
	return j
}

// kinds are the kinds of examples.
var kinds = []string{"positive", "negative"}

// data returns the name of a file of the web, which has this ending.
func (j *jury) data(end string) string { return filepath.Join(shared(), "webs", j.web+end) }

func (j *jury) canonical(url string) string {
	c, err := weburl.Canonical(url)
	if err != nil {
		j.Fatal(err)
	}
	return c
}

// run runs a command with its output in a file.
func (j *jury) run(out string, command string, args ...string) {
	j.Helper()
	bin := build(j)
	f, err := os.Create(out)
	if err != nil {
		j.Fatal(err)
	}
	defer f.Close()
	var said bytes.Buffer
	c := exec.Command(filepath.Join(bin, command), args...)
	c.Stdout, c.Stderr = f, &said
	if err := c.Run(); err != nil {
		j.Fatalf("%s: %v\n%s", command, err, &said)
	}
}

// read reads a file of records.
func (j *jury) read(name string, want wire.Section, do func(*wire.Record)) {
	j.Helper()
	f, err := os.Open(name)
	if err != nil {
		j.Fatal(err)
	}
	defer f.Close()
	r := wire.NewReader(f, want)
	var rec wire.Record
	for {
		switch err := r.Read(&rec); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			j.Fatal(err)
		}
		do(&rec)
	}
}

// words returns the query of a label.
func (j *jury) words(label string) string {
	query, err := os.ReadFile(j.data("-" + label + "/query.txt"))
	if err != nil {
		j.Fatal(err)
	}
	return strings.TrimSpace(string(query))
}

// query makes the topic of a label from a query alone.
func (j *jury) query(label string) (file string) {
	file = filepath.Join(j.dir, label+".query.json")
	j.run(file, "topic", "-query", j.words(label))
	return file
}

// topic makes the topic of a label from a query and examples, as a user would.
func (j *jury) topic(label string) (file string) {
	args := []string{"-query", j.words(label)}
	for _, kind := range kinds {
		var b bytes.Buffer
		for _, url := range j.examples[label+"."+kind] {
			if j.lines[url] == nil {
				j.Fatalf("%s: the archive lacks %s", label, url)
			}
			b.Write(j.lines[url])
		}
		name := filepath.Join(j.dir, label+"."+kind+".ndjson")
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			j.Fatal(err)
		}
		args = append(args, "-"+kind, name)
	}
	file = filepath.Join(j.dir, label+".topic.json")
	j.run(file, "topic", args...)
	return file
}

// A verdict holds the guesses of a measure for all pages, for those that are not examples, and for
// the targets of links, each with the highest score of the links to it.
type verdict struct{ all, pages, links []guess }

// verdicts are those of measures on a topic of a label.
func (j *jury) verdicts(topic, label string, judged []string) []verdict {
	scored := filepath.Join(j.dir, "scored.ndjson")
	j.run(scored, "score", "-topic", topic, "-fitness", strings.Join(judged, ","), j.parsed)
	examples := make(map[string]bool)
	for _, kind := range kinds {
		for _, url := range j.examples[label+"."+kind] {
			examples[url] = true
		}
	}
	truth := func(url string) bool { return slices.Contains(j.labels[url], label) }
	value := func(scores []wire.Scored, name string) float64 {
		for _, s := range scores {
			if s.Name == name {
				return s.Value
			}
		}
		return 0
	}
	list, best := make([]verdict, len(judged)), make([]map[string]float64, len(judged))
	for i := range best {
		best[i] = make(map[string]float64)
	}
	j.read(scored, wire.Address|wire.Parse|wire.Score, func(rec *wire.Record) {
		url := strings.Clone(rec.URL)
		for i, name := range judged {
			list[i].all = append(list[i].all, guess{url: url, score: value(rec.Scores, name), positive: truth(url)})
		}
		for k := range rec.Links {
			l := &rec.Links[k]
			if l.URL == url || examples[l.URL] || !j.there[l.URL] {
				continue
			}
			for i, name := range judged {
				score := l.Score.Value // by the first
				if i > 0 {
					score = value(l.Scores, name)
				}
				if old, ok := best[i][l.URL]; !ok || score > old {
					best[i][strings.Clone(l.URL)] = score // the record is read into again
				}
			}
		}
	})
	for i := range list {
		v := &list[i]
		j.call(topic, judged[i], v.all)
		for _, g := range v.all {
			if !examples[g.url] {
				v.pages = append(v.pages, g)
			}
		}
		for url, score := range best[i] {
			v.links = append(v.links, guess{url: url, score: score, positive: truth(url)})
		}
	}
	return list
}

// call sets which pages are relevant by a measure, by running score -keep.
func (j *jury) call(topic, measure string, guesses []guess) {
	name, called := filepath.Join(j.dir, "brief.ndjson"), filepath.Join(j.dir, "called.ndjson")
	var b bytes.Buffer
	w := wire.NewWriter(&b)
	for _, g := range guesses {
		if err := w.Write(&wire.Record{V: wire.Version, URL: g.url, StatusCode: 200, Score: wire.Num(g.score)}); err != nil {
			j.Fatal(err)
		}
	}
	if err := errors.Join(w.Flush(), os.WriteFile(name, b.Bytes(), 0o666)); err != nil {
		j.Fatal(err)
	}
	j.run(called, "score", "-keep", "-topic", topic, "-fitness", measure, name)
	i := 0
	j.read(called, wire.Address|wire.Score, func(rec *wire.Record) {
		if rec.URL != guesses[i].url || rec.Relevant.Kind != wire.Present {
			j.Fatalf("%s is not called", rec.URL)
		}
		guesses[i].relevant = rec.Relevant.Value
		i++
	})
}
