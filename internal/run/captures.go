package run

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"spoor/internal/archive"
)

// capturesLeft returns the number of finished WARC files that the command of -warc-done has not
// processed, and the newest file, to which the crawl appends when it is resumed: all others are
// finished. It returns 0 and "" without that flag, or if there is no file.
func (c *Crawl) capturesLeft() (n int, newest string) {
	if !slices.ContainsFunc(c.Settings.Live, func(flag string) bool { return strings.HasPrefix(flag, "-warc-done=") }) {
		return 0, ""
	}
	files, err := filepath.Glob(c.Dir.Path(filepath.Join(Captures, "crawl-*.warc.*")))
	files = slices.DeleteFunc(files, func(file string) bool { return !archive.IsName(file) }) // drop the indexes
	if err != nil || len(files) == 0 {
		return 0, ""
	}
	newest = files[len(files)-1] // Glob sorts
	done, err := readSmall(c.Dir.Path(filepath.Join(Captures, "crawl.done")))
	if err != nil {
		return 0, newest
	}
	names := strings.Split(string(done), "\n")
	for _, file := range files[:len(files)-1] {
		if !slices.Contains(names, filepath.Base(file)) {
			n++
		}
	}
	return n, newest
}

// notHandedOver is in the message that fetch logs if the command of -warc-done has failed.
const notHandedOver = "WARC file is not handed over"

// warnNotHandedOver prints a warning, once in a crawl, after the command of -warc-done has failed.
func (c *Crawl) warnNotHandedOver() {
	if n, _ := c.capturesLeft(); n == 0 || c.Totals.HandOverFailed {
		return // a steady crawl may be handing over these files
	}
	log, err := readSmall(c.Dir.Path(StagesLog))
	if err == nil && bytes.Contains(log, []byte(notHandedOver)) {
		c.Totals.HandOverFailed = true
		c.View.Say("the command of -warc-done has failed: %s tells why; it is tried again with the next file", c.Dir.Path(StagesLog))
	}
}
