package strategy

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"spoor/internal/testfile"
)

// The section "Operators and reasons" of doc/design/papers.md has a row for every strategy with the
// operators and the reasons of what it proposes.
func TestOperatorsAndReasonsAreDocumented(t *testing.T) {
	text := testfile.Read(t, filepath.Join("..", "..", "doc", "design", "papers.md"))
	_, table, _ := strings.Cut(string(text), "\n## Operators and reasons\n")
	words := map[string][]string{} // of a strategy's row
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for kind := range strings.SplitSeq(cells[1], ",") {
			words[strings.TrimSpace(kind)] = strings.FieldsFunc(cells[2]+" "+cells[3], func(r rune) bool { return !unicode.IsLetter(r) })
		}
	}
	w := signposts()
	for _, kind := range Kinds() {
		if words[kind.Name] == nil {
			t.Errorf("%s has no row", kind.Name)
			continue
		}
		s := newStrategy(t, kind.Name, target(t), nil)
		lacks := map[string]bool{}
		tell := func(word string) {
			if !slices.Contains(words[kind.Name], word) && !lacks[word] {
				lacks[word] = true
				t.Errorf("the row of %s lacks %s", kind.Name, word)
			}
			if !slices.ContainsFunc(slices.Concat(kind.Operators, kind.Reasons), func(w Word) bool { return w.Name == word && w.Doc != "" }) && !lacks[word] {
				lacks[word] = true
				t.Errorf("the kind %s lacks %s", kind.Name, word)
			}
		}
		batch := []Address{{URL: "http://h0.test/l0"}}
		for g := 1; g <= 20 && len(batch) > 0; g++ {
			for _, a := range batch {
				s.Visit(w.fetch(a, g))
			}
			batch = nil
			for _, a := range s.Breed(12, rand.New(rand.NewPCG(3, uint64(g)))) {
				tell(a.Operator)
				for _, r := range a.Reasons {
					tell(r.Name)
				}
				if a.URL != "" && len(batch) < 12 {
					batch = append(batch, a)
				}
			}
		}
	}
}

// The row of a strategy in doc/design/papers.md and evolve -strategies have the same words, and those that
// are sorted in records are sorted.
func TestWordsOfKindsAreDocumented(t *testing.T) {
	_, table, _ := strings.Cut(string(testfile.Read(t, filepath.Join("..", "..", "doc", "design", "papers.md"))), "\n## Operators and reasons\n")
	for _, kind := range Kinds() {
		row := regexp.MustCompile(`(?m)^\| (?:[a-z]+, )*` + kind.Name + `(?:, [a-z]+)* \|.*$`).FindString(table)
		for _, w := range slices.Concat(kind.Operators, kind.Reasons) {
			if !regexp.MustCompile(`\b` + w.Name + `\b`).MatchString(row) {
				t.Errorf("the row of %s lacks %s", kind.Name, w.Name)
			}
		}
		if !slices.IsSortedFunc(kind.Reasons, func(a, b Word) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("the reasons of %s are not sorted", kind.Name)
		}
		if len(kind.Operators) == 0 {
			t.Errorf("%s has no operators", kind.Name)
		}
	}
}

// Kind.Chance says whether the seed changes the choices of a strategy. The web of this test is too small for
// some: one order of their links is the best whatever they draw.
func TestChanceIsDocumented(t *testing.T) {
	w := signposts()
	crawl := func(name string, seed uint64) (all []string) {
		s := newStrategy(t, name, target(t), nil)
		batch := []Address{{URL: "http://h0.test/l0"}}
		for g := 1; g <= 20 && len(batch) > 0; g++ {
			for _, a := range batch {
				s.Visit(w.fetch(a, g))
			}
			batch = nil
			for _, a := range s.Breed(12, rand.New(rand.NewPCG(seed, uint64(g)))) {
				all = append(all, a.URL+a.Query)
				if a.URL != "" && len(batch) < 12 {
					batch = append(batch, a)
				}
			}
		}
		return all
	}
	for _, kind := range Kinds() {
		first, depends := crawl(kind.Name, 1), false
		for seed := uint64(2); seed < 6 && !depends; seed++ {
			depends = !slices.Equal(first, crawl(kind.Name, seed))
		}
		if depends != kind.Chance && !(kind.Chance && slices.Contains([]string{"apprentice", "gcrawler", "niche"}, kind.Name)) {
			t.Errorf("%s: the seed changes its choices: %t", kind.Name, depends)
		}
	}
}

// CHANGELOG.md gives the number of strategies.
func TestNumberOfStrategiesIsDocumented(t *testing.T) {
	text := testfile.Read(t, filepath.Join("..", "..", "CHANGELOG.md"))
	if want := fmt.Sprintf("* `evolve`: %d strategies: ", len(Kinds())); !strings.Contains(string(text), want) {
		t.Errorf("CHANGELOG.md lacks «%s»", want)
	}
}
