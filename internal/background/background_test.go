package background

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"regexp"
	"testing"
	"unicode/utf8"
)

func itself(word string) string { return word }

func TestEnglish(t *testing.T) {
	shares := English(itself)
	for _, tt := range []struct {
		word     string
		low, top float64
	}{
		{"the", 0.99, 1},
		{"home", 0.2, 0.4}, // the English of the Web
		{"number", 0.05, 0.2},
		{"students", 0.02, 0.1},
		{"theorem", 0.0005, 0.003},
		{"xpcom", 0, 0},
		{"Number", 0, 0},
	} {
		if got := shares[tt.word]; got < tt.low || got > tt.top {
			t.Errorf("%s has %v, want from %v to %v", tt.word, got, tt.low, tt.top)
		}
	}
	for word, share := range shares {
		if !(share > 0 && share <= 1) || utf8.RuneCountInString(word) < 2 {
			t.Errorf("%q has %v", word, share)
		}
	}
}

func TestWordsWithTheSameStem(t *testing.T) {
	all := English(itself)
	first := English(func(word string) string {
		switch word {
		case "theorem", "number":
			return "x"
		}
		return ""
	})
	if len(first) != 1 || first["x"] != all["number"] {
		t.Errorf("%v, want the share of the most frequent word, %v", first, all["number"])
	}
}

func TestTableIsSorted(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	line := regexp.MustCompile(`^\pL{2,} [1-9][0-9]*$`)
	n, sum := 0, 0
	for last := occurrences; lines.Scan(); n++ {
		var word string
		var count int
		if _, err := fmt.Sscan(lines.Text(), &word, &count); err != nil || !line.MatchString(lines.Text()) || count > last {
			t.Fatalf("%q: want a word and a number of at most %d", lines.Text(), last)
		}
		last = count
		sum += count
	}
	if err := lines.Err(); err != nil || n != 12_000 || n != len(English(itself)) {
		t.Errorf("%d words, %d of them different: %v", n, len(English(itself)), err)
	}
	if sum > occurrences {
		t.Errorf("the words of the table occur %d times, all words %d times", sum, occurrences)
	}
}
