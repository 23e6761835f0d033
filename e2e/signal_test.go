//go:build unix

package e2e

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var signals = flag.Int("signals", 12, "the number of signals that crawls get at random moments")

// A crawl that gets signals at random moments ends with the status of the signal and, resumed,
// fetches what it would have fetched: in a replay the same pages in the same order, with the same
// scores; live, where the order depends on the moment, the same set of pages.
func TestACrawlInterruptedAtRandomFetchesTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("crawls are not interrupted in a short test")
	}
	script := inRoot("scripts", "crawl")
	for _, web := range []string{"replay", "live"} {
		for _, mode := range []string{"loop", "steady"} {
			t.Run(web+" "+mode, func(t *testing.T) {
				c := newComparison(t)
				c.shell(t, `topic -query "$(<query.txt)" >topic.json`)
				pages := c.order
				if web == "replay" {
					c.args = []string{script, "-topic", "topic.json", "-seeds", "jazz-easy.txt", "-archive", "web.warc.gz", "-strategy", "bestfirst", "-pages", "40", "-size", "8"}
				} else {
					pages = c.pages
					site := httptest.NewServer(http.HandlerFunc(treeOfPages))
					t.Cleanup(site.Close)
					c.shell(t, "echo "+site.URL+"/1 >seeds.txt")
					c.args = []string{script, "-topic", "topic.json", "-seeds", "seeds.txt", "-allow-private", "-delay", "0s", "-traps", "off", "-strategy", "breadthfirst", "-size", "8"}
				}
				if mode == "steady" {
					c.args = append(c.args, "-steady")
				}
				c.interruptAtRandom(t, mode == "steady", pages)
			})
		}
	}
}

// treeOfPages serves 31 pages. Page n links to the pages 2n and 2n+1.
func treeOfPages(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil || n < 1 || n > 31 {
		http.NotFound(w, r)
		return
	}
	time.Sleep(20 * time.Millisecond) // a signal then finds fetch at work
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>Jazz %d</title><p>saxophone", n)
	for _, child := range []int{2 * n, 2*n + 1} {
		if child <= 31 {
			fmt.Fprintf(w, ` <a href="/%d">jazz %[1]d</a>`, child)
		}
	}
}

// A stage that hangs does not end when its input does. A second signal kills it, with all that it has
// started, and the crawl can be resumed without it.
func TestASecondSignalKillsTheStages(t *testing.T) {
	if testing.Short() {
		t.Skip("crawls are not interrupted in a short test")
	}
	script := inRoot("scripts", "crawl")
	for _, mode := range []string{"loop", "steady"} {
		t.Run(mode, func(t *testing.T) {
			c := newComparison(t)
			c.shell(t, `topic -query "$(<query.txt)" >topic.json`)
			c.args = []string{script, "-topic", "topic.json", "-seeds", "jazz-easy.txt", "-archive", "web.warc.gz", "-strategy", "bestfirst", "-pages", "40", "-size", "8"}
			if mode == "steady" {
				c.args = append(c.args, "-steady")
			}
			c.run(t, "want")
			cmd := c.command("run")
			cmd.Env = append(cmd.Env, "PARSE=echo $BASHPID >hangs; cat >/dev/null | sleep 600; true")
			ownGroup(cmd)
			said, err := os.Create(filepath.Join(c.dir, "said"))
			if err != nil {
				t.Fatal(err)
			}
			defer said.Close()
			cmd.Stdout, cmd.Stderr = said, said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			var pid int
			for begun := time.Now(); pid == 0; time.Sleep(10 * time.Millisecond) {
				text, _ := os.ReadFile(filepath.Join(c.dir, "hangs"))
				pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				if time.Since(begun) > time.Minute {
					t.Fatalf("the stage does not start:\n%s", printed(said))
				}
			}
			time.Sleep(time.Second)
			for i := 0; ; i++ { // one within a second of the last is ignored
				syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
				select {
				case <-ended:
				case <-time.After(2500 * time.Millisecond):
					if i == 5 {
						cmd.Process.Kill()
						t.Fatalf("the crawl does not end:\n%s", printed(said))
					}
					continue
				}
				t.Logf("%d signals", i+1)
				if i == 0 {
					t.Errorf("the first signal has killed the stage:\n%s", printed(said))
				}
				break
			}
			if status := cmd.ProcessState.ExitCode(); status != 130 {
				t.Errorf("status %d:\n%s", status, printed(said))
			}
			for begun := time.Now(); syscall.Kill(-pid, 0) != syscall.ESRCH; time.Sleep(10 * time.Millisecond) {
				if time.Since(begun) > 20*time.Second {
					t.Fatal("the command of the stage still runs")
				}
			}
			c.shell(t, "PARSE= "+script+" -run run 2>&1")
			if got, want := c.pages(t, "run"), c.pages(t, "want"); !bytes.Equal(got, want) {
				t.Errorf("the resumed crawl fetched\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A script that is killed, also by a signal while it starts a step, cannot tell its stages. They end when
// they write, instead of going on for the whole generation.
func TestStagesEndSoonAfterTheScript(t *testing.T) {
	if testing.Short() {
		t.Skip("no crawl is killed in a short test")
	}
	script := inRoot("scripts", "crawl")
	c := newComparison(t)
	c.shell(t, `topic -query "$(<query.txt)" >topic.json`)
	c.args = []string{script, "-topic", "topic.json", "-seeds", "jazz-easy.txt", "-archive", "web.warc.gz", "-strategy", "bestfirst", "-pages", "40", "-size", "8"}
	c.run(t, "want")
	cmd := c.command("run")
	cmd.Env = append(cmd.Env, `FETCH=echo $BASHPID >endless; cat; while echo '{"v":1,"url":"http://endless.test/","status_code":200,"text":"jazz"}'; do sleep 0.1; done`)
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	for begun := time.Now(); pid == 0; time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(c.dir, "endless"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		if time.Since(begun) > time.Minute {
			t.Fatal("the stage does not start")
		}
	}
	time.Sleep(time.Second)
	cmd.Process.Kill() // the script only
	cmd.Wait()
	for _, group := range []int{pid, cmd.Process.Pid} {
		for begun := time.Now(); syscall.Kill(-group, 0) != syscall.ESRCH; time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > 30*time.Second {
				syscall.Kill(-group, syscall.SIGKILL)
				t.Fatal("the stages still run")
			}
		}
	}
	c.shell(t, "FETCH= "+script+" -run run 2>&1")
	if got, want := c.pages(t, "run"), c.pages(t, "want"); !bytes.Equal(got, want) {
		t.Errorf("the resumed crawl fetched\n%s\nwant\n%s", got, want)
	}
}

// A signal to all processes of a live crawl, as a service manager sends it, loses no page that was
// fetched: only the requests that it ended are made again.
func TestASignalToAllLosesNoPage(t *testing.T) {
	if testing.Short() {
		t.Skip("crawls are not interrupted in a short test")
	}
	script := inRoot("scripts", "crawl")
	for _, mode := range []string{"loop", "steady"} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			t.Run(fmt.Sprintf("%s %v", mode, sig), func(t *testing.T) {
				c := newComparison(t)
				c.shell(t, `topic -query "$(<query.txt)" >topic.json`)
				var answered atomic.Int32
				enough, sent := make(chan bool), make(chan bool)
				site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if answered.Load() >= 20 {
						<-sent // the crawl must not end before the signal
					}
					treeOfPages(w, r)
					if r.URL.Path != "/robots.txt" && r.Context().Err() == nil && answered.Add(1) == 20 {
						close(enough)
					}
				}))
				defer site.Close()
				c.shell(t, "echo "+site.URL+"/1 >seeds.txt")
				c.args = []string{script, "-topic", "topic.json", "-seeds", "seeds.txt", "-allow-private", "-delay", "0s", "-j", "1", "-traps", "off", "-strategy", "breadthfirst", "-size", "8"}
				if mode == "steady" {
					c.args = append(c.args, "-steady")
				}
				cmd := c.command("run")
				ownGroup(cmd)
				said, err := os.Create(filepath.Join(c.dir, "said"))
				if err != nil {
					t.Fatal(err)
				}
				defer said.Close()
				cmd.Stdout, cmd.Stderr = said, said
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				<-enough
				if err := syscall.Kill(-cmd.Process.Pid, sig); err != nil {
					t.Fatal(err)
				}
				close(sent)
				if err := cmd.Wait(); err == nil {
					t.Errorf("the crawl ended before the signal:\n%s", printed(said))
				}
				c.run(t, "run")
				if n := bytes.Count(c.pages(t, "run"), []byte("\n")); n != 31 {
					t.Errorf("%d of 31 pages were fetched", n)
				}
				if again := int(answered.Load()) - 31; again > 1 {
					t.Errorf("%d pages were fetched again:\n%s", again, printed(said))
				}
			})
		}
	}
}

// pages returns the addresses of the pages that a run fetched, sorted, a line each.
func (c *crawl) pages(t *testing.T, run string) []byte {
	t.Helper()
	return c.shell(t, fmt.Sprintf(`frontier export -store %s/frontier | grep '"status_code":200' | grep -o '"url":"[^"]*"' | sort`, run))
}

// loopMade returns a channel that receives a while after a steady crawl has made its named pipe
// anew: then the processes of the pipeline are being started.
func (c *crawl) loopMade(run string, after time.Duration) <-chan time.Time {
	made := make(chan time.Time, 1)
	name := filepath.Join(c.dir, run, "loop.part")
	before, _ := os.Stat(name)
	go func() {
		for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) {
			if info, err := os.Stat(name); err == nil && (before == nil || !info.ModTime().Equal(before.ModTime())) {
				time.Sleep(after)
				break
			}
		}
		made <- time.Now()
	}()
	return made
}

// interruptAtRandom sends *signals signals to crawls and resumes them: at random moments, and every
// other one while the processes of a steady crawl are being started. pages returns what a run has
// fetched.
func (c *crawl) interruptAtRandom(t *testing.T, steady bool, pages func(t *testing.T, run string) []byte) {
	t.Helper()
	kinds := []struct {
		name   string
		signal syscall.Signal
		group  bool
	}{
		{"INT to the group", syscall.SIGINT, true},
		{"TERM to the script", syscall.SIGTERM, false},
		{"TERM to the group", syscall.SIGTERM, true},
		{"HUP to the script", syscall.SIGHUP, false},
		{"HUP to the group", syscall.SIGHUP, true},
	}
	begun := time.Now()
	c.run(t, "whole")
	whole := time.Since(begun)
	want := pages(t, "whole")
	rng := rand.New(rand.NewPCG(*seed, uint64(len(c.args))))
	statuses := map[string]int{}
	runs := 0
	for sent := 0; sent < *signals; {
		kind := kinds[sent%len(kinds)]
		cmd := c.command(fmt.Sprintf("run%d", runs))
		ownGroup(cmd)
		said, err := os.Create(filepath.Join(c.dir, "said")) // a file: Wait would wait for a pipe's last holder
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = said, said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		moment := time.After(time.Duration(rng.Float64() * float64(whole)))
		if steady && sent%2 == 1 {
			moment = c.loopMade(fmt.Sprintf("run%d", runs), time.Duration(rng.IntN(30))*time.Millisecond)
		}
		signalled := false
		select {
		case err = <-ended: // before the signal: the next signal finds another crawl
		case <-moment:
			sent++
			signalled = true
			pid := cmd.Process.Pid
			if kind.group {
				pid = -pid
			}
			if err := syscall.Kill(pid, kind.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Fatal(err)
			}
			select {
			case err = <-ended:
			case <-time.After(time.Minute):
				killGroup(cmd)
				t.Fatalf("%s: the crawl does not end:\n%s", kind.name, printed(said))
			}
		}
		status := 0
		if e := (*exec.ExitError)(nil); errors.As(err, &e) {
			status = shellStatus(e.ProcessState)
		}
		if signalled {
			statuses[fmt.Sprintf("%s: %d", kind.name, status)]++
		}
		switch {
		case status == 0:
			runs++
		case !signalled:
			t.Fatalf("status %d without a signal:\n%s", status, printed(said))
		case status == 128+int(kind.signal):
			// For HUP, this is before the script has set its trap, which exits with 143, or while it
			// starts a pipeline.
		case kind.signal == syscall.SIGHUP && status == 143:
		default:
			t.Errorf("%s: status %d:\n%s", kind.name, status, printed(said))
		}
		said.Close()
	}
	c.run(t, fmt.Sprintf("run%d", runs))
	for i := range runs + 1 {
		run := fmt.Sprintf("run%d", i)
		if got := pages(t, run); !bytes.Equal(got, want) {
			t.Errorf("interrupted, the crawl fetched\n%s\ninstead of\n%s", got, want)
		}
		if left := c.litter(t, run); len(left) > 0 {
			t.Errorf("%s are left", left)
		}
	}
	t.Logf("%d signals, %d crawls, %d lines: %v", *signals, runs+1, bytes.Count(want, []byte("\n")), statuses)
}
