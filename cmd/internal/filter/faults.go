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

// ShouldLog reports whether a fault of an archive should be logged. It logs a message for the first
// one that should not.
func (f *Faults) ShouldLog(archive string) bool {
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

// maxLineWarnings bounds the malformed lines that are logged: HTML or an archive, given by mistake,
// has thousands.
const maxLineWarnings = 10

// LineWarnings limits the log messages about malformed lines.
type LineWarnings struct {
	Log *slog.Logger
	n   int64
}

// Report logs a message about a line, unless there were many before it.
func (s *LineWarnings) Report(msg string, attrs ...any) {
	if s.n++; s.n <= maxLineWarnings {
		s.Log.Warn(msg, attrs...)
	}
}

// Close logs the number of lines that were not reported.
func (s *LineWarnings) Close() {
	if n := s.n - maxLineWarnings; n > 0 {
		s.Log.Warn("skipped more such lines", "lines", n)
	}
}
