// Package conform is the command conform, which tests whether a command can be a stage of a pipeline.
package conform

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/term"

	"spoor/cmd/internal/filter"
	"spoor/internal/conformance"
)

//go:embed manual.md
var manual string

// Command is the command conform.
var Command = filter.Command{Name: "conform", Manual: manual, Run: conform}

func conform(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	t := conformance.Tester{Stage: conformance.Any, Time: 30 * time.Second}
	long := filter.Size(60 << 20)
	fs := filter.Flags("conform", manual, stderr)
	fs.Func("stage", "the `kind` of the stage: any (default), parse, score or evolve", func(s string) error {
		switch t.Stage = conformance.Stage(s); t.Stage {
		case conformance.Any, conformance.Parse, conformance.Score, conformance.Evolve:
			return nil
		}
		return fmt.Errorf("no kind of stage: any, parse, score or evolve")
	})
	fs.DurationVar(&t.Time, "time", t.Time, "maximum `time` of each case")
	verbose := fs.Bool("v", false, "print the name of each case on stderr when it begins; this is the default on a terminal")
	fs.Var(&long, "long", "length in `bytes` of a field, for the test of long lines")
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	if long > 1<<30 {
		return filter.Usagef("-long is more than 1 GiB")
	}
	t.Command, t.Long = fs.Args(), int(long)
	if len(t.Command) == 0 {
		return filter.Usagef("the command is missing: conform -- COMMAND")
	}
	if _, err := exec.LookPath(t.Command[0]); err != nil {
		return filter.Exit(filter.StatusMisuse, err)
	}
	ctx, stop := filter.NotifyContext("interrupted")
	defer stop()
	out := filter.Text(stdout)
	cases, failed := 0, 0
	*verbose = *verbose || term.IsTerminal(int(os.Stderr.Fd()))
	t.Run(ctx, func(name string) {
		if *verbose {
			fmt.Fprintf(stderr, "conform: %s\n", name)
		}
	}, func(r conformance.Result) {
		cases++
		if r.Err == nil {
			fmt.Fprintf(out, "ok    %s\n", r.Name)
			return
		}
		failed++
		fmt.Fprintf(out, "FAIL  %s\n      %s\n", r.Name, strings.ReplaceAll(r.Err.Error(), "\n", "\n      "))
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cases failed", failed, cases)
	}
	return nil
}
