package archive

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// gzipMember returns a gzip member of deflated data that decompresses to text.
func gzipMember(data, text []byte) []byte {
	b := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, data...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(text))
	return binary.LittleEndian.AppendUint32(b, uint32(len(text)))
}

// checkInflate compares what our inflater and that of the standard library make of deflated
// data, in a member whose checksum is that of the latter.
func checkInflate(t *testing.T, data []byte) {
	t.Helper()
	const limit = 1 << 22
	src := bytes.NewReader(data)
	want, err := io.ReadAll(io.LimitReader(flate.NewReader(src), limit))
	if len(want) == limit {
		return
	}
	ok := err == nil && src.Len() == 0
	member := gzipMember(data, want)
	dst := bytes.Repeat([]byte{0xa5}, len(want)+outputMargin+1000)
	var f inflater
	n, size, s := f.member(dst[:len(want)+outputMargin], append(member, "more"...))
	if got := s == decoded && size == len(member); got != ok {
		t.Fatalf("%d bytes: status %d, %d bytes read of %d, the standard library: %v, %d bytes left", len(data), s, size, len(member), err, src.Len())
	}
	if s == decoded && ok && !bytes.Equal(dst[:n], want) {
		t.Fatalf("%d bytes are %.100q, want %.100q", len(data), dst[:n], want)
	}
	if behind := dst[len(want)+outputMargin:]; bytes.Count(behind, []byte{0xa5}) < len(behind) {
		t.Fatalf("%d bytes: written behind the output", len(data))
	}
	if !ok {
		return
	}
	for i := 0; i < len(member); i += 1 + len(member)/20 {
		if _, _, s := f.member(dst, member[:i:i]); s != needInput {
			t.Fatalf("%d bytes of %d: status %d, want %d", i, len(member), s, needInput)
		}
	}
	for i := 0; i < len(want)-2; i += 1 + len(want)/20 { // the last round may write two literals more
		if _, _, s := f.member(dst[:i+outputMargin-1:i+outputMargin-1], member); s != needOutput {
			t.Fatalf("output of %d bytes for %d: status %d, want %d", i, len(want), s, needOutput)
		}
	}
}

// deflated returns samples of all kinds of blocks.
func deflated(t testing.TB) map[string][]byte {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	noise, skewed := make([]byte, 200_000), make([]byte, 300_000) // the second has long codes
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
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
		"a pattern": []byte(strings.Repeat("abc", 50_000)), "far": append(bytes.Clone(noise[:32_768]), noise[:32_768]...),
	} {
		for at, level := range []int{0, 1, 6, 9, flate.HuffmanOnly} {
			var b bytes.Buffer
			w, err := flate.NewWriter(&b, level)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(data[:len(data)/2])
			w.Flush()
			w.Write(data[len(data)/2:])
			w.Close()
			samples[name+" "+string(rune('a'+at))] = b.Bytes()
		}
	}
	// A code of one distance only, in whose block there is one more literal than it needs.
	samples["one code"] = []byte("\x05\xc0\x81\x00\x00\x00\x00\x00\x90\x7f\xeb\x01\x03")
	return samples
}

func TestInflate(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for name, data := range deflated(t) {
		t.Run(name, func(t *testing.T) {
			checkInflate(t, data)
			checkInflate(t, append(bytes.Clone(data), "behind it"...))
			few := data[:min(len(data), 3000)]
			for n := range min(len(few), 200) {
				checkInflate(t, few[:n])
			}
			random := rand.New(rand.NewPCG(3, 4))
			for range 300 {
				broken := bytes.Clone(few)
				broken[random.IntN(len(broken))] ^= 1 << random.IntN(8)
				checkInflate(t, broken)
			}
		})
	}
}

func TestInflateBrokenMembers(t *testing.T) {
	text := []byte(strings.Repeat("text ", 1000))
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 6)
	w.Write(text)
	w.Close()
	member := gzipMember(b.Bytes(), text)
	dst := make([]byte, 2*len(text)+outputMargin)
	var f inflater
	if _, _, s := f.member(dst, member); s != decoded {
		t.Fatalf("status %d", s)
	}
	for _, at := range []int{0, 1, 2, 3, len(member) - 8, len(member) - 4} {
		broken := bytes.Clone(member)
		broken[at] ^= 1
		if _, _, s := f.member(dst, broken); s != unsupported {
			t.Errorf("byte %d broken: status %d", at, s)
		}
	}
}

func FuzzInflate(f *testing.F) {
	for _, data := range deflated(f) {
		if len(data) < 2000 {
			f.Add(data)
		}
	}
	f.Add(longMatches(100))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 1<<12 {
			checkInflate(t, data)
		}
	})
}

// BenchmarkDecode decodes pages that are compressed as by a server.
func BenchmarkDecode(b *testing.B) {
	var packed [][]byte
	var size int64
	for page, err := range All([]string{shared(b, "webs/modern.warc.gz")}, Filter{}, Limits{}) {
		if err != nil {
			b.Fatal(err)
		}
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		w.Write(page.Body)
		w.Close()
		packed, size = append(packed, z.Bytes()), size+int64(len(page.Body))
	}
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		var d Decoder
		var dst []byte
		for b.Loop() {
			for _, raw := range packed {
				body, _, err := d.Decode(dst, raw, http.Header{"Content-Encoding": {"gzip"}})
				if err != nil {
					b.Fatal(err)
				}
				dst = body
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		var z gzip.Reader
		var src bytes.Reader
		dst := make([]byte, 1<<20)
		for b.Loop() {
			for _, raw := range packed {
				src.Reset(raw)
				if err := z.Reset(&src); err != nil {
					b.Fatal(err)
				}
				for {
					if _, err := z.Read(dst); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
}
