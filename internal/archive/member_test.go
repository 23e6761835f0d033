package archive

import (
	"bytes"
	stdgzip "compress/gzip"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
)

// story returns all that a Reader tells about a file, as text. Of every other record it reads
// only a part.
func story(src io.Reader) string {
	var b strings.Builder
	var r Reader
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

// sameStories checks that a pipe is read alike, however its data arrives.
func sameStories(t *testing.T, data []byte) {
	t.Helper()
	pipe := func() io.Reader { return io.MultiReader(bytes.NewReader(data)) }
	want := story(pipe())
	for name, r := range map[string]io.Reader{"halves": iotest.HalfReader(pipe()), "bytes": iotest.OneByteReader(pipe()), "data and end": iotest.DataErrReader(pipe())} {
		if got := story(r); got != want {
			t.Fatalf("%s of %d bytes: %s", name, len(data), cmp.Diff(want, got))
		}
	}
}

// A content is the content of a gzip member, and the offset of the next member. The end is 0 if the
// member is damaged.
type content struct {
	text string
	end  int64
}

// contents reads gzip members to the first that is damaged.
func contents(t *testing.T, data []byte) (all []content) {
	t.Helper()
	var m members
	if err := m.reset(io.MultiReader(bytes.NewReader(data)), 0, gzipped); err != nil {
		t.Fatal(err)
	}
	for {
		err := m.next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			return append(all, content{})
		}
		text, err := io.ReadAll(&m)
		if err != nil {
			t.Fatal(err)
		}
		if m.failed != nil {
			return append(all, content{string(text), 0})
		}
		all = append(all, content{string(text), m.pos()})
	}
}

// stdContents is contents by the standard library.
func stdContents(data []byte) (all []content) {
	src := bytes.NewReader(data)
	for src.Len() > 0 {
		z, err := stdgzip.NewReader(src)
		if err != nil {
			return append(all, content{})
		}
		z.Multistream(false)
		text, err := io.ReadAll(z)
		if err != nil {
			return append(all, content{string(text), 0})
		}
		all = append(all, content{string(text), src.Size() - int64(src.Len())})
	}
	return all
}

// checkMembers checks that the standard library reads the same members. It may read more, because
// it ignores reserved bits of the header.
func checkMembers(t *testing.T, data []byte) {
	t.Helper()
	got, want := contents(t, data), stdContents(data)
	for i, c := range got {
		if c.end > 0 && (i >= len(want) || c != want[i]) {
			t.Fatalf("member %d of %d bytes is read by one reader only", i, len(data))
		}
	}
}

// headed returns a gzip member with that header.
func headed(text string, header gzip.Header) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Header = header
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// changed returns a gzip member with one bit changed in the byte at index i, or from the end if i < 0.
func changed(member string, i int) string {
	b := []byte(member)
	b[(i+len(b))%len(b)] ^= 1
	return string(b)
}

// withHeaderSum adds a checksum of the header to a gzip member without optional fields.
func withHeaderSum(member string, wrong uint16) string {
	b := []byte(member[:10])
	b[3] = 1 << 1
	b = binary.LittleEndian.AppendUint16(b, uint16(crc32.ChecksumIEEE(b))^wrong)
	return string(b) + member[10:]
}

// withDistances returns a gzip member of 303 letters, the last three of which are copied with a
// distance of 1. The member has a code for this distance only if code is "01".
func withDistances(code string) string {
	bits := "1" + "01" + "10000" + "00000" + "0111" + // the last block, with 258 codes of lengths and literals, 1 of distances, 18 of code lengths
		"000000010010" + strings.Repeat("000", 11) + "010000010" + // codes of 2 bits for the code lengths 0, 1, 2 and for many zeros
		"110110101" + "01" + "111111111" + "111001000" + "10" + "10" + // the letter has 1 bit; the end and the length 3 have 2 bits
		code + strings.Repeat("0", 300) + "11" + "0" + "10"
	var b []byte
	for i, bit := range bits {
		if i%8 == 0 {
			b = append(b, 0)
		}
		b[i/8] |= byte(bit-'0') << (i % 8)
	}
	text := bytes.Repeat([]byte("a"), 303)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(text))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	return zip("")[:10] + string(b)
}

func TestMembers(t *testing.T) {
	long := strings.Repeat("text of a page, ", 50_000)
	for _, c := range []struct {
		name, file string
		whole      int // number of members that are not damaged
	}{
		{"one", zip("a"), 1},
		{"several", zip("a", long, "b"), 3},
		{"empty", zip("", "a", "", ""), 4},
		{"noise", zip(noise(3*bufferSize), "a"), 2},
		{"name", headed("a", gzip.Header{Name: "a.warc"}) + zip("b"), 2},
		{"comment", headed("a", gzip.Header{Comment: "x"}) + zip("b"), 2},
		{"extra, as from wget", headed("a", gzip.Header{Extra: []byte("sl\x08\x00\x00\x01\x00\x00\x00\x02\x00\x00")}) + zip("b"), 2},
		{"longest extra", headed("a", gzip.Header{Extra: []byte(noise(0xffff))}) + zip("b"), 2},
		{"all", headed("a", gzip.Header{Name: "a.warc", Comment: "x", Extra: []byte("x")}) + zip("b"), 2},
		{"header checksum", withHeaderSum(zip("a"), 0) + zip("b"), 2},
		{"wrong header checksum", zip("a") + withHeaderSum(zip("b"), 1), 1},
		{"wrong method", zip("a") + changed(zip("b"), 2), 1},
		{"wrong checksum", zip("a") + changed(zip(long), -8) + zip("b"), 1},
		{"wrong length", zip("a") + changed(zip(long), -4) + zip("b"), 1},
		{"damaged block", zip("a") + changed(zip(long), 300) + zip("b"), 1},
		{"trailing bytes", zip("a") + "rubbish", 1},
		{"trailing zeros", zip("a") + strings.Repeat("\x00", 20), 1},
		{"distances", withDistances("01") + withDistances("01"), 2},
		{"no distances", withDistances("00"), 0},
		{"no distances after some", withDistances("01") + withDistances("00"), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := contents(t, []byte(c.file))
			if diff := cmp.Diff(stdContents([]byte(c.file)), got, cmp.AllowUnexported(content{})); diff != "" {
				t.Fatal(diff)
			}
			whole := 0
			for _, m := range got {
				if m.end > 0 {
					whole++
				}
			}
			if whole != c.whole {
				t.Errorf("%d members, want %d", whole, c.whole)
			}
		})
	}
	text := zip("a") + headed("b", gzip.Header{Name: "x", Comment: "y", Extra: []byte("z")})
	for n := range len(text) {
		if diff := cmp.Diff(stdContents([]byte(text[:n])), contents(t, []byte(text[:n])), cmp.AllowUnexported(content{})); diff != "" {
			t.Errorf("torn after %d bytes: %s", n, diff)
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

// blockOf returns a record with that block.
func blockOf(block string) string { return raw("x", block, len(block)) }

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
	for i, size := range []int{0, 1, 100, 20_000, 3 * bufferSize, 300, 5_000_000, 2000, 8 * bufferSize} {
		body = append(body, noise(size/2)+strings.Repeat("x", size-size/2))
		file = append(file, raw(fmt.Sprint(i), body[i], size))
	}
	r := replay(t, archiveOf(t, t.TempDir(), "x.warc.gz", append(file, file[2]+file[3])...))
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
	const size = 1 << 20
	long := zip(blockOf(noise(size - 4096)))
	member := "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + "\x00\x08\x00\xf7\xff" + "WARC/1.0" + "\x07"
	plain := "WARC/1.0\r\nContent-Length: 1\r\n\r\nblock\r\n\r\n"
	behind := strings.Repeat("x", size)
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
