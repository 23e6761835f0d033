package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// same compares the fields of records, not the lines they were read from.
var same = cmp.Options{cmpopts.IgnoreFields(Record{}, "raw"), cmp.AllowUnexported(Link{}, Redirect{}), cmpopts.EquateEmpty()}

// read returns all records of a stream and the errors of its bad lines.
func read(t *testing.T, src io.Reader, want Section) (recs []*Record, bad []string) {
	t.Helper()
	r := NewReader(src, want)
	var rec Record
	for {
		err := r.Read(&rec)
		if err == io.EOF {
			return recs, bad
		}
		if syntax, ok := errors.AsType[*SyntaxError](err); ok {
			bad = append(bad, syntax.Error())
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec.Clone())
	}
}

func readOne(t *testing.T, line string, want Section) *Record {
	t.Helper()
	recs, bad := read(t, strings.NewReader(line), want)
	if len(recs) != 1 || len(bad) != 0 {
		t.Fatalf("%s: %d records, errors %q", line, len(recs), bad)
	}
	return recs[0]
}

func write(t *testing.T, recs ...*Record) string {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, r := range recs {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// full returns a record in which every field is set.
func full() *Record {
	return &Record{
		V: 1, URL: "http://example.org/ä", Generation: 4, Depth: 2, Via: "http://example.org/",
		Parents: []string{"http://a.example/", "http://b.example/"}, Operator: "crossover", Priority: Num(-0.25),
		Niche: "example.org", Query: "weaver \"ants\"", Retries: 1, Cost: 2, Reasons: []Scored{{"fitness", 0.25}, {"rank", 3}},

		FinalURL:  "http://www.example.org/ä",
		Redirects: []Redirect{{"http://example.org/ä", 301, `"why":"moved"`}}, Timestamp: "2026-11-20T07:11:00.000Z",
		StatusCode: 200, Headers: []Values{{"content-type", []string{"text/html"}}, {"vary", []string{"cookie", "accept"}}},
		ContentType: "text/html", Charset: "utf-8", ContentLength: 1 << 40, Truncated: "length", FetchMS: 120, IP: "192.0.2.1",
		Digest: "sha1:AAAA", WARCFilename: "a.warc.gz", WARCOffset: 17, WARCLength: 99, NotBefore: "2026-11-20T08:00:00Z",
		Error: ErrorTooLarge, ErrorDetail: "more than 10 MiB",

		Title: "Ants", Description: "d", Keywords: "k", Lang: "en", Text: "weaver\nants \\ \u2028 <&> \x00 \x7f 🐜",
		AnchorText: "nests", OutDegree: 2,
		Links: []Link{
			{URL: "http://a.example/", Anchor: "nests", Context: "their nests", Rel: "nofollow", Hreflang: "de", Tag: "a", Path: "html body a",
				Archived: False, Score: Num(0.5), Scores: []Scored{{"bm25", 1e-7}, {"vsm", 1e21}}, extra: `"x":[1, 2],"y":{}`},
			{URL: "http://b.example/", Archived: True, Score: Float{Kind: Null}},
		},
		Canonical: "http://example.org/c", RobotsMeta: "noindex", Simhash: "00ff00ff00ff00ff", NeedsBrowser: True, CharsetGuessed: True,
		Fields: []Values{{"author", []string{"A", "B"}}, {"none", nil}},

		Score: Num(0.1), Scores: []Scored{{"vsm", 0.1}}, Relevant: True,
		Body: "<p class=\"x\">\t\\\"\\\\</p>\n", BodyBase64: "AA==",
	}
}

func TestRoundTrip(t *testing.T) {
	for _, rec := range []*Record{
		full(),
		{V: 1, URL: "http://example.org/"},
		{V: 1, Query: "ants"},
		{V: 1, URL: "u", Priority: Float{Kind: Null}, Score: Num(math.MaxFloat64), Relevant: Bool{Kind: Null}},
		{V: 1, URL: "u", Score: Num(math.SmallestNonzeroFloat64), Priority: Num(math.Copysign(0, -1))},
		{V: 1, URL: "u", StatusCode: 999, ContentLength: maxSize, FetchMS: maxSize, Depth: MaxCount},
	} {
		line := write(t, rec)
		got := readOne(t, line, All)
		if diff := cmp.Diff(rec, got, same); diff != "" {
			t.Errorf("%s\n%s", line, diff)
		}
		for i, fields := range recordSections {
			if rec.has(fields) {
				got.Touch(1 << i)
			}
		}
		if again := write(t, got); again != line {
			t.Errorf("encoded again:\n%s\n%s", line, again)
		}
	}
}

func TestFieldOrder(t *testing.T) {
	for _, tt := range []struct {
		rec  *Record
		want string
	}{
		{&Record{URL: "u"}, `{"v":1,"url":"u","generation":0,"depth":0}`},
		{&Record{Query: "q"}, `{"v":1,"query":"q"}`},
		{&Record{URL: "u", Query: "q", V: 2}, `{"v":2,"url":"u","generation":0,"depth":0,"query":"q"}`},
		{&Record{URL: "u", Priority: Float{Kind: Null}}, `{"v":1,"url":"u","generation":0,"depth":0,"priority":null}`},
		{&Record{URL: "u", StatusCode: 204}, `{"v":1,"url":"u","generation":0,"depth":0,"status_code":204,"content_length":0,"fetch_ms":0}`},
		{&Record{URL: "u", Error: ErrorDNS}, `{"v":1,"url":"u","generation":0,"depth":0,"error":"dns"}`},
		{&Record{URL: "u", WARCFilename: "w"}, `{"v":1,"url":"u","generation":0,"depth":0,"warc_filename":"w","warc_offset":0}`},
		{&Record{URL: "u", Title: "<a&b>"}, `{"v":1,"url":"u","generation":0,"depth":0,"title":"<a&b>","out_degree":0,"links":[]}`},
		{&Record{URL: "u", Score: Num(0)}, `{"v":1,"url":"u","generation":0,"depth":0,"score":0}`},
		{&Record{URL: "u", Relevant: False}, `{"v":1,"url":"u","generation":0,"depth":0,"relevant":false}`},
		{&Record{URL: "u", Body: "b", Title: "t", Links: []Link{{}}}, `{"v":1,"url":"u","generation":0,"depth":0,"title":"t","out_degree":0,"links":[{"url":""}],"body":"b"}`},
		{&Record{URL: "a\xffb\"\\\b\f\n\r\t\x01/"}, `{"v":1,"url":"a` + "\ufffd" + `b\"\\\b\f\n\r\t\u0001/","generation":0,"depth":0}`},
		{&Record{URL: strings.Repeat("\x1f", 3000)}, `{"v":1,"url":"` + strings.Repeat(`\u001f`, 3000) + `","generation":0,"depth":0}`},
	} {
		before := *tt.rec
		if got := write(t, tt.rec); got != tt.want+"\n" {
			t.Errorf("got  %swant %s", got, tt.want)
		}
		if diff := cmp.Diff(&before, tt.rec, same); diff != "" {
			t.Errorf("writing changed the record: %s", diff)
		}
	}
}

// stream holds records of all kinds, malformed lines and empty lines.
const stream = `{"v":1,"url":"http://a/"}

{"url":"http://b/","body":"x\"y\\"} 
{"url":
[1]
  {"query":"q" , "body" : "z" , "later":[{"a":"b"}]}
	
{"url":"http://c/","links":[{"url":"http://d/"}]}
nonsense
{"url":"http://e/"}`

func TestReadInPieces(t *testing.T) {
	want, wantBad := read(t, strings.NewReader(stream), All)
	if len(want) != 5 || len(wantBad) != 3 {
		t.Fatalf("%d records, errors %q", len(want), wantBad)
	}
	crlf := strings.ReplaceAll(stream, "\n", "\r\n")
	for name, src := range map[string]io.Reader{
		"with a last newline":       strings.NewReader(stream + "\n"),
		"with many":                 strings.NewReader(stream + "\n\n\r\n"),
		"with carriage returns":     strings.NewReader(crlf),
		"one byte at a time":        iotest.OneByteReader(strings.NewReader(crlf)),
		"half of what was asked":    iotest.HalfReader(strings.NewReader(stream)),
		"with the end beside bytes": iotest.DataErrReader(strings.NewReader(stream)),
		"line by line":              &lineReader{lines: strings.SplitAfter(stream, "\n")},
	} {
		got, bad := read(t, src, All)
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(wantBad, bad); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A lineReader returns one line from each Read, and sometimes nothing.
type lineReader struct {
	lines []string
	idle  bool
}

func (r *lineReader) Read(p []byte) (int, error) {
	if r.idle = !r.idle; r.idle {
		return 0, nil
	}
	if len(r.lines) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.lines[0])
	if r.lines[0] = r.lines[0][n:]; r.lines[0] == "" {
		r.lines = r.lines[1:]
	}
	return n, nil
}

func TestLongLines(t *testing.T) {
	var recs []*Record
	for i, n := range []int{1 << 20, 3, 1 << 18, 1<<18 - 20, 5000, 3 << 20, 10, 70000, 1} {
		recs = append(recs, &Record{V: 1, URL: fmt.Sprint(i), Body: strings.Repeat("x\"", n/2)})
	}
	in := write(t, recs...)
	for _, src := range []io.Reader{strings.NewReader(in), iotest.HalfReader(strings.NewReader(in))} {
		got, bad := read(t, src, All)
		if diff := cmp.Diff(recs, got, same); diff != "" || bad != nil {
			t.Fatalf("errors %q: %.500s", bad, diff)
		}
	}
}

var badLines = []struct{ line, want string }{
	{`x`, "'x' at byte 1 where { is expected"},
	{`[]`, "'[' at byte 1 where { is expected"},
	{`null`, "'n' at byte 1 where { is expected"},
	{`"url"`, "a string at byte 1 where { is expected"},
	{`{`, "unexpected end of the record"},
	{`{}`, "the record has neither url nor query"},
	{`{"url":""}`, "the record has neither url nor query"},
	{`{"URL":"u"}`, "the record has neither url nor query"},
	{`{"url":null}`, "the record has neither url nor query"},
	{`{"url":"u"`, "unexpected end of the record"},
	{`{"url":"u`, "url: unexpected end of the record"},
	{`{"url":"u\`, `url: '\\' at byte 10 where a valid escape is expected`},
	{`{"url`, "unexpected end of the record"},
	{`{"url"}`, "'}' at byte 7 where a colon is expected"},
	{`{"url":"u",}`, "'}' at byte 12 where a quoted name is expected"},
	{`{"url":"u"}}`, "'}' at byte 12 where the end of the line is expected"},
	{`{"url":"u"} {"url":"v"}`, "'{' at byte 13 where the end of the line is expected"},
	{`{"url":"u" "v":1}`, "a string at byte 12 where a comma or } is expected"},
	{`{url:"u"}`, "'u' at byte 2 where a quoted name is expected"},
	{`{"url":1}`, "url: '1' at byte 8 where a string is expected"},
	{`{"url":["u"]}`, "url: '[' at byte 8 where a string is expected"},
	{`{"url":"\x"}`, `url: '\\' at byte 9 where a valid escape is expected`},
	{`{"url":"\u12g4"}`, `url: '\\' at byte 9 where a valid escape is expected`},
	{"{\"url\":\"a\tb\"}", `url: '\t' at byte 10 where a string without control characters is expected`},
	{"{\"url\":\"a\xffb\"}", "url: invalid UTF-8"},
	{"{\"url\":\"a\\n\xed\xa0\x80\"}", "url: invalid UTF-8"},
	{"{\"url\":\"u\",\xff}", "byte 0xff at 12 where a quoted name is expected"},
	{`{"url":"u","depth":1.5}`, "depth: 1.5 is not a whole number"},
	{`{"url":"u","depth":25e-1}`, "depth: 25e-1 is not a whole number"},
	{`{"url":"u","depth":1e-99999999999999999999}`, "depth: 1e-99999999999999999999 is not a whole number"},
	{`{"url":"u","depth":1.00000000000000000000001}`, "depth: 1.00000000000000000000001 is not a whole number"},
	{`{"url":"u","depth":1e99999999999999999999}`, "depth: 1e99999999999999999999 is out of range"},
	{`{"url":"u","depth":1.}`, "depth: '}' at byte 22 where a digit is expected"},
	{`{"url":"u","depth":99999999999999999999}`, "depth: 99999999999999999999 is out of range"},
	{`{"url":"u","depth":"1"}`, "depth: a string at byte 20 where a number is expected"},
	{`{"url":"u","depth":01}`, "'1' at byte 21 where a comma or } is expected"},
	{`{"url":"u","depth":-}`, "depth: '}' at byte 21 where a number is expected"},
	{`{"url":"u","depth":+1}`, "depth: '+' at byte 20 where a number is expected"},
	{`{"url":"u","score":1.}`, "score: '}' at byte 22 where a digit is expected"},
	{`{"url":"u","score":.1}`, "score: '.' at byte 20 where a number is expected"},
	{`{"url":"u","score":1e}`, "score: '}' at byte 22 where a digit is expected"},
	{`{"url":"u","score":1e999}`, "score: 1e999 is out of range"},
	{`{"url":"u","score":NaN}`, "score: 'N' at byte 20 where a number is expected"},
	{`{"url":"u","score":true}`, "score: 't' at byte 20 where a number is expected"},
	{`{"url":"u","relevant":1}`, "relevant: '1' at byte 23 where true or false is expected"},
	{`{"url":"u","relevant":tru}`, "relevant: 't' at byte 23 where a value is expected"},
	{`{"url":"u","title":nul}`, "title: 'n' at byte 20 where a value is expected"},
	{`{"url":"u","parents":"p"}`, "parents: a string at byte 22 where [ is expected"},
	{`{"url":"u","parents":["p",]}`, "parents: ']' at byte 27 where a string is expected"},
	{`{"url":"u","parents":["p" "q"]}`, "parents: a string at byte 27 where a comma or ] is expected"},
	{`{"url":"u","headers":{"a":"b"}}`, "headers: a string at byte 27 where [ is expected"},
	{`{"url":"u","headers":["b"]}`, "headers: '[' at byte 22 where { is expected"},
	{"{\"url\":\"u\",\"headers\":{\"\xff\":[]}}", "headers: invalid UTF-8"},
	{`{"url":"u","scores":{"a":"b"}}`, "scores: a string at byte 26 where a number is expected"},
	{`{"url":"u","links":[{"url":1}]}`, "links: url: '1' at byte 28 where a string is expected"},
	{`{"url":"u","links":[1]}`, "links: '1' at byte 21 where { is expected"},
	{`{"url":"u","links":[{"x":tru}]}`, "links: 't' at byte 26 where a value is expected"},
	{`{"url":"u","redirects":[{"status_code":"301"}]}`, "redirects: status_code: a string at byte 40 where a number is expected"},
	{`{"url":"u","body":1}`, "body: '1' at byte 19 where a string is expected"},
	{`{"url":"u","x":}`, "'}' at byte 16 where a value is expected"},
	{`{"url":"u","x":{"a":1,}}`, "'}' at byte 23 where a quoted name is expected"},
	{`{"url":"u","x":"\q"}`, `'\\' at byte 17 where a valid escape is expected`},
	{"{\"url\":\"u\",\"x\":\"\x01\"}", `'\x01' at byte 17 where a string without control characters is expected`},
	{`{"url":"u","x":[[1,2}]`, "'}' at byte 21 where a comma or ] is expected"},
	{`{"url":"u","x":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}`, "values are nested too deeply"},
}

func TestWholeNumberWithFractionOrExponent(t *testing.T) {
	for written, want := range map[string]int{
		"200.0": 200, "2E2": 200, "2e+2": 200, "2.0e2": 200, "20000e-2": 200, "0.02e4": 200, "1.25e2": 125,
		"0.0": 0, "-0.0e5": 0, "0e99999999999999999999": 0, "0e-99999999999999999999": 0, "2" + strings.Repeat("0", 32) + "e-30": 200,
	} {
		for _, section := range []Section{Address, Score} { // decoded, and only checked
			rec := readOne(t, `{"url":"u","depth":`+written+`,"status_code":`+written+`}`, section)
			if rec.StatusCode != want || section == Address && rec.Depth != want {
				t.Errorf("%s: status_code %d and depth %d, want %d", written, rec.StatusCode, rec.Depth, want)
			}
		}
	}
}

func TestByteOrderMarkBeforeRecords(t *testing.T) {
	const mark = "\uFEFF"
	recs, bad := read(t, strings.NewReader(mark+"{\"url\":\"a\"}\n"+mark+" {\"url\":\"b\"}\n"+mark+"\r\n"+mark+"{\"url\":\"c\"}"), All)
	if len(recs) != 3 || recs[0].URL != "a" || recs[1].URL != "b" || recs[2].URL != "c" || bad != nil {
		t.Errorf("%d records and the errors %q", len(recs), bad)
	}
	var rec Record
	if err := rec.Unmarshal([]byte(mark+`{"url":"a"}`), All); err != nil || rec.URL != "a" {
		t.Errorf("Unmarshal: %q, %v", rec.URL, err)
	}
}

func TestMalformedLine(t *testing.T) {
	for _, tt := range badLines {
		recs, bad := read(t, strings.NewReader("{\"url\":\"a\"}\n"+tt.line+"\n{\"url\":\"b\"}\n"), All)
		if len(recs) != 2 || recs[0].URL != "a" || recs[1].URL != "b" {
			t.Errorf("%.100s: %d records", tt.line, len(recs))
		}
		if want := []string{"line 2: " + tt.want}; !cmp.Equal(bad, want) {
			t.Errorf("%.100s: got %q, want %q", tt.line, bad, want)
		}
	}
}

func TestUnwantedSectionsAreNotDecoded(t *testing.T) {
	rec := readOne(t, `{"url":"u","query":"q","depth":"x","error":"dns","status_code":500,"links":7,"body":"\q"}`, Score)
	want := &Record{URL: "u", Query: "q", Error: "dns", StatusCode: 500}
	if diff := cmp.Diff(want, rec, same); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeValues(t *testing.T) {
	for _, tt := range []struct {
		members string
		want    Record
	}{
		{`"title":"\u00e4\ud83d\udc1c\/\b\f\n\r\t\"\\"`, Record{Title: "ä🐜/\b\f\n\r\t\"\\"}},
		{`"title":"\ud83dx"`, Record{Title: "\ufffdx"}},
		{`"title":"\udc1c\ud83d"`, Record{Title: "\ufffd\ufffd"}},
		{`"title":"\ud83d\n\ud83d\ud83d\udc1c"`, Record{Title: "\ufffd\n\ufffd🐜"}},
		{`"title":"\uD83D\uDC1C"`, Record{Title: "🐜"}},
		{`"title":"a","title":"b"`, Record{Title: "b"}},
		{`"title":"a","title":null`, Record{}},
		{`"ti\u0074le":"a"`, Record{Title: "a"}},
		{`"Title":"a"`, Record{}},
		{`"parents":["a"],"parents":["b","c"]`, Record{Parents: []string{"b", "c"}}},
		{`"parents":[null,"c"]`, Record{Parents: []string{"", "c"}}},
		{`"headers":{"b":["1"],"a":["2",null],"b":["3"],"c":null}`, Record{Headers: []Values{{"a", []string{"2", ""}}, {"b", []string{"3"}}}}},
		{`"scores":{"b":1,"a":-0.5e-1,"c":null,"b":3}`, Record{Scores: []Scored{{"a", -0.05}, {"b", 3}}}},
		{`"priority":null,"score":null,"relevant":null`, Record{Priority: Float{Kind: Null}, Score: Float{Kind: Null}, Relevant: Bool{Kind: Null}}},
		{`"links":[null,{"archived":false,"x":1},{ "x" : 1 , "y":"}" , "url":"l"}]`,
			Record{Links: []Link{{URL: "l", extra: `"x" : 1 , "y":"}"`}}}},
		{`"links":[{"x":1,"url":"l","y":[2]}]`, Record{Links: []Link{{URL: "l", extra: `"x":1,"y":[2]`}}}},
		{`"depth":-0,"retries":2147483647`, Record{Retries: math.MaxInt32}},
		{`"x":[{"":{}},[],-1.5E+3,true,false,null,"\u0000"]`, Record{}},
	} {
		want := tt.want
		want.URL = "u"
		got := readOne(t, ` { "url" : "u" , `+tt.members+` } `, All)
		if diff := cmp.Diff(&want, got, same); diff != "" {
			t.Errorf("%s: %s", tt.members, diff)
		}
	}
}

func TestUntouchedSectionsAreCopied(t *testing.T) {
	const line = `{ "x" : [1, 2] ,"url":"u","body":"b\/\q\"", "title" : "\u0061","depth": 0,"score":1.0, "body_base64" :null,"y":"<>"}`
	for _, tt := range []struct {
		change func(*Record)
		want   string
	}{
		{func(*Record) {}, line},
		{func(r *Record) { r.Title = "never written" }, line},
		{func(r *Record) { r.Score = Num(0.5); r.Touch(Score) },
			`{"x" : [1, 2],"url":"u","title" : "\u0061","depth": 0,"y":"<>","score":0.5,"body":"b\/\q\"","body_base64" :null}`},
		{func(r *Record) { r.Touch(Address) },
			`{"x" : [1, 2],"title" : "\u0061","score":1.0,"y":"<>","v":1,"url":"u","generation":0,"depth":0,"body":"b\/\q\"","body_base64" :null}`},
		{func(r *Record) { r.Drop(Body) },
			`{"x" : [1, 2],"url":"u","title" : "\u0061","depth": 0,"score":1.0,"y":"<>"}`},
		{func(r *Record) { r.Drop(Body | Score); r.Title = "t"; r.Touch(Parse) },
			`{"x" : [1, 2],"url":"u","depth": 0,"y":"<>","title":"t","out_degree":0,"links":[]}`},
		{func(r *Record) { r.SetBody([]byte("new")) },
			`{"x" : [1, 2],"url":"u","title" : "\u0061","depth": 0,"score":1.0,"y":"<>","body":"new"}`},
		{func(r *Record) { r.SetBody([]byte("\xff")) },
			`{"x" : [1, 2],"url":"u","title" : "\u0061","depth": 0,"score":1.0,"y":"<>","body_base64":"/w=="}`},
		{func(r *Record) { r.Touch(All) },
			`{"x" : [1, 2],"y":"<>","v":1,"url":"u","generation":0,"depth":0,"title":"a","out_degree":0,"links":[],"score":1}`},
		{func(r *Record) { r.Drop(All &^ Address); r.Drop(Address); r.URL = "v"; r.Touch(Address) },
			`{"x" : [1, 2],"y":"<>","v":1,"url":"v","generation":0,"depth":0}`},
	} {
		rec := readOne(t, line, Address|Parse|Score)
		tt.change(rec)
		if got := write(t, rec); got != tt.want+"\n" {
			t.Errorf("got  %swant %s", got, tt.want)
		}
		if got := write(t, rec.Clone()); got != tt.want+"\n" {
			t.Errorf("a clone: got  %swant %s", got, tt.want)
		}
	}
}

func TestLinkKeepsUnknownMembers(t *testing.T) {
	rec := readOne(t, `{"url":"u","links":[{"x":"<1>","url":"a","y":{"z":2}},{"url":"b"}],"redirects":[{"url":"r","at":"noon","status_code":302}]}`, All)
	rec.Links[1].Score = Num(1)
	rec.Touch(Parse | Fetch)
	want := `{"url":"u","redirects":[{"url":"r","status_code":302,"at":"noon"}],"out_degree":0,"links":[{"url":"a","x":"<1>","y":{"z":2}},{"url":"b","score":1}]}` + "\n"
	if got := write(t, rec); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestLargeRecordsAreCopied(t *testing.T) {
	var in strings.Builder
	for i := range 30 {
		fmt.Fprintf(&in, `{"url":"u%d","title":%q,"body":"%s"}`+"\n", i, strings.Repeat("t", i*100), strings.Repeat(`<\/\"`, i*1500))
	}
	r := NewReader(strings.NewReader(in.String()), 0)
	var out, scored bytes.Buffer
	w, ws := NewWriter(&out), NewWriter(&scored)
	var rec Record
	for r.Read(&rec) == nil {
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
		rec.Score = Num(0.5)
		rec.Touch(Score)
		if err := ws.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Flush(), ws.Flush()); err != nil {
		t.Fatal(err)
	}
	if out.String() != in.String() {
		t.Error("the records changed")
	}
	if want := strings.ReplaceAll(in.String(), `,"body"`, `,"score":0.5,"body"`); scored.String() != want {
		t.Error("more than the score changed")
	}
}

func TestReaderLimit(t *testing.T) {
	line := func(n int) string { return `{"url":"` + strings.Repeat("u", n-len(`{"url":""}`)) + `"}` }
	const limit = 1000
	for _, tt := range []struct {
		in   string
		want string // numbers of the records' lines
	}{
		{line(limit), "1"},
		{line(limit) + "\r\n" + line(limit) + "\n", "1 2"},
		{line(limit+1) + "\n" + line(limit), "- 2"},
		{line(limit+1) + "\r\n" + line(limit), "- 2"},
		{line(limit) + "\n" + line(limit+1), "1 -"},
		{line(3<<20) + "\n" + line(20) + "\n" + line(1<<20), "- 2 -"},
		{line(3<<20) + "\n\n\n" + line(20) + "\n", "- 4"},
		{strings.Repeat("x", 3<<20), "-"},
	} {
		for _, src := range []io.Reader{strings.NewReader(tt.in), iotest.HalfReader(strings.NewReader(tt.in))} {
			r := NewReader(src, Address)
			r.Limit = limit
			var rec Record
			var got []string
			for {
				err := r.Read(&rec)
				if err == io.EOF {
					break
				}
				if errors.Is(err, ErrTooLong) {
					got = append(got, "-")
				} else if err != nil {
					t.Fatal(err)
				} else {
					got = append(got, fmt.Sprint(r.line))
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("%.20s… of %d: got %s, want %s", tt.in, len(tt.in), got, tt.want)
			}
			if len(r.buf) > 2*bufferSize {
				t.Errorf("the buffer has grown to %d", len(r.buf))
			}
		}
	}
}

func TestWriterRefusesInvalidRecords(t *testing.T) {
	for _, tt := range []struct {
		rec  *Record
		want string
	}{
		{&Record{Title: "t"}, "the record has neither url nor query"},
		{&Record{URL: "u", Score: Num(math.NaN())}, "score: NaN cannot be written"},
		{&Record{URL: "u", Priority: Num(math.Inf(-1))}, "priority: -Inf cannot be written"},
		{&Record{URL: "u", Scores: []Scored{{"vsm", math.Inf(1)}}}, "scores: vsm: +Inf cannot be written"},
		{&Record{URL: "u", Links: []Link{{Score: Num(math.NaN())}}}, "links: score: NaN cannot be written"},
		{&Record{URL: strings.Repeat("u", 200)}, "record is longer than the limit of 100 bytes"},
		{&Record{URL: "u", Body: strings.Repeat("u", 200000)}, "record is longer than the limit of 100 bytes"},
	} {
		var out bytes.Buffer
		w := NewWriter(&out)
		w.Limit = 100
		for _, rec := range []*Record{{URL: "a"}, tt.rec, {URL: "b"}} {
			err := w.Write(rec)
			if rec != tt.rec && err != nil || rec == tt.rec && (err == nil || err.Error() != tt.want) {
				t.Errorf("%.20s: got %v, want %s", rec.URL, err, tt.want)
			}
		}
		w.Flush()
		if recs, bad := read(t, &out, All); len(recs) != 2 || len(bad) != 0 {
			t.Errorf("%s: %d records, errors %q", tt.want, len(recs), bad)
		}
	}
}

func TestWriteOrFailLosesNoRecord(t *testing.T) {
	const start = `{"v":1,"url":"http://a/","generation":2,"depth":3,"status_code":200`
	long := strings.Repeat("x", 1000)
	for _, test := range []struct{ line, want string }{
		{start + `,"title":"t","x":1}`, start + `,"title":"t","x":1}`},
		{start + `,"text":"` + long + `","x":1}`, start + `,"content_length":0,"fetch_ms":0,"error":"too_large","error_detail":"long","x":1}`},
		{start + `,"x":"` + long + `"}`, `{"v":1,"url":"http://a/","generation":2,"depth":3,"error":"too_large","error_detail":"long"}`},
		{`{"v":1,"url":"http://a/` + strings.Repeat("ä", maxURL) + `","operator":"o"}`, `{"v":1,"url":"http://a/` + strings.Repeat("ä", (maxURL-8)/2) + `","operator":"o","error":"too_large","error_detail":"long"}`},
		{`{"v":1,"query":"q","x":"` + long + `"}`, `{"v":1,"query":"q","error":"too_large","error_detail":"long"}`},
	} {
		rec := readOne(t, test.line, All)
		rec.Touch(Parse)
		var out strings.Builder
		w := NewWriter(&out)
		w.Limit = 300
		if len(test.line) > maxURL {
			w.Limit = maxURL + 300
		}
		if err := errors.Join(w.WriteOrFail(rec, "long"), w.Flush()); err != nil {
			t.Fatal(err)
		}
		got := new(Record)
		if err := got.Unmarshal([]byte(out.String()), All); err != nil {
			t.Fatal(err)
		}
		want := new(Record)
		if err := want.Unmarshal([]byte(test.want), All); err != nil {
			t.Fatal(err)
		}
		if got.URL != want.URL || got.Query != want.Query || got.Generation != want.Generation || got.Depth != want.Depth || got.StatusCode != want.StatusCode ||
			got.Operator != want.Operator || got.Error != want.Error || got.ErrorDetail != want.ErrorDetail || got.Title != want.Title || strings.Contains(out.String(), `"x":1`) != strings.Contains(test.want, `"x":1`) {
			t.Errorf("got  %s\nwant %s", out.String(), test.want)
		}
	}
}

func TestWriterLimit(t *testing.T) {
	line := `{"url":"u","body":"` + strings.Repeat("x", 100000) + `"}`
	touched := strings.Replace(line, `,"body"`, `,"score":1,"body"`, 1)
	rec := readOne(t, line, Address)
	for _, want := range []string{line, touched} {
		w := NewWriter(io.Discard)
		if w.Limit = len(want); w.Write(rec) != nil {
			t.Error("a line as long as the limit was refused")
		}
		if w.Limit = len(want) - 1; !errors.Is(w.Write(rec), ErrTooLong) {
			t.Error("a line longer than the limit was not refused")
		}
		rec.Score = Num(1)
		rec.Touch(Score)
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	src := io.MultiReader(strings.NewReader("{\"url\":\"a\"}\n{\"url\":\"b\"}"), iotest.ErrReader(broken))
	r := NewReader(src, All)
	var rec Record
	if err := r.Read(&rec); err != nil || rec.URL != "a" {
		t.Fatal(rec.URL, err)
	}
	for range 2 {
		err := r.Read(&rec)
		if !errors.Is(err, broken) || err.Error() != "reading records after line 1: disk on fire" {
			t.Errorf("got %v", err)
		}
	}
}

func TestWriteError(t *testing.T) {
	broken := errors.New("disk full")
	w := NewWriter(writerFunc(func([]byte) (int, error) { return 0, broken }))
	if err := w.Write(&Record{URL: "u"}); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := w.Flush(); err != broken {
			t.Error(err)
		}
	}
	if err := w.Write(&Record{URL: "u"}); err != broken {
		t.Error(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestBuffered(t *testing.T) {
	pieces := &lineReader{lines: []string{"{\"url\":\"a\"}\n\n{\"url\":\"b\"}\n \r\n{\"url\":", "\"c\"}\n", "\n", "{\"url\":\"d\"}"}}
	r := NewReader(pieces, All)
	if r.Buffered() {
		t.Error("before anything was read")
	}
	var rec Record
	for _, want := range []string{"a true 2", "b false 4", "c false 5", "d false 7"} {
		if err := r.Read(&rec); err != nil {
			t.Fatal(err)
		}
		buffered := r.Buffered() // may pass over empty lines
		if got := fmt.Sprint(rec.URL, " ", buffered, " ", r.line); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if err := r.Read(&rec); err != io.EOF {
		t.Error(err)
	}
}

func TestRecordsShareNoMemory(t *testing.T) {
	var in strings.Builder
	for i := range 200 {
		fmt.Fprintf(&in, `{"url":"u%d","title":"\n%d","body":"%s"}`+"\n", i, i, strings.Repeat(fmt.Sprintf("%03d", i), i*97%9000))
	}
	r := NewReader(strings.NewReader(in.String()), All)
	var recs [7]Record
	var out bytes.Buffer
	w := NewWriter(&out)
	for i := range 200 {
		if i >= len(recs) {
			w.Write(&recs[i%len(recs)])
		}
		if err := r.Read(&recs[i%len(recs)]); err != nil {
			t.Fatal(err)
		}
	}
	for i := 200; i < 200+len(recs); i++ {
		rec := &recs[i%len(recs)]
		if n := i - len(recs); rec.URL != fmt.Sprintf("u%d", n) || rec.Title != fmt.Sprintf("\n%d", n) {
			t.Errorf("record %d has become %s", n, rec.URL)
		}
		w.Write(rec)
	}
	w.Flush()
	if out.String() != in.String() {
		t.Error("a record was overwritten")
	}
}

func TestClone(t *testing.T) {
	line := write(t, full())
	r := NewReader(strings.NewReader(line+line), All)
	var rec Record
	if err := r.Read(&rec); err != nil {
		t.Fatal(err)
	}
	c := rec.Clone()
	for _, memory := range [][]byte{rec.raw.buf, rec.raw.arena[:cap(rec.raw.arena)], rec.raw.line} {
		for i := range memory {
			memory[i] = '#'
		}
	}
	rec.Parents[0], rec.Links[0].Scores[0].Value, rec.Headers[0].Values[0], rec.Fields[0].Name = "#", 9, "#", "#"
	if diff := cmp.Diff(full(), c, same); diff != "" {
		t.Error(diff)
	}
	if got := write(t, c); got != line {
		t.Errorf("got  %swant %s", got, line)
	}
}

func TestReset(t *testing.T) {
	rec := full()
	rec.SetBody([]byte("b"))
	rec.Drop(Score)
	rec.Reset()
	if diff := cmp.Diff(&Record{}, rec, same); diff != "" {
		t.Error(diff)
	}
	rec.URL = "u"
	if got, want := write(t, rec), "{\"v\":1,\"url\":\"u\",\"generation\":0,\"depth\":0}\n"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestSetBody(t *testing.T) {
	for _, body := range []string{"", "text", "ä\x00\n", "\xff\xfe", "GIF89a\x80"} {
		rec := &Record{URL: "u"}
		rec.SetBody([]byte(body))
		for _, r := range []*Record{rec, rec.Clone(), readOne(t, write(t, rec), All)} {
			got, err := r.Bytes()
			if err != nil || string(got) != body {
				t.Errorf("%q became %q, %v", body, got, err)
			}
		}
	}
	if b, err := (&Record{}).Bytes(); b != nil || err != nil {
		t.Errorf("no body is %q, %v", b, err)
	}
	if _, err := (&Record{BodyBase64: "*"}).Bytes(); err == nil || !strings.HasPrefix(err.Error(), "body_base64: ") {
		t.Errorf("got %v", err)
	}
}

func TestFinal(t *testing.T) {
	for _, tt := range []struct {
		rec            Record
		outcome, final bool
	}{
		{Record{}, false, false},
		{Record{StatusCode: 200}, true, true},
		{Record{StatusCode: 304}, true, true},
		{Record{StatusCode: 404}, true, true},
		{Record{StatusCode: 429}, true, false},
		{Record{StatusCode: 500}, true, false},
		{Record{StatusCode: 599}, true, false},
		{Record{Error: ErrorRobots}, true, true},
		{Record{Error: ErrorDNS}, true, false},
		{Record{Error: ErrorConnect}, true, false},
		{Record{Error: ErrorTLS}, true, false},
		{Record{Error: ErrorTimeout}, true, false},
		{Record{Error: ErrorHTTP}, true, false},
		{Record{Error: ErrorTooLarge, StatusCode: 503}, true, true},
		{Record{Error: ErrorNotArchived}, true, true},
		{Record{Error: ErrorBlockedAddress}, true, true},
		{Record{Error: ErrorBadURL}, true, true},
		{Record{Error: ErrorRedirectLoop, StatusCode: 302}, true, true},
		{Record{Error: ErrorUnsupportedType, StatusCode: 200}, true, true},
		{Record{Error: ErrorBudget}, true, false},
		{Record{Error: ErrorTrapCalendar}, true, true},
		{Record{Error: ErrorNicheBudget}, true, true},
		{Record{Error: "unheard_of"}, true, false},
	} {
		if got := tt.rec.IsOutcome(); got != tt.outcome {
			t.Errorf("%d %s: outcome %v", tt.rec.StatusCode, tt.rec.Error, got)
		}
		if got := tt.rec.Final(); got != tt.final {
			t.Errorf("%d %s: final %v", tt.rec.StatusCode, tt.rec.Error, got)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	full := full()
	full.Redirects[0].extra = ""
	in := strings.Repeat(write(t, full, &Record{URL: "u"}, &Record{URL: "u", Body: strings.Repeat("\"page\"\n", 20000)}), 10)
	src := strings.NewReader(in)
	r := NewReader(src, All)
	w := NewWriter(io.Discard)
	var rec Record
	run := func() {
		src.Reset(in)
		r.err = nil
		for r.Read(&rec) == nil {
			rec.Touch(Score | Parse | Body)
			if err := w.Write(&rec); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
	}
	run()
	if n := testing.AllocsPerRun(5, run); n > 0 {
		t.Errorf("%v allocations for 30 records", n)
	}
}

func TestBriefKeepsSimhashAndNeedsBrowser(t *testing.T) {
	for in, want := range map[string]string{
		`{"v":1,"url":"u","status_code":200,"title":"t","links":[],"simhash":"0123456789abcdef","text":"x","score":1,"new":2,"body":"b"}`: `{"v":1,"url":"u","status_code":200,"simhash":"0123456789abcdef","score":1,"new":2}`,
		`{"v":1,"url":"u","text":"x"}`:                                  `{"v":1,"url":"u"}`,
		`{"v":1,"url":"u","text":"x","needs_browser":true,"fields":{}}`: `{"v":1,"url":"u","needs_browser":true}`,
		`{"v":1,"url":"u","simhash":"` + strings.Repeat("x", 99) + `"}`: `{"v":1,"url":"u"}`,
	} {
		var rec Record
		if err := NewReader(strings.NewReader(in), All).Read(&rec); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			rec.Brief()
			if got := strings.TrimSuffix(write(t, &rec), "\n"); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

// A whole string of the line is copied, a part of one is not.
func TestStringsOfTheLineAreCopied(t *testing.T) {
	const line = `{"url":"http://a.test/","title":"äöü","links":[{"url":"http://b.test/","anchor":"ab","path":"a/b"}]}`
	rec, err := readLine([]byte(line), All)
	if err != nil {
		t.Fatal(err)
	}
	rec.Title = rec.Title[1:3]
	rec.Links[0].Anchor = rec.Links[0].Anchor[1:]
	rec.Links[0].Context = rec.Links[0].Path[:2]
	rec.Links[0].Tag = rec.Title[2:]
	rec.Touch(Parse)
	var out strings.Builder
	w := NewWriter(&out)
	if err := errors.Join(w.Write(rec), w.Flush()); err != nil {
		t.Fatal(err)
	}
	const want = `{"url":"http://a.test/","title":"` + "\uFFFD\uFFFD" + `","out_degree":0,"links":[{"url":"http://b.test/","anchor":"b","context":"a/","path":"a/b"}]}` + "\n"
	if out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
	for _, s := range []string{rec.URL, rec.Links[0].Path} {
		if got := string(rec.raw.quoted(s)); got != `"`+s+`"` {
			t.Errorf("%s stands in the line as %s", s, got)
		}
	}
	for _, s := range []string{rec.URL[1:], rec.URL[:4], line, ""} {
		if got := rec.raw.quoted(s); got != nil {
			t.Errorf("%q stands in the line as %s", s, got)
		}
	}
}
