package polite

import (
	"bufio"
	"bytes"
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

// MaxKept limits how many hosts, and how many robots.txt, are stored for the next process. The
// entries that expire first are omitted.
const MaxKept = 50_000

// A header is the first line of a file. The state is stored in two files, because crawls may share
// robots.txt, but must not share hosts. The header is followed by a JSON object for each host or
// origin, one a line.
type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Lines   int    `json:"lines"` // number of lines that follow
}

const (
	hostsFormat   = "spoor-hosts"
	robotsFormat  = "spoor-robots"
	formatVersion = 1
)

// maxFailures limits the number of consecutive failures that is loaded. Far fewer failures lead to
// the longest hold.
const maxFailures = 1 << 10

// maxLine is the maximum length of a line. It suffices for a robots.txt in which every byte is
// escaped, and the other fields.
const maxLine = 6*(robots.MaxSize+1) + 1<<16

// A hostLine is the stored state of one host.
type hostLine struct {
	Host     string    `json:"host"`
	Next     time.Time `json:"next"`                  // end of the pause
	Until    time.Time `json:"held_until,omitzero"`   // end of the last hold
	Failures int       `json:"failures,omitempty"`    // number of consecutive failures
	Failed   time.Time `json:"last_failed,omitzero"`  // time of the last failure
	Crawl    float64   `json:"crawl_delay,omitempty"` // in seconds
}

// A robotsLine is one stored robots.txt.
type robotsLine struct {
	Origin  string    `json:"robots"` // scheme://host, with the port if it is not the default one
	Expires time.Time `json:"expires"`
	Status  int       `json:"status"`
	From    string    `json:"from,omitempty"` // address after redirects
	Body    string    `json:"body,omitempty"`
	Base64  []byte    `json:"body_base64,omitempty"` // body that is not plain text
}

// Save writes the state of t for the next process: when the pauses and holds of hosts end,
// and their failures. State that has expired at now is omitted. The lines are sorted, so
// equal states have equal bytes.
func (t *Transport) Save(w io.Writer, now time.Time) error {
	return writeLines(w, hostsFormat, t.lines(now))
}

// Load restores the state that [Transport.Save] wrote. It must be called before t is used. Load
// drops state that has expired at now. It limits times to the longest pause or hold that could
// begin now, so that a host is not blocked for too long if the clock was set back. If the input
// is damaged or has another version, Load returns an error and leaves t unchanged.
func (t *Transport) Load(rd io.Reader, now time.Time) error {
	lines, err := readLines(rd, hostsFormat, func(*hostLine) error { return nil })
	if err == nil {
		t.restore(lines, now)
	}
	return err
}

// CountHeld returns how many hosts of a state that [Transport.Save] wrote are held at now, because
// of failures or Retry-After.
func CountHeld(rd io.Reader, now time.Time) (held int, err error) {
	_, err = readLines(rd, hostsFormat, func(l *hostLine) error {
		if l.Until.After(now) {
			held++
		}
		return nil
	})
	return held, err
}

// Save writes the cached robots.txt that have not expired at now, with their status. The
// lines are sorted, so equal caches have equal bytes. Rules are not stored, since they depend
// on the agent.
//
// Processes that share a file should lock it, load what the others have saved, and replace
// it atomically.
func (r *Robots) Save(w io.Writer, now time.Time) error {
	return writeLines(w, robotsFormat, r.lines(now))
}

// Load adds entries that [Robots.Save] wrote to r. If there are two for the same origin, Load
// keeps the entry that expires later. It drops entries that have expired at now, and keeps no
// entry longer than if it had been fetched now. If there are too many ([MaxKept],
// [MaxRobotsBytes]), it drops the entries that expire first. If the input is damaged or has
// another version, Load returns an error and leaves r unchanged.
func (r *Robots) Load(rd io.Reader, now time.Time) error {
	sum := 0
	lines, err := readLines(rd, robotsFormat, func(l *robotsLine) error {
		if len(l.Body) > robots.MaxSize+1 || len(l.Base64) > robots.MaxSize+1 {
			return fmt.Errorf("a robots.txt of more than %d bytes", robots.MaxSize)
		}
		if sum += len(l.Body) + len(l.Base64) + len(l.From); sum > MaxRobotsBytes {
			return fmt.Errorf("more than %d bytes of robots.txt", MaxRobotsBytes)
		}
		return nil
	})
	if err == nil {
		r.restore(lines, now)
	}
	return err
}

// writeLines writes a header and the lines.
func writeLines[T any](w io.Writer, format string, lines []T) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(header{format, formatVersion, len(lines)})
	for i := range lines {
		err = errors.Join(err, enc.Encode(&lines[i]))
	}
	return errors.Join(err, out.Flush())
}

// readLines reads lines that writeLines wrote, and calls check with each line.
func readLines[T any](rd io.Reader, format string, check func(*T) error) ([]T, error) {
	in := bufio.NewScanner(rd)
	in.Buffer(make([]byte, 0, 64<<10), maxLine)
	next := func(v any) error {
		if !in.Scan() {
			return cmp.Or(in.Err(), io.ErrUnexpectedEOF)
		}
		return json.Unmarshal(in.Bytes(), v)
	}
	var h header
	if err := next(&h); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if h.Format != format || h.Version != formatVersion {
		return nil, fmt.Errorf("line 1: format %.40q, version %d; only %s, version %d, is supported", h.Format, h.Version, format, formatVersion)
	}
	if h.Lines < 0 || h.Lines > MaxKept {
		return nil, fmt.Errorf("line 1: %d lines; the maximum is %d", h.Lines, MaxKept)
	}
	var lines []T
	for n := range h.Lines {
		var l T
		err := next(&l)
		if err == nil {
			err = check(&l)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+2, err)
		}
		lines = append(lines, l)
	}
	if in.Scan() || in.Err() != nil {
		return nil, fmt.Errorf("line %d: more lines than the header announces", h.Lines+2)
	}
	return lines, nil
}

// expired reports whether the state of h has no effect after now.
func (h *host) expired(now time.Time) bool {
	return !h.next.After(now) && !h.until.After(now) && (h.failures == 0 || now.Sub(h.until) > ResetAfter)
}

// lines returns the hosts whose state has not expired, sorted by name.
func (t *Transport) lines(now time.Time) []hostLine {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []hostLine
	for _, name := range slices.Sorted(maps.Keys(t.hosts)) {
		h := t.hosts[name]
		if h.expired(now) {
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
	if len(all) > MaxKept {
		latest := func(l *hostLine) time.Time { return slices.MaxFunc([]time.Time{l.Next, l.Until}, time.Time.Compare) }
		slices.SortStableFunc(all, func(a, b hostLine) int { return latest(&b).Compare(latest(&a)) })
		all = all[:MaxKept]
		slices.SortFunc(all, func(a, b hostLine) int { return cmp.Compare(a.Host, b.Host) })
	}
	return all
}

// restore restores the state from lines.
func (t *Transport) restore(lines []hostLine, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range lines {
		h := host{
			turn:     make(chan struct{}, 1),
			next:     earlier(l.Next, now.Add(max(t.maxDelay(), interval(t.HostRate)))),
			crawl:    time.Duration(max(0, min(l.Crawl, RobotsTTL.Seconds())) * float64(time.Second)),
			failures: max(0, min(l.Failures, maxFailures)),
			failed:   earlier(l.Failed, now),
			until:    earlier(l.Until, now.Add(MaxRetryAfter)),
		}
		if l.Host == "" || h.expired(now) {
			continue
		}
		if t.hosts == nil {
			t.hosts = map[string]*host{}
		}
		t.hosts[l.Host] = &h
	}
}

// lines returns the robots.txt that have not expired, sorted by origin.
func (r *Robots) lines(now time.Time) []robotsLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []robotsLine
	for _, origin := range slices.Sorted(maps.Keys(r.entries)) {
		e := r.entries[origin]
		if !e.complete() || e.err != nil || !e.expires.After(now) {
			continue
		}
		l := robotsLine{Origin: origin, Expires: e.expires.UTC(), Status: e.status, From: e.from}
		if plain(e.body) {
			l.Body = string(e.body)
		} else {
			l.Base64 = e.body
		}
		all = append(all, l)
	}
	return all
}

// plain reports whether b is text whose JSON encoding is at most twice as long.
func plain(b []byte) bool {
	return utf8.Valid(b) && !bytes.ContainsFunc(b, func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\r' && c != '\t'
	})
}

// restore adds the entries of lines to the cache.
func (r *Robots) restore(lines []robotsLine, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[string]*entry, len(lines)+len(r.entries))
	for _, l := range lines {
		e := &entry{ready: make(chan struct{}), status: l.Status, from: l.From, body: l.Base64}
		if l.Body != "" {
			e.body = []byte(l.Body)
		}
		e.size = len(e.body) + len(e.from)
		limit := now.Add(RobotsTTL)
		if Fails(e.status) {
			limit = now.Add(RobotsRetry)
		}
		e.expires = earlier(l.Expires, limit)
		if l.Origin != "" && e.expires.After(now) {
			close(e.ready)
			all[l.Origin] = e
		}
	}
	var pending []string // origins whose robots.txt is being fetched; these are kept
	for origin, e := range r.entries {
		switch other, both := all[origin]; {
		case !e.complete():
			pending = append(pending, origin)
			delete(all, origin)
		case e.err == nil && e.expires.After(now) && !(both && other.expires.After(e.expires)):
			all[origin] = e
		}
	}
	// The entries that expire first come first, as if this process had fetched all of them.
	order := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(all[a].expires.Compare(all[b].expires), cmp.Compare(a, b))
	})
	old := r.entries
	r.entries, r.order, r.bytes = nil, nil, 0
	for _, origin := range order {
		e := all[origin]
		size := e.size
		e.size = 0
		r.put(origin, e)
		r.addSize(origin, e, size)
	}
	slices.Sort(pending)
	for _, origin := range pending {
		r.put(origin, old[origin])
		r.bytes += old[origin].size
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
