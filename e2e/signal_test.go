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
	skipShort(t, "crawls are not interrupted in a short test")
	for _, web := range []string{"replay", "live"} {
		for _, mode := range []string{"loop", "steady"} {
			t.Run(web+" "+mode, func(t *testing.T) {
				c := newComparison(t)
				pages := c.order
				if web == "replay" {
					c.crawlJazz(t, mode, "-strategy", "bestfirst", "-pages", "40", "-size", "8")
				} else {
					pages = c.pages
					site := httptest.NewServer(http.HandlerFunc(treeOfPages))
					t.Cleanup(site.Close)
					c.crawlSite(t, mode, site.URL)
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
	skipShort(t, "crawls are not interrupted in a short test")
	script := inRoot("scripts", "crawl")
	for _, mode := range []string{"loop", "steady"} {
		t.Run(mode, func(t *testing.T) {
			c := newComparison(t)
			c.crawlJazz(t, mode, "-strategy", "bestfirst", "-pages", "40", "-size", "8")
			c.run(t, "want")
			cmd := c.command("run")
			cmd.Env = append(cmd.Env, "PARSE=echo $BASHPID >hangs; cat >/dev/null | sleep 600; true")
			p := startProcess(t, cmd)
			pid := c.stage(t, "hangs")
			for i := 0; ; i++ { // one within a second of the last is ignored
				syscall.Kill(-p.Process.Pid, syscall.SIGINT)
				select {
				case <-p.ended:
				case <-time.After(2500 * time.Millisecond):
					if i == 5 {
						p.Process.Kill()
						t.Fatalf("the crawl does not end:\n%s", p.printed())
					}
					continue
				}
				t.Logf("%d signals", i+1)
				if i == 0 {
					t.Errorf("the first signal has killed the stage:\n%s", p.printed())
				}
				break
			}
			if status := p.ProcessState.ExitCode(); status != 130 {
				t.Errorf("status %d:\n%s", status, p.printed())
			}
			awaitEnd(t, pid)
			c.shell(t, "PARSE= "+script+" -run run 2>&1")
			if got, want := c.pages(t, "run"), c.pages(t, "want"); !bytes.Equal(got, want) {
				t.Errorf("the resumed crawl fetched\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// stage waits until a stage has written its process number to a file and works on its input, and
// returns the number.
func (c *crawl) stage(t *testing.T, file string) (pid int) {
	t.Helper()
	await(t, func() error {
		text, err := os.ReadFile(filepath.Join(c.dir, file))
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return err
	})
	time.Sleep(time.Second)
	return pid
}

// awaitEnd waits until all processes of a group have ended.
func awaitEnd(t *testing.T, group int) {
	t.Helper()
	for begun := time.Now(); syscall.Kill(-group, 0) != syscall.ESRCH; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			syscall.Kill(-group, syscall.SIGKILL)
			t.Fatal("the stages still run")
		}
	}
}

// A script that is killed, also by a signal while it starts a step, cannot tell its stages. They end when
// they write, instead of going on for the whole generation.
func TestStagesEndSoonAfterTheScript(t *testing.T) {
	skipShort(t, "no crawl is killed in a short test")
	script := inRoot("scripts", "crawl")
	c := newComparison(t)
	c.crawlJazz(t, "loop", "-strategy", "bestfirst", "-pages", "40", "-size", "8")
	c.run(t, "want")
	cmd := c.command("run")
	cmd.Env = append(cmd.Env, `FETCH=echo $BASHPID >endless; cat; while echo '{"v":1,"url":"http://endless.test/","status_code":200,"text":"jazz"}'; do sleep 0.1; done`)
	p := startProcess(t, cmd)
	pid := c.stage(t, "endless")
	p.Process.Kill() // the script only
	<-p.ended
	awaitEnd(t, pid)
	awaitEnd(t, p.Process.Pid)
	c.shell(t, "FETCH= "+script+" -run run 2>&1")
	if got, want := c.pages(t, "run"), c.pages(t, "want"); !bytes.Equal(got, want) {
		t.Errorf("the resumed crawl fetched\n%s\nwant\n%s", got, want)
	}
}

// A signal to all processes of a live crawl, as a service manager sends it, loses no page that was
// fetched: only the requests that it ended are made again.
func TestASignalToAllLosesNoPage(t *testing.T) {
	skipShort(t, "crawls are not interrupted in a short test")
	for _, mode := range []string{"loop", "steady"} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			t.Run(fmt.Sprintf("%s %v", mode, sig), func(t *testing.T) {
				c := newComparison(t)
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
				c.crawlSite(t, mode, site.URL, "-j", "1")
				p := startProcess(t, c.command("run"))
				<-enough
				if err := syscall.Kill(-p.Process.Pid, sig); err != nil {
					t.Fatal(err)
				}
				close(sent)
				if err := <-p.ended; err == nil {
					t.Errorf("the crawl ended before the signal:\n%s", p.printed())
				}
				c.run(t, "run")
				if n := bytes.Count(c.pages(t, "run"), []byte("\n")); n != 31 {
					t.Errorf("%d of 31 pages were fetched", n)
				}
				if again := int(answered.Load()) - 31; again > 1 {
					t.Errorf("%d pages were fetched again:\n%s", again, p.printed())
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
		p := startProcess(t, c.command(fmt.Sprintf("run%d", runs)))
		moment := time.After(time.Duration(rng.Float64() * float64(whole)))
		if steady && sent%2 == 1 {
			moment = c.loopMade(fmt.Sprintf("run%d", runs), time.Duration(rng.IntN(30))*time.Millisecond)
		}
		signalled := false
		var err error
		select {
		case err = <-p.ended: // before the signal: the next signal finds another crawl
		case <-moment:
			sent++
			signalled = true
			pid := p.Process.Pid
			if kind.group {
				pid = -pid
			}
			if err := syscall.Kill(pid, kind.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Fatal(err)
			}
			select {
			case err = <-p.ended:
			case <-time.After(time.Minute):
				killGroup(p.Cmd)
				t.Fatalf("%s: the crawl does not end:\n%s", kind.name, p.printed())
			}
		}
		status := exitStatus(err)
		if signalled {
			statuses[fmt.Sprintf("%s: %d", kind.name, status)]++
		}
		switch {
		case status == 0:
			runs++
		case !signalled:
			t.Fatalf("status %d without a signal:\n%s", status, p.printed())
		case status == 128+int(kind.signal):
			// For HUP, this is before the script has set its trap, which exits with 143, or while it
			// starts a pipeline.
		case kind.signal == syscall.SIGHUP && status == 143:
		default:
			t.Errorf("%s: status %d:\n%s", kind.name, status, p.printed())
		}
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
