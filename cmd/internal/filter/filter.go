// Package filter runs a command that reads one stream and writes another.
//
// Every command is a [Command], whose function receives its arguments and streams and does not depend
// on the process. [Command.Main] runs it. The package also contains code that commands share: exit statuses, usage,
// input files, and the loop over records of fetch, parse and score ([Stream]).
package filter

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"spoor/internal/terminal"
	"spoor/internal/wire"
)

// The exit statuses of all commands. If a signal that a command does not catch kills the command,
// shells report 128 + the number of the signal.
const (
	StatusFailed      = 1
	StatusMisuse      = 2
	StatusDiskFull    = 3
	StatusNothingDue  = 4
	StatusInterrupted = 130 // SIGINT, after closing files cleanly
	StatusPipe        = 141 // the reader of stdout has ended
	StatusTerminated  = 143 // SIGTERM, after closing files cleanly
)

// ErrSilent ends a command with a status and no message; see [Exit].
var ErrSilent = errors.New("")

// A Func is the body of a command. It writes records to stdout and messages to stderr. Text for
// people on stdout must be written through [Text]. [Command.Main] escapes control characters on stderr, and on
// stdout if that is a terminal: JSON with escapes has the same meaning.
type Func func(args []string, stdin io.Reader, stdout, stderr io.Writer) error

// A Command is a command: its name, the manual that -h prints, and its body.
type Command struct {
	Name, Manual string
	Run          Func
}

// ErrUsage reports a mistake on the command line that was already explained.
var ErrUsage = errors.New("usage")

// Headroom is the size of a block that every command allocates but never touches, so that the block
// uses no physical memory. The garbage collector counts the block as live. So a heap with 4 MB in
// use grows by 20 MB before the next collection. Without the block it would grow by 4 MB, and in
// parse there would be a collection every few dozen pages.
const Headroom = 16 << 20

// Summary returns what the command does, in a line: the first line of its manual without its name.
func (c Command) Summary() string {
	line, _, _ := strings.Cut(strings.TrimSpace(c.Manual), "\n")
	_, summary, _ := strings.Cut(line, " - ")
	return summary
}

// Main runs the command with the arguments of the process, and exits. It prints requested help to stdout.
func (c Command) Main() {
	log.SetOutput(io.Discard)   // where net/http reports malformed responses
	debug.SetTraceback("crash") // otherwise a crash would end with 2, the status of misuse
	headroom := make([]byte, Headroom)
	wire.GrowPipe(os.Stdin)
	wire.GrowPipe(os.Stdout)
	if IgnoresTerm() {
		signal.Ignore(syscall.SIGTERM)
	}
	stderr := &terminal.Writer{W: os.Stderr} // errors and logs may contain untrusted names
	var stdout io.Writer = os.Stdout
	if term.IsTerminal(int(os.Stdout.Fd())) {
		stdout = Text(os.Stdout)
	}
	err := c.Run(os.Args[1:], os.Stdin, stdout, stderr)
	if asked, ok := errors.AsType[help](err); ok {
		_, err = io.WriteString(Text(os.Stdout), string(asked))
	}
	status := Status(called(c.Name), stderr, withPrefix(err, prefixOf(c.Name)))
	runtime.KeepAlive(headroom)
	noteEnd(status)
	os.Exit(status)
}

// Text returns a writer to stdout for text that people read.
func Text(stdout io.Writer) io.Writer { return &terminal.Writer{W: stdout} }

// called returns the name under which the command was invoked, because programs may be installed with
// a prefix.
func called(name string) string {
	command, rest, _ := strings.Cut(name, " ")
	base := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if !strings.HasSuffix(base, command) {
		return name
	}
	return strings.TrimSpace(base + " " + rest)
}

// Installed returns the prefix of the names of the commands: PROGRAM_PREFIX if it is set, or what
// precedes the name of this command where it is called. It sets PROGRAM_PREFIX, and puts the
// directory of this program first on the PATH, for the commands that this one runs, but after
// libexec/spoor beside that directory, which has those that start faster.
func Installed(name string) (prefix string, err error) {
	prefix, set := os.LookupEnv("PROGRAM_PREFIX")
	if !set {
		prefix, _ = strings.CutSuffix(called(name), name)
	}
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", err
	}
	bin := filepath.Dir(self)
	path := []string{filepath.Join(filepath.Dir(bin), "libexec", "spoor"), bin, os.Getenv("PATH")}
	return prefix, errors.Join(os.Setenv("PROGRAM_PREFIX", prefix),
		os.Setenv("PATH", strings.Join(path, string(os.PathListSeparator))))
}

// help is the error that contains the text requested by -h or -version. It matches flag.ErrHelp.
type help string

func (h help) Error() string        { return string(h) }
func (h help) Is(target error) bool { return target == flag.ErrHelp }

// Status prints err as "name: err", unless it has no message, and returns its exit status.
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

const commandNames = `(?:compare|conform|crawl|evolve|exchange|fetch|frontier|gosite|judge|parse|render|report|score|search|serve|topic|warc)`

// commandInText matches a command of spoor and its first argument.
var commandInText = regexp.MustCompile(`(^|[ ("'|])(` + commandNames + ` (?:-|\.\.\.|(?:add|cat|check|compact|create|export|files|forget|hold|import|index|ls|next|overlap|pack|published|repair|reprioritise|serve|skipped|stats|status|table|verify)\b))`)

// prefixOf returns the prefix of the installed names of commands, for hints and help: PROGRAM_PREFIX or,
// if that is empty, the text before the name of this command where it is called.
func prefixOf(name string) string {
	prefix := os.Getenv("PROGRAM_PREFIX")
	if prefix == "" {
		command, _, _ := strings.Cut(name, " ")
		program := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
		if before, found := strings.CutSuffix(program, command); found {
			prefix = before
		}
	}
	return prefix
}

// withPrefix returns err with prefix before the names of commands in hints.
func withPrefix(err error, prefix string) error {
	if err == nil || prefix == "" {
		return err
	}
	return &prefixed{err, prefix}
}

// A prefixed is an error whose hints contain the installed names of commands.
type prefixed struct {
	err    error
	prefix string
}

func (e *prefixed) Unwrap() error { return e.err }
func (e *prefixed) Error() string {
	var b strings.Builder
	for line := range strings.Lines(e.err.Error()) {
		if strings.Contains(line, "hint: ") {
			line = commandInText.ReplaceAllString(line, insertion(e.prefix))
			line = strings.ReplaceAll(line, e.prefix+e.prefix, e.prefix) // it had the prefix already
		}
		b.WriteString(line)
	}
	return b.String()
}

// insertion returns the replacement that inserts prefix between two submatches.
func insertion(prefix string) string { return "${1}" + strings.ReplaceAll(prefix, "$", "$$") + "${2}" }

// A statusError is an error with an exit status.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// Exit returns err with an exit status.
func Exit(status int, err error) error { return &statusError{status, err} }

// Usagef returns an error about the command line, with [StatusMisuse].
func Usagef(format string, args ...any) error {
	return Exit(StatusMisuse, fmt.Errorf(format, args...))
}

// Flags returns a flag set for the named command, with -version and -help. Its -h prints the beginning
// of the manual and the flags, -help=all all of it. The manual page is made from the latter, so it
// must not refer to the source. Its form is that of the files manual.md: see manual.go.
func Flags(name, text string, stderr io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet(called(name), flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Bool(versionFlag, false, "print the version and end")
	help := &helpValue{manual: parseManual(text)}
	help.manual.addPrefix(prefixOf(name))
	fs.Var(help, helpFlag, "print this, and with -help=all the whole manual")
	fs.Usage = func() { help.manual.short(fs.Output(), fs) }
	return fs
}

const (
	versionFlag = "version"
	helpFlag    = "help"
)

// A helpValue is the value of -help.
type helpValue struct {
	manual manual
	asked  string // "true", "all" or ""
}

func (h *helpValue) String() string   { return h.asked }
func (h *helpValue) IsBoolFlag() bool { return true }
func (h *helpValue) Set(value string) error {
	if value != "true" && value != "all" {
		return errors.New("want -help or -help=all")
	}
	h.asked = value
	return nil
}

// Parse parses args. For an invalid flag it prints an explanation to the output of the set, and returns
// [ErrUsage]. For -h and -version it returns an error that matches flag.ErrHelp and contains the
// text, which [Main] prints.
func Parse(fs *flag.FlagSet, args []string) error {
	usage, stderr := fs.Usage, fs.Output()
	fs.Usage = func() {} // print two lines about an invalid flag, not the manual
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	fs.Usage = usage
	fs.SetOutput(stderr)
	h := new(helpValue)
	if f := fs.Lookup(helpFlag); f != nil {
		h, _ = f.Value.(*helpValue)
	}
	switch {
	case err == nil && h.asked == "all":
		var page strings.Builder
		h.manual.whole(&page, fs)
		return help(page.String())
	case errors.Is(err, flag.ErrHelp), err == nil && h.asked != "":
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
	return checkValues(fs)
}

// isTime reports whether err is about a flag for a duration.
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

// ParseMixed parses args like [Parse], but flags may also follow other arguments, up to a
// "--". It returns the arguments that are not flags.
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

// maxWorkers is the highest value of -j.
const maxWorkers = 10_000

// checkValues returns an error if the name of a file, directory or prefix is empty, as with a variable
// of the shell that is not set, or if -j is too high. -cache and flags with a default may be empty: then there is
// no such file.
func checkValues(fs *flag.FlagSet) (err error) {
	fs.Visit(func(f *flag.Flag) {
		kind, _ := flag.UnquoteUsage(f)
		getter, ok := f.Value.(flag.Getter)
		if !ok || err != nil {
			return
		}
		switch value := getter.Get().(type) {
		case string:
			if value == "" && f.DefValue == "" && f.Name != "cache" && (kind == "file" || kind == "directory" || kind == "prefix") {
				err = Usagef("-%s is empty, and should be the name of a %s\nhint: leave the flag out, or is a variable not set?", f.Name, kind)
			}
		case int:
			if f.Name == "j" && value > maxWorkers {
				err = Usagef("-j %d: at most %d are possible", value, maxWorkers)
			}
		}
	})
	return err
}

// Given returns the names of the flags that are on the command line.
func Given(fs *flag.FlagSet) map[string]bool {
	names := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { names[f.Name] = true })
	return names
}

// version returns the line that -version prints.
func version(name string) string {
	build := runtime.Version()
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") { // built from a commit
		build = info.Main.Version + ", " + build
	}
	if name != "spoor" {
		name += " spoor"
	}
	return fmt.Sprintf("%s %s (%s)\n", name, Version, build)
}

// Strings is a flag that may be repeated.
type Strings []string

func (s *Strings) String() string     { return strings.Join(*s, ",") }
func (s *Strings) Set(v string) error { *s = append(*s, v); return nil }
