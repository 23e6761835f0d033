package run

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

func TestASmallFileThatIsLargeIsNotRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), SettingsFile)
	if b, err := readSmall(name); b != nil || err != nil {
		t.Errorf("no file: %q, %v", b, err)
	}
	testfile.Write(t, name, "size 10\n")
	if b, err := readSmall(name); string(b) != "size 10\n" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if err := os.Truncate(name, maxSmall+1); err != nil { // sparse
		t.Skip(err)
	}
	if b, err := readSmall(name); b != nil || err == nil || !strings.Contains(err.Error(), name+" is larger than 64 MiB\nhint: ") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestTheLogIsLimited(t *testing.T) {
	d := Dir(t.TempDir())
	for _, size := range []int64{0, maxLog - 1, maxLog, maxLog + 1} {
		if err := errors.Join(os.WriteFile(d.Path(StagesLog), nil, 0o666), os.Truncate(d.Path(StagesLog), size), d.limitLog()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(d.Path(oldLog))
		if large := size >= maxLog; large != (err == nil && info.Size() == size) || large == exists(d.Path(StagesLog)) {
			t.Errorf("%d bytes: %v, %v", size, info, err)
		}
	}
	if !isRunFile(oldLog) {
		t.Error("the old log is no file of a run")
	}
}

func TestNameOf(t *testing.T) {
	for words, want := range map[string]string{
		"": "crawl", "...": "crawl", "jazz music": "crawl-jazz-music", " Jazz, (MUSIC)!": "crawl-jazz-music", "../x -y": "crawl-x-y", "Müsli 2": "crawl-müsli-2",
		strings.Repeat("a", 54): "crawl-" + strings.Repeat("a", 54), strings.Repeat("a", 55): "crawl", "b " + strings.Repeat("a", 54): "crawl-b",
	} {
		if got := NameOf(words); got != want {
			t.Errorf("%q: %q", words, got)
		}
	}
}

// Serve writes to its log in the directory of a new run before crawl does, and the file of examples is the user's.
func TestFilesOfOthersInARun(t *testing.T) {
	d := Dir(t.TempDir())
	log, examples := testfile.Write(t, d.Path(ServeLog), "words"), testfile.Write(t, d.Path(ExamplesFile), "+ http://a.test/")
	if err := d.checkVacant(); err != nil {
		t.Error(err)
	}
	if err := d.clear(nil); err != nil || !exists(log) || !exists(examples) {
		t.Errorf("a run that starts anew removes them: %v", err)
	}
	testfile.Write(t, d.Path("thesis.tex"), "")
	if err := d.checkVacant(); err == nil {
		t.Error("a foreign file is accepted")
	}
}
