// Package filter runs a command that reads one stream and writes another.
//
// Every command of this project is a [Func], which knows nothing of the process
// around it, started by [Main], which does: exit status, usage, input files,
// and the loop over records that fetch, parse and score share ([Stream]).
package filter

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"spoor/internal/wire"
)

// The exit statuses that all commands share. A command killed by a signal that
// it does not catch ends as the shell says, with 128 and the signal's number.
const (
	StatusFailed      = 1
	StatusMisuse      = 2
	StatusDiskFull    = 3
	StatusNothingDue  = 4
	StatusInterrupted = 130 // SIGINT, after closing files cleanly
	StatusPipe        = 141 // the reader of stdout went away
	StatusTerminated  = 143 // SIGTERM, after closing files cleanly
)

// A Func is the body of a command. Records go to stdout, words to stderr.
type Func func(args []string, stdin io.Reader, stdout, stderr io.Writer) error

// ErrUsage reports a mistake on the command line that was already explained.
var ErrUsage = errors.New("usage")

// Main runs f as the command called name and ends the process.
func Main(name string, f Func) {
	wire.GrowPipe(os.Stdin)
	wire.GrowPipe(os.Stdout)
	os.Exit(Status(name, os.Stderr, f(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)))
}

// Status prints err, if there is something to say, as "name: err" and returns
// the exit status for it.
func Status(name string, stderr io.Writer, err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrUsage):
		return StatusMisuse
	case errors.Is(err, syscall.EPIPE):
		return StatusPipe
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "%s: %s\n", name, strings.TrimSuffix(line, "\n"))
	}
	if s, ok := errors.AsType[*statusError](err); ok {
		return s.status
	}
	if diskFull(err) {
		fmt.Fprintf(stderr, "%s: hint: free some space and run the same command again: what was acknowledged is kept\n", name)
		return StatusDiskFull
	}
	return StatusFailed
}

// statusError is an error that knows the status it should end the process with.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// Exit is err, ending the process with status.
func Exit(status int, err error) error { return &statusError{status, err} }

// Usagef is a mistake on the command line that f's caller has found; it ends the
// process with [StatusMisuse].
func Usagef(format string, args ...any) error {
	return Exit(StatusMisuse, fmt.Errorf(format, args...))
}

// Flags is a flag set for the command called name whose -h prints manual, then
// the flags.
func Flags(name, manual string, stderr io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintf(stderr, "%s\n\nFlags:\n", strings.TrimSpace(manual))
		fs.PrintDefaults()
	}
	return fs
}

// Parse parses args. A mistake is explained on the set's output and returned as
// [ErrUsage]; -h is flag.ErrHelp.
func Parse(fs *flag.FlagSet, args []string) error {
	usage := fs.Usage
	fs.Usage = func() {} // a mistake gets one line, not a page
	err := fs.Parse(args)
	fs.Usage = usage
	switch {
	case err == nil:
		return nil
	case errors.Is(err, flag.ErrHelp):
		usage()
		return err
	}
	fmt.Fprintf(fs.Output(), "%s: hint: %s -h lists the flags\n", fs.Name(), fs.Name())
	return ErrUsage
}

// Strings is a flag that may be given several times.
type Strings []string

func (s *Strings) String() string     { return strings.Join(*s, ",") }
func (s *Strings) Set(v string) error { *s = append(*s, v); return nil }
