// Package run is the command run, which manages the run directory of a crawl for scripts/crawl, and
// has the manual of crawl.
package run

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/run"
	"spoor/internal/strategy"
	"spoor/internal/terminal"
	"spoor/scripts"
)

// Command is the command run. Its messages are those of crawl, which runs it.
var Command = filter.Command{Name: "crawl", Manual: manual, Run: invoke}

// Crawl is the command crawl with the script that this program contains.
var Crawl = filter.Command{Name: "crawl", Manual: manual, Run: func(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	prefix, err := filter.Installed("crawl")
	if err != nil {
		return err
	}
	// A copy of bin without libexec has links to spoor, but not run.
	if _, err := exec.LookPath(prefix + "run"); err != nil && !strings.HasSuffix(prefix, " ") {
		os.Setenv("PROGRAM_PREFIX", "spoor ")
	}
	return invoke(append([]string{"open", "-"}, args...), stdin, stdout, stderr)
}}

// ownManual is what run -h prints. crawl -h prints the manual of crawl.
const ownManual = `run - manage the run directory of a crawl, for the script of crawl

Usage: run open|next|stage|keep|serve ARGUMENT...

Crawl calls it in every generation; it is not for people. crawl -h is.
`

func invoke(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	commands := map[string]func(*command) error{
		"open": (*command).open, "next": (*command).next,
		"stage": (*command).stage, "keep": (*command).keep, "serve": (*command).serve,
	}
	if len(args) == 0 || commands[args[0]] == nil {
		if err := filter.Parse(filter.Flags("run", ownManual, stderr), args); err != nil {
			return err
		}
		return filter.Usagef("run is called by scripts/crawl, with open, next, stage, keep or serve\nhint: crawl -help=all is the manual")
	}
	c := &command{args: args[1:], stdin: stdin, stdout: stdout, stderr: stderr, prefix: run.Prefix(os.Getenv("PROGRAM_PREFIX"))}
	err := commands[args[0]](c)
	if fault, ok := errors.AsType[*run.Fault](err); ok {
		if fault.Text == "" {
			return filter.Exit(fault.Status, filter.ErrSilent)
		}
		return filter.Exit(fault.Status, fault)
	}
	return err
}

// A command is an invocation of run.
type command struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	prefix         run.Prefix // of the names of the commands
	log            *os.File   // stages.log of the run
}

// quietVariable is the environment variable that makes crawl quiet.
const quietVariable = "SPOOR_QUIET"

// view returns the progress display on stderr.
func (c *command) view() *run.View {
	view := &run.View{Out: c.stderr, Quiet: os.Getenv(quietVariable) != ""}
	if view.Quiet {
		return view
	}
	if text, ok := c.stderr.(*terminal.Writer); ok && os.Getenv("NO_COLOR") == "" && !slices.Contains([]string{"", "dumb"}, os.Getenv("TERM")) {
		if f, ok := text.W.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			view.Screen = f
		}
	}
	locale := os.Getenv("LANG")
	for _, name := range []string{"LC_CTYPE", "LC_ALL"} {
		if v := os.Getenv(name); v != "" {
			locale = v
		}
	}
	view.ASCII = !strings.Contains(strings.ToLower(strings.ReplaceAll(locale, "-", "")), "utf8")
	return view
}

// load opens the run whose directory is the first argument.
func (c *command) load(arguments int) (*run.Crawl, error) {
	if len(c.args) != arguments {
		return nil, filter.Usagef("run takes %d arguments here, and got %q", arguments, c.args)
	}
	d := run.Dir(c.args[0])
	log, err := d.OpenLog()
	if err != nil {
		return nil, err
	}
	c.log = log // until the process ends
	return run.Load(d, c.view(), filter.Logger(log, "run", filter.LogOptions{}), c.prefix, requirements)
}

// requirements returns what a strategy requires of the other stages.
func requirements(name string) (run.Requirements, bool) {
	for _, k := range strategy.Kinds() {
		if k.Name == name {
			s := k.Stages
			params := k.New().Params()
			has := func(name string) bool {
				return slices.ContainsFunc(params, func(p strategy.Param) bool { return p.Name == name })
			}
			return run.Requirements{
				Fitness: s.Fitness, Context: s.Context, Learn: s.Learn, Expand: s.Expand, Search: s.Search, Queries: has("queries"), Unscored: k.Unscored, Numbers: !k.Comparable(),
				Examples: strategy.Learns(k.New()), Grows: k.Grows, Single: s.Single, Compat: has("compat"),
			}, true
		}
	}
	return run.Requirements{}, false
}

func (c *command) next() error {
	crawl, err := c.load(3)
	if err != nil {
		return err
	}
	status, err := strconv.Atoi(c.args[1])
	if err != nil {
		return filter.Usagef("run next: %q is not a status", c.args[1])
	}
	interrupted, err := strconv.Atoi(c.args[2])
	if err != nil {
		return filter.Usagef("run next: %q is not a status", c.args[2])
	}
	ctx, stop := filter.NotifyContext("interrupted")
	defer stop()
	err = crawl.Next(ctx, status, interrupted)
	if errors.Is(err, run.ErrEnded) {
		return filter.Exit(filter.StatusNothingDue, filter.ErrSilent)
	}
	return err
}

func (c *command) stage() error {
	crawl, err := c.load(2)
	if err != nil {
		return err
	}
	stdin, in := c.stdin.(*os.File)
	stdout, out := c.stdout.(*os.File)
	if !in || !out {
		return filter.Usagef("run stage: stdin and stdout must be files")
	}
	filter.IgnorePipe()
	ctx := context.Background()
	if !filter.IgnoresTerm() {
		var stop context.CancelFunc
		ctx, stop = filter.NotifyTerm()
		defer stop()
	}
	kill := make(chan os.Signal, 1)
	signal.Notify(kill, run.KillSignal)
	return crawl.Stage(ctx, kill, c.args[1], stdin, stdout)
}

func (c *command) keep() error {
	crawl, err := c.load(2)
	if err != nil {
		return err
	}
	script, err := strconv.Atoi(c.args[1])
	if err != nil {
		return filter.Usagef("run keep: %q is no process number", c.args[1])
	}
	ctx, stop := whileParent(script)
	defer stop()
	kept, err := crawl.Keep(filter.Interruptible(ctx, c.stdin))
	if ctx.Err() != nil { // another crawl may be at work on the run
		return context.Cause(ctx)
	}
	return errors.Join(err, crawl.Dir.NoteEnd("keep", filter.ExitStatus(err), kept.String()))
}

// whileParent returns a context that ends within a second after the parent process pid has ended. Nobody
// uses the output then. The stages before this one end when they write to it.
func whileParent(pid int) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		for ctx.Err() == nil && os.Getppid() == pid {
			time.Sleep(time.Second)
		}
		cancel(errors.New("the crawl that started this command is gone"))
	}()
	return ctx, func() { cancel(nil) }
}

func (c *command) serve() error {
	crawl, err := c.load(1)
	if err != nil {
		return err
	}
	ctx, stop := filter.NotifyContext("interrupted")
	defer stop()
	filter.IgnorePipe()
	tally := filter.NewTally(filter.Logger(c.log, "frontier serve", filter.LogOptions{}))
	err = crawl.ServeSteady(ctx, c.stdin, c.stdout, tally)
	status, note := filter.ExitStatus(err), ""
	cutOff := errors.Is(err, run.ErrStageEnded)
	if cutOff { // run next names the stage that has ended or, if none is known, prints the note
		text, _, _ := strings.Cut(err.Error(), "\n")
		status, note = filter.StatusPipe, "found that "+text
	}
	if err := crawl.Dir.NoteEnd("frontier", status, note); err != nil {
		return err
	}
	if cutOff {
		return filter.Exit(status, filter.ErrSilent)
	}
	// run next reports the errors of all stages, so this one is only logged.
	if status := filter.Status("frontier", c.log, err); status != 0 {
		return filter.Exit(status, filter.ErrSilent)
	}
	return nil
}

func (c *command) open() error {
	if os.Getpid() == 1 {
		return asInit()
	}
	fs := filter.Flags("crawl", manual, c.stderr)
	var o opening
	o.define(fs)
	if len(c.args) == 0 {
		return filter.Usagef("run open SCRIPT [flags]: scripts/crawl calls it")
	}
	script, args := c.args[0], c.args[1:]
	rest, err := filter.ParseMixed(fs, args)
	if err != nil {
		return err
	}
	for _, arg := range rest {
		if !run.IsAddress(arg) {
			return filter.Usagef("unexpected argument %s: a pattern is quoted, as -archive 'web/*.warc.gz', and an address begins with http:// or https:// (crawl -h tells more)", arg)
		}
	}
	ctx, stop := filter.NotifyContext("interrupted")
	defer stop()
	view := &run.View{Out: c.stderr, Quiet: o.quiet}
	if o.quiet { // for run next and run serve
		if err := os.Setenv(quietVariable, "1"); err != nil {
			return err
		}
	}
	opener := &run.Opener{Prefix: c.prefix, Requirements: requirements, Say: view.Note, Stderr: c.stderr}
	if p := os.Getenv("SPOOR_PARTITION"); p != "" {
		return openPartition(ctx, opener, script, run.Dir(o.dir), p)
	}
	remove, err := o.inline(ctx, c.prefix, rest, c.stderr)
	defer func() { remove() }()
	if err != nil {
		return err
	}
	if o.joins() {
		if remove, err = o.fetchShared(ctx, c.prefix, c.stderr); err != nil {
			return err
		}
	}
	request, err := o.request(fs)
	if err != nil {
		return err
	}
	if script != "-" {
		request.Script = script
	}
	lock, err := opener.Open(ctx, request)
	if err != nil {
		return err
	}
	if script == "-" {
		script = request.Dir.Path(run.LoopFile)
		if err := atomicfile.WriteBytes(script, scripts.Crawl); err != nil {
			return err
		}
	}
	uncalled, err := request.Dir.UncalledStages(script)
	if err != nil {
		return err
	}
	for _, name := range uncalled {
		view.Say("stage %s is not used: %s does not call stage %[1]s\nhint: resume with the loop that calls it, or delete the line in %[3]s", name, script, request.Dir.Path(run.StagesFile))
	}
	remove() // Become does not return
	if s := &request.Settings; s.Crawl != "" {
		return o.joinCluster(ctx, c.prefix, script, request.Dir, s, lock, c.stderr)
	}
	return request.Dir.BecomeLoop(lock, nil, script)
}
