package interchange_test

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"spoor/internal/interchange"
	"spoor/internal/wire"
)

// convert returns the line that c makes of line, or the error.
func convert(c interchange.Converter, line string) string {
	b, err := c([]byte(line))
	if err != nil {
		return "error: " + err.Error()
	}
	return string(b)
}

func TestFromURLFrontier(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"discovered: it waits",
			`{"discovered":{"info":{"url":"http://a.org/x","key":"a.org","crawlID":"DEFAULT"}}}`,
			`{"v":1,"url":"http://a.org/x","generation":0,"depth":0,"crawl_id":"DEFAULT"}`},
		{"known without a date: done; 0 is left out in this JSON",
			`{"known":{"info":{"url":"http://a.org/x","key":"a.org"}},"creationDate":"1700000000"}`,
			`{"v":1,"url":"http://a.org/x","generation":0,"depth":0,"status_code":200,"creation_date":"1700000000"}`},
		{"known with a date: it waits until then; names as in the proto",
			`{"known":{"info":{"url":"http://a.org/x"},"refetchable_from_date":1700000000}}`,
			`{"v":1,"url":"http://a.org/x","generation":0,"depth":0,"not_before":"2023-11-14T22:13:20Z"}`},
		{"a date of 20 digits is the last that can be written",
			`{"known":{"info":{"url":"http://a.org/x"},"refetchableFromDate":"18446744073709551615"}}`,
			`{"v":1,"url":"http://a.org/x","generation":0,"depth":0,"not_before":"9999-12-31T23:59:59Z"}`},
		{"metadata with names of a record, and others",
			`{"discovered":{"info":{"url":"http://a.org:81/x","key":"q","metadata":{"depth":{"values":["3"]},"priority":{"values":["0.25"]},"parents":{"values":["http://a.org/","http://b.org/"]},"generation":{"values":["04"]},"via":{"values":["a","b"]},"x":{"values":["1","2"]},"empty":{}}}}}`,
			`{"v":1,"url":"http://a.org:81/x","generation":0,"depth":3,"parents":["http://a.org/","http://b.org/"],"priority":0.25,"key":"q","metadata":{"empty":null,"generation":["04"],"via":["a","b"],"x":["1","2"]}}`},
		{"done with the status that StormCrawler keeps",
			`{"known":{"info":{"url":"http://a.org/x","metadata":{"fetch.statusCode":{"values":["404"]}}}}}`,
			`{"v":1,"url":"http://a.org/x","generation":0,"depth":0,"status_code":404}`},
		{"what waits although it was fetched still waits",
			`{"known":{"info":{"url":"http://a.org/x","metadata":{"fetch.statusCode":{"values":["200"]}}},"refetchableFromDate":"60"}}`,
			`{"v":1,"url":"http://a.org/x","generation":0,"depth":0,"not_before":"1970-01-01T00:01:00Z","metadata":{"fetch.statusCode":["200"]}}`},
		{"a failure that may pass",
			`{"known":{"info":{"url":"http://a.org/x","metadata":{"error":{"values":["timeout"]},"retries":{"values":["1"]}}},"refetchableFromDate":"60"}}`,
			`{"v":1,"url":"http://a.org/x","generation":0,"depth":0,"retries":1,"not_before":"1970-01-01T00:01:00Z","error":"timeout"}`},
		{"a plain line", `http://a.org/x`, `{"v":1,"url":"http://a.org/x","generation":0,"depth":0}`},
		{"not JSON", `{"known"`, `error: not a URLItem: unexpected end of JSON input`},
		{"no item", `{"ID":"x"}`, `error: neither known nor discovered`},
		{"both", `{"known":{"info":{"url":"http://a.org/"}},"discovered":{"info":{"url":"http://a.org/"}}}`, `error: both known and discovered`},
		{"no url", `{"known":{"refetchableFromDate":"5"}}`, `error: no url`},
		{"no date", `{"known":{"info":{"url":"http://a.org/"},"refetchableFromDate":"soon"}}`, `error: not a URLItem: "soon" is not a number of seconds`},
	} {
		if got := convert(interchange.FromURLFrontier, test.line); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestToURLFrontier(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"waiting", `{"v":1,"url":"http://a.org:81/x?<y>","generation":3,"depth":2,"via":"http://a.org/","operator":"link","priority":-0.5,"niche":"a.org/","state":"waiting"}`,
			`{"discovered":{"info":{"url":"http://a.org:81/x?<y>","key":"a.org","metadata":{"depth":{"values":["2"]},"generation":{"values":["3"]},"niche":{"values":["a.org/"]},"operator":{"values":["link"]},"priority":{"values":["-0.5"]},"via":{"values":["http://a.org/"]}}}}}`},
		{"waiting, after a failure", `{"v":1,"url":"http://a.org/","retries":1,"error":"http","timestamp":"2026-01-01T00:00:00.000Z","not_before":"2026-01-01T00:01:00Z","state":"waiting"}`,
			`{"known":{"info":{"url":"http://a.org/","key":"a.org","metadata":{"error":{"values":["http"]},"retries":{"values":["1"]},"timestamp":{"values":["2026-01-01T00:00:00.000Z"]}}},"refetchableFromDate":"1767225660"}}`},
		{"leased", `{"v":1,"url":"http://[::1]:8080/","state":"leased"}`, `{"discovered":{"info":{"url":"http://[::1]:8080/","key":"[::1]"}}}`},
		{"visited", `{"v":1,"url":"http://a.org/","status_code":301,"not_before":"2026-01-01T00:01:00Z","state":"visited"}`,
			`{"known":{"info":{"url":"http://a.org/","key":"a.org","metadata":{"fetch.statusCode":{"values":["301"]}}}}}`},
		{"skipped", `{"v":1,"url":"http://a.org/","error":"robots","state":"skipped"}`,
			`{"known":{"info":{"url":"http://a.org/","key":"a.org","metadata":{"error":{"values":["robots"]}}}}}`},
		{"members of strangers", `{"v":1,"url":"http://a.org/","key":5,"metadata":"x","creation_date":"now","content_length":"y","state":"waiting"}`,
			`{"discovered":{"info":{"url":"http://a.org/","key":"a.org"}}}`},
		{"a member of strangers before ours", `{"creation_date":"now","v":1,"url":"http://a.org/","state":"waiting"}`,
			`{"discovered":{"info":{"url":"http://a.org/","key":"a.org"}}}`},
		{"withdrawn: no word for it", `{"v":1,"url":"http://a.org/","priority":null,"state":"withdrawn"}`, ``},
	} {
		if got := convert(interchange.ToURLFrontier, test.line); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestDumpRoundTrip checks that a dump that went through a store is unchanged: the same
// items, dates and metadata.
func TestDumpRoundTrip(t *testing.T) {
	for _, line := range []string{
		`{"discovered":{"info":{"url":"http://a.org/x","key":"a.org","crawlID":"DEFAULT"}}}`,
		`{"discovered":{"info":{"url":"http://a.org/x","key":"queue 7","metadata":{"x":{"values":["1","2"]},"y":{"values":[]},"depth":{"values":["7"]},"priority":{"values":["1e21"]}}}}}`,
		`{"known":{"info":{"url":"http://a.org/x","key":"a.org","metadata":{"fetch.statusCode":{"values":["200"]},"priority":{"values":["NaN"]}}},"refetchableFromDate":"1767225660"},"creationDate":"1700000000"}`,
		`{"known":{"info":{"url":"http://a.org/x","key":"a.org","metadata":{"fetch.statusCode":{"values":["304"]},"via":{"values":["",""]}}}}}`,
		`{"known":{"info":{"url":"http://a.org/x","key":"a.org","metadata":{"error":{"values":["robots"]}}}}}`,
	} {
		rec := convert(interchange.FromURLFrontier, line)
		state := "waiting"
		if strings.Contains(line, `"known"`) && !strings.Contains(line, "refetchable") {
			state = "visited"
		}
		got := convert(interchange.ToURLFrontier, rec[:len(rec)-1]+`,"state":"`+state+`"}`)
		var a, b any
		if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(line), &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("got  %s\nwant %s", got, line)
		}
	}
}

func TestFromList(t *testing.T) {
	list := interchange.FromList()
	for _, test := range []struct{ name, line, want string }{
		{"a URL", `http://a.org/`, `{"v":1,"url":"http://a.org/","generation":0,"depth":0,"operator":"seed","priority":1000000000}`},
		{"the next", `http://b.org/`, `{"v":1,"url":"http://b.org/","generation":0,"depth":0,"operator":"seed","priority":999999999}`},
		{"a comment", `# http://b.org/`, ``},
		{"journal: found", `F+ http://a.org/x LLE http://a.org/y`, `{"v":1,"url":"http://a.org/x","generation":0,"depth":3,"via":"http://a.org/y","operator":"link"}`},
		{"journal: a seed", `F+ http://a.org/s  `, `{"v":1,"url":"http://a.org/s","generation":0,"depth":0,"operator":"seed","priority":999999998}`},
		{"journal: found far away", `F+ http://a.org/x 12+LLL http://a.org/y`, `{"v":1,"url":"http://a.org/x","generation":0,"depth":15,"via":"http://a.org/y","operator":"link"}`},
		{"journal: done", `Fs http://a.org/x L http://a.org/y`, `{"v":1,"url":"http://a.org/x","generation":0,"depth":1,"via":"http://a.org/y","operator":"link","status_code":200}`},
		{"journal: failed", `Ff http://a.org/x L http://a.org/y`, `{"v":1,"url":"http://a.org/x","generation":0,"depth":1,"via":"http://a.org/y","operator":"link"}`},
		{"journal: handed out", `Fe http://a.org/x`, ``},
		{"journal: a name", `F+ dns:a.org P http://a.org/`, ``},
		{"journal: the time", `T 20260101000000 x`, ``},
		{"journal: unknown", `Fx http://a.org/`, `error: no line of a journal begins with "Fx"`},
		{"crawl.log", `2026-06-23T17:12:09.591Z   200      15829 http://a.org/p L http://a.org/ text/html #025 20260623171208546+922 sha1:7AJUMSDTOMT4FN7MBFGGNJU3Z56MLCMW - -`,
			`{"v":1,"url":"http://a.org/p","generation":0,"depth":1,"via":"http://a.org/","operator":"link","timestamp":"2026-06-23T17:12:09.591Z","status_code":200,"content_type":"text/html","content_length":15829,"digest":"sha1:7AJUMSDTOMT4FN7MBFGGNJU3Z56MLCMW"}`},
		{"crawl.log: robots.txt", `2026-06-23T17:12:09.591Z -9998          - http://a.org/p L http://a.org/ unknown #025 - - - -`,
			`{"v":1,"url":"http://a.org/p","generation":0,"depth":1,"via":"http://a.org/","operator":"link","timestamp":"2026-06-23T17:12:09.591Z","error":"robots"}`},
		{"crawl.log: no connection", `2026-06-23T17:12:09.591Z    -2          - http://a.org/p LL http://a.org/ unknown #025 - - - -`,
			`{"v":1,"url":"http://a.org/p","generation":0,"depth":2,"via":"http://a.org/","operator":"link"}`},
		{"crawl.log: a name", `2026-06-23T17:12:09.591Z     1         54 dns:a.org P http://a.org/ text/dns #025 20260623171208546+9 sha1:X - -`, ``},
		{"crawl.log: no status", `2026-06-23T17:12:09.591Z x 54 http://a.org/ L http://a.org/ text/dns #025 20260623171208546+9 sha1:X - -`, `error: "x" is not a status`},
		{"katana", `{"timestamp":"2026-09-01T10:00:00Z","request":{"method":"GET","endpoint":"http://a.org/k","tag":"a","attribute":"href","source":"http://a.org/"},"response":{"status_code":200}}`,
			`{"v":1,"url":"http://a.org/k","generation":0,"depth":0,"via":"http://a.org/","operator":"link"}`},
		{"katana: a form", `{"request":{"method":"POST","endpoint":"http://a.org/k"}}`, ``},
		{"Scrapy", `{"title":"x","url":"http://a.org/i"}`, `{"v":1,"url":"http://a.org/i","generation":0,"depth":0,"operator":"seed","priority":999999997}`},
		{"another object", `{"title":"x"}`, `error: neither request.endpoint nor url`},
		{"broken", `{"url":`, `error: not a result of a crawler: unexpected end of JSON input`},
		{"words", `see http://a.org/`, `error: neither an address nor a line of a known log`},
	} {
		if got := convert(list, test.line); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestBadLineIsSkipped checks that a malformed line affects no other line.
func TestBadLineIsSkipped(t *testing.T) {
	const limit = 200
	long := `{"discovered":{"info":{"url":"http://a.org/` + strings.Repeat("x", 100_000) + `"}}}`
	in := "\uFEFFhttp://a.org/1\r\n\n{]\n" + long + "\n" + `{"discovered":{"info":{"url":"http://a.org/2","metadata":{"niche":{"values":["ü"]}}}}}` + "\n{\"ID\":\"x\"}\nhttp://a.org/3"
	r := interchange.NewReader(strings.NewReader(in), wire.Address, interchange.FromURLFrontier)
	r.Limit = limit
	var got []string
	var rec wire.Record
	for {
		err := r.Read(&rec)
		if errors.Is(err, io.EOF) {
			break
		}
		if bad, ok := errors.AsType[*wire.SyntaxError](err); ok {
			got = append(got, bad.Error())
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rec.URL+rec.Niche)
	}
	want := []string{
		"http://a.org/1",
		"line 3: not a URLItem: invalid character ']' looking for beginning of object key string",
		"line 4: record is longer than the limit of 200 bytes",
		"http://a.org/2ü",
		"line 6: neither known nor discovered",
		"http://a.org/3",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// FuzzConverters checks that the store's reader accepts every converted line, or rejects it
// itself.
func FuzzConverters(f *testing.F) {
	for _, s := range []string{
		`{"known":{"info":{"url":"http://a.org/x","metadata":{"depth":{"values":["3"]}}},"refetchableFromDate":"5"}}`,
		`F+ http://a.org/x L http://a.org/`, `{"request":{"endpoint":"x"}}`, "a b c d e f g h i j k",
		`2026-06-23T17:12:09.591Z -2 - http://a.org/p LL http://a.org/ unknown #025 - - - -`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range []interchange.Converter{interchange.FromURLFrontier, interchange.FromList()} {
			r := interchange.NewReader(strings.NewReader(s), wire.Address|wire.Fetch, c)
			var rec wire.Record
			for range 1000 {
				err := r.Read(&rec)
				if errors.Is(err, io.EOF) {
					break
				}
				if _, bad := errors.AsType[*wire.SyntaxError](err); err != nil && !bad {
					t.Fatal(err)
				}
			}
		}
		if b, err := interchange.FromURLFrontier([]byte("{" + s)); err == nil {
			if _, err := interchange.ToURLFrontier(b); err != nil {
				t.Fatalf("%s: %v", b, err)
			}
		}
	})
}

// TestNamesAreCaseSensitive checks that unknown members are kept in exported records and in
// Scrapy's items, also if their names differ from ours only in case.
func TestNamesAreCaseSensitive(t *testing.T) {
	const line = `{"v":1,"url":"http://a.org/","URL":"http://b.org/","State":"visited","ſtate":"visited","state":"waiting"}`
	for want, c := range map[string]interchange.Converter{
		"http://a.org/": interchange.ToList,
		`{"discovered":{"info":{"url":"http://a.org/","key":"a.org"}}}`:                                  interchange.ToURLFrontier,
		`{"v":1,"url":"http://a.org/","generation":0,"depth":0,"operator":"seed","priority":1000000000}`: interchange.FromList(),
	} {
		if got := convert(c, line); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
