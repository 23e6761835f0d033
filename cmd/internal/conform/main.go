// Conform tests whether a command can be a stage of a pipeline.
//
// # Usage
//
//	conform [-stage KIND] [-time T] [-long SIZE] -- COMMAND [ARGUMENT...]
//
// It starts the command again and again with generated test records on its stdin, and
// says what the command does that a stage must not do. The contract of a stage is
//
//   - One line comes out for each line that goes in, in the same order, also for pages that failed (error, or a
//     status other than 2xx). url does not change.
//   - Fields that the stage does not know are passed on with their values.
//   - A line that is not a record is skipped, with a message on stderr, and does not affect other
//     lines.
//   - A line without url is passed on at once, after the output for the lines before
//     it, and the output is flushed: in a steady crawl such lines mark the end of a
//     window, and the next pages come only when the mark has returned.
//   - The stage ends with status 0 when its input ends. It also ends when its output is closed.
//   - The same input gives the same output, because a crawl that was killed repeats its last generation.
//   - A line may have up to 64 MiB.
//
// -stage tests further rules for that kind of stage, and chooses what its input has:
//
//	any     nothing else; the records are scored pages (default)
//	parse   pages get title, text and links from body, and lose the body
//	score   pages get score, a number from 0, and relevant; failures are not relevant
//	evolve  after all pages come addresses or queries; marks are not tested, because only spoor's own
//	        evolve runs in a steady crawl
//
// # Example
//
//	$ conform -stage score -- jq -c --unbuffered 'if .text then .score = 0.5 | .relevant = true else . end'
//	ok    each record comes back, in order
//	…
//
// # Exit status
//
// 0 all cases pass, 1 some fail, 2 misuse.
package conform

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/conformance"
)

const manual = `
conform - test whether a command can be a stage of a pipeline

Usage: conform [-stage KIND] [-time T] [-long SIZE] -- COMMAND [ARGUMENT...]

It starts the command with generated test records on its stdin, and prints a line for each
case: ok, or FAIL with what went wrong and a hint. A stage
- writes one line for each that it reads, in order, also for pages that failed
- passes on all fields that it does not change, and never changes url
- skips a line that is no record, with a message on stderr
- passes a line without url on at once, after its output for the lines before it
- ends with status 0 when its input ends, and also ends when its output is closed
- gives the same output for the same input

-stage parse, score and evolve also test the rules for that kind of stage.

Example:

    conform -stage score -- python3 -u myscore.py

Exit status: 0 all cases pass, 1 some fail, 2 misuse
`

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
	t.Run(ctx, func(r conformance.Result) {
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
