package frontier

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"spoor/internal/testfile"
	"spoor/internal/wire"
)

// A store may come from somebody else: none of its files may lead to a file elsewhere that is
// then overwritten.
func TestAStoreIsNotWrittenThroughLinks(t *testing.T) {
	made := t.TempDir()
	s := open(t, made, Options{})
	add(t, s, `{"v":1,"url":"http://a.test/"}`)
	closeStore(t, s)
	names := []string{snapshotName + ".part", waitingName}
	files, err := os.ReadDir(made)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	for _, name := range names {
		dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
		copyFiles(t, dir, os.DirFS(made))
		before, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			before = []byte("mine")
		}
		os.Remove(filepath.Join(dir, name))
		testfile.Write(t, elsewhere, before)
		if err := os.Symlink(elsewhere, filepath.Join(dir, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		s, err := Open(dir, Options{Holder: "a process", Yield: true})
		if err == nil {
			_, err = s.Add(&wire.Record{URL: "http://b.test/"})
			if err == nil {
				err = s.Commit()
			}
			if e := s.Close(); err == nil {
				err = e
			}
		}
		if err == nil && !slices.Contains([]string{snapshotName, snapshotName + ".part", waitingName}, name) { // these are replaced, removed, or only locked
			t.Errorf("%s: no error", name)
		}
		if after, err := os.ReadFile(elsewhere); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s: the file elsewhere was changed: %v", name, err)
		}
	}
}
