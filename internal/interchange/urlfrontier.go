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

// This file reads the dumps of the url-frontier client (DumpURLs, ListURLs -j), and writes the
// input of the client (PutURLs). Each line is a URLItem (API/urlfrontier.proto in
// https://github.com/crawler-commons/url-frontier) in the JSON of protocol buffers. An address is
// either discovered or known. A known address with a date may be fetched again from this date on;
// a known address without a date is done.

// An item is a URLItem. In the JSON of protocol buffers a field may have either of two names.
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

// seconds is a time in seconds since 1970. Numbers of 64 bits are strings in the JSON of protocol
// buffers; plain numbers are accepted too.
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
			return fmt.Errorf("%.40q is not a number of seconds", text)
		}
		n = uint64(f)
	}
	*s = seconds(n)
	return nil
}

// lastSecond is the end of the year 9999, the last date that RFC 3339 can express.
const lastSecond = 253402300799

// statusKey is the name of the status of a response in StormCrawler. The format was designed for
// StormCrawler.
const statusKey = "fetch.statusCode"

// FromURLFrontier converts a line of the dump of a url-frontier.
//
// A discovered address becomes an address. A known address with a date becomes an address that
// waits until this date, whatever its last outcome. A known address without a date is done: it
// becomes an outcome with the status or error in its metadata, or with status 200. Metadata that
// [ToURLFrontier] has written become the members with the same names. The other metadata, the
// crawl, the creation date, and the key if it is not the host become unknown members, which the
// store keeps. A line that does not begin with { is a plain address.
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
		if !rec.setMetadata(name, v.Values, waits) {
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

// hostname returns the host of a URL without its port, which a url-frontier uses as the key
// of a queue; "" if s is not a URL.
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

// texts returns the members of rec that are stored unchanged as metadata, by name.
func (rec *record) texts() map[string]*string {
	return map[string]*string{
		"via": &rec.Via, "operator": &rec.Operator, "niche": &rec.Niche, "query": &rec.Query, "etag": &rec.ETag,
		"last_modified": &rec.LastModified, "timestamp": &rec.Timestamp, "digest": &rec.Digest, "error": &rec.Error,
	}
}

// numbers returns the members of rec that are stored as metadata if they are positive, by name.
func (rec *record) numbers() map[string]*int {
	return map[string]*int{
		"generation": &rec.Generation, "depth": &rec.Depth, "retries": &rec.Retries, statusKey: &rec.StatusCode,
	}
}

// setMetadata stores metadata in the member of rec with this name, and reports whether it stored
// them. It rejects values that [record.metadata] would not return unchanged. For a waiting address
// it also rejects a status or an error after which the store would not retry the address.
func (rec *record) setMetadata(name string, values []string, waits bool) bool {
	if name == "parents" {
		rec.Parents = values
		return len(values) > 0
	}
	if len(values) != 1 || values[0] == "" {
		return false
	}
	v := values[0]
	isTemporary := func(r wire.Record) bool { return r.IsOutcome() && !r.Final() }
	if text := rec.texts()[name]; text != nil {
		if name == "error" && waits && !isTemporary(wire.Record{Error: v}) {
			return false
		}
		*text = v
		return true
	}
	if number := rec.numbers()[name]; number != nil {
		n, err := strconv.Atoi(v)
		if err != nil || n <= 0 || strconv.Itoa(n) != v ||
			name == statusKey && (n < 100 || n > 999 || waits && !isTemporary(wire.Record{StatusCode: n})) {
			return false
		}
		*number = n
		return true
	}
	f, err := strconv.ParseFloat(v, 64)
	if name != "priority" || err != nil || math.IsNaN(f) || math.IsInf(f, 0) || formatFloat(f) != v {
		return false
	}
	rec.Priority = &f
	return true
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// metadata is the inverse of setMetadata.
func (rec *record) metadata() map[string]values {
	m := map[string]values{}
	for name, v := range rec.Metadata {
		m[name] = values{append([]string{}, v...)} // never null
	}
	for name, v := range rec.texts() {
		if *v != "" {
			m[name] = values{[]string{*v}}
		}
	}
	for name, n := range rec.numbers() {
		if *n > 0 {
			m[name] = values{[]string{strconv.Itoa(*n)}}
		}
	}
	if rec.Priority != nil {
		m["priority"] = values{[]string{formatFloat(*rec.Priority)}}
	}
	if len(rec.Parents) > 0 {
		m["parents"] = values{rec.Parents}
	}
	return m
}

// ToURLFrontier converts an exported record, whose last member is its state, to a line for a
// url-frontier. A visited or skipped address becomes known without a date. A waiting or leased
// address becomes discovered or, if it has a not_before date, known with this date.
//
// A url-frontier has no priorities, retries, back-off or lineage: they are stored in the
// metadata, from which FromURLFrontier restores them. It has no state for withdrawn addresses:
// ToURLFrontier returns nil for them. Redirects, headers, scores, reasons and unknown members are
// lost.
func ToURLFrontier(line []byte) ([]byte, error) {
	rec, err := parseExported(line)
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
