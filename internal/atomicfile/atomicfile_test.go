package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

func TestWriteReplacesTheWholeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state")
	for _, content := range []string{"a long first version", "short", ""} {
		if err := WriteBytes(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != content {
			t.Errorf("got %q, %v; want %q", got, err, content)
		}
	}
	onlyFile(t, name)
}

func TestFailedWriteKeepsTheOldFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state")
	if err := WriteBytes(name, []byte("old")); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("no more")
	err := Write(name, func(w io.Writer) error {
		io.WriteString(w, "half of the n")
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("got error %v, want %v", err, failure)
	}
	if got, _ := os.ReadFile(name); string(got) != "old" {
		t.Errorf("the file now holds %q", got)
	}
	onlyFile(t, name)
}

func TestWriteReportsAMissingDirectory(t *testing.T) {
	err := WriteBytes(filepath.Join(t.TempDir(), "missing", "state"), nil)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
}

func TestWriteDoesNotReplaceADevice(t *testing.T) {
	name := filepath.Join(t.TempDir(), "null")
	if err := os.Symlink(os.DevNull, name); err != nil {
		t.Skipf("cannot create a symbolic link: %v", err)
	}
	if err := WriteBytes(name, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(name); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info, err)
	}
}

// onlyFile fails the test if the directory of name holds another file.
func onlyFile(t *testing.T, name string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(files) != 1 {
		t.Errorf("the directory holds %v, %v; want %s alone", files, err, filepath.Base(name))
	}
}

func TestOpenFileDoesNotFollowALink(t *testing.T) {
	dir := t.TempDir()
	elsewhere, link := filepath.Join(dir, "elsewhere"), filepath.Join(dir, "link")
	testfile.Write(t, elsewhere, "mine")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Skipf("cannot create a symbolic link: %v", err)
	}
	for _, flag := range []int{os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
		f, err := OpenFile(link, flag, 0o666)
		if err == nil {
			f.Close()
			t.Errorf("flag %#x: the link was opened", flag)
		} else if !strings.Contains(err.Error(), link+" is a symbolic link") {
			t.Errorf("flag %#x: %v", flag, err)
		}
	}
	if got, err := os.ReadFile(elsewhere); err != nil || string(got) != "mine" {
		t.Errorf("the file elsewhere holds %q, %v", got, err)
	}
	f, err := OpenFile(filepath.Join(dir, "new"), os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
