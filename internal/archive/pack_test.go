package archive

import (
	ziparchive "archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
)

// packedFiles returns the files of a package by name.
func packedFiles(t testing.TB, file []byte) map[string]string {
	t.Helper()
	z, err := ziparchive.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(b)
		if stored := f.Method == ziparchive.Store; stored != strings.HasSuffix(f.Name, ".gz") {
			t.Errorf("%s is packed by method %d", f.Name, f.Method)
		}
	}
	return files
}

// pack packs files, and lists a page for each.
func pack(t testing.TB, o PackOptions, names ...string) []byte {
	t.Helper()
	o.Temp = t.TempDir()
	var b bytes.Buffer
	p := NewPacker(&b, o)
	defer p.Abort()
	for v, err := range Volumes(names, nil) {
		if err == nil {
			err = p.Archive(t.Context(), &v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	score := 0.5
	if err := p.Page(PackedPage{URL: "http://a/?x=<>", Time: old, Title: "<A>", Score: &score}); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if p.Size() != int64(b.Len()) {
		t.Errorf("%d bytes, but %d are there", p.Size(), b.Len())
	}
	if left, err := os.ReadDir(o.Temp); err != nil || len(left) > 0 {
		t.Errorf("%d temporary files are left: %v", len(left), err)
	}
	return b.Bytes()
}

// captured returns the captures in the index of a package, after checking their positions.
func captured(t testing.TB, files map[string]string, lines string) (urls []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		c, err := parseLine([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		archive := files["archive/"+c.Filename]
		if c.Offset+c.Length > int64(len(archive)) || c.Length == 0 {
			t.Fatalf("%s is not in its file", line)
		}
		r, err := NewReader(strings.NewReader(archive[c.Offset : c.Offset+c.Length]))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next()
		if err != nil || canonical(t, rec.TargetURI()) != c.URL {
			t.Fatalf("%s is %v, %v", line, rec, err)
		}
		if _, err := io.Copy(io.Discard, rec); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatalf("%s is not alone: %v", line, err)
		}
		urls = append(urls, c.URL)
	}
	return urls
}

func TestPack(t *testing.T) {
	dir := t.TempDir()
	one := archiveOf(t, dir, "one.warc.gz", capture("http://a/2", newer, 200, "", "two"), capture("http://a/1", old, 200, "", "one"))
	plain := fileOf(t, dir, "two.warc", []byte(capture("http://b/", old, 200, "", "b")))
	file := pack(t, PackOptions{Title: "Test", Software: "spoor/0"}, one, plain)
	files := packedFiles(t, file)

	if files["archive/one.warc.gz"] != string(must(os.ReadFile(one))) {
		t.Error("an archive in order is not packed as it is")
	}
	urls := captured(t, files, files["indexes/index.cdxj"])
	if diff := cmp.Diff([]string{"http://a/1", "http://a/2", "http://b/"}, urls); diff != "" {
		t.Error(diff)
	}
	want := `{"format":"json-pages-1.0","id":"pages","title":"All Pages"}
{"id":"fd085ed7a5c87f27a3fb","url":"http://a/?x=<>","ts":"2020-01-01T00:00:00Z","title":"<A>","score":0.5}
`
	if diff := cmp.Diff(want, files["pages/pages.jsonl"]); diff != "" {
		t.Error(diff)
	}

	var about struct {
		Profile   string
		Version   string `json:"wacz_version"`
		Title     string
		Created   string
		Software  string
		Resources []resource
	}
	if err := json.Unmarshal([]byte(files["datapackage.json"]), &about); err != nil {
		t.Fatal(err)
	}
	if got := about.Profile + about.Version + about.Title + about.Created + about.Software; got != "data-package1.1.1Test2021-01-01T00:00:00Zspoor/0" {
		t.Error(got)
	}
	var paths []string
	for _, r := range about.Resources {
		paths = append(paths, r.Path)
		content := files[r.Path]
		if r.Name != filepath.Base(r.Path) || r.Bytes != int64(len(content)) || r.Hash != fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content))) {
			t.Errorf("%+v", r)
		}
	}
	if diff := cmp.Diff([]string{"archive/one.warc.gz", "archive/two.warc.gz", "indexes/index.cdxj", "pages/pages.jsonl"}, paths); diff != "" {
		t.Error(diff)
	}
	if want := fmt.Sprintf("{\"path\":\"datapackage.json\",\"hash\":\"sha256:%x\"}\n", sha256.Sum256([]byte(files["datapackage.json"]))); files["datapackage-digest.json"] != want {
		t.Error(files["datapackage-digest.json"])
	}

	if again := pack(t, PackOptions{Title: "Test", Software: "spoor/0"}, one, plain); !bytes.Equal(file, again) {
		t.Error("packed again it is another file")
	}
	dated := packedFiles(t, pack(t, PackOptions{Created: time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)}, one))
	if !strings.Contains(dated["datapackage.json"], `"created": "2030-01-02T03:04:05Z"`) {
		t.Error(dated["datapackage.json"])
	}
	path := fileOf(t, dir, "x.wacz", file)
	if page, err := replay(t, path).Fetch("http://b/"); err != nil || string(page.Body) != "b" {
		t.Errorf("it is not replayed: %+v, %v", page, err)
	}
}

func TestPackRecompresses(t *testing.T) {
	a, b := capture("http://a/", old, 200, "", "a"), capture("http://b/", old, 200, "", "b")
	for name, content := range map[string]string{
		"plain.warc":          a + b,
		"frames.warc.zst":     zst(a, b),
		"shared.warc.gz":      zip(a + b),
		"shared-end.warc.gz":  zip(a) + zip(b+capture("http://c/", old, 404, "", "")),
		"torn.warc.gz":        zip(a, b) + zip(good("more"))[:40],
		"torn.warc":           a + b + good("more")[:60],
		"plain.arc":           strings.Join(asARC(t, a, b), ""),
		"members.arc.gz":      zip(asARC(t, a, b)...),
		"open.warc.gz.open":   zip(a, b),
		"cut.warc.gz":         zip(a[:len(a)-10], a[len(a)-10:]) + zip(b),
		"package.wacz":        string(wacz(t, stored("archive/x.warc.gz", zip(a)), stored("archive/y.warc.gz", zip(b)))),
		"package of one.wacz": string(wacz(t, stored("archive/below/x.warc", a+b))),
	} {
		t.Run(name, func(t *testing.T) {
			files := packedFiles(t, pack(t, PackOptions{}, fileOf(t, t.TempDir(), name, []byte(content))))
			urls := captured(t, files, files["indexes/index.cdxj"])
			if diff := cmp.Diff([]string{"http://a/", "http://b/"}, urls[:2]); diff != "" {
				t.Error(diff)
			}
			for name, content := range files {
				if !strings.HasPrefix(name, "archive/") {
					continue
				}
				if !strings.HasSuffix(name, ".warc.gz") || strings.Count(name, ".") != 2 || strings.Count(name, "/") != 1 {
					t.Errorf("a file is called %s", name)
				}
				for _, f := range findings(t, content) {
					if !strings.Contains(f, "?: ") && !strings.Contains(f, "unexpected EOF") {
						t.Errorf("%s: %s", name, f)
					}
				}
			}
		})
	}
}

// TestPackLeavesDamageOut checks that an archive with a damaged member is not copied.
func TestPackLeavesDamageOut(t *testing.T) {
	a, b := zip(capture("http://a/", old, 200, "", "a")), []byte(zip(capture("http://b/", old, 200, "", "b")))
	b[len(b)-8] ^= 1
	files := packedFiles(t, pack(t, PackOptions{}, fileOf(t, t.TempDir(), "x.warc.gz", []byte(a+string(b)+a))))
	if urls := captured(t, files, files["indexes/index.cdxj"]); len(urls) != 2 || strings.Contains(files["indexes/index.cdxj"], "http://b/") {
		t.Errorf("captures %q", urls)
	}
}

func TestPackPipe(t *testing.T) {
	var b bytes.Buffer
	p := NewPacker(&b, PackOptions{Temp: t.TempDir()})
	v := Volume{Path: Input, Name: Input, Data: strings.NewReader(zip(capture("http://a/", old, 200, "", "a")))}
	if err := p.Archive(t.Context(), &v); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if files := packedFiles(t, b.Bytes()); files["archive/-.warc.gz"] == "" {
		t.Error(files)
	}
}

func TestPackSameNames(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, sub := range []string{"a", "b", "c"} {
		testfile.Check(t, os.Mkdir(filepath.Join(dir, sub), 0o777))
		names = append(names, archiveOf(t, filepath.Join(dir, sub), "x.warc.gz", capture("http://"+sub+"/", old, 200, "", sub)))
	}
	files := packedFiles(t, pack(t, PackOptions{}, names...))
	if urls := captured(t, files, files["indexes/index.cdxj"]); len(urls) != 3 {
		t.Error(urls)
	}
	for _, name := range []string{"x.warc.gz", "x-2.warc.gz", "x-3.warc.gz"} {
		if files["archive/"+name] == "" {
			t.Errorf("no %s", name)
		}
	}
}

func TestPackNames(t *testing.T) {
	for _, name := range []string{`a\b.warc.gz`, "new\nline.warc.gz", "\xff.warc.gz", "..warc.gz"} {
		var b bytes.Buffer
		p := NewPacker(&b, PackOptions{Temp: t.TempDir()})
		pipe := strings.NewReader(zip(capture("http://a/", old, 200, "", "a")))
		if err := errors.Join(p.Archive(t.Context(), &Volume{Path: name, Name: name, Data: pipe}), p.Close()); err != nil {
			t.Fatal(err)
		}
		if inner, faults := zipped(bytes.NewReader(b.Bytes()), int64(b.Len())); len(inner) != 1 || len(faults) > 0 {
			t.Errorf("%q: %d archives, %v", name, len(inner), faults)
		}
	}
}

func TestPackLargeIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const n = maxPlainIndex + 1
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	for i := range n {
		gz.Reset(&b)
		io.WriteString(gz, capture(fmt.Sprintf("http://a/%06d", i), old, 200, "", ""))
		gz.Close()
	}
	files := packedFiles(t, pack(t, PackOptions{}, fileOf(t, t.TempDir(), "x.warc.gz", b.Bytes())))
	packed := files["indexes/index.cdx.gz"]
	s := bufio.NewScanner(strings.NewReader(files["indexes/index.idx"]))
	if s.Scan(); s.Text() != `!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}` {
		t.Error(s.Text())
	}
	lines, end := 0, 0
	for s.Scan() {
		key, text, _ := strings.Cut(s.Text(), " {")
		var block struct {
			Offset, Length   int
			Digest, Filename string
		}
		if err := json.Unmarshal([]byte("{"+text), &block); err != nil {
			t.Fatal(err)
		}
		part := packed[block.Offset : block.Offset+block.Length]
		if block.Offset != end || block.Filename != "index.cdx.gz" || block.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(part))) {
			t.Errorf("%s", s.Text())
		}
		end += block.Length
		r, err := gzip.NewReader(strings.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil || !strings.HasPrefix(string(content), key+" {") {
			t.Errorf("%s begins with %.50s: %v", key, content, err)
		}
		urls := captured(t, files, string(content))
		if !slices.IsSorted(urls) || urls[0] != fmt.Sprintf("http://a/%06d", lines) {
			t.Errorf("%s begins with %s", key, urls[0])
		}
		lines += len(urls)
	}
	if lines != n || end != len(packed) {
		t.Errorf("%d lines and %d bytes, want %d and %d", lines, end, n, len(packed))
	}
}

func TestPackCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	p := NewPacker(io.Discard, PackOptions{Temp: t.TempDir()})
	defer p.Abort()
	for v, err := range Volumes([]string{archiveOf(t, t.TempDir(), "x.warc.gz", good("a"))}, nil) {
		if err := p.Archive(ctx, &v); err == nil || !errors.Is(err, stopped) {
			t.Error(err)
		}
		if err := p.Records(ctx, &v, nil); err == nil || !errors.Is(err, stopped) {
			t.Error(err)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func TestSelection(t *testing.T) {
	request := func(to string) string {
		const get = "GET / HTTP/1.1\r\n\r\n"
		s := strings.Replace(raw("request-"+to, get, len(get)), "resource", "request", 1)
		return strings.Replace(s, "\r\nWARC-Date", "\r\nWARC-Concurrent-To: <urn:x:"+to+">\r\nWARC-Date", 1)
	}
	id := func(url string) string { return url + "-" + old }
	dir := t.TempDir()
	one := archiveOf(t, dir, "one.warc.gz",
		strings.Replace(good("info"), "resource", "warcinfo", 1),
		capture("http://a/moved", newer, 302, "/elsewhere", ""),
		capture("http://a/moved", old, 301, "/", ""),
		request(id("http://a/moved")),
		request(id("http://a/")),
		capture("http://a/", old, 200, "", "the page"),
		strings.Replace(request(id("http://a/")), "request", "metadata", 3),
		capture("http://a/", newer, 200, "", "the page later"),
		capture("http://a/image", old, 200, "", "an image"),
		request(id("http://a/image")),
		capture("http://b/first", old, 200, "", "the original"),
	)
	two := archiveOf(t, dir, "two.warc.gz",
		revisit("http://b/again", refersURI, "http://b/first", refersDate, old, payloadIs, Digest([]byte("the original"))),
	)
	three := archiveOf(t, dir, "three.warc.gz", capture("http://c/", old, 200, "", "of no interest"))
	r := replay(t, one, two, three)
	s := NewSelection(r)
	offset := func(url string) int64 {
		all := r.Lookup(url)
		return all[len(all)-1].Offset // the oldest
	}
	for _, c := range []struct {
		url, filename string
		offset        int64
		found         bool
	}{
		{"http://a/", "one.warc.gz", offset("http://a/"), true},
		{"http://b/again", "two.warc.gz", 0, true},
		{"http://b/again", "one.warc.gz", 0, false},
		{"http://b/again", "two.warc.gz", 7, false},
		{"http://nowhere/", "two.warc.gz", 0, false},
		{"no address", "two.warc.gz", 0, false},
	} {
		found, ok := r.Find(Trace{URL: c.url, Filename: c.filename, Offset: c.offset})
		if ok != c.found {
			t.Errorf("%+v: %t", c, ok)
		}
		if !ok {
			continue
		}
		if err := s.Add(found, []string{"http://a/moved", "http://a/missing", "no address"}); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	var got []string
	for v, err := range Volumes([]string{one, two, three}, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if !s.From(&v) {
			continue
		}
		for rec, err := range v.Records() {
			if err != nil {
				t.Fatal(err)
			}
			if s.Has(&v, rec) {
				got = append(got, v.Name+" "+strings.Trim(rec.ID(), "<>"))
			}
		}
	}
	want := []string{
		"one.warc.gz urn:x:info",
		"one.warc.gz urn:x:http://a/moved-" + newer, // nearest to the time of the revisit
		"one.warc.gz urn:x:http://a/moved-" + old,   // nearest to the time of the page
		"one.warc.gz urn:x:request-http://a/moved-" + old,
		"one.warc.gz urn:x:request-http://a/-" + old,
		"one.warc.gz urn:x:http://a/-" + old,
		"one.warc.gz urn:x:metadata-http://a/-" + old,
		"one.warc.gz urn:x:http://b/first-" + old,
		"two.warc.gz urn:x:http://b/again-" + newer,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(s.places) != 5 {
		t.Errorf("%d captures", len(s.places))
	}
}

func TestFind(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	name := archiveOf(t, dir, "renamed.warc.gz",
		capture("http://a/", old, 200, "", "the page"),
		capture("http://a/", newer, 200, "", "the page later"),
		capture("http://b/", old, 200, "", "another"),
	)
	twin := archiveOf(t, other, "renamed.warc.gz", capture("http://a/", newer, 200, "", "the same place in a file of the same name"))
	r := replay(t, name, twin)
	at := func(s string) time.Time { return must(time.Parse(timestampLayout, s)) }
	var first, second Capture
	for _, c := range r.Lookup("http://a/") {
		switch c.Digest {
		case Digest([]byte("the page")):
			first = c
		case Digest([]byte("the page later")):
			second = c
		}
	}
	before, after := first.Time(), second.Time()
	for _, c := range []struct {
		about string
		trace Trace
		want  string // digest
	}{
		{"the time", Trace{URL: "http://a/", Time: before, Filename: "was.warc.gz", Offset: 7}, first.Digest},
		{"milliseconds", Trace{URL: "http://a/", Time: before.Add(7 * time.Millisecond), Filename: "-"}, first.Digest},
		{"time and digest", Trace{URL: "http://a/", Time: after, Digest: second.Digest, Filename: "x.wacz/archive/renamed.warc.gz"}, second.Digest},
		{"another digest", Trace{URL: "http://a/", Time: before, Digest: second.Digest}, ""},
		{"a digest of another kind", Trace{URL: "http://a/", Time: before, Digest: "md5:00000000000000000000000000000000"}, first.Digest},
		{"the digest alone", Trace{URL: "http://a/", Digest: second.Digest}, second.Digest},
		{"another time", Trace{URL: "http://a/", Time: at("19990101000000"), Digest: first.Digest}, ""},
		{"nothing", Trace{URL: "http://a/"}, ""},
		{"at a place that another page has now", Trace{URL: "http://a/", Time: after, Digest: second.Digest, Filename: "renamed.warc.gz", Offset: first.Offset}, second.Digest},
	} {
		got, ok := r.Find(c.trace)
		if ok != (c.want != "") || got.Digest != c.want && c.want != "" {
			t.Errorf("%s: %+v, %t", c.about, got, ok)
		}
	}
}

func TestPackPageBestScore(t *testing.T) {
	var b bytes.Buffer
	p := NewPacker(&b, PackOptions{Temp: t.TempDir()})
	for i, score := range []float64{0.5, 0.75, 0.75, 0.25} {
		page := PackedPage{URL: "http://a/", Time: "2026-01-01T00:00:00Z", Score: &score, Title: fmt.Sprint(i)}
		if err := p.Page(page); err != nil {
			t.Fatal(err)
		}
		if err := p.Page(PackedPage{URL: fmt.Sprintf("http://b/%d", i), Title: strings.Repeat("long ", 2000)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Page(PackedPage{URL: "http://a/", Time: "2026-01-01T00:00:00Z", Title: "no score"}); err != nil {
		t.Fatal(err)
	}
	if p.Pages() != 5 {
		t.Errorf("%d pages", p.Pages())
	}
	var got bytes.Buffer
	if err := p.writeListed(&got); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for line := range strings.Lines(got.String()) {
		var page PackedPage
		if err := json.Unmarshal([]byte(line), &page); err != nil {
			t.Fatal(err)
		}
		urls = append(urls, page.URL+" "+page.Title[:1])
	}
	want := []string{"http://b/0 l", "http://a/ 1", "http://b/1 l", "http://b/2 l", "http://b/3 l"}
	if diff := cmp.Diff(want, urls); diff != "" {
		t.Error(diff)
	}
	p.Abort()
}
