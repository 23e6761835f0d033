package viewer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

func TestTail(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	tail := tail{name: name}
	var lines []string
	resets := 0
	write := func(flag int, text string) {
		t.Helper()
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|flag, 0o666)
		testfile.Check(t, err)
		_, err = f.WriteString(text)
		testfile.Check(t, err)
		testfile.Check(t, f.Close())
	}
	replace := func(text string) {
		t.Helper()
		testfile.Write(t, name+".new", text)
		testfile.Check(t, os.Rename(name+".new", name))
	}
	for _, step := range []struct {
		what   string
		do     func()
		want   string // the new lines
		resets int
	}{
		{"there is no file", func() {}, "", 0},
		{"it is empty", func() { write(0, "") }, "", 0},
		{"two lines", func() { write(os.O_APPEND, "one\ntwo\n") }, "one two", 0},
		{"nothing new", func() {}, "", 0},
		{"a torn line", func() { write(os.O_APPEND, "thr") }, "", 0},
		{"its end, and another torn line", func() { write(os.O_APPEND, "ee\nfo") }, "three", 0},
		{"truncated to the complete lines", func() { testfile.Check(t, os.Truncate(name, int64(len("one\ntwo\nthree\n")))) }, "", 0},
		{"truncated further", func() { testfile.Check(t, os.Truncate(name, 4)) }, "one", 1},
		{"replaced by a longer file", func() { replace("a\nb\n") }, "a b", 1},
		{"written anew in place, longer", func() { write(os.O_TRUNC, "c\nd\ne\n") }, "c d e", 1},
		{"removed", func() { testfile.Check(t, os.Remove(name)) }, "", 1},
		{"still removed", func() {}, "", 0},
		{"there again", func() { write(0, "f\n") }, "f", 0},
	} {
		lines, resets = nil, 0
		step.do()
		called, err := tail.read(func() { resets++ }, func(line []byte) { lines = append(lines, string(line)) })
		if got := strings.Join(lines, " "); err != nil || got != step.want || resets != step.resets || called != (got != "" || resets > 0) {
			t.Errorf("%s: %q, %d resets, %t, %v", step.what, got, resets, called, err)
		}
	}

	replace("short\n" + strings.Repeat("x", maxLine) + "\n")
	lines = nil
	if _, err := tail.read(func() {}, func(line []byte) { lines = append(lines, string(line)) }); err == nil || !slices.Equal(lines, []string{"short"}) {
		t.Errorf("a long line: %d lines, %v", len(lines), err)
	}
	testfile.Check(t, os.Remove(name))
	testfile.Check(t, os.Mkdir(name, 0o777))
	if _, err := tail.read(func() {}, func([]byte) {}); err == nil {
		t.Error("a directory is no error")
	}
}
