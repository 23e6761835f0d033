//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"spoor/internal/testfile"
)

// Files of a directory from somebody else may be names of other files.
func TestOpenFileDoesNotWriteAFileThatHasAnotherName(t *testing.T) {
	dir := t.TempDir()
	name, other := filepath.Join(dir, "name"), filepath.Join(dir, "other")
	testfile.Write(t, other, "mine")
	if err := os.Link(other, name); err != nil {
		t.Skip(err)
	}
	for _, flag := range []int{os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
		if f, err := OpenFile(name, flag, 0o666); err == nil || !strings.Contains(err.Error(), name+" is a hard link") {
			f.Close()
			t.Errorf("flag %#x: %v", flag, err)
		}
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	f, err := OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	testfile.Check(t, os.Remove(other))
	if f, err = OpenFile(name, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// Opening a named pipe would wait for its other end.
func TestOpenFileRefusesOtherKindsOfFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]string{pipe: "named pipe", os.DevNull: "device", dir: "directory"} {
		if f, err := OpenFile(name, os.O_RDONLY, 0); err == nil || !strings.Contains(err.Error(), name+": it is a "+want) {
			f.Close()
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, flag := range []int{os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
		if f, err := OpenFile(pipe, flag, 0o666); err == nil || !strings.Contains(err.Error(), pipe) {
			f.Close()
			t.Errorf("flag %#x: %v", flag, err)
		}
	}
}
