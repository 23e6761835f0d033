package wire

import "unsafe"

// This file is the one place that knows which names a record has. Decoder,
// encoder, [Record.Drop] and the test of doc/record.schema.json all follow it.

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

// A zero tells when a field is written although it is zero.
type zero uint8

const (
	zeroOmitted   zero = iota
	zeroWritten        // always
	zeroOfAddress      // if the record has a URL
	zeroOfAnswer       // if there was a status
	zeroOfArchive      // if there is a WARC file
)

// A field is a member of an object that has a name here.
type field struct {
	name    string
	section Section
	kind    kind
	at      uintptr // offset in the Go struct
	zero    zero
	eager   bool // decoded even if its section is not asked for

	label string // the name as it is written, quoted and with a colon
}

// An object is a JSON object whose members are the fields of a Go struct.
type object struct {
	fields []field
	extra  uintptr          // offset of the string of members without a name, if there is one
	index  [indexSize]uint8 // by hash, then linearly: number of the field + 1
}

const (
	indexSize = 256 // several times the number of fields, a power of 2
)

// The fields, in the order in which they are written.
var (
	recordObject = newObject(0, []field{
		{"v", Address, kindInt, unsafe.Offsetof(Record{}.V), zeroWritten, false, ""},
		{"url", Address, kindString, unsafe.Offsetof(Record{}.URL), zeroOfAddress, true, ""},
		{"generation", Address, kindInt, unsafe.Offsetof(Record{}.Generation), zeroOfAddress, false, ""},
		{"depth", Address, kindInt, unsafe.Offsetof(Record{}.Depth), zeroOfAddress, false, ""},
		{"via", Address, kindString, unsafe.Offsetof(Record{}.Via), zeroOmitted, false, ""},
		{"parents", Address, kindStrings, unsafe.Offsetof(Record{}.Parents), zeroOmitted, false, ""},
		{"operator", Address, kindString, unsafe.Offsetof(Record{}.Operator), zeroOmitted, false, ""},
		{"priority", Address, kindFloat, unsafe.Offsetof(Record{}.Priority), zeroOmitted, false, ""},
		{"revision", Address, kindInt, unsafe.Offsetof(Record{}.Revision), zeroOmitted, false, ""},
		{"niche", Address, kindString, unsafe.Offsetof(Record{}.Niche), zeroOmitted, false, ""},
		{"query", Address, kindString, unsafe.Offsetof(Record{}.Query), zeroOmitted, true, ""},
		{"retries", Address, kindInt, unsafe.Offsetof(Record{}.Retries), zeroOmitted, false, ""},
		{"cost", Address, kindInt, unsafe.Offsetof(Record{}.Cost), zeroOmitted, false, ""},
		{"reasons", Address, kindScores, unsafe.Offsetof(Record{}.Reasons), zeroOmitted, false, ""},
		{"etag", Address, kindString, unsafe.Offsetof(Record{}.ETag), zeroOmitted, false, ""},
		{"last_modified", Address, kindString, unsafe.Offsetof(Record{}.LastModified), zeroOmitted, false, ""},
		{"last_digest", Address, kindString, unsafe.Offsetof(Record{}.LastDigest), zeroOmitted, false, ""},
		{"lastmod", Address, kindString, unsafe.Offsetof(Record{}.LastMod), zeroOmitted, false, ""},
		{"visits", Address, kindInt, unsafe.Offsetof(Record{}.Visits), zeroOmitted, false, ""},
		{"interval", Address, kindInt, unsafe.Offsetof(Record{}.Interval), zeroOmitted, false, ""},

		{"final_url", Fetch, kindString, unsafe.Offsetof(Record{}.FinalURL), zeroOmitted, false, ""},
		{"redirects", Fetch, kindRedirects, unsafe.Offsetof(Record{}.Redirects), zeroOmitted, false, ""},
		{"timestamp", Fetch, kindString, unsafe.Offsetof(Record{}.Timestamp), zeroOmitted, false, ""},
		{"status_code", Fetch, kindInt, unsafe.Offsetof(Record{}.StatusCode), zeroOmitted, true, ""},
		{"headers", Fetch, kindValues, unsafe.Offsetof(Record{}.Headers), zeroOmitted, false, ""},
		{"content_type", Fetch, kindString, unsafe.Offsetof(Record{}.ContentType), zeroOmitted, false, ""},
		{"charset", Fetch, kindString, unsafe.Offsetof(Record{}.Charset), zeroOmitted, false, ""},
		{"content_length", Fetch, kindInt64, unsafe.Offsetof(Record{}.ContentLength), zeroOfAnswer, false, ""},
		{"truncated", Fetch, kindString, unsafe.Offsetof(Record{}.Truncated), zeroOmitted, false, ""},
		{"fetch_ms", Fetch, kindInt64, unsafe.Offsetof(Record{}.FetchMS), zeroOfAnswer, false, ""},
		{"ip", Fetch, kindString, unsafe.Offsetof(Record{}.IP), zeroOmitted, false, ""},
		{"digest", Fetch, kindString, unsafe.Offsetof(Record{}.Digest), zeroOmitted, false, ""},
		{"warc_filename", Fetch, kindString, unsafe.Offsetof(Record{}.WARCFilename), zeroOmitted, false, ""},
		{"warc_offset", Fetch, kindInt64, unsafe.Offsetof(Record{}.WARCOffset), zeroOfArchive, false, ""},
		{"warc_length", Fetch, kindInt64, unsafe.Offsetof(Record{}.WARCLength), zeroOmitted, false, ""},
		{"not_before", Fetch, kindString, unsafe.Offsetof(Record{}.NotBefore), zeroOmitted, false, ""},
		{"error", Fetch, kindString, unsafe.Offsetof(Record{}.Error), zeroOmitted, true, ""},
		{"error_detail", Fetch, kindString, unsafe.Offsetof(Record{}.ErrorDetail), zeroOmitted, false, ""},

		{"title", Parse, kindString, unsafe.Offsetof(Record{}.Title), zeroOmitted, false, ""},
		{"description", Parse, kindString, unsafe.Offsetof(Record{}.Description), zeroOmitted, false, ""},
		{"keywords", Parse, kindString, unsafe.Offsetof(Record{}.Keywords), zeroOmitted, false, ""},
		{"lang", Parse, kindString, unsafe.Offsetof(Record{}.Lang), zeroOmitted, false, ""},
		{"text", Parse, kindString, unsafe.Offsetof(Record{}.Text), zeroOmitted, false, ""},
		{"anchor_text", Parse, kindString, unsafe.Offsetof(Record{}.AnchorText), zeroOmitted, false, ""},
		{"out_degree", Parse, kindInt, unsafe.Offsetof(Record{}.OutDegree), zeroWritten, false, ""},
		{"links", Parse, kindLinks, unsafe.Offsetof(Record{}.Links), zeroWritten, false, ""},
		{"canonical", Parse, kindString, unsafe.Offsetof(Record{}.Canonical), zeroOmitted, false, ""},
		{"robots_meta", Parse, kindString, unsafe.Offsetof(Record{}.RobotsMeta), zeroOmitted, false, ""},
		{"simhash", Parse, kindString, unsafe.Offsetof(Record{}.Simhash), zeroOmitted, false, ""},
		{"fields", Parse, kindValues, unsafe.Offsetof(Record{}.Fields), zeroOmitted, false, ""},

		{"score", Score, kindFloat, unsafe.Offsetof(Record{}.Score), zeroOmitted, false, ""},
		{"scores", Score, kindScores, unsafe.Offsetof(Record{}.Scores), zeroOmitted, false, ""},
		{"relevant", Score, kindBool, unsafe.Offsetof(Record{}.Relevant), zeroOmitted, false, ""},

		{"body", Body, kindString, unsafe.Offsetof(Record{}.Body), zeroOmitted, false, ""},
		{"body_base64", Body, kindString, unsafe.Offsetof(Record{}.BodyBase64), zeroOmitted, false, ""},
	})

	redirectObject = newObject(unsafe.Offsetof(Redirect{}.extra), []field{
		{"url", 0, kindString, unsafe.Offsetof(Redirect{}.URL), zeroWritten, false, ""},
		{"status_code", 0, kindInt, unsafe.Offsetof(Redirect{}.StatusCode), zeroWritten, false, ""},
	})

	linkObject = newObject(unsafe.Offsetof(Link{}.extra), []field{
		{"url", 0, kindString, unsafe.Offsetof(Link{}.URL), zeroWritten, false, ""},
		{"anchor", 0, kindString, unsafe.Offsetof(Link{}.Anchor), zeroOmitted, false, ""},
		{"context", 0, kindString, unsafe.Offsetof(Link{}.Context), zeroOmitted, false, ""},
		{"rel", 0, kindString, unsafe.Offsetof(Link{}.Rel), zeroOmitted, false, ""},
		{"hreflang", 0, kindString, unsafe.Offsetof(Link{}.Hreflang), zeroOmitted, false, ""},
		{"tag", 0, kindString, unsafe.Offsetof(Link{}.Tag), zeroOmitted, false, ""},
		{"path", 0, kindString, unsafe.Offsetof(Link{}.Path), zeroOmitted, false, ""},
		{"archived", 0, kindBool, unsafe.Offsetof(Link{}.Archived), zeroOmitted, false, ""},
		{"score", 0, kindFloat, unsafe.Offsetof(Link{}.Score), zeroOmitted, false, ""},
		{"scores", 0, kindScores, unsafe.Offsetof(Link{}.Scores), zeroOmitted, false, ""},
		{"lastmod", 0, kindString, unsafe.Offsetof(Link{}.LastMod), zeroOmitted, false, ""},
		{"priority", 0, kindFloat, unsafe.Offsetof(Link{}.Priority), zeroOmitted, false, ""},
	})
)

// recordSections holds the fields of each section.
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

func newObject(extra uintptr, fields []field) *object {
	o := &object{fields: fields, extra: extra}
	for i := range fields {
		fields[i].label = `"` + fields[i].name + `":`
		h := hash(fields[i].name)
		for o.index[h%indexSize] != 0 {
			h++
		}
		o.index[h%indexSize] = uint8(i + 1)
	}
	return o
}

// hash spreads the names of the fields; it need not spread anything else.
func hash(name string) uint {
	if name == "" {
		return 0
	}
	n := len(name)
	return uint(n) + uint(name[0])*7 + uint(name[n-1])*31 + uint(name[n/2])*61
}

// find returns the field called name, or nil.
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

// in returns the field's value in the struct at base, which must have the type T.
func in[T any](f *field, base unsafe.Pointer) *T { return (*T)(unsafe.Add(base, f.at)) }

// isZero tells whether the field of the struct at base is absent.
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

// clear makes the field of the struct at base absent, or null where a null is
// told apart; slices keep their capacity.
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
