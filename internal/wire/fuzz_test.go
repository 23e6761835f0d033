package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// seeds returns the lines of the tables of this package.
func seeds(f *testing.F) {
	for _, tt := range badLines {
		f.Add([]byte(tt.line[:min(len(tt.line), 500)]))
	}
	for line := range strings.SplitSeq(stream, "\n") {
		f.Add([]byte(line))
	}
	for _, line := range []string{
		`{"v":1,"url":"http://example.org/","generation":3,"depth":2,"priority":0.1,"parents":["a","b"],"retries":1}`,
		`{"url":"u","title":"\u00e4\ud83d\udc1c\ud83d\/\b\f\n\r\t\"\\","t\u0069tle":"x","TITLE":"y","title":null}`,
		`{"url":"u","headers":{"b":["1"],"a":["2",null],"b":["3"],"c":null},"scores":{"b":1e-7,"a":-0.5e-1}}`,
		`{"url":"u","headers":{"a":["1"],"a":null},"scores":{"a":1,"a":null},"links":[{"url":"l","scores":{"a":1,"a":null}}]}`,
		`{"url":"u","links":[null,{"archived":false,"x":1},{"x":1,"url":"l","y":2}],"redirects":[{"url":"r"}]}`,
		`{ "x" : [1, 2] ,"url":"u","body":"b\/\\\"\\", "title" : "\u0061","score":1.0, "body_base64" :null,"y":"<>"}`,
		`{"url":"u","status_code":200,"links":5,"fetch_ms":-1,"body":"b"}`,
		`{"url":"u","score":null,"relevant":true,"x":[{"":{}},[],-1.5E+3,true,false,null,"\u0000"]}`,
	} {
		f.Add([]byte(line))
	}
}

// readLine reads one line.
func readLine(line []byte, want Section) (*Record, error) {
	rec := new(Record)
	return rec, NewReader(bytes.NewReader(line), want).Read(rec)
}

// exact reduces a line to what this package and encoding/json agree about: it removes
// nulls and members whose names differ from ours only by case, and keeps the last of
// several members with the same name.
func exact(line []byte) ([]byte, error) {
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	keep(v, recordObject)
	for name, o := range map[string]*object{"links": linkObject, "redirects": redirectObject} {
		if list, ok := v[name].([]any); ok {
			for _, e := range list {
				if m, ok := e.(map[string]any); ok {
					keep(m, o)
				}
			}
		}
	}
	if list, ok := v["links"].([]any); ok {
		v["links"] = slices.DeleteFunc(list, func(e any) bool {
			m, ok := e.(map[string]any)
			url, isString := m["url"].(string)
			return e == nil || ok && !fetchable(url) && (isString || m["url"] == nil)
		})
	}
	return json.Marshal(v)
}

func keep(v map[string]any, o *object) {
	for name, value := range v {
		f := o.find(name)
		if f == nil || value == nil {
			delete(v, name)
			continue
		}
		if m, ok := value.(map[string]any); ok && (f.kind == kindValues || f.kind == kindScores) {
			maps.DeleteFunc(m, func(_ string, value any) bool { return value == nil })
		}
	}
}

// FuzzDecode compares the decoder with encoding/json, but for the differences that
// [Reader] documents.
func FuzzDecode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsAny(line, "\n") || len(bytes.TrimSpace(line)) == 0 {
			return
		}
		rec, err := readLine(line, All)
		if err != nil {
			bad, ok := errors.AsType[*SyntaxError](err)
			if !ok {
				t.Fatalf("%v is no SyntaxError", err)
			}
			if bad.Outcome {
				again, err := readLine([]byte(write(t, rec)), All)
				if err != nil || again.URL != rec.URL || again.StatusCode != rec.StatusCode || again.Error == "" || again.Error != rec.Error {
					t.Fatalf("the failed outcome is written as %s: %v", write(t, rec), err)
				}
			}
		}
		var want peer
		reduced, jsonErr := exact(line)
		if jsonErr == nil {
			jsonErr = json.Unmarshal(reduced, &want)
		}
		if jsonErr != nil {
			// What encoding/json refuses may still pass here if it stands in
			// an earlier member of the same name, but must be JSON.
			if err == nil && !json.Valid(line) {
				t.Fatalf("accepted, but encoding/json says %v", jsonErr)
			}
			if err == nil && json.Valid(reduced) {
				t.Fatalf("accepted, but encoding/json says %v", jsonErr)
			}
			return
		}
		if err != nil {
			// Of duplicates and of nulls the reduced line knows nothing.
			var all peer
			switch {
			case want.URL == "" && want.Query == "":
			case errors.Is(err, errUTF8):
			case errors.Is(err, errRange), errors.Is(err, errTime):
			case json.Unmarshal(line, &all) != nil:
			default:
				t.Fatalf("refused: %v", err)
			}
			return
		}
		got := asPeer(rec)
		if bytes.Contains(line, []byte("null")) {
			deleteOthers(got.Headers, want.Headers)
			deleteOthers(got.Fields, want.Fields)
			deleteOthers(got.Scores, want.Scores)
			deleteOthers(got.Reasons, want.Reasons)
			for i := range min(len(got.Links), len(want.Links)) {
				deleteOthers(got.Links[i].Scores, want.Links[i].Scores)
			}
		}
		if diff := cmp.Diff(&want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// deleteOthers deletes from got the names that want lacks. The decoder ignores a null in an object
// of values or scores, so that an earlier value of the same name is kept; exact deletes both.
func deleteOthers[V any](got, want map[string]V) {
	maps.DeleteFunc(got, func(name string, _ V) bool {
		_, ok := want[name]
		return !ok
	})
}

// FuzzEncode checks that encoding/json and the decoder read what the encoder writes.
func FuzzEncode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		rec, err := readLine(line, All)
		if err != nil {
			return
		}
		want := asPeer(rec)
		rec.Touch(All)
		var out bytes.Buffer
		w := NewWriter(&out)
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		var got peer
		reduced, err := exact(out.Bytes())
		if err == nil {
			err = json.Unmarshal(reduced, &got)
		}
		if err != nil {
			t.Fatalf("%s: %v", out.Bytes(), err)
		}
		want.V = got.V // 0 becomes 1
		if diff := cmp.Diff(want, &got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s: %s", out.Bytes(), diff)
		}
		again, err := readLine(out.Bytes(), All)
		if err != nil {
			t.Fatalf("%s: %v", out.Bytes(), err)
		}
		again.Touch(All)
		var second bytes.Buffer
		w = NewWriter(&second)
		w.Write(again)
		w.Flush()
		if !bytes.Equal(out.Bytes(), second.Bytes()) {
			t.Fatalf("encoded twice:\n%s%s", out.Bytes(), second.Bytes())
		}
	})
}
