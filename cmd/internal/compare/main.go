// Package compare is the command compare, which lets strategies crawl archived webs, and prints which one does better.
package compare

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/comparison"
	"spoor/internal/run"
)

//go:embed manual.md
var manual string

// Command is the command compare.
var Command = filter.Command{Name: "compare", Manual: manual, Run: compare}

func compare(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	fs := filter.Flags("compare", manual, stderr)
	into := fs.String("into", "", "the `directory` of the results (default runs/ and the name of the plan)")
	data := fs.String("data", "", "the `directory` of the files that the plan names (default: beside the plan)")
	parallel := fs.Int("j", runtime.NumCPU(), "run `n` crawls at a time")
	fs.Lookup("j").DefValue = "one for each processor"
	list := fs.Bool("list", false, "print the names of the crawls, and end")
	files, err := filter.ParseMixed(fs, args)
	switch {
	case err != nil:
		return err
	case len(files) == 0:
		return filter.Usagef("which plan? (compare -help=all says what is in one)")
	case len(files) > 1:
		return filter.Usagef("one plan at a time, not %s and %s", files[0], files[1])
	case *parallel < 1:
		return filter.Usagef("-j %d: want a number from 1", *parallel)
	}
	for _, name := range []string{"FETCH", "PARSE", "SCORE", "EVOLVE", "SEARCH"} {
		if os.Getenv(name) != "" {
			return filter.Usagef("%s is set, and would be ignored: unset it\nhint: a plan names commands in the place of evolve and score (compare -help=all)", name)
		}
		os.Unsetenv(name)
	}
	prefix, crawl, err := findPrograms()
	if err != nil {
		return err
	}
	strategies, unscored, err := listStrategies(prefix)
	if err != nil {
		return err
	}
	if *data == "" {
		*data = filepath.Dir(files[0])
	}
	if *data, err = filepath.Abs(*data); err != nil {
		return err
	}
	if info, err := os.Stat(*data); err != nil || !info.IsDir() {
		return filter.Usagef("there is no directory %s", *data)
	}
	plan, err := comparison.ReadPlan(files[0], *data, strategies, checkParams(prefix))
	if err != nil {
		return misuse(err)
	}
	if *list {
		_, err := fmt.Fprintln(filter.Text(stdout), strings.Join(plan.Jobs(), "\n"))
		return err
	}
	if *into == "" {
		*into = filepath.Join("runs", plan.Title())
	}
	ctx, stop := filter.NotifyContext("interrupted: the same command resumes the comparison")
	defer stop()
	say := func(format string, args ...any) { fmt.Fprintf(stderr, "compare: "+format+"\n", args...) }
	if names := plan.Unsteered(unscored); names != nil {
		say("the score does not steer these strategies: -score and -fitness change what is reported of them, not what they fetch: %s\ncompare: hint: evolve -strategies NAME says whether the score steers it; bestfirst follows it", strings.Join(names, ", "))
	}
	c := &comparison.Comparison{Plan: plan, Dir: *into, Parallel: *parallel, Crawl: crawl, Prefix: prefix, Say: say}
	return misuse(c.Run(ctx, filter.Text(stdout)))
}

// misuse turns errors in the plan into usage errors.
func misuse(err error) error {
	if _, ok := errors.AsType[comparison.Misuse](err); ok {
		return filter.Usagef("%w", err)
	}
	return err
}

// findPrograms returns the prefix of the names of the commands and the words of the command crawl. It
// puts the commands beside this one on the PATH.
func findPrograms() (prefix run.Prefix, crawl []string, err error) {
	name, err := filter.Installed("compare")
	if err != nil {
		return "", nil, err
	}
	prefix = run.Prefix(name)
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	crawl = prefix.Words("crawl")
	if _, err := exec.LookPath(crawl[0]); err == nil {
		return prefix, crawl, nil
	}
	if script, err := exec.LookPath(filepath.Join(filepath.Dir(self), "..", "scripts", "crawl")); err == nil {
		return prefix, []string{script}, nil
	}
	return "", nil, fmt.Errorf("%scrawl is not on the PATH: run make first, or set PROGRAM_PREFIX", prefix)
}

// checkParams returns a function that asks evolve whether a strategy accepts parameters. Some strategies
// require the words of a topic, whatever they are.
func checkParams(prefix run.Prefix) comparison.ParamCheck {
	return func(strategy string, params []string) error {
		args := []string{"-strategy", strategy, "-topic", "words"}
		for _, p := range params {
			args = append(args, "-param", p)
		}
		cmd := prefix.Command(context.Background(), "evolve", args...)
		var messages bytes.Buffer
		cmd.Stderr = &messages
		err := cmd.Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == filter.StatusMisuse {
			first, hint, _ := strings.Cut(strings.TrimSpace(messages.String()), "\n")
			_, first, _ = strings.Cut(first, ": ")
			if _, hint, ok = strings.Cut(hint, ": "); ok {
				first += "\n" + hint
			}
			return errors.New(first)
		}
		return err
	}
}

// listStrategies returns the names of evolve's strategies, and of those that the score does not
// steer.
func listStrategies(prefix run.Prefix) (names, unscored []string, err error) {
	out, err := prefix.Command(context.Background(), "evolve", "-strategies", "-json").Output()
	if err != nil {
		return nil, nil, fmt.Errorf("asking evolve for its strategies: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var s struct {
			Name     string
			Unscored bool
		}
		if err := d.Decode(&s); err != nil {
			return nil, nil, fmt.Errorf("evolve -strategies: %w", err)
		}
		names = append(names, s.Name)
		if s.Unscored {
			unscored = append(unscored, s.Name)
		}
	}
	return names, unscored, nil
}
