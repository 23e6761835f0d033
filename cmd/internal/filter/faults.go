package filter

import "log/slog"

// maxFaults limits how many faults of one archive are logged. A malicious file may have a fault
// every few bytes.
const maxFaults = 1000

// Faults limits the log messages about the faults of archives.
type Faults struct {
	Log   *slog.Logger
	count map[string]int // number of faults by archive
}

// ShouldLog reports whether a fault of an archive should be logged. At the first fault that should not,
// it logs a message that further faults are not logged.
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

// maxLineWarnings limits how many malformed lines are logged. If HTML or an archive is read by mistake,
// there are thousands.
const maxLineWarnings = 10

// LineWarnings limits the log messages about malformed lines.
type LineWarnings struct {
	Log *slog.Logger
	n   int64
}

// Report logs a message about a line, unless it has already logged maxLineWarnings messages.
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
