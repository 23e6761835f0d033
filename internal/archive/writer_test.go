package archive

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// chacha returns a deterministic source of random bytes.
func chacha() io.Reader { return rand.NewChaCha8([32]byte{1}) }

func testOptions(dir string) WriterOptions {
	return WriterOptions{
		Prefix: filepath.Join(dir, "crawl"),
		Host:   "example.org",
		Info:   []Field{{"software", "spoor/test"}, {"operator", "nobody"}, {"robots", "obey"}, {"http-header-user-agent", "spoor/test"}},
		Now:    func() time.Time { return noon },
		Random: chacha(),
	}
}

func newWriter(t testing.TB, o WriterOptions) *Writer {
	t.Helper()
	w, err := NewWriter(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// exchange returns an exchange with a body of that size.
func exchange(url string, size int) *Exchange {
	body := bytes.Repeat([]byte(url+"\n"), size/(len(url)+1)+1)[:size]
	priority := 0.25
	return &Exchange{
		URL: url, Time: noon, IP: "127.0.0.1",
		Request: []byte("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"),
		Head:    fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", size),
		Body:    body,
		Metadata: Metadata{
			Via: "http://example.com/via", Depth: 2, Redirects: 1, FetchTime: 12 * time.Millisecond,
			Operator: "crossover", Generation: 3, Priority: &priority, Parents: []string{"http://example.com/p", "http://example.com/q"},
		},
	}
}

func write(t testing.TB, w *Writer, x *Exchange) Location {
	t.Helper()
	at, err := w.Write(x)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// names returns the names of the files in a directory, without the list of captures.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ledgerSuffix) {
			all = append(all, e.Name())
		}
	}
	return all
}

// TestPayloadIsTheBodyWithoutChunks checks that the chunks of a page make no difference to its
// digest.
func TestPayloadIsTheBodyWithoutChunks(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, testOptions(dir))
	plain := exchange("http://example.com/", 3000)
	want := Digest(plain.Body)
	write(t, w, plain)
	for size := 700; size < 4000; size += 700 {
		x := exchange(fmt.Sprintf("http://example.com/%d", size), 3000)
		x.Head, x.Chunked = []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), true
		var b bytes.Buffer
		for chunk := range slices.Chunk(plain.Body, size) {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(chunk), chunk)
		}
		x.Body = append(b.Bytes(), "0\r\n\r\n"...)
		if at := write(t, w, x); at.Digest != want || !at.Revisit {
			t.Errorf("chunks of %d bytes: %+v, want the digest %s", size, at, want)
		}
		if size == 700 {
			r := &Response{Head: parseHead(x.Head).Head, Raw: x.Body}
			if got := r.Digest(); got != want {
				t.Errorf("digest of the response is %s, want %s", got, want)
			}
		}
	}
}

func TestWriter(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, testOptions(dir))
	x := exchange("http://example.com/", 3000)
	at := write(t, w, x)
	again := write(t, w, exchange("http://example.com/", 3000))
	small := write(t, w, exchange("http://example.com/small", 10))
	write(t, w, exchange("http://example.com/small", 10))
	const name = "crawl-20261120120000-00000-example.org.warc.gz"
	if diff := cmp.Diff([]string{name + ".open"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{name}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	if at.Filename != name || at.Revisit || small.Revisit || !again.Revisit || again.Digest != at.Digest {
		t.Errorf("%+v\n%+v\n%+v", at, again, small)
	}

	data := testfile.Read(t, filepath.Join(dir, name))
	var kinds []string
	var end int64
	for rec := range wholeRecords(t, bytes.NewReader(data)) {
		block, err := io.ReadAll(rec)
		if err != nil {
			t.Fatal(err)
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		if rec.Offset != end || rec.Skip != 0 {
			t.Errorf("record at %d+%d, want %d", rec.Offset, rec.Skip, end)
		}
		end += rec.Length
		if got := rec.Header.Get("WARC-Block-Digest"); got != Digest(block) {
			t.Errorf("digest of the block is %s, header says %s", Digest(block), got)
		}
		kinds = append(kinds, rec.Type())
		switch {
		case rec.Type() == "warcinfo":
			want := "software: spoor/test\r\noperator: nobody\r\nrobots: obey\r\nhttp-header-user-agent: spoor/test\r\n" +
				"format: WARC File Format 1.1\r\nconformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\nhostname: example.org\r\n"
			if diff := cmp.Diff(want, string(block)); diff != "" {
				t.Error(diff)
			}
			if got := rec.Header.Get("WARC-Filename"); got != name {
				t.Errorf("WARC-Filename %s", got)
			}
		case rec.Offset == at.Offset:
			if rec.Length != at.Length || rec.TargetURI() != x.URL || !rec.Date().Equal(noon) || rec.Header.Get("WARC-IP-Address") != "127.0.0.1" ||
				rec.Header.Get("WARC-Payload-Digest") != at.Digest || at.Digest != Digest(x.Body) {
				t.Errorf("%+v", rec.Header)
			}
			if string(block) != string(x.Head)+string(x.Body) {
				t.Error("the block is not what was received")
			}
		case rec.Type() == "revisit":
			if rec.Offset != again.Offset || rec.Length != again.Length || string(block) != string(x.Head) {
				t.Errorf("%+v", rec)
			}
			for name, want := range map[string]string{
				"WARC-Profile":              "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
				"WARC-Refers-To-Target-URI": x.URL,
				"WARC-Refers-To-Date":       "2026-11-20T12:00:00.000Z",
				"WARC-Payload-Digest":       at.Digest,
				"WARC-Truncated":            "length",
			} {
				if got := rec.Header.Get(name); got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
		case rec.Type() == "metadata" && rec.Offset < again.Offset:
			want := "via: http://example.com/via\r\nhopsFromSeed: LLR\r\nfetchTimeMs: 12\r\noperator: crossover\r\ngeneration: 3\r\npriority: 0.25\r\n" +
				"parent: http://example.com/p\r\nparent: http://example.com/q\r\n"
			if diff := cmp.Diff(want, string(block)); diff != "" {
				t.Error(diff)
			}
		}
	}
	if got, want := strings.Join(kinds, " "), "warcinfo response request metadata revisit request metadata response request metadata response request metadata"; got != want {
		t.Errorf("records %s\nwant %s", got, want)
	}
	if end != int64(len(data)) {
		t.Errorf("records end at %d of %d", end, len(data))
	}

	// The whole file must be valid gzip.
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, z); err != nil {
		t.Error(err)
	}

	p := replay(t, filepath.Join(dir, name))
	for _, c := range p.Lookup(x.URL) {
		page, err := p.Read(c)
		if err != nil {
			t.Fatal(err)
		}
		if string(page.Body) != string(x.Body) || page.StatusCode != 200 || page.Header.Get("Content-Type") != "text/html" {
			t.Errorf("capture at %d: %d %v, %d bytes", c.Offset, page.StatusCode, page.Header, len(page.Body))
		}
	}
}

func TestWriterIsDeterministic(t *testing.T) {
	var first []byte
	for range 2 {
		dir := t.TempDir()
		w := newWriter(t, testOptions(dir))
		for i := range 20 {
			write(t, w, exchange(fmt.Sprintf("http://example.com/%d", i%7), 900+50*(i%7)))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data := testfile.Read(t, filepath.Join(dir, names(t, dir)[0]))
		if first == nil {
			first = data
		} else if !bytes.Equal(first, data) {
			t.Error("two runs, two files")
		}
	}
}

func TestFieldInjection(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, testOptions(dir))
	x := exchange("http://example.com/", 10)
	x.IP = "1.2.3.4\r\nWARC-Type: warcinfo"
	x.Metadata.Via = "http://a/\r\n\r\nWARC/1.1"
	write(t, w, x)
	w.Close()
	if got, want := census(t, filepath.Join(dir, names(t, dir)[0])), "metadata 1, request 1, response 1, warcinfo 1"; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
}

func TestWriterRotates(t *testing.T) {
	dir := t.TempDir()
	o := testOptions(dir)
	o.MaxSize = 2000
	w := newWriter(t, o)
	written := map[string][]Location{}
	for i := range 10 {
		at := write(t, w, exchange(fmt.Sprintf("http://example.com/%d", i), 100))
		written[at.Filename] = append(written[at.Filename], at)
	}
	w.Close()
	got := names(t, dir)
	if len(got) < 3 || len(got) != len(written) {
		t.Fatalf("files %v, written to %v", got, written)
	}
	for i, name := range got {
		if want := fmt.Sprintf("crawl-20261120120000-%05d-example.org.warc.gz", i); name != want {
			t.Errorf("file %s, want %s", name, want)
		}
		n := len(written[name])
		if got, want := census(t, filepath.Join(dir, name)), fmt.Sprintf("metadata %d, request %d, response %d, warcinfo 1", n, n, n); got != want {
			t.Errorf("%s: read %s, want %s", name, got, want)
		}
	}
}

func TestWriterAppends(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		w := newWriter(t, testOptions(dir))
		write(t, w, exchange(fmt.Sprintf("http://example.com/%d", i), 100))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, dir); len(got) != 1 {
		t.Fatalf("files %v", got)
	}
	if got, want := census(t, filepath.Join(dir, names(t, dir)[0])), "metadata 3, request 3, response 3, warcinfo 1"; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
}

func TestConcurrentWriters(t *testing.T) {
	dir := t.TempDir()
	a, b := newWriter(t, testOptions(dir)), newWriter(t, testOptions(dir))
	var wg sync.WaitGroup
	for _, w := range []*Writer{a, b} {
		for i := range 8 {
			wg.Go(func() { write(t, w, exchange(fmt.Sprintf("http://example.com/%d", i), 2000)) })
		}
	}
	wg.Wait()
	a.Close()
	b.Close()
	got := names(t, dir)
	if len(got) != 2 || !strings.Contains(got[0], "-00000-") || !strings.Contains(got[1], "-00001-") {
		t.Fatalf("files %v", got)
	}
	for _, name := range got {
		if got, want := census(t, filepath.Join(dir, name)), "metadata 8, request 8, response 8, warcinfo 1"; got != want {
			t.Errorf("%s: read %s, want %s", name, got, want)
		}
	}
}

// TestClosedFileIsNotReplaced lets a writer choose the name of a file that another one has just
// closed.
func TestClosedFileIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	late := newWriter(t, testOptions(dir))
	taken := strings.Replace(late.name, "-00000-", "-00001-", 1)
	fileOf(t, dir, taken, []byte("whole"))
	late.mu.Lock()
	err := late.rotate()
	late.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	write(t, late, exchange("http://example.com/", 10))
	late.Close()
	next := strings.Replace(taken, "-00001-", "-00002-", 1)
	for _, left := range []string{"", zip(good("a"))} { // behind a file that is there already
		if err := os.Rename(filepath.Join(dir, next), filepath.Join(dir, next+"x")); err != nil {
			t.Fatal(err) // so that taken is the newest
		}
		if left != "" {
			fileOf(t, dir, taken+openSuffix, []byte(left))
		}
		newWriter(t, testOptions(dir)).Close()
		if got := string(must(os.ReadFile(filepath.Join(dir, taken)))); got != "whole" {
			t.Errorf("the other file is %q now", got)
		}
		if exists := checkFree(filepath.Join(dir, taken+openSuffix)) != nil; exists != (left != "") {
			t.Errorf("%q is there: %v", left, exists)
		}
	}
}

// TestTruncatedFile truncates a file at every byte, as a killed process may, and appends to it.
func TestTruncatedFile(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		t.Run(fmt.Sprintf("zstd=%t", zstd), func(t *testing.T) { testTornFile(t, zstd) })
	}
}

func testTornFile(t *testing.T, zstd bool) {
	options := func(dir string) WriterOptions {
		o := testOptions(dir)
		o.Zstd = zstd
		return o
	}
	dir := t.TempDir()
	w := newWriter(t, options(dir))
	for i := range 2 {
		write(t, w, exchange(fmt.Sprintf("http://example.com/%d", i), 40))
	}
	w.Close()
	name := names(t, dir)[0]
	data := testfile.Read(t, filepath.Join(dir, name))
	var ends []int64 // of records
	for rec := range wholeRecords(t, bytes.NewReader(data)) {
		rec.Close()
		ends = append(ends, rec.Offset+rec.Length)
	}
	if len(ends) != 7 {
		t.Fatalf("%d records", len(ends))
	}
	torn := t.TempDir()
	path := filepath.Join(torn, name)
	for cut := range len(data) + 1 {
		var last int64
		for _, end := range ends {
			if end <= int64(cut) {
				last = end
			}
		}
		near := int64(cut) - last
		if near > 1 && cut%step(10) > 0 {
			continue
		}
		size, err := wholeMembers(bytes.NewReader(data[:cut]))
		if err != nil || size != last {
			t.Fatalf("cut at %d: whole up to %d, %v; want %d", cut, size, err, last)
		}
		if near > 1 && cut%(101*step(5)) > 0 {
			continue // what follows waits for the disk each time
		}
		testfile.Write(t, path+".open", data[:cut])
		w, err := NewWriter(options(torn))
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		write(t, w, exchange("http://example.com/later", 40))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		types, faults := tally(t, f)
		f.Close()
		whole := 0
		for _, end := range ends {
			if end <= int64(cut) {
				whole++
			}
		}
		want := max(whole, 1) + 3 // a file of which nothing is left gets its warcinfo anew
		got := 0
		for _, n := range types {
			got += n
		}
		if len(faults) > 0 || got != want || types["warcinfo"] != 1 {
			t.Fatalf("cut at %d: %d records, want %d; %v", cut, got, want, faults)
		}
		os.Remove(path)
	}
}

// TestTruncatedArchiveInArchive kills the writer of a fetched archive.
func TestTruncatedArchiveInArchive(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		inner := testOptions(t.TempDir())
		inner.Zstd = zstd
		w := newWriter(t, inner)
		for i := range 20 {
			x := exchange(fmt.Sprint("http://example.com/", i), 0)
			x.Body = random(3000)
			write(t, w, x)
		}
		path := w.path(w.name)
		w.Close()
		body := testfile.Read(t, path)
		dir := t.TempDir()
		o := testOptions(dir)
		o.Zstd = zstd
		w = newWriter(t, o)
		x := exchange("http://example.com/x.warc", 0)
		x.Body = body
		at := write(t, w, x)
		w.Close()
		path = w.path(w.name)
		for _, cut := range []int64{1, at.Length / 3, at.Length - 9, at.Length - 1} {
			testfile.Check(t, os.Truncate(path, at.Offset+cut))
			testfile.Check(t, os.Rename(path, path+openSuffix))
			newWriter(t, o).Close()
			if got := census(t, path); got != "warcinfo 1" {
				t.Errorf("zstd=%t, cut at %d: read %s", zstd, cut, got)
			}
			w = newWriter(t, o)
			if at = write(t, w, x); at.Revisit {
				t.Error("what was cut off is referred to")
			}
			w.Close()
		}
	}
}

// TestLargeOpenFileIsReadFromItsEnd checks that the start of an abandoned file is not read.
func TestLargeOpenFileIsReadFromItsEnd(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, testOptions(dir))
	x := exchange("http://example.com/", 0)
	var last Location
	for i := range 25 {
		x.Body = random(1<<20 + i)
		last = write(t, w, x)
	}
	f, err := os.OpenFile(w.path(w.name)+openSuffix, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mark, ok := w.ledger.get(markKey(w.name))
	if !ok || mark.offset < markEvery || mark.offset > last.Offset {
		t.Fatalf("mark at %d, %v", mark.offset, ok)
	}
	for _, c := range []struct{ cut, want int64 }{
		{last.Offset + 100, last.Offset},
		{mark.offset + 100, mark.offset}, // nothing whole behind the mark: all is read
		{100, 0},
	} {
		if err := f.Truncate(c.cut); err != nil {
			t.Fatal(err)
		}
		if got, err := w.wholeMembers(f, w.name); err != nil || got != c.want {
			t.Errorf("cut at %d: whole up to %d, want %d, %v", c.cut, got, c.want, err)
		}
	}
}

// TestTruncatedClosedFile checks that a closed file with a truncated end is not changed.
func TestTruncatedClosedFile(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		dir := t.TempDir()
		var cut []string
		o := testOptions(dir)
		o.Zstd = zstd
		o.Cut = func(path string) { cut = append(cut, path) }
		session := func(url string) Location {
			w := newWriter(t, o)
			at := write(t, w, exchange(url, 100))
			w.Close()
			return at
		}
		session("http://example.com/a")
		at := session("http://example.com/b")
		all := names(t, dir)
		if len(all) != 1 || cut != nil {
			t.Fatalf("%v, cut: %v", all, cut)
		}
		path := filepath.Join(dir, all[0])
		testfile.Check(t, os.Truncate(path, at.Offset+at.Length/2))
		torn := string(must(os.ReadFile(path)))
		session("http://example.com/c")
		session("http://example.com/d")
		if diff := cmp.Diff([]string{path}, cut); diff != "" {
			t.Errorf("told of once: %s", diff)
		}
		if string(must(os.ReadFile(path))) != torn {
			t.Error("the file that was cut is another")
		}
		all = names(t, dir)
		if len(all) != 2 || !strings.Contains(all[1], "-00001-") {
			t.Fatalf("files %v", all)
		}
		if got := census(t, filepath.Join(dir, all[1])); got != "metadata 2, request 2, response 2, warcinfo 1" {
			t.Errorf("behind it are %s", got)
		}
	}
}

// TestClosedFileIsReadFromItsEnd checks that appending does not read the whole file.
func TestClosedFileIsReadFromItsEnd(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, testOptions(dir))
	write(t, w, exchange("http://example.com/a", 100))
	last := write(t, w, exchange("http://example.com/b", 100))
	w.Close()
	mark, ok := reopened(t, w.options.Prefix+ledgerSuffix).get(markKey(w.name))
	if !ok || mark != (position{nameSum(w.name), last.Offset}) {
		t.Errorf("%+v, %v; the last exchange is at %d", mark, ok, last.Offset)
	}
}

// TestIndexOfOpenFile checks that the index is removed when the file is renamed.
func TestIndexOfOpenFile(t *testing.T) {
	dir := t.TempDir()
	index := func(path string) {
		x, err := OpenIndex(path, IndexOptions{Beside: true})
		if err != nil || x.Path != path+indexSuffix {
			t.Fatalf("%v, %v", x, err)
		}
		x.Close()
	}
	w := newWriter(t, testOptions(dir))
	write(t, w, exchange("http://example.com/a", 100))
	path := w.path(w.name)
	index(path + openSuffix)
	w.Close()
	if diff := cmp.Diff([]string{w.name}, names(t, dir)); diff != "" {
		t.Error(diff)
	}

	testfile.Check(t, os.Rename(path, path+openSuffix))
	index(path + openSuffix)
	if _, err := RepairInPlace(t.Context(), path+openSuffix, RepairOptions{Temp: dir}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{w.name}, names(t, dir)); diff != "" {
		t.Errorf("repaired: %s", diff)
	}
}

// TestWriterAppendsToSameFormat checks that a file of the other format is closed, and a new one
// created.
func TestWriterAppendsToSameFormat(t *testing.T) {
	dir := t.TempDir()
	gz, zst := testOptions(dir), testOptions(dir)
	zst.Zstd = true
	for i, o := range []WriterOptions{gz, zst, zst, gz} {
		w := newWriter(t, o)
		write(t, w, exchange(fmt.Sprint("http://example.com/", i), 100))
		w.Close()
		if i == 2 { // as if it had been killed
			name := filepath.Join(dir, names(t, dir)[1])
			testfile.Check(t, os.Rename(name, name+openSuffix))
		}
	}
	want := []string{
		"crawl-20261120120000-00000-example.org.warc.gz", "crawl-20261120120000-00001-example.org.warc.zst", "crawl-20261120120000-00002-example.org.warc.gz",
	}
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestWriterAppendsWarcinfo(t *testing.T) {
	dir := t.TempDir()
	for i, agent := range []string{"spoor/1", "spoor/1", "spoor/2"} {
		o := testOptions(dir)
		o.Info = []Field{{"software", agent}}
		o.Random = nil
		w := newWriter(t, o)
		write(t, w, exchange(fmt.Sprint("http://example.com/", i), 100))
		w.Close()
	}
	var got []string
	info := map[string]string{}
	for _, r := range recordsIn(t, dir) {
		switch r.kind {
		case "warcinfo":
			agent, _, _ := strings.Cut(r.block, "\r\n")
			info[r.header.Get("WARC-Record-ID")] = agent
			got = append(got, agent)
		case "response":
			got = append(got, "by "+info[r.header.Get("WARC-Warcinfo-ID")])
		}
	}
	want := []string{"software: spoor/1", "by software: spoor/1", "by software: spoor/1", "software: spoor/2", "by software: spoor/2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAbandonedFilesAreClosed(t *testing.T) {
	dir := t.TempDir()
	o := testOptions(dir)
	o.MaxSize = 1
	w := newWriter(t, o)
	write(t, w, exchange("http://example.com/", 100))
	write(t, w, exchange("http://example.com/b", 100))
	w.Close()
	all := names(t, dir)
	for _, name := range all {
		testfile.Check(t, os.Rename(filepath.Join(dir, name), filepath.Join(dir, name+".open")))
	}
	newWriter(t, testOptions(dir)).Close()
	if diff := cmp.Diff(all, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestOtherFilesAreIgnored(t *testing.T) {
	dir := t.TempDir()
	others := []string{
		"crawl-2-20261120120000-00007-h.warc.gz", "crawl-20261120120000-7-h.warc.gz", "crawl-20261120120000-00007-h.warc",
		"crawl-99999999999999-00007-h.warc.gz", "crawl.warc.gz.open", "other-20261120120000-00007-h.warc.gz.open",
	}
	for _, name := range others {
		fileOf(t, dir, name, []byte("mine"))
	}
	newWriter(t, testOptions(dir)).Close()
	want := append([]string{"crawl-20261120120000-00000-example.org.warc.gz"}, others...)
	slices.Sort(want)
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidPrefix(t *testing.T) {
	for _, prefix := range []string{"", ".", "/", t.TempDir() + "/"} {
		if w, err := NewWriter(WriterOptions{Prefix: prefix}); err == nil {
			w.Close()
			t.Errorf("prefix %q taken", prefix)
		}
	}
}

func TestAppendHops(t *testing.T) {
	for _, c := range []struct {
		links, redirects int
		want             string
	}{
		{0, 0, ""}, {3, 0, "LLL"}, {1, 2, "LRR"}, {-1, 0, ""},
		{50, 0, strings.Repeat("L", 50)}, {52, 1, "3+" + strings.Repeat("L", 49) + "R"},
	} {
		if got := string(appendHops(nil, c.links, c.redirects)); got != c.want {
			t.Errorf("%d links, %d redirects: %s, want %s", c.links, c.redirects, got, c.want)
		}
	}
}

// TestWarcio reads our files with warcio.
func TestWarcio(t *testing.T) {
	warcio := filepath.Join(os.Getenv("SPOOR_WARCIO"), "node_modules", ".bin", "warcio")
	if _, err := os.Stat(warcio); os.Getenv("SPOOR_WARCIO") == "" || err != nil {
		if warcio, err = exec.LookPath("warcio"); err != nil {
			t.Skip("no warcio here (hint: npm install warcio in a directory, and name it in SPOOR_WARCIO)")
		}
	}
	dir := t.TempDir()
	o := testOptions(dir)
	w := newWriter(t, o)
	var want []string
	for i := range 16 {
		x := exchange(fmt.Sprintf("http://example.com/%d", i%5), 500+400*(i%5))
		switch i {
		case 4:
			x.Head = []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			x.Body = []byte("5\r\nhello\r\n0\r\n\r\n")
			x.Truncated = "time"
		case 12:
			x = notModified("http://example.com/3")
		case 13:
			x.Protocols = []string{"h2", "tls/1.3"}
			x.Head = []byte("HTTP/1.1 200 \r\ncontent-type: text/html\r\n\r\n")
		case 14:
			x.Body = random(100_000)
		case 15:
			x.NoArchive = "robots meta tag"
		}
		at := write(t, w, x)
		if x.NoArchive != "" {
			continue
		}
		kind := "response"
		if at.Revisit {
			kind = "revisit"
		}
		want = append(want, fmt.Sprintf("%s %d %s", kind, at.Offset, x.URL))
	}
	w.Close()
	path := filepath.Join(dir, names(t, dir)[0])

	var got []string
	for _, line := range output(t, warcio, "index", path) {
		var v struct {
			Offset int64
			Type   string `json:"warc-type"`
			URL    string `json:"warc-target-uri"`
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if v.Type == "response" || v.Type == "revisit" {
			got = append(got, fmt.Sprintf("%s %d %s", v.Type, v.Offset, v.URL))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warcio index: %s", diff)
	}

	// The indexes must agree, except for the payloads of revisits.
	x := indexAt(t, path, IndexOptions{Beside: true})
	theirs := map[string]bool{}
	for _, line := range output(t, warcio, "cdx-index", path) {
		if i := bytes.IndexByte(line, '{'); i > 0 {
			var v struct{ URL, Length, Offset, Filename string }
			if err := json.Unmarshal(line[i:], &v); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			theirs[fmt.Sprintf("%s%s %s %s %s", line[:i], v.URL, v.Length, v.Offset, v.Filename)] = true
		}
	}
	ours := 0
	for line := range bytes.Lines(x.data[x.first:]) {
		ours++
		c, err := parseLine(bytes.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("%s%s %d %d %s", line[:bytes.IndexByte(line, '{')], c.URL, c.Length, c.Offset, c.Filename)
		if !theirs[key] {
			t.Errorf("warcio cdx-index has no %s but %v", key, theirs)
		}
	}
	if ours != 15 {
		t.Errorf("%d lines, want 15", ours)
	}
}

func output(t *testing.T, name string, args ...string) [][]byte {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, e.Stderr)
		}
		t.Fatal(err)
	}
	return slices.DeleteFunc(bytes.Split(out, []byte("\n")), func(l []byte) bool { return len(bytes.TrimSpace(l)) == 0 })
}

func TestConcurrentRevisits(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, testOptions(dir))
	x := exchange("http://example.com/same", 2<<20)
	var revisits atomic.Int64
	var wg sync.WaitGroup
	for range 8 { // packing takes longer than starting them all
		wg.Go(func() {
			if at, err := w.Write(x); err != nil {
				t.Error(err)
			} else if at.Revisit {
				revisits.Add(1)
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil || revisits.Load() != 7 {
		t.Errorf("%d revisits, want 7; %v", revisits.Load(), err)
	}
	r := replay(t, dir)
	for _, c := range r.Lookup(x.URL) {
		if page, err := r.Read(c); err != nil || !bytes.Equal(page.Body, x.Body) {
			t.Errorf("at byte %d: %v", c.Offset, err)
		}
	}
}
