package archive

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// places reads all records and returns the address, body, offset and skip of each, and "!" with the
// offset of each fault.
func places(t testing.TB, src io.Reader) (all []string) {
	t.Helper()
	for rec, err := range recordsOf(t, src) {
		if fault, ok := err.(*FormatError); ok {
			all = append(all, fmt.Sprint("!", fault.Offset))
			continue
		}
		block, err := io.ReadAll(rec)
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := bytes.Cut(block, []byte("\r\n\r\n"))
		all = append(all, fmt.Sprintf("%s %s %d+%d", rec.TargetURI(), body, rec.Offset, rec.Skip))
	}
	return all
}

func TestARecordThatBeginsInATornHeaderIsRead(t *testing.T) {
	a, b, c := capture("http://a/a", old, 200, "", "a"), capture("http://a/b", old, 200, "", "b"), capture("http://a/c", old, 200, "", "c")
	line, word := strings.Index(a, "Content-Type: application"), strings.Index(a, "WARC-Target")+len("WARC-Target-URI: http:")
	uriFirst := func(id, uri string) string { // as some programs order the fields
		return "WARC/1.1\r\nWARC-Target-URI: " + uri + "\r\nWARC-Date: " + old + "\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:" + id + ">\r\n" +
			"Content-Type: application/http\r\nContent-Length: 20\r\n\r\nHTTP/1.1 200 X\r\n\r\n" + id + "\r\n\r\n"
	}
	likeVersion := uriFirst("xx", "http://a/WARC/1.1")
	for _, test := range []struct {
		name, torn string
		rest       []string // records
	}{
		{"between two lines", a[:line], []string{b, c}},
		{"between CR and LF", a[:line-1], []string{b, c}},
		{"within a value", a[:word], []string{b, c}},
		{"within a name", a[:word-14], []string{b, c}},
		{"within the first field", uriFirst("xx", "http://a/")[:len("WARC/1.1\r\nWARC-Target-URI: http:")], []string{uriFirst("yy", "http://a/b"), c}},
		{"after the version line", "WARC/1.1\r\n", []string{b, c}},
		{"after the version", "WARC/1.1", []string{b, c}},
		{"twice", a[:line] + b[:line], []string{c}},
		{"twice within a value", a[:word] + b[:word], []string{c}},
		{"before an address that ends like a version line", a[:line], []string{likeVersion, c}},
		{"nowhere, but an address ends like a version line", "", []string{likeVersion, c}},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := test.torn + strings.Join(test.rest, "")
			// want returns the places of the records.
			want := func(place func(at int) string) (all []string) {
				if test.torn != "" {
					all = append(all, "!"+strings.SplitN(place(0), "+", 2)[0])
				}
				at := len(test.torn)
				for _, rec := range test.rest {
					r, _ := NewReader(strings.NewReader(rec))
					one, err := r.Next()
					if err != nil {
						t.Fatal(err)
					}
					block := must(io.ReadAll(one))
					_, body, _ := bytes.Cut(block, []byte("\r\n\r\n"))
					all = append(all, fmt.Sprintf("%s %s %s", one.TargetURI(), body, place(at)))
					at += len(rec)
				}
				return all
			}
			plain := want(func(at int) string { return fmt.Sprint(at, "+0") })
			inMember := want(func(at int) string { return fmt.Sprint("0+", at) })
			for name, got := range map[string][]string{
				"file": places(t, strings.NewReader(file)), "pipe": places(t, io.MultiReader(strings.NewReader(file))),
			} {
				if diff := cmp.Diff(plain, got); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			for name, got := range map[string][]string{"member": places(t, strings.NewReader(zip(file))), "frame": places(t, strings.NewReader(zst(file)))} {
				if diff := cmp.Diff(inMember, got); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			if faulty := len(findings(t, file)) > 0; faulty != (test.torn != "") {
				t.Errorf("findings: %q", findings(t, file))
			}
			if got := checkRepair(t, file); got != strings.Join(test.rest, "") {
				t.Errorf("repaired: %q", got)
			}
			for _, form := range []string{file, zip(file)} {
				r := replay(t, fileOf(t, t.TempDir(), "x.warc", []byte(form)))
				if got := answer(r, "http://a/c"); got != "200 c" {
					t.Errorf("page c: %s", got)
				}
				if got := answer(r, "http://a/a"); got != "not archived" {
					t.Errorf("page a, which is torn: %s", got)
				}
			}
		})
	}
}

func TestARecordMayStandInSeveralMembers(t *testing.T) {
	a, b := capture("http://a/a", old, 200, "", "page a"), capture("http://a/b", old, 200, "", "page b")
	var everywhere []int
	for i := len("WARC/1.1"); i < len(a); i++ {
		everywhere = append(everywhere, i)
	}
	const skippable = "\x5e\x2a\x4d\x18\x03\x00\x00\x00abc"
	for name, cuts := range map[string][]int{
		"in the header": {30}, "twice in the header": {30, 40}, "after the header": {strings.Index(a, "\r\n\r\n") + 4}, "in the block": {len(a) - 10},
		"after the block": {len(a) - 4}, "in the empty lines": {len(a) - 2, len(a) - 1}, "everywhere": everywhere,
	} {
		var parts []string
		from := 0
		for _, cut := range append(slices.Clone(cuts), len(a)) {
			parts = append(parts, a[from:cut])
			from = cut
		}
		for format, file := range map[string]string{
			"members": zip(append(parts, b)...), "frames": zst(append(parts, b)...),
			"frames with a seek table": skippable + zst(parts...) + skippable + zst(b) + skippable + skippable,
			"the last members":         zip(append([]string{b}, parts...)...),
		} {
			t.Run(name+", "+format, func(t *testing.T) {
				if got := journalOf(t, file); got != "http://a/a http://a/b" && got != "http://a/b http://a/a" {
					t.Errorf("read %s", got)
				}
				found := findings(t, file)
				if len(found) != 1 || !strings.Contains(found[0], "member?: the record is spread over several") {
					t.Errorf("findings: %q", found)
				}
				got, done, n, err := repaired(t, file)
				if got != file || len(done) > 0 || n.Whole != 2 || err != nil {
					t.Errorf("repaired: %q, %+v, %v, the same: %v", done, n, err, got == file)
				}
				path := fileOf(t, t.TempDir(), "x.warc", []byte(file))
				r := replay(t, path)
				for _, url := range []string{"http://a/a", "http://a/b"} {
					if got := answer(r, url); got != "200 page "+url[len("http://a/"):] {
						t.Errorf("%s: %s", url, got)
					}
				}
				for i, want := range map[string]string{"http://a/a": a, "http://a/b": b} {
					at := r.Lookup(i)[0]
					v := r.Volume(at)
					rec, err := v.At(at.Offset, at.Skip)
					var copied bytes.Buffer
					if err == nil {
						err = v.Copy(&copied, rec)
					}
					if err != nil || copied.String() != want {
						t.Errorf("%s is copied as %q, %v", i, copied.String(), err)
					}
				}
				var bodies []string
				for page, err := range All([]string{path}, Filter{}, Limits{}) {
					if err != nil {
						t.Fatal(err)
					}
					bodies = append(bodies, string(page.Body))
				}
				if slices.Sort(bodies); !slices.Equal(bodies, []string{"page a", "page b"}) {
					t.Errorf("all: %q", bodies)
				}
				files := packedFiles(t, pack(t, PackOptions{}, path))
				if diff := cmp.Diff([]string{"http://a/a", "http://a/b"}, captured(t, files, files["indexes/index.cdxj"])); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// journalOf returns the addresses of all records.
func journalOf(t testing.TB, file string) string {
	t.Helper()
	var all []string
	for _, place := range places(t, strings.NewReader(file)) {
		url, _, _ := strings.Cut(place, " ")
		all = append(all, url)
	}
	return strings.Join(all, " ")
}

func TestAMemberOfSomethingElseIsNoPartOfARecord(t *testing.T) {
	a, b := good("a"), good("b")
	for _, file := range []string{
		zip(strings.TrimSuffix(a, "\r\n"), "something else\n", b), zip(strings.TrimSuffix(a, "\r\n\r\n"), "\r\n\r\n\r\n", b),
	} {
		if found := findings(t, file); len(found) == 0 {
			t.Errorf("nothing is wrong with %q", unpackAll(t, file))
		}
		if got := checkRepair(t, file); unpackAll(t, got) != a+"|"+b+"|" {
			t.Errorf("repaired: %q", unpackAll(t, got))
		}
	}
}

func TestDatesThatTheStandardDoesNotAllowAreNotes(t *testing.T) {
	for date, want := range map[string]string{
		"2024": "20240101000000", "2024-05": "20240501000000", "2024-05-01": "20240501000000", "2024-05-01T10:00Z": "20240501100000",
		"2024-05-01T10:00:00.5Z": "20240501100000", "2024-05-01T12:00:00+02:00": "20240501100000",

		"2024-05-01T10:00:00": "20240501100000 note", "2024-05-01 10:00:00": "20240501100000 note", "2024-05-01 10:00:00Z": "20240501100000 note",
		"2024-05-01T10:00": "20240501100000 note", "2024-05-01 10:00": "20240501100000 note", "2024-05-01t10:00:00z": "20240501100000 note",
		"2024-05-01T12:00:00+0200": "20240501100000 note", "2024-05-01T10:00:00.123": "20240501100000 note", "20240501100000": "20240501100000 note",
	} {
		record := strings.Replace(good("a"), "2026-11-20T12:00:00Z", date, 1)
		r := replay(t, fileOf(t, t.TempDir(), "x.warc", []byte(record)))
		var got strings.Builder
		got.WriteString(r.Lookup("http://example.com/a")[0].Timestamp)
		for _, f := range findings(t, record) {
			if !strings.HasPrefix(f, "0 field?: WARC-Date") {
				t.Errorf("%s: %s", date, f)
			}
			got.WriteString(" note")
		}
		if got.String() != want {
			t.Errorf("%s: %s, want %s", date, got.String(), want)
		}
		if checkRepair(t, record) != record {
			t.Errorf("%s: the record is changed", date)
		}
	}
}

func TestATornHeaderBeforeARecordWithoutALengthIsNotKept(t *testing.T) {
	if got := checkRepair(t, "WARC/1.1"+without("a", "Content-Length")+good("b")); strings.HasPrefix(got, "WARC/1.1WARC") || !strings.Contains(got, good("b")) {
		t.Errorf("repaired: %q", got)
	}
}
