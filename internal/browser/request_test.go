package browser

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestDecide(t *testing.T) {
	const main, frame = "main", "frame"
	for _, test := range []struct {
		name, frame, kind, method, url string
		header                         map[string]string
		navigated                      bool
		want                           action
	}{
		{name: "the page", frame: main, kind: "Document", want: document},
		{name: "a navigation", frame: main, kind: "Document", navigated: true, want: blockNavigation},
		{name: "a form", frame: main, kind: "Document", method: "POST", navigated: true, want: blockNavigation},
		{name: "a frame", frame: frame, kind: "Document", want: refuse},
		{name: "a script", frame: main, kind: "Script", want: load},
		{name: "a script of a frame", frame: frame, kind: "Script", want: load},
		{name: "data", frame: main, kind: "XHR", want: load},
		{name: "fetch", frame: main, kind: "Fetch", want: load},
		{name: "POST", frame: main, kind: "Fetch", method: "POST", want: refuse},
		{name: "HEAD", frame: main, kind: "Fetch", method: "HEAD", want: refuse},
		{name: "preflight", frame: main, kind: "Preflight", method: "OPTIONS", want: preflight},
		{name: "OPTIONS", frame: main, kind: "Fetch", method: "OPTIONS", want: preflight},
		{name: "a style sheet", frame: main, kind: "Stylesheet", want: emptyStyle},
		{name: "an image", frame: main, kind: "Image", want: refuse},
		{name: "a font", frame: main, kind: "Font", want: refuse},
		{name: "a ping", frame: main, kind: "Ping", method: "POST", want: refuse},
		{name: "an event stream", frame: main, kind: "Fetch", header: map[string]string{"accept": "text/event-stream"}, want: refuse},
		{name: "a prefetch", frame: main, kind: "Fetch", header: map[string]string{"Sec-Purpose": "prefetch"}, want: refuse},
		{name: "a file", frame: main, kind: "Fetch", url: "file:///etc/passwd", want: refuse},
		{name: "FTP", frame: main, kind: "Fetch", url: "ftp://a.example/", want: refuse},
		{name: "an extension", frame: main, kind: "Script", url: "chrome-extension://x/", want: refuse},
		{name: "a type of tomorrow", frame: main, kind: "Telepathy", want: refuse},
	} {
		p := &paused{FrameID: test.frame, ResourceType: test.kind}
		p.Request.Method, p.Request.URL, p.Request.Headers = test.method, test.url, test.header
		if test.method == "" {
			p.Request.Method = http.MethodGet
		}
		if test.url == "" {
			p.Request.URL = "https://a.example/"
		}
		if got := decide(p, main, test.navigated); got != test.want {
			t.Errorf("%s: action %d, want %d", test.name, got, test.want)
		}
	}
}

func TestHeadersOfRequests(t *testing.T) {
	got := requestHeader(map[string]string{
		"accept": "application/json", "User-Agent": "Mozilla", "Cookie": "a=b", "sec-ch-ua": "x", "X-Key": "1", "Range": "bytes=0-",
		"If-None-Match": "x", "Host": "other", "X-Long": strings.Repeat("x", 1<<14), "X-Split": "a\r\nB: c", "Proxy-Authorization": "x",
		"Content-Length": "5", "Accept-Encoding": "zstd",
	})
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"Accept", "X-Key"}) {
		t.Errorf("sent are %q", names)
	}
}

func TestHeadersOfResponses(t *testing.T) {
	got := responseHeader(http.Header{
		"content-type": {"text/html"}, "Content-Encoding": {"gzip"}, "content-disposition": {"attachment"}, "Set-Cookie": {"a=b"},
		"Link": {"</x>; rel=preload"}, "Refresh": {"0;url=/"}, "Vary": {"a", "b"}, "X-Bad": {"a\nb"},
	})
	want := []headerField{{"Vary", "a"}, {"Vary", "b"}, {"content-type", "text/html"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBudget(t *testing.T) {
	b := budget{requests: 2, bytes: 10}
	if !b.take() || !b.spend(4) || !b.take() || !b.spend(6) {
		t.Error("a request within the limits is refused")
	}
	if b.take() || b.refused != 1 {
		t.Error("a third request is not refused")
	}
	b = budget{requests: 5, bytes: 10}
	if !b.take() || b.spend(11) || b.take() {
		t.Error("more bytes than the limit are not refused")
	}
}

func TestIdle(t *testing.T) {
	var b budget
	b.begin()
	if b.idle() != 0 {
		t.Error("idle with a pending request")
	}
	b.end()
	if b.idle() <= 0 {
		t.Error("not idle without one")
	}
}

func TestCacheKeepsScripts(t *testing.T) {
	var loads []string
	load := Cached(func(_ context.Context, r *Request) (*Response, error) {
		loads = append(loads, r.URL)
		switch r.URL {
		case "private":
			return &Response{StatusCode: 200, Header: http.Header{"Cache-Control": {"No-Store"}}}, nil
		case "missing":
			return &Response{StatusCode: 404}, nil
		case "broken":
			return nil, errors.New("broken")
		case "large":
			return &Response{StatusCode: 200, Body: make([]byte, 26)}, nil
		}
		return &Response{StatusCode: 200, Body: make([]byte, 25)}, nil
	}, 100)
	get := func(urls ...string) []string {
		loads = nil
		for _, url := range urls {
			load(t.Context(), &Request{URL: url, Script: url != "data"})
		}
		return loads
	}
	for _, twice := range []string{"private", "missing", "broken", "large", "data"} {
		if got := get(twice, twice); len(got) != 2 {
			t.Errorf("%s is kept", twice)
		}
	}
	if got := get("a", "b", "c", "d", "a", "d"); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("loaded %q", got)
	}
	if got := get("e", "b", "a"); !slices.Equal(got, []string{"e", "a"}) { // e takes the place of a, and a that of b
		t.Errorf("loaded %q", got)
	}
}

func TestCut(t *testing.T) {
	for n, want := range map[int64]string{0: "", 1: "a", 2: "a", 3: "aé", 4: "aéb", 9: "aéb"} {
		if got := cut([]byte("aéb"), n); string(got) != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}

func TestMessages(t *testing.T) {
	r := bufio.NewReaderSize(strings.NewReader("one\x00"+strings.Repeat("x", 100)+"\x00"+strings.Repeat("y", 200)+"\x00"), 16)
	for _, want := range []string{"one", strings.Repeat("x", 100)} {
		if got, err := readMessage(r, 150); err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := readMessage(r, 150); !errors.Is(err, errMessage) {
		t.Errorf("a long message: %v", err)
	}
}

func TestCallsFailWhenTheBrowserEnds(t *testing.T) {
	var sent bytes.Buffer
	var events []string
	c := newConn(&sent, func(e *event) { events = append(events, e.Method+e.SessionID) })
	out, in := io.Pipe()
	go func() {
		io.WriteString(in, `{"method":"Page.x","sessionId":"s","params":{}}`+"\x00"+`{"id":77,"result":{}}`+"\x00")
		in.Close()
	}()
	read := make(chan struct{})
	go func() {
		c.read(out, 1000)
		close(read)
	}()
	err := c.call(t.Context(), "", "Browser.getVersion", nil, nil)
	<-read
	if !errors.Is(err, io.EOF) || !errors.Is(c.closed(), io.EOF) {
		t.Errorf("%v, %v", err, c.closed())
	}
	if !slices.Equal(events, []string{"Page.xs"}) {
		t.Errorf("events %q", events)
	}
	if _, err := c.send("", "x", nil, nil); err == nil {
		t.Error("a call after the end")
	}
}

func TestFlagsLeaveNoNetwork(t *testing.T) {
	flags := (&Browser{Options: Options{Memory: 1 << 30}}).flags()
	for _, want := range []string{"--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=http://proxy.invalid:1", "--proxy-bypass-list=<-loopback>", "--remote-debugging-pipe"} {
		if !slices.Contains(flags, want) {
			t.Errorf("no flag %s", want)
		}
	}
	if slices.Contains(flags, "--no-sandbox") {
		t.Error("the sandbox is off")
	}
}
