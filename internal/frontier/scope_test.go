package frontier

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// hostScope is a scope for tests: the hosts of the seeds, paths without "private", and a depth.
type hostScope struct {
	hosts map[string]bool
	depth int
}

func newHostScope(depth int) *hostScope { return &hostScope{map[string]bool{}, depth} }

func (h *hostScope) NeedsSeeds() bool     { return true }
func (h *hostScope) AddSeed(u weburl.URL) { h.hosts[strings.Clone(u.Host())] = true }
func (h *hostScope) Decide(u weburl.URL, depth int, isSeed bool) (reason, rule string) {
	switch {
	case strings.Contains(u.Path(), "private"):
		return wire.ErrorScopeExcluded, "no private"
	case !isSeed && !h.hosts[u.Host()]:
		return wire.ErrorOutOfScope, "same host"
	case !isSeed && depth > h.depth:
		return wire.ErrorScopeDepth, "depth " + strconv.Itoa(h.depth)
	}
	return "", ""
}

const (
	seedLine        = `{"v":1,"url":"http://a.org/","operator":"seed","priority":9}`
	privateSeedLine = `{"v":1,"url":"http://a.org/private/seed","operator":"seed","priority":9}`
)

func deepRecord(url string, depth, generation int) string {
	return `{"v":1,"url":"http://` + url + `","operator":"link","depth":` + strconv.Itoa(depth) + `,"generation":` + strconv.Itoa(generation) + `}`
}

// TestScopeExcludes adds the same records in many orders, in one process, or in two if the first is
// killed before it commits. The store is the same at the end.
func TestScopeExcludes(t *testing.T) {
	records := []string{
		seedLine, privateSeedLine,
		deepRecord("a.org/near", 1, 0), deepRecord("a.org/far", 4, 0), deepRecord("a.org/private/x", 1, 0), deepRecord("b.org/", 1, 0),
	}
	want := map[string]string{
		"a.org/far": "scope_depth", "a.org/private/x": "scope_excluded", "a.org/private/seed": "scope_excluded", "b.org/": "out_of_scope",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		dir := t.TempDir()
		var scope Scope = newHostScope(3)
		if i%2 == 0 { // without a scope it leaves what a killed process would: records, no exclusions
			s := open(t, dir, Options{})
			add(t, s, records[:i%5]...)
			closeStore(t, s)
		}
		s := open(t, dir, Options{Scope: scope})
		add(t, s, records...)
		commit(t, s)
		if d := cmp.Diff(want, skippedURLs(t, s)); d != "" {
			t.Fatalf("records in the order %q: %s", records, d)
		}
		st, err := s.Stats(noon)
		if err != nil || st.Reasons["scope_depth 3"] != 1 {
			t.Errorf("reasons %v, %v", st.Reasons, err)
		}
		if got := urls(next(t, s, Request{N: 9, Generation: 1})); got != "a.org/ a.org/near" {
			t.Errorf("leased %s", got)
		}
		closeStore(t, s)
		checkSound(t, dir)
	}
}

// TestScopeDecidesBeforeLeasing leases without a commit in between.
func TestScopeDecidesBeforeLeasing(t *testing.T) {
	s := open(t, t.TempDir(), Options{Scope: newHostScope(3)})
	add(t, s, seedLine, deepRecord("b.org/", 1, 0))
	if got := urls(next(t, s, Request{N: 9, Generation: 1})); got != "a.org/" {
		t.Errorf("leased %s", got)
	}
	closeStore(t, s)
}

// What ends an exclusion, and what does not.
func TestEndOfScopeExclusions(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{Scope: newHostScope(3)})
	add(t, s, seedLine, deepRecord("a.org/far", 4, 0), deepRecord("a.org/farther", 5, 0), deepRecord("a.org/private/x", 4, 0), deepRecord("b.org/", 1, 0))
	closeStore(t, s)

	s = open(t, dir, Options{Scope: newHostScope(3)})
	add(t, s, deepRecord("a.org/far", 3, 1), deepRecord("a.org/farther", 4, 1), deepRecord("a.org/private/x", 1, 1), deepRecord("b.org/", 0, 1),
		`{"v":1,"url":"http://a.org/private/x","operator":"seed","generation":2}`)
	commit(t, s)
	want := map[string]string{"a.org/farther": "scope_depth", "a.org/private/x": "scope_excluded", "b.org/": "out_of_scope"}
	if d := cmp.Diff(want, skippedURLs(t, s)); d != "" {
		t.Error(d)
	}
	add(t, s, `{"v":1,"url":"http://b.org/","operator":"seed","generation":2}`, `{"v":1,"url":"http://a.org/farther","operator":"seed","generation":2}`)
	delete(want, "b.org/")
	delete(want, "a.org/farther")
	closeStore(t, s)
	s = open(t, dir, Options{})
	if d := cmp.Diff(want, skippedURLs(t, s)); d != "" {
		t.Error(d)
	}
	closeStore(t, s)
}

// TestRecheckScope narrows the scope while addresses wait that have been checked already.
func TestRecheckScope(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{Scope: newHostScope(9)})
	add(t, s, seedLine, deepRecord("a.org/2", 2, 0), deepRecord("a.org/5", 5, 0))
	if got := urls(next(t, s, Request{N: 1, Generation: 1})); got != "a.org/" {
		t.Fatalf("leased %s", got)
	}
	closeStore(t, s)
	for _, recheck := range []bool{false, true} {
		s = open(t, dir, Options{Scope: newHostScope(3), RecheckScope: recheck})
		commit(t, s)
		if got := len(skippedURLs(t, s)); got != map[bool]int{true: 1}[recheck] {
			t.Errorf("RecheckScope %v: %d excluded", recheck, got)
		}
		closeStore(t, s)
	}
	s = open(t, dir, Options{})
	if got := urls(next(t, s, Request{N: 9, Generation: 2})); got != "a.org/ a.org/2" {
		t.Errorf("leased %s", got)
	}
	closeStore(t, s)
}
