package archive

import (
	"bufio"
	"bytes"
	"compress/flate"
	stdgzip "compress/gzip"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// An inflated is what became of deflated data.
type inflated struct {
	out  []byte
	left int // bytes behind
	err  error
}

// inflate unpacks data, of which src gives some at a time.
func inflate(src io.Reader, open func(*bufio.Reader) io.Reader) inflated {
	in := bufio.NewReaderSize(src, 64)
	out, err := io.ReadAll(io.LimitReader(open(in), maxInflated))
	left, _ := io.Copy(io.Discard, in)
	return inflated{out, int(left), err}
}

const maxInflated = 1 << 22

// sameInflated compares what our inflater and that of the standard library make
// of data.
func sameInflated(t *testing.T, data []byte) {
	t.Helper()
	for name, in := range map[string]func() io.Reader{
		"whole":    func() io.Reader { return bytes.NewReader(data) },
		"by bytes": func() io.Reader { return iotest.OneByteReader(bytes.NewReader(data)) },
	} {
		ours := inflate(in(), func(src *bufio.Reader) io.Reader {
			f := new(inflater)
			f.reset(src)
			return f
		})
		theirs := inflate(in(), func(src *bufio.Reader) io.Reader { return flate.NewReader(src) })
		if (ours.err == nil) != (theirs.err == nil) {
			t.Fatalf("%s: error %v, theirs %v", name, ours.err, theirs.err)
		}
		// What is damaged may be noticed earlier or later.
		if n := min(len(ours.out), len(theirs.out)); !bytes.Equal(ours.out[:n], theirs.out[:n]) || ours.err == nil && len(ours.out) != len(theirs.out) {
			t.Fatalf("%s: %d bytes, theirs %d", name, len(ours.out), len(theirs.out))
		}
		if ours.err == nil && len(ours.out) < maxInflated && ours.left != theirs.left {
			t.Fatalf("%s: %d bytes left, theirs %d", name, ours.left, theirs.left)
		}
	}
}

// deflated are samples of all kinds of blocks.
func deflated(t testing.TB) map[string][]byte {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	skewed := make([]byte, 300_000) // long codes
	for i := range skewed {
		skewed[i] = byte(random.ExpFloat64() * 12)
	}
	var text strings.Builder
	for text.Len() < 300_000 {
		text.WriteString([]string{"the ", "crawler ", "<a href=", "page", "\n", "&amp;", "archive "}[random.IntN(7)])
	}
	samples := map[string][]byte{}
	for name, data := range map[string][]byte{
		"nothing": nil, "a byte": {7}, "noise": noise, "skewed": skewed, "text": []byte(text.String()), "zeros": make([]byte, 400_000),
		"a pattern": []byte(strings.Repeat("abc", 50_000)), "far": append(append([]byte{}, noise[:32_768]...), noise[:32_768]...),
	} {
		for _, level := range []int{0, 1, 6, 9, flate.HuffmanOnly} {
			var b bytes.Buffer
			w, err := flate.NewWriter(&b, level)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(data[:len(data)/2])
			w.Flush()
			w.Write(data[len(data)/2:])
			w.Close()
			samples[name+string(rune('0'+max(level, -1)+1))] = b.Bytes()
		}
	}
	return samples
}

func TestDeflatedDataIsUnpackedLikeByTheStandardLibrary(t *testing.T) {
	for name, data := range deflated(t) {
		t.Run(name, func(t *testing.T) {
			sameInflated(t, append(data[:len(data):len(data)], "behind it"...))
			few := data[:min(len(data), 3000)]
			for n := range min(len(few), 200) {
				sameInflated(t, few[:n])
			}
			random := rand.New(rand.NewPCG(3, 4))
			for range 100 {
				broken := bytes.Clone(few)
				broken[random.IntN(len(broken))] ^= 1 << random.IntN(8)
				sameInflated(t, broken)
			}
		})
	}
}

func TestMembersWithEveryFieldAreRead(t *testing.T) {
	var b bytes.Buffer
	w := stdgzip.NewWriter(&b)
	w.Name, w.Comment, w.Extra = "name", "comment", []byte(strings.Repeat("extra", 1000))
	io.WriteString(w, "hello")
	w.Close()
	whole := b.Bytes()
	// The standard library writes no checksum of the header, but is a judge of it.
	summed := bytes.Clone(whole)
	read := func(data []byte) (string, error) {
		z := new(gunzip)
		if err := z.reset(bufio.NewReader(bytes.NewReader(data))); err != nil {
			return "", err
		}
		out, err := io.ReadAll(z)
		return string(out), err
	}
	if out, err := read(summed); out != "hello" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	for n := range whole {
		if _, err := read(whole[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes of %d: %v", n, len(whole), err)
		}
	}
	for _, at := range []int{0, 1, 2, len(whole) - 1, len(whole) - 5} {
		broken := bytes.Clone(whole)
		broken[at] ^= 1
		if _, err := read(broken); !errors.Is(err, errGzip) && !errors.Is(err, errChecksum) {
			t.Errorf("byte %d broken: %v", at, err)
		}
	}
	// With a checksum of the header, right and wrong (RFC 1952, section 2.3.1).
	short := "\x1f\x8b\x08\x02\x00\x00\x00\x00\x00\x03"
	body := "\x03\x00" + strings.Repeat("\x00", 8)
	if _, err := read([]byte(short + "\x4f\xf5" + body)); !errors.Is(err, errGzip) {
		t.Errorf("wrong checksum of a header: %v", err)
	}
	z, err := stdgzip.NewReader(strings.NewReader(short + headerSum(short) + body))
	if err != nil {
		t.Fatalf("the test is wrong: %v", err)
	}
	z.Close()
	if out, err := read([]byte(short + headerSum(short) + body)); out != "" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

func BenchmarkInflate(b *testing.B) {
	data, err := os.ReadFile(shared(b, "webs/planetmath.warc.gz"))
	if err != nil {
		b.Fatal(err)
	}
	z, err := stdgzip.NewReader(bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	size, err := io.Copy(io.Discard, z)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		z, in := new(gunzip), bufio.NewReaderSize(nil, bufferSize)
		buf := make([]byte, bufferSize)
		for b.Loop() {
			in.Reset(bytes.NewReader(data))
			for {
				if _, err := in.Peek(1); err != nil {
					break
				}
				if err := z.reset(in); err != nil {
					b.Fatal(err)
				}
				for {
					if _, err := z.Read(buf); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
	b.Run("stdlib", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		in := bufio.NewReaderSize(nil, bufferSize)
		for b.Loop() {
			in.Reset(bytes.NewReader(data))
			if err := z.Reset(in); err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, z); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func FuzzInflate(f *testing.F) {
	for _, data := range deflated(f) {
		if len(data) < 2000 {
			f.Add(data)
		}
	}
	f.Add([]byte("\x05\xc0\x81\x00\x00\x00\x00\x00\x90\x7f\xeb\x01\x03")) // one code only
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 1<<12 {
			sameInflated(t, data)
		}
	})
}

// headerSum is the checksum of the header of a member.
func headerSum(head string) string {
	sum := crc32.ChecksumIEEE([]byte(head))
	return string([]byte{byte(sum), byte(sum >> 8)})
}
