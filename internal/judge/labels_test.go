package judge

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/wire"
)

// read is what Labels yields: labels, and what it says of lines that are none.
func read(t testing.TB, r io.Reader) (labels []Label, lines []int64, broken error) {
	t.Helper()
	for l, err := range Labels(r) {
		if broken != nil {
			t.Fatalf("%v, %v after the stream broke", l, err)
		}
		if syntax, ok := errors.AsType[*wire.SyntaxError](err); ok {
			lines = append(lines, syntax.Line)
		} else if err != nil {
			broken = err
		} else {
			labels = append(labels, l)
		}
	}
	return labels, lines, broken
}

var labelFiles = []struct {
	name, file string
	want       []Label
	bad        []int64
}{
	{"an empty file", "", nil, nil},
	{"labels, one of them none, and other fields",
		`{"url":"http://a.test/","labels":["x","y"]}` + "\n" + `{"by":"me","labels":[],"url":"http://b.test/"}` + "\n" + `{"url":"c"}`,
		[]Label{{"http://a.test/", []string{"x", "y"}}, {"http://b.test/", []string{}}, {"c", nil}}, nil},
	{"empty lines and carriage returns",
		"\n  \r\n" + `{"url":"a"}` + "\r\n\n",
		[]Label{{"a", nil}}, nil},
	{"what is no label",
		"http://a.test/\n" + `{"url":"a"}` + "\n[]\n{\"url\":\"b\",\"labels\":\"x\"}\n{\"labels\":[\"x\"]}\n{\"url\":7}\n{\"url\":\"d\"",
		[]Label{{"a", nil}}, []int64{1, 3, 4, 5, 6, 7}},
	{"a line as long as lines may be, and one that is longer",
		longLabel(maxLabel-1) + "\n" + longLabel(maxLabel) + "\n" + `{"url":"b"}`,
		[]Label{{strings.Repeat("a", maxLabel-1-len(`{"url":""}`)), nil}, {"b", nil}}, []int64{2}},
	{"a line that is a label and much white space",
		`{"url":"a"}` + strings.Repeat(" ", 3*maxLabel) + "\n" + `{"url":"b"}`,
		[]Label{{"b", nil}}, []int64{1}},
}

// longLabel is a line of n bytes.
func longLabel(n int) string {
	return `{"url":"` + strings.Repeat("a", n-len(`{"url":""}`)) + `"}`
}

func TestLabelsAreRead(t *testing.T) {
	for _, test := range labelFiles {
		labels, bad, err := read(t, strings.NewReader(test.file))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if !cmp.Equal(test.want, labels) { // a difference of long lines is no help
			t.Errorf("%s: %d labels, want %d, or others", test.name, len(labels), len(test.want))
		}
		if diff := cmp.Diff(test.bad, bad); diff != "" {
			t.Errorf("%s: lines that are none: %s", test.name, diff)
		}
	}
}

func TestABrokenFileOfLabelsEndsWithItsError(t *testing.T) {
	broken := errors.New("broken")
	file := io.MultiReader(strings.NewReader(`{"url":"a"}`+"\n"+`{"url":"b"}`), iotest.ErrReader(broken))
	labels, _, err := read(t, file)
	if diff := cmp.Diff([]Label{{"a", nil}}, labels); diff != "" || !errors.Is(err, broken) {
		t.Errorf("error %v, labels %s", err, diff)
	}
}

func TestReadingLabelsMayStop(t *testing.T) {
	for range Labels(strings.NewReader("\n{\"url\":\"a\"}\n{\"url\":\"b\"}\n")) {
		break
	}
	for range Labels(strings.NewReader("x\ny\n")) {
		break
	}
}

func FuzzLabels(f *testing.F) {
	for _, test := range labelFiles {
		if len(test.file) < 1<<10 {
			f.Add(test.file)
		}
	}
	f.Fuzz(func(t *testing.T, file string) {
		labels, bad, err := read(t, strings.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(file, "\n") + 1; len(labels)+len(bad) > lines {
			t.Errorf("%d labels and %d bad lines in %d lines", len(labels), len(bad), lines)
		}
		for _, l := range labels {
			if l.URL == "" {
				t.Error("a label without url")
			}
		}
	})
}
