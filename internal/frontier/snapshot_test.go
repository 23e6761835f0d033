package frontier

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"spoor/internal/testfile"
)

// TestAStoreWhoseIndexFileIsTruncatedWhileItIsOpenIsStillRead would be killed by the system if
// the index was mapped: pages beyond the end of a file cannot be read.
func TestAStoreWhoseIndexFileIsTruncatedWhileItIsOpenIsStillRead(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	for i := range 3000 {
		add(t, s, fmt.Sprintf(`{"v":1,"url":"http://host%d.example/page-%d","generation":1,"priority":1}`, i%50, i))
	}
	closeStore(t, s)
	export := func(change func()) []byte {
		s := open(t, dir, Options{ReadOnly: true})
		if s.Opened().Snapshot != nil || s.Opened().Replayed > 0 {
			t.Fatalf("the snapshot was not used: %+v", s.Opened())
		}
		change()
		var b bytes.Buffer
		if err := s.Export(&b, noon); err != nil {
			t.Fatal(err)
		}
		for i := range 3000 {
			if _, ok := s.lookup(fmt.Sprintf("http://host%d.example/page-%d", i%50, i)); !ok {
				t.Fatalf("address %d is not found", i)
			}
		}
		if _, err := s.Stats(noon); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		return b.Bytes()
	}
	want := export(func() {})
	got := export(func() {
		testfile.Check(t, os.Truncate(filepath.Join(dir, snapshotName), 0))
	})
	if len(want) == 0 || !bytes.Equal(want, got) {
		t.Errorf("%d bytes were exported before, %d after the index was truncated", len(want), len(got))
	}
	s = open(t, dir, Options{})
	if s.Opened().Snapshot == nil || s.x.len() != 3000 {
		t.Errorf("%d addresses, snapshot: %v", s.x.len(), s.Opened().Snapshot)
	}
	closeStore(t, s)
}

func TestASnapshotOfAnotherSizeThanItsHeaderSaysIsRefusedBeforeItIsRead(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	for i := range 3000 {
		add(t, s, fmt.Sprintf(`{"v":1,"url":"http://a.example/%d","generation":1,"priority":1}`, i))
	}
	closeStore(t, s)
	// A hole of 8 TiB, for which no memory could be allocated.
	if err := os.Truncate(filepath.Join(dir, snapshotName), 8<<40); err != nil {
		t.Skip(err)
	}
	s = open(t, dir, Options{})
	if s.Opened().Snapshot == nil || s.x.len() != 3000 {
		t.Errorf("%d addresses, snapshot: %v", s.x.len(), s.Opened().Snapshot)
	}
	closeStore(t, s)
}
