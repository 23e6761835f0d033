// Package wire is the record that every stage reads and writes, one JSON
// object a line, together with the reader and the writer that all of them use.
//
// A stage fills the section that is its own and passes everything else on,
// byte for byte: a section that a stage did not touch leaves as it came, and so
// does every field that this package has no name for. The reader decodes only
// the sections that it is asked for, so a stage that does not need the body
// never looks inside it.
//
// The package knows nothing of what the fields mean to the stages; see
// doc/record.schema.json for the same record as a schema.
package wire

// Version is the value of "v" in every record that this program makes.
const Version = 1

// A Section is a group of fields that one stage fills. Sections are bits, so
// that several can be named at once.
type Section uint8

// The sections, in the order in which they stand in a record.
const (
	Address Section = 1 << iota // who asks for the page, and why
	Fetch                       // how the page was got
	Parse                       // what stands in it
	Score                       // what it is worth
	Body                        // the page itself, always last

	All = Address | Fetch | Parse | Score | Body
)

// A Float is a number that may be absent, or present as null. The zero value is
// absent. NaN and the infinities are never written: the writer refuses them.
type Float struct {
	Value float64
	Kind  Presence
}

// Presence tells whether a [Float] or [Bool] is there.
type Presence uint8

// The kinds of presence.
const (
	Absent Presence = iota
	Null
	Present
)

// Num is the Float that is present with value v.
func Num(v float64) Float { return Float{v, Present} }

// Or is the value of f, or d if f is absent or null.
func (f Float) Or(d float64) float64 {
	if f.Kind == Present {
		return f.Value
	}
	return d
}

// A Bool is a truth value that may be absent (or null, which reads as absent
// to all stages but is passed on).
type Bool struct {
	Value bool
	Kind  Presence
}

// True and False are the Bools that are present.
var (
	True  = Bool{true, Present}
	False = Bool{false, Present}
)

// A Record is one line.
//
// The strings and slices of a record that a [Reader] filled belong to the
// record: they are valid until the record is read into again or Reset. Use
// [Record.Clone] to keep one. A slice that a caller puts into a record is the
// record's from then on, and written over when the record is used again. A
// record is not safe for concurrent use; two records are independent of each
// other, also when the same Reader filled them.
//
// After changing fields of a section call [Record.Touch] with that section, or
// the writer will pass the old bytes on. A record that no Reader filled needs
// no Touch.
type Record struct {
	// Address section.

	V          int      // version of the record, 1
	URL        string   // the address; empty only in a query line
	Generation int      // generation that it is for, or that fetched it; from 0
	Depth      int      // links from a seed; seeds are 0
	Via        string   // URL of the page it was found on
	Parents    []string // URLs of the pages that brought it, if there are several
	Operator   string   // seed, link, child, crossover, mutation, restart, search, sitemap, …
	Priority   Float    // higher is sooner; null withdraws the address
	Revision   int      // how often the priority was changed within the generation
	Niche      string   // key of the niche it lives in
	Query      string   // without URL: a query to answer; with URL: the query that found it
	Retries    int      // failed attempts so far
	Cost       int      // of a query that was answered: the fetches that it counts for
	Reasons    []Scored // the numbers that chose the address, sorted by name

	ETag         string // ETag of an earlier answer: fetch asks whether the page has changed
	LastModified string // Last-Modified of an earlier answer, as the server wrote it: the same
	LastDigest   string // Digest of the latest answer that had a page
	LastMod      string // when the page changed, as a sitemap says: a date, or RFC 3339
	Visits       int    // final outcomes before this one; of a page that is visited again
	Interval     int    // seconds between its visits so far

	// Fetch section.

	FinalURL      string     // where the redirects ended, if anywhere else
	Redirects     []Redirect // the hops, in order
	Timestamp     string     // RFC 3339, UTC, milliseconds
	StatusCode    int        // of the final response; 0 if there was none
	Headers       []Values   // lower-case names, as received, sorted by name
	ContentType   string     // media type without parameters, lower case
	Charset       string     // as declared by the header, lower case; parse overwrites it with what it used
	ContentLength int64      // bytes after decoding; -1 is never written
	Truncated     string     // length, time or disconnect
	FetchMS       int64      // milliseconds from request to last byte
	IP            string     // of the server
	Digest        string     // "sha1:" and base32, of the payload
	WARCFilename  string
	WARCOffset    int64  // of the record's first byte in the file
	WARCLength    int64  // of the record in the file, compressed
	NotBefore     string // RFC 3339: the host asks not to be asked before
	Error         string // one of the closed vocabulary, see errors.go
	ErrorDetail   string // words for a person

	// Parse section.

	Title       string
	Description string
	Keywords    string
	Lang        string
	Text        string   // visible text
	AnchorText  string   // the words of all anchors
	OutDegree   int      // distinct http(s) targets, the page itself not counted
	Links       []Link   // in order of appearance
	Canonical   string   // <link rel=canonical>
	RobotsMeta  string   // <meta name=robots>, lower case
	Simhash     string   // 16 hexadecimal digits
	Fields      []Values // what the user's selectors found, sorted by name

	// Score section.

	Score    Float    // in [0, 1] unless the measure says otherwise
	Scores   []Scored // by measure, sorted by name
	Relevant Bool     // Score ≥ the topic's threshold

	// Body section: exactly one of the two is set, or neither.

	Body       string // valid UTF-8
	BodyBase64 string // what is not text, still encoded; see SetBody and Bytes

	raw rawRecord
}

// A Redirect is one hop on the way to the final URL.
type Redirect struct {
	URL        string // the address that redirected
	StatusCode int

	extra string // members that have no name here, as they came, joined by commas
}

// Values is a name with its values, as in a header.
type Values struct {
	Name   string
	Values []string
}

// Scored is the value that one measure gave.
type Scored struct {
	Name  string
	Value float64
}

// A Link is one link of a page.
type Link struct {
	URL      string   // canonical target
	Anchor   string   // its text
	Context  string   // words around it, inside its block
	Rel      string   // as written, lower case
	Hreflang string   // language of the target, as the page says
	Tag      string   // a, area, frame, iframe, link, …
	Path     string   // tag path from the root to the link
	Archived Bool     // false: the archive given by -within cannot answer it
	Score    Float    // what the link promises
	Scores   []Scored // by measure, sorted by name
	LastMod  string   // when the target changed, as a sitemap says
	Priority Float    // in [0, 1]: what a sitemap says of the target's rank on its own site

	extra string // members that have no name here, as they came, joined by commas
}
