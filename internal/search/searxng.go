package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// A SearXNG is a SearXNG metasearch server (docs.searxng.org, "Search API"), which must have
// json among search.formats in its settings. Results are in the server's order.
type SearXNG struct {
	base      *url.URL
	transport http.RoundTripper
	agent     string
	pace      *rate.Limiter
}

// Limits of requests and responses.
const (
	maxAnswer = 8 << 20 // maximum size of a page of results in bytes
	maxPages  = 20      // maximum number of pages of results for one query
	maxTries  = 3       // maximum number of requests for a page, if the server requires a wait
)

// The wait if the server does not specify one, and the longest wait that is accepted.
const (
	pauseBusy    = 5 * time.Second
	longestPause = time.Minute
)

// NewSearXNG returns the server at an address, such as https://searx.example/ or, with
// parameters for all queries, https://searx.example/?language=de&categories=science.
// Requests go through transport, which must have a timeout, at the rate of pace.
func NewSearXNG(address string, transport http.RoundTripper, agent string, pace *rate.Limiter) (*SearXNG, error) {
	base, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, err
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("%q is not the address of a server\nhint: http://HOST:PORT/ or https://HOST/", address)
	}
	base.Fragment = ""
	if !strings.HasSuffix(base.Path, "/search") {
		base = base.JoinPath("search")
	}
	return &SearXNG{base, transport, agent, pace}, nil
}

// Name returns the address of the server.
func (s *SearXNG) Name() string { return s.base.String() }

// Search requests pages of results until it has n results, or there are no more.
func (s *SearXNG) Search(ctx context.Context, query string, n int) ([]string, error) {
	found := newResults(n)
	for page := 1; page <= maxPages && !found.full(); page++ {
		a, err := s.request(ctx, query, page)
		if err != nil {
			if len(found.urls) > 0 && !errors.As(err, new(*SetupError)) {
				break // return the results so far
			}
			return nil, err
		}
		more := false
		for _, address := range a.urls {
			more = found.add(address) || more
		}
		if page == 1 && len(a.urls) == 0 && len(a.silent) > 0 {
			return nil, fmt.Errorf("nothing was found, and these search engines did not answer: %s", strings.Join(a.silent, ", "))
		}
		if !more {
			break
		}
	}
	return found.urls, nil
}

// request requests a page of results. If the server requires a wait, it waits and tries again.
func (s *SearXNG) request(ctx context.Context, query string, page int) (answer, error) {
	for try := 1; ; try++ {
		a, wait, err := s.try(ctx, query, page)
		if wait == 0 || try == maxTries {
			return a, err
		}
		if wait > longestPause {
			return a, fmt.Errorf("%w, and asks to retry after %v", err, wait)
		}
		if err := sleep(ctx, wait); err != nil {
			return a, err
		}
	}
}

// try requests a page of results once. If the request should be sent again, wait is the time until
// then.
func (s *SearXNG) try(ctx context.Context, query string, page int) (a answer, wait time.Duration, err error) {
	if err := s.pace.Wait(ctx); err != nil {
		return answer{}, 0, err
	}
	target := *s.base
	values := target.Query()
	values.Set("q", query)
	values.Set("format", "json")
	values.Set("pageno", strconv.Itoa(page))
	target.RawQuery = values.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return answer{}, 0, err
	}
	req.Header.Set("User-Agent", s.agent)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		return answer{}, 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		wait, err = statusError(resp, time.Now())
		return answer{}, wait, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return answer{}, 0, fmt.Errorf("reading the answer of the server: %w", err)
	case len(body) > maxAnswer:
		return answer{}, 0, fmt.Errorf("the answer of the server is longer than %d MiB", maxAnswer>>20)
	}
	a, err = readAnswer(body)
	return a, 0, err
}

// statusError returns the error for a status other than 200, and the time to wait before trying
// again if that may help.
func statusError(resp *http.Response, now time.Time) (wait time.Duration, err error) {
	switch status := resp.StatusCode; {
	case status == http.StatusForbidden:
		return 0, &SetupError{errors.New("the server refuses to answer in JSON (status 403)\nhint: formats: json is not enabled; set search: formats: [html, json] in its settings.yml")}
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return 0, &SetupError{fmt.Errorf("there is no search at this address (status %d)\nhint: give the address of SearXNG's start page", status)}
	case status >= 300 && status < 400:
		return 0, &SetupError{fmt.Errorf("the server redirects (status %d, %.200q)\nhint: give that address", status, resp.Header.Get("Location"))}
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		if wait = retryAfter(resp.Header.Get("Retry-After"), now); wait == 0 {
			wait = pauseBusy
		}
		return wait, fmt.Errorf("the server rejects the query rate (status %d)\nhint: lower -rate", status)
	default:
		return 0, fmt.Errorf("the server answers with status %d", status)
	}
}

// retryAfter returns the time to wait from the value of a Retry-After header: a number of
// seconds, or a date (RFC 9110, section 10.2.3). It is 0 if the value is neither.
func retryAfter(value string, now time.Time) time.Duration {
	if s, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// An answer is a page of results.
type answer struct {
	urls   []string // URLs, unchanged from the response
	silent []string // engines that did not answer, with the reason
}

// readAnswer parses a page of results. It skips malformed results.
func readAnswer(body []byte) (a answer, err error) {
	var all struct {
		Results []json.RawMessage `json:"results"`
		Silent  []json.RawMessage `json:"unresponsive_engines"`
	}
	if err := json.Unmarshal(body, &all); err != nil {
		if text := strings.TrimSpace(string(body[:min(len(body), 64)])); strings.HasPrefix(text, "<") {
			return a, &SetupError{errors.New("the answer of the server is not JSON\nhint: check that this is the address of a SearXNG server")}
		}
		return a, fmt.Errorf("unexpected SearXNG answer: %w", err)
	}
	if all.Results == nil {
		return a, errors.New("unexpected SearXNG answer: no \"results\" field")
	}
	for _, raw := range all.Results {
		var r struct {
			URL string `json:"url"`
		}
		if json.Unmarshal(raw, &r) == nil && r.URL != "" {
			a.urls = append(a.urls, r.URL)
		}
	}
	for _, raw := range all.Silent {
		var pair []string
		if json.Unmarshal(raw, &pair) == nil && len(a.silent) < maxSilent {
			a.silent = append(a.silent, fmt.Sprintf("%.100q", strings.Join(pair, ": ")))
		}
	}
	return a, nil
}

// maxSilent limits how many engines that did not answer are named in an error.
const maxSilent = 10
