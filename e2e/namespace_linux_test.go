package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// isolation returns the arguments of unshare with which a command becomes process 1 of a container.
func isolation(t *testing.T) []string {
	isolate := []string{"--pid", "--fork", "--kill-child", "--mount-proc"}
	if os.Getuid() != 0 {
		isolate = append(isolate, "--user", "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(isolate, "true")...).CombinedOutput(); err != nil {
		need(t, fmt.Sprintf("permission to unshare (%v: %s)", err, bytes.TrimSpace(out)))
	}
	return isolate
}

// commandLine returns the command line of a process, or "" if it has ended.
func commandLine(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.ReplaceAll(b, []byte{0}, []byte{' '}))
}

// The kernel discards a signal to process 1 of a container that has no handler for it, and scripts/crawl has
// none while it starts the stages of a step. A signal at exactly this time ends the crawl all the same.
func TestProcess1OfAContainerObeysSignals(t *testing.T) {
	skipShort(t, "nothing is crawled in a short test")
	isolate := isolation(t)
	c := newComparison(t)
	c.shell(t, `topic -query "$(<query.txt)" >topic.json`)
	crawl := func(dir string, steady bool) *exec.Cmd {
		cmd := exec.Command("unshare", slices.Concat(isolate, []string{inRoot("scripts", "crawl"), "-steady=" + strconv.FormatBool(steady), "-run", filepath.Join(c.dir, dir), "-topic", filepath.Join(c.dir, "topic.json"),
			"-seeds", filepath.Join(c.dir, "jazz-easy.txt"), "-archive", filepath.Join(c.dir, "web.warc.gz"), "-strategy", "bestfirst", "-pages", "16", "-size", "1"})...)
		cmd.Env = c.env
		return cmd
	}
	if err := crawl("want", true).Run(); err != nil {
		t.Fatal(err)
	}
	want := c.order(t, "want")
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		signals = append(signals, syscall.SIGHUP)
	}
	for i := range 9 {
		dir := fmt.Sprint("run", i)
		cmd := crawl(dir, i == 0) // a steady crawl starts its stages once
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		first, script := waitForScript(t, cmd.Process.Pid)
		for n, started := 0, 0; started < 5+3*i && commandLine(script) != ""; { // the stages of a step are started one after the other
			before := n
			if n = len(children(script)); n > before {
				started += n - before
			}
		}
		sent := syscall.Kill(first, signals[i%len(signals)])
		cmd.Wait()
		if status := cmd.ProcessState.ExitCode(); sent != nil || status != 128+15 && status != 128+2 && status != 128+1 {
			t.Errorf("crawl %d got a signal (%v) and ended with status %d:\n%s", i, sent, status, out.Bytes())
		}
		if out, err := crawl(dir, i == 0).CombinedOutput(); err != nil {
			t.Errorf("crawl %d does not resume: %v\n%s", i, err, out)
		}
		if got := c.order(t, dir); !bytes.Equal(got, want) {
			t.Errorf("crawl %d fetched\n%s\ninstead of\n%s", i, got, want)
		}
	}
}

// waitForScript waits until unshare runs scripts/crawl, and returns the first process of the container and the script.
func waitForScript(t *testing.T, unshare int) (first, script int) {
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) {
		for _, first := range children(unshare) {
			for _, pid := range append(children(first), first) {
				if strings.Contains(commandLine(pid), "-opened") {
					return first, pid
				}
			}
		}
	}
	t.Fatal("the crawl does not begin")
	return 0, 0
}

// Of two crawls on one directory in different PID namespaces, where process numbers identify
// nothing, the second is refused. After the first, process 1 of its namespace, is killed, the
// directory can be used.
func TestARunIsLockedAcrossNamespaces(t *testing.T) {
	skipShort(t, "nothing is crawled in a short test")
	isolate := isolation(t)
	c := newComparison(t)
	c.crawlJazz(t, "loop", "-strategy", "niche", "-pages", "12", "-size", "6")
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
	await(t, func() error { _, err := os.Stat(filepath.Join(c.dir, "asked")); return err })
	if first := children(first.Process.Pid); len(first) != 1 || !strings.Contains(commandLine(first[0]), "open") {
		t.Errorf("process 1 of the first crawl is %v", first)
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
