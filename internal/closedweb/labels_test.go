package closedweb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/judge"
)

// labelled returns labels of a web of two pages.
func labelled() *Labels {
	w := &Web{Web: new(judge.Web), find: func(address string) PageID {
		switch address {
		case "http://a/":
			return PageID{Page: 0}
		case "http://b/", "http://b/old":
			return PageID{Page: 1}
		}
		return PageID{Page: judge.None, Key: address}
	}}
	w.Add(nil)
	w.Add(nil)
	return NewLabels(w, "jazz")
}

func TestLabels(t *testing.T) {
	long := `{"url":"http://a/","labels":["` + strings.Repeat("x", maxLabelLine) + `"]}`
	for _, test := range []struct {
		text           string
		want           []Verdict
		lines, unknown int
		bad            int
	}{
		{"", []Verdict{Unlabelled, Unlabelled}, 0, 0, 0},
		{`{"url":"http://a/","labels":["jazz"]}`, []Verdict{Relevant, Unlabelled}, 1, 0, 0},
		{"\uFEFF\n\uFEFF" + `{"labels":["a","jazz"],"url":"http://b/","by":"me"}` + "\r\n\n", []Verdict{Unlabelled, Relevant}, 1, 0, 0},
		{`{"url":"http://a/"}` + "\n" + `{"url":"http://b/","labels":["Jazz"]}`, []Verdict{Irrelevant, Irrelevant}, 2, 0, 0},
		{`{"url":"http://b/","labels":["jazz"]}` + "\n" + `{"url":"http://b/old","labels":[]}`, []Verdict{Unlabelled, Relevant}, 2, 0, 0},
		{`{"url":"http://b/","labels":[]}` + "\n" + `{"url":"http://b/old","labels":["jazz"]}`, []Verdict{Unlabelled, Relevant}, 2, 0, 0},
		{`{"url":"http://c/","labels":["jazz"]}`, []Verdict{Unlabelled, Unlabelled}, 1, 1, 0},
		{"http://a/\n" + `{"labels":["jazz"]}` + "\n" + `{"url":1}` + "\n[]\n" + `{"url":"http://a/","labels":["jazz"]`, []Verdict{Unlabelled, Unlabelled}, 0, 0, 5},
		{long + "\n" + `{"url":"http://b/","labels":["jazz"]}`, []Verdict{Unlabelled, Relevant}, 1, 0, 1},
		{long[:maxLabelLine+10], []Verdict{Unlabelled, Unlabelled}, 0, 0, 1},
	} {
		l := labelled()
		var bad []error
		if err := l.Read(strings.NewReader(test.text), func(_ int, err error) { bad = append(bad, err) }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, l.verdicts); diff != "" || l.Lines != test.lines || l.Unknown != test.unknown {
			t.Errorf("%.80q: %d lines, %d unknown\n%s", test.text, l.Lines, l.Unknown, diff)
		}
		if len(bad) != test.bad {
			t.Errorf("%.80q: %d bad lines, want %d: %v", test.text, len(bad), test.bad, bad)
		}
	}
}

func TestUnknownLabelListsTheOthers(t *testing.T) {
	l := labelled()
	for i := range 25 {
		l.add(0, []string{fmt.Sprintf("l%02d", i)})
	}
	err := l.check()
	if err == nil || !strings.HasSuffix(err.Error(), "hint: there are l00, l01, l02, l03, l04, l05, l06, l07, l08, l09, l10, l11, l12, l13, l14, l15, l16, l17, l18, l19, …") {
		t.Error(err)
	}
	l.add(judge.None, []string{"jazz"})
	if err := l.check(); err != nil {
		t.Error(err) // that its page is not in the web is no error
	}
}

func FuzzLabels(f *testing.F) {
	f.Add(strings.Repeat("nonsense\n", 12))
	f.Add(`{"url":"http://a/","labels":["jazz"]}` + "\n" + `{"url":"http://c/"}` + "\nnonsense\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		l := labelled()
		bad := 0
		if err := l.Read(strings.NewReader(text), func(int, error) { bad++ }); err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		if l.Lines+bad != lines || l.Unknown > l.Lines {
			t.Errorf("%d labels, %d of them unknown, and %d bad lines of %d", l.Lines, l.Unknown, bad, lines)
		}
		l.check()
	})
}
