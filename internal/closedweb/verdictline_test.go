package closedweb

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/wire"
)

func TestAppendVerdictKeepsTheRest(t *testing.T) {
	for _, test := range []struct {
		line    string
		verdict Verdict
		want    string
	}{
		{`{"url":"http://a/"}`, Relevant, `{"url":"http://a/","verdict":"relevant","spent":7}`},
		{`{"query":"words"}`, NoVerdict, `{"query":"words","spent":7}`},
		{`{ "url" : "http://a/" , "x" : [1, {"verdict": "no"}] , "y":null }`, Free,
			`{"url" : "http://a/","x" : [1, {"verdict": "no"}],"y":null,"verdict":"free","spent":7}`},
		{`{"verdict":"free","url":"http://a/","spent":6}`, Repeated, `{"url":"http://a/","verdict":"repeated","spent":7}`},
		{`{"url":"http://a/","body":"\"},{\\","z":1e-3}`, Relevant, `{"url":"http://a/","z":1e-3,"verdict":"relevant","spent":7,"body":"\"},{\\"}`},
		{`{"url":"http://a/","body_base64":"AA=="}`, Relevant, `{"url":"http://a/","verdict":"relevant","spent":7,"body_base64":"AA=="}`},
		{`{"url":"http://a/","t":true,"f":[false,[],{}],"n":-1}` + "\n", Relevant, `{"url":"http://a/","t":true,"f":[false,[],{}],"n":-1,"verdict":"relevant","spent":7}`},
	} {
		if got := string(AppendVerdict(nil, []byte(test.line), test.verdict, "", 7)); got != test.want+"\n" {
			t.Errorf("%s\n got %swant %s", test.line, got, test.want)
		}
		if got := lineVerdict([]byte(test.want)); got != test.verdict.String() {
			t.Errorf("%s: verdict %q", test.want, got)
		}
	}
}

func FuzzAppendVerdict(f *testing.F) {
	f.Add([]byte(`{"url":"http://a/","x":[1,{"verdict":"no"}],"y":"\\\"","body":"b"}`))
	f.Add([]byte(` {"verdict":"free" , "url" :"http://a/","spent":1.5e7,"n":null}`))
	f.Add([]byte(`{"query":"a","":{"":[]},"e":[ ]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		AppendVerdict(nil, line, Free, "", 1) // must not panic on a malformed object
		var rec wire.Record
		if wire.NewReader(bytes.NewReader(line), 0).Read(&rec) != nil || bytes.ContainsAny(bytes.TrimRight(line, "\r\n"), "\n") {
			return
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal(line, &before) != nil {
			return
		}
		out := AppendVerdict(nil, line, Relevant, "cal\"", 3)
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%q\n%q: %v", line, out, err)
		}
		if string(after["verdict"]) != `"relevant"` || string(after["class"]) != `"cal\""` || string(after["spent"]) != "3" {
			t.Fatalf("%q\n%q", line, out)
		}
		for _, members := range []map[string]json.RawMessage{before, after} {
			delete(members, "verdict")
			delete(members, "class")
			delete(members, "spent")
		}
		if !maps.EqualFunc(before, after, func(a, b json.RawMessage) bool { return slices.Equal(a, b) }) {
			t.Fatalf("%q\n%q\n%s", line, out, cmp.Diff(before, after))
		}
		if got := lineVerdict(out); got != "relevant" {
			t.Fatalf("%q: verdict %q", out, got)
		}
	})
}
