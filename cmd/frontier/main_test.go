package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"frontier": main}) }

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(cond string) (bool, error) {
			if cond == "tmpfs" {
				return canMount(t), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"tmpfs": mountTmpfs, // tmpfs DIR SIZE
			"flip":  flip,       // flip FILE OFFSET
			"links": links,      // links FILE N
		},
	})
}

// canMount tells whether this process may mount a file system.
func canMount(t *testing.T) bool {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return false
	}
	dir := t.TempDir()
	if exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "spoor", dir).Run() != nil {
		return false
	}
	return exec.Command("umount", dir).Run() == nil
}

func mountTmpfs(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	ts.Check(exec.Command("mount", "-t", "tmpfs", "-o", "size="+args[1], "spoor", dir).Run())
	ts.Defer(func() { exec.Command("umount", dir).Run() })
}

func flip(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	b, err := os.ReadFile(name)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	b[at] ^= 0xff
	ts.Check(os.WriteFile(name, b, 0o666))
}

func links(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), manyLinks(0, n), 0o666))
}

// manyLinks are n records that do not pack well.
func manyLinks(from, n int) []byte {
	rng := rand.New(rand.NewPCG(uint64(from), 5))
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "{\"v\":1,\"url\":\"http://h%d.example/%d\",\"priority\":%g,\"niche\":\"%x%x\"}\n", i%7, from+i, rng.Float64(), rng.Uint64(), rng.Uint64())
	}
	return b.Bytes()
}

// TestKilledAtAnyMoment kills add and next as no signal handler can see, and then
// looks for everything that they acknowledged by exiting with 0.
func TestKilledAtAnyMoment(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	const size = 1500
	store := filepath.Join(t.TempDir(), "store")
	rng := rand.New(rand.NewPCG(1, 6))
	acknowledged := map[string]bool{}
	killed := 0
	for round := range rounds {
		cmd := exec.Command("frontier", "add", "-store", store)
		cmd.Stdin = bytes.NewReader(manyLinks(round*size, size))
		if runKilled(t, cmd, time.Duration(rng.IntN(40))*time.Millisecond) {
			for i := range size {
				acknowledged[fmt.Sprintf("http://h%d.example/%d", i%7, round*size+i)] = true
			}
		} else {
			killed++
		}
		if len(acknowledged) == 0 {
			continue
		}
		var first bytes.Buffer
		args := []string{"next", "-store", store, "-n", "50", "-generation", strconv.Itoa(round)}
		cmd = exec.Command("frontier", args...)
		cmd.Stdout = &first
		if !runKilled(t, cmd, time.Duration(rng.IntN(30))*time.Millisecond) {
			killed++
		}
		again, err := exec.Command("frontier", args...).Output()
		if err != nil {
			t.Fatalf("round %d: next: %v", round, err)
		}
		if !bytes.HasPrefix(again, first.Bytes()) {
			t.Fatalf("round %d: the generation has changed", round)
		}
	}
	t.Logf("killed %d times, %d URLs acknowledged", killed, len(acknowledged))
	out, err := exec.Command("frontier", "check", "-store", store).CombinedOutput()
	if err != nil {
		t.Fatalf("check: %v: %s", err, out)
	}
	out, err = exec.Command("frontier", "export", "-store", store).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		_, u, _ := strings.Cut(line, `"url":"`)
		u, _, _ = strings.Cut(u, `"`)
		delete(acknowledged, u)
	}
	if len(acknowledged) > 0 {
		t.Fatalf("%d acknowledged URLs are lost", len(acknowledged))
	}
}

// runKilled runs cmd, kills it after d, and tells whether it had exited with 0.
func runKilled(t *testing.T, cmd *exec.Cmd, d time.Duration) (done bool) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(d, func() { cmd.Process.Kill() })
	defer timer.Stop()
	return cmd.Wait() == nil
}
