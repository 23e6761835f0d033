package run

import (
	"path/filepath"
	"slices"
	"strings"

	"spoor/internal/archive"
)

// capturesLeft returns the number of finished WARC files that the command of -warc-done has not
// processed; 0 without that flag. All files are finished except the newest one, to which the crawl
// appends when it is resumed.
func (c *Crawl) capturesLeft() (n int) {
	if !slices.ContainsFunc(c.Settings.Live, func(flag string) bool { return strings.HasPrefix(flag, "-warc-done=") }) {
		return 0
	}
	files, err := filepath.Glob(c.Dir.Path(filepath.Join("warc", "crawl-*.warc.*")))
	files = slices.DeleteFunc(files, func(file string) bool { return !archive.IsName(file) }) // drop the indexes
	if err != nil || len(files) < 2 {
		return 0
	}
	done, err := readSmall(c.Dir.Path(filepath.Join("warc", "crawl.done")))
	if err != nil {
		return 0
	}
	names := strings.Split(string(done), "\n")
	for _, file := range files[:len(files)-1] { // Glob sorts
		if !slices.Contains(names, filepath.Base(file)) {
			n++
		}
	}
	return n
}
