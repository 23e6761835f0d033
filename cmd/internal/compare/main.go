// Compare lets strategies crawl archived webs, judges each crawl by labels, and prints which
// strategy does better. A plan says what is compared; compare -h describes its lines, and the
// files that are written.
//
//	compare [-into DIR] [-data DIR] [-j N] [-list] PLAN
//
// Every crawl is a run of scripts/crawl, which is looked for beside this program, in scripts
// and on the PATH. A comparison that was killed is resumed by the same command: crawls that
// are done are not run again, and the others are resumed.
//
// A plan can replace evolve or score by a command, as EVOLVE and SCORE do in scripts/crawl.
// The command runs in the current directory, and the results record the command.
//
// # Exit status
//
// 0 done; 1 some crawls failed; 2 misuse; 130 and 143 interrupted.
package compare

import (
	"bytes"
	"context"
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

const manual = `
compare - crawl by several strategies, judge the crawls, and print a table

Usage: compare [-into DIR] [-data DIR] [-j N] [-list] PLAN

A plan has one statement a line; # begins a comment.

  web NAME ARCHIVE LABELS [GRAPH]
        an archive (a file, or a directory of them), the labels of its pages, and its
        links for judge -graph
  topic NAME WEB LABEL QUERY [POSITIVE NEGATIVE]
        the pages of the web with this label (in LABEL, %20 is a space) are relevant;
        QUERY is a file of words, POSITIVE and NEGATIVE are files of addresses: relevant and other example pages
  seeds FILE SET...
        sets of seeds; {topic} and {set} in the name of FILE are replaced
  lacking TOPIC SET...
        sets of seeds that a topic does not have: it is crawled from the others
  evolve NAME COMMAND
        a strategy of your own, which tracks can name: the rest of the line is a bash
        command that replaces evolve (see EVOLVE in crawl -h)
  score NAME COMMAND
        the rest of the line is a bash command that replaces score (see SCORE in crawl -h)
        in tracks with -score NAME
  track K|E|Q [STRATEGY...] [-FLAG...]
        crawl with these strategies (default: all of evolve -strategies). Each crawl is given
        K  the words of the query
        E  the example pages too; the measure is a classifier trained on them, unless
           -fitness is given
        Q  the words, and a search that answers queries with pages of the web
        A FLAG is -score NAME, or one of these flags of crawl: -compat -param -fitness
        -norm -size -generations -fair -per-host -per-niche. The score does
        not steer every strategy; compare lists those in the plan that it does not steer
  chance N...     random seeds (default 1)
  pages N         the budget of every crawl (default: T of judge -budget)
  reference NAME  compare all others with this one: a strategy, and its flags if any

Every strategy crawls every topic from every set of seeds with every random seed. Commands
run in the current directory, and can use the variables that crawl -h lists. FETCH, PARSE,
SCORE, EVOLVE and SEARCH must not be set: the plan names what is compared.

DIR/jobs/NAME holds judge.json, order.ndjson.zst (the pages in the order of fetching, with
verdicts), log.ndjson, stop_reason and settings of each crawl. DIR/results.ndjson has a line
for each, in the order of the plan, and DIR/times.ndjson its elapsed and CPU seconds and the
peak memory of its largest process. The printed table (judge table) is also in DIR/table.md.
Finished crawls are not repeated: the same command resumes a comparison that was killed, and
runs crawls that were added to the plan.

Example: scripts/compare -data ../shared/webs -into runs/k doc/plans/k.plan

Exit status: 0 done, 1 some crawls failed, 2 misuse, 130 and 143 interrupted.
`

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
		return filter.Usagef("which plan? (compare -h says what is in one)")
	case len(files) > 1:
		return filter.Usagef("one plan at a time, not %s and %s", files[0], files[1])
	case *parallel < 1:
		return filter.Usagef("-j %d: want a number from 1", *parallel)
	}
	for _, name := range []string{"FETCH", "PARSE", "SCORE", "EVOLVE", "SEARCH"} {
		if os.Getenv(name) != "" {
			return filter.Usagef("%s is set, and would be ignored: unset it\nhint: a plan names commands in the place of evolve and score (compare -h)", name)
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
	plan, err := comparison.ReadPlan(files[0], *data, strategies)
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
		say("the score does not steer these strategies: -score and -fitness change what is reported of them, not what they fetch: %s\ncompare: hint: evolve -strategies says which strategies the score does not steer; bestfirst follows it", strings.Join(names, ", "))
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
