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

// maxStrays is how many bad lines are reported one by one: a page of HTML or an archive,
// given by mistake, has thousands.
const maxStrays = 10

// Strays keeps the log from being flooded with lines that are not what they should be.
type Strays struct {
	Log *slog.Logger
	n   int64
}

// Report reports a line, unless there were many before it.
func (s *Strays) Report(msg string, attrs ...any) {
	if s.n++; s.n <= maxStrays {
		s.Log.Warn(msg, attrs...)
	}
}

// Close tells how many lines were not reported.
func (s *Strays) Close() {
	if n := s.n - maxStrays; n > 0 {
		s.Log.Warn("skipped more such lines", "lines", n)
	}
}
