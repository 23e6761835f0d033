package archive

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk writes until a small file system is full.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount a small file system: %v (hint: needs root)", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	w := newWriter(t, testOptions(dir))
	written, failed := 0, 0
	for i := 0; i < 300 && failed < 3; i++ {
		x := exchange(fmt.Sprint("http://example.com/", i), 0)
		for j := range 200 {
			x.Body = append(x.Body, Digest([]byte{byte(i), byte(j)})...)
		}
		switch _, err := w.Write(x); {
		case errors.Is(err, syscall.ENOSPC):
			failed++
		case err != nil:
			t.Fatal(err)
		case failed > 0:
			t.Fatal("there is room again")
		default:
			written++
		}
	}
	if written == 0 || failed == 0 {
		t.Fatalf("%d written, %d failed", written, failed)
	}
	name := names(t, dir)[0]
	want := fmt.Sprintf("metadata %d, request %d, response %d, warcinfo 1", written, written, written)
	if got := census(t, filepath.Join(dir, name)); got != want {
		t.Errorf("while open: read %s, want %s", got, want)
	}
	if err := w.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	if got := census(t, filepath.Join(dir, strings.TrimSuffix(name, openSuffix))); got != want {
		t.Errorf("read %s, want %s", got, want)
	}
	// A new writer on the full file system must leave nothing behind.
	o := testOptions(dir)
	o.MaxSize = 1
	if w, err := NewWriter(o); err == nil {
		_, err = w.Write(exchange("http://example.com/", 70_000))
		w.Close()
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a new writer: %v", err)
		}
	} else if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a new writer: %v", err)
	}
}
