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
	Script bool        // the page loads a script, which other pages of the site may load too
	Header http.Header // only fields that the page or the type of the request sets
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

// header returns a header field of the request. It ignores the case of name.
func (p *paused) header(name string) string {
	for n, value := range p.Request.Headers {
		if strings.EqualFold(n, name) {
			return value
		}
	}
	return ""
}

// An action is how a tab handles a request of a page.
type action int

const (
	refuse          action = iota // let the request fail
	load                          // answer with the response of the Loader
	document                      // answer with the page that the caller passed to Render
	blockNavigation               // the request is a navigation: it fails, and the tab stores its target
	emptyStyle                    // answer with an empty style sheet
	preflight                     // answer a CORS preflight with a permission
)

// decide returns how to handle a request. All navigations of the main frame after the first one were
// started by scripts or meta elements.
func decide(p *paused, mainFrame string, navigated bool) action {
	if p.ResourceType == "Document" {
		switch {
		case p.FrameID != mainFrame:
			return refuse
		case navigated || p.Request.Method != http.MethodGet:
			return blockNavigation
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
		// The protocol also reports event streams, which do not end, and prefetches as these types.
		if p.header("Accept") == "text/event-stream" || strings.Contains(p.header("Sec-Purpose")+p.header("Purpose"), "prefetch") {
			return refuse
		}
		return load
	case "Stylesheet":
		return emptyStyle
	}
	return refuse // images, media, fonts, pings, event streams, icons, …
}

// unsent are request header fields that are dropped: the crawler sets them itself, or they would
// identify the browser or make a response depend on an earlier one.
var unsent = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Cookie", "Host", "If-Match", "If-Modified-Since",
	"If-None-Match", "If-Range", "If-Unmodified-Since", "Range", "Te", "Transfer-Encoding", "Upgrade",
	"Upgrade-Insecure-Requests", "User-Agent",
}

// requestHeader returns the header fields of a request that the Loader may send.
func requestHeader(fields map[string]string) http.Header {
	const maxLen = 8 << 10 // maximum length of a field in bytes
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

// unreceived are response header fields that are dropped: they do not apply to a decoded body, or would
// store state in the browser, cause further requests, or replace the page by a download or another page.
var unreceived = []string{
	"Accept-Ch", "Alt-Svc", "Connection", "Content-Disposition", "Content-Encoding", "Content-Length", "Keep-Alive",
	"Link", "Nel", "Refresh", "Report-To", "Reporting-Endpoints", "Set-Cookie", "Strict-Transport-Security",
	"Trailer", "Transfer-Encoding", "Upgrade",
}

// A headerField is a header field in the form of the protocol.
type headerField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// responseHeader returns the header fields of a response that are passed to the browser, sorted by name.
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

// permission returns the response to a preflight, which is not sent to the server. The response to the
// request itself still determines which origins may read it.
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

// A budget limits the requests of one page. It is safe for concurrent use.
type budget struct {
	mu       sync.Mutex
	requests int       // requests that are still allowed
	bytes    int64     // bytes of responses that are still allowed
	pending  int       // requests that have not been answered yet
	last     time.Time // when a request last began or was answered
	refused  int       // requests and responses beyond the limits
}

// begin records that a request of the page is pending.
func (b *budget) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending++
	b.last = time.Now()
}

// end records that a request was answered.
func (b *budget) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending--
	b.last = time.Now()
}

// take reports whether one more request is within the budget, and subtracts it.
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

// spend subtracts a response of n bytes, and reports whether it is within the budget.
func (b *budget) spend(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes -= int64(n); b.bytes < 0 {
		b.refused++
		return false
	}
	return true
}

// idle returns how long no request has been pending.
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
