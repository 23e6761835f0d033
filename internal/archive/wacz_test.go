package archive

import (
	ziparchive "archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
)

// An inner is a file in a WACZ.
type inner struct {
	name, content string
	method        uint16
}

// wacz returns a zip file of those files.
func wacz(t testing.TB, files ...inner) []byte {
	t.Helper()
	var b bytes.Buffer
	w := ziparchive.NewWriter(&b)
	for _, f := range files {
		e, err := w.CreateHeader(&ziparchive.FileHeader{Name: f.name, Method: f.method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(e, f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func stored(name, content string) inner { return inner{name, content, ziparchive.Store} }

// sample returns a WACZ of two archives, one of them ARC, and other files.
func sample(t testing.TB) []byte {
	return wacz(t,
		inner{"datapackage.json", "{}", ziparchive.Deflate},
		stored("archive/b.warc.gz", zip(capture("http://a/1", newer, 200, "", "one"), revisit("http://a/again", refersURI, "http://a/1", refersDate, old, payloadIs, Digest([]byte("one"))), capture("http://a/tie", old, 200, "", "b"))),
		inner{"indexes/index.cdx.gz", "lies", ziparchive.Store},
		stored("archive/a.arc.gz", zip(asARC(t, capture("http://a/1", old, 200, "", "one"), capture("http://a/2", old, 301, "/1", ""), capture("http://a/tie", old, 200, "", "a"))...)),
		stored("archive/notes.txt", "no archive"),
		inner{"pages/pages.jsonl", "{}", ziparchive.Deflate},
	)
}

func fileOf(t testing.TB, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	testfile.Write(t, path, content)
	return path
}

func TestWACZ(t *testing.T) {
	dir := t.TempDir()
	path := fileOf(t, dir, "x.wacz", sample(t))
	want := []string{ // in the order of the names inside
		"http://a/1 one x.wacz/archive/a.arc.gz", "http://a/2  x.wacz/archive/a.arc.gz", "http://a/tie a x.wacz/archive/a.arc.gz",
		"http://a/1 one x.wacz/archive/b.warc.gz", "http://a/tie b x.wacz/archive/b.warc.gz",
	}
	f := testfile.Open(t, path)
	for name, all := range map[string]func(func(*Page, error) bool){
		"x.wacz": All([]string{path}, Filter{}, Limits{}),
		"-":      Stream(f, "x.wacz", Filter{}, Limits{}),
	} {
		var got []string
		for page, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %s %s", page.URL, page.Body, page.Filename))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}

	for range 2 { // the second time by the index of the first
		r := replay(t, dir)
		for url, want := range map[string]string{
			"http://a/1": "one x.wacz/archive/b.warc.gz", "http://a/2": "one x.wacz/archive/b.warc.gz",
			"http://a/again": "one x.wacz/archive/b.warc.gz", "http://a/tie": "b x.wacz/archive/b.warc.gz",
		} {
			page, err := r.Fetch(url)
			if err != nil {
				t.Fatalf("%s: %v", url, err)
			}
			if got := fmt.Sprintf("%s %s", page.Body, page.Filename); got != want {
				t.Errorf("%s: %s, want %s", url, got, want)
			}
		}
		if r.Faults() != 0 {
			t.Errorf("%d faults", r.Faults())
		}
	}
	if diff := cmp.Diff([]string{"x.wacz", "x.wacz.cdxj"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	index := testfile.Read(t, path+".cdxj")
	if n := strings.Count(string(index), `"filename":"a.arc.gz"`); n != 3 {
		t.Errorf("%d lines of the inner file\n%s", n, index)
	}
}

func TestFileInsideWACZ(t *testing.T) {
	one := zip(capture("http://a/", newer, 200, "", "the page"), capture("http://b/", old, 200, "", "the original"))
	two := zip(capture("http://a/", old, 200, "", "the page before"),
		revisit("http://c/", refersURI, "http://b/", refersDate, old, payloadIs, Digest([]byte("the original"))))
	name := fileOf(t, t.TempDir(), "x.wacz", wacz(t, stored("archive/one.warc.gz", one), stored("archive/two.warc.gz", two)))
	inside := name + "/archive/two.warc.gz"
	if files, err := Files([]string{inside}); err != nil || len(files) != 1 || files[0] != inside {
		t.Errorf("%q, %v", files, err)
	}
	r := replay(t, inside)
	for url, want := range map[string]string{"http://a/": "the page before", "http://c/": "the original", "http://b/": ""} {
		page, err := r.Fetch(url)
		switch {
		case want == "":
			if !errors.Is(err, ErrNotArchived) || r.Has(url) {
				t.Errorf("%s: %v", url, err)
			}
		case err != nil || string(page.Body) != want || page.Filename != "x.wacz/archive/two.warc.gz" || !r.Has(url):
			t.Errorf("%s: %+v, %v", url, page, err)
		}
	}
	pages := 0
	for page, err := range All([]string{inside}, Filter{}, Limits{}) {
		if err != nil || page.URL != "http://a/" {
			t.Errorf("%+v, %v", page, err)
		}
		pages++
	}
	if pages != 1 {
		t.Errorf("%d pages", pages)
	}
	if _, err := OpenReplay([]string{name + "/archive/three.warc.gz"}, ReplayOptions{Index: IndexOptions{Beside: true}}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestWACZFaults(t *testing.T) {
	a := stored("archive/a.warc.gz", zip(capture("http://a/1", old, 200, "", "one")))
	packed := a
	packed.name, packed.method = "archive/packed.warc.gz", ziparchive.Deflate
	twice := a
	whole := wacz(t, a)
	encrypted := bytes.Clone(whole)
	at := bytes.Index(encrypted, []byte("PK\x01\x02"))
	encrypted[at+8] |= flagEncrypted
	long := bytes.Clone(whole)
	long[at+20], long[at+24], long[at+22], long[at+26] = 0xff, 0xff, 0xff, 0xff
	// Two directory entries refer to the same file.
	overlap := wacz(t, a, stored("archive/b.warc.gz", "12345678"))
	entry := []byte("PK\x01\x02")
	one, two := bytes.Index(overlap, entry), bytes.LastIndex(overlap, entry)
	copy(overlap[two+42:two+46], overlap[one+42:one+46])
	nested := wacz(t, a, stored("archive/b.warc.gz", string(whole)))
	var many bytes.Buffer
	w := ziparchive.NewWriter(&many)
	for i := range 60_000 {
		w.CreateHeader(&ziparchive.FileHeader{Name: fmt.Sprintf("archive/%050d.warc", i)})
	}
	w.Close()
	for _, c := range []struct {
		name  string
		file  []byte
		pages int
		fault string
	}{
		{"whole", whole, 1, ""},
		{"packed", wacz(t, a, packed), 1, "is packed by the zip file"},
		{"a name twice", wacz(t, a, twice), 1, "is there twice"},
		{"a name that leads out", wacz(t, a, stored("archive/../../b.warc.gz", a.content)), 1, "no proper name"},
		{"a name that is none", wacz(t, a, stored("archive/\xff.warc.gz", a.content)), 1, "no proper name"},
		{"a backslash", wacz(t, a, stored(`archive/..\b.warc.gz`, a.content)), 1, "no proper name"},
		{"no archives", wacz(t, stored("a.warc.gz", a.content)), 0, "without archives"},
		{"several WACZ in one", wacz(t, stored("archive/in.wacz", string(whole))), 0, "it holds WACZ files"},
		{"empty", wacz(t), 0, "without archives"},
		{"torn", whole[:len(whole)-30], 0, "damaged or torn"},
		{"a beginning", []byte("PK\x03\x04"), 0, "damaged or torn"},
		{"encrypted", encrypted, 0, "is encrypted"},
		{"longer than it is", long, 0, "longer than the zip file"},
		{"one inside another", overlap, 1, "begins inside another"},
		{"a zip file inside", nested, 1, "a zip file"},
		{"an endless directory", many.Bytes(), 0, "a directory of more than"},
		{"rubbish inside", wacz(t, a, stored("archive/b.warc.gz", a.content+"rubbish")), 2, "no gzip member"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := fileOf(t, dir, "x.wacz", c.file)
			pages, fault := 0, ""
			for page, err := range All([]string{path}, Filter{}, Limits{}) {
				if page != nil {
					pages++
					continue
				}
				if _, ok := errors.AsType[*FormatError](err); !ok || fault != "" {
					t.Errorf("%v behind %q", err, fault)
				}
				fault = err.Error()
			}
			if pages != c.pages || !strings.Contains(fault, c.fault) || (c.fault == "") != (fault == "") {
				t.Errorf("%d pages, fault %q", pages, fault)
			}
			// Together with a valid archive it is not fatal.
			archiveOf(t, dir, "sound.warc.gz", capture("http://b/", old, 200, "", "sound"))
			for range 2 {
				r := replay(t, dir)
				if !r.Has("http://b/") || r.Has("http://a/1") != (c.pages > 0) || (r.Faults() > 0) != (c.fault != "") {
					t.Errorf("%d faults, %v", r.Faults(), r.Has("http://a/1"))
				}
				if c.pages > 0 {
					if page, err := r.Fetch("http://a/1"); err != nil || string(page.Body) != "one" {
						t.Error(err)
					}
				}
			}
		})
	}
}

func TestWACZFromPipe(t *testing.T) {
	var faults []string
	for page, err := range Stream(io.MultiReader(bytes.NewReader(sample(t))), "input", Filter{}, Limits{}) {
		if page != nil {
			t.Errorf("%+v", page)
			continue
		}
		faults = append(faults, err.Error())
	}
	if len(faults) != 1 || !strings.Contains(faults[0], "input: at byte 0: a zip file (hint: a WACZ is read from a file") {
		t.Errorf("%q", faults)
	}
}

func FuzzWACZ(f *testing.F) {
	f.Add(sample(f))
	f.Add(sample(f)[:800])
	f.Add(wacz(f, stored("archive/a.warc", good("a")), stored("archive/a.warc", good("b")), stored("archive/../c.warc", good("c"))))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 4 {
			return
		}
		data = append([]byte("PK\x03\x04"), data[4:]...)
		all, faults := sources("x", bytes.NewReader(data), int64(len(data)))
		if len(all) == 0 && len(faults) == 0 {
			t.Fatal("nothing, and nothing wrong")
		}
		total := int64(0)
		for i := range all {
			total += all[i].data.Size()
			if i > 0 && all[i].name <= all[i-1].name {
				t.Fatalf("%q behind %q", all[i].name, all[i-1].name)
			}
			tally(t, all[i].data)
		}
		if total > int64(len(data)) {
			t.Fatalf("%d bytes inside %d", total, len(data))
		}
	})
}
