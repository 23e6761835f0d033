package filter

import "log/slog"

// maxFaults bounds the faults of one archive that are logged. A malicious file may have one
// every few bytes.
const maxFaults = 1000

// Faults limits the log messages about the faults of archives.
type Faults struct {
	Log   *slog.Logger
	count map[string]int // by archive
}

// Tell reports whether a fault of an archive should be logged. It logs a message for the first
// one that should not.
func (f *Faults) Tell(archive string) bool {
	if f.count == nil {
		f.count = map[string]int{}
	}
	n := f.count[archive] + 1
	if n <= maxFaults+1 {
		f.count[archive] = n
	}
	if n == maxFaults+1 {
		f.Log.Warn("more faults of the archive are counted, but not reported one by one", "archive", archive)
	}
	return n <= maxFaults
}

// maxStrays bounds the malformed lines that are logged: HTML or an archive, given by mistake,
// has thousands.
const maxStrays = 10

// Strays limits the log messages about malformed lines.
type Strays struct {
	Log *slog.Logger
	n   int64
}

// Report logs a message about a line, unless there were many before it.
func (s *Strays) Report(msg string, attrs ...any) {
	if s.n++; s.n <= maxStrays {
		s.Log.Warn(msg, attrs...)
	}
}

// Close logs the number of lines that were not reported.
func (s *Strays) Close() {
	if n := s.n - maxStrays; n > 0 {
		s.Log.Warn("skipped more such lines", "lines", n)
	}
}
