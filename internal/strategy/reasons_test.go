package strategy

import (
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"spoor/internal/testfile"
)

// The last section of doc/design/papers.md has a row for every strategy with the operators and
// the reasons of what it proposes.
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

// README.md gives the number of strategies.
func TestNumberOfStrategiesIsDocumented(t *testing.T) {
	text := testfile.Read(t, filepath.Join("..", "..", "README.md"))
	for _, m := range regexp.MustCompile(`(\d+) strategies`).FindAllStringSubmatch(string(text), -1) {
		if m[1] != strconv.Itoa(len(Kinds())) {
			t.Errorf("README.md says «%s», there are %d", m[0], len(Kinds()))
		}
	}
}
