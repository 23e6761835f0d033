package filter

import "log/slog"

// maxFaults is how many faults of one archive are reported one by one. A file may be
// made to have one in every few bytes.
const maxFaults = 1000

// Faults keeps the log from being flooded with the faults of an archive.
type Faults struct {
	Log  *slog.Logger
	told map[string]int // by archive
}

// Tell tells whether a fault of an archive is to be reported; when it is the first
// that is not, the log says so.
func (f *Faults) Tell(archive string) bool {
	if f.told == nil {
		f.told = map[string]int{}
	}
	n := f.told[archive] + 1
	if n <= maxFaults+1 {
		f.told[archive] = n
	}
	if n == maxFaults+1 {
		f.Log.Warn("more faults of the archive are counted, but not reported one by one", "archive", archive)
	}
	return n <= maxFaults
}
