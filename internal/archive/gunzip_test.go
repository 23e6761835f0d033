package archive

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
)

// story returns all that a Reader tells about a file, as text. Of every other record it reads
// only a part. With streaming it decompresses no member at once.
func story(src io.Reader, streaming bool) string {
	var b strings.Builder
	r := &Reader{m: members{streaming: streaming}}
	if err := r.Reset(src); err != nil {
		return err.Error()
	}
	for n := range 1000 {
		rec, err := r.Next()
		fmt.Fprintf(&b, "in the member at %d, %d bytes read again: %v\n", r.m.start, r.m.rewinds, err)
		if _, ok := errors.AsType[*FormatError](err); ok {
			continue
		}
		if err != nil {
			fmt.Fprintln(&b, "at", r.m.pos())
			break
		}
		sum := sha1.New()
		read, err := io.Copy(sum, io.LimitReader(rec, rec.ContentLength>>(n%2)))
		fmt.Fprintf(&b, "%v\n%d bytes, %x, %v, %v, ", rec.Header, read, sum.Sum(nil), err, rec.Close())
		fmt.Fprintln(&b, rec.Offset, rec.Skip, rec.ContentLength, rec.Length)
	}
	return b.String()
}

// pages returns what scratch.records yields for a file, as text.
func pages(src io.Reader, streaming bool) string {
	var b strings.Builder
	s := scratch{decoder: Decoder{Limits: Limits{Body: 1 << 20}}, reuse: true}
	s.reader.m.streaming = streaming
	s.pages(&Volume{Path: "path", Name: "name", Data: src}, &Filter{}, func(p *Page, err error) bool {
		fmt.Fprintln(&b, err)
		if p != nil {
			fmt.Fprintf(&b, "%x, %s, %d, %d\n", sha1.Sum(p.Body), p.Digest, p.Offset, p.Length)
		}
		return b.Len() < 1<<20
	})
	return b.String()
}

// brokenOnce returns one error in the middle of what it reads.
type brokenOnce struct {
	io.Reader
	left int
}

func (b *brokenOnce) Read(p []byte) (int, error) {
	if b.left == 0 {
		b.left = -1
		return 0, errors.New("broken")
	}
	if b.left > 0 {
		p = p[:min(len(p), b.left)]
	}
	n, err := b.Reader.Read(p)
	b.left = max(b.left-n, min(b.left, 0))
	return n, err
}

// sameStories compares a Reader that decompresses members at once with one that does not,
// for several kinds of sources.
func sameStories(t *testing.T, data []byte) {
	t.Helper()
	for name, source := range map[string]func() io.Reader{
		"a file":       func() io.Reader { return bytes.NewReader(data) },
		"a pipe":       func() io.Reader { return io.MultiReader(bytes.NewReader(data)) },
		"halves":       func() io.Reader { return iotest.HalfReader(bytes.NewReader(data)) },
		"data and end": func() io.Reader { return iotest.DataErrReader(bytes.NewReader(data)) },
		"an error":     func() io.Reader { return &brokenOnce{bytes.NewReader(data), len(data) / 2} },
	} {
		want, got := story(source(), true), story(source(), false)
		if got != want {
			t.Fatalf("%s of %d bytes: %s", name, len(data), cmp.Diff(want, got))
		}
		if want, got := pages(source(), true), pages(source(), false); got != want {
			t.Fatalf("pages of %s of %d bytes: %s", name, len(data), cmp.Diff(want, got))
		}
	}
}

// noise returns n bytes that cannot be compressed.
func noise(n int) string {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return string(b)
}

// headed returns a record in a member with that header.
func headed(record string, header gzip.Header) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Header = header
	io.WriteString(w, record)
	w.Close()
	return b.String()
}

// blockOf returns a record with that block.
func blockOf(block string) string { return raw("x", block, len(block)) }

func TestDecompressAtOnce(t *testing.T) {
	text := strings.Repeat("text of a page, ", 1000)
	sum := []byte(zip(good("a")))
	sum[len(sum)-8] ^= 1
	checked := []byte(zip(good("a")))
	checked[3] |= 1 << 1
	for _, c := range []struct {
		name, member string
		whole        bool
	}{
		{"small", zip(good("a")), true},
		{"text", zip(blockOf(text)), true},
		{"more than a buffer, unpacked", zip(blockOf(strings.Repeat(text, 100))), true},
		{"almost too large, packed", zip(blockOf(noise(sequentialSize - 1000))), true},
		{"almost too large, unpacked", zip(blockOf(strings.Repeat("x", maxAtOnce-1000))), true},
		{"too large, packed", zip(blockOf(noise(sequentialSize))), false},
		{"too large, unpacked", zip(blockOf(strings.Repeat("x", maxAtOnce))), false},
		{"several records", zip(good("a") + good("b")), true},
		{"a name", headed(good("a"), gzip.Header{Name: "a.warc"}), false},
		{"lengths, as wget has them", headed(good("a"), gzip.Header{Extra: []byte("sl\x08\x00\x00\x01\x00\x00\x00\x02\x00\x00")}), true},
		{"much extra", headed(good("a"), gzip.Header{Extra: []byte(noise(0xffff))}), true},
		{"a comment", headed(good("a"), gzip.Header{Comment: "x"}), false},
		{"a checksum of the header", string(checked), false},
		{"torn", zip(good("a"))[:100], false},
		{"a wrong checksum", string(sum), false},
		{"nothing", zip(""), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m members
			if err := m.reset(io.MultiReader(strings.NewReader(c.member+zip(good("z")))), 0, unknown); err != nil {
				t.Fatal(err)
			}
			err := m.next()
			if (m.gz.data != nil) != c.whole {
				t.Errorf("decompressed at once: %t (%v)", m.gz.data != nil, err)
			}
			if want := int64(len(c.member)); m.gz.data != nil && m.pos() != want {
				t.Errorf("at byte %d, want %d", m.pos(), want)
			}
			if testing.Short() && strings.Contains(c.name, "too large") {
				return // the rest reads the member eight times
			}
			sameStories(t, []byte(zip(good("a"))+c.member+zip(good("z"))))
			sameStories(t, []byte(c.member[:len(c.member)*2/3]))
		})
	}
}

func TestDecompressAtOnceLikeLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	a, b, c := good("a"), good("b"), good("c")
	long := blockOf(strings.Repeat("text of a page, ", 5000))
	files := []string{zip(a, b, c), zip(a+b, c), zip(a, b) + "rubbish" + zip(c), zip(a) + zst(b), zip(long, long), zip(a[:len(a)-10], a[len(a)-10:]+b),
		zip(raw("b", "block of b", 60), c), zip(raw("b", "block of b and more", 10), c), zip("", a, "", "\r\n", b), zip(arcHead(), arcRecord("http://a/", "20200101000000", "text/html", "x"))}
	for _, file := range files {
		sameStories(t, []byte(file))
		random := rand.New(rand.NewPCG(5, 6))
		for range 20 {
			broken := []byte(file)
			broken[random.IntN(len(broken))] ^= 1 << random.IntN(8)
			sameStories(t, broken)
			sameStories(t, broken[:random.IntN(len(broken))])
		}
	}
	for _, read := range []func(io.Reader) io.Reader{iotest.OneByteReader, func(r io.Reader) io.Reader { return iotest.TimeoutReader(iotest.HalfReader(r)) }} {
		in := zip(a, long, b)
		if want, got := story(read(strings.NewReader(in)), true), story(read(strings.NewReader(in)), false); got != want {
			t.Error(cmp.Diff(want, got))
		}
	}
}

// TestReadDoesNotWaitForNextMember reads from a pipe whose writer writes a record only after
// the one before it was read.
func TestReadDoesNotWaitForNextMember(t *testing.T) {
	in, out := io.Pipe()
	defer in.Close()
	told := make(chan struct{}, 1)
	go func() {
		for _, id := range []string{"a", "b", "c"} {
			member := zip(good(id))
			io.WriteString(out, member[:50])
			io.WriteString(out, member[50:])
			select {
			case <-told:
			case <-time.After(10 * time.Second):
				out.CloseWithError(errors.New("nobody read the record"))
				return
			}
		}
		out.Close()
	}()
	r, err := NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		n++
		told <- struct{}{}
	}
	if n != 3 {
		t.Errorf("%d records", n)
	}
}

// TestReplayPagesAreNotOverwritten compares pages after others have been read.
func TestReplayPagesAreNotOverwritten(t *testing.T) {
	var file, body []string
	for i, size := range []int{0, 1, 100, 20_000, 3 * bufferSize, 300, 5_000_000, 2000, sequentialSize / 2} {
		body = append(body, noise(size/2)+strings.Repeat("x", size-size/2))
		file = append(file, raw(fmt.Sprint(i), body[i], size))
	}
	path := filepath.Join(t.TempDir(), "x.warc.gz")
	if err := os.WriteFile(path, []byte(zip(append(file, file[2]+file[3])...)), 0o666); err != nil {
		t.Fatal(err)
	}
	r := replay(t, path)
	for range 2 {
		var all []*Page
		for i := range file {
			page, err := r.Fetch(fmt.Sprint("http://example.com/", i))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, page)
		}
		for i, page := range all {
			if string(page.Body) != body[i] {
				t.Errorf("page %d: %d bytes, %.40q, want %d", i, len(page.Body), page.Body, len(body[i]))
			}
		}
	}
}

func TestLookupDecompressesOnlyItsOwnRecord(t *testing.T) {
	small, large := good("a"), blockOf(strings.Repeat("x", 16*bufferSize))
	for _, c := range []struct {
		name, file string
		whole      bool
	}{
		{"alone", zip(small), true},
		{"with others", zip(small + good("b")), false},
		{"too large", zip(large), false},
		{"too large, compressed", zip(blockOf(noise(bufferSize))), false},
	} {
		path := filepath.Join(t.TempDir(), "x.warc.gz")
		if err := os.WriteFile(path, []byte(c.file), 0o666); err != nil {
			t.Fatal(err)
		}
		r := replay(t, path)
		var all []Capture
		for _, id := range []string{"a", "x"} {
			all = append(all, r.Lookup("http://example.com/"+id)...)
		}
		var s scratch
		if _, err := r.archives[0].at(&s, all[0]); err != nil || (s.reader.m.gz.data != nil) != c.whole {
			t.Errorf("%s: decompressed at once: %t, %v", c.name, s.reader.m.gz.data != nil, err)
		}
	}
}

// A tallied counts the bytes read through it.
type tallied struct {
	io.ReadSeeker
	n int
}

func (t *tallied) Read(p []byte) (int, error) {
	n, err := t.ReadSeeker.Read(p)
	t.n += n
	return n, err
}

// TestBrokenMembers checks that little of the file is read again for each broken member.
func TestBrokenMembers(t *testing.T) {
	const n = 200
	long := zip(blockOf(noise(sequentialSize - 4096)))
	member := "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + "\x00\x08\x00\xf7\xff" + "WARC/1.0" + "\x07"
	plain := "WARC/1.0\r\nContent-Length: 1\r\n\r\nblock\r\n\r\n"
	behind := strings.Repeat("x", sequentialSize)
	for name, c := range map[string]struct{ first, data string }{
		"in the same file":   {good(""), long + strings.Repeat(member, n) + behind},
		"in the file before": {long, strings.Repeat(plain, n) + behind},
		"zstd":               {good(""), strings.Repeat("\x28\xb5\x2f\xfd", n) + behind},
	} {
		var r Reader
		faults := func(src io.Reader) (n int) {
			if err := r.Reset(src); err != nil {
				t.Fatal(err)
			}
			for {
				switch _, err := r.Next(); {
				case err == io.EOF:
					return n
				case err != nil:
					n++
				}
			}
		}
		faults(strings.NewReader(c.first))
		src := &tallied{ReadSeeker: strings.NewReader(c.data)}
		if had := faults(src); had < n {
			t.Errorf("%s: %d faults of %d", name, had, n)
		}
		if limit := 2*len(c.data) + n*(32<<10); src.n > limit {
			t.Errorf("%s: %d bytes were read, more than %d", name, src.n, limit)
		}
	}
}
