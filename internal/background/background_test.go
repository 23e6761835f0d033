package background

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"regexp"
	"strings"
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
		{"file", 0.5, 1}, // the English of manuals
		{"number", 0.2, 0.7},
		{"students", 0.001, 0.05},
		{"theorem", 0.0005, 0.01},
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
		case "file", "theorem":
			return "x"
		}
		return ""
	})
	if len(first) != 1 || first["x"] != all["file"] {
		t.Errorf("%v, want the share of the most frequent word, %v", first, all["file"])
	}
}

// The constants and the file describe the same documents.
func TestTableMatchesTheConstants(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Scan()
	if want := fmt.Sprintf("%d documents, %.1f words on average: ", Documents, AverageLength); !strings.HasPrefix(lines.Text(), want) {
		t.Errorf("the first line is %q, want %q", lines.Text(), want)
	}
	line := regexp.MustCompile(`^\pL{2,} [1-9][0-9]*$`)
	n := 0
	for last := Documents; lines.Scan(); n++ {
		var word string
		var df int
		if _, err := fmt.Sscan(lines.Text(), &word, &df); err != nil || !line.MatchString(lines.Text()) || df > last {
			t.Fatalf("%q: want a word and a number of at most %d", lines.Text(), last)
		}
		last = df
	}
	if err := lines.Err(); err != nil || n < 10_000 || n != len(English(itself)) {
		t.Errorf("%d words, %d of them different: %v", n, len(English(itself)), err)
	}
}
