package strategy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"spoor/internal/topic"
	"spoor/internal/wire"
)

// elsewhere is a written web on other hosts: h0.test is h0.moved.test.
type elsewhere struct{ name string }

func (m elsewhere) fetch(a Address, generation int) *wire.Record {
	url := a.URL
	a.URL = strings.Replace(url, "."+m.name+".test", ".test", 1)
	rec := written{}.fetch(a, generation)
	rec.URL = url
	for i := range rec.Links {
		rec.Links[i].URL = strings.Replace(rec.Links[i].URL, ".test", "."+m.name+".test", 1)
	}
	return rec
}

// foraging crawls a written web on the hosts of name with forage, with a prior unless it is nil, and
// returns the strategy and the number of relevant pages. If restore is set, it is restored from its
// deltas before each generation.
func foraging(t *testing.T, name string, prior *Prior, generations int, restore bool) (Strategy, int) {
	t.Helper()
	fresh := func() Strategy {
		s, err := New("forage", target(t), []string{"window=10"})
		if err == nil && prior != nil {
			err = Start(s, prior)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := fresh()
	var deltas [][]byte
	batch := []Address{{URL: "http://h0." + name + ".test/list/0"}}
	relevant := 0
	for g := 1; g <= generations; g++ {
		if restore {
			s = fresh()
			for _, d := range deltas {
				if err := s.Replay(d); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, a := range batch {
			rec := elsewhere{name}.fetch(a, g)
			if rec.Relevant == wire.True {
				relevant++
			}
			s.Visit(rec)
		}
		batch = s.Breed(10, rand.New(rand.NewPCG(1, uint64(g))))
		deltas = append(deltas, s.AppendDelta(nil))
	}
	return s, relevant
}

// learned returns the prior of crawls of two webs.
func learned(t *testing.T) *Prior {
	t.Helper()
	var l Learner
	for _, name := range []string{"one", "two"} {
		s, _ := foraging(t, name, nil, 30, false)
		if err := l.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	p, err := l.Prior()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// written returns a prior as a file has it.
func (p *Prior) written(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// On both webs the word "paper" leads to relevant pages. Crawls of other webs that start from there
// find more of them than those that must learn it.
func TestAPriorIsWorthSomethingWhereWebsAgree(t *testing.T) {
	p := learned(t)
	if p.Webs != 2 || p.Runs != 2 || p.Pages < 500 {
		t.Errorf("learned from %d webs, %d runs, %d pages", p.Webs, p.Runs, p.Pages)
	}
	weight := func(word string) float64 {
		i := slices.IndexFunc(p.Relevant, func(l Learned) bool { return l.In == "anchor" && l.Word == word })
		if i < 0 {
			t.Fatalf("nothing is learned of %q", word)
		}
		return p.Relevant[i].Weight
	}
	if paper, garden := weight("paper"), weight("garden"); paper < 0.1 || garden > paper/3 {
		t.Errorf("the weight of paper is %.3f, that of garden %.3f", paper, garden)
	}
	for _, l := range p.lists() {
		for _, e := range *l.list {
			if e.Word == "genet" || e.Word == "crawler" {
				t.Errorf("%s has %q, a word of the query", l.name, e.Word)
			}
		}
	}
	with, without := 0, 0
	for _, web := range []string{"three", "four", "five", "six", "seven"} {
		_, n := foraging(t, web, nil, 5, false)
		without += n
		_, n = foraging(t, web, p, 5, false)
		with += n
	}
	t.Logf("with the prior %d relevant pages are found, without it %d", with, without)
	if with <= without {
		t.Errorf("with the prior %d relevant pages are found, without it %d", with, without)
	}
}

// A file holds the whole prior, and the same crawls give the same file.
func TestPriorsAreReadAsWritten(t *testing.T) {
	p := learned(t)
	file := filepath.Join(t.TempDir(), "prior.json")
	if err := os.WriteFile(file, p.written(t), 0o666); err != nil {
		t.Fatal(err)
	}
	again, err := LoadPrior(file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, again) {
		t.Error("the prior that is read differs from that written")
	}
	if !bytes.Equal(learned(t).written(t), p.written(t)) {
		t.Error("the same crawls give another prior")
	}
}

// A crawl with a prior that is restored before each generation proposes the same as one that is not.
func TestACrawlWithAPriorIsRestored(t *testing.T) {
	p := learned(t)
	whole, n := foraging(t, "three", p, 25, false)
	restored, m := foraging(t, "three", p, 25, true)
	if n != m || !slices.Equal(whole.(*forage).log, restored.(*forage).log) {
		t.Errorf("restored, the crawl finds %d relevant pages, not %d", m, n)
	}
	plain, _ := foraging(t, "three", nil, 1, false)
	if a, b := Signature("forage", whole), Signature("forage", plain); a == b || !strings.HasPrefix(a, b+" prior=") {
		t.Errorf("with a prior the signature is %q, without %q", a, b)
	}
}

func TestDamagedPriorsAreErrors(t *testing.T) {
	var signals []string
	for _, name := range signalNames {
		signals = append(signals, fmt.Sprintf("%q:0.1", name))
	}
	const head = `{"format":"spoor-prior","version":1,"language":"en","stemmer":"porter","runs":2,"webs":2,"pages":9,`
	whole := head + `"signals":{` + strings.Join(signals, ",") + `},"relevant":[],"hubs":[],"lists":[]}`
	entry := func(entries string) string { return strings.Replace(whole, `"hubs":[]`, `"hubs":[`+entries+`]`, 1) }
	if _, err := readPrior([]byte(entry(`{"in":"path","word":"html/a","weight":-1e-6,"precision":1.5}`))); err != nil {
		t.Fatal(err)
	}
	const a, b = `{"in":"anchor","word":"a","weight":0.1,"precision":1}`, `{"in":"anchor","word":"b","weight":0.1,"precision":1}`
	for _, test := range []struct{ file, want string }{
		{``, "not a prior"},
		{`[]`, "not a prior"},
		{`{"format":"spoor-topic","version":1}`, `its format is "spoor-topic"`},
		{`{"format":"spoor-prior","version":2}`, "version 2 is not the one"},
		{head[:len(head)-1] + `}`, "signals has 0 weights"},
		{strings.Replace(whole, `"pages":9`, `"pages":-9`, 1), "must not be negative"},
		{strings.Replace(whole, `"anchor":0.1`, `"anker":0.1`, 1), `the weight of "anchor"`},
		{strings.Replace(whole, `"anchor":0.1`, `"anchor":1e9`, 1), `the weight of "anchor"`},
		{strings.Replace(whole, `"hubs"`, `"labels"`, 1), `unknown field "labels"`},
		{entry(`{"in":"title","word":"a","weight":0.1,"precision":1}`), `in is "title", not one of anchor, address, context, path`},
		{entry(`{"in":"anchor","word":"a","weight":11,"precision":1}`), "the weight 11 is not from"},
		{entry(`{"in":"anchor","word":"a","weight":0.1,"precision":0}`), "the precision 0 is not above 0"},
		{entry(`{"in":"anchor","word":"a","weight":0.1,"precision":1e9}`), "the precision 1e+09 is not"},
		{entry(`{"in":"anchor","word":"` + strings.Repeat("a", 1025) + `","weight":0.1,"precision":1}`), "the word has 1025 bytes"},
		{entry(b + "," + a), "entry 2: entries must be ordered"},
		{entry(a + "," + a), "entry 2: entries must be ordered"},
		{entry(strings.Repeat(a+",", maxLearned) + b), "and at most 20000 are read"},
	} {
		if _, err := readPrior([]byte(test.file)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.200s: got error %v, want %q", test.file, err, test.want)
		}
	}
	big := filepath.Join(t.TempDir(), "big.json")
	if err := os.WriteFile(big, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, maxPriorFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPrior(big); err == nil || !strings.Contains(err.Error(), "big.json") {
		t.Errorf("a file that is too large: %v", err)
	}
}

// A prior is for a strategy that uses it, the language of its words, and a crawl that has not begun.
func TestWherePriorsAreOfNoUse(t *testing.T) {
	p := learned(t)
	shark, err := New("shark", target(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	german, err := topic.New("de", "")
	if err == nil {
		_, err = german.AddQuery("Roggenbrot")
	}
	if err != nil {
		t.Fatal(err)
	}
	other, err := New("forage", german, nil)
	if err != nil {
		t.Fatal(err)
	}
	begun, _ := foraging(t, "one", nil, 1, false)
	for _, test := range []struct {
		s    Strategy
		want string
	}{{shark, "does not use a prior"}, {other, `the prior has the words of language "en"`}, {begun, "after the first page"}} {
		if err := Start(test.s, p); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want %q", err, test.want)
		}
	}
	var l Learner
	for _, test := range []struct {
		s    Strategy
		want string
	}{{shark, "only crawls of the strategy forage"}, {other, "it has no pages"}, {begun, ""}} {
		if err := l.Add(test.s); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want %q", err, test.want)
		}
	}
	for range 2 { // two crawls of one web with the same query are no more than one
		if _, err := l.Prior(); err == nil || !strings.Contains(err.Error(), "at least two such runs") {
			t.Errorf("of one web and query: %v", err)
		}
		again, _ := foraging(t, "one", nil, 1, false)
		if err := l.Add(again); err != nil {
			t.Fatal(err)
		}
	}
}

// Crawls are of one web if they have more than half of their pages on the same hosts.
func TestWebsOfCrawls(t *testing.T) {
	of := func(hosts map[string]float64) *findings { return &findings{hosts: hosts} }
	webs := grouped([]*findings{
		of(map[string]float64{"a": 0.9, "b": 0.1}), of(map[string]float64{"c": 0.6, "a": 0.4}),
		of(map[string]float64{"a": 0.6, "d": 0.4}), of(map[string]float64{"c": 1}),
	}, sameWeb)
	if len(webs) != 2 || len(webs[0]) != 2 || len(webs[1]) != 2 {
		t.Errorf("there are %d webs, want two of two crawls", len(webs))
	}
}
