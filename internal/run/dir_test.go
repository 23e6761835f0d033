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
