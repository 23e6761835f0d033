package archive

import (
	"strconv"
	"time"
)

const (
	conformsTo = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"

	// Profiles of revisits (WARC 1.1, sections 6.7.2 and 6.7.3).
	identicalPayload  = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	serverNotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

	httpRequest  = "application/http; msgtype=request"
	httpResponse = "application/http; msgtype=response"
	fieldsMedia  = "application/warc-fields"
)

// An Exchange is a request and its response.
type Exchange struct {
	URL  string    // requested URL
	Time time.Time // time of the request
	IP   string    // address of the server; may be empty

	Request []byte // the request as sent; if empty, no request record is written
	Head    []byte // header of the response, with the empty line at its end
	Body    []byte // the body as received
	Chunked bool   // the body has chunks

	// Truncated is length, time or disconnect if the body is incomplete, and otherwise empty.
	Truncated string

	// Protocols are the protocols of the exchange, the highest layer first, as in the
	// WARC-Protocol field: http/1.1 or h2, then tls/1.3. May be empty.
	Protocols []string

	// NotModified is set for a response 304 to a conditional request. The exchange is written as
	// a revisit of the capture that the response confirms.
	NotModified bool

	// NoArchive, if not empty, is the reason why the response must not be archived, as "robots
	// meta tag". Only a metadata record with the reason is written.
	NoArchive string

	Metadata Metadata
}

// Metadata describes how the crawl found a capture. Zero values are omitted, except for the
// generation.
type Metadata struct {
	Via        string // URL of the page that links to it
	Depth      int    // number of links from a seed
	Redirects  int    // redirects from the URL that was to be fetched
	FetchTime  time.Duration
	Operator   string
	Generation int
	Priority   *float64 // nil: none
	Parents    []string // URLs
	Unverified string   // why the certificate of the server is invalid; empty if it is valid
	Removed    string   // header fields of the user that were sent, but are omitted from the request record
}

// An Original is the capture that a revisit refers to.
type Original struct {
	URL  string
	Date time.Time
	ID   string // identifier of its record, in angle brackets; may be empty
}

// A Location describes where a capture was written. With [Exchange.NoArchive] only the digest is set.
type Location struct {
	Filename string // name of the file, without directory and .open
	Offset   int64  // offset of the response or revisit record
	Length   int64
	Digest   string // digest of the payload: "sha1:…"; empty for a response 304
	Revisit  bool   // the record is a revisit: another record contains the payload
}

// A reference identifies an original in the header of a revisit. The zero value means that there
// is no original.
type reference struct{ url, date, id string }

func (o *Original) reference() reference {
	// Keep all digits: the date should equal the date of the original.
	return reference{o.URL, o.Date.UTC().Format("2006-01-02T15:04:05.999999999Z"), o.ID}
}

// exchange encodes the records of an exchange: a revisit if there is an original, or only
// metadata if the response must not be archived.
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
		// A response 304 has no payload, and therefore no digest.
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

// begin starts the header of a record with the fields that all records of an exchange have.
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

// fields returns the block of a metadata record.
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
	add("requestFieldsRemoved", m.Removed)
	e.block = b
	return b
}

// appendHops appends the path from the seed in the notation of Heritrix, L for a link and R for
// a redirect. A long path is abbreviated to its length and its end.
func appendHops(b []byte, links, redirects int) []byte {
	const maxHops = 50
	links, redirects = max(links, 0), max(redirects, 0)
	if n := links + redirects; n > maxHops {
		b = append(strconv.AppendInt(b, int64(n-maxHops), 10), '+')
		redirects = min(redirects, maxHops)
		links = maxHops - redirects
	}
	for range links {
		b = append(b, 'L')
	}
	for range redirects {
		b = append(b, 'R')
	}
	return b
}

// appendField appends a field. It replaces line breaks in the value.
func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, lineBreaks.Replace(value)...)
	return append(b, '\r', '\n')
}
