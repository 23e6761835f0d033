package polite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A life is a transport and robots that share a web with others.
type life struct {
	*Transport
	*Robots
}

// live begins a life with what the last one left, if it left anything.
func live(t *testing.T, w http.RoundTripper, state []byte) life {
	t.Helper()
	tr := &Transport{Base: w, Delay: DefaultDelay}
	l := life{tr, &Robots{Transport: tr, Agent: "spoor", CrawlDelay: tr.SetCrawlDelay}}
	if state != nil {
		if err := Load(bytes.NewReader(state), l.Transport, l.Robots, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l life) save(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Save(&b, l.Transport, l.Robots, time.Now()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ask asks for a page as a crawl does, robots.txt first.
func (l life) ask(t *testing.T, u string) (Verdict, error) {
	v, err := l.Decide(t.Context(), mustParse(u))
	if err == nil && v.Allowed {
		_, err = get(t.Context(), l.Transport, u)
	}
	return v, err
}

func TestPolitenessOutlivesTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]int{}
		w := &web{took: time.Second, answer: func(u *url.URL) (*http.Response, error) {
			asked[u.String()]++
			if u.Path == "/robots.txt" {
				return text("User-agent: *\nDisallow: /no\nCrawl-delay: 20\n")
			}
			return &http.Response{StatusCode: 200}, nil
		}}
		var state []byte
		for n := range 3 { // three generations of a crawl, one page each
			l := live(t, w, state)
			if v, err := l.ask(t, fmt.Sprintf("http://a.test/%d", n)); err != nil || !v.Allowed {
				t.Fatalf("generation %d: %+v, %v", n, v, err)
			}
			if v, _ := l.ask(t, "http://a.test/no"); v.Allowed {
				t.Error("robots.txt is forgotten")
			}
			state = l.save(t)
		}
		if n := asked["http://a.test/robots.txt"]; n != 1 {
			t.Errorf("robots.txt asked for %d times", n)
		}
		times := w.asked["a.test"] // start, end, start, end of robots.txt and three pages
		for i := 2; i < len(times); i += 2 {
			if got := times[i].Sub(times[i-1]); got != 20*time.Second {
				t.Errorf("page %d: rested %v, want the crawl-delay", i/2, got)
			}
		}

		time.Sleep(RobotsTTL)
		l := live(t, w, state)
		if len(l.hosts) != 0 || len(l.entries) != 0 {
			t.Errorf("after a day %d hosts and %d robots.txt are remembered", len(l.hosts), len(l.entries))
		}
		if got := string(l.save(t)); got != `{"spoor-polite":1,"hosts":0,"robots":0}`+"\n" {
			t.Errorf("an empty state is %s", got)
		}
	})
}

func TestHoldsAndTheirDoublingOutliveTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{answer: func(u *url.URL) (*http.Response, error) {
			if u.Path == "/robots.txt" {
				return text("")
			}
			return &http.Response{StatusCode: 503}, nil
		}}
		var state []byte
		for n, want := range []time.Duration{FirstBackoff, 2 * FirstBackoff, 4 * FirstBackoff} {
			l := live(t, w, state)
			if _, err := l.ask(t, "http://a.test/"); err != nil {
				t.Fatalf("try %d: %v", n, err)
			}
			state = l.save(t)
			l = live(t, w, state)
			until := l.HeldUntil("a.test")
			if got := time.Until(until); got < want*9/10 || got > want*11/10 {
				t.Errorf("try %d: held for %v, want about %v", n, got, want)
			}
			before := len(w.asked["a.test"])
			if _, err := l.ask(t, "http://a.test/"); !isHeld(err) || len(w.asked["a.test"]) != before {
				t.Errorf("try %d: a host that is held was asked: %v", n, err)
			}
			time.Sleep(time.Until(until))
		}
		time.Sleep(Forgiveness + time.Second)
		if l := live(t, w, state); len(l.hosts) != 0 {
			t.Error("failures are remembered after half an hour of calm")
		}
	})
}

func isHeld(err error) bool {
	_, ok := errors.AsType[*HoldError](err)
	return ok
}

func TestTheOutcomeOfRobotsTxtOutlivesTheProcess(t *testing.T) {
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
		first := live(t, w, nil)
		want := map[string]string{}
		for host := range answers {
			v, _ := first.Decide(t.Context(), mustParse("http://"+host+"/x"))
			want[host] = fmt.Sprint(v.Allowed, v.Reason)
		}
		state := first.save(t)
		if again := first.save(t); !bytes.Equal(state, again) {
			t.Error("two states of the same knowledge differ")
		}
		second := live(t, w, state)
		if again := second.save(t); !bytes.Equal(state, again) {
			t.Errorf("a state is not what was loaded:\n%s\nwant\n%s", again, state)
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
			t.Errorf("asked for %d robots.txt that were known", asked)
		}
		// The rules are read anew, so another crawler finds its own.
		fresh := live(t, w, state)
		fresh.Robots.Agent = "other"
		if v, err := fresh.Decide(t.Context(), mustParse("http://other.test/x")); v.Allowed || err != nil {
			t.Errorf("another agent: %+v, %v", v, err)
		}
		time.Sleep(RobotsRetry)
		if v, _ := live(t, w, state).Decide(t.Context(), mustParse("http://ill.test/x")); v.Allowed || asked != 1 {
			t.Errorf("a server that failed is not asked again after an hour: %d", asked)
		}
	})
}

func TestADamagedStateIsAnErrorAndTeachesNothing(t *testing.T) {
	head := func(h, r int) string { return fmt.Sprintf(`{"spoor-polite":1,"hosts":%d,"robots":%d}`+"\n", h, r) }
	soon := time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
	host := `{"host":"a.test","next":"` + soon + `"}` + "\n"
	origin := `{"robots":"http://a.test","expires":"` + soon + `","status":404}` + "\n"
	for name, state := range map[string]string{
		"nothing":           "",
		"no JSON":           "\x00\x00\x00\x00",
		"another version":   `{"spoor-polite":2,"hosts":0,"robots":0}` + "\n",
		"no version":        "{}\n",
		"torn":              head(1, 1) + host,
		"torn in a line":    head(1, 1) + host + origin[:20],
		"too long":          head(1, 0) + host + origin,
		"a wrong time":      head(1, 0) + `{"host":"a.test","next":"soon"}` + "\n",
		"too many":          head(MaxKept+1, 0),
		"less than nothing": head(-1, 0),
		"a huge line":       head(0, 1) + `{"robots":"` + strings.Repeat("x", stateLine) + `"}` + "\n",
		"a huge robots.txt": head(0, 1) + strings.Replace(origin, "}", `,"body":"`+strings.Repeat("x", 600<<10)+`"}`, 1),
	} {
		tr, r := &Transport{Delay: DefaultDelay}, &Robots{}
		if err := Load(strings.NewReader(state), tr, r, time.Now()); err == nil {
			t.Errorf("%s: no error", name)
		}
		if len(tr.hosts)+len(r.entries) != 0 {
			t.Errorf("%s: something was learnt", name)
		}
	}
	tr, r := &Transport{Delay: DefaultDelay}, &Robots{}
	if err := Load(strings.NewReader(head(1, 1)+host+origin), tr, r, time.Now()); err != nil || len(tr.hosts) != 1 || len(r.entries) != 1 {
		t.Errorf("a sound state: %v", err)
	}
}

func TestAStateOfTheFarFutureSilencesNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := `{"spoor-polite":1,"hosts":1,"robots":2}
{"host":"a.test","next":"2999-01-01T00:00:00Z","crawl_delay":1e300}
{"robots":"http://a.test","expires":"2999-01-01T00:00:00Z","status":500}
{"robots":"http://b.test","expires":"2999-01-01T00:00:00Z","status":404}
`
		l := live(t, &web{}, []byte(state))
		if got := time.Until(l.hosts["a.test"].next); got != DefaultMaxDelay {
			t.Errorf("a host rests for %v", got)
		}
		for origin, want := range map[string]time.Duration{"http://a.test": RobotsRetry, "http://b.test": RobotsTTL} {
			if got := time.Until(l.entries[origin].expires); got != want {
				t.Errorf("%s is remembered for %v", origin, got)
			}
		}
	})
}

func TestAStateIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, r := &Transport{Delay: DefaultDelay}, &Robots{}
		now := time.Now()
		for i := range MaxKept + 10 {
			tr.hosts = set(tr.hosts, fmt.Sprintf("%06d.test", i), &host{next: now.Add(time.Duration(i+1) * time.Millisecond)})
		}
		lines := tr.lines(now)
		if len(lines) != MaxKept || lines[0].Host != "000010.test" {
			t.Errorf("%d hosts from %s", len(lines), lines[0].Host)
		}
		// Long robots.txt displace each other by their bytes.
		body := strings.Repeat("x", 500<<10)
		r.Transport = &web{answer: func(*url.URL) (*http.Response, error) { return text(body) }}
		for i := range robotsBytes/len(body) + 20 {
			if _, err := r.Decide(t.Context(), mustParse(fmt.Sprintf("http://%d.test/", i))); err != nil {
				t.Fatal(err)
			}
			if r.bytes > robotsBytes {
				t.Fatalf("%d bytes are kept", r.bytes)
			}
		}
		sum := 0
		for _, e := range r.entries {
			sum += len(e.body)
		}
		if sum != r.bytes || len(r.order) != len(r.entries) || sum < robotsBytes-len(body) {
			t.Errorf("%d bytes in %d entries, reckoned %d in %d", sum, len(r.entries), r.bytes, len(r.order))
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
	f.Add([]byte(`{"spoor-polite":1,"hosts":1,"robots":1}
{"host":"a.test","next":"2026-01-01T00:00:00.5Z","held_until":"2026-01-01T00:01:00Z","failures":3,"last_failed":"2026-01-01T00:00:00Z","crawl_delay":2.5}
{"robots":"http://a.test","expires":"2026-01-01T00:00:10Z","status":200,"body_base64":"7w=="}
`))
	f.Add([]byte("{}"))
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, state []byte) {
		tr, r := &Transport{Delay: DefaultDelay}, &Robots{}
		if Load(bytes.NewReader(state), tr, r, now) != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := Save(&once, tr, r, now); err != nil {
			t.Fatal(err)
		}
		tr, r = &Transport{Delay: DefaultDelay}, &Robots{}
		if err := Load(bytes.NewReader(once.Bytes()), tr, r, now); err != nil {
			t.Fatalf("what was saved cannot be loaded: %v", err)
		}
		if err := Save(io.Writer(&twice), tr, r, now); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("saved\n%s\nthen, %v,\n%s", &once, err, &twice)
		}
	})
}
