package filter

import (
	"flag"
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

// CacheFlag defines the flag -cache for the directory that holds these files.
func CacheFlag(fs *flag.FlagSet, dir *string, files string) {
	fs.StringVar(dir, "cache", Cache(), "`directory` for "+files+"; the default is spoor in $XDG_CACHE_HOME or ~/.cache. "+
		"They have a few hundred bytes for each archived response, and there is no other limit. They may be deleted at any time, and are made again when needed; "+
		"those that were not used for 90 days are deleted")
}
