package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"golang.org/x/time/rate"
)

// answerOf returns a page of results as SearXNG writes it.
func answerOf(urls ...string) string {
	results := []map[string]any{}
	for i, u := range urls {
		results = append(results, map[string]any{
			"url": u, "title": "Title", "content": "An extract …", "engine": "duckduckgo", "template": "default.html",
			"parsed_url": []string{"https", "x.example", "/", "", "", ""}, "engines": []string{"duckduckgo", "brave"},
			"positions": []int{i + 1, i + 2}, "publishedDate": nil, "score": 4.0 / float64(i+1), "category": "general",
		})
	}
	b, err := json.Marshal(map[string]any{
		"query": "q", "number_of_results": 0, "results": results, "answers": []any{}, "corrections": []any{},
		"infoboxes": []any{}, "suggestions": []string{"more words"}, "unresponsive_engines": [][]string{},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// searxng starts a server on loopback, and returns its source.
func searxng(t testing.TB, path string, h http.HandlerFunc) *SearXNG {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return newSearXNG(t, server.URL+path, server.Client().Transport, "spoor/test", NewPace(0))
}

func newSearXNG(t testing.TB, address string, transport http.RoundTripper, agent string, pace *rate.Limiter) *SearXNG {
	t.Helper()
	s, err := NewSearXNG(address, transport, agent, pace)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSearXNGRequest(t *testing.T) {
	var asked []string
	s := searxng(t, "/searx/?language=de&q=forged#top", func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.String()+" "+r.UserAgent())
		if r.URL.Query().Get("pageno") == "1" {
			io.WriteString(w, answerOf("https://a.example/?x=1", "HTTPS://B.example", "https://a.example/?x=1#part"))
			return
		}
		io.WriteString(w, answerOf("https://c.example/", "javascript:alert(1)", "ftp://d.example/", "/relative", "https://d.example/"))
	})
	got, err := s.Search(t.Context(), `"hard bop" & more`, 3)
	want := []string{"https://a.example/?x=1", "https://b.example/", "https://c.example/"}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(err, d)
	}
	wantAsked := []string{
		"GET /searx/search?format=json&language=de&pageno=1&q=%22hard+bop%22+%26+more spoor/test",
		"GET /searx/search?format=json&language=de&pageno=2&q=%22hard+bop%22+%26+more spoor/test",
	}
	if d := cmp.Diff(wantAsked, asked); d != "" {
		t.Error(d)
	}
}

func TestSearXNGStopsAfterTheLastPage(t *testing.T) {
	for _, c := range []struct {
		name    string
		page    func(n string) string
		n       int
		want    int // results
		maxAsks int
	}{
		{"when there are enough", func(n string) string { return answerOf("https://x.example/a"+n, "https://x.example/b"+n) }, 3, 3, 2},
		{"when one has nothing", func(n string) string {
			if n == "1" {
				return answerOf("https://x.example/")
			}
			return answerOf()
		}, 10, 1, 2},
		{"when one has nothing new", func(string) string { return answerOf("https://x.example/") }, 10, 1, 2},
		{"after twenty", func(n string) string { return answerOf("https://x.example/" + n) }, 1000, maxPages, maxPages},
	} {
		t.Run(c.name, func(t *testing.T) {
			asks := 0
			s := searxng(t, "", func(w http.ResponseWriter, r *http.Request) {
				asks++
				io.WriteString(w, c.page(r.URL.Query().Get("pageno")))
			})
			got, err := s.Search(t.Context(), "q", c.n)
			if err != nil || len(got) != c.want || asks != c.maxAsks {
				t.Errorf("%d results of %d pages, %v", len(got), asks, err)
			}
		})
	}
}

func TestSearXNGErrors(t *testing.T) {
	header := map[string]string{}
	for _, c := range []struct {
		name   string
		status int
		header map[string]string
		body   string
		want   string
		setup  bool
	}{
		{"JSON is not enabled", 403, header, "<!doctype html>", "formats: json is not enabled", true},
		{"no search here", 404, header, "", "there is no search at this address", true},
		{"elsewhere", 302, map[string]string{"Location": "https://new.example/"}, "", `"https://new.example/"`, true},
		{"a page", 200, header, "\n<!doctype html><html>", "not JSON", true},
		{"ill", 500, header, "", "status 500", false},
		{"other JSON", 200, header, `{"error":"x"}`, `no "results" field`, false},
		{"an array", 200, header, `[]`, "unexpected SearXNG answer", false},
		{"no object", 200, header, `null`, `no "results" field`, false},
		{"results of a wrong type", 200, header, `{"results":{"url":"http://x.example/"}}`, "unexpected SearXNG answer", false},
		{"torn", 200, header, `{"results":[{"url":"http://x.`, "unexpected SearXNG answer", false},
		{"too long", 200, header, `{"results":["` + strings.Repeat("x", maxAnswer) + `"]}`, "longer than 8 MiB", false},
		{"deep", 200, header, `{"results":` + strings.Repeat("[", 100_000), "unexpected SearXNG answer", false},
		{"mute engines", 200, header, `{"results":[],"unresponsive_engines":[["brave","too many requests"],["google","CAPTCHA"],7]}`, `these search engines did not answer: "brave: too many requests", "google: CAPTCHA"`, false},
		{"a long rest", 429, map[string]string{"Retry-After": "3600"}, "", "asks to retry after 1h0m0s", false},
		{"packed", 200, map[string]string{"Content-Encoding": "br"}, "\x0b\x02\x80", "unexpected SearXNG answer", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := searxng(t, "", func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range c.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			got, err := s.Search(t.Context(), "q", 10)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
			if setup := errors.As(err, new(*SetupError)); setup != c.setup {
				t.Errorf("%v: a matter of setup: %v", err, setup)
			}
		})
	}
}

func TestMalformedResultsAreSkipped(t *testing.T) {
	s := searxng(t, "", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"results":[7,null,{},{"url":null},{"url":3},{"url":["http://a.example/"]},"http://b.example/",
			{"url":"http://[::1"},{"url":"data:text/html,x"},{"url":"http://`+strings.Repeat("x", maxURL)+`.example/"},{"url":"http://c.example/"}],
			"unresponsive_engines":null,"number_of_results":"many"}`)
	})
	got, err := s.Search(t.Context(), "q", 10)
	if d := cmp.Diff([]string{"http://c.example/"}, got); d != "" || err != nil {
		t.Error(err, d)
	}
}

func TestNoResults(t *testing.T) {
	s := searxng(t, "", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, answerOf()) })
	if got, err := s.Search(t.Context(), "q", 10); len(got) != 0 || err != nil {
		t.Error(got, err)
	}
}

func TestServerAddressIsChecked(t *testing.T) {
	for _, address := range []string{"", "searx.example", "ftp://x.example", "http://", "http://[::1", "/search"} {
		if s, err := NewSearXNG(address, nil, "", NewPace(0)); err == nil {
			t.Errorf("%q is taken for %s", address, s.Name())
		}
	}
	for address, want := range map[string]string{
		"http://x.example":         "http://x.example/search",
		"http://x.example/search":  "http://x.example/search",
		"http://x.example/s/":      "http://x.example/s/search",
		"http://x.example/?a=b#no": "http://x.example/search?a=b",
	} {
		s, err := NewSearXNG(address, nil, "", NewPace(0))
		if err != nil || s.Name() != want {
			t.Errorf("%s: %v, %v", address, s, err)
		}
	}
}

// turns is a transport with fixed responses, which records when it was used.
type turns struct {
	answers []*http.Response
	begun   time.Time
	at      []time.Duration
}

func (s *turns) RoundTrip(*http.Request) (*http.Response, error) {
	s.at = append(s.at, time.Since(s.begun))
	if len(s.answers) == 0 {
		return nil, errors.New("asked too often")
	}
	resp := s.answers[0]
	s.answers = s.answers[1:]
	return resp, nil
}

func turn(status int, retryAfter, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {retryAfter}}, Body: io.NopCloser(strings.NewReader(body))}
}

func TestRetryAfter(t *testing.T) {
	full := answerOf("https://x.example/")
	for _, c := range []struct {
		name    string
		answers func() []*http.Response
		at      []time.Duration
		err     string
	}{
		{"as long as it says", func() []*http.Response { return []*http.Response{turn(429, "7", ""), turn(200, "", full)} }, []time.Duration{0, 7 * time.Second}, ""},
		{"until it says", func() []*http.Response {
			return []*http.Response{turn(503, time.Now().Add(30*time.Second).UTC().Format(http.TimeFormat), ""), turn(200, "", full)}
		}, []time.Duration{0, 30 * time.Second}, ""},
		{"five seconds if it does not", func() []*http.Response { return []*http.Response{turn(503, "soon", ""), turn(200, "", full)} }, []time.Duration{0, 5 * time.Second}, ""},
		{"twice", func() []*http.Response {
			return []*http.Response{turn(429, "1", ""), turn(429, "2", ""), turn(429, "4", ""), turn(200, "", full)}
		}, []time.Duration{0, time.Second, 3 * time.Second}, "query rate"},
		{"but not an hour", func() []*http.Response { return []*http.Response{turn(429, "3600", "")} }, []time.Duration{0}, "retry after 1h0m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &turns{answers: c.answers(), begun: time.Now()}
				s := newSearXNG(t, "http://x.example", server, "", NewPace(0))
				_, err := s.Search(t.Context(), "q", 1)
				if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				if d := cmp.Diff(c.at, server.at); d != "" {
					t.Error(d)
				}
			})
		})
	}
}

func TestFailedPageKeepsEarlierResults(t *testing.T) {
	server := &turns{answers: []*http.Response{turn(200, "", answerOf("https://x.example/"))}}
	s := newSearXNG(t, "http://x.example", server, "", NewPace(0))
	got, err := s.Search(t.Context(), "q", 10)
	if len(got) != 1 || err != nil {
		t.Error(got, err)
	}
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &turns{begun: time.Now()}
		for range 4 {
			server.answers = append(server.answers, turn(200, "", answerOf("https://x.example/")))
		}
		s := newSearXNG(t, "http://x.example", server, "", NewPace(0.5))
		for i := range 4 {
			if i == 3 {
				time.Sleep(time.Minute) // nothing is saved up, nor owed
			}
			if _, err := s.Search(t.Context(), fmt.Sprint(i), 1); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff([]time.Duration{0, 2 * time.Second, 4 * time.Second, 64 * time.Second}, server.at); d != "" {
			t.Error(d)
		}
	})
}

func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(answerOf("https://x.example/", "javascript:1")))
	for _, s := range []string{`{"results":[7,{"url":3}],"unresponsive_engines":[["a","b"],1]}`, `{"results":null}`, `<html>`, ``, `{"results":[{"url":"http://\ud800"}]}`, `{"Results":[{"URL":"http://x.example/"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := readAnswer(body)
		if err != nil && len(a.urls) > 0 {
			t.Fatal("an answer and an error")
		}
		found := newResults(10)
		for _, u := range a.urls {
			found.add(u)
		}
		again := newResults(10)
		for _, u := range found.urls {
			if !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") {
				t.Fatalf("%q", u)
			}
			if !again.add(u) {
				t.Fatalf("%q is not canonical", u)
			}
		}
		if len(a.silent) > maxSilent {
			t.Fatal("too many words")
		}
	})
}
