package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/lock"
	"spoor/internal/testfile"
)

// repaired returns the repaired copy of a file, and the repairs.
func repaired(t testing.TB, file string) (copy string, done []string, n Repaired, err error) {
	t.Helper()
	var out bytes.Buffer
	n, err = RepairFile(t.Context(), &out, strings.NewReader(file), int64(len(file)), RepairOptions{
		Report: func(r Repair) { done = append(done, fmt.Sprintf("%d %s: %s", r.Offset, r.Kind, r.Detail)) },
	})
	if n.Repairs != int64(len(done)) {
		t.Errorf("%d repairs are counted, %d reported", n.Repairs, len(done))
	}
	return out.String(), done, n, err
}

// checkRepair repairs a file, and checks that the result has no faults and is not changed by
// another repair.
func checkRepair(t testing.TB, file string) string {
	t.Helper()
	once, done, _, err := repaired(t, file)
	if errors.Is(err, ErrNotWARC) {
		return ""
	}
	if err != nil {
		t.Fatalf("%v\n%q", err, file)
	}
	for _, f := range findings(t, once) {
		if !strings.Contains(f, "?: ") {
			t.Fatalf("the copy has a fault: %s\nafter %q\nof %q\nin %q", f, done, file, once)
		}
	}
	if (len(done) == 0) != (once == file) {
		t.Fatalf("done: %q\nof %q\nis %q", done, file, once)
	}
	if once == "" {
		return ""
	}
	twice, more, _, err := repaired(t, once)
	if err != nil || len(more) > 0 || twice != once {
		t.Fatalf("repairing again does %q: %v\nof %q\nis %q", more, err, once, twice)
	}
	return once
}

func TestRepair(t *testing.T) {
	a, b, c := good("a"), good("b"), good("c")
	za, zb := zip(a), zip(b)
	sum := "WARC-Block-Digest: " + Digest([]byte("block of a"))
	told := with("a", sum) // by its digest
	wrong := "WARC-Block-Digest: " + Digest(nil)
	dropped := strings.Replace(with("a", wrong), wrong+"\r\n", "", 1)
	sized := func(s string, n int) string {
		return strings.Replace(s, "Content-Length: 10", fmt.Sprintf("Content-Length: %d", n), 1)
	}
	// mended returns a record with a corrected length, which is then the last field.
	mended := func(s string) string {
		s = strings.Replace(s, "Content-Length: 10\r\n", "", 1)
		return strings.Replace(s, "\r\n\r\n", "\r\nContent-Length: 10\r\n\r\n", 1)
	}
	truncated := with("a", "WARC-Truncated: length", "WARC-Payload-Digest: "+Digest(nil))
	nested := good("nested")
	for _, test := range []struct {
		name, file, want string
		done             []string // kinds
	}{
		{"nothing", "", "", nil},
		{"plain records in order", a + b, a + b, nil},
		{"members in order", za + zb, za + zb, nil},
		{"frames in order", zst(a, b), zst(a, b), nil},
		{"a torn tail", a + b[:len(b)-10], a, []string{"format"}},
		{"a torn header", a + b[:30], a, []string{"format"}},
		{"a torn member", za + zb[:40], za, []string{"format"}},
		{"a torn frame", zst(a) + zst(b)[:40], zst(a), []string{"format"}},
		{"a torn member with a whole record in it", zip(a + strings.Repeat(b, 9000))[:1800], "", []string{"*"}},
		{"a torn header that others were appended to", a[:60] + b + c, b + c, []string{"format"}},
		{"rubbish in front", "rubbish\r\n" + a, a, []string{"format"}},
		{"rubbish between", a + "rubbish\r\n" + b, a + b, []string{"format"}},
		{"rubbish between that no newline ends", told + "rubbish" + b, told + b, []string{"format"}},
		{"rubbish between members", za + "rubbish" + zb, za + zb, []string{"format"}},
		{"rubbish in front of members", "rubbish" + za, za, []string{"format"}},
		{"rubbish behind", za + "rubbish", za, []string{"format"}},
		{"zeros behind", za + strings.Repeat("\x00", 512), za, []string{"format"}},
		{"an empty member", za + zip("") + zb, za + zb, []string{"format"}},
		{"a member of rubbish", za + zip("rubbish") + zb, za + zb, []string{"format"}},
		{"a torn record with others behind it", a[:len(a)-9] + b + c, b + c, []string{"format"}},
		{"a torn record that others were appended to", told[:len(told)-9] + b + c, b + c, []string{"format"}},

		{"a length too small, in a member", zip(sized(a, 8)) + zb, zip(mended(a)) + zb, []string{"format"}},
		{"a length too large, in a member", zip(sized(a, 12)) + zb, zip(mended(a)) + zb, []string{"format"}},
		{"a length far too large, in a member", zip(sized(a, 1e9)) + zb, zip(mended(a)) + zb, []string{"format"}},
		{"no length, in a member", zip(without("a", "Content-Length")) + zb, zip(mended(a)) + zb, []string{"format"}},
		{"a length that is none", sized(a, -1) + b, mended(a) + b, []string{"format"}},
		{"a length too small", sized(a, 8) + b, mended(a) + b, []string{"format"}},
		{"a length too large", sized(a, 12) + b, mended(a) + b, []string{"format"}},
		{"a length as large as another record", sized(a, 10+len(b)) + b + c, sized(a, 10+len(b)) + b + c, nil},
		{"the same where a digest tells", sized(told, 10+len(b)) + b + c, mended(told) + b + c, []string{"format"}},
		{"a length too large at the end", b + sized(a, 12), b + mended(a), []string{"format"}},
		{"a length that the digest speaks for", told[:len(told)-4] + "\r\nmore\r\n" + b, told + b, []string{"end", "end", "format"}},
		{"a record in a record", raw("a", nested, len(nested)) + b, raw("a", nested, len(nested)) + b, nil},

		{"no empty line", a[:len(a)-4] + b, a + b, []string{"end"}},
		{"one empty line", a[:len(a)-2] + b, a + b, []string{"end", "end"}},
		{"many empty lines", a + "\r\n\r\n\n" + b, a + b, []string{"end"}},
		{"no empty lines at the end", b + a[:len(a)-4], b + a, []string{"end"}},
		{"no empty lines in a member", zip(a[:len(a)-4]), za, []string{"end"}},

		{"records that share a member", zip(a+b) + zip(c), za + zb + zip(c), []string{"member"}},
		{"a record cut across members", zip(a[:len(a)-10], a[len(a)-10:]) + zb, zip(a[:len(a)-10], a[len(a)-10:]) + zb, nil},
		{"a record of two frames, with a seek table", zst(a[:50], a[50:]) + skippable + zst(b) + skippable, zst(a[:50], a[50:]) + skippable + zst(b) + skippable, nil},
		{"a seek table of a record with a wrong digest", zst(with("a", wrong)) + skippable + zst(b), zst(dropped, b), []string{"digest", "format"}},
		{"a header torn in a member", zip(a[:strings.Index(a, "example.com")]+b) + zip(c), zb + zip(c), []string{"format"}},
		{"records cut across members", zip(a[:len(a)-10], a[len(a)-10:]+b[:len(b)-8], b[len(b)-8:]), za + zb, []string{"member"}},

		{"a wrong digest", with("a", wrong) + b, dropped + b, []string{"digest"}},
		{"a wrong digest, in a member", zip(with("a", wrong)), zip(dropped), []string{"digest"}},
		{"a wrong digest that may be of what was cut off", truncated, truncated, nil},
		{"no type", without("a", "WARC-Type") + b, b, []string{"field"}},
		{"no date", without("a", "WARC-Date") + b, b, []string{"field"}},
		{"fields in two lines", strings.Replace(sized(a, 8), "Content-Length: 8", "x\r\nContent-Length:\r\n 8\r\nX: y\r\n z", 1) + b,
			strings.Replace(mended(a), "Content-Length: 10", "x\r\nX: y\r\n z\r\nContent-Length: 10", 1) + b, []string{"format"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := checkRepair(t, test.file)
			_, done, _, _ := repaired(t, test.file)
			var kinds []string
			for _, d := range done {
				_, kind, _ := strings.Cut(d, " ")
				kind, _, _ = strings.Cut(kind, ":")
				kinds = append(kinds, kind)
			}
			if slices.Equal(test.done, []string{"*"}) {
				if !strings.HasPrefix(got, za) || !slices.Contains(kinds, "format") {
					t.Errorf("%q, %q", done, got)
				}
				return
			}
			if diff := cmp.Diff(test.done, kinds); diff != "" {
				t.Errorf("%s\n%q", diff, done)
			}
			if unpackAll(t, got) != unpackAll(t, test.want) {
				t.Errorf("\n%q\nwant\n%q", unpackAll(t, got), unpackAll(t, test.want))
			}
		})
	}
}

// unpackAll returns the decompressed members of a file, separated by bars.
func unpackAll(t testing.TB, file string) string {
	var m members
	if err := m.reset(strings.NewReader(file), 0, unknown); err != nil || m.format == plain {
		return file
	}
	var b strings.Builder
	for {
		if err := m.next(); err != nil {
			return b.String()
		}
		if _, err := io.Copy(&b, &m); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('|')
	}
}

func TestRepairIdentifiers(t *testing.T) {
	got := checkRepair(t, good("a")+good("a")+without("b", "WARC-Record-ID"))
	var ids []string
	for rec, err := range (&Volume{Data: strings.NewReader(got)}).Records() {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, rec.ID())
	}
	if len(ids) != 3 || ids[0] != "<urn:x:a>" || ids[1] == ids[2] || !strings.HasPrefix(ids[1], "<urn:uuid:") || !strings.HasPrefix(ids[2], "<urn:uuid:") {
		t.Error(ids)
	}
}

func TestRepairOtherFormats(t *testing.T) {
	for name, file := range map[string]string{
		"text":     "once upon a time",
		"ARC":      strings.Join(asARC(t, capture("http://a/", old, 200, "", "x")), ""),
		"WACZ":     string(sample(t)),
		"gzip":     zip("no record"),
		"an image": "\x89PNG\r\n\x1a\n",
	} {
		if _, _, _, err := repaired(t, file); !errors.Is(err, ErrNotWARC) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A counted counts the bytes read from a file.
type counted struct {
	*strings.Reader
	n int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Reader.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// TestRepairFalseLengthsInBoundedTime checks that the time for a file of nothing but false
// lengths is linear.
func TestRepairFalseLengthsInBoundedTime(t *testing.T) {
	far := func(more string) string {
		s := strings.Replace(with("a", more), "Content-Length: 10", "Content-Length: 400000", 1)
		return strings.Repeat(s, 1<<20/len(s)) + "\r\n\r\n"
	}
	for name, file := range map[string]string{
		"version lines":             strings.Repeat("WARC/1.1\r\n", 50_000),
		"headers":                   strings.Repeat("WARC/1.1\r\na: b\r\n", 50_000),
		"lengths":                   far("X: y"),
		"lengths with a digest":     far("WARC-Block-Digest: " + Digest([]byte("block of a"))),
		"lengths with wrong digest": far("WARC-Block-Digest: " + Digest(nil)),
	} {
		src := &counted{Reader: strings.NewReader(file)}
		r := newRepairer(t.Context(), io.Discard, src, int64(len(file)), RepairOptions{})
		r.budget = 64 << 20
		n, err := r.run()
		if err != nil && !errors.Is(err, ErrNotWARC) {
			t.Fatal(err)
		}
		records := int64(strings.Count(file, "WARC/1.1"))
		t.Logf("%s: %d bytes, %d read, %+v", name, len(file), src.n, n)
		if most := 64<<20 + 4*bufferSize*records; src.n > most {
			t.Errorf("%s: of %d bytes %d are read", name, len(file), src.n)
		}
	}
}

func TestRepairKeepsDictionary(t *testing.T) {
	dict, frame := dictionary(t)
	head := binary.LittleEndian.AppendUint32(nil, zstdDict)
	head = append(binary.LittleEndian.AppendUint32(head, uint32(len(dict))), dict...)
	file := string(head) + frame(good("a")) + frame(good("b"))
	if got := checkRepair(t, file); got != file {
		t.Error("a file in order has changed")
	}
	got := checkRepair(t, file+frame(good("c")+good("d"))+frame(good("e"))[:20])
	if !strings.HasPrefix(got, file) || journal(t, strings.NewReader(got)) != "a b c d" {
		t.Errorf("what is left is %s", journal(t, strings.NewReader(got)))
	}
}

// TestRepairRandomDamage mutates real archives.
func TestRepairRandomDamage(t *testing.T) {
	var files []string
	for _, name := range []string{"example.warc", "example.warc.gz", "example-bad-non-chunked.warc.gz", "example-trunc.warc", "example-wrong-chunks.warc.gz", "example-digest.warc"} {
		b := testfile.Read(t, testfile.Shared(t, "suites/warcio/test/data/"+name))
		checkRepair(t, string(b))
		files = append(files, string(b))
	}
	rounds := 400
	if testing.Short() {
		rounds = 40
	}
	for i := range rounds {
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		b := []byte(files[rng.IntN(len(files))])
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(b))
			switch rng.IntN(4) {
			case 0:
				b[at] = byte(rng.Uint32())
			case 1: // torn
				b = b[:at+1]
			case 2: // bytes lost
				b = slices.Delete(b, at, min(len(b), at+1+rng.IntN(100)))
				b = append(b, '.')
			case 3: // another file appended in the middle
				b = append(b[:at+1:at+1], files[rng.IntN(len(files))]...)
			}
		}
		checkRepair(t, string(b))
	}
}

func TestRepairAfterCrash(t *testing.T) {
	path := fileOf(t, t.TempDir(), "x.warc.gz", []byte(zip(good("a"))+zip(good("b"))[:40]))
	if err := os.Link(path, path+".bak"); err != nil {
		t.Skipf("no second names here: %v", err)
	}
	if n, err := RepairInPlace(t.Context(), path, RepairOptions{}); err != nil || n.Repairs != 1 {
		t.Errorf("%+v, %v", n, err)
	}
	if got := string(must(os.ReadFile(path))); got != zip(good("a")) {
		t.Errorf("%q", got)
	}
}

func TestRepairInPlace(t *testing.T) {
	a, b := good("a"), good("b")
	torn := zip(a) + zip(b)[:40]
	list := func(dir string) (names []string) {
		for _, e := range must(os.ReadDir(dir)) {
			names = append(names, e.Name())
		}
		return names
	}
	for _, c := range []struct {
		name, file, content string
		want                []string // names
		repairs             int64
	}{
		{"nothing is wrong", "x.warc.gz", zip(a), []string{"x.warc.gz"}, 0},
		{"torn", "x.warc.gz", torn, []string{"x.warc.gz", "x.warc.gz.bak"}, 1},
		{"left open", "x.warc.gz.open", zip(a), []string{"x.warc.gz"}, 1}, // its name
		{"left open and torn", "x.warc.gz.open", torn, []string{"x.warc.gz", "x.warc.gz.open.bak"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := fileOf(t, dir, c.file, []byte(c.content))
			n, err := RepairInPlace(t.Context(), path, RepairOptions{Temp: dir})
			if err != nil || n.Repairs != c.repairs {
				t.Errorf("%+v, %v", n, err)
			}
			if diff := cmp.Diff(c.want, list(dir)); diff != "" {
				t.Error(diff)
			}
			if got := string(must(os.ReadFile(filepath.Join(dir, "x.warc.gz")))); got != zip(a) {
				t.Errorf("%q", got)
			}
			if len(c.want) > 1 && string(must(os.ReadFile(path+".bak"))) != c.content {
				t.Error("the backup is not what the file was")
			}
		})
	}

	dir := t.TempDir()
	path := fileOf(t, dir, "x.warc.gz", []byte(torn))
	fileOf(t, dir, "x.warc.gz.bak", nil)
	if _, err := RepairInPlace(t.Context(), path, RepairOptions{}); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("over an older backup: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	path = fileOf(t, t.TempDir(), "x.warc.gz", []byte(torn))
	if _, err := RepairInPlace(ctx, path, RepairOptions{}); !errors.Is(err, stopped) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := os.Stat(path + ".part"); !errors.Is(err, fs.ErrNotExist) || string(must(os.ReadFile(path))) != torn {
		t.Error("something is left of an interrupted repair")
	}
	if _, err := RepairInPlace(t.Context(), fileOf(t, t.TempDir(), "x", []byte("no archive")), RepairOptions{}); !errors.Is(err, ErrNotWARC) {
		t.Errorf("no archive: %v", err)
	}
}

func TestRepairInPlaceLocked(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, testOptions(dir))
	defer w.Close()
	paths, err := Files([]string{dir})
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	if _, err := RepairInPlace(t.Context(), paths[0], RepairOptions{}); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("%v, want that it is held", err)
	}
}

// must returns v, and panics if there is an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func FuzzRepair(f *testing.F) {
	a, b := with("a", "WARC-Block-Digest: "+Digest([]byte("block of a"))), good("b")
	for _, s := range []string{
		"", a + b, zip(a, b), zst(a, b), zip(a + b), a[:len(a)-9] + b, zip(a) + "rubbish" + zip(b)[:40],
		zip(a[:len(a)-10], a[len(a)-10:]) + zip(b), strings.ReplaceAll(a+b, "10", "12"), a + a, a + "\r\n" + b,
		zst(a+b) + zst(b)[:50], without("a", "Content-Length") + b, "rubbish" + zip(a),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) { checkRepair(t, string(file)) })
}
