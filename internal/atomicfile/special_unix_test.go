//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

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
