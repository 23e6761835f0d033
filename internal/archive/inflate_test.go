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

// aMember is a gzip member of deflated data that becomes text.
func aMember(data, text []byte) []byte {
	b := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, data...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(text))
	return binary.LittleEndian.AppendUint32(b, uint32(len(text)))
}

// sameInflated compares what our inflater and the standard library, which is stricter than
// the one that fetch has, make of deflated data. The checksum is that of what the latter makes.
func sameInflated(t *testing.T, data []byte) {
	t.Helper()
	const most = 1 << 22
	src := bytes.NewReader(data)
	want, err := io.ReadAll(io.LimitReader(flate.NewReader(src), most))
	if len(want) == most {
		return
	}
	room := bytes.Repeat([]byte{0xa5}, len(want)+inflateSlack+1000)
	got, ok := new(inflater).member(room, aMember(data, want))
	if behind := room[len(want)+inflateSlack:]; bytes.Count(behind, []byte{0xa5}) < len(behind) {
		t.Fatalf("%d bytes: written behind the room for them", len(data))
	}
	if right := err == nil && src.Len() == 0; ok != right {
		t.Fatalf("%d bytes: taken: %t, by the standard library: %t (%v, %d bytes left)", len(data), ok, right, err, src.Len())
	}
	if ok && !bytes.Equal(got, want) {
		t.Fatalf("%d bytes are %.100q, the standard library says %.100q", len(data), got, want)
	}
	f, p := inPieces(append(aMember(data, want), "behind it"...), 1+len(data)/7)
	if ok && (p != done || !bytes.Equal(f.out[:f.n], want) || f.at != 8*len(aMember(data, want))) || p == done && !ok && src.Len() == 0 {
		t.Fatalf("%d bytes in pieces: progress %d, %d bytes, at bit %d, but at once %t", len(data), p, f.n, f.at, ok)
	}
}

// inPieces unpacks a member of which step bytes more are there whenever it can go no
// further, and for which there is more room then, too.
func inPieces(member []byte, step int) (f *inflater, p progress) {
	f = &inflater{out: make([]byte, inflateSlack)}
	f.start()
	for n := 0; ; {
		f.in = member[:n:n]
		switch p = f.run(); {
		case p == short && n < len(member):
			n = min(n+step, len(member))
		case p == full:
			f.out = append(f.out, make([]byte, f.n+step)...)
		default:
			return f, p
		}
	}
}

// deflated are samples of all kinds of blocks.
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

func TestWholeMembersAreUnpackedAsByTheStandardLibrary(t *testing.T) {
	for name, data := range deflated(t) {
		t.Run(name, func(t *testing.T) {
			sameInflated(t, data)
			sameInflated(t, append(bytes.Clone(data), "behind it"...))
			few := data[:min(len(data), 3000)]
			for n := range min(len(few), 200) {
				sameInflated(t, few[:n])
			}
			random := rand.New(rand.NewPCG(3, 4))
			for range 300 {
				broken := bytes.Clone(few)
				broken[random.IntN(len(broken))] ^= 1 << random.IntN(8)
				sameInflated(t, broken)
			}
		})
	}
}

func TestMembersThatAreNotWhatTheySayAreForTheLibrary(t *testing.T) {
	text := []byte(strings.Repeat("text ", 1000))
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 6)
	w.Write(text)
	w.Close()
	whole := aMember(b.Bytes(), text)
	out := make([]byte, 2*len(text)+inflateSlack)
	var f inflater
	if _, ok := f.member(out, whole); !ok {
		t.Fatal("a member that is whole is not taken")
	}
	for n := range whole {
		if _, ok := f.member(out, whole[:n]); ok {
			t.Errorf("%d bytes of %d are taken", n, len(whole))
		}
	}
	for _, at := range []int{0, 1, 2, 3, len(whole) - 8, len(whole) - 4} {
		broken := bytes.Clone(whole)
		broken[at] ^= 1
		if _, ok := f.member(out, broken); ok {
			t.Errorf("byte %d broken: taken", at)
		}
	}
	if _, ok := f.member(out[:0:len(text)+inflateSlack-1], whole); ok {
		t.Error("taken without room for it")
	}
	if _, ok := f.member(out, append(bytes.Clone(whole), whole...)); ok {
		t.Error("two are taken for one")
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
			eachWay(func() { sameInflated(t, data) })
		}
	})
}

// BenchmarkDecode decodes the pages of the modern web as a server packs them.
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
