package frontier

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/wire"
)

func forget(t testing.TB, s *Store, sel Selection) int {
	t.Helper()
	n, err := s.Forget(sel)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestForgottenURLsCanBeAddedAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	visited := `{"v":1,"url":"http://a.org/x","generation":1,"status_code":200}`
	add(t, s, visited, `{"v":1,"url":"http://b.org/","parents":["http://a.org/x"]}`,
		`{"v":1,"url":"http://c.org/","retries":3,"error":"timeout","not_before":"2026-11-20T13:00:00Z"}`)
	if n := forget(t, s, Selection{URLs: []string{"http://A.org/x", "http://a.org/x", "http://c.org/", "http://nowhere.org/"}}); n != 2 {
		t.Errorf("forgot %d", n)
	}
	if n := forget(t, s, Selection{URLs: []string{"http://a.org/x"}}); n != 0 {
		t.Errorf("forgot %d that were not known", n)
	}
	for range 3 { // in memory; from the snapshot or the log; from the log alone
		want := []string{`{"v":1,"url":"http://b.org/","parents":["http://a.org/x"],"state":"waiting"}` + "\n"}
		if diff := cmp.Diff(want, export(t, s, noon)); diff != "" {
			t.Error(diff)
		}
		closeStore(t, s)
		os.Remove(filepath.Join(dir, snapshotName))
		s = open(t, dir, Options{})
	}
	if v := add(t, s, `{"v":1,"url":"http://a.org/x"}`, `{"v":1,"url":"http://c.org/"}`); v[0] != Changed || v[1] != Changed {
		t.Errorf("added again: %v", v)
	}
	if got := urls(next(t, s, Request{N: 9, Generation: 2})); got != "a.org/x b.org/" {
		t.Errorf("next gives %s: only the host of c.org wants to be left in peace", got)
	}
	if v := add(t, s, visited); v[0] != Changed {
		t.Errorf("what came of it: %v", v)
	}
	closeStore(t, s)
	checkSound(t, dir)
}

func TestForgetHostsAndPrefixes(t *testing.T) {
	all := []string{"http://a.org.uk/", "http://a.org/", "http://a.org/w/1", "http://a.org/w/2", "http://a.org/x", "http://a.org:81/w/", "https://a.org/w/1"}
	for _, test := range []struct {
		sel  Selection
		left string
	}{
		{Selection{Hosts: []string{"A.org"}}, "http://a.org.uk/ http://a.org:81/w/"},
		{Selection{Hosts: []string{"a.org:81", "none.org"}}, "http://a.org.uk/ http://a.org/ http://a.org/w/1 http://a.org/w/2 http://a.org/x https://a.org/w/1"},
		{Selection{Prefixes: []string{"http://a.org"}}, "http://a.org.uk/ http://a.org:81/w/ https://a.org/w/1"},
		{Selection{Prefixes: []string{"http://a.org/w/"}, URLs: []string{"http://a.org/w/2", "http://a.org/x"}}, "http://a.org.uk/ http://a.org/ http://a.org:81/w/ https://a.org/w/1"},
		{Selection{}, strings.Join(all, " ")},
	} {
		s := open(t, t.TempDir(), Options{})
		for _, u := range all {
			add(t, s, fmt.Sprintf(`{"v":1,"url":%q}`, u))
		}
		forget(t, s, test.sel)
		var left []string
		for _, line := range export(t, s, noon) {
			_, u, _ := strings.Cut(line, `"url":"`)
			u, _, _ = strings.Cut(u, `"`)
			left = append(left, u)
		}
		slices.Sort(left)
		if got := strings.Join(left, " "); got != test.left {
			t.Errorf("%+v: left %s, want %s", test.sel, got, test.left)
		}
		closeStore(t, s)
	}
	s := emptyStore(t, Options{})
	for _, sel := range []Selection{{Hosts: []string{"a.org/x"}}, {Hosts: []string{""}}, {Prefixes: []string{"a.org"}}, {URLs: []string{"mailto:x"}}} {
		if _, err := s.Forget(sel); err == nil {
			t.Errorf("%+v was taken", sel)
		}
	}
}

// Order and repetition between two calls of Forget do not matter, and opening a store again
// restores it, from the log or a snapshot.
func TestForgetDependsOnTheOrderOfTheLogOnly(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		before, after := randomRecords(rng, 40), randomRecords(rng, 20)
		sel := Selection{URLs: []string{"http://h0.org/1", "http://h1.org/2"}, Hosts: []string{"h2.org"}, Prefixes: []string{"http://h0.org/5"}}
		var want []string
		for round := range 3 {
			dir := t.TempDir()
			s := open(t, dir, Options{segmentSize: 2000})
			add(t, s, before...)
			forget(t, s, sel)
			if round == 1 {
				closeStore(t, s)
				s = open(t, dir, Options{segmentSize: 2000})
			}
			add(t, s, after...)
			got := export(t, s, noon)
			if round == 0 {
				want = got
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, round %d:\n%s", seed, round, diff)
			}
			closeStore(t, s)
			os.Remove(filepath.Join(dir, snapshotName))
			s = open(t, dir, Options{segmentSize: 2000})
			if diff := cmp.Diff(want, export(t, s, noon)); diff != "" {
				t.Fatalf("seed %d, round %d, opened again:\n%s", seed, round, diff)
			}
			closeStore(t, s)
			rng.Shuffle(len(before), func(i, j int) { before[i], before[j] = before[j], before[i] })
			rng.Shuffle(len(after), func(i, j int) { after[i], after[j] = after[j], after[i] })
		}
	}
}

func TestForgetManyURLs(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{segmentSize: 4000})
	for i := range 3000 {
		add(t, s, fmt.Sprintf(`{"v":1,"url":"http://a.org/a/long/path/to/number/%d"}`, i))
	}
	add(t, s, `{"v":1,"url":"http://b.org/"}`)
	if n := forget(t, s, Selection{Hosts: []string{"a.org"}}); n != 3000 {
		t.Errorf("forgot %d", n)
	}
	closeStore(t, s)
	os.Remove(filepath.Join(dir, snapshotName))
	s = open(t, dir, Options{ReadOnly: true})
	defer closeStore(t, s)
	if got := len(export(t, s, noon)); got != 1 {
		t.Errorf("%d URLs are known", got)
	}
}

func TestReprioritise(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s,
		`{"v":1,"url":"http://a.org/","generation":3,"priority":0.5,"via":"http://v.org/","mine":1}`,
		`{"v":1,"url":"http://b.org/","generation":3,"priority":0.4,"error":"timeout","timestamp":"2026-11-20T11:00:00Z"}`,
		`{"v":1,"url":"http://c.org/","status_code":200}`)
	again := func(url string, p wire.Float, want Verdict, wantErr error) {
		t.Helper()
		got, err := s.Reprioritise(&wire.Record{URL: url, Priority: p})
		if got != want || !errors.Is(err, wantErr) {
			t.Errorf("%s to %v: %v, %v", url, p, got, err)
		}
	}
	has := func(want string) {
		t.Helper()
		if got := strings.Join(export(t, s, noon), ""); !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	again("http://a.org/", wire.Num(0.1), Changed, nil)
	again("http://a.org/", wire.Num(0.1), Known, nil) // the same file once more
	has(`{"mine":1,"v":1,"url":"http://a.org/","generation":3,"depth":0,"via":"http://v.org/","priority":0.1,"revision":1,"state":"waiting"}`)
	if v := add(t, s, `{"v":1,"url":"http://a.org/","generation":3,"priority":0.9}`); v[0] != Known {
		t.Errorf("an old record came back: %v", v)
	}
	again("http://a.org/", wire.Num(7), Changed, nil)
	has(`"priority":7,"revision":2`)
	again("http://a.org/", wire.Float{Kind: wire.Null}, Changed, nil)
	again("http://a.org/", wire.Float{Kind: wire.Null}, Known, nil)
	has(`"priority":null,"revision":3,"state":"withdrawn"`)
	again("http://a.org/", wire.Num(0), Changed, nil)
	add(t, s, `{"v":1,"url":"http://a.org/","generation":4,"priority":0.3}`)
	has(`"generation":4,"priority":0.3,"state":"waiting"`)
	again("http://b.org/", wire.Num(2), Changed, nil) // known only by its failure
	has(`"url":"http://b.org/","generation":3,"depth":0,"priority":2,"revision":1,"timestamp":"2026-11-20T11:00:00Z",`)
	again("http://c.org/", wire.Num(2), Refused, ErrSettled)
	again("http://d.org/", wire.Num(2), Refused, ErrUnknown)
	if _, err := s.Reprioritise(&wire.Record{URL: "mailto:x"}); err == nil {
		t.Error("no address was taken")
	}
}
