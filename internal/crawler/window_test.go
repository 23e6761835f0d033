package crawler

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// marked crawls windows of addresses, each followed by its mark and sent when the last mark
// has been written, and returns the outcomes of each window.
func marked(t *testing.T, ctx context.Context, windows [][]string, changes ...option) [][]string {
	t.Helper()
	in, feed := io.Pipe()
	back, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := crawl(ctx, in, out, append(changes, allowPrivate)...)
		out.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(back)
	lines.Buffer(nil, 1<<20)
	var came [][]string
	for i, addresses := range windows {
		go io.WriteString(feed, strings.Join(append(addresses, fmt.Sprintf(`{"v":1,"query":"mark","operator":"mark","generation":%d}`, i)), "\n")+"\n")
		var window []string
		for lines.Scan() {
			var rec struct {
				URL, Error, Query string
				Generation        int
				StatusCode        int `json:"status_code"`
			}
			if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
				t.Fatal(err)
			}
			if rec.Query == "mark" {
				if rec.Generation != i {
					t.Fatalf("mark %d instead of %d", rec.Generation, i)
				}
				break
			}
			window = append(window, fmt.Sprintf("%s %d%s", rec.URL[strings.LastIndex(rec.URL, "/"):], rec.StatusCode, rec.Error))
		}
		came = append(came, window)
	}
	feed.Close()
	for lines.Scan() {
		t.Errorf("after the last mark: %s", lines.Bytes())
	}
	if err := <-ended; err != nil {
		t.Log(err)
	}
	return came
}

// A mark is written after all of its window, and every window has a deadline of its own.
func TestMarkWaitsForItsWindow(t *testing.T) {
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(w, r)
		case "/slow":
			time.Sleep(300 * time.Millisecond)
		case "/never":
			select {
			case <-r.Context().Done():
			case <-time.After(20 * time.Second):
			}
		}
	})
	came := marked(t, t.Context(), [][]string{nil, {site.URL + "/slow", site.URL + "/fast"}, {site.URL + "/last"}}, delay(0))
	if got, want := fmt.Sprint(came), "[[] [/fast 200 /slow 200] [/last 200]]"; got != want {
		t.Errorf("%s instead of %s", got, want)
	}
	came = marked(t, t.Context(), [][]string{nil, {site.URL + "/never"}, {site.URL + "/fast"}, {site.URL + "/never"}}, delay(0), func(o *Options) { o.Deadline = time.Second })
	if got, want := fmt.Sprint(came), "[[] [/never 0budget] [/fast 200] [/never 0budget]]"; got != want {
		t.Errorf("%s instead of %s", got, want)
	}
}

// The deadline belongs to the window, not to the goroutine that serves a queue, which may get
// addresses of the next window before it sees that its queue is empty.
func TestWindowsHaveTheirOwnDeadlines(t *testing.T) {
	s := newFaultySite(t)
	const windows = 2000
	var in strings.Builder
	for i := range windows {
		fmt.Fprintf(&in, `{"v":1,"query":"mark","operator":"mark","generation":%d}`+"\n%[2]s/page\n%[2]s/page?a\n%[2]s/page?b\n", i, s.URL)
	}
	var out bytes.Buffer
	if _, err := crawl(t.Context(), strings.NewReader(in.String()), &out, loopback, workers(3), func(o *Options) { o.Deadline = time.Minute }); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"status_code":200`); n != 3*windows || strings.Contains(out.String(), `"budget"`) {
		t.Errorf("%d pages instead of %d, and %d were returned", n, 3*windows, strings.Count(out.String(), `"budget"`))
	}
}

// An interrupted run returns the rest of the window and its mark.
func TestInterruptedWindowIsReturned(t *testing.T) {
	asked := make(chan bool, 10)
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		asked <- true
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	came := marked(t, ctx, [][]string{nil, {site.URL + "/never", site.URL + "/nor"}}, delay(time.Millisecond))
	if got := fmt.Sprint(came); strings.Count(got, "0budget") != 2 {
		t.Errorf("%s", got)
	}
}
