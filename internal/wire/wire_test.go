package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func readAll(t *testing.T, in string, want Section) (recs []*Record, bad []error) {
	t.Helper()
	r := NewReader(strings.NewReader(in), want)
	var rec Record
	for {
		err := r.Read(&rec)
		if err == io.EOF {
			return
		}
		if _, ok := errors.AsType[*SyntaxError](err); ok {
			bad = append(bad, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec.Clone())
	}
}

func TestSmoke(t *testing.T) {
	in := `{"v":1,"url":"http://a/","x":[1,{"y":"\u00e9"}],"depth":3,"priority":0.5,"links":[{"url":"http://b/","anchor":"q\"\\é","foo":1,"score":0.25,"bar":"z","scores":{"b":1,"a":2}}],"headers":{"b":["1"],"a":["x","y"]},"body":"abc\\\"\\\\","z":1}` + "\r\n\n" + `{"query":"x"}` + "\n[]\n" + `{"url":"x"} `
	recs, bad := readAll(t, in, All)
	t.Logf("%+v", recs[0])
	t.Log(bad)
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, r := range recs {
		w.Write(r)
		r.Touch(Address)
		w.Write(r)
		r.Touch(Parse | Fetch | Score)
		w.Write(r)
		r.SetBody([]byte("abc\xff"))
		w.Write(r)
		r.Drop(All &^ Address)
		w.Write(r)
	}
	w.Write(&Record{URL: "http://x/", Score: Num(0.1), Via: "\xff\n<>"})
	w.Flush()
	t.Log("\n" + out.String())
	recs, bad = readAll(t, in, 0)
	t.Logf("%+v", recs[0])
	t.Log(bad)
}
