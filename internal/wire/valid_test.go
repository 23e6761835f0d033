package wire

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValuesOutsideOfTheirRangeAreRefusedByEveryStage(t *testing.T) {
	lines := map[string]string{ // by field, the wrong value and the reason
		"v":              "2 is out of range: it must be from 1 to 1",
		"generation":     "-1 is out of range: it must be from 0 to 2147483647",
		"depth":          "-5 is out of range: it must be from 0 to 2147483647",
		"revision":       "-1 is out of range: it must be from 0 to 2147483647",
		"retries":        "2147483648 is out of range: it must be from 0 to 2147483647",
		"cost":           "-1 is out of range: it must be from 0 to 2147483647",
		"visits":         "-1 is out of range: it must be from 0 to 2147483647",
		"interval":       "-1 is out of range: it must be from 0 to 2147483647",
		"status_code":    "99999999999 is out of range: it must be from 100 to 999",
		"content_length": "-1 is out of range: it must be from 0 to 9007199254740991",
		"fetch_ms":       "9007199254740992 is out of range: it must be from 0 to 9007199254740991",
		"warc_offset":    "-1 is out of range: it must be from 0 to 9007199254740991",
		"warc_length":    "-1 is out of range: it must be from 0 to 9007199254740991",
		"out_degree":     "-1 is out of range: it must be from 0 to 2147483647",
		"timestamp":      `"yesterday" is not a time in the format of RFC 3339`,
		"not_before":     `"99999-01-01T00:00:00Z" is not a time in the format of RFC 3339`,
	}
	for name := range recordValues {
		if lines[name] == "" {
			t.Errorf("%s is not tested", name)
		}
	}
	for name, reason := range lines {
		value, _, _ := strings.Cut(reason, " is ")
		line := fmt.Sprintf(`{"url":"u","%s":%s}`, name, value)
		for _, want := range []Section{0, Address, Fetch, Parse, Score, All} {
			recs, bad := read(t, strings.NewReader(line), want)
			if len(recs) != 0 || !cmp.Equal(bad, []string{"line 1: " + name + ": " + reason}) {
				t.Errorf("%s, sections %b: %d records, errors %q", line, want, len(recs), bad)
			}
		}
	}
	if _, bad := read(t, strings.NewReader(`{"url":"u","redirects":[{"url":"r","status_code":7}]}`), All); len(bad) != 1 {
		t.Errorf("a redirect with status 7: errors %q", bad)
	}
}

func TestValuesAtTheEndsOfTheirRangeAreAccepted(t *testing.T) {
	for _, f := range recordObject.fields {
		ends := []string{fmt.Sprint(f.valid.min), fmt.Sprint(f.valid.max), "0", "null"}
		switch {
		case f.valid.time:
			ends = []string{`"0000-01-01T00:00:00Z"`, `"9999-12-31T23:59:59.999+01:00"`, `""`, "null"}
		case f.valid == (values{}):
			continue
		}
		for _, v := range ends {
			readOne(t, fmt.Sprintf(`{"url":"u","%s":%s}`, f.name, v), All)
			readOne(t, fmt.Sprintf(`{"url":"u","%s":%s}`, f.name, v), Score)
		}
	}
}

func TestRestoreAcceptsWhatEarlierVersionsStored(t *testing.T) {
	var rec Record
	line := `{"v":2,"url":"u","generation":-1,"status_code":-9,"not_before":"later","content_length":-9223372036854775808}`
	if err := rec.Unmarshal([]byte(line), All); !errors.Is(err, errRange) {
		t.Errorf("Unmarshal: %v", err)
	}
	if err := rec.Restore([]byte(line), All); err != nil || rec.Generation != -1 || rec.NotBefore != "later" {
		t.Errorf("Restore: %v, %+v", err, rec)
	}
}

func TestLinksThatCannotBeFollowedAreDroppedAndCounted(t *testing.T) {
	line := `{"url":"u","links":[{},null,{"url":""},{"url":null},{"url":"http://a/","x":1},{"url":"javascript:void(0)"},` +
		`{"url":" \tdata:,x"},{"url":"FILE:///etc"},{"url":"mailto:a@b"},{"url":"b","anchor":"b"},{"url":"HTTPS://c/"},{"url":"/d:e"},{"url":"/` + strings.Repeat("f", maxURL) + `"}]}`
	rec := new(Record)
	if err := NewReader(strings.NewReader(line), Parse).Read(rec); err != nil {
		t.Fatal(err)
	}
	want := []Link{{URL: "http://a/", extra: `"x":1`}, {URL: "b", Anchor: "b"}, {URL: "HTTPS://c/"}, {URL: "/d:e"}}
	if diff := cmp.Diff(want, rec.Links, same); diff != "" {
		t.Error(diff)
	}
	if n := rec.DroppedLinks(); n != 9 {
		t.Errorf("%d links were dropped, want 9", n)
	}
	rec.Touch(Score)
	if got := write(t, rec); !strings.Contains(got, line[strings.Index(line, `"links"`):len(line)-1]) {
		t.Errorf("the untouched section is written as %s", got)
	}
	if rec.Reset(); rec.DroppedLinks() != 0 {
		t.Error("Reset keeps the number of dropped links")
	}
}

func TestLinesThatUnfoldTooFarAreRefused(t *testing.T) {
	repeat := func(open, element, end string) string {
		return `{"url":"u",` + open + strings.Repeat(element+",", 3<<19) + element + end + "}"
	}
	for name, line := range map[string]string{
		"links":     repeat(`"links":[`, `{"url":"a"}`, `]`),
		"redirects": repeat(`"redirects":[`, `{}`, `]`),
		"parents":   repeat(`"parents":[`, `"",""`, `]`),
		"headers":   repeat(`"headers":{`, `"":[]`, `}`),
		"fields":    repeat(`"fields":{"a":[`, `"",""`, `]}`),
		"scores":    repeat(`"scores":{`, `"":0`, `}`),
		"reasons":   repeat(`"reasons":{`, `"":0`, `}`),
		"members":   repeat(`"x":0,`, `"":0`, ``),
	} {
		var rec Record
		err := rec.Unmarshal([]byte(line), All)
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), ErrorTooLarge) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	// Links that cannot be followed take no memory.
	rec := new(Record)
	if err := NewReader(strings.NewReader(repeat(`"links":[`, `{}`, `]`)), All).Read(rec); err != nil || rec.DroppedLinks() != 3<<19+1 {
		t.Errorf("empty links: %v, %d dropped", err, rec.DroppedLinks())
	}
}

func TestTheLongestListsOfStagesAreAccepted(t *testing.T) {
	rec := &Record{V: 1, URL: "http://example.org/sitemap.xml"}
	scores := make([]Scored, 27) // of seven measures
	for i := range scores {
		scores[i] = Scored{fmt.Sprintf("%c.anchor", 'A'+i), 0.25}
	}
	for range 50_000 {
		rec.Links = append(rec.Links, Link{URL: "http://example.org/a", Score: Num(0.5), Scores: scores})
	}
	if err := NewReader(strings.NewReader(write(t, rec)), All).Read(new(Record)); err != nil && err != io.EOF {
		t.Error(err)
	}
}

// A page whose fields are malformed costs that page: its address was fetched.
func TestAnOutcomeWithMalformedFieldsIsAFailure(t *testing.T) {
	const (
		page     = `{"url":"u","depth":3,"status_code":200,"timestamp":"2026-11-25T00:00:00.000Z","x":[1],`
		fetched  = `{"url":"u","depth":3,"x":[1],"timestamp":"2026-11-25T00:00:00.000Z","status_code":200,"content_length":0,"fetch_ms":0,"error":"malformed",`
		answered = `{"url":"u","depth":3,"x":[1],"status_code":200,"content_length":0,"fetch_ms":0,"error":"malformed",`
	)
	for _, tt := range []struct{ fields, reason, written string }{
		{`"links":5`, `links: '5' at byte 95 where [ is expected`, fetched},
		{`"links":"x"`, `links: a string at byte 95 where [ is expected`, fetched},
		{`"links":[[]]`, `links: '[' at byte 96 where { is expected`, fetched},
		{`"links":[{"url":"http://a/"},{"url":5}]`, `links: url: '5' at byte 123 where a string is expected`, fetched},
		{`"title":"t","text":7,"score":0.5,"body":"b"`, `text: '7' at byte 106 where a string is expected`, fetched},
		{`"score":"high"`, `score: a string at byte 95 where a number is expected`, fetched},
		{`"out_degree":-1`, `out_degree: -1 is out of range: it must be from 0 to 2147483647`, fetched},
		{`"headers":[]`, `headers: '[' at byte 97 where { is expected`, answered},
		{`"fetch_ms":-1`, `fetch_ms: -1 is out of range: it must be from 0 to 9007199254740991`, answered},
	} {
		rec := new(Record)
		err := NewReader(strings.NewReader(page+tt.fields+"}"), All).Read(rec)
		bad, ok := errors.AsType[*SyntaxError](err)
		if !ok || !bad.Outcome || bad.Err.Error() != tt.reason {
			t.Errorf("%s: error %v", tt.fields, err)
			continue
		}
		if want := tt.written + `"error_detail":` + string(appendString(nil, tt.reason)) + "}\n"; write(t, rec) != want {
			t.Errorf("%s is written as\n%s, want\n%s", tt.fields, write(t, rec), want)
		}
		if rec.Depth != 3 || rec.Text+rec.Body != "" || len(rec.Links) > 0 || rec.Score.Kind != Absent || !rec.Final() {
			t.Errorf("%s: %+v", tt.fields, rec)
		}
	}
	for _, line := range []string{
		`{"url":"u","links":5}`,                                 // no outcome
		`{"url":"u","status_code":99,"links":5}`,                // none that is valid
		`{"url":5,"status_code":200,"links":5}`,                 // no address
		`{"status_code":200,"query":"q","links":5}`,             // a query
		`{"url":"u","depth":-1,"status_code":200,"links":5}`,    // the address section is malformed
		`{"url":"u","status_code":200,"links":5`,                // no JSON
		`{"url":"u","status_code":200,"links":[{]}`,             // no JSON
		`{"url":"u","status_code":200,"links":[{}]} {"url":""}`, // more than an object
	} {
		rec := new(Record)
		err := NewReader(strings.NewReader(line), All).Read(rec)
		if bad, ok := errors.AsType[*SyntaxError](err); !ok || bad.Outcome || rec.URL != "" || rec.IsOutcome() {
			t.Errorf("%s: %v, %+v", line, err, rec)
		}
	}
	rec := new(Record)
	NewReader(strings.NewReader(`{"url":"u","error":"timeout","links":5}`), All).Read(rec)
	if rec.Error != ErrorTimeout || rec.Final() {
		t.Errorf("a timeout with malformed links: %+v", rec)
	}
}
