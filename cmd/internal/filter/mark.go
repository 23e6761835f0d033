package filter

import (
	"fmt"
	"path/filepath"
)

// WindowTopic is the name of the file of a window in which topic -expand leaves the topic
// that the window has made to grow. Where it did not grow there is none.
const WindowTopic = "topic.json"

// WindowFile is a file of a window, in the directory that the flag -windows of several
// commands has, and scripts/crawl has of generations.
func WindowFile(dir string, window int, name string) string {
	return filepath.Join(dir, fmt.Sprintf("%04d", window), name)
}
