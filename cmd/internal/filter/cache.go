package filter

import (
	"os"
	"path/filepath"
)

// Cache is the directory for indexes of archives beside which nothing can be
// written, or "" if the system knows of none: such indexes are kept in memory.
func Cache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "spoor")
}
