package polite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A process has a transport and robots, and shares a web with other processes.
type process struct {
	*Transport
	*Robots
}

// saved is the state that a process saves for the next one.
type saved struct{ hosts, robots []byte }

// startProcess starts a process with the state of the last one, if there is any.
func startProcess(t *testing.T, w http.RoundTripper, state saved) process {
	t.Helper()
	tr := &Transport{Base: w, Delay: DefaultDelay}
	p := process{tr, &Robots{Transport: tr, Agent: "spoor", CrawlDelay: tr.SetCrawlDelay}}
	if state.hosts != nil {
		if err := p.Transport.Load(bytes.NewReader(state.hosts), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if state.robots != nil {
		if err := p.Robots.Load(bytes.NewReader(state.robots), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p process) save(t *testing.T) saved {
	t.Helper()
	var hosts, robots bytes.Buffer
	if err := errors.Join(p.Transport.Save(&hosts, time.Now()), p.Robots.Save(&robots, time.Now())); err != nil {
		t.Fatal(err)
	}
	return saved{hosts.Bytes(), robots.Bytes()}
}

// request requests a page as a crawl does, robots.txt first.
func (p process) request(t *testing.T, u string) (Verdict, error) {
	v, err := p.Decide(t.Context(), mustParse(u))
	if err == nil && v.Allowed {
		_, err = get(t.Context(), p.Transport, u)
	}
	return v, err
}

func TestPausesAreSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]int{}
		w := &web{took: time.Second, answer: func(u *url.URL) (*http.Response, error) {
			asked[u.String()]++
			if u.Path == "/robots.txt" {
				return text("User-agent: *\nDisallow: /no\nCrawl-delay: 20\n")
			}
			return &http.Response{StatusCode: 200}, nil
		}}
		var state saved
		for n := range 3 { // three generations of a crawl, one page each
			l := startProcess(t, w, state)
			if v, err := l.request(t, fmt.Sprintf("http://a.test/%d", n)); err != nil || !v.Allowed {
				t.Fatalf("generation %d: %+v, %v", n, v, err)
			}
			if v, _ := l.request(t, "http://a.test/no"); v.Allowed {
				t.Error("robots.txt was not loaded")
			}
			state = l.save(t)
		}
		if n := asked["http://a.test/robots.txt"]; n != 1 {
			t.Errorf("robots.txt fetched %d times", n)
		}
		times := w.asked["a.test"] // start, end, start, end of robots.txt and three pages
		for i := 2; i < len(times); i += 2 {
			if got := times[i].Sub(times[i-1]); got != 20*time.Second {
				t.Errorf("page %d: pause of %v, want the crawl-delay", i/2, got)
			}
		}

		time.Sleep(RobotsTTL)
		l := startProcess(t, w, state)
		if len(l.hosts) != 0 || len(l.entries) != 0 {
			t.Errorf("after a day %d hosts and %d robots.txt are kept", len(l.hosts), len(l.entries))
		}
		state = l.save(t)
		if got := string(state.hosts) + string(state.robots); got != head("spoor-hosts", 0)+head("spoor-robots", 0) {
			t.Errorf("an empty state is %s", got)
		}
	})
}

func TestHoldsAreSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{answer: func(u *url.URL) (*http.Response, error) {
			if u.Path == "/robots.txt" {
				return text("")
			}
			return &http.Response{StatusCode: 503}, nil
		}}
		var state saved
		for n, want := range []time.Duration{FirstBackoff, 2 * FirstBackoff, 4 * FirstBackoff} {
			l := startProcess(t, w, state)
			if _, err := l.request(t, "http://a.test/"); err != nil {
				t.Fatalf("try %d: %v", n, err)
			}
			state = l.save(t)
			l = startProcess(t, w, state)
			until := l.HeldUntil("a.test")
			if got := time.Until(until); got < want*9/10 || got > want*11/10 {
				t.Errorf("try %d: held for %v, want about %v", n, got, want)
			}
			before := len(w.asked["a.test"])
			if _, err := l.request(t, "http://a.test/"); !isHeld(err) || len(w.asked["a.test"]) != before {
				t.Errorf("try %d: a held host was requested: %v", n, err)
			}
			time.Sleep(time.Until(until))
		}
		time.Sleep(ResetAfter + time.Second)
		if l := startProcess(t, w, state); len(l.hosts) != 0 {
			t.Error("failures are kept after half an hour without any")
		}
	})
}

func isHeld(err error) bool {
	_, ok := errors.AsType[*HoldError](err)
	return ok
}

func TestRobotsTxtIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		answers := map[string]func() (*http.Response, error){
			"none.test":   func() (*http.Response, error) { return &http.Response{StatusCode: 404}, nil },
			"ill.test":    func() (*http.Response, error) { return &http.Response{StatusCode: 500}, nil },
			"latin1.test": func() (*http.Response, error) { return text("# na\xefve\nUser-agent: *\nDisallow: /\n") },
			"gone.test":   func() (*http.Response, error) { return nil, errors.New("no route") },
			"other.test":  func() (*http.Response, error) { return text("User-agent: other\nDisallow: /\n") },
		}
		w := &web{answer: func(u *url.URL) (*http.Response, error) { asked++; return answers[u.Host]() }}
		first := startProcess(t, w, saved{})
		want := map[string]string{}
		for host := range answers {
			v, _ := first.Decide(t.Context(), mustParse("http://"+host+"/x"))
			want[host] = fmt.Sprint(v.Allowed, v.Reason)
		}
		state := first.save(t)
		if again := first.save(t); cmp.Diff(state, again, cmp.AllowUnexported(saved{})) != "" {
			t.Error("equal states differ in their bytes")
		}
		second := startProcess(t, w, state)
		if again := second.save(t); cmp.Diff(state, again, cmp.AllowUnexported(saved{})) != "" {
			t.Errorf("the state differs from what was loaded:\n%s\nwant\n%s", again, state)
		}
		asked = 0
		for host := range answers {
			v, err := second.Decide(t.Context(), mustParse("http://"+host+"/x"))
			if host == "gone.test" {
				if !isHeld(err) {
					t.Errorf("%s: %v", host, err)
				}
				continue
			}
			if got := fmt.Sprint(v.Allowed, v.Reason); got != want[host] || err != nil {
				t.Errorf("%s: %s, %v, want %s", host, got, err, want[host])
			}
		}
		if asked != 0 {
			t.Errorf("fetched %d robots.txt that were loaded", asked)
		}
		// Rules are parsed after loading, so another agent gets its own.
		fresh := startProcess(t, w, state)
		fresh.Robots.Agent = "other"
		if v, err := fresh.Decide(t.Context(), mustParse("http://other.test/x")); v.Allowed || err != nil {
			t.Errorf("another agent: %+v, %v", v, err)
		}
		time.Sleep(RobotsRetry)
		if v, _ := startProcess(t, w, state).Decide(t.Context(), mustParse("http://ill.test/x")); v.Allowed || asked != 1 {
			t.Errorf("robots.txt of a server that failed is not fetched again after an hour: %d", asked)
		}
	})
}

// head returns the first line of a state.
func head(format string, lines int) string {
	return fmt.Sprintf(`{"format":%q,"version":1,"lines":%d}`+"\n", format, lines)
}

func TestDamagedStateIsAnError(t *testing.T) {
	soon := time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
	host := `{"host":"a.test","next":"` + soon + `"}` + "\n"
	origin := `{"robots":"http://a.test","expires":"` + soon + `","status":404}` + "\n"
	body := func(n int) string {
		return strings.Replace(origin, "}", `,"body":"`+strings.Repeat("x", n)+`"}`, 1)
	}
	load := func(hosts, robots string) (known int, err error) {
		tr, r := &Transport{Delay: DefaultDelay}, &Robots{}
		err = errors.Join(tr.Load(strings.NewReader(hosts), time.Now()), r.Load(strings.NewReader(robots), time.Now()))
		return len(tr.hosts) + len(r.entries), err
	}
	if n, err := load(head(hostsFormat, 1)+host, head(robotsFormat, 1)+origin); n != 2 || err != nil {
		t.Errorf("a valid state: %d, %v", n, err)
	}
	none := func(format string) string { return head(format, 0) }
	for name, bad := range map[string][2]string{
		"nothing":           {"", ""},
		"no JSON":           {"\x00\x00\x00\x00", "\x00"},
		"another format":    {none(robotsFormat), none(hostsFormat)},
		"another version":   {strings.Replace(none(hostsFormat), "1", "2", 1), strings.Replace(none(robotsFormat), "1", "2", 1)},
		"no format":         {"{}\n", "{}\n"},
		"torn":              {head(hostsFormat, 2) + host, head(robotsFormat, 2) + origin},
		"torn in a line":    {head(hostsFormat, 1) + host[:20], head(robotsFormat, 1) + origin[:20]},
		"too long":          {head(hostsFormat, 1) + host + host, head(robotsFormat, 1) + origin + origin},
		"a wrong time":      {head(hostsFormat, 1) + `{"host":"a.test","next":"soon"}` + "\n", head(robotsFormat, 1) + `{"robots":"http://a.test","expires":7}` + "\n"},
		"too many":          {head(hostsFormat, MaxKept+1), head(robotsFormat, MaxKept+1)},
		"less than nothing": {head(hostsFormat, -1), head(robotsFormat, -1)},
		"a huge line":       {head(hostsFormat, 1) + `{"host":"` + strings.Repeat("x", maxLine) + `"}` + "\n", head(robotsFormat, 1) + body(maxLine)},
		"a huge robots.txt": {none(robotsFormat), head(robotsFormat, 1) + body(600<<10)},
		"too much of it":    {none(robotsFormat), head(robotsFormat, 135) + strings.Repeat(body(500<<10), 135)},
	} {
		if testing.Short() && name == "too much of it" {
			continue
		}
		for i, good := range []string{none(hostsFormat), none(robotsFormat)} {
			pair := bad
			pair[i] = good // so only the other one is damaged
			if n, err := load(pair[0], pair[1]); n != 0 || err == nil {
				t.Errorf("%s: %d entries, %v", name, n, err)
			}
		}
	}
}

func TestTimesInTheFutureAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startProcess(t, &web{}, saved{
			[]byte(head(hostsFormat, 1) + `{"host":"a.test","next":"2999-01-01T00:00:00Z","crawl_delay":1e300}` + "\n"),
			[]byte(head(robotsFormat, 2) + `{"robots":"http://a.test","expires":"2999-01-01T00:00:00Z","status":500}
{"robots":"http://b.test","expires":"2999-01-01T00:00:00Z","status":404}
`)})
		if got := time.Until(l.hosts["a.test"].next); got != DefaultMaxDelay {
			t.Errorf("a host pauses for %v", got)
		}
		for origin, want := range map[string]time.Duration{"http://a.test": RobotsRetry, "http://b.test": RobotsTTL} {
			if got := time.Until(l.entries[origin].expires); got != want {
				t.Errorf("%s is kept for %v", origin, got)
			}
		}
	})
}

func TestStoredFailuresAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{answer: func(*url.URL) (*http.Response, error) { return nil, errors.New("refused") }}
		l := startProcess(t, w, saved{hosts: []byte(head(hostsFormat, 1) + fmt.Sprintf(
			`{"host":"a.test","next":"2000-01-01T00:00:00Z","held_until":%q,"failures":%d}`+"\n", time.Now().UTC().Format(time.RFC3339), math.MaxInt))})
		for range 3 {
			if _, err := l.request(t, "http://a.test/"); err == nil || isHeld(err) {
				t.Fatal(err)
			}
			held := time.Until(l.HeldUntil("a.test"))
			if ratio := float64(held) / float64(MaxBackoff); ratio < 1-Jitter || ratio > 1+Jitter {
				t.Errorf("held for %v", held)
			}
			time.Sleep(held)
		}
	})
}

func TestLoadMerges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := "one"
		w := &web{answer: func(u *url.URL) (*http.Response, error) {
			if u.Host == "slow.test" {
				time.Sleep(time.Minute)
			}
			return text("User-agent: *\nDisallow: /" + rules + "\n")
		}}
		learn := func(r *Robots, hosts ...string) {
			for _, h := range hosts {
				if _, err := r.Decide(t.Context(), mustParse("http://"+h+".test/")); err != nil {
					t.Error(err)
				}
			}
		}
		save := func(r *Robots) *bytes.Buffer {
			var b bytes.Buffer
			if err := r.Save(&b, time.Now()); err != nil {
				t.Fatal(err)
			}
			return &b
		}
		first, second := &Robots{Transport: w, Agent: "spoor"}, &Robots{Transport: w, Agent: "spoor"}
		learn(first, "old", "both")
		time.Sleep(time.Hour)
		rules = "two"
		learn(second, "both", "new")
		merged := []*Robots{{Agent: "spoor"}, {Agent: "spoor"}}
		for i, order := range [][]*Robots{{first, second}, {second, first}} {
			for _, r := range order {
				if err := merged[i].Load(save(r), time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			for host, want := range map[string]string{"old": "one", "both": "two", "new": "two"} {
				v, err := merged[i].Decide(t.Context(), mustParse("http://"+host+".test/"+want))
				if v.Allowed || err != nil {
					t.Errorf("%s.test: %+v, %v, want the rules of %s", host, v, err, want)
				}
			}
			if want := []string{"http://old.test", "http://both.test", "http://new.test"}; cmp.Diff(want, merged[i].order) != "" {
				t.Errorf("dropped in the order %v", merged[i].order)
			}
		}
		if a, b := save(merged[0]), save(merged[1]); !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("the result depends on the order:\n%s\n%s", a, b)
		}

		// Merging does not affect entries that are being fetched or used.
		var wg sync.WaitGroup
		wg.Go(func() { learn(first, "slow") })
		synctest.Wait()
		if err := first.Load(save(merged[0]), time.Now()); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if n := len(w.asked["slow.test"]); n != 2 || len(first.entries) != 4 || len(first.order) != 4 {
			t.Errorf("asked %d times; %d entries, %d in order", n/2, len(first.entries), len(first.order))
		}
		sum := 0
		for _, e := range first.entries {
			sum += e.size
		}
		if sum != first.bytes {
			t.Errorf("%d bytes, counted %d", sum, first.bytes)
		}
		time.Sleep(RobotsTTL)
		if err := first.Load(save(merged[0]), time.Now()); err != nil || len(first.entries) != 0 {
			t.Errorf("after a day %d entries, %v", len(first.entries), err)
		}
	})
}

func TestStateIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &Transport{Delay: DefaultDelay}
		now := time.Now()
		for i := range MaxKept + 10 {
			tr.hosts = set(tr.hosts, fmt.Sprintf("%06d.test", i), &host{next: now.Add(time.Duration(i+1) * time.Millisecond)})
		}
		lines := tr.lines(now)
		if len(lines) != MaxKept || lines[0].Host != "000010.test" {
			t.Errorf("%d hosts from %s", len(lines), lines[0].Host)
		}
	})
}

func set(m map[string]*host, name string, h *host) map[string]*host {
	if m == nil {
		m = map[string]*host{}
	}
	m[name] = h
	return m
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(head(hostsFormat, 1) + `{"host":"a.test","next":"2026-01-01T00:00:00.5Z","held_until":"2026-01-01T00:01:00Z","failures":3,"last_failed":"2026-01-01T00:00:00Z","crawl_delay":2.5}
`))
	f.Add([]byte(head(robotsFormat, 2) + `{"robots":"http://a.test","expires":"2026-01-01T00:00:10Z","status":200,"body_base64":"7w=="}
{"robots":"http://b.test","expires":"2026-01-01T00:00:10Z","status":200,"from":"http://c.test/","body":"user-agent: *"}
`))
	f.Add([]byte("{}"))
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	type keeper interface {
		Load(io.Reader, time.Time) error
		Save(io.Writer, time.Time) error
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		for _, fresh := range []func() keeper{
			func() keeper { return &Transport{Delay: DefaultDelay} },
			func() keeper { return new(Robots) },
		} {
			k := fresh()
			if k.Load(bytes.NewReader(state), now) != nil {
				continue
			}
			var once, twice bytes.Buffer
			if err := k.Save(&once, now); err != nil {
				t.Fatal(err)
			}
			k = fresh()
			if err := k.Load(bytes.NewReader(once.Bytes()), now); err != nil {
				t.Fatalf("the saved state cannot be loaded: %v", err)
			}
			if err := k.Save(&twice, now); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
				t.Errorf("saved\n%s\nthen, %v,\n%s", &once, err, &twice)
			}
		}
	})
}

// A process that follows a killed one gives hosts, known or not, the pause that they asked for.
func TestRequestedAt(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	var state bytes.Buffer
	earlier := &Transport{Delay: time.Second, hosts: map[string]*host{
		"slow":  {crawl: 20 * time.Second, next: now.Add(time.Second)},
		"held":  {next: now.Add(time.Minute)},
		"quick": {next: now.Add(time.Second / 2)},
	}}
	if err := earlier.Save(&state, now); err != nil {
		t.Fatal(err)
	}
	later := &Transport{Delay: time.Second}
	if err := later.Load(&state, now); err != nil {
		t.Fatal(err)
	}
	later.RequestedAt(now)
	later.SetCrawlDelay("robots", 7*time.Second)
	for name, want := range map[string]time.Duration{"slow": 20 * time.Second, "held": time.Minute, "quick": time.Second, "new": time.Second, "robots": 7 * time.Second} {
		if got := later.use(name).next.Sub(now); got != want {
			t.Errorf("%s: may be asked after %v, not %v", name, got, want)
		}
	}
}
