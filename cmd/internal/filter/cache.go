package filter

import (
	"os"
	"path/filepath"
)

// Cache returns the directory for indexes of archives: spoor in $XDG_CACHE_HOME or ~/.cache. It
// returns "" if the system has no such directory; then these indexes are kept in memory.
func Cache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "spoor")
}
