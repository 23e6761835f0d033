package archive

import (
	"strconv"
	"time"
)

const (
	conformsTo = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"

	// Profiles of revisits: WARC 1.1, sections 6.7.2 and 6.7.3.
	identicalPayload  = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	serverNotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

	httpRequest  = "application/http; msgtype=request"
	httpResponse = "application/http; msgtype=response"
	fieldsMedia  = "application/warc-fields"
)

// An Exchange is one request with its answer.
type Exchange struct {
	URL  string    // that was asked for
	Time time.Time // of the request
	IP   string    // of the server; may be empty

	Request []byte // as sent; empty: none is written
	Head    []byte // of the response, with the empty line at its end
	Body    []byte // as received

	// Truncated is length, time or disconnect if the body is not all that the
	// server had to say.
	Truncated string

	// Protocols are what the exchange went over, the highest layer first, as the
	// WARC-Protocol field has them: http/1.1 or h2, then tls/1.3. May be empty.
	Protocols []string

	// NotModified says that this is the answer 304 to a conditional request: it
	// becomes a revisit of the capture that the server confirms.
	NotModified bool

	// NoArchive, if not empty, is why the answer must not be kept, as in
	// "robots meta tag". Of the exchange nothing is written but a metadata
	// record that says so.
	NoArchive string

	Metadata Metadata
}

// Metadata is what else is known of a capture: how the crawl came by it. Zero
// values are not written, but for the generation.
type Metadata struct {
	Via        string // URL of the page it was found on
	Depth      int    // links from a seed
	Redirects  int    // redirects from the address that was to be fetched
	FetchTime  time.Duration
	Operator   string
	Generation int
	Priority   *float64 // nil: none
	Parents    []string // URLs
	Unverified string   // why the server's certificate is not to be trusted
}

// An Original is the capture that a revisit refers to.
type Original struct {
	URL  string
	Date time.Time
	ID   string // of its record, in angle brackets; may be empty
}

// A Location is where a capture was written. If it was not ([Exchange.NoArchive])
// there is only the digest.
type Location struct {
	Filename string // without directory, as it will be when the file is closed
	Offset   int64  // of the response or revisit
	Length   int64
	Digest   string // of the payload: "sha1:…"; of a 304 there is none
	Revisit  bool   // the payload is not here but where the record refers to
}

// A reference is an original in the words of the record that refers to it; the
// zero value refers to nothing.
type reference struct{ url, date, id string }

func (o *Original) reference() reference {
	// With as many digits as are known: the date should be that of the record.
	return reference{o.URL, o.Date.UTC().Format("2006-01-02T15:04:05.999999999Z"), o.ID}
}

// exchange packs the records of an exchange: as a revisit if it has an original,
// and as metadata alone if it must not be archived.
func (e *encoder) exchange(x *Exchange, info string, original reference) (at Location) {
	e.reset()
	response, request, metadata := &e.ids[0], &e.ids[1], &e.ids[2]
	if x.NoArchive != "" {
		e.begin("metadata", metadata, x, info)
		e.end(fieldsMedia, e.fields(x), nil)
		return Location{Digest: e.digest}
	}
	at.Revisit = x.NotModified || original != reference{}
	kind := "response"
	if at.Revisit {
		kind = "revisit"
	}
	e.begin(kind, response, x, info)
	if len(x.Request) > 0 {
		e.identifier("WARC-Concurrent-To", request)
	}
	e.identifier("WARC-Concurrent-To", metadata)
	switch {
	case x.NotModified:
		// The server's word is all there is: no payload, and so no digest.
		e.field("WARC-Profile", serverNotModified)
		e.refers(original)
		e.field("WARC-Truncated", x.Truncated)
		e.end(httpResponse, x.Head, x.Body)
	case at.Revisit:
		at.Digest = e.digest
		e.field("WARC-Profile", identicalPayload)
		e.refers(original)
		e.field("WARC-Truncated", "length")
		e.field("WARC-Payload-Digest", at.Digest)
		e.end(httpResponse, x.Head, nil)
	default:
		at.Digest = e.digest
		e.field("WARC-Truncated", x.Truncated)
		e.field("WARC-Payload-Digest", at.Digest)
		e.end(httpResponse, x.Head, x.Body)
	}
	at.Length = int64(len(e.out))
	if len(x.Request) > 0 {
		e.begin("request", request, x, info)
		e.identifier("WARC-Concurrent-To", response)
		e.end(httpRequest, x.Request, nil)
	}
	e.begin("metadata", metadata, x, info)
	e.identifier("WARC-Concurrent-To", response)
	e.end(fieldsMedia, e.fields(x), nil)
	return at
}

// begin starts the header of a record with what all records of an exchange have.
func (e *encoder) begin(kind string, id *uuid, x *Exchange, info string) {
	e.start(kind, id, x.Time)
	e.field("WARC-Warcinfo-ID", info)
	e.field("WARC-Target-URI", x.URL)
	e.field("WARC-IP-Address", x.IP)
	for _, protocol := range x.Protocols {
		e.field("WARC-Protocol", protocol)
	}
}

func (e *encoder) refers(to reference) {
	e.field("WARC-Refers-To", to.id)
	e.field("WARC-Refers-To-Target-URI", to.url)
	e.field("WARC-Refers-To-Date", to.date)
}

// fields are the lines of a metadata record.
func (e *encoder) fields(x *Exchange) []byte {
	m, b := &x.Metadata, e.block[:0]
	add := func(name, value string) {
		if value != "" {
			b = appendField(b, name, value)
		}
	}
	add("noarchive", x.NoArchive)
	add("via", m.Via)
	if m.Depth > 0 || m.Redirects > 0 {
		b = append(appendHops(append(b, "hopsFromSeed: "...), m.Depth, m.Redirects), "\r\n"...)
	}
	if m.FetchTime > 0 {
		b = append(strconv.AppendInt(append(b, "fetchTimeMs: "...), m.FetchTime.Milliseconds(), 10), "\r\n"...)
	}
	add("operator", m.Operator)
	b = append(strconv.AppendInt(append(b, "generation: "...), int64(m.Generation), 10), "\r\n"...)
	if m.Priority != nil {
		b = append(strconv.AppendFloat(append(b, "priority: "...), *m.Priority, 'g', -1, 64), "\r\n"...)
	}
	for _, parent := range m.Parents {
		add("parent", parent)
	}
	add("certificateUnverified", m.Unverified)
	e.block = b
	return b
}

// appendHops appends the path from the seed in the letters of Heritrix, L for a
// link and R for a redirect; of a long one only the number and the end.
func appendHops(b []byte, links, redirects int) []byte {
	const most = 50
	links, redirects = max(links, 0), max(redirects, 0)
	if n := links + redirects; n > most {
		b = append(strconv.AppendInt(b, int64(n-most), 10), '+')
		redirects = min(redirects, most)
		links = most - redirects
	}
	for range links {
		b = append(b, 'L')
	}
	for range redirects {
		b = append(b, 'R')
	}
	return b
}

// appendField appends a line of a header; strangers cannot end it early.
func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, oneLine(value)...)
	return append(b, '\r', '\n')
}
