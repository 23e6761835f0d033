package spoor_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Of two crawls on one directory in different PID namespaces, where process numbers identify
// nothing, the second is refused. After the first, process 1 of its namespace, is killed, the
// directory can be used.
func TestARunIsLockedAcrossNamespaces(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing is crawled in a short test")
	}
	isolate := []string{"--pid", "--fork", "--kill-child", "--mount-proc"}
	if os.Getuid() != 0 {
		isolate = append(isolate, "--user", "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(isolate, "true")...).CombinedOutput(); err != nil {
		need(t, fmt.Sprintf("permission to unshare (%v: %s)", err, bytes.TrimSpace(out)))
	}
	c := newComparison(t)
	c.shell(t, `topic -query "$(<query.txt)" >topic.json`)
	script, err := filepath.Abs(filepath.Join("scripts", "crawl"))
	if err != nil {
		t.Fatal(err)
	}
	c.args = []string{script, "-topic", "topic.json", "-seeds", "jazz-easy.txt", "-archive", "web.warc.gz", "-strategy", "niche", "-pages", "12", "-size", "6"}
	c.run(t, "plain")
	want := c.order(t, "plain")

	run := filepath.Join(c.dir, "shared")
	start := func(env ...string) *exec.Cmd {
		cmd := exec.Command("unshare", slices.Concat(isolate, []string{"bash"}, c.args, []string{"-run", run})...)
		cmd.Dir, cmd.Env = c.dir, append(slices.Clone(c.env), env...)
		return cmd
	}
	first := start("FETCH=: >asked; exec sleep 600") // process 1
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(c.dir, "asked")); err == nil {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("the first crawl does not begin")
		}
	}
	if owner, err := os.ReadFile(filepath.Join(run, "lock")); err != nil || strings.TrimSpace(string(owner)) != "1" {
		t.Errorf("the first crawl is process %s, %v", owner, err)
	}
	for range 2 {
		if out, err := start("FETCH=").CombinedOutput(); err == nil || !bytes.Contains(out, []byte("is at work on")) {
			t.Errorf("the second crawl: %v\n%s", err, out)
		}
	}
	for _, pid := range children(first.Process.Pid) { // process 1 of the namespace
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	first.Wait() // unshare ends once the whole namespace has
	if out, err := start("FETCH=").CombinedOutput(); err != nil {
		t.Errorf("after the first was killed: %v\n%s", err, out)
	}
	if got := c.order(t, "shared"); !bytes.Equal(got, want) {
		t.Errorf("the crawl fetched\n%s\ninstead of\n%s", got, want)
	}
	if left := c.litter(t, "shared"); len(left) > 0 {
		t.Errorf("%s are left", left)
	}
}
