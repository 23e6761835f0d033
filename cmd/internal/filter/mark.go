package filter

import (
	"fmt"
	"path/filepath"

	"spoor/internal/wire"
)

// A mark is a line that ends a window of an endless stream, as an end of file ends a
// generation: frontier serve sends it behind the addresses of the window, every stage
// passes it on behind all that it makes of these, and with it comes back what the
// window was. It is a query that nobody answers, so that what knows nothing of marks
// passes it on as it passes queries on.
const (
	markOperator = "mark"
	markQuery    = "mark"
)

// IsMark tells whether rec, read with [wire.Address], is a mark; its generation is the
// number of the window that it ends.
func IsMark(rec *wire.Record) bool { return rec.URL == "" && rec.Operator == markOperator }

// SetMark makes rec the mark of a window.
func SetMark(rec *wire.Record, generation int) {
	rec.Reset()
	rec.V, rec.Generation, rec.Operator, rec.Query = wire.Version, generation, markOperator, markQuery
}

// WindowTopic is the name of the file of a window in which topic -expand leaves the topic
// that the window has made to grow. Where it did not grow there is none.
const WindowTopic = "topic.json"

// WindowFile is a file of a window, in the directory that the flag -windows of several
// commands has, and scripts/crawl has of generations.
func WindowFile(dir string, window int, name string) string {
	return filepath.Join(dir, fmt.Sprintf("%04d", window), name)
}
