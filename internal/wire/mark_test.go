package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMarksKeepTheirFields(t *testing.T) {
	n := 12
	want := Mark{N: &n, End: "pages", Due: "2026-01-02T03:04:05Z", Best: []float64{1e300, 0.25, -1}, Stop: true}
	line, err := AppendMark(nil, 7, want)
	if err != nil {
		t.Fatal(err)
	}
	var rec Record
	if err := NewReader(bytes.NewReader(line), Address).Read(&rec); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	if err := w.Write(&rec); err != nil || w.Flush() != nil || !bytes.Equal(out.Bytes(), line) {
		t.Errorf("%v: a stage changed %s to %s", err, line, out.Bytes())
	}
	got, err := rec.Mark()
	if d := cmp.Diff(want, got); d != "" || err != nil || !rec.IsMark() || rec.Generation != 7 {
		t.Errorf("%v\n%s", err, d)
	}
}

// A mark without further fields is written as by a crawl on one machine.
func TestPlainMark(t *testing.T) {
	var rec Record
	rec.SetMark(3)
	var out bytes.Buffer
	w := NewWriter(&out)
	if err := w.Write(&rec); err != nil || w.Flush() != nil {
		t.Fatal(err)
	}
	line, err := AppendMark(nil, 3, Mark{})
	if err != nil || !bytes.Equal(line, out.Bytes()) {
		t.Errorf("%v: %s instead of %s", err, line, out.Bytes())
	}
	if m, err := rec.Mark(); err != nil || m.N != nil {
		t.Errorf("a mark that was not read has n: %v", err)
	}
}

func TestMarksOfStrangersAreBounded(t *testing.T) {
	for _, fields := range []string{`"n":-1`, `"n":3e9`, `"n":"1"`, `"best":[` + strings.Repeat("1,", MaxBest) + `1]`} {
		var rec Record
		line := `{"v":1,"operator":"mark","query":"mark",` + fields + "}\n"
		if err := NewReader(strings.NewReader(line), Address).Read(&rec); err != nil {
			t.Fatal(err)
		}
		if m, err := rec.Mark(); err == nil {
			t.Errorf("%.40s was accepted: %+v", fields, m)
		}
	}
}
