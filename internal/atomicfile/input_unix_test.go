//go:build unix

package atomicfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"spoor/internal/testfile"
)

// Each of these files would be waited for, or read without end.
func TestReadFileRefusesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	testfile.Write(t, large, "")
	if err := os.Truncate(large, 10<<30); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]string{
		pipe: "it is a named pipe", dir: "it is a directory", "/dev/zero": "it is a device", large: "is larger than 1 MiB",
	} {
		if _, err := ReadFile(name, 1<<20); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if f, err := OpenInput(large, MaxInput); err == nil || !strings.Contains(err.Error(), "large is larger than 8192 MiB") {
		f.Close()
		t.Error(err)
	}
}

// bash passes <(command) as /dev/fd/63.
func TestReadFileReadsAPipeOfTheProcess(t *testing.T) {
	for _, size := range []int{0, 1000, 1001} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("/dev/fd/%d", r.Fd())
		if _, err := os.Stat(name); err != nil {
			t.Skip(err)
		}
		want := bytes.Repeat([]byte("x"), size)
		go func() {
			w.Write(want)
			w.Close()
		}()
		got, err := ReadFile(name, 1000)
		r.Close()
		if size > 1000 {
			if err == nil || !strings.Contains(err.Error(), name+" is larger than") {
				t.Errorf("%d bytes: %v", size, err)
			}
		} else if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
}
