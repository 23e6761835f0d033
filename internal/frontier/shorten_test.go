package frontier

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Outcomes that are too long for a line of the log are shortened, and keep the fields that
// determine the state.
func TestLongOutcomesAreShortened(t *testing.T) {
	const u = `{"v":1,"url":"http://a.org/x","generation":3,"depth":2,"via":"http://a.org/","operator":"crossover","priority":0.5,"retries":1,`
	long := func(s string) string { return strings.Repeat(s, maxAddedLine/len(s)+1) }
	list := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+",", i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	query := strings.Repeat(`\\`, 8000) // one byte of a URL takes two in a record
	for _, test := range []struct {
		name, members string
		kept, lost    []string
	}{
		{"headers of bytes that are no text", `"mine":7,"status_code":200,"headers":{"x":["` + strings.Repeat("\ufffd", 300<<10) + `"]}`,
			[]string{`"mine":7`, `"status_code":200`}, []string{`"headers"`}},
		{"the detail of an error", `"error":"robots","error_detail":"` + long("no ") + `"`,
			[]string{`"error":"robots"`, `"error_detail":"no no`}, nil},
		{"a member without a name here", `"status_code":200,"mine":"` + long("x") + `"`,
			[]string{`"status_code":200`}, []string{`"mine"`}},
		{"more than any line may have", `"status_code":404,"mine":"` + strings.Repeat("x", 3*maxLine) + `"`,
			[]string{`"status_code":404`}, []string{`"mine"`}},
		{"an error outside the vocabulary", `"error":"` + long("x") + `"`,
			[]string{`"error":"xxx`}, nil},
		{"scores", `"status_code":200,"scores":{` + list(maxAddedLine/8, `"m%d":1`) + `}`,
			[]string{`"status_code":200`}, []string{`"scores"`}},
		{"parents", `"status_code":200,"parents":[` + list(200, `"http://p.org/%03d?`+query+`"`) + `]`,
			[]string{`"http://p.org/000?`, `"http://p.org/015?`}, []string{`"http://p.org/016?`}},
		{"redirects", `"status_code":200,"redirects":[` + list(200, `{"url":"http://r.org/%03d?`+query+`","status_code":301,"mine":1}`) + `]`,
			[]string{`"http://r.org/000?`, `"http://r.org/019?`}, []string{`"http://r.org/020?`}},
		{"all of it", `"error":"robots","error_detail":"` + long(`\u0001`) + `","niche":"` + long(`\u0001`) + `","query":"` + long(`\u0001`) +
			`","redirects":[` + list(99, `{"url":"http://r.org/%03d?`+query+`","status_code":301}`) +
			`],"parents":[` + list(99, `"http://p.org/%03d?`+query+`"`) + `]`,
			[]string{`"error":"robots"`, `"http://r.org/000?`, `"http://p.org/015?`}, []string{`"http://r.org/019?`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, Options{})
			line := u + test.members + `,"final_url":"http://a.org/y","timestamp":"2026-11-20T11:00:00Z","not_before":"2026-11-20T12:30:00Z","score":0.25,"relevant":true}`
			if len(line) < maxAddedLine {
				t.Fatalf("only %d bytes", len(line))
			}
			if got := add(t, s, line, line); !slices.Equal(got, []Verdict{Changed, Known}) || s.Shortened() != 2 {
				t.Errorf("verdicts %v, %d shortened", got, s.Shortened())
			}
			kept, err := s.log.line(s.x.history(0).outcome)
			if err != nil || len(kept) > maxAddedLine {
				t.Fatalf("%d bytes, %v", len(kept), err)
			}
			want := append(test.kept, `"url":"http://a.org/x"`, `"generation":3`, `"depth":2`, `"via":"http://a.org/"`, `"operator":"crossover"`,
				`"priority":0.5`, `"retries":1`, `"final_url":"http://a.org/y"`, `"timestamp":"2026-11-20T11:00:00Z"`, `"not_before":"2026-11-20T12:30:00Z"`,
				`"score":0.25`, `"relevant":true`)
			exported := export(t, s, noon)
			all := string(kept) + strings.Join(exported, "")
			for _, member := range want {
				if !strings.Contains(all, member) {
					t.Errorf("%s is lost: %.300s", member, kept)
				}
			}
			for _, member := range test.lost {
				if bytes.Contains(kept, []byte(member)) {
					t.Errorf("%s is kept", member)
				}
			}
			closeStore(t, s)

			s = open(t, dir, Options{}) // from the log
			if diff := cmp.Diff(exported, export(t, s, noon)); diff != "" {
				t.Errorf("after opening: %.2000s", diff)
			}
			closeStore(t, s)
			checkSound(t, dir)
		})
	}
}

func TestLongOutcomeEndsItsLease(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s, `{"v":1,"url":"http://a.org/x","priority":1}`)
	if got := urls(next(t, s, Request{N: 1, Generation: 1})); got != "a.org/x" {
		t.Fatalf("leased %q", got)
	}
	add(t, s, `{"v":1,"url":"http://a.org/x","generation":1,"status_code":200,"mine":"`+strings.Repeat("x", maxAddedLine)+`"}`)
	if got := next(t, s, Request{N: 1, Generation: 2}); got != "" {
		t.Errorf("leased again: %s", got)
	}
}

func TestExportOfALongProposalAndALongOutcome(t *testing.T) {
	s := emptyStore(t, Options{})
	words := strings.Repeat("x", maxAddedLine-200)
	add(t, s,
		`{"v":1,"url":"http://a.org/x","generation":2,"mine":"`+words+`"}`,
		`{"v":1,"url":"http://a.org/x","generation":1,"error":"dns","error_detail":"`+words+`"}`,
		`{"v":1,"url":"http://a.org/x","parents":["http://p.org/`+strings.Repeat("p", 4000)+`"]}`)
	if got := export(t, s, noon); len(got) != 1 || !strings.Contains(got[0], `"error":"dns"`) {
		t.Errorf("%.300q", got)
	}
}
