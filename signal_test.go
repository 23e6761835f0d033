//go:build unix

package spoor_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

var signals = flag.Int("signals", 12, "the number of signals that crawls get at random moments")

// A crawl that gets signals at random moments ends with the status of the signal and, resumed,
// fetches what it would have fetched.
func TestACrawlInterruptedAtRandomFetchesTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("crawls are not interrupted in a short test")
	}
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
	for _, mode := range []string{"loop", "steady"} {
		t.Run(mode, func(t *testing.T) {
			c := newCrawl(t, "niche")
			if mode == "steady" {
				c.args = append(c.args, "-steady")
			}
			begun := time.Now()
			c.run(t, "whole")
			whole := time.Since(begun)
			want := c.order(t, "whole")
			rng := rand.New(rand.NewPCG(*seed, uint64(len(mode))))
			statuses := map[string]int{}
			runs := 0
			for sent := 0; sent < *signals; {
				run := fmt.Sprintf("run%d", runs)
				kind := kinds[sent%len(kinds)]
				cmd := c.command(run)
				ownGroup(cmd)
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				var err error
				select {
				case err = <-ended: // before the signal: the next signal finds another crawl
				case <-time.After(time.Duration(rng.Float64() * float64(whole))):
					sent++
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
						t.Fatalf("%s: the crawl does not end:\n%s", kind.name, out.Bytes())
					}
				}
				status := 0
				if e := (*exec.ExitError)(nil); errors.As(err, &e) {
					status = shellStatus(e.ProcessState)
				}
				statuses[fmt.Sprintf("%s: %d", kind.name, status)]++
				_, begun := os.Stat(filepath.Join(c.dir, run, "stop_reason"))
				switch {
				case status == 0:
					runs++
				case status == 128+int(kind.signal) || kind.signal == syscall.SIGHUP && status == 143:
				default:
					t.Errorf("%s: status %d (stop_reason: %v):\n%s", kind.name, status, begun == nil, out.Bytes())
				}
			}
			last := fmt.Sprintf("run%d", runs)
			c.run(t, last)
			for i := range runs + 1 {
				if got := c.order(t, fmt.Sprintf("run%d", i)); !bytes.Equal(got, want) {
					t.Errorf("interrupted, the crawl fetched\n%s\ninstead of\n%s", got, want)
				}
				if left := c.litter(t, fmt.Sprintf("run%d", i)); len(left) > 0 {
					t.Errorf("%s are left", left)
				}
			}
			t.Logf("%d signals, %d crawls: %v", *signals, runs+1, statuses)
		})
	}
}
