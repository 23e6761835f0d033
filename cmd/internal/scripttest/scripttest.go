// Package scripttest runs the scripts in testdata/script that test a command.
package scripttest

import (
	"errors"
	"flag"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata/script")

// Run runs the scripts. It sets the fields of p that are the same for all commands, puts the
// user's cache into the directory of the script, and adds the command status.
func Run(t *testing.T, p testscript.Params) {
	t.Helper()
	p.Dir = "testdata/script"
	p.UpdateScripts = *update
	p.RequireExplicitExec = true
	p.RequireUniqueNames = true
	setup := p.Setup
	p.Setup = func(env *testscript.Env) error {
		env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".tmp", "cache"))
		if setup == nil {
			return nil
		}
		return setup(env)
	}
	if p.Cmds == nil {
		p.Cmds = map[string]func(*testscript.TestScript, bool, []string){}
	}
	p.Cmds["status"] = status
	testscript.Run(t, p)
}

// status N COMMAND ARG… runs a command and checks that its exit status is N or, negated, is not.
func status(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if (got == want) == neg {
		ts.Fatalf("status %d", got)
	}
}
