package interchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"spoor/internal/wire"
)

// This file reads lists of addresses that crawlers have written. The kind of a line is recognised
// from this line alone.

// firstListed is the priority of the first address of a plain list.
const firstListed = 1e9

// FromList returns a converter of lists of addresses. It accepts these lines:
//
//   - A URL alone is a seed. Seeds are fetched in the order of the list, before all found
//     addresses, as with frontier add.
//   - In a Heritrix journal (frontier.recover.gz), "F+ URL hops via" is an address, and
//     "Fs URL …" is an address that is done. An address that failed ("Ff") waits again, as it
//     does when Heritrix recovers.
//   - A line of a Heritrix crawl.log is an outcome. A negative status means that the address
//     still waits, except -9998 (forbidden by robots.txt), which is final.
//   - A JSON object with request.endpoint, as written by katana -jsonl, is an address that was
//     found on request.source.
//   - Any other JSON object with url, such as Scrapy exports, is a seed.
//
// Comments, resolved names (dns:), and other lines of these logs are skipped.
func FromList() Converter {
	listed := 0.0
	return func(line []byte) ([]byte, error) {
		rec, err := recordOf(line)
		if rec == nil || err != nil {
			return nil, err
		}
		if rec.Operator == "seed" && rec.Priority == nil {
			p := firstListed - listed
			rec.Priority = &p
			listed++
		}
		rec.V = wire.Version
		return marshal(rec)
	}
}

// recordOf returns the record of a line, or nil if the line has no address.
func recordOf(line []byte) (*record, error) {
	switch line[0] {
	case '#':
		return nil, nil
	case '{':
		return fromObject(line)
	}
	words := strings.Fields(string(line))
	switch first := words[0]; {
	case len(words) == 1:
		if strings.HasPrefix(first, "dns:") {
			return nil, nil
		}
		return &record{URL: first, Operator: "seed"}, nil
	case len(first) == 2 && first[0] == 'F':
		return fromJournal(words)
	case first == "T" || first == "S": // timestamps and statistics in the journal
		return nil, nil
	case len(words) >= 10:
		if t, err := time.Parse(time.RFC3339, first); err == nil {
			return fromCrawlLog(t, words)
		}
	}
	return nil, errors.New("neither an address nor a line of a known log")
}

// fromObject converts a line of katana or Scrapy.
func fromObject(line []byte) (*record, error) {
	var o struct {
		URL     string `json:"url"`
		Request struct {
			Method   string `json:"method"`
			Endpoint string `json:"endpoint"`
			Source   string `json:"source"`
		} `json:"request"`
	}
	members, err := lowerCaseMembers(line)
	if err == nil {
		if line, err = json.Marshal(members); err == nil {
			err = json.Unmarshal(line, &o)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("not a result of a crawler: %w", err)
	}
	switch r := o.Request; {
	case r.Endpoint != "" && r.Method != "" && r.Method != "GET":
		return nil, nil // not an http or https address
	case r.Endpoint == "" && o.URL == "":
		return nil, errors.New("neither request.endpoint nor url")
	case r.Endpoint == "":
		return &record{URL: o.URL, Operator: "seed"}, nil
	case r.Source == "" || r.Source == r.Endpoint:
		return &record{URL: r.Endpoint, Operator: "seed"}, nil
	default:
		return &record{URL: r.Endpoint, Via: r.Source, Operator: "link"}, nil
	}
}

// fromJournal converts a line of a Heritrix journal: a tag, the address, the letters of the
// hops to it (none for a seed), and the page it was found on.
func fromJournal(words []string) (*record, error) {
	if strings.HasPrefix(words[1], "dns:") {
		return nil, nil
	}
	hops, via := "", ""
	for _, w := range words[2:min(len(words), 4)] {
		if strings.Contains(w, ":") {
			via = w
		} else {
			hops = w
		}
	}
	rec := found(words[1], hops, via)
	switch words[0] {
	case "Fs":
		rec.StatusCode = 200
	case "F+", "Ff":
	case "Fe", "Fi", "Fd", "Fr": // emitted, included, disregarded, rescheduled: F+ has added the address
		return nil, nil
	default:
		return nil, fmt.Errorf("no line of a journal begins with %q", words[0])
	}
	return rec, nil
}

// found returns the record of an address. hops is its discovery path, one letter per hop. A path
// that Heritrix has shortened begins with the number of omitted hops and a plus.
func found(url, hops, via string) *record {
	rec := &record{URL: url, Operator: "link"}
	if n, rest, ok := strings.Cut(hops, "+"); ok {
		rec.Depth, _ = strconv.Atoi(n)
		rec.Depth = max(0, min(rec.Depth, 1<<15))
		hops = rest
	}
	if hops != "-" {
		rec.Depth += len(hops)
	}
	if rec.Depth == 0 {
		rec.Operator = "seed"
	}
	if strings.HasPrefix(via, "http") {
		rec.Via = via
	}
	return rec
}

// heritrixRobots is the status of an address that robots.txt forbids.
const heritrixRobots = -9998

// fromCrawlLog converts a line of crawl.log: time, status, size, address, hops, via, media
// type, thread, start and duration, digest, and more.
func fromCrawlLog(at time.Time, words []string) (*record, error) {
	status, err := strconv.Atoi(words[1])
	if err != nil {
		return nil, fmt.Errorf("%.20q is not a status", words[1])
	}
	if strings.HasPrefix(words[3], "dns:") {
		return nil, nil
	}
	rec := found(words[3], words[4], words[5])
	switch {
	case status >= 100 && status <= 999:
		rec.StatusCode = status
	case status == heritrixRobots:
		rec.Error = wire.ErrorRobots
	default:
		return rec, nil
	}
	rec.Timestamp = at.UTC().Format("2006-01-02T15:04:05.000Z")
	if n, err := strconv.ParseInt(words[2], 10, 64); err == nil && n > 0 {
		rec.Length = n
	}
	if strings.Contains(words[6], "/") {
		rec.ContentType = words[6]
	}
	if strings.HasPrefix(words[9], "sha1:") {
		rec.Digest = words[9]
	}
	return rec, nil
}

// ToList converts an exported record to a plain line: its address.
func ToList(line []byte) ([]byte, error) {
	rec, err := parseExported(line)
	return []byte(rec.URL), err
}
