package browser

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Request is a request of a page.
type Request struct {
	URL    string
	Page   string      // URL of the page
	Script bool        // the response is a script, which other pages of the site load too
	Header http.Header // of the request, as far as scripts and the type of the request determine it
}

// A Response is the response to a [Request]. A redirect is a response too: the browser follows it.
type Response struct {
	StatusCode int
	Header     http.Header
	Body       []byte // decoded
}

// A paused is the event Fetch.requestPaused: the browser waits for the response.
type paused struct {
	RequestID string
	FrameID   string
	Request   struct {
		URL     string
		Method  string
		Headers map[string]string
	}
	ResourceType string
}

// header returns a field of the header of the request, whatever the case of its name.
func (p *paused) header(name string) string {
	for n, value := range p.Request.Headers {
		if strings.EqualFold(n, name) {
			return value
		}
	}
	return ""
}

// An action is what is done about a request of a page.
type action int

const (
	refuse     action = iota // the request fails
	load                     // the Loader of the browser answers
	document                 // the page itself, which the caller has
	stay                     // a navigation, which leaves the page as it is
	emptyStyle               // a style sheet, which is empty
	preflight                // a preflight of CORS, which is permitted
)

// decide returns what is done about a request. Navigations of the main frame after the first one
// are those of scripts.
func decide(p *paused, mainFrame string, navigated bool) action {
	if p.ResourceType == "Document" {
		switch {
		case p.FrameID != mainFrame:
			return refuse
		case navigated || p.Request.Method != http.MethodGet:
			return stay
		}
		return document
	}
	if !strings.HasPrefix(p.Request.URL, "http://") && !strings.HasPrefix(p.Request.URL, "https://") {
		return refuse
	}
	switch {
	case p.ResourceType == "Preflight" || p.Request.Method == http.MethodOptions:
		return preflight
	case p.Request.Method != http.MethodGet:
		return refuse
	}
	switch p.ResourceType {
	case "Script", "XHR", "Fetch":
		// The protocol takes event streams, which do not end, and prefetches for these types.
		if p.header("Accept") == "text/event-stream" || strings.Contains(p.header("Sec-Purpose")+p.header("Purpose"), "prefetch") {
			return refuse
		}
		return load
	case "Stylesheet":
		return emptyStyle
	}
	return refuse // images, media, fonts, pings, event streams, icons, …
}

// unsent are the headers that the crawler sets itself, that would identify the browser, or that
// make a response depend on an earlier one.
var unsent = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Cookie", "Host", "If-Match", "If-Modified-Since",
	"If-None-Match", "If-Range", "If-Unmodified-Since", "Range", "Te", "Transfer-Encoding", "Upgrade",
	"Upgrade-Insecure-Requests", "User-Agent",
}

// requestHeader returns the header of a request of a page as it is sent.
func requestHeader(fields map[string]string) http.Header {
	const maxLen = 8 << 10 // bytes of a field
	h := http.Header{}
	for name, value := range fields {
		name = http.CanonicalHeaderKey(name)
		if !slices.Contains(unsent, name) && !strings.HasPrefix(name, "Sec-") && !strings.HasPrefix(name, "Proxy-") &&
			len(name)+len(value) <= maxLen && !strings.ContainsFunc(name+value, isControl) {
			h.Set(name, value)
		}
	}
	return h
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// unreceived are the headers that do not apply to a decoded body, that would store something in
// the browser or load something past it, or that would make the page a download or leave it.
var unreceived = []string{
	"Accept-Ch", "Alt-Svc", "Connection", "Content-Disposition", "Content-Encoding", "Content-Length", "Keep-Alive",
	"Link", "Nel", "Refresh", "Report-To", "Reporting-Endpoints", "Set-Cookie", "Strict-Transport-Security",
	"Trailer", "Transfer-Encoding", "Upgrade",
}

// A headerField is a header field as the protocol has it.
type headerField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// responseHeader returns the header of a response as the browser gets it.
func responseHeader(h http.Header) []headerField {
	fields := []headerField{}
	for name, values := range h {
		if slices.Contains(unreceived, http.CanonicalHeaderKey(name)) {
			continue
		}
		for _, value := range values {
			if !strings.ContainsFunc(value, isControl) {
				fields = append(fields, headerField{name, value})
			}
		}
	}
	slices.SortStableFunc(fields, func(a, b headerField) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

// permission is the response to a preflight: it is not sent to the server, whose response to the
// request itself still says which origins may read it.
func permission(p *paused) *Response {
	return &Response{StatusCode: http.StatusNoContent, Header: http.Header{
		"Access-Control-Allow-Origin":      {cmp.Or(p.header("Origin"), "*")},
		"Access-Control-Allow-Credentials": {"true"},
		"Access-Control-Allow-Methods":     {http.MethodGet},
		"Access-Control-Allow-Headers":     {cmp.Or(p.header("Access-Control-Request-Headers"), "*")},
	}}
}

// fulfilment returns the parameters of Fetch.fulfillRequest.
func fulfilment(p *paused, r *Response) any {
	return struct {
		RequestID       string        `json:"requestId"`
		ResponseCode    int           `json:"responseCode"`
		ResponseHeaders []headerField `json:"responseHeaders"`
		Body            string        `json:"body,omitempty"`
	}{p.RequestID, r.StatusCode, responseHeader(r.Header), base64.StdEncoding.EncodeToString(r.Body)}
}

// failure returns the parameters of Fetch.failRequest.
func failure(p *paused, reason string) any {
	return map[string]string{"requestId": p.RequestID, "errorReason": reason}
}

// A budget is what one page may load, and what it has loaded. It is safe for concurrent use.
type budget struct {
	mu       sync.Mutex
	requests int
	bytes    int64
	pending  int       // requests that are not answered
	last     time.Time // when the last request was made or answered
	refused  int
}

// begin counts a request of a page.
func (b *budget) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending++
	b.last = time.Now()
}

// end counts the answer to a request.
func (b *budget) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending--
	b.last = time.Now()
}

// take reports whether one more request may be loaded.
func (b *budget) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.requests <= 0 || b.bytes <= 0 {
		b.refused++
		return false
	}
	b.requests--
	return true
}

// spend reports whether a response of n bytes may be passed to the page.
func (b *budget) spend(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes -= int64(n); b.bytes < 0 {
		b.refused++
		return false
	}
	return true
}

// idle returns how long no request has been waiting for its answer.
func (b *budget) idle() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending > 0 {
		return 0
	}
	return time.Since(b.last)
}

// decode decodes the parameters of an event.
func decode[T any](e *event) (T, bool) {
	var v T
	return v, json.Unmarshal(e.Params, &v) == nil
}
