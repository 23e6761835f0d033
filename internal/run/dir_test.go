package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASmallFileThatIsLargeIsNotRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), SettingsFile)
	if b, err := readSmall(name); b != nil || err != nil {
		t.Errorf("no file: %q, %v", b, err)
	}
	if err := os.WriteFile(name, []byte("size 10\n"), 0o666); err != nil {
		t.Fatal(err)
	}
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
