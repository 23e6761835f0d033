package run

import "fmt"

// A Fault is an error that ends the crawl with a status of its own.
type Fault struct {
	Status int
	Text   string // lines; what to do comes last
}

func (f *Fault) Error() string { return f.Text }

// The statuses of faults; see the commands.
const (
	statusFailed      = 1
	statusMisuse      = 2
	statusDiskFull    = 3
	statusInterrupted = 130
	statusPipe        = 141
	statusTerminated  = 143
)

func faultf(status int, format string, args ...any) error {
	return &Fault{status, fmt.Sprintf(format, args...)}
}
