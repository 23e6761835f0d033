package interchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file reads and writes what the client of a url-frontier dumps (DumpURLs,
// ListURLs -j) and takes (PutURLs): a message URLItem of
// https://github.com/crawler-commons/url-frontier, API/urlfrontier.proto, in the
// JSON of protocol buffers, a line each. There an address is discovered or known;
// one that is known has a date from which it may be fetched again, or none, and
// then it is done.

// An item is a URLItem. Fields have two names each in that JSON.
type item struct {
	Known      *entry  `json:"known,omitempty"`
	Discovered *entry  `json:"discovered,omitempty"`
	Created    seconds `json:"creationDate,omitempty"`
	Created2   seconds `json:"creation_date,omitempty"`
}

type entry struct {
	Info         *info   `json:"info"`
	Refetchable  seconds `json:"refetchableFromDate,omitempty"`
	Refetchable2 seconds `json:"refetchable_from_date,omitempty"`
}

type info struct {
	URL      string            `json:"url"`
	Key      string            `json:"key,omitempty"`
	Metadata map[string]values `json:"metadata,omitempty"`
	CrawlID  string            `json:"crawlID,omitempty"`
}

type values struct {
	Values []string `json:"values"`
}

// seconds since 1970. Numbers of 64 bits are strings in the JSON of protocol
// buffers; numbers are accepted.
type seconds uint64

// MarshalJSON implements json.Marshaler.
func (s seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatUint(uint64(s), 10)), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *seconds) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(b), `"`)
	if text == "null" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(text, 64) // 1.7e9 is allowed too
		if ferr != nil || f < 0 || f > 1<<53 || f != math.Trunc(f) {
			return fmt.Errorf("%.40q is no number of seconds", text)
		}
		n = uint64(f)
	}
	*s = seconds(n)
	return nil
}

// lastSecond is the end of the year 9999, up to which there are dates in RFC 3339.
const lastSecond = 253402300799

// statusKey is the name that StormCrawler, for which the format was made, has for
// the status of an answer.
const statusKey = "fetch.statusCode"

// FromURLFrontier makes a record of a line of the dump of a url-frontier.
//
// What is discovered becomes an address. So does what is known with a date: it
// waits until then, whatever came of it before. What is known without a date is
// done: an outcome with the status or error that its metadata tell, or with 200
// if they tell none. Metadata that have a name in a record, as
// [ToURLFrontier] writes them, become what they name; the others, the key if it is
// not the host, the crawl and the date of creation pass through as members that
// the store does not know. A line that does not begin with { is an address alone.
func FromURLFrontier(line []byte) ([]byte, error) {
	if line[0] != '{' {
		return marshal(record{V: wire.Version, URL: string(line)})
	}
	var it item
	if err := json.Unmarshal(line, &it); err != nil {
		return nil, fmt.Errorf("not a URLItem: %w", err)
	}
	e := it.Known
	switch {
	case e != nil && it.Discovered != nil:
		return nil, errors.New("both known and discovered")
	case e == nil && it.Discovered == nil:
		return nil, errors.New("neither known nor discovered")
	case e == nil:
		e = it.Discovered
	}
	if e.Info == nil || e.Info.URL == "" {
		return nil, errors.New("no url")
	}
	rec := record{V: wire.Version, URL: e.Info.URL, CrawlID: e.Info.CrawlID, Created: max(it.Created, it.Created2)}
	if e.Info.Key != hostname(rec.URL) {
		rec.Key = e.Info.Key
	}
	date := max(e.Refetchable, e.Refetchable2)
	waits := it.Known == nil || date > 0
	for name, v := range e.Info.Metadata {
		if !rec.take(name, v.Values, waits) {
			if rec.Metadata == nil {
				rec.Metadata = map[string][]string{}
			}
			rec.Metadata[name] = v.Values
		}
	}
	failed := rec.Error != "" || rec.StatusCode != 0
	if !waits && !failed {
		rec.StatusCode = 200
	}
	if it.Known != nil && date > 0 {
		rec.NotBefore = time.Unix(int64(min(date, lastSecond)), 0).UTC().Format(time.RFC3339)
	}
	return marshal(rec)
}

// hostname is the host of a URL without its port, as a url-frontier takes it for
// the key of a queue; "" if s is no URL.
func hostname(s string) string {
	u, err := weburl.Parse(s)
	if err != nil {
		return ""
	}
	host := u.Host()
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return host
}

// take puts metadata into the member of rec that they are of. It does not if that
// would not give the same metadata again. What waits takes a status or an error
// only if the store would ask again after it.
func (rec *record) take(name string, values []string, waits bool) bool {
	if name == "parents" {
		rec.Parents = values
		return len(values) > 0
	}
	if len(values) != 1 || values[0] == "" {
		return false
	}
	v := values[0]
	text := func(s *string) bool {
		*s = v
		return true
	}
	number := func(n *int) bool {
		i, err := strconv.Atoi(v)
		if err != nil || i <= 0 || strconv.Itoa(i) != v {
			return false
		}
		*n = i
		return true
	}
	again := func(r wire.Record) bool { return !waits || r.IsOutcome() && !r.Final() }
	switch name {
	case "via":
		return text(&rec.Via)
	case "operator":
		return text(&rec.Operator)
	case "niche":
		return text(&rec.Niche)
	case "query":
		return text(&rec.Query)
	case "etag":
		return text(&rec.ETag)
	case "last_modified":
		return text(&rec.LastModified)
	case "timestamp":
		return text(&rec.Timestamp)
	case "digest":
		return text(&rec.Digest)
	case "generation":
		return number(&rec.Generation)
	case "depth":
		return number(&rec.Depth)
	case "retries":
		return number(&rec.Retries)
	case "error":
		return again(wire.Record{Error: v}) && text(&rec.Error)
	case statusKey:
		n, err := strconv.Atoi(v)
		return err == nil && n >= 100 && n <= 999 && again(wire.Record{StatusCode: n}) && number(&rec.StatusCode)
	case "priority":
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || formatFloat(f) != v {
			return false
		}
		rec.Priority = &f
		return true
	}
	return false
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// metadata is the inverse of take.
func (rec *record) metadata() map[string]values {
	m := map[string]values{}
	for name, v := range rec.Metadata {
		m[name] = values{append([]string{}, v...)} // never null
	}
	text := func(name, v string) {
		if v != "" {
			m[name] = values{[]string{v}}
		}
	}
	number := func(name string, n int) {
		if n > 0 {
			text(name, strconv.Itoa(n))
		}
	}
	text("via", rec.Via)
	text("operator", rec.Operator)
	text("niche", rec.Niche)
	text("query", rec.Query)
	text("etag", rec.ETag)
	text("last_modified", rec.LastModified)
	text("timestamp", rec.Timestamp)
	text("digest", rec.Digest)
	text("error", rec.Error)
	number("generation", rec.Generation)
	number("depth", rec.Depth)
	number("retries", rec.Retries)
	number(statusKey, rec.StatusCode)
	if rec.Priority != nil {
		text("priority", formatFloat(*rec.Priority))
	}
	if len(rec.Parents) > 0 {
		m["parents"] = values{rec.Parents}
	}
	return m
}

// ToURLFrontier makes a line for a url-frontier of an exported record, whose last
// member is its state. What is visited or skipped is known without a date; what
// waits or is leased is discovered, or known with the date before which it does
// not want to be asked.
//
// A url-frontier has no priorities, no retries, no pause after a failure and no
// lineage of its own: they go into the metadata and come back from there.
// It has no word for an address that was withdrawn, of which ToURLFrontier makes
// nil. Redirects, headers, scores, reasons and members that have no name in a
// record are lost.
func ToURLFrontier(line []byte) ([]byte, error) {
	rec, err := exported(line)
	if err != nil {
		return nil, err
	}
	e := &entry{Info: &info{URL: rec.URL, Key: rec.Key, CrawlID: rec.CrawlID}}
	if e.Info.Key == "" {
		e.Info.Key = hostname(rec.URL)
	}
	it := item{Created: rec.Created}
	switch rec.State {
	case "withdrawn":
		return nil, nil
	case "visited", "skipped":
		it.Known = e
	default:
		it.Discovered = e
		if t, err := time.Parse(time.RFC3339, rec.NotBefore); err == nil && t.Unix() > 0 {
			it.Known, it.Discovered = e, nil
			e.Refetchable = seconds(t.Unix())
		}
	}
	e.Info.Metadata = rec.metadata()
	return marshal(it)
}
