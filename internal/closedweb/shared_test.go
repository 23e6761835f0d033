package closedweb

import (
	"os"
	"path/filepath"
	"testing"
)

// shared returns the path of a file of the data that is kept outside the project. The test
// is skipped if it is absent.
func shared(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("SPOOR_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(name)))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Skipf("shared data absent: %v (hint: set SPOOR_SHARED)", err)
	}
	return path
}
