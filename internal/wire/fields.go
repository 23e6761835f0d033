package wire

import (
	"math"
	"unsafe"
)

// This file contains the tables of fields that the decoder, the encoder, [Record.Drop] and the test
// of doc/record.schema.json use.

// A kind is the Go type of a field.
type kind uint8

const (
	kindString    kind = iota // string
	kindInt                   // int
	kindInt64                 // int64
	kindFloat                 // Float
	kindBool                  // Bool
	kindStrings               // []string
	kindValues                // []Values, an object of arrays of strings
	kindScores                // []Scored, an object of numbers
	kindRedirects             // []Redirect
	kindLinks                 // []Link
)

// A zeroRule determines when a field whose value is zero is written.
type zeroRule uint8

const (
	omitZero        zeroRule = iota // never
	writeZero                       // always
	zeroWithURL                     // if the record has a URL
	zeroWithStatus                  // if the record has a status code
	zeroWithArchive                 // if the record has the name of a WARC file
)

// A field is a known member of an object.
type field struct {
	row
	label string // the name in quotes, with a colon
	valid values
}

// A row is the entry for a field in the tables below.
type row struct {
	name    string
	section Section
	kind    kind
	at      uintptr // offset in the Go struct
	zero    zeroRule
	always  bool // decoded even if its section is not wanted
}

// values describes the valid values of a field. 0 and the empty string are always valid, because they
// mean the same as a missing member. The zero value permits every value.
type values struct {
	min, max int64
	time     bool // the field is a time in the format of RFC 3339
}

const (
	// MaxCount is the highest valid value of fields that count, such as the depth.
	MaxCount = math.MaxInt32 // also fits an int of 32 bits

	maxSize = 1<<53 - 1 // largest range of integers that float64, used by jq for example, represents exactly
)

// The valid values of every field that is a whole number or a time. A record with any other value
// is refused like a malformed line. doc/record.schema.json has the same limits; a test compares them.
var (
	recordValues = map[string]values{
		"v":              {1, Version, false},
		"generation":     {0, MaxCount, false},
		"depth":          {0, MaxCount, false},
		"revision":       {0, MaxCount, false},
		"retries":        {0, MaxCount, false},
		"cost":           {0, MaxCount, false},
		"visits":         {0, MaxCount, false},
		"interval":       {0, MaxCount, false},
		"timestamp":      {0, 0, true},
		"status_code":    {100, 999, false},
		"content_length": {0, maxSize, false},
		"fetch_ms":       {0, maxSize, false},
		"warc_offset":    {0, maxSize, false},
		"warc_length":    {0, maxSize, false},
		"not_before":     {0, 0, true},
		"out_degree":     {0, MaxCount, false},
	}
	redirectValues = map[string]values{"status_code": {100, 999, false}}
)

// An object is a JSON object whose members are the fields of a Go struct.
type object struct {
	fields []field
	extra  uintptr          // offset of the string that keeps unknown members, if there is one
	index  [indexSize]uint8 // hash table with linear probing: number of the field + 1
}

const indexSize = 256 // several times the number of fields, a power of 2

// The fields, in the order in which they are written.
var (
	recordObject = newObject(0, recordValues, []row{
		{"v", Address, kindInt, unsafe.Offsetof(Record{}.V), writeZero, false},
		{"url", Address, kindString, unsafe.Offsetof(Record{}.URL), zeroWithURL, true},
		{"generation", Address, kindInt, unsafe.Offsetof(Record{}.Generation), zeroWithURL, false},
		{"depth", Address, kindInt, unsafe.Offsetof(Record{}.Depth), zeroWithURL, false},
		{"via", Address, kindString, unsafe.Offsetof(Record{}.Via), omitZero, false},
		{"parents", Address, kindStrings, unsafe.Offsetof(Record{}.Parents), omitZero, false},
		{"operator", Address, kindString, unsafe.Offsetof(Record{}.Operator), omitZero, false},
		{"priority", Address, kindFloat, unsafe.Offsetof(Record{}.Priority), omitZero, false},
		{"revision", Address, kindInt, unsafe.Offsetof(Record{}.Revision), omitZero, false},
		{"niche", Address, kindString, unsafe.Offsetof(Record{}.Niche), omitZero, false},
		{"query", Address, kindString, unsafe.Offsetof(Record{}.Query), omitZero, true},
		{"retries", Address, kindInt, unsafe.Offsetof(Record{}.Retries), omitZero, false},
		{"cost", Address, kindInt, unsafe.Offsetof(Record{}.Cost), omitZero, false},
		{"reasons", Address, kindScores, unsafe.Offsetof(Record{}.Reasons), omitZero, false},
		{"etag", Address, kindString, unsafe.Offsetof(Record{}.ETag), omitZero, false},
		{"last_modified", Address, kindString, unsafe.Offsetof(Record{}.LastModified), omitZero, false},
		{"last_digest", Address, kindString, unsafe.Offsetof(Record{}.LastDigest), omitZero, false},
		{"lastmod", Address, kindString, unsafe.Offsetof(Record{}.LastMod), omitZero, false},
		{"visits", Address, kindInt, unsafe.Offsetof(Record{}.Visits), omitZero, false},
		{"interval", Address, kindInt, unsafe.Offsetof(Record{}.Interval), omitZero, false},

		{"final_url", Fetch, kindString, unsafe.Offsetof(Record{}.FinalURL), omitZero, false},
		{"redirects", Fetch, kindRedirects, unsafe.Offsetof(Record{}.Redirects), omitZero, false},
		{"timestamp", Fetch, kindString, unsafe.Offsetof(Record{}.Timestamp), omitZero, false},
		{"status_code", Fetch, kindInt, unsafe.Offsetof(Record{}.StatusCode), omitZero, true},
		{"headers", Fetch, kindValues, unsafe.Offsetof(Record{}.Headers), omitZero, false},
		{"content_type", Fetch, kindString, unsafe.Offsetof(Record{}.ContentType), omitZero, false},
		{"charset", Fetch, kindString, unsafe.Offsetof(Record{}.Charset), omitZero, false},
		{"content_length", Fetch, kindInt64, unsafe.Offsetof(Record{}.ContentLength), zeroWithStatus, false},
		{"truncated", Fetch, kindString, unsafe.Offsetof(Record{}.Truncated), omitZero, false},
		{"fetch_ms", Fetch, kindInt64, unsafe.Offsetof(Record{}.FetchMS), zeroWithStatus, false},
		{"ip", Fetch, kindString, unsafe.Offsetof(Record{}.IP), omitZero, false},
		{"digest", Fetch, kindString, unsafe.Offsetof(Record{}.Digest), omitZero, false},
		{"warc_filename", Fetch, kindString, unsafe.Offsetof(Record{}.WARCFilename), omitZero, false},
		{"warc_offset", Fetch, kindInt64, unsafe.Offsetof(Record{}.WARCOffset), zeroWithArchive, false},
		{"warc_length", Fetch, kindInt64, unsafe.Offsetof(Record{}.WARCLength), omitZero, false},
		{"not_before", Fetch, kindString, unsafe.Offsetof(Record{}.NotBefore), omitZero, false},
		{"error", Fetch, kindString, unsafe.Offsetof(Record{}.Error), omitZero, true},
		{"error_detail", Fetch, kindString, unsafe.Offsetof(Record{}.ErrorDetail), omitZero, false},

		{"title", Parse, kindString, unsafe.Offsetof(Record{}.Title), omitZero, false},
		{"description", Parse, kindString, unsafe.Offsetof(Record{}.Description), omitZero, false},
		{"keywords", Parse, kindString, unsafe.Offsetof(Record{}.Keywords), omitZero, false},
		{"lang", Parse, kindString, unsafe.Offsetof(Record{}.Lang), omitZero, false},
		{"text", Parse, kindString, unsafe.Offsetof(Record{}.Text), omitZero, false},
		{"anchor_text", Parse, kindString, unsafe.Offsetof(Record{}.AnchorText), omitZero, false},
		{"out_degree", Parse, kindInt, unsafe.Offsetof(Record{}.OutDegree), writeZero, false},
		{"links", Parse, kindLinks, unsafe.Offsetof(Record{}.Links), writeZero, false},
		{"canonical", Parse, kindString, unsafe.Offsetof(Record{}.Canonical), omitZero, false},
		{"robots_meta", Parse, kindString, unsafe.Offsetof(Record{}.RobotsMeta), omitZero, false},
		{"simhash", Parse, kindString, unsafe.Offsetof(Record{}.Simhash), omitZero, false},
		{"needs_browser", Parse, kindBool, unsafe.Offsetof(Record{}.NeedsBrowser), omitZero, false},
		{"charset_guessed", Parse, kindBool, unsafe.Offsetof(Record{}.CharsetGuessed), omitZero, false},
		{"fields", Parse, kindValues, unsafe.Offsetof(Record{}.Fields), omitZero, false},

		{"score", Score, kindFloat, unsafe.Offsetof(Record{}.Score), omitZero, false},
		{"scores", Score, kindScores, unsafe.Offsetof(Record{}.Scores), omitZero, false},
		{"relevant", Score, kindBool, unsafe.Offsetof(Record{}.Relevant), omitZero, false},

		{"body", Body, kindString, unsafe.Offsetof(Record{}.Body), omitZero, false},
		{"body_base64", Body, kindString, unsafe.Offsetof(Record{}.BodyBase64), omitZero, false},
	})

	redirectObject = newObject(unsafe.Offsetof(Redirect{}.extra), redirectValues, []row{
		{"url", 0, kindString, unsafe.Offsetof(Redirect{}.URL), writeZero, false},
		{"status_code", 0, kindInt, unsafe.Offsetof(Redirect{}.StatusCode), writeZero, false},
	})

	linkObject = newObject(unsafe.Offsetof(Link{}.extra), nil, []row{
		{"url", 0, kindString, unsafe.Offsetof(Link{}.URL), writeZero, false},
		{"anchor", 0, kindString, unsafe.Offsetof(Link{}.Anchor), omitZero, false},
		{"context", 0, kindString, unsafe.Offsetof(Link{}.Context), omitZero, false},
		{"rel", 0, kindString, unsafe.Offsetof(Link{}.Rel), omitZero, false},
		{"hreflang", 0, kindString, unsafe.Offsetof(Link{}.Hreflang), omitZero, false},
		{"tag", 0, kindString, unsafe.Offsetof(Link{}.Tag), omitZero, false},
		{"path", 0, kindString, unsafe.Offsetof(Link{}.Path), omitZero, false},
		{"archived", 0, kindBool, unsafe.Offsetof(Link{}.Archived), omitZero, false},
		{"score", 0, kindFloat, unsafe.Offsetof(Link{}.Score), omitZero, false},
		{"scores", 0, kindScores, unsafe.Offsetof(Link{}.Scores), omitZero, false},
		{"lastmod", 0, kindString, unsafe.Offsetof(Link{}.LastMod), omitZero, false},
		{"priority", 0, kindFloat, unsafe.Offsetof(Link{}.Priority), omitZero, false},
	})
)

var recordSections = func() (s [5][]field) {
	rest := recordObject.fields
	for i := range s {
		n := 0
		for n < len(rest) && rest[n].section == 1<<i {
			n++
		}
		s[i], rest = rest[:n], rest[n:]
	}
	return s
}()

func newObject(extra uintptr, valid map[string]values, rows []row) *object {
	o := &object{extra: extra}
	for i, r := range rows {
		o.fields = append(o.fields, field{r, `"` + r.name + `":`, valid[r.name]})
		h := hash(r.name)
		for o.index[h%indexSize] != 0 {
			h++
		}
		o.index[h%indexSize] = uint8(i + 1)
	}
	return o
}

// hash returns a hash of a name that has few collisions among the names of the fields.
func hash(name string) uint {
	if name == "" {
		return 0
	}
	n := len(name)
	return uint(n) + uint(name[0])*7 + uint(name[n-1])*31 + uint(name[n/2])*61
}

// find returns the field with that name, or nil.
func (o *object) find(name string) *field {
	for h := hash(name); ; h++ {
		i := o.index[h%indexSize]
		if i == 0 {
			return nil
		}
		if f := &o.fields[i-1]; f.name == name {
			return f
		}
	}
}

// in returns a pointer to the field in the struct at base. The field must have type T.
func in[T any](f *field, base unsafe.Pointer) *T { return (*T)(unsafe.Add(base, f.at)) }

func (f *field) isZero(base unsafe.Pointer) bool {
	switch f.kind {
	case kindString:
		return *in[string](f, base) == ""
	case kindInt:
		return *in[int](f, base) == 0
	case kindInt64:
		return *in[int64](f, base) == 0
	case kindFloat:
		return in[Float](f, base).Kind == Absent
	case kindBool:
		return in[Bool](f, base).Kind == Absent
	case kindStrings:
		return len(*in[[]string](f, base)) == 0
	case kindValues:
		return len(*in[[]Values](f, base)) == 0
	case kindScores:
		return len(*in[[]Scored](f, base)) == 0
	case kindRedirects:
		return len(*in[[]Redirect](f, base)) == 0
	case kindLinks:
		return len(*in[[]Link](f, base)) == 0
	}
	panic("wire: field without a kind")
}

// clear makes the field of the struct at base absent. A Float or Bool gets the presence null.
// Slices keep their capacity.
func (f *field) clear(base unsafe.Pointer, null Presence) {
	switch f.kind {
	case kindString:
		*in[string](f, base) = ""
	case kindInt:
		*in[int](f, base) = 0
	case kindInt64:
		*in[int64](f, base) = 0
	case kindFloat:
		*in[Float](f, base) = Float{Kind: null}
	case kindBool:
		*in[Bool](f, base) = Bool{Kind: null}
	case kindStrings:
		empty(in[[]string](f, base))
	case kindValues:
		empty(in[[]Values](f, base))
	case kindScores:
		empty(in[[]Scored](f, base))
	case kindRedirects:
		empty(in[[]Redirect](f, base))
	case kindLinks:
		empty(in[[]Link](f, base))
	}
}

func empty[T any](s *[]T) { *s = (*s)[:0] }
