package frontier

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/testfile"
	"spoor/internal/wire"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// rounds returns n, the number of random rounds of a test, or a tenth of it in short mode.
func rounds(n uint64) uint64 {
	if testing.Short() {
		return (n + 9) / 10
	}
	return n
}

// step returns 1, or short in short mode: the distance of the cases tried by a test.
func step(short int) int {
	if testing.Short() {
		return short
	}
	return 1
}

// noSyncDisk is a disk that does not sync.
type noSyncDisk struct{ osDisk }

func (d noSyncDisk) open(name string, at int64) (file, error) {
	f, err := d.osDisk.open(name, at)
	return noSyncFile{f}, err
}

func (noSyncDisk) sync(string) error { return nil }

type noSyncFile struct{ file }

func (noSyncFile) Sync() error { return nil }

// open opens a store, creating it if necessary.
func open(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	o.Create = !o.ReadOnly
	if o.disk == nil {
		o.disk = noSyncDisk{}
	}
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// emptyStore opens a new store, which is closed when the test ends.
func emptyStore(t testing.TB, o Options) *Store {
	t.Helper()
	s := open(t, t.TempDir(), o)
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// add adds lines, which must be valid records.
func add(t testing.TB, s *Store, lines ...string) (verdicts []Verdict) {
	t.Helper()
	var rec wire.Record // a wire.Reader would allocate a buffer at each call
	for line := range strings.FieldsFuncSeq(strings.Join(lines, "\n"), func(r rune) bool { return r == '\n' }) {
		if err := rec.Unmarshal([]byte(line), Sections); err != nil {
			t.Fatal(err)
		}
		v, err := s.Add(&rec)
		if err != nil {
			t.Fatalf("%s: %v", rec.URL, err)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// export returns the lines of an export, sorted.
func export(t testing.TB, s *Store, now time.Time) []string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Export(&b, now); err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(b.String()))
	slices.Sort(lines)
	return lines
}

func next(t testing.TB, s *Store, q Request) string {
	t.Helper()
	if q.Now.IsZero() {
		q.Now = noon
	}
	b, err := s.Next(q)
	if _, none := errors.AsType[*NothingDue](err); err != nil && !none {
		t.Fatal(err)
	}
	return string(b)
}

// urls returns the URLs in lines, without the scheme.
func urls(lines string) string {
	var list []string
	for line := range strings.Lines(lines) {
		_, u, _ := strings.Cut(line, `"url":"http://`)
		u, _, _ = strings.Cut(u, `"`)
		list = append(list, u)
	}
	return strings.Join(list, " ")
}

func TestNextOrder(t *testing.T) {
	records := []string{
		`{"v":1,"url":"http://a.org/low","priority":0.1}`,
		`{"v":1,"url":"http://a.org/none"}`,
		`{"v":1,"url":"http://b.org/tie","priority":0.5}`,
		`{"v":1,"url":"http://a.org/tie","priority":0.5}`,
		`{"v":1,"url":"http://a.org/tie/2","priority":0.5}`,
		`{"v":1,"url":"https://a.org/tie","priority":0.5}`,
		`{"v":1,"url":"http://a.org.uk/tie","priority":0.5}`,
		`{"v":1,"url":"http://c.org/below","priority":-1}`,
		`{"v":1,"url":"http://c.org/gone","priority":null}`,
		`{"v":1,"url":"http://c.org/best","priority":2}`,
	}
	for _, test := range []struct {
		q    Request
		want string
	}{
		{Request{N: 2, Generation: 1}, "c.org/best a.org.uk/tie"},
		{Request{N: 4, Generation: 1}, "c.org/best a.org.uk/tie a.org/tie a.org/tie/2"},
		{Request{N: 4, Generation: 1, PerHost: 1}, "c.org/best a.org.uk/tie a.org/tie b.org/tie"},
		{Request{N: 99, Generation: -1, Lease: time.Minute}, "c.org/best a.org.uk/tie a.org/tie a.org/tie/2 b.org/tie  a.org/low a.org/none c.org/below"},
	} {
		s := open(t, t.TempDir(), Options{})
		add(t, s, records...)
		if got := urls(next(t, s, test.q)); got != test.want {
			t.Errorf("%+v:\n got %s\nwant %s", test.q, got, test.want)
		}
		closeStore(t, s)
	}
}

func TestRulesOfOneURL(t *testing.T) {
	const u = `"v":1,"url":"http://a.org/x"`
	type history struct {
		name    string
		records []string
		want    string // the export, without v and url
	}
	for _, h := range []history{
		{"the latest generation wins, so priorities fall",
			[]string{`{` + u + `,"generation":2,"priority":0.1}`, `{` + u + `,"generation":1,"priority":0.9}`},
			`"generation":2,"priority":0.1,"state":"waiting"`},
		{"within a generation the highest priority wins",
			[]string{`{` + u + `,"generation":2,"priority":0.1}`, `{` + u + `,"generation":2,"priority":0.9}`},
			`"generation":2,"priority":0.9,"state":"waiting"`},
		{"an absent priority is 0",
			[]string{`{` + u + `,"generation":2,"priority":-0.1}`, `{` + u + `,"generation":2}`},
			`"generation":2,"state":"waiting"`},
		{"null withdraws what earlier generations wanted",
			[]string{`{` + u + `,"generation":2,"priority":null}`, `{` + u + `,"generation":1,"priority":1}`},
			`"generation":2,"priority":null,"state":"withdrawn"`},
		{"null is below every priority of its generation",
			[]string{`{` + u + `,"generation":2,"priority":null}`, `{` + u + `,"generation":2,"priority":-5}`},
			`"generation":2,"priority":-5,"state":"waiting"`},
		{"a later generation takes a withdrawal back",
			[]string{`{` + u + `,"generation":2,"priority":null}`, `{` + u + `,"generation":3}`},
			`"generation":3,"state":"waiting"`},
		{"of equals the shallower wins",
			[]string{`{` + u + `,"generation":2,"depth":3,"via":"http://b.org/"}`, `{` + u + `,"generation":2,"depth":2,"via":"http://c.org/"}`},
			`"generation":2,"depth":2,"via":"http://c.org/","state":"waiting"`},
		{"parents are those of all records",
			[]string{`{` + u + `,"generation":2,"parents":["http://c.org/","http://b.org/"]}`, `{` + u + `,"generation":1,"parents":["http://a.org/"]}`},
			`"generation":2,"depth":0,"parents":["http://a.org/","http://b.org/","http://c.org/"],"state":"waiting"`},
		{"visited never waits again",
			[]string{`{` + u + `,"generation":1,"status_code":404}`, `{` + u + `,"generation":9,"priority":1}`},
			`"generation":1,"status_code":404,"state":"visited"`},
		{"a final error skips",
			[]string{`{` + u + `,"generation":1}`, `{` + u + `,"generation":1,"error":"robots"}`},
			`"generation":1,"error":"robots","state":"skipped"`},
		{"a failure that may pass comes back",
			[]string{`{` + u + `,"priority":1}`, `{` + u + `,"generation":1,"priority":1,"status_code":503,"timestamp":"2026-11-20T12:00:00.000Z"}`},
			`"priority":1,"timestamp":"2026-11-20T12:00:00.000Z","status_code":503,"content_length":0,"fetch_ms":0,"state":"waiting"`},
		{"the fourth failure is the last",
			[]string{`{` + u + `}`, `{` + u + `,"retries":3,"error":"timeout"}`},
			`"v":1,"url":"http://a.org/x","generation":0,"depth":0,"retries":3,"error":"timeout","state":"skipped"`},
		{"a repeated failure counts once",
			[]string{`{` + u + `,"error":"dns"}`, `{` + u + `,"error":"dns"}`, `{` + u + `,"error":"dns"}`},
			`"error":"dns","state":"waiting"`},
		{"an address is not given up, whatever it says of failures: there would be no reason",
			[]string{`{` + u + `,"retries":9}`},
			`"generation":0,"depth":0,"retries":3,"state":"waiting"`},
		{"nor is an address handed back with error budget",
			[]string{`{` + u + `,"retries":9,"error":"budget"}`},
			`"error":"budget","generation":0,"depth":0,"retries":3,"state":"waiting"`},
		{"budget counts for nothing",
			[]string{`{` + u + `,"retries":1,"error":"budget"}`, `{` + u + `,"retries":1}`},
			`"retries":1,"error":"budget","state":"waiting"`},
		{"within a generation the highest revision wins, whatever its priority",
			[]string{`{` + u + `,"generation":2,"priority":0.1,"revision":2}`, `{` + u + `,"generation":2,"priority":0.9,"revision":1}`, `{` + u + `,"generation":2,"priority":0.8}`},
			`"generation":2,"priority":0.1,"revision":2,"state":"waiting"`},
		{"a later generation wins over any revision",
			[]string{`{` + u + `,"generation":2,"priority":0.1,"revision":2}`, `{` + u + `,"generation":3,"priority":0.9}`},
			`"generation":3,"priority":0.9,"state":"waiting"`},
		{"fields unknown here are kept",
			[]string{`{` + u + `,"mine":{"a": [1, 2]} ,"text":"…"}`},
			`"mine":{"a": [1, 2]} ,"text":"…","state":"waiting"`},
		{"what tells of the page of an outcome is not kept",
			[]string{`{` + u + `,"status_code":200,"text":"long","mine":1,"score":0.5,"links":[],"body":"<p>"}`},
			`"status_code":200,"mine":1,"score":0.5,"state":"visited"`},
	} {
		t.Run(h.name, func(t *testing.T) {
			for range 2 {
				s := open(t, t.TempDir(), Options{})
				add(t, s, h.records...)
				var got string
				for _, line := range export(t, s, noon) {
					if strings.Contains(line, `"http://a.org/x"`) {
						got += line
					}
				}
				want := `{` + h.want + "}\n"
				got, want = strings.Replace(got, u+",", "", 1), strings.Replace(want, u+",", "", 1)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("after %q (-want +got):\n%s", h.records, diff)
				}
				closeStore(t, s)
				slices.Reverse(h.records)
			}
		})
	}
}

func TestAllURLsOfARedirectAreVisited(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s,
		`{"v":1,"url":"http://c.org/","via":"http://x.org/","priority":3}`,
		`{"v":1,"url":"http://a.org/","generation":1,"final_url":"http://c.org/","redirects":[{"url":"http://a.org/","status_code":301},{"url":"http://b.org/","status_code":302}],"status_code":200}`)
	want := []string{
		`{"v":1,"url":"http://a.org/","generation":1,"final_url":"http://c.org/","redirects":[{"url":"http://a.org/","status_code":301},{"url":"http://b.org/","status_code":302}],"status_code":200,"state":"visited"}` + "\n",
		`{"v":1,"url":"http://b.org/","generation":1,"depth":0,"via":"http://a.org/","operator":"redirect","final_url":"http://c.org/","status_code":200,"content_length":0,"fetch_ms":0,"state":"visited"}` + "\n",
		`{"v":1,"url":"http://c.org/","via":"http://x.org/","priority":3,"status_code":200,"content_length":0,"fetch_ms":0,"state":"visited"}` + "\n",
	}
	if diff := cmp.Diff(want, export(t, s, noon)); diff != "" {
		t.Error(diff)
	}
	if got := next(t, s, Request{N: 9, Generation: 2}); got != "" {
		t.Errorf("next gives %s", got)
	}
}

func TestGenerationIsRepeatable(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	for i := range 50 {
		add(t, s, fmt.Sprintf(`{"v":1,"url":"http://a.org/%d","priority":%d,"mine":"æ"}`, i, i))
	}
	first := next(t, s, Request{N: 3, Generation: 1})
	if urls(first) != "a.org/49 a.org/48 a.org/47" || !strings.Contains(first, `"generation":1`) {
		t.Fatalf("generation 1 is %s", first)
	}
	add(t, s,
		`{"v":1,"url":"http://a.org/49","generation":1,"status_code":200}`,
		`{"v":1,"url":"http://a.org/46","generation":1,"priority":99,"parents":["http://b.org/"]}`)
	if got := next(t, s, Request{N: 7, Generation: 1}); got != first {
		t.Errorf("generation 1 has become %s", got)
	}
	second := next(t, s, Request{N: 3, Generation: 2})
	if got := urls(second); got != "a.org/46 a.org/48 a.org/47" {
		t.Errorf("generation 2 is %s: what has no outcome must come back", got)
	}
	closeStore(t, s)
	for range 2 { // from the snapshot, then from the log alone
		s = open(t, dir, Options{})
		if got := next(t, s, Request{N: 3, Generation: 1}); got != first {
			t.Errorf("opened again, generation 1 is %s", got)
		}
		if got := next(t, s, Request{N: 3, Generation: 2}); got != second {
			t.Errorf("opened again, generation 2 is %s", got)
		}
		if _, err := s.Next(Request{N: 3, Generation: 0, Now: noon}); err == nil {
			t.Error("a generation before the last was leased")
		}
		closeStore(t, s)
		os.Remove(filepath.Join(dir, snapshotName))
	}
}

func TestLeasesEnd(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s, `{"v":1,"url":"http://a.org/1"}`, `{"v":1,"url":"http://a.org/2"}`, `{"v":1,"url":"http://a.org/3"}`)
	byClock := Request{N: 2, Generation: -1, Lease: time.Minute}
	if got := urls(next(t, s, byClock)); got != "a.org/1 a.org/2" {
		t.Fatal(got)
	}
	if got := urls(next(t, s, byClock)); got != "a.org/3" {
		t.Fatal(got)
	}
	_, err := s.Next(byClock.at(noon))
	if due, ok := errors.AsType[*NothingDue](err); !ok || !due.Earliest.Equal(noon.Add(time.Minute)) {
		t.Errorf("nothing should be due before the leases end: %v", err)
	}
	add(t, s, `{"v":1,"url":"http://a.org/2","error":"budget"}`)
	if got := urls(next(t, s, byClock)); got != "a.org/2" {
		t.Errorf("handed back: got %q", got)
	}
	if got := urls(next(t, s, byClock.at(noon.Add(time.Minute)))); got != "a.org/1 a.org/2" {
		t.Errorf("when the leases are over: got %q", got)
	}
	if got := urls(next(t, s, Request{N: 9, Generation: 5}.at(noon.Add(2*time.Minute)))); got != "a.org/1 a.org/2 a.org/3" {
		t.Errorf("for a generation: got %q", got)
	}
	if got := next(t, s, byClock.at(noon.Add(time.Hour))); got != "" {
		t.Errorf("a generation's lease does not end by the clock, but got %s", got)
	}
	add(t, s, `{"v":1,"url":"http://a.org/1","generation":5,"error":"budget"}`, `{"v":1,"url":"http://a.org/2","generation":4,"error":"budget"}`)
	if got := urls(next(t, s, byClock.at(noon.Add(time.Hour)))); got != "a.org/1" {
		t.Errorf("handed back by generation 5: got %q", got)
	}
}

func (q Request) at(now time.Time) Request {
	q.Now = now
	return q
}

func TestHostDelay(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s,
		`{"v":1,"url":"http://a.org/1","priority":5}`, `{"v":1,"url":"http://a.org/2","priority":5}`, `{"v":1,"url":"http://b.org/","priority":1}`,
		`{"v":1,"url":"http://a.org/1","priority":5,"status_code":429,"not_before":"2026-11-20T13:00:00Z"}`)
	if got := urls(next(t, s, Request{N: 9, Generation: 1})); got != "b.org/" {
		t.Errorf("got %q", got)
	}
	add(t, s, `{"v":1,"url":"http://b.org/","generation":1,"status_code":200}`)
	_, err := s.Next(Request{N: 9, Generation: 3, Now: noon})
	if err == nil || err.Error() != "nothing is due before 2026-11-20T13:00:00Z" {
		t.Errorf("got %v", err)
	}
	got := next(t, s, Request{N: 9, Generation: 3}.at(noon.Add(time.Hour)))
	if urls(got) != "a.org/1 a.org/2" || strings.Count(got, `"retries":1`) != 1 || strings.Contains(got, "429") {
		t.Errorf("an hour later: %s", got)
	}
}

func TestHostDelayOfARedirectTarget(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s,
		`{"v":1,"url":"http://a.org/1","priority":5}`, `{"v":1,"url":"http://a.org/2","priority":5}`, `{"v":1,"url":"http://b.org/","priority":9}`,
		`{"v":1,"url":"http://a.org/1","priority":5,"final_url":"http://b.org/1","status_code":429,"not_before":"2026-11-20T13:00:00Z"}`)
	if got := urls(next(t, s, Request{N: 9, Generation: 1})); got != "a.org/2" {
		t.Errorf("got %q", got)
	}
	add(t, s, `{"v":1,"url":"http://a.org/2","generation":1,"status_code":200}`)
	if got := urls(next(t, s, Request{N: 9, Generation: 2}.at(noon.Add(time.Hour)))); got != "b.org/ a.org/1" {
		t.Errorf("an hour later: %q", got)
	}
}

func TestNotBeforeOfAnAddress(t *testing.T) {
	const later, address = "2026-11-21T12:00:00Z", `{"v":1,"url":"http://a.org/1","not_before":"2026-11-21T12:00:00Z"}`
	failed := `{"v":1,"url":"http://a.org/1","error":"dns","timestamp":"2026-11-20T11:59:00Z"}`
	for _, test := range []struct {
		name    string
		records []string
		want    string
	}{
		{"alone", []string{address}, "a.org/2"},
		{"a later generation has another time", []string{address, `{"v":1,"url":"http://a.org/1","generation":1}`}, "a.org/1 a.org/2"},
		{"a failure has its own", []string{address, failed}, "a.org/1 a.org/2"},
		{"a budget outcome keeps it", []string{address, `{"v":1,"url":"http://a.org/1","error":"budget"}`}, "a.org/2"},
	} {
		for range 2 {
			s := open(t, t.TempDir(), Options{})
			add(t, s, `{"v":1,"url":"http://a.org/2"}`)
			add(t, s, test.records...)
			got := next(t, s, Request{N: 9, Generation: 5})
			if urls(got) != test.want || strings.Contains(got, later) {
				t.Errorf("%s: got %s", test.name, got)
			}
			if _, err := s.Next(Request{N: 9, Generation: 6, Now: noon.AddDate(0, 0, 2)}); err != nil {
				t.Errorf("%s: a day later: %v", test.name, err)
			}
			closeStore(t, s)
			slices.Reverse(test.records)
		}
	}
}

func TestAddressThatRedirectsToHeldHostWaits(t *testing.T) {
	until := noon.Add(time.Hour)
	for _, lease := range []Request{{N: 9, Generation: 1}, {N: 9, Generation: -1, Lease: time.Hour}} {
		s := open(t, t.TempDir(), Options{})
		add(t, s, `{"v":1,"url":"http://a.org/1"}`)
		if got := next(t, s, lease.at(noon)); urls(got) != "a.org/1" {
			t.Fatalf("leased %s", got)
		}
		outcome := fmt.Sprintf(`{"v":1,"url":"http://a.org/1","generation":1,"final_url":"http://b.org/","error":"budget","not_before":%q}`, until.Format(time.RFC3339))
		add(t, s, outcome, `{"v":1,"url":"http://a.org/2"}`, `{"v":1,"url":"http://b.org/2"}`)
		if got := next(t, s, Request{N: 9, Generation: 2}.at(noon)); urls(got) != "a.org/2" {
			t.Errorf("while the host is held: %s", got)
		}
		if got := next(t, s, Request{N: 9, Generation: 3}.at(until)); !strings.Contains(got, "a.org/1") || !strings.Contains(got, "b.org/2") || strings.Contains(got, `"retries"`) {
			t.Errorf("then: %s", got)
		}
		closeStore(t, s)
	}
}

func TestBackOffDoubles(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s, `{"v":1,"url":"http://a.org/"}`)
	now := noon
	for attempt, wait := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		if got := next(t, s, Request{N: 1, Generation: 2 * attempt}.at(now)); got == "" {
			t.Fatalf("attempt %d: nothing is due at %v", attempt, now)
		}
		add(t, s, fmt.Sprintf(`{"v":1,"url":"http://a.org/","generation":%d,"retries":%d,"error":"connect","timestamp":%q}`, 2*attempt, attempt, now.Format(time.RFC3339)))
		if got := next(t, s, Request{N: 1, Generation: 2*attempt + 1}.at(now.Add(wait-time.Second))); got != "" {
			t.Fatalf("attempt %d: too early: %s", attempt, got)
		}
		now = now.Add(wait)
	}
	if got := next(t, s, Request{N: 1, Generation: 20}.at(now)); !strings.Contains(got, `"retries":3`) {
		t.Errorf("the last attempt is %s", got)
	}
}

func TestAddVerdicts(t *testing.T) {
	s := emptyStore(t, Options{})
	got := add(t, s, `{"v":1,"url":"http://a.org/"}`, `{"v":1,"url":"http://a.org/"}`, `{"v":1,"url":"HTTP://A.org:80"}`,
		`{"v":1,"query":"words"}`, `{"v":1,"url":"http://a.org/","status_code":200}`, `{"v":1,"url":"http://a.org/","status_code":200}`)
	if want := []Verdict{Changed, Known, Known, Query, Changed, Known}; !slices.Equal(got[:2], want[:2]) || !slices.Equal(got[3:], want[3:]) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, rec := range []wire.Record{
		{URL: "ftp://a.org/"},
		{URL: "http://a.org/" + strings.Repeat("x", 9000)},
		{URL: "http://c.org/", Query: strings.Repeat("x", maxAddedLine)},
		{URL: "http://d.org/", Query: strings.Repeat("x", maxAddedLine), Parents: []string{"http://e.org/"}},
	} {
		if v, err := s.Add(&rec); v != Refused || err == nil {
			t.Errorf("%.30s…: %v, %v", rec.URL, v, err)
		}
	}
	if n := len(export(t, s, noon)); n != 1 {
		t.Errorf("%d URLs are known", n)
	}
}

func TestLineage(t *testing.T) {
	s := emptyStore(t, Options{})
	add(t, s,
		`{"v":1,"url":"http://seed.org/","operator":"seed"}`,
		`{"v":1,"url":"http://a.org/","via":"http://seed.org/","operator":"link","generation":1}`,
		`{"v":1,"url":"http://b.org/","via":"http://a.org/","operator":"link","generation":1}`,
		`{"v":1,"url":"http://c.org/","via":"http://a.org/","parents":["http://b.org/","http://a.org/"],"operator":"crossover","generation":2}`)
	var b bytes.Buffer
	if err := s.Lineage(&b, "http://c.org/", noon); err != nil {
		t.Fatal(err)
	}
	if got := urls(b.String()); got != "c.org/ a.org/ b.org/ seed.org/" {
		t.Errorf("got %s", got)
	}
	if err := s.Lineage(&b, "http://nowhere.org/", noon); err == nil || !strings.Contains(err.Error(), "not in the store") {
		t.Errorf("an unknown URL: %v", err)
	}
}

// randomRecords returns records of all kinds for a few URLs.
func randomRecords(rng *rand.Rand, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		var b strings.Builder
		fmt.Fprintf(&b, `{"v":1,"url":"http://h%d.org/%d","generation":%d,"depth":%d`, rng.IntN(3), rng.IntN(8), rng.IntN(3), rng.IntN(2))
		if rng.IntN(3) == 0 {
			fmt.Fprintf(&b, `,"via":"http://v.org/%d"`, rng.IntN(3))
		}
		if rng.IntN(4) == 0 {
			b.WriteString(`,"parents":[`)
			for range rng.IntN(9) {
				fmt.Fprintf(&b, `"http://p.org/%d",`, rng.IntN(30))
			}
			b.WriteString(`"http://p.org/"]`)
		}
		switch rng.IntN(6) {
		case 0:
			b.WriteString(`,"priority":null`)
		case 1:
		default:
			fmt.Fprintf(&b, `,"priority":%g`, float64(rng.IntN(4))/2)
		}
		if rng.IntN(6) == 0 {
			fmt.Fprintf(&b, `,"revision":%d`, rng.IntN(3))
		}
		if rng.IntN(4) == 0 {
			if rng.IntN(3) == 0 {
				fmt.Fprintf(&b, `,"visits":%d`, rng.IntN(4))
			}
			switch rng.IntN(5) {
			case 0:
				fmt.Fprintf(&b, `,"status_code":200,"final_url":"http://h%d.org/%d"`, rng.IntN(3), rng.IntN(12))
			case 1:
				b.WriteString(`,"error":"robots"`)
			case 2:
				b.WriteString(`,"error":"budget"`)
			default:
				fmt.Fprintf(&b, `,"retries":%d,"error":"timeout","timestamp":"2026-11-20T11:%02d:00Z"`, rng.IntN(4), rng.IntN(60))
			}
		}
		b.WriteString("}")
		lines[i] = b.String()
	}
	return lines
}

func record(url string) *wire.Record { return &wire.Record{URL: url} }

func commit(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
}

// copyFiles copies the files of a directory.
func copyFiles(t testing.TB, to string, from fs.FS) {
	t.Helper()
	testfile.Check(t, os.CopyFS(to, from))
}

// checkSound fails the test if Check finds any damage in a store.
func checkSound(t testing.TB, dir string) {
	t.Helper()
	if found, err := Check(dir, Options{disk: noSyncDisk{}}, false); err != nil || found.Wrong() {
		t.Fatalf("check finds %+v, %v", found, err)
	}
}
