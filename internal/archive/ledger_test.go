package archive

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"spoor/internal/testfile"
)

func testLedger(t testing.TB) *ledger {
	t.Helper()
	return reopened(t, filepath.Join(t.TempDir(), "x"+ledgerSuffix))
}

func reopened(t testing.TB, path string) *ledger {
	t.Helper()
	l, err := openLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.close() })
	return l
}

func nthKey(i int) key {
	sum := sha1.Sum(fmt.Append(nil, i))
	return key(sum[:])
}

func nthPosition(i int) position { return position{uint32(i), int64(i) << 20} }

func TestLedgerPutAndGet(t *testing.T) {
	l := testLedger(t)
	if at, ok := l.get(nthKey(1)); ok {
		t.Errorf("an empty ledger knows %v", at)
	}
	for i := range 3 {
		l.put(nthKey(1), nthPosition(i))
	}
	for _, l := range []*ledger{l, reopened(t, l.f.Name())} {
		if at, ok := l.get(nthKey(1)); !ok || at != nthPosition(2) {
			t.Errorf("%v, %v", at, ok)
		}
	}
}

// TestLedgerNewest overfills every sixteenth bucket of a ledger.
func TestLedgerNewest(t *testing.T) {
	l := testLedger(t)
	sixteenth := func(i int) (k key) {
		k = nthKey(i)
		k[0] &^= 15
		return k
	}
	const number, newest = 25_000, 131_072 / 16
	for i := range number {
		l.put(sixteenth(i), nthPosition(i))
	}
	l = reopened(t, l.f.Name())
	if info, err := l.f.Stat(); err != nil || info.Size() != bucketSize<<maxLedger+bucketSize {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	known := 0
	for i := range number {
		at, ok := l.get(sixteenth(i))
		if ok && at != nthPosition(i) {
			t.Fatalf("entry %d is %v", i, at)
		}
		if ok && i >= number-newest {
			known++
		}
	}
	t.Logf("%.1f %% of the newest %d are known", 100*float64(known)/newest, newest)
	if known < newest*97/100 {
		t.Error("too few")
	}
}

func TestLedgerGrow(t *testing.T) {
	l := testLedger(t)
	number := 0
	for ; l.bits < minLedger+3; number++ {
		l.put(nthKey(number), nthPosition(number))
	}
	for i := range number {
		if at, ok := l.get(nthKey(i)); !ok || at != nthPosition(i) {
			t.Fatalf("entry %d of %d is %v, %v", i, number, at, ok)
		}
	}
	t.Logf("%d buckets for %d entries", 1<<l.bits, number)
}

// TestDamagedLedger truncates a ledger at every byte, and flips every byte of it.
func TestDamagedLedger(t *testing.T) {
	l := testLedger(t)
	// Keys with the same first bytes share a bucket.
	same := func(i int) (k key) {
		k = nthKey(i)
		binary.LittleEndian.PutUint16(k[:], 1)
		return k
	}
	for i := range 6 {
		l.put(same(i), nthPosition(i))
	}
	good := testfile.Read(t, l.f.Name())
	path := filepath.Join(t.TempDir(), "y"+ledgerSuffix)
	check := func(what string, data []byte, missing int) {
		t.Helper()
		testfile.Write(t, path, data)
		l, err := openLedger(path)
		if err != nil {
			if len(data) < bucketSize || bytes.HasPrefix(data, []byte(ledgerMagic)) {
				t.Fatalf("%s: %v", what, err)
			}
			return // it is not taken for a ledger, and not touched
		}
		defer l.close()
		for i := range 6 {
			switch at, ok := l.get(same(i)); {
			case ok && at != nthPosition(i):
				t.Fatalf("%s: entry %d is %v", what, i, at)
			case !ok:
				missing--
			}
		}
		if missing < 0 {
			t.Fatalf("%s: more entries are lost than were damaged", what)
		}
		l.put(same(7), nthPosition(7))
		if at, ok := l.get(same(7)); !ok || at != nthPosition(7) {
			t.Fatalf("%s: what is put then is %v, %v", what, at, ok)
		}
	}
	for cut := range good {
		check(fmt.Sprintf("cut at %d", cut), good[:cut], 6)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0xff
		missing := 1
		if i == len(ledgerMagic) {
			missing = 6 // the number of buckets
		}
		check(fmt.Sprintf("byte %d", i), bad, missing)
	}
}

func TestLedgerOtherFile(t *testing.T) {
	dir := t.TempDir()
	mine := bytes.Repeat([]byte("my own captures\n"), 100)
	path := fileOf(t, dir, "crawl"+ledgerSuffix, mine)
	if w, err := NewWriter(testOptions(dir)); err == nil {
		w.Close()
		t.Error("taken")
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, mine) {
		t.Errorf("changed, %v", err)
	}
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("files %v", got)
	}
}

// FuzzCaptures puts an arbitrary list of captures, with right checksums, beside the files of a
// killed writer: no page that was written before or afterwards is lost or gets another body.
func FuzzCaptures(f *testing.F) {
	dir := f.TempDir()
	o := testOptions(dir)
	o.MaxSize = 3000 // several files
	w, err := NewWriter(o)
	if err != nil {
		f.Fatal(err)
	}
	want := map[string][]byte{}
	var places []position
	for i := range 8 {
		x := exchange(fmt.Sprintf("http://example.com/%d", i%6), MinRevisit+i%6)
		rand.NewChaCha8([32]byte{byte(i % 6)}).Read(x.Body)
		want[x.URL] = x.Body
		at := write(f, w, x)
		places = append(places, position{nameSum(at.Filename), at.Offset})
	}
	open := w.name + openSuffix
	files := map[string][]byte{} // as a killed process leaves them
	for _, name := range names(f, dir) {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			f.Fatal(err)
		}
	}
	ledger, err := os.ReadFile(o.Prefix + ledgerSuffix)
	if err != nil {
		f.Fatal(err)
	}
	w.Close()
	keys := []key{markKey(w.name)}
	e := newEncoder(must(newDigester("")), nil, DefaultLevel)
	for url, body := range want {
		e.take(&Exchange{Body: body})
		keys = append(keys, e.keyPayload(), e.keyURL(url))
	}
	slices.SortFunc(keys, func(a, b key) int { return bytes.Compare(a[:], b[:]) })

	var sound []byte
	for i, p := range places {
		sound = append(sound, byte(i), byte(i))
		sound = binary.LittleEndian.AppendUint64(sound, uint64(p.offset))
	}
	f.Add(sound)
	for i := range keys { // all keys at all places
		for j, p := range places {
			if testing.Short() && (i+j)%8 > 0 {
				continue
			}
			f.Add(binary.LittleEndian.AppendUint64([]byte{byte(i), byte(j)}, uint64(p.offset+1)))
		}
	}
	f.Add([]byte("\x00\x07\xff\xff\xff\xff\xff\xff\xff\xff\x00\x07\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, entries []byte) {
		dir := t.TempDir()
		o := o
		o.Prefix, o.Random = filepath.Join(dir, "crawl"), rand.NewChaCha8([32]byte{2})
		for name, data := range files {
			fileOf(t, dir, name, data)
		}
		fileOf(t, dir, "crawl"+ledgerSuffix, ledger)
		l, err := openLedger(o.Prefix + ledgerSuffix)
		if err != nil {
			t.Fatal(err)
		}
		for len(entries) >= 10 { // a key, a file and an offset each
			l.put(keys[int(entries[0])%len(keys)], position{places[int(entries[1])%len(places)].file, int64(binary.LittleEndian.Uint64(entries[2:]))})
			entries = entries[10:]
		}
		l.close()
		w, err := NewWriter(o)
		if err != nil {
			t.Fatal(err)
		}
		for url, body := range want {
			x := exchange(url, len(body))
			copy(x.Body, body)
			write(t, w, x)
			x.NotModified, x.Head, x.Body = true, []byte("HTTP/1.1 304 Not Modified\r\n\r\n"), nil
			write(t, w, x)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		captures := 0
		r := replay(t, dir)
		for url, body := range want {
			all := r.Lookup(url)
			captures += len(all)
			for _, c := range all {
				if p, err := r.Read(c); err != nil || !bytes.Equal(p.Body, body) {
					t.Fatalf("%s: %+v, %v", url, c, err)
				}
			}
		}
		if captures != len(places)+2*len(want) || r.Faults() > 0 {
			t.Fatalf("%d captures, %d faults (was %s)", captures, r.Faults(), open)
		}
	})
}
