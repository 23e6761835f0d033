// Package wire defines the record that all stages read and write, one JSON object
// per line, and its reader and writer.
//
// Each stage fills its own section of the record. The writer copies all other
// sections, and all unknown fields, byte for byte. The reader decodes only the
// sections that the stage requests, so a stage that does not need the body does
// not spend time on decoding it.
//
// doc/record.schema.json describes the same record as a JSON schema.
package wire

import (
	"slices"
	"strings"
)

// Version is the value of "v" in new records.
const Version = 1

// A Section is a group of fields that one stage fills, or a set of such groups:
// sections are bits.
type Section uint8

// The sections, in the order in which they are written.
const (
	Address Section = 1 << iota // the URL to fetch and where it comes from
	Fetch                       // the outcome of the fetch
	Parse                       // title, text and links of the page
	Score                       // scores of the page
	Body                        // the page itself, always last

	All = Address | Fetch | Parse | Score | Body
)

// A Float is a number that may be absent or null. The zero value is absent. The
// writer refuses NaN and infinities.
type Float struct {
	Value float64
	Kind  Presence
}

// Presence reports whether a [Float] or [Bool] is absent, null or has a value.
type Presence uint8

// The kinds of presence.
const (
	Absent Presence = iota
	Null
	Present
)

// Num returns a Float with the value v.
func Num(v float64) Float { return Float{v, Present} }

// Or returns the value of f, or d if f is absent or null.
func (f Float) Or(d float64) float64 {
	if f.Kind == Present {
		return f.Value
	}
	return d
}

// A Bool is a truth value that may be absent or null. The zero value is absent.
type Bool struct {
	Value bool
	Kind  Presence
}

// True and False are the Bools with a value.
var (
	True  = Bool{true, Present}
	False = Bool{false, Present}
)

// A Record is one line.
//
// The strings and slices of a record that a [Reader] filled share the memory of
// the record: they are valid until the next read into it, or Reset. Use
// [Record.Clone] to keep the record. A slice that a caller stores in a record is
// overwritten when the record is reused. Records do not share memory with each other,
// but one record is not safe for concurrent use.
//
// After changing fields of a record that was read, call [Record.Touch] with their
// section. Otherwise the writer writes the old bytes.
type Record struct {
	// Address section.

	V          int      // version of the record, 1
	URL        string   // empty only in a query line
	Generation int      // number, from 0, of the generation in which the URL is or was fetched
	Depth      int      // number of links from a seed to the URL; 0 for seeds
	Via        string   // URL of the page that links to the URL
	Parents    []string // URLs of the pages from which the URL was derived, if there are several
	Operator   string   // seed, link, child, crossover, mutation, restart, search, sitemap, …
	Priority   Float    // higher is fetched sooner; null withdraws the URL
	Revision   int      // number of changes of the priority within the generation
	Niche      string   // key of the niche of the URL
	Query      string   // without URL: a search query to answer; with URL: the query that found the URL
	Retries    int      // number of failed attempts so far
	Cost       int      // cost of an answered query, in fetches
	Reasons    []Scored // why the URL was chosen, sorted by name

	ETag         string // ETag of an earlier response, for a conditional request
	LastModified string // Last-Modified of an earlier response, for the same purpose
	LastDigest   string // Digest of the latest response with a page
	LastMod      string // last change of the page according to a sitemap: a date, or RFC 3339
	Visits       int    // number of earlier visits with a final outcome
	Interval     int    // seconds between visits

	// Fetch section.

	FinalURL      string     // target of the redirects, if it differs from URL
	Redirects     []Redirect // in order
	Timestamp     string     // time of the fetch: RFC 3339, UTC, milliseconds
	StatusCode    int        // status of the final response; 0 if there was none
	Headers       []Values   // values as received, by lower-case name, sorted by name
	ContentType   string     // media type without parameters, lower case
	Charset       string     // character set in the header, lower case; parse stores the one that it used
	ContentLength int64      // length of the decoded body in bytes
	Truncated     string     // why the body is incomplete: length, time or disconnect
	FetchMS       int64      // milliseconds from the request to the last byte
	IP            string     // address of the server
	Digest        string     // digest of the payload: "sha1:" and base32
	WARCFilename  string     // WARC file that contains the capture
	WARCOffset    int64      // offset of the WARC record in the file
	WARCLength    int64      // compressed length of the WARC record
	NotBefore     string     // RFC 3339: the host must not be requested before this time
	Error         string     // one of the Error constants
	ErrorDetail   string     // explanation for people

	// Parse section.

	Title          string
	Description    string
	Keywords       string
	Lang           string
	Text           string   // visible text
	AnchorText     string   // the text of all anchors
	OutDegree      int      // distinct http and https targets, without the page itself
	Links          []Link   // in order of appearance
	Canonical      string   // target of <link rel=canonical>
	RobotsMeta     string   // content of <meta name=robots>, lower case
	Simhash        string   // 16 hexadecimal digits
	NeedsBrowser   Bool     // whether the page has almost no text, but large scripts
	CharsetGuessed Bool     // whether neither a declaration nor the form of the bytes determined Charset
	Fields         []Values // text found by the user's selectors, sorted by name

	// Score section.

	Score    Float    // in [0, 1] unless the measure says otherwise
	Scores   []Scored // by measure, sorted by name
	Relevant Bool     // whether Score reaches the threshold of the topic

	// Body section: at most one of the two fields is set.

	Body       string // valid UTF-8
	BodyBase64 string // a body that is not UTF-8; see SetBody and Bytes

	raw rawRecord
}

// A Redirect is one redirect on the way to the final URL.
type Redirect struct {
	URL        string // the URL that redirected
	StatusCode int

	extra string // unknown members, as read, joined by commas
}

// Values is a name with its values, like a header field.
type Values struct {
	Name   string
	Values []string
}

// Scored is a name with a number, like a measure with its score.
type Scored struct {
	Name  string
	Value float64
}

// ScoreOf returns the value of a measure in Scores.
func (r *Record) ScoreOf(name string) (value float64, ok bool) {
	if at, ok := r.findScore(name); ok {
		return r.Scores[at].Value, true
	}
	return 0, false
}

// SetScore sets the value of a measure in Scores, which remain sorted.
func (r *Record) SetScore(name string, value float64) {
	at, known := r.findScore(name)
	if !known {
		r.Scores = slices.Insert(r.Scores, at, Scored{Name: name})
	}
	r.Scores[at].Value = value
	r.Touch(Score)
}

func (r *Record) findScore(name string) (at int, ok bool) {
	return slices.BinarySearchFunc(r.Scores, name, func(s Scored, name string) int { return strings.Compare(s.Name, name) })
}

// A Link is one link of a page.
type Link struct {
	URL      string   // target, canonical
	Anchor   string   // text of the anchor
	Context  string   // text around the anchor, from the same block
	Rel      string   // rel attribute, lower case
	Hreflang string   // language of the target according to the page
	Tag      string   // a, area, frame, iframe, link, …
	Path     string   // tag path from the root to the link
	Archived Bool     // whether the archive given by -within contains the target
	Score    Float    // predicted score of the target
	Scores   []Scored // by measure, sorted by name
	LastMod  string   // last change of the target according to a sitemap
	Priority Float    // priority of the target in a sitemap, in [0, 1]

	extra string // unknown members, as read, joined by commas
}
