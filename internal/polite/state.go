package polite

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"spoor/internal/robots"
)

// MaxKept bounds how many hosts, and how many robots.txt, are remembered from
// one process to the next. What can be forgotten soonest is left out first.
const MaxKept = 50_000

// stateVersion is that of the format that [Save] writes.
const stateVersion = 1

// stateLine is the longest line of a state: a robots.txt of which every byte is
// escaped, and what stands around it.
const stateLine = 6*(robots.MaxSize+1) + 1<<16

// A header is the first line of a state.
type header struct {
	Version int `json:"spoor-polite"`
	Hosts   int `json:"hosts"`  // lines that follow
	Robots  int `json:"robots"` // lines after those
}

// A hostLine is what a state says of one host.
type hostLine struct {
	Host     string    `json:"host"`
	Next     time.Time `json:"next"`                  // end of the pause
	Until    time.Time `json:"held_until,omitzero"`   // end of the last hold
	Failures int       `json:"failures,omitempty"`    // in a row
	Failed   time.Time `json:"last_failed,omitzero"`  // the last of them
	Crawl    float64   `json:"crawl_delay,omitempty"` // in seconds
}

// A robotsLine is what a state says of one robots.txt.
type robotsLine struct {
	Origin  string    `json:"robots"` // scheme://host, with the port if it is not the default one
	Expires time.Time `json:"expires"`
	Status  int       `json:"status"`
	Body    string    `json:"body,omitempty"`
	Base64  []byte    `json:"body_base64,omitempty"` // if it is no UTF-8
}

// Save writes what t and r will want to know in their next life: until when
// hosts rest or are held, their failures, and robots.txt with its outcome. What
// has expired at now is left out; what is there is sorted, so that the same
// knowledge is the same bytes. Each line is a JSON object, the first of them
// with the version and the numbers of lines.
func Save(w io.Writer, t *Transport, r *Robots, now time.Time) error {
	hosts, origins := t.lines(now), r.lines(now)
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(header{stateVersion, len(hosts), len(origins)})
	for i := range hosts {
		err = errors.Join(err, enc.Encode(&hosts[i]))
	}
	for i := range origins {
		err = errors.Join(err, enc.Encode(&origins[i]))
	}
	return errors.Join(err, out.Flush())
}

// Load tells t and r, before they are used, what [Save] wrote. What has expired
// at now is dropped, and no time lies farther ahead than now could have led to,
// so that a clock that was set back does not silence a host for ever. If the
// state is damaged or of another version there is an error, and nothing is
// known.
func Load(rd io.Reader, t *Transport, r *Robots, now time.Time) error {
	in := bufio.NewScanner(rd)
	in.Buffer(make([]byte, 0, 64<<10), stateLine)
	next := func(v any) error {
		if !in.Scan() {
			return cmp.Or(in.Err(), io.ErrUnexpectedEOF)
		}
		return json.Unmarshal(in.Bytes(), v)
	}
	var h header
	if err := next(&h); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	if h.Version != stateVersion {
		return fmt.Errorf("version %d of the state is not known, only %d", h.Version, stateVersion)
	}
	if h.Hosts < 0 || h.Hosts > MaxKept || h.Robots < 0 || h.Robots > MaxKept {
		return fmt.Errorf("line 1: %d hosts and %d robots.txt are more than the %d that are kept of each", h.Hosts, h.Robots, MaxKept)
	}
	var hosts []hostLine
	for n := range h.Hosts {
		var l hostLine
		if err := next(&l); err != nil {
			return fmt.Errorf("line %d: %w", n+2, err)
		}
		hosts = append(hosts, l)
	}
	var origins []robotsLine
	for n := range h.Robots {
		var l robotsLine
		if err := next(&l); err != nil {
			return fmt.Errorf("line %d: %w", n+h.Hosts+2, err)
		}
		if len(l.Body) > robots.MaxSize+1 || len(l.Base64) > robots.MaxSize+1 {
			return fmt.Errorf("line %d: a robots.txt of more than %d bytes", n+h.Hosts+2, robots.MaxSize)
		}
		origins = append(origins, l)
	}
	if in.Scan() || in.Err() != nil {
		return fmt.Errorf("line %d: the state should have ended here", h.Hosts+h.Robots+2)
	}
	t.remember(hosts, now)
	r.remember(origins, now)
	return nil
}

// forgotten tells whether there is nothing about h that matters after now.
func (h *host) forgotten(now time.Time) bool {
	return !h.next.After(now) && !h.until.After(now) && (h.failures == 0 || now.Sub(h.until) > Forgiveness)
}

// lines are the hosts that are not forgotten, sorted by name.
func (t *Transport) lines(now time.Time) []hostLine {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []hostLine
	for _, name := range slices.Sorted(maps.Keys(t.hosts)) {
		h := t.hosts[name]
		if h.forgotten(now) {
			continue
		}
		l := hostLine{Host: name, Next: h.next.UTC(), Crawl: h.crawl.Seconds()}
		if h.failures > 0 {
			l.Failures, l.Failed = h.failures, h.failed.UTC()
		}
		if h.failures > 0 || h.until.After(now) {
			l.Until = h.until.UTC()
		}
		all = append(all, l)
	}
	latest := func(l *hostLine) time.Time {
		if l.Until.After(l.Next) {
			return l.Until
		}
		return l.Next
	}
	return keep(all, func(a, b hostLine) int { return latest(&b).Compare(latest(&a)) })
}

// remember is the reverse of lines.
func (t *Transport) remember(lines []hostLine, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range lines {
		h := host{
			turn:     make(chan struct{}, 1),
			next:     earlier(l.Next, now.Add(max(t.maxDelay(), interval(t.HostRate)))),
			crawl:    time.Duration(max(0, min(l.Crawl, RobotsTTL.Seconds())) * float64(time.Second)),
			failures: max(0, l.Failures),
			failed:   earlier(l.Failed, now),
			until:    earlier(l.Until, now.Add(MaxRetryAfter)),
		}
		if l.Host == "" || h.forgotten(now) {
			continue
		}
		if t.hosts == nil {
			t.hosts = map[string]*host{}
		}
		t.hosts[l.Host] = &h
	}
}

// lines are the robots.txt that have not expired, sorted by origin.
func (r *Robots) lines(now time.Time) []robotsLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []robotsLine
	for _, origin := range slices.Sorted(maps.Keys(r.entries)) {
		e := r.entries[origin]
		select {
		case <-e.ready:
		default:
			continue // nobody knows yet
		}
		if e.err != nil || !e.expires.After(now) {
			continue
		}
		l := robotsLine{Origin: origin, Expires: e.expires.UTC(), Status: e.status}
		if utf8.Valid(e.body) {
			l.Body = string(e.body)
		} else {
			l.Base64 = e.body
		}
		all = append(all, l)
	}
	return keep(all, func(a, b robotsLine) int { return b.Expires.Compare(a.Expires) })
}

// remember is the reverse of lines.
func (r *Robots) remember(lines []robotsLine, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// The oldest come first, as if they had been asked for in this life.
	slices.SortStableFunc(lines, func(a, b robotsLine) int { return a.Expires.Compare(b.Expires) })
	for _, l := range lines {
		e := &entry{ready: make(chan struct{}), status: l.Status, body: l.Base64}
		if l.Body != "" {
			e.body = []byte(l.Body)
		}
		limit := now.Add(RobotsTTL)
		if e.refused() != "" {
			limit = now.Add(RobotsRetry)
		}
		e.expires = earlier(l.Expires, limit)
		if l.Origin == "" || !e.expires.After(now) {
			continue
		}
		close(e.ready)
		r.put(l.Origin, e)
		r.count(l.Origin, e)
	}
}

// keep is all, or if they are more than [MaxKept] those that come first by
// order, in the order in which they were.
func keep[T any](all []T, order func(a, b T) int) []T {
	if len(all) <= MaxKept {
		return all
	}
	places := make([]int, len(all))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return order(all[a], all[b]) })
	places = places[:MaxKept]
	slices.Sort(places)
	kept := make([]T, len(places))
	for i, p := range places {
		kept[i] = all[p]
	}
	return kept
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
