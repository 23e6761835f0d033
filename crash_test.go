package spoor_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A crawl that is killed at any moment, with all its stages, and started again
// fetches what it would have fetched: the same pages in the same order, with the
// same scores. The world is the shared one where there is one, else what gosite
// serves.
func TestACrawlKilledTenTimesFetchesTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("crawls are not killed in a short test")
	}
	for _, strategy := range []string{"niche", "bestfirst", "tunnel", "symbiosis"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			c := newCrawl(t, strategy)
			if strategy == "symbiosis" {
				c.shell(t, "search -index web.db -archive web.warc.gz -query nothing")
				c.args = append(c.args, "-search", "web.db")
			}
			begun := time.Now()
			c.run(t, "whole")
			whole := time.Since(begun)

			// A crawl that ends before it is killed is followed by another: how
			// fast crawls are depends on what else the machine does.
			rng := rand.New(rand.NewPCG(1, uint64(len(strategy))))
			kills, runs := 0, []string{"killed1"}
			for kills < 10 {
				cmd := c.command(runs[len(runs)-1])
				ownGroup(cmd)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				select {
				case err := <-ended:
					if err != nil {
						t.Fatal(err)
					}
					runs = append(runs, fmt.Sprintf("killed%d", len(runs)+1))
				case <-time.After(time.Duration(rng.Int64N(int64(whole) / 10))):
					if err := killGroup(cmd); err != nil {
						t.Fatal(err)
					}
					<-ended
					kills++
				}
			}
			c.run(t, runs[len(runs)-1])
			want := c.order(t, "whole")
			for _, run := range runs {
				if got := c.order(t, run); !bytes.Equal(got, want) {
					t.Errorf("killed, the crawl fetched\n%s\ninstead of\n%s", got, want)
				}
			}
			t.Logf("%d kills of %d crawls of %d pages", kills, len(runs), bytes.Count(want, []byte("\n")))
		})
	}
}

// Killed as soon as a step has begun, and as soon as it has ended, whichever it is, a
// crawl whose topic is learned and grows, and whose queries are charged, goes on as if
// nothing had happened.
func TestACrawlKilledAtEveryStepFetchesTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("crawls are not killed in a short test")
	}
	// What a step makes, while it is at work and when it is done.
	steps := []struct{ begun, done string }{
		{"*/all.*.part", "*/addresses.ndjson"},
		{"*/parsed.*.part", "*/parsed.ndjson"},
		{"*/learned.*.part", "0000/topic.json"},
		{"*/scored.*.part.zst", "*/scored.ndjson.zst"},
		{"*/topic.*.part", "*/topic.json"},
		{"*/next.*.part.zst", "*/next.ndjson.zst"},
		{"*/found.*.part", "*/found.ndjson"},
		{"*/stats.*.part", "*/stats.json"},
	}
	for _, strategy := range []string{"tunnel", "symbiosis"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			c := newIslands(t, "http://jazz.example", strategy)
			c.write(t, "http://jazz.example")
			c.args = append(c.args, "-archive", "web-h.warc.gz")
			if strategy == "symbiosis" {
				c.args = append(c.args, "-search", "web.db")
			}
			c.run(t, "whole")
			want := c.order(t, "whole")
			kills := 0
			for generation := range 2 {
				for i, step := range steps {
					// What takes no time is over before it is seen: a later step will do.
					moments := []string{step.done}
					for _, later := range steps[i+1:] {
						moments = append(moments, later.done)
					}
					if c.killWhen(t, "killed", append([]string{step.begun}, moments...)) {
						kills++
					}
					if generation == 0 && c.killWhen(t, "killed", moments) {
						kills++
					}
				}
			}
			c.run(t, "killed")
			if got := c.order(t, "killed"); !bytes.Equal(got, want) {
				t.Errorf("killed %d times, the crawl fetched\n%s\ninstead of\n%s", kills, got, want)
			}
			if left, _ := filepath.Glob(filepath.Join(c.dir, "killed", "generations", "*", "parsed.ndjson")); len(left) > 0 {
				t.Errorf("%s is left, though it was used", left)
			}
			t.Logf("%d kills of a crawl of %d records", kills, bytes.Count(want, []byte("\n")))
		})
	}
}

// killWhen runs a crawl until a file of its generations is there that was not there
// before and matches one of the patterns, and kills it then. It reports whether it did,
// and not the crawl came to its end.
func (c *crawl) killWhen(t *testing.T, run string, patterns []string) bool {
	t.Helper()
	matches := func() (found []string) {
		for _, pattern := range patterns {
			names, err := filepath.Glob(filepath.Join(c.dir, run, "generations", pattern))
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, names...)
		}
		return found
	}
	before := matches()
	cmd := c.command(run)
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("crawl: %v", err)
			}
			return false
		case <-look.C:
			if !slices.ContainsFunc(matches(), func(name string) bool { return !slices.Contains(before, name) }) {
				continue
			}
			if err := killGroup(cmd); err != nil {
				t.Fatal(err)
			}
			<-ended
			return true
		}
	}
}

// A crawl is a command line but for the run directory.
type crawl struct {
	dir  string
	env  []string
	args []string
}

func newCrawl(t *testing.T, strategy string) *crawl {
	t.Helper()
	c := &crawl{dir: t.TempDir(), env: append(os.Environ(), environment(t)...)}
	scripts, err := filepath.Abs("scripts")
	if err != nil {
		t.Fatal(err)
	}
	seeds, pages := filepath.Join(c.dir, "seeds.txt"), "150"
	archive := filepath.Join(c.dir, "web.warc.gz")
	query := "cryptography: ciphers, hashes, certificates, TLS"
	if data := shared(); data != "" {
		seeds = filepath.Join(data, "webs", "webkb-course", "seeds-easy-1.txt")
		words, err := os.ReadFile(filepath.Join(data, "webs", "webkb-course", "query.txt"))
		if err != nil {
			t.Fatal(err)
		}
		query, pages = string(words), "300"
		// A link of our own, so that the index is written beside it and not there.
		if err := os.Symlink(filepath.Join(data, "webs", "webkb.warc.gz"), archive); err != nil {
			t.Fatal(err)
		}
	} else {
		t.Log("the shared data is not here: the world is the Go tree's documentation")
		c.shell(t, `echo "$GOSITE/" >seeds.txt; fetch -allow-private -delay 0s -warc w <<<"$GOSITE/" | parse |
			grep -o '"url":"http://127[^"]*"' | cut -d'"' -f4 | fetch -allow-private -delay 0s -warc w >pages && cat w-*.warc.gz >web.warc.gz`)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "query.txt"), []byte(query), 0o666); err != nil {
		t.Fatal(err)
	}
	c.shell(t, `topic -query "$(<query.txt)" >topic.json`)
	c.args = []string{filepath.Join(scripts, "crawl"), "-topic", "topic.json", "-seeds", seeds,
		"-strategy", strategy, "-pages", pages, "-archive", archive}
	return c
}

func (c *crawl) shell(t *testing.T, script string) []byte {
	t.Helper()
	cmd := exec.Command("bash", "-c", "set -euo pipefail; "+script)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, stderr.Bytes())
	}
	return stdout.Bytes()
}

func (c *crawl) command(run string) *exec.Cmd {
	cmd := exec.Command("bash", append(c.args, "-run", filepath.Join(c.dir, run))...)
	cmd.Dir, cmd.Env = c.dir, c.env
	return cmd
}

func (c *crawl) run(t *testing.T, run string) {
	t.Helper()
	if out, err := c.command(run).CombinedOutput(); err != nil {
		t.Fatalf("crawl: %v\n%s", err, out)
	}
}

// order is what a run fetched: address and score, a line each, and the queries that it
// was charged for.
func (c *crawl) order(t *testing.T, run string) []byte {
	t.Helper()
	var out []byte
	for _, rec := range c.records(t, run) {
		out = fmt.Appendf(out, "%d %s%s %s %d %v\n", rec.Generation, rec.URL, rec.Query, rec.Operator, rec.Cost, rec.Score)
	}
	if len(out) == 0 {
		t.Fatalf("run %s fetched nothing", run)
	}
	return out
}
