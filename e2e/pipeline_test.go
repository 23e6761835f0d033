package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestPipeline runs testdata/script. In addition to what testscript provides, a script has the
// environment of [environment], scripts/ on the PATH, and
//
//	serve DIR                      serve the files of DIR on loopback, at $SITE
//	replace FILE OLD NEW           replace every OLD in FILE by NEW
//	exec status N command…         the command must end with status N
//	exec killafter WHEN command…   kill -9 the command and all its children WHEN:
//	                               after a duration, or once a file matches a pattern
//	[shared]                       the shared data is at $SPOOR_SHARED
//	[warcio]                       an independent reader of WARC exists: exec $SPOOR_WARCIO index FILE
//	[mount]                        unshare -rm bash can mount -t tmpfs
//
// Where CI=true, a script may rely on [warcio] and [mount].
func TestPipeline(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	if warcio() == "" && ci {
		t.Error("CI=true, and SPOOR_WARCIO is no directory with npm's warcio in it")
	}
	env := environment(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			path := e.Getenv("PATH")
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".tmp", "cache"))
			for _, v := range env {
				name, value, _ := strings.Cut(v, "=")
				e.Setenv(name, value)
			}
			e.Setenv("PATH", strings.Join([]string{build(t), inRoot("scripts"), path}, string(os.PathListSeparator)))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "shared":
				return shared() != "", nil
			case "warcio":
				return warcio() != "", nil
			case "mount":
				dir := t.TempDir()
				return exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", dir).Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve":   serve,
			"replace": replace,
		},
	})
}

// serve is the script command of that name. A request for DIR/x that has no
// such file is answered 404, so a script carries its whole site with it.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve DIR")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	ts.Defer(server.Close)
	ts.Setenv("SITE", server.URL)
}

// replace is the script command of that name.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s holds no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o666))
}

// exitStatus returns the status that a shell would report for the error of a command.
func exitStatus(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return shellStatus(e.ProcessState)
	}
	fmt.Fprintln(os.Stderr, err)
	return 127
}

// inherit is a command with our own streams.
func inherit(args []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}

// status is the program of that name.
func status() {
	want, err := 0, errors.New("usage: status N command…")
	if len(os.Args) > 2 {
		want, err = strconv.Atoi(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if got := exitStatus(inherit(os.Args[2:]).Run()); got != want {
		fmt.Fprintf(os.Stderr, "status: %s ended with status %d, want %d\n", os.Args[2], got, want)
		os.Exit(1)
	}
}

// killafter is the program of that name. It ends with 0 if it killed the
// command, else with the command's own status.
func killafter() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: killafter DURATION|PATTERN command…")
		os.Exit(2)
	}
	when := os.Args[1]
	var timer <-chan time.Time
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	if d, err := time.ParseDuration(when); err == nil {
		timer = time.After(d)
		look.Stop()
	}
	cmd := inherit(os.Args[2:])
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		os.Exit(exitStatus(err))
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			os.Exit(exitStatus(err))
		case <-look.C:
			if found, _ := filepath.Glob(when); len(found) == 0 {
				continue
			}
		case <-timer:
		}
		if err := killGroup(cmd); err != nil && !errors.Is(err, os.ErrProcessDone) {
			fmt.Fprintln(os.Stderr, "killafter:", err)
			os.Exit(1)
		}
		<-ended
		return
	}
}
