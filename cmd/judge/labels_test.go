package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spoor/cmd/internal/filter"
)

// pageOf has a page for each of some addresses.
func pageOf(address string) int32 {
	switch address {
	case "http://a/":
		return 0
	case "http://b/", "http://b/old":
		return 1
	}
	return none
}

func TestLabelsAreLinesAndABadOneCostsItself(t *testing.T) {
	long := `{"url":"http://a/","labels":["` + strings.Repeat("x", maxLabelLine) + `"]}`
	for _, test := range []struct {
		text           string
		of             []mark
		lines, unknown int
		bad            int
	}{
		{"", []mark{unlabelled, unlabelled}, 0, 0, 0},
		{`{"url":"http://a/","labels":["jazz"]}`, []mark{relevant, unlabelled}, 1, 0, 0},
		{"\n" + `{"labels":["a","jazz"],"url":"http://b/","by":"me"}` + "\r\n\n", []mark{unlabelled, relevant}, 1, 0, 0},
		{`{"url":"http://a/"}` + "\n" + `{"url":"http://b/","labels":["Jazz"]}`, []mark{irrelevant, irrelevant}, 2, 0, 0},
		{`{"url":"http://b/","labels":["jazz"]}` + "\n" + `{"url":"http://b/old","labels":[]}`, []mark{unlabelled, relevant}, 2, 0, 0},
		{`{"url":"http://b/","labels":[]}` + "\n" + `{"url":"http://b/old","labels":["jazz"]}`, []mark{unlabelled, relevant}, 2, 0, 0},
		{`{"url":"http://c/","labels":["jazz"]}`, []mark{unlabelled, unlabelled}, 1, 1, 0},
		{"http://a/\n" + `{"labels":["jazz"]}` + "\n" + `{"url":1}` + "\n[]\n" + `{"url":"http://a/","labels":["jazz"]`, []mark{unlabelled, unlabelled}, 0, 0, 5},
		{long + "\n" + `{"url":"http://b/","labels":["jazz"]}`, []mark{unlabelled, relevant}, 1, 0, 1},
		{long[:maxLabelLine+10], []mark{unlabelled, unlabelled}, 0, 0, 1},
	} {
		m := newMarks("jazz", 2)
		var log bytes.Buffer
		if err := readLabels(strings.NewReader(test.text), m, pageOf, filter.Logger(&log, "test", "text")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.of, m.of); diff != "" || m.lines != test.lines || m.unknown != test.unknown {
			t.Errorf("%.80q: %d lines, %d unknown\n%s", test.text, m.lines, m.unknown, diff)
		}
		if bad := strings.Count(log.String(), "no label"); bad != test.bad {
			t.Errorf("%.80q: %d bad lines\n%s", test.text, bad, log.String())
		}
	}
}

func TestALabelThatNobodyHasIsAnErrorThatNamesTheOthers(t *testing.T) {
	m := newMarks("jazz", 1)
	for i := range 25 {
		m.add(0, []string{fmt.Sprintf("l%02d", i)})
	}
	err := m.check()
	if err == nil || !strings.HasSuffix(err.Error(), "hint: there are l00, l01, l02, l03, l04, l05, l06, l07, l08, l09, l10, l11, l12, l13, l14, l15, l16, l17, l18, l19, …") {
		t.Error(err)
	}
	m.add(none, []string{"jazz"})
	if err := m.check(); err != nil {
		t.Error(err) // that it is of no page of the web is said elsewhere
	}
}

func TestOfManyBadLabelsTenAreReported(t *testing.T) {
	var log bytes.Buffer
	bad := `{"url":"http://a/","labels":["jazz"]}` + strings.Repeat("\n<p>", 1000)
	if err := readLabels(strings.NewReader(bad), newMarks("jazz", 2), pageOf, filter.Logger(&log, "test", "text")); err != nil {
		t.Fatal(err)
	}
	if strings.Count(log.String(), "\n") != 11 || !strings.Contains(log.String(), `"skipped more such lines" cmd=test lines=990`) {
		t.Error(log.String())
	}
}

func FuzzLabels(f *testing.F) {
	f.Add(strings.Repeat("nonsense\n", 12))
	f.Add(`{"url":"http://a/","labels":["jazz"]}` + "\n" + `{"url":"http://c/"}` + "\nnonsense\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		m := newMarks("jazz", 2)
		var log bytes.Buffer
		if err := readLabels(strings.NewReader(text), m, pageOf, filter.Logger(&log, "test", "text")); err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		bad, more := strings.Count(log.String(), "skipped a line that is no label"), 0
		if _, last, ok := strings.Cut(log.String(), `msg="skipped more such lines" cmd=test lines=`); ok {
			fmt.Sscan(last, &more)
		}
		if bad += more; m.lines+bad != lines || m.unknown > m.lines {
			t.Errorf("%d labels, %d of them unknown, and %d bad lines of %d", m.lines, m.unknown, bad, lines)
		}
		m.check()
	})
}
