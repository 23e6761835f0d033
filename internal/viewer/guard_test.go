package viewer

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"spoor/internal/run"
	"spoor/internal/testfile"
)

const testToken = "abcdefghijklmnopqrstuvwxyz"

func TestHosts(t *testing.T) {
	server := start(t, Options{Access: Access{Hosts: []string{"Crawls.Example.org", "192.0.2.7", "2001:db8::7"}}})
	for host, want := range map[string]int{
		"127.0.0.1": 200, "127.0.0.1:99": 200, "127.8.9.1:80": 200, "localhost": 200, "LOCALHOST:1": 200, "localhost.": 200, "[::1]:80": 200, "[::1]": 200,
		"crawls.example.org": 200, "crawls.example.org.:443": 200, "192.0.2.7:1": 200, "[2001:db8::7]:8390": 200,
		"evil.example": 421, "evil.example:8390": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "example.org": 421, "x.crawls.example.org": 421,
		"192.0.2.8": 421, "0.0.0.0": 421, "[::]": 421, ":80": 421, "2130706433": 421, "0x7f.1": 421,
	} {
		if status, _, _ := get(t, "GET", server.URL+"/", map[string]string{"Host": host}); status != want {
			t.Errorf("%s: %d", host, status)
		}
	}
}

func TestToken(t *testing.T) {
	access := Access{Token: testToken}
	server := start(t, Options{Access: access})
	name, value := access.cookie()
	cookie := name + "=" + value
	for _, test := range []struct {
		what, path string
		header     map[string]string
		want       int
	}{
		{"nothing", "/", nil, 401},
		{"nothing, for events", "/events", nil, 401},
		{"nothing, for a file of the pages", "/assets/viewer.js", nil, 401},
		{"a wrong token", "/?token=abc", nil, 401},
		{"the token twice", "/?token=x&token=" + testToken, nil, 401},
		{"a wrong header", "/", map[string]string{"Authorization": "Bearer x"}, 401},
		{"another scheme", "/", map[string]string{"Authorization": "Basic " + testToken}, 401},
		{"the header", "/", map[string]string{"Authorization": "Bearer " + testToken}, 200},
		{"the header, in lower case", "/", map[string]string{"Authorization": "bearer " + testToken}, 200},
		{"the cookie", "/", map[string]string{"Cookie": "x=y; " + cookie}, 200},
		{"a wrong cookie", "/", map[string]string{"Cookie": name + "=" + value[1:]}, 401},
		{"the token as a cookie", "/", map[string]string{"Cookie": name + "=" + testToken}, 401},
		{"the token and a wrong host", "/?token=" + testToken, map[string]string{"Host": "evil.example"}, 421},
	} {
		if status, _, _ := get(t, "GET", server.URL+test.path, test.header); status != test.want {
			t.Errorf("%s: %d", test.what, status)
		}
	}
	for path, want := range map[string]string{
		"/?token=" + testToken:               "/",
		"/run/x/?a=b&token=" + testToken:     "/run/x/?a=b",
		"//evil.example/?token=" + testToken: "/evil.example/",
		`/\evil.example/?token=` + testToken: "/evil.example/",
		`/"><script>x/?token=` + testToken:   `/%22%3e%3cscript%3ex/`,
	} {
		r := httptest.NewRequest("GET", "http://127.0.0.1/", nil)
		path, query, _ := strings.Cut(path, "?")
		r.URL.Path, r.URL.RawQuery = path, query
		w := httptest.NewRecorder()
		access.guard(http.NotFoundHandler()).ServeHTTP(w, r)
		body, set := w.Body.String(), w.Header().Get("Set-Cookie")
		if w.Code != 200 || !strings.Contains(strings.ToLower(body), `content="0; url=`+strings.ToLower(want)+`"`) || strings.Contains(body, testToken) {
			t.Errorf("%s: %d\n%s", path, w.Code, body)
		}
		if set != cookie+"; Path=/; HttpOnly; SameSite=Strict" {
			t.Errorf("the cookie is %q", set)
		}
	}
	r := httptest.NewRequest("GET", "https://127.0.0.1/?token="+testToken, nil)
	w := httptest.NewRecorder()
	access.guard(http.NotFoundHandler()).ServeHTTP(w, r)
	if !strings.Contains(w.Header().Get("Set-Cookie"), "; Secure") {
		t.Errorf("over TLS the cookie is %q", w.Header().Get("Set-Cookie"))
	}
	// A link of another site: the browser sends the cookie only if the page is opened again.
	navigation := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	if status, header, body := get(t, "GET", server.URL+"/run/x/", navigation); status != 200 || !strings.Contains(body, `url=/run/x/"`) || header.Get("Set-Cookie") != "" {
		t.Errorf("a link of another site: %d\n%s", status, body)
	}
}

func TestRequestsOfOtherSites(t *testing.T) {
	server := start(t, Options{})
	for _, test := range []struct {
		method, path, site, mode, dest, origin string
		want                                   int
	}{
		{"GET", "/", "", "", "", "", 200},
		{"GET", "/", "none", "navigate", "document", "", 200},
		{"GET", "/", "same-origin", "navigate", "document", "", 200},
		{"GET", "/", "cross-site", "navigate", "document", "", 200},
		{"GET", "/", "cross-site", "navigate", "iframe", "", 403},
		{"GET", "/events", "cross-site", "cors", "empty", "https://evil.example", 403},
		{"GET", "/events", "same-site", "cors", "empty", "http://localhost:3000", 403},
		{"GET", "/assets/viewer.js", "cross-site", "no-cors", "script", "", 403},
		{"HEAD", "/", "", "", "", "", 200},
		{"POST", "/", "", "", "", "", 405},
		{"PUT", "/list", "", "", "", "", 405},
		{"DELETE", "/run/x/live", "", "", "", "", 405},
		{"OPTIONS", "/", "", "", "", "", 405},
		{"POST", "/", "cross-site", "navigate", "document", "https://evil.example", 403},
	} {
		header := map[string]string{"Sec-Fetch-Site": test.site, "Sec-Fetch-Mode": test.mode, "Sec-Fetch-Dest": test.dest, "Origin": test.origin}
		for name, value := range header {
			if value == "" {
				delete(header, name)
			}
		}
		if status, _, _ := get(t, test.method, server.URL+test.path, header); status != test.want {
			t.Errorf("%+v: %d", test, status)
		}
	}
}

// routes are the addresses of a server with the run r, and the status of GET for those who have access.
var routes = map[string]int{
	"/": 200, "/list": 200, "/events": 200, "/search?q=deer": 200, "/search?q=deer&format=json": 200, "/opensearch.xml": 200, "/cached?url=http://a.example/": 404,
	"/cached/page?url=http://a.example/": 404, "/run/r": 301, "/run/r/": 200, "/run/r/live": 200, "/run/r/events": 200, "/run/r/report": 404,
	"/run/none/": 404, "/assets/viewer.js": 200, "/assets/viewer.css": 200, "/none": 404,
}

// status returns the status of an answer, whose body may have no end, and the first bytes of the body.
func status(t *testing.T, method, url string, header map[string]string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	testfile.Check(t, err)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	testfile.Check(t, err)
	defer answer.Body.Close()
	b := make([]byte, 4096)
	n, _ := io.ReadAtLeast(answer.Body, b, 1) // none, for HEAD
	return answer.StatusCode, string(b[:n])
}

func TestEveryRouteNeedsTheToken(t *testing.T) {
	r := newRun(t, filepath.Join(t.TempDir(), "r"))
	access, other := Access{Token: testToken}, Access{Token: strings.ToUpper(testToken)}
	server := start(t, Options{Dirs: []string{string(r.dir)}, Access: access, Control: &Control{}})
	name, value := access.cookie()
	otherName, otherValue := other.cookie()
	for path, want := range routes {
		for _, header := range []map[string]string{
			nil,
			{"Authorization": "Bearer " + other.Token},
			{"Authorization": "Bearer"},
			{"Authorization": testToken},
			{"Cookie": otherName + "=" + otherValue}, // of a server on another port
			{"Cookie": name + "=" + otherValue},
			{"Cookie": otherName + "=" + value},
			{"Cookie": name + "="},
			{"Cookie": otherName + "=" + otherValue, "Sec-Fetch-Site": "same-origin"},
		} {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "OPTIONS"} {
				if got, body := status(t, method, server.URL+path, header); got != 401 || strings.Contains(body, "moss") {
					t.Errorf("%s %s with %v: %d", method, path, header, got)
				}
			}
		}
		joined := path + "?token="
		if strings.Contains(path, "?") {
			joined = path + "&token="
		}
		if got, _ := status(t, "GET", server.URL+joined+other.Token, nil); got != 401 {
			t.Errorf("%s with a wrong token: %d", path, got)
		}
		for _, method := range []string{"HEAD", "POST"} {
			if got, _ := status(t, method, server.URL+joined+testToken, nil); got != 401 {
				t.Errorf("%s %s with the token in the address: %d", method, path, got)
			}
		}
		for _, header := range []map[string]string{{"Authorization": "Bearer " + testToken}, {"Cookie": otherName + "=" + otherValue + "; " + name + "=" + value}} {
			if got, _ := status(t, "GET", server.URL+path, header); got != want {
				t.Errorf("%s with %v: %d, want %d", path, header, got, want)
			}
		}
	}
	for _, command := range []string{"stop", "continue", "make", "other"} {
		for _, header := range []map[string]string{nil, {"Authorization": "Bearer x"}, {"Cookie": otherName + "=" + otherValue, "Sec-Fetch-Site": "same-origin"}} {
			if got, _ := status(t, "POST", server.URL+"/run/r/"+command, header); got != 401 {
				t.Errorf("%s with %v: %d", command, header, got)
			}
		}
	}
}

// Pages of other sites can neither load nor read anything, also where no token is needed.
func TestNoRouteIsForOtherSites(t *testing.T) {
	r := newRun(t, filepath.Join(t.TempDir(), "r"))
	access := Access{Token: testToken}
	name, value := access.cookie()
	for _, server := range []*httptest.Server{start(t, Options{Dirs: []string{string(r.dir)}}), start(t, Options{Dirs: []string{string(r.dir)}, Access: access})} {
		for path := range routes {
			for _, site := range []string{"cross-site", "same-site", "unknown"} {
				for _, use := range []struct{ method, mode, dest, origin string }{
					{"GET", "cors", "empty", "https://evil.example"}, {"GET", "no-cors", "image", ""}, {"GET", "no-cors", "script", ""}, {"GET", "no-cors", "style", ""},
					{"GET", "navigate", "iframe", ""}, {"GET", "navigate", "object", ""}, {"GET", "websocket", "websocket", "null"}, {"GET", "", "", ""},
					{"HEAD", "navigate", "document", ""}, {"POST", "navigate", "document", "https://evil.example"}, {"POST", "no-cors", "empty", "null"}, {"OPTIONS", "cors", "empty", "https://evil.example"},
				} {
					header := map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": use.mode, "Sec-Fetch-Dest": use.dest, "Origin": use.origin, "Cookie": name + "=" + value}
					if use.origin == "" {
						delete(header, "Origin")
					}
					got, answer, _ := get(t, use.method, server.URL+path, header)
					if got != 403 || answer.Get("Access-Control-Allow-Origin") != "" || answer.Get("Cross-Origin-Resource-Policy") != "same-origin" {
						t.Errorf("%s: %s %+v: %d %v", path, site, use, got, answer)
					}
				}
			}
			// Browsers that send only Origin.
			if got, _ := status(t, "POST", server.URL+path, map[string]string{"Origin": "https://evil.example", "Cookie": name + "=" + value}); got != 403 {
				t.Errorf("%s by a form of another origin: %d", path, got)
			}
		}
	}
}

// The host is that of the request line or of the header Host, and there is exactly one.
func TestHostsOnTheWire(t *testing.T) {
	server := start(t, Options{Access: Access{Hosts: []string{"crawls.example.org"}}})
	for request, want := range map[string]int{
		"GET /list HTTP/1.1\r\nHost: 127.0.0.1\r\n":                                200,
		"GET http://127.0.0.1/list HTTP/1.1\r\nHost: evil.example\r\n":             200, // RFC 9112, section 3.2.2
		"GET http://evil.example/list HTTP/1.1\r\nHost: 127.0.0.1\r\n":             421,
		"GET //evil.example/list HTTP/1.1\r\nHost: 127.0.0.1\r\n":                  307,
		"GET /list HTTP/1.0\r\n":                                                   421,
		"GET /list HTTP/1.1\r\nHost:\r\n":                                          421,
		"GET /list HTTP/1.1\r\nHost: :80\r\n":                                      421,
		"GET /list HTTP/1.1\r\nHost: .\r\n":                                        421,
		"GET /list HTTP/1.1\r\nHost: []\r\n":                                       421,
		"GET /list HTTP/1.1\r\nHost: 10.0.0.1\r\n":                                 421,
		"GET /list HTTP/1.1\r\nHost: [fe80::1]:80\r\n":                             421,
		"GET /list HTTP/1.1\r\nHost: crawls.example.org.evil.example\r\n":          421,
		"GET /list HTTP/1.1\r\nX-Forwarded-Host: 127.0.0.1\r\nHost: evil.test\r\n": 421,
		"GET /list HTTP/1.1\r\n":                                                   400,
		"GET /list HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n":          400,
		"GET /list HTTP/1.1\r\nHost: 127.0.0.1@evil.example\r\n":                   400,
		"GET /list HTTP/1.1\r\nHost: 127.0.0.1 evil.example\r\n":                   400,
		"CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n":            421,
	} {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		testfile.Check(t, err)
		_, err = io.WriteString(c, request+"Connection: close\r\n\r\n")
		testfile.Check(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		testfile.Check(t, err)
		if answer.StatusCode != want {
			t.Errorf("%q: %d, want %d", request, answer.StatusCode, want)
		}
		c.Close()
	}
}

func TestCommandsAreForThoseWhoMayGiveThem(t *testing.T) {
	dir := t.TempDir()
	r := newRun(t, filepath.Join(dir, "r"))
	r.generation(&run.Summary{Cost: 1}, "", "")
	program := filepath.Join(dir, "program")
	testfile.Write(t, program, "#!/bin/sh\necho \"$*\" >>"+dir+"/called\ncase $1 in fails) echo no luck >&2; exit 3 ;; esac\n")
	testfile.Check(t, os.Chmod(program, 0o755))
	access := Access{Token: testToken}
	control := &Control{Crawl: []string{program, "crawls"}, Report: []string{program, "fails"}}
	server := start(t, Options{Dirs: []string{dir}, Access: access, Control: control})
	plain := start(t, Options{Dirs: []string{dir}, Access: access})
	name, value := access.cookie()
	cookie, bearer := name+"="+value, "Bearer "+testToken
	end := r.hold()
	sleep()
	stop := r.dir.Path(run.StopFile)
	for _, test := range []struct {
		what, method string
		header       map[string]string
		want         int
		stops        bool
	}{
		{"no token", "POST", nil, 401, false},
		{"another method", "GET", map[string]string{"Authorization": bearer}, 405, false},
		{"a cookie and nothing else", "POST", map[string]string{"Cookie": cookie}, 401, false},
		{"a form of another site", "POST", map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403, false},
		{"a form of another port", "POST", map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"}, 403, false},
		{"another origin", "POST", map[string]string{"Cookie": cookie, "Origin": "http://127.0.0.1:1"}, 403, false},
		{"no origin", "POST", map[string]string{"Cookie": cookie, "Origin": "null"}, 403, false},
		{"another name", "POST", map[string]string{"Cookie": cookie, "Host": "evil.example", "Origin": "http://evil.example"}, 421, false},
		{"a token in the address", "POST", map[string]string{}, 401, false},
		{"its own form", "POST", map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}, 303, true},
		{"its own origin", "POST", map[string]string{"Cookie": cookie, "Origin": server.URL}, 303, true},
		{"a program", "POST", map[string]string{"Authorization": bearer}, 303, true},
	} {
		os.Remove(stop)
		url := server.URL + "/run/r/stop"
		if test.what == "a token in the address" {
			url += "?token=" + testToken
		}
		status, _, _ := get(t, test.method, url, test.header)
		if _, err := os.Lstat(stop); status != test.want || (err == nil) != test.stops {
			t.Errorf("%s: %d, %v", test.what, status, err)
		}
	}
	os.Remove(stop)
	authorized := map[string]string{"Authorization": bearer}
	if status, _, _ := get(t, "POST", plain.URL+"/run/r/stop", authorized); status != 403 {
		t.Errorf("without -control: %d", status)
	}
	for path, want := range map[string]int{"/run/r/continue": 409, "/run/r/other": 404, "/run/none/stop": 404} {
		if status, _, _ := get(t, "POST", server.URL+path, authorized); status != want {
			t.Errorf("%s of a crawl that is running: %d", path, status)
		}
	}
	if _, _, page := get(t, "GET", server.URL+"/run/r/", authorized); !strings.Contains(page, `action="stop"`) || strings.Contains(page, `action="continue"`) {
		t.Error("the page of a crawl that is running has not the right buttons")
	}

	end("pages")
	sleep()
	if _, _, page := get(t, "GET", server.URL+"/run/r/", authorized); strings.Contains(page, `action="stop"`) || !strings.Contains(page, `action="continue"`) {
		t.Error("the page of a crawl that has ended has not the right buttons")
	}
	if status, _, _ := get(t, "POST", server.URL+"/run/r/stop", authorized); status != 409 {
		t.Errorf("stopping a crawl that has ended: %d", status)
	}
	post := func(path, form string) (int, string) {
		t.Helper()
		q, err := http.NewRequest("POST", server.URL+path, strings.NewReader(form))
		testfile.Check(t, err)
		q.Header.Set("Authorization", bearer)
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer, err := http.DefaultClient.Do(q) // it gives the token again after the redirect
		testfile.Check(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		testfile.Check(t, err)
		return answer.StatusCode, string(body)
	}
	for form, want := range map[string]int{"pages=0": 400, "pages=-1": 400, "pages=1e9": 400, "pages=2000000000": 400, "pages=5;rm": 400, "pages=" + strings.Repeat("1", 5000): 400, "pages=120": 200, "pages=": 200} {
		if status, _ := post("/run/r/continue", form); status != want {
			t.Errorf("%.20s: %d", form, status)
		}
	}
	if status, page := post("/run/r/make", ""); status != 200 || !strings.Contains(page, "The command make ended with status 3:\nno luck") {
		t.Errorf("a command that fails: %d\n%s", status, page)
	}
	d := string(r.dir)
	got := string(testfile.Read(t, filepath.Join(dir, "called")))
	for _, want := range []string{"crawls -run " + d + " -pages 120\n", "crawls -run " + d + "\n", "fails -o " + d + "/report.html " + d + "\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the commands are\n%s, without %q", got, want)
		}
	}
	// A link in place of the file of messages is not written.
	testfile.Check(t, os.Remove(r.dir.Path(messages)))
	victim := testfile.Write(t, filepath.Join(dir, "victim"), "")
	testfile.Check(t, os.Symlink(victim, r.dir.Path(messages)))
	if _, page := post("/run/r/make", ""); !strings.Contains(page, "could not write to serve.log") || len(testfile.Read(t, victim)) > 0 {
		t.Errorf("the file outside of the run has %q", testfile.Read(t, victim))
	}
}

func TestEvents(t *testing.T) {
	r := newRun(t, t.TempDir())
	end := r.hold()
	defer end("pages")
	s := New(&Options{Dirs: []string{string(r.dir)}, Log: testLog{t}})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	c := s.all(time.Now())[0]
	url := server.URL + "/run/" + c.name + "/events"
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	listen := func() *http.Response {
		q, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		testfile.Check(t, err)
		answer, err := http.DefaultClient.Do(q)
		testfile.Check(t, err)
		return answer
	}
	read := func(answer *http.Response, want string) {
		t.Helper()
		got, b := "", make([]byte, 4096)
		for begun := time.Now(); !strings.Contains(got, want); {
			n, err := answer.Body.Read(b)
			if got += string(b[:n]); err != nil || time.Since(begun) > 20*time.Second {
				t.Fatalf("%v: %s", err, got)
			}
		}
	}
	first, second := listen(), listen()
	for _, answer := range []*http.Response{first, second} {
		if answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("the type is %s", answer.Header.Get("Content-Type"))
		}
		read(answer, `"fetched":"0"`)
	}
	r.generation(&run.Summary{Cost: 3}, "", "")
	read(first, `"fetched":"3"`)
	read(second, `"fetched":"3"`)
	if !c.feed.isWatched() || len(s.places) != 2 {
		t.Errorf("%d watchers", len(s.places))
	}
	for len(s.places) < cap(s.places) { // as many as are possible
		s.places <- struct{}{}
	}
	if status, header, _ := get(t, "GET", url, nil); status != 503 || header.Get("Retry-After") == "" {
		t.Errorf("one more watcher: %d", status)
	}
	cancel()
	for begun := time.Now(); c.feed.isWatched(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatal("watchers that have gone are still counted")
		}
	}
	if len(s.places) != cap(s.places)-2 {
		t.Errorf("%d places are taken", len(s.places))
	}
}

// A watcher that pauses gets the newest event when it reads again. Other watchers do not wait for it.
func TestSlowWatchers(t *testing.T) {
	events := make(chan []byte)
	f := feed{places: make(chan struct{}, 2), look: func() []byte { return <-events }}
	slow, leave := f.join()
	for _, e := range []string{"one", "two", "two", "three"} {
		select {
		case events <- []byte(e):
		case <-time.After(20 * time.Second):
			t.Fatal("the slow watcher delays the feed")
		}
	}
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		f.mu.Lock()
		last := string(f.event)
		f.mu.Unlock()
		if last == "three" {
			break
		}
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("the last event is %q", last)
		}
	}
	if got := string(<-slow); got != "three" {
		t.Errorf("the slow watcher gets %q", got)
	}
	late, leaveToo := f.join()
	if got := string(<-late); got != "three" {
		t.Errorf("a late watcher gets %q", got)
	}
	if _, third := f.join(); third != nil {
		t.Error("there is a place for a third watcher")
	}
	leave()
	leaveToo()
	close(events)
}

// A connection whose buffers are full is closed after writeTimeout. Other watchers still receive events in time.
func TestWatcherThatNeverReads(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a timeout of ten seconds")
	}
	var events [2][]byte
	for i := range events {
		events[i] = []byte("data: " + strconv.Itoa(i) + strings.Repeat("x", 32<<20) + "\n\n") // more than a connection buffers
	}
	looks := 0
	f := feed{places: make(chan struct{}, 2), look: func() []byte { // called by one goroutine
		looks++
		return events[looks%2]
	}}
	server := httptest.NewServer(&f)
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	testfile.Check(t, err)
	defer c.Close()
	_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	testfile.Check(t, err)
	answer, err := http.Get(server.URL)
	testfile.Check(t, err)
	defer answer.Body.Close()
	b, got := make([]byte, 1<<20), 0
	for begun := time.Now(); len(f.places) > 1 || got < 3; {
		n, err := answer.Body.Read(b)
		if got += bytes.Count(b[:n], []byte("data:")); err != nil || time.Since(begun) > 4*writeTimeout {
			t.Fatalf("%d watchers, %d events, %v", len(f.places), got, err)
		}
	}
}

// The time limits of requests do not end a stream of events.
func TestEventsOutliveRequests(t *testing.T) {
	r := newRun(t, t.TempDir())
	server := httptest.NewUnstartedServer(New(&Options{Dirs: []string{string(r.dir)}, Log: testLog{t}}).Handler())
	server.Config.ReadTimeout, server.Config.WriteTimeout = 300*time.Millisecond, 300*time.Millisecond
	server.Start()
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/run/"+filepath.Base(string(r.dir))+"/events", nil)
	testfile.Check(t, err)
	answer, err := http.DefaultClient.Do(q)
	testfile.Check(t, err)
	defer answer.Body.Close()
	time.AfterFunc(1500*time.Millisecond, func() { r.generation(&run.Summary{Cost: 7}, "", "") })
	got, b := "", make([]byte, 4096)
	for !strings.Contains(got, `"fetched":"7"`) {
		n, err := answer.Body.Read(b)
		if got += string(b[:n]); err != nil {
			t.Fatalf("%v after %q", err, got)
		}
	}
}
