package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/testfile"
	"spoor/internal/weburl"
)

func canonical(t testing.TB, url string) string {
	t.Helper()
	c, err := weburl.Canonical(url)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func replay(t testing.TB, paths ...string) *Replay {
	t.Helper()
	return replayWith(t, ReplayOptions{Index: IndexOptions{Beside: true}}, paths...)
}

// replayWith opens archives until the end of the test.
func replayWith(t testing.TB, o ReplayOptions, paths ...string) *Replay {
	t.Helper()
	r, err := OpenReplay(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// indexAt opens the index of an archive until the end of the test.
func indexAt(t testing.TB, path string, o IndexOptions) *Index {
	t.Helper()
	x, err := OpenIndex(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func parsePick(t testing.TB, s string) Pick {
	t.Helper()
	p, err := ParsePick(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// capture returns a response record with that status, location and body.
func capture(url, date string, status int, location, body string) string {
	head := fmt.Sprintf("%d X\nContent-Type: text/html", status)
	if location != "" {
		head += "\nLocation: " + location
	}
	return httpRecord("response", url, date, head, body)
}

const (
	old   = "2020-01-01T00:00:00Z"
	newer = "2021-01-01T00:00:00Z"
)

// archiveOf writes a file of records, each in its own member.
func archiveOf(t testing.TB, dir, name string, records ...string) string {
	t.Helper()
	return fileOf(t, dir, name, []byte(zip(records...)))
}

func TestReplayFetch(t *testing.T) {
	r := replay(t, archiveOf(t, t.TempDir(), "x.warc.gz",
		capture("http://a/", old, 200, "", "root"),
		capture("http://a/moved", old, 301, "/", ""),
		capture("http://a/far", old, 302, "http://a/moved#part", ""),
		capture("http://a/gone", old, 404, "", "gone"),
		capture("http://a/out", old, 302, "http://b/", ""),
		capture("http://a/loop", old, 302, "/loop2", ""),
		capture("http://a/loop2", old, 302, "/loop", ""),
		capture("http://a/self", old, 200, "", "behind"),
		capture("http://a/self", newer, 302, "http://a/self", ""),
		capture("http://a/alone", newer, 302, "http://a/alone", ""),
		capture("http://a/nowhere", old, 302, "http://[", "no address"),
		capture("http://a/twice", newer, 200, "", "newer"),
		capture("http://a/twice", old, 200, "", "older"),
		capture("http://a/Case", old, 200, "", "Case"),
		capture("http://a/q?b=1&a=2", old, 200, "", "query"),
		capture("http://a/%7Eu/ä", old, 200, "", "spelled"),
		capture("dns:a", old, 200, "", "no page"),
		revisit("http://a/revisited", refersURI, "http://a/", refersDate, old, payloadIs, Digest([]byte("root"))),
		revisit("http://a/lost", refersURI, "http://a/", refersDate, old, payloadIs, Digest([]byte("lost"))),
	))
	for _, c := range []struct {
		url  string
		body string // with the status if it is not 200
		to   string // where it ended, if anywhere else
		hops int
		err  error
	}{
		{"http://a/", "root", "", 0, nil},
		{"HTTP://A:80/#x", "root", "", 0, nil},
		{"http://a/moved", "root", "http://a/", 1, nil},
		{"http://a/far", "root", "http://a/", 2, nil},
		{"http://a/gone", "404 gone", "", 0, nil},
		{"http://a/nowhere", "302 no address", "", 0, nil},
		{"http://a/twice", "newer", "", 0, nil},
		{"http://a/self", "behind", "", 0, nil},
		{"http://a/~u/%c3%a4", "spelled", "", 0, nil},
		{"http://a/revisited", "root", "", 0, nil},
		{"http://a/lost", "", "", 0, ErrNotArchived},
		{"http://a/never", "", "", 0, ErrNotArchived},
		{"http://a/case", "", "", 0, ErrNotArchived},
		{"https://a/", "", "", 0, ErrNotArchived},
		{"http://www.a/", "", "", 0, ErrNotArchived},
		{"http://a/q?a=2&b=1", "", "", 0, ErrNotArchived},
		{"http://a/out", "", "http://b/", 1, ErrNotArchived},
		{"http://a/loop", "", "http://a/loop", 2, ErrRedirectLoop},
		{"http://a/alone", "", "", 1, ErrRedirectLoop},
		{"ftp://a/", "", "", 0, weburl.ErrScheme},
	} {
		t.Run(c.url, func(t *testing.T) {
			page, err := r.Fetch(c.url)
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if page == nil {
				if c.err != weburl.ErrScheme {
					t.Error("no page")
				}
				return
			}
			body := ""
			if page.Response != nil {
				body = string(page.Body)
				if page.StatusCode != 200 {
					body = fmt.Sprint(page.StatusCode, " ", body)
				}
			}
			to := canonical(t, c.url)
			if c.to != "" {
				to = c.to
			}
			if body != c.body || page.URL != to || len(page.Hops) != c.hops {
				t.Errorf("got %q from %s after %v\nwant %q from %s after %d", body, page.URL, page.Hops, c.body, to, c.hops)
			}
			// A revisit without its original is found, and has no body.
			if at, _, err := r.Resolve(c.url); c.url != "http://a/lost" && !errors.Is(err, c.err) || err == nil && at != to {
				t.Errorf("leads to %s, %v", at, err)
			}
			if u, _ := weburl.Canonical(c.url); r.Has(u) != (c.body != "" || c.hops > 0 || c.url == "http://a/lost") {
				t.Errorf("Has is %v", r.Has(u))
			}
		})
	}
}

func TestReplayNewestCapture(t *testing.T) {
	dir := t.TempDir()
	a := archiveOf(t, dir, "a.warc.gz", capture("http://a/", newer, 200, "", "newer"), capture("http://a/tie", old, 200, "", "a"), capture("http://a/a", old, 200, "", "a"))
	b := archiveOf(t, dir, "b.warc.gz", capture("http://a/", old, 200, "", "older"), capture("http://a/tie", old, 200, "", "b"), capture("http://a/tie", old, 200, "", "b, later"))
	for _, paths := range [][]string{{a, b}, {b, a}, {dir}, {dir, a}} {
		r := replay(t, paths...)
		for url, want := range map[string]string{"http://a/": "newer", "http://a/tie": "b, later", "http://a/a": "a"} {
			page, err := r.Fetch(url)
			if err != nil || string(page.Body) != want {
				t.Errorf("%s: %v, want %s", url, err, want)
			}
		}
		if n := len(r.Lookup("http://a/tie")); n != 3 {
			t.Errorf("%d captures, want 3", n)
		}
	}
}

func TestAllReusesMemory(t *testing.T) {
	long := strings.Repeat("a long one, ", 1000)
	coding := func(header, body string) string { return "Content-Type: text/html\r\n" + header + "\r\n\r\n" + body }
	plain := "Content-Type: text/html\r\n\r\n"
	bodies := []struct{ written, want string }{
		{plain + long, long},
		{coding("Content-Encoding: gzip", coded(t, "gzip", "packed")), "packed"},
		{coding("Content-Encoding: gzip", coded(t, "gzip", long)), long},
		{coding("Content-Encoding: gzip", "not packed"), "not packed"},
		{coding("Transfer-Encoding: chunked", "3\r\nin \r\n6\r\nchunks\r\n0\r\n\r\n"), "in chunks"},
		{coding("Transfer-Encoding: chunked", "none"), "none"},
		{plain + "short", "short"},
		{coding("Content-Encoding: gzip", coded(t, "gzip", "packed again")), "packed again"},
		{plain, ""},
	}
	var records []string
	for i, b := range bodies {
		written := capture(fmt.Sprintf("http://a/%d", i), old, 200, "", "")
		head, _, _ := strings.Cut(written, "Content-Length")
		block := "HTTP/1.1 200 X\r\n" + b.written
		records = append(records, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s\r\n\r\n", head, len(block), block))
	}
	path := archiveOf(t, t.TempDir(), "x.warc.gz", records...)
	var types []string
	memory := map[*byte]int{}
	for page, err := range All([]string{path}, Filter{}, Limits{}) {
		if err != nil {
			t.Fatal(err)
		}
		if want := bodies[len(types)].want; string(page.Body) != want {
			t.Errorf("%s: %.40q of %d bytes, want %.40q", page.URL, page.Body, len(page.Body), want)
		}
		if len(page.Body) > 0 {
			memory[unsafe.SliceData(page.Body)]++
		}
		types = append(types, page.Header.Get("Content-Type")+" "+page.URL)
	}
	for i, got := range types {
		if want := fmt.Sprintf("text/html http://a/%d", i); got != want {
			t.Errorf("%s is %s now", want, got)
		}
	}
	if len(types) != len(bodies) || len(memory) >= len(bodies)-1 {
		t.Errorf("%d pages of %d, in %d places", len(types), len(bodies), len(memory))
	}
}

func TestAllOrder(t *testing.T) {
	dir := t.TempDir()
	b := archiveOf(t, dir, "b.warc.gz",
		capture("http://a/1", old, 200, "", "1"),
		strings.Replace(capture("http://a/2", old, 200, "", "2"), "text/html", "text/css ", 1),
		capture("http://a/3", old, 404, "", "3"),
		good("4"),
		strings.Replace(capture("http://a/5", old, 200, "", "5"), "WARC-Type: response", "WARC-Type: revisit", 1),
		capture("dns:a", old, 200, "", "6"),
		capture("http://a/1", newer, 200, "", "1 again"),
	)
	a := archiveOf(t, dir, "a.warc.gz", "rubbish", capture("http://a/7", old, 200, "", "7"))
	all := func(f Filter) string {
		var words []string
		for page, err := range All([]string{b, a}, f, Limits{}) {
			if page == nil {
				if _, ok := errors.AsType[*FormatError](err); !ok {
					t.Error(err)
				}
				words = append(words, "!")
				continue
			}
			if page.Length == 0 || page.Filename == "" || page.Digest != Digest(page.Raw) || page.Time.IsZero() {
				t.Errorf("%+v", page)
			}
			words = append(words, string(page.Body))
		}
		return strings.Join(words, ", ")
	}
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "1, 2, 3, block of 4, 1 again, !, 7"},
		{Filter{MIME: []string{"text/html"}, Status: []int{200}}, "1, 1 again, !, 7"},
		{Filter{MIME: []string{"text/css", "text/plain"}}, "2, block of 4, !"},
		{Filter{Status: []int{404, 500}}, "3, !"},
	} {
		if got := all(c.filter); got != c.want {
			t.Errorf("%+v: %s\nwant %s", c.filter, got, c.want)
		}
	}
	revisits := 0
	all(Filter{Status: []int{404}, Revisit: func() { revisits++ }})
	if revisits != 1 {
		t.Errorf("%d revisits, want 1", revisits)
	}
	for page := range All([]string{b}, Filter{}, Limits{}) {
		if string(page.Body) != "1" {
			t.Error("went on when it should have stopped")
		}
		break
	}
	n := 0
	for _, err := range All([]string{a, filepath.Join(dir, "none"), b}, Filter{}, Limits{}) {
		if n++; !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
	if n != 1 {
		t.Errorf("%d answers of files that are not all there", n)
	}
}

func TestMediaTypePatterns(t *testing.T) {
	for _, c := range []struct {
		list, taken, refused string
		bad                  bool
	}{
		{list: "text/html, IMAGE/png,", taken: "text/html image/png", refused: "text/plain image/gif"},
		{list: "text/*,image/png", taken: "text/html text/plain image/png", refused: "image/gif textual/html text"},
		{list: "", refused: "text/html"},
		{list: "text/*+xml", bad: true},
		{list: "te*/html", bad: true},
		{list: "*/*", bad: true},
		{list: "*", bad: true},
		{list: "html", bad: true},
		{list: "text/", bad: true},
		{list: "text/html;q=1", bad: true},
	} {
		types, err := ParseMediaTypes(c.list)
		if (err != nil) != c.bad {
			t.Errorf("%q: %v", c.list, err)
		}
		for media := range strings.FieldsSeq(c.taken) {
			if !TakesMediaType(types, media) {
				t.Errorf("%q refuses %s", c.list, media)
			}
		}
		for media := range strings.FieldsSeq(c.refused) {
			if TakesMediaType(types, media) {
				t.Errorf("%q takes %s", c.list, media)
			}
		}
	}
}

func TestReplayConcurrent(t *testing.T) {
	var records []string
	for i := range 50 {
		records = append(records, capture(fmt.Sprint("http://a/", i), old, 200, "", fmt.Sprint("page ", i)))
	}
	r := replay(t, archiveOf(t, t.TempDir(), "x.warc.gz", records...))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				page, err := r.Fetch(fmt.Sprint("http://a/", i))
				if err != nil || string(page.Body) != fmt.Sprint("page ", i) {
					t.Errorf("%d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestIndexOfChangedArchive(t *testing.T) {
	dir := t.TempDir()
	path := archiveOf(t, dir, "x.warc.gz", capture("http://a/1", old, 200, "", "1"), "rubbish")
	faults := 0
	o := IndexOptions{Beside: true, Report: func(string, error) { faults++ }}
	open := func() *Index { return indexAt(t, path, o) }
	x := open()
	if x.Path != path+".cdxj" || faults != 1 || x.Meta.Faults != 1 || x.Meta.Captures != 1 || x.Meta.Records != 1 {
		t.Errorf("%s, %d faults, %+v", x.Path, faults, x.Meta)
	}
	if diff := cmp.Diff([]string{"x.warc.gz", "x.warc.gz.cdxj"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	if x = open(); faults != 1 || x.Meta.Faults != 1 {
		t.Error("built again though nothing changed")
	}
	archiveOf(t, dir, "x.warc.gz", capture("http://a/2", old, 200, "", "2"))
	if x = open(); !x.Has("http://a/2") || x.Has("http://a/1") {
		t.Error("not built again though the archive changed")
	}
	testfile.Check(t, os.Chtimes(path, time.Time{}, noon))
	if x = open(); x.Meta.Modified != noon.UnixNano() {
		t.Error("not built again though the archive was touched")
	}
	for name, damage := range map[string]string{"empty": "", "torn": "!meta {\"spoor-c", "older": "!meta {\"spoor-cdxj\":0}\n", "rubbish": "a 1 {}\n"} {
		testfile.Write(t, path+".cdxj", damage)
		if x = open(); !x.Has("http://a/2") {
			t.Errorf("%s index not built again", name)
		}
	}
}

func TestIndexOfOtherArchiveIsReplaced(t *testing.T) {
	one := capture("http://a/1", old, 200, "", "1")
	for what, test := range map[string]struct {
		one, other, want string
	}{
		"address": {one, capture("http://a/2", old, 200, "", "2"), ""},
		"date":    {one, capture("http://a/1", newer, 200, "", "2"), "2"},
		"moved":   {capture("http://a/1", old, 301, "/x", ""), capture("http://a/2", old, 301, "/x", ""), ""},
	} {
		dir := t.TempDir()
		path := fileOf(t, dir, "x.warc", []byte(test.one))
		testfile.Check(t, os.Chtimes(path, time.Time{}, noon))
		replay(t, path)
		fileOf(t, dir, "x.warc", []byte(test.other)) // of the same size
		testfile.Check(t, os.Chtimes(path, time.Time{}, noon))
		page, err := replay(t, path).Fetch("http://a/1")
		if test.want == "" && !errors.Is(err, ErrNotArchived) || test.want != "" && (err != nil || string(page.Body) != test.want) {
			t.Errorf("%s: %+v, %v", what, page, err)
		}
		if r := replay(t, path); r.Has("http://a/2") != (test.want == "") {
			t.Errorf("%s: the index was not replaced", what)
		}
	}
}

func TestTruncatedIndex(t *testing.T) {
	path := archiveOf(t, t.TempDir(), "x.warc.gz", capture("http://a/1", old, 200, "", "1"), capture("http://a/2", old, 200, "", "2"))
	replay(t, path)
	index := must(os.ReadFile(path + ".cdxj"))
	for n := 0; n < len(index); n += step(5) {
		testfile.Write(t, path+".cdxj", index[:n])
		if r := replay(t, path); !r.Has("http://a/1") || !r.Has("http://a/2") {
			t.Fatalf("of %d bytes", n)
		}
	}
}

func TestIndexIsUTF8(t *testing.T) {
	record := strings.Replace(capture("http://a/", old, 200, "", "a"), "text/html", "text/\xff\xfel", 1)
	record = strings.Replace(record, "Content-Type", "WARC-Payload-Digest: sha1:\xff\r\nContent-Type", 1)
	path := archiveOf(t, t.TempDir(), "x.warc.gz", record)
	if r := replay(t, path); !r.Has("http://a/") {
		t.Error("not there")
	}
	if b := must(os.ReadFile(path + ".cdxj")); !utf8.Valid(b) {
		t.Errorf("%q", b)
	}
}

func TestIndexPlaces(t *testing.T) {
	dir := t.TempDir()
	path := archiveOf(t, dir, "x.warc.gz", capture("http://a/1", old, 200, "", "1"))
	// A directory in its place stops even root.
	testfile.Check(t, os.MkdirAll(path+".cdxj.part", 0o777))
	x := indexAt(t, path, IndexOptions{Beside: true})
	if x.Path != "" || !x.Has("http://a/1") {
		t.Errorf("without a cache it is at %q", x.Path)
	}
	cache := filepath.Join(t.TempDir(), "made", "here")
	for range 2 {
		x = indexAt(t, path, IndexOptions{Cache: cache})
		if filepath.Dir(x.Path) != cache || !x.Has("http://a/1") {
			t.Errorf("with a cache it is at %q", x.Path)
		}
	}
	if got := names(t, cache); len(got) != 1 {
		t.Errorf("in the cache: %v", got)
	}
}

func TestOpenIndexConcurrent(t *testing.T) {
	dir := t.TempDir()
	path := archiveOf(t, dir, "x.warc.gz", capture("http://a/1", old, 200, "", "1"), "rubbish")
	var mu sync.Mutex
	faults := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			x, err := OpenIndex(path, IndexOptions{Beside: true, Report: func(string, error) {
				mu.Lock()
				faults++
				mu.Unlock()
			}})
			if err != nil {
				t.Error(err)
				return
			}
			if !x.Has("http://a/1") {
				t.Error("it is not whole")
			}
			x.Close()
		})
	}
	wg.Wait()
	if faults != 1 {
		t.Errorf("built %d times", faults)
	}
	if diff := cmp.Diff([]string{"x.warc.gz", "x.warc.gz.cdxj"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestReplayWithoutRecords(t *testing.T) {
	dir := t.TempDir()
	text := fileOf(t, dir, "list.txt", []byte("http://a/\nhttp://b/\n"))
	sound := archiveOf(t, dir, "sound.warc.gz", capture("http://a/", old, 200, "", "a"))
	hollow := t.TempDir()
	fileOf(t, hollow, "x.warc", []byte("torn"))
	for range 2 { // the second time by the index of the first
		for _, paths := range [][]string{{text}, {sound, text}, {text, sound}, {hollow}} {
			if _, err := OpenReplay(paths, ReplayOptions{Index: IndexOptions{Beside: true}}); !errors.Is(err, ErrNotWARC) {
				t.Errorf("%v: %v", paths, err)
			}
		}
	}
	// In a directory it may be what a crash left.
	archiveOf(t, hollow, "y.warc.gz", capture("http://a/", old, 200, "", "a"))
	for range 2 {
		if r := replay(t, hollow); !r.Has("http://a/") || r.Faults() != 1 {
			t.Errorf("%d faults", r.Faults())
		}
	}
	// And an empty file is the archive of nothing.
	if r := replay(t, fileOf(t, dir, "empty.warc", nil)); r.Has("http://a/") || r.Faults() != 0 {
		t.Error("something is in nothing")
	}
}

func TestMalformedURLIsFault(t *testing.T) {
	long := "http://a/" + strings.Repeat("x", weburl.MaxLength)
	records := []string{capture("http://a/1", old, 200, "", "1"), capture(long, old, 200, "", "2"), capture("HTTPS://", old, 200, "", "3"), capture("dns:a", old, 200, "", "4"), capture("http://a/5", old, 200, "", "5")}
	path := archiveOf(t, t.TempDir(), "x.warc.gz", records...)
	var got []string
	for page, err := range All([]string{path}, Filter{}, Limits{}) {
		if fault, ok := errors.AsType[*FormatError](err); ok {
			got = append(got, fmt.Sprint(fault.Offset))
		} else {
			got = append(got, page.URL)
		}
	}
	second := len(zip(records[0]))
	want := []string{"http://a/1", fmt.Sprint(second), fmt.Sprint(second + len(zip(records[1]))), "http://a/5"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r := replay(t, path); r.Faults() != 2 || !r.Has("http://a/5") {
		t.Errorf("%d faults", r.Faults())
	}
}

func TestSegmentIsTruncated(t *testing.T) {
	whole := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nthe first part, the second part"
	at := strings.Index(whole, "the second")
	file := zip(
		record("response", "http://a/", old, whole[:at], "Content-Type", "application/http", "WARC-Segment-Number", "1", payloadIs, Digest([]byte("the first part, the second part"))),
		record("continuation", "http://a/", newer, whole[at:], "WARC-Segment-Number", "2", "WARC-Segment-Origin-ID", "<urn:x:http://a/-"+old+">", "WARC-Segment-Total-Length", fmt.Sprint(len(whole))))
	dir := t.TempDir()
	page, err := replay(t, fileOf(t, dir, "x.warc.gz", []byte(file))).Fetch("http://a/")
	if err != nil || page.Truncated != "length" || string(page.Body) != "the first part, " {
		t.Errorf("%+v, %v", page, err)
	}
	// Its digest is that of all parts: not right here, and not wrong.
	for _, f := range findings(t, file) {
		if !strings.Contains(f, "digest?: ") {
			t.Error(f)
		}
	}
	var mended strings.Builder
	n, err := RepairFile(t.Context(), &mended, strings.NewReader(file), int64(len(file)), RepairOptions{Temp: dir})
	if err != nil || n.Repairs != 0 || mended.String() != file {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestTruncatedReason(t *testing.T) {
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
	for header, want := range map[string]string{"": "disconnect", "time": "time", "length": "length", "disconnect": "disconnect", "unspecified": "disconnect"} {
		fields := []string{"Content-Type", "application/http"}
		if header != "" {
			fields = append(fields, "WARC-Truncated", header)
		}
		page, err := replay(t, archiveOf(t, t.TempDir(), "x.warc.gz", record("response", "http://a/", old, block, fields...))).Fetch("http://a/")
		if err != nil || page.Truncated != want || string(page.Body) != "hello" {
			t.Errorf("%q: %+v, %v", header, page, err)
		}
	}
}
