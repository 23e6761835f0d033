package filter

import (
	"os"
	"path/filepath"
)

// Cache returns the directory for indexes of archives in directories that are not writable, or
// "" if the system has none: such indexes are kept in memory.
func Cache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "spoor")
}
