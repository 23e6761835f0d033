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
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

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

// ErrSilent ends a command with a status and no message; see [Exit].
var ErrSilent = errors.New("")

// A Func is the body of a command. Records go to stdout, words to stderr.
type Func func(args []string, stdin io.Reader, stdout, stderr io.Writer) error

// ErrUsage reports a mistake on the command line that was already explained.
var ErrUsage = errors.New("usage")

// Headroom is memory of every command that is never touched, and so takes none of the
// machine's. The collector counts it as in use: a heap in which 4 MB are grows by 20
// before it collects again, where it would by 4, which in parse was once for every few
// dozen pages.
const Headroom = 16 << 20

// Main runs f as the command called name and ends the process. Help that was
// asked for goes to stdout.
func Main(name string, f Func) {
	room := make([]byte, Headroom)
	wire.GrowPipe(os.Stdin)
	wire.GrowPipe(os.Stdout)
	err := f(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if asked, ok := errors.AsType[help](err); ok {
		_, err = os.Stdout.WriteString(string(asked))
	}
	status := Status(called(name), os.Stderr, err)
	runtime.KeepAlive(room)
	noteEnd(status)
	os.Exit(status)
}

// called is name as the program was called, which may have been installed with a
// prefix.
func called(name string) string {
	command, rest, _ := strings.Cut(name, " ")
	base := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if !strings.HasSuffix(base, command) {
		return name
	}
	return strings.TrimSpace(base + " " + rest)
}

// help is the text that was asked for, by -h or -version, instead of work. It is
// flag.ErrHelp.
type help string

func (h help) Error() string        { return string(h) }
func (h help) Is(target error) bool { return target == flag.ErrHelp }

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
	if !errors.Is(err, ErrSilent) {
		printError(name, stderr, err)
	}
	status := ExitStatus(err)
	if status == StatusDiskFull {
		fmt.Fprintf(stderr, "%s: hint: free some space and run the same command again: what was acknowledged is kept\n", name)
	}
	return status
}

// ExitStatus returns the exit status for an error of a command.
func ExitStatus(err error) int {
	switch s, ok := errors.AsType[*statusError](err); {
	case err == nil:
		return 0
	case ok:
		return s.status
	case errors.Is(err, syscall.EPIPE):
		return StatusPipe
	case diskFull(err):
		return StatusDiskFull
	}
	return StatusFailed
}

// printError prints err line by line.
func printError(name string, stderr io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "%s: %s\n", name, strings.TrimSuffix(line, "\n"))
	}
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

// Flags is a flag set for the command called name, with -version, whose -h is
// manual followed by the flags.
func Flags(name, manual string, stderr io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet(called(name), flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Bool(versionFlag, false, "print the version and end")
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), "%s\n\nFlags:\n", strings.TrimSpace(manual))
		fs.PrintDefaults()
	}
	return fs
}

const versionFlag = "version"

// Parse parses args. A mistake is explained on the set's output and returned as
// [ErrUsage]. What -h and -version ask for is the text of the error, which is
// flag.ErrHelp; [Main] prints it.
func Parse(fs *flag.FlagSet, args []string) error {
	usage, stderr := fs.Usage, fs.Output()
	fs.Usage = func() {} // a mistake gets two lines of ours, not a page
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	fs.Usage = usage
	fs.SetOutput(stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		var page strings.Builder
		fs.SetOutput(&page)
		usage()
		fs.SetOutput(stderr)
		return help(page.String())
	case err != nil:
		hint := fs.Name() + " -h lists the flags"
		if isTime(fs, err) {
			hint = "a time has a unit: 500ms, 5s, 2m, 1h"
		}
		fmt.Fprintf(stderr, "%s: %v\n%[1]s: hint: %[3]s\n", fs.Name(), err, hint)
		return ErrUsage
	}
	if v := fs.Lookup(versionFlag); v != nil && v.Value.String() == "true" {
		return help(version(fs.Name()))
	}
	return nil
}

// isTime tells whether err is of a flag that wants a time and was given what is none.
func isTime(fs *flag.FlagSet, err error) bool {
	words, bad := strings.CutSuffix(err.Error(), ": parse error")
	f := fs.Lookup(words[strings.LastIndex(words, " -")+len(" -"):])
	if !bad || f == nil {
		return false
	}
	g, ok := f.Value.(flag.Getter)
	if !ok {
		return false
	}
	_, ok = g.Get().(time.Duration)
	return ok
}

// ParseMixed parses args like [Parse], but flags may also follow what is none, up
// to a --. It returns the arguments that are no flags.
func ParseMixed(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := Parse(fs, args); err != nil {
			return nil, err
		}
		left := fs.Args()
		read := args[:len(args)-len(left)]
		if len(left) == 0 || len(read) > 0 && read[len(read)-1] == "--" {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// version is the line that -version asks for.
func version(name string) string {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
	}
	return fmt.Sprintf("%s spoor %s (%s)\n", name, v, runtime.Version())
}

// Strings is a flag that may be given several times.
type Strings []string

func (s *Strings) String() string     { return strings.Join(*s, ",") }
func (s *Strings) Set(v string) error { *s = append(*s, v); return nil }
