package run

import "fmt"

// A Fault is an error with the exit status of the crawl.
type Fault struct {
	Status int
	Text   string // one or more lines, the last of which says what to do
}

func (f *Fault) Error() string { return f.Text }

// The statuses of faults, as in cmd/internal/filter.
const (
	statusFailed      = 1
	statusMisuse      = 2
	statusDiskFull    = 3
	statusEnded       = 4 // run next: the crawl is over
	statusInterrupted = 130
	statusPipe        = 141
	statusTerminated  = 143
)

// stageStatus returns the exit status of a crawl that ends because one of the user's commands ended
// with status. It replaces 2, 3 and 4 by 1, because they have a meaning only for spoor's own commands.
func stageStatus(status int) int {
	if status >= statusMisuse && status <= statusEnded {
		return statusFailed
	}
	return status
}

func faultf(status int, format string, args ...any) error {
	return &Fault{status, fmt.Sprintf(format, args...)}
}
