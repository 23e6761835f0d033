// Package testfile reads and writes the files of tests. A test that cannot read or write one
// fails at once.
package testfile

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"
)

// Check fails the test if an operation on its files failed.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Write writes a file, whose directory it creates if necessary, and returns its name.
func Write[T ~string | ~[]byte](t testing.TB, name string, content T) string {
	t.Helper()
	Check(t, os.MkdirAll(filepath.Dir(name), 0o777))
	Check(t, os.WriteFile(name, []byte(content), 0o666))
	return name
}

// Read returns the content of a file.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	Check(t, err)
	return content
}

// Open opens a file and closes it at the end of the test.
func Open(t testing.TB, name string) *os.File {
	t.Helper()
	f, err := os.Open(name)
	Check(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// Shared returns the absolute path of a file of the shared data, which is kept outside the
// project in $SPOOR_SHARED, by default ../shared; a relative path starts at the root of the
// project. Shared skips the test if the file is missing.
func Shared(t testing.TB, name string) string {
	t.Helper()
	dir := cmp.Or(os.Getenv("SPOOR_SHARED"), filepath.Join("..", "shared"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root(t), dir)
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared data absent: %v (hint: set SPOOR_SHARED)", err)
	}
	return path
}

// SharedLink returns a link to a file of the shared data in a directory of the test, for tests that
// write beside it: the shared data is read-only.
func SharedLink(t testing.TB, name string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), filepath.Base(name))
	if err := os.Symlink(Shared(t, name), link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	return link
}

// root returns the root of the project, the nearest parent directory with a go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	Check(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no parent directory has a go.mod")
		}
		dir = filepath.Dir(dir)
	}
}
