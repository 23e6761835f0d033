package archive

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// unpacked is what the standard library reads in a block of the one code.
func unpacked(t *testing.T, head []byte) []byte {
	t.Helper()
	var b bitBuffer
	if !terse.pack(&b, head, true) {
		t.Fatalf("%.80q is not packed", head)
	}
	b.align()
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(b.out)))
	if err != nil {
		t.Fatalf("%.80q: %v", head, err)
	}
	return text
}

func TestTheCodeOfHeadsIsDeflate(t *testing.T) {
	heads := []string{"", "\r\n\r\n", "x", "WARC/1.1\r\n"}
	var all strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		all.WriteByte(c)
	}
	heads = append(heads, all.String())
	for n := 1; n < 600; n++ { // every length of a repetition
		heads = append(heads, strings.Repeat("a", n), all.String()[:20]+"\n"+strings.Repeat("b", n))
	}
	for n := 1; n < maxTerse-20; n += 13 { // and every distance
		heads = append(heads, "0123456789"+string(some(uint64(n), n))+"0123456789")
	}
	heads = append(heads, string(some(1, maxTerse)), strings.Repeat("a", maxTerse))
	for _, head := range heads {
		if got := unpacked(t, []byte(head)); string(got) != head {
			t.Fatalf("%.80q became %.80q", head, got)
		}
	}
}

// some is a text of n bytes of those that heads have, with few repetitions.
func some(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	text := make([]byte, n)
	for i := range text {
		text[i] = " \r\n"[r.IntN(3)]
		if r.IntN(20) > 0 {
			text[i] = byte(' ' + r.IntN('~'-' '+1))
		}
	}
	return text
}

func TestTheCodeOfHeadsIsNearlyAsGoodAsOneOfTheirOwn(t *testing.T) {
	e := testEncoder(t, false)
	x := exchange("http://example.com/a/page-of-this-length.html", 10)
	x.Body = packed(random(10_000))
	e.take(x.Body)
	e.exchange(x, "<urn:uuid:00000000-0000-4000-8000-000000000000>", reference{})
	ours := len(e.out) - len(x.Body)
	e.exchange(x, "<urn:uuid:00000000-0000-4000-8000-00000000000é>", reference{})
	if library := len(e.out) - len(x.Body); ours > library*115/100 {
		t.Errorf("the heads of an exchange take %d bytes, with codes of their own %d", ours, library)
	}
}

func TestWhatTheCodeOfHeadsDoesNotKnowIsPackedByTheLibrary(t *testing.T) {
	for _, odd := range []string{"é", "\x00", "\t", strings.Repeat("x", maxTerse)} {
		if terse.pack(new(bitBuffer), []byte(odd+"\n"), true) {
			t.Errorf("%.20q is packed", odd)
		}
		for _, body := range [][]byte{nil, []byte("body"), packed(random(5000))} {
			x := exchange("http://example.com/", 0)
			x.Head = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nX: %s\r\n\r\n", odd)
			x.Body = body
			w := newWriter(t, testOptions(t.TempDir()))
			write(t, w, x)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			var pages int
			for page, err := range All([]string{w.path(w.name)}, Filter{}, Limits{}) {
				if err != nil {
					t.Fatal(err)
				}
				pages++
				if !bytes.Equal(page.Raw, body) {
					t.Errorf("with %.20q %d bytes became %d", odd, len(body), len(page.Raw))
				}
			}
			if pages != 1 {
				t.Errorf("with %.20q there are %d pages", odd, pages)
			}
		}
	}
}

func FuzzTerse(f *testing.F) {
	f.Add([]byte("WARC/1.1\r\nWARC-Type: response\r\nWARC-Type: request\r\n"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if terse.pack(new(bitBuffer), head, false) && !bytes.Equal(unpacked(t, head), head) {
			t.Error("it became something else")
		}
	})
}
