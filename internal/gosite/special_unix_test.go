//go:build unix

package gosite

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"spoor/internal/testfile"
)

// A tree may come from somebody else: what is no regular file is neither waited for nor shown.
func TestOnlyRegularFilesAreSources(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "src", "odd")
	testfile.Check(t, os.MkdirAll(dir, 0o777))
	secret := filepath.Join(root, "secret")
	for name, text := range map[string]string{secret: "package odd // 4711\n", filepath.Join(dir, "odd.go"): "// Package odd is odd.\npackage odd\n"} {
		testfile.Write(t, name, text)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.go"), 0o666); err != nil {
		t.Skip(err)
	}
	for name, to := range map[string]string{"link.go": secret, "zero.go": "/dev/zero"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	s, err := New(root)
	if err != nil {
		t.Fatal(err)
	}
	if w := get(s, "/odd/"); !strings.Contains(w.Body.String(), "Package odd is odd.") {
		t.Error(w.Code, w.Body)
	}
	for _, name := range []string{"link.go", "pipe.go", "zero.go"} {
		if w := get(s, "/odd/"+name+".html"); w.Code != 404 {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
}
