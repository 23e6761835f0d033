package archive

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVolumes(t *testing.T) {
	dir := t.TempDir()
	plain := archiveOf(t, dir, "b.warc.gz", good("a"))
	fileOf(t, dir, "a.wacz", sample(t))
	fileOf(t, dir, "c.wacz", []byte("PK\x03\x04 torn"))
	var got []string
	for v, err := range Volumes([]string{dir, plain, Input}, strings.NewReader(good("b"))) {
		path, _ := filepath.Rel(dir, v.Path)
		if v.Path == Input {
			path = Input
		}
		if _, ok := errors.AsType[*FormatError](err); ok {
			got = append(got, filepath.ToSlash(path)+" !")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		records := 0
		for _, err := range v.Records() {
			if err != nil {
				t.Fatal(err)
			}
			records++
		}
		got = append(got, filepath.ToSlash(path)+" "+v.Name+strings.Repeat(" +", records))
	}
	want := []string{
		"a.wacz/archive/a.arc.gz a.wacz/archive/a.arc.gz + + + +",
		"a.wacz/archive/b.warc.gz a.wacz/archive/b.warc.gz + + +",
		"b.warc.gz b.warc.gz +",
		"c.wacz !",
		"- - +",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, err := range Volumes([]string{filepath.Join(dir, "nothing")}, nil) {
		if !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
}

func TestVolumeFaults(t *testing.T) {
	v := Volume{Path: "x", Data: strings.NewReader(zip(good("a")) + zip(good("b"))[:40] + zip(good("c")))}
	var got strings.Builder
	for rec, err := range v.Records() {
		if _, ok := errors.AsType[*FormatError](err); ok {
			got.WriteString("!")
		} else if err != nil {
			t.Fatal(err)
		} else {
			got.WriteString(rec.ID())
		}
	}
	if got.String() != "<urn:x:a>!<urn:x:c>" {
		t.Error(got.String())
	}
	broken := errors.New("broken")
	v.Data = io.MultiReader(strings.NewReader(good("a")), readerOf(func([]byte) (int, error) { return 0, broken }))
	var last error
	for _, err := range v.Records() {
		last = err
	}
	if !errors.Is(last, broken) {
		t.Errorf("the end is %v", last)
	}
}

type readerOf func([]byte) (int, error)

func (f readerOf) Read(p []byte) (int, error) { return f(p) }

func TestVolumeAt(t *testing.T) {
	a, b, c := good("a"), good("b"), good("c")
	arc := asARC(t, capture("http://a/", old, 200, "", "x"))
	for _, x := range []struct {
		name, file   string
		offset, skip int64
		want         string // the whole record; "" if there is none
	}{
		{"plain", a + b, int64(len(a)), 0, b},
		{"member", zip(a, b), int64(len(zip(a))), 0, b},
		{"frame", zst(a, b), int64(len(zst(a))), 0, b},
		{"inside a member", zip(c) + zip(a+b), int64(len(zip(c))), int64(len(a)), b},
		{"ARC", strings.Join(arc, ""), int64(len(arc[0])), 0, strings.TrimSuffix(arc[1], "\n") + "\r\n\r\n"},
		{"in the middle of a record", a + b, 5, 0, ""},
		{"in the middle of a member", zip(a, b), 5, 0, ""},
		{"behind the end", a, 1000, 0, ""},
		{"before the beginning", a, -1, 0, ""},
	} {
		path := fileOf(t, t.TempDir(), "x", []byte(x.file))
		for v, err := range Volumes([]string{path}, nil) {
			if err != nil {
				t.Fatal(err)
			}
			rec, err := v.At(x.offset, x.skip)
			if x.want == "" {
				if !errors.Is(err, ErrNotArchived) {
					t.Errorf("%s: %v, want that there is nothing", x.name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", x.name, err)
				continue
			}
			var out bytes.Buffer
			if err := v.Copy(&out, rec); err != nil || out.String() != x.want {
				t.Errorf("%s: %q, %v\nwant %q", x.name, out.String(), err, x.want)
			}
		}
	}
	pipe := Volume{Path: "-", Data: strings.NewReader(a)}
	if _, err := pipe.At(0, 0); err == nil || !strings.Contains(err.Error(), "a pipe") {
		t.Errorf("a pipe: %v", err)
	}
}

func TestSummary(t *testing.T) {
	again := revisit("http://a/2", refersURI, "http://a/")
	gone := capture("http://a/", old, 404, "", "gone")
	file := strings.Replace(good("a"), "resource", "warcinfo", 1) + gone + again + good("b")[:len(good("b"))-10]
	want := []Summary{
		{Offset: 0, Length: 192, Type: "warcinfo", ID: "<urn:x:a>", Date: "2026-11-20T12:00:00Z", MIME: "text/plain", URL: "http://example.com/a"},
		{Offset: 192, Length: int64(len(gone)), Type: "response", ID: "<urn:x:http://a/-" + old + ">", Date: old, Status: 404, MIME: "text/html", URL: "http://a/"},
		{Offset: 192 + int64(len(gone)), Length: int64(len(again)), Type: "revisit", ID: "<urn:x:http://a/2-" + newer + ">", Date: newer, URL: "http://a/2", RefersToURI: "http://a/"},
		{Offset: 192 + int64(len(gone+again)), Type: "resource", ID: "<urn:x:b>", Date: "2026-11-20T12:00:00Z", MIME: "text/plain", URL: "http://example.com/b"},
	}
	var got []Summary
	var faults []error
	for rec, err := range (&Volume{Data: strings.NewReader(file)}).Records() {
		if err != nil {
			t.Fatal(err)
		}
		s, err := rec.Summary()
		if err != nil {
			faults = append(faults, err)
		}
		got = append(got, s)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(faults) != 1 {
		t.Errorf("faults: %v, want that of the torn record", faults)
	}
}

func TestWriteIndex(t *testing.T) {
	dir := t.TempDir()
	names := []string{
		archiveOf(t, dir, "x.warc.gz", capture("http://b/", old, 200, "", "b"), capture("http://a/", newer, 200, "", "a")),
		archiveOf(t, dir, "y.warc.gz", capture("http://a/", old, 200, "", "a")),
		fileOf(t, dir, "z.wacz", sample(t)),
		fileOf(t, dir, "torn.wacz", []byte("PK\x03\x04")),
	}
	var b bytes.Buffer
	meta, err := WriteIndex(&b, Volumes(names, nil), t.TempDir(), func(string, error) {})
	if err != nil || meta.Faults != 1 {
		t.Fatal(meta, err)
	}
	var want []string
	for _, name := range names {
		x, err := OpenIndex(name, IndexOptions{Beside: true})
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.Collect(strings.Lines(string(x.data[x.first:])))
		want = append(want, lines...)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(strings.Join(want, ""), b.String()); diff != "" {
		t.Error(diff)
	}
	if int(meta.Captures) != len(want) {
		t.Errorf("%+v, want %d captures", meta, len(want))
	}
}

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	s := spool{dir: dir}
	for _, size := range []int{10, spoolMemory + 1, 3} {
		s.reset()
		want := bytes.Repeat([]byte("0123456789"), size/10+1)
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 1<<20)
			if _, err := s.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		got, err := io.ReadAll(s.section(0, s.size))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes came back as %d, %v", len(want), len(got), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left := must(os.ReadDir(dir)); len(left) > 0 {
		t.Error("the file is still there")
	}
}

// A skip in an index that somebody forged made this read for ever.
func TestNothingIsSkippedInAFileThatIsNotCompressed(t *testing.T) {
	name := redirectingArchive(t)
	for v, err := range Volumes([]string{name}, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.At(0, 149); !errors.Is(err, ErrNotArchived) || !strings.Contains(err.Error(), name) {
			t.Error(err)
		}
	}
}
