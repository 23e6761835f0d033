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

// MaxKept bounds how many hosts, and how many robots.txt, are remembered from
// one process to the next. What can be forgotten soonest is left out first.
const MaxKept = 50_000

// What is remembered stands in two files, because hosts are the business of one
// crawl and robots.txt that of all: a line that says which and how long, and a
// JSON object a line for each host or origin.
type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Lines   int    `json:"lines"` // that follow
}

const (
	hostsFormat   = "spoor-hosts"
	robotsFormat  = "spoor-robots"
	formatVersion = 1
)

// maxFailures bounds how many failures in a row are believed: far fewer make the
// longest hold.
const maxFailures = 1 << 10

// maxLine is the longest line: a robots.txt of which every byte is escaped, and
// what stands around it.
const maxLine = 6*(robots.MaxSize+1) + 1<<16

// A hostLine is what is remembered of one host.
type hostLine struct {
	Host     string    `json:"host"`
	Next     time.Time `json:"next"`                  // end of the pause
	Until    time.Time `json:"held_until,omitzero"`   // end of the last hold
	Failures int       `json:"failures,omitempty"`    // in a row
	Failed   time.Time `json:"last_failed,omitzero"`  // the last of them
	Crawl    float64   `json:"crawl_delay,omitempty"` // in seconds
}

// A robotsLine is what is remembered of one robots.txt.
type robotsLine struct {
	Origin  string    `json:"robots"` // scheme://host, with the port if it is not the default one
	Expires time.Time `json:"expires"`
	Status  int       `json:"status"`
	From    string    `json:"from,omitempty"` // where redirects led
	Body    string    `json:"body,omitempty"`
	Base64  []byte    `json:"body_base64,omitempty"` // if it is no plain text
}

// Save writes what t will want to know in its next life: until when hosts rest or
// are held, and their failures. What does not matter any more at now is left out;
// what is there is sorted, so that the same knowledge is the same bytes.
func (t *Transport) Save(w io.Writer, now time.Time) error {
	return writeLines(w, hostsFormat, t.lines(now))
}

// Load tells t, before it is used, what [Transport.Save] wrote. What does not
// matter any more at now is dropped, and no time lies farther ahead than now could
// have led to, so that a clock that was set back does not silence a host for ever.
// If it is damaged or of another version there is an error, and nothing is learnt.
func (t *Transport) Load(rd io.Reader, now time.Time) error {
	lines, err := readLines(rd, hostsFormat, func(*hostLine) error { return nil })
	if err == nil {
		t.remember(lines, now)
	}
	return err
}

// Save writes the robots.txt that r knows, with the outcome of asking for each,
// as long as they have not expired at now; sorted, so that the same knowledge is the
// same bytes. The rules are not in it: another agent finds its own.
//
// Where several share a file, each of them, when it ends, locks, loads what the
// others have saved meanwhile, saves under another name, and renames.
func (r *Robots) Save(w io.Writer, now time.Time) error {
	return writeLines(w, robotsFormat, r.lines(now))
}

// Load tells r what [Robots.Save] wrote, beside what it knows: of two robots.txt
// of the same origin that which expires later is kept. What has expired at now is
// dropped, and nothing is kept longer than if it had come just now. If there are
// too many ([MaxKept], [MaxRobotsBytes]) those that expire first are forgotten. If
// what is read is damaged or of another version there is an error, and nothing is
// learnt.
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
		r.remember(lines, now)
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

// readLines is the reverse of writeLines. Each line is shown to check.
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
		return nil, fmt.Errorf("line 1: format %.40q, version %d; only %s, version %d, is known", h.Format, h.Version, format, formatVersion)
	}
	if h.Lines < 0 || h.Lines > MaxKept {
		return nil, fmt.Errorf("line 1: %d lines, of which no more than %d are kept", h.Lines, MaxKept)
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
		return nil, fmt.Errorf("line %d: there should be no more", h.Lines+2)
	}
	return lines, nil
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
	if len(all) > MaxKept {
		latest := func(l *hostLine) time.Time { return slices.MaxFunc([]time.Time{l.Next, l.Until}, time.Time.Compare) }
		slices.SortStableFunc(all, func(a, b hostLine) int { return latest(&b).Compare(latest(&a)) })
		all = all[:MaxKept]
		slices.SortFunc(all, func(a, b hostLine) int { return cmp.Compare(a.Host, b.Host) })
	}
	return all
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
			failures: max(0, min(l.Failures, maxFailures)),
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
		if !e.known() || e.err != nil || !e.expires.After(now) {
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

// plain tells whether b is text of which JSON makes no more than twice its length.
func plain(b []byte) bool {
	return utf8.Valid(b) && !bytes.ContainsFunc(b, func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\r' && c != '\t'
	})
}

// remember is the reverse of lines.
func (r *Robots) remember(lines []robotsLine, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[string]*entry, len(lines)+len(r.entries))
	for _, l := range lines {
		e := &entry{ready: make(chan struct{}), status: l.Status, from: l.From, body: l.Base64}
		if l.Body != "" {
			e.body = []byte(l.Body)
		}
		e.weight = len(e.body) + len(e.from)
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
	var asked []string // what is being asked for just now, and stays
	for origin, e := range r.entries {
		switch other, both := all[origin]; {
		case !e.known():
			asked = append(asked, origin)
			delete(all, origin)
		case e.err == nil && e.expires.After(now) && !(both && other.expires.After(e.expires)):
			all[origin] = e
		}
	}
	// Those that expire first come first, as if all had been asked for in this life.
	order := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(all[a].expires.Compare(all[b].expires), cmp.Compare(a, b))
	})
	old := r.entries
	r.entries, r.order, r.bytes = nil, nil, 0
	for _, origin := range order {
		e := all[origin]
		weight := e.weight
		e.weight = 0
		r.put(origin, e)
		r.weigh(origin, e, weight)
	}
	slices.Sort(asked)
	for _, origin := range asked {
		r.put(origin, old[origin])
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
