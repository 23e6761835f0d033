package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
)

var (
	kills      = flag.Int("kills", 10, "how often a crawl is killed at random")
	strategies = flag.String("strategies", "niche,bestfirst,tunnel,symbiosis", "the strategies whose crawls are killed, or all")
	seed       = flag.Uint64("seed", 1, "random seed of the moments at which crawls are killed")
)

// A strategyKind is what evolve -strategies -json says of a strategy.
type strategyKind struct {
	Name, Expand string
	Search       bool
}

func strategyKinds(t *testing.T) map[string]strategyKind {
	t.Helper()
	kinds := map[string]strategyKind{}
	for _, k := range jsonLines[strategyKind](t, (&crawl{dir: t.TempDir(), env: append(os.Environ(), environment(t)...)}).shell(t, "evolve -strategies -json")) {
		kinds[k.Name] = k
	}
	return kinds
}

// A crawl that is killed at any moment, with all its stages, and started again
// fetches what it would have fetched: the same pages in the same order, with the
// same scores. The web is an archive of the shared data if there is one, else the
// site of gosite.
func TestACrawlKilledAtRandomFetchesTheSame(t *testing.T) {
	skipShort(t, "crawls are not killed in a short test")
	kinds := strategyKinds(t)
	names := strings.Split(*strategies, ",")
	if *strategies == "all" {
		names = slices.Sorted(maps.Keys(kinds))
	}
	var mu sync.Mutex
	var rows []string
	t.Run("strategies", func(t *testing.T) {
		for _, strategy := range names {
			t.Run(strategy, func(t *testing.T) {
				t.Parallel()
				c := newCrawl(t, strategy)
				if kinds[strategy].Search {
					c.shell(t, "search -index web.db -archive web.warc.gz -query nothing")
					c.args = append(c.args, "-search", "web.db")
				}
				if kinds[strategy].Expand != "" {
					c.smallTable(t)
				}
				// The more kills, the shorter the generations, so that a crawl has more of them.
				c.args = append(c.args, "-size", strconv.Itoa(max(4, 200 / *kills)))
				c.run(t, "whole")
				want := c.order(t, "whole")
				for _, mode := range []string{"loop", "steady"} {
					c.args = append(c.args, "-steady="+strconv.FormatBool(mode == "steady"))
					row := c.killAtRandom(t, mode, want)
					mu.Lock()
					rows = append(rows, fmt.Sprintf("%s\t%s\t%s", strategy, mode, row))
					mu.Unlock()
				}
			})
		}
	})
	slices.Sort(rows)
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "strategy\tmode\tkills\tcrawls\tpages\tthe same\tkilled while")
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
	w.Flush()
	t.Logf("-kills %d -seed %d\n%s", *kills, *seed, b.String())
}

// A process is a program that is the first of a process group of its own.
type process struct {
	*exec.Cmd
	said  string     // the file with what it prints
	ended chan error // receives the result of Wait
}

// startProcess starts a program.
func startProcess(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), "said")) // a file: Wait would wait for a pipe's last holder
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, said.Name(), make(chan error, 1)}
	go func() { p.ended <- cmd.Wait() }()
	return p
}

// kill kills the process group.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := killGroup(p.Cmd); err != nil {
		t.Fatal(err)
	}
	<-p.ended
}

// printed returns what the program has printed so far.
func (p *process) printed() []byte {
	b, err := os.ReadFile(p.said)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// killAtRandom kills crawls *kills times and resumes them: sometimes before the first
// generation, mostly within the two generations after the start. How many crawls that takes
// depends on the load of the machine. It returns a row of the table.
func (c *crawl) killAtRandom(t *testing.T, mode string, want []byte) (row string) {
	t.Helper()
	begun := time.Now()
	c.run(t, mode)
	whole := time.Since(begun)
	begun = time.Now()
	c.run(t, mode) // it says that it is done
	toBegin := time.Since(begun)
	generations, err := filepath.Glob(filepath.Join(c.dir, mode, "generations", "*", "stats.json"))
	if err != nil || len(generations) == 0 {
		t.Fatalf("no generations: %v", err)
	}
	generation := max(time.Millisecond, (whole-toBegin)/time.Duration(len(generations)))

	rng := rand.New(rand.NewPCG(*seed, uint64(len(c.args))))
	runs, done, steps := []string{mode}, 0, map[string]int{}
	for done < *kills {
		if len(runs) == 1 || c.finished(runs[len(runs)-1]) {
			runs = append(runs, fmt.Sprintf("%s%d", mode, len(runs)))
		}
		run := runs[len(runs)-1]
		before := c.made(run)
		p := startProcess(t, c.command(run))
		early := rng.IntN(4) == 0
		left := time.Duration(rng.Float64() * float64(2*generation))
		if early {
			left = time.Duration(rng.Float64() * float64(toBegin))
		}
		alive := true
		for look := time.NewTicker(5 * time.Millisecond); alive && !early && slices.Equal(before, c.made(run)); {
			select {
			case err := <-p.ended:
				if alive = false; err != nil {
					t.Fatalf("after %d kills: %v\n%s", done, err, p.printed())
				}
			case <-look.C:
			}
		}
		if !alive {
			continue
		}
		select {
		case err := <-p.ended:
			if err != nil {
				t.Fatalf("after %d kills: %v\n%s", done, err, p.printed())
			}
		case <-time.After(left):
			p.kill(t)
			done++
			steps[c.step(run)]++
		}
	}
	c.run(t, runs[len(runs)-1])
	same := "yes"
	for _, run := range runs {
		if got := c.order(t, run); !bytes.Equal(got, want) {
			same = "no"
			t.Errorf("%s, killed, the crawl fetched\n%s\ninstead of\n%s", mode, got, want)
		}
	}
	for _, run := range runs {
		if left := c.litter(t, run); len(left) > 0 {
			t.Errorf("%s: %s are left", run, left)
		}
	}
	row = fmt.Sprintf("%d\t%d\t%d\t%s\t", done, len(runs)-1, bytes.Count(want, []byte("\n")), same)
	for _, step := range slices.Sorted(maps.Keys(steps)) {
		row += fmt.Sprintf("%s %d, ", step, steps[step])
	}
	return strings.TrimSuffix(row, ", ")
}

// made returns the files of the last generation of a crawl.
func (c *crawl) made(run string) []string {
	dirs, _ := filepath.Glob(filepath.Join(c.dir, run, "generations", "*"))
	if len(dirs) == 0 {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(dirs[len(dirs)-1], "*"))
	return files
}

// litter returns the files of a run that only a process that is running needs.
func (c *crawl) litter(t *testing.T, run string) (left []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(c.dir, run), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".part") || strings.HasSuffix(path, ".open") || strings.HasPrefix(filepath.Base(path), "pid") {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// finished reports whether a crawl has ended.
func (c *crawl) finished(run string) bool {
	_, err := os.Stat(filepath.Join(c.dir, run, "stop_reason"))
	return err == nil
}

// step returns the step that was running when a crawl was killed, by the files that it has left.
func (c *crawl) step(run string) string {
	dirs, _ := filepath.Glob(filepath.Join(c.dir, run, "generations", "*"))
	if len(dirs) == 0 {
		return "beginning"
	}
	last := dirs[len(dirs)-1]
	for _, step := range []struct{ done, next string }{
		{"stats.json", "between generations"},
		{"next.ndjson.zst", "adding"},
		{"scored.ndjson.zst", "choosing"},
		{"addresses.ndjson", "fetching"},
	} {
		if _, err := os.Stat(filepath.Join(last, step.done)); err == nil {
			return step.next
		}
	}
	return "leasing"
}

// A crawl that is killed again and again leaves no files that accumulate: neither in the run
// directory, which has the files of an undisturbed run in the end, nor in the temporary directory.
func TestKillsLeaveNoFilesThatAccumulate(t *testing.T) {
	skipShort(t, "crawls are not killed in a short test")
	const kills = 25
	for _, mode := range []string{"loop", "steady"} {
		t.Run(mode, func(t *testing.T) {
			c := newComparison(t)
			// jaccard learns a topic, also while a crawl is opened.
			c.crawlJazz(t, mode, "-strategy", "jaccard", "-pages", "40", "-size", "8")
			c.shell(t, "mkdir tmp")
			c.env = append(c.env, "TMPDIR="+filepath.Join(c.dir, "tmp"))
			begun := time.Now()
			c.run(t, "whole")
			whole := time.Since(begun)
			rng := rand.New(rand.NewPCG(*seed, 0))
			check := func() {
				t.Helper()
				if diff := cmp.Diff(c.files(t, "whole"), c.files(t, "killed")); diff != "" {
					t.Errorf("a crawl that was killed has other files (+):\n%s", diff)
				}
				if temporary := c.files(t, "tmp"); len(temporary) > 0 {
					t.Errorf("temporary files are left: %q", temporary)
				}
			}
			killed := 0
			for killed < kills {
				p := startProcess(t, c.command("killed"))
				select {
				case err := <-p.ended:
					if err != nil {
						t.Fatal(err)
					}
					check()
					testfile.Check(t, os.RemoveAll(filepath.Join(c.dir, "killed")))
				case <-time.After(time.Duration(rng.Float64() * float64(whole))):
					p.kill(t)
					killed++
				}
			}
			c.run(t, "killed")
			check()
		})
	}
}

// files returns the names of all files and directories below a directory.
func (c *crawl) files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(c.dir, dir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != filepath.Join(c.dir, dir) {
			names = append(names, strings.TrimPrefix(path, filepath.Join(c.dir, dir)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Killed as soon as a step has begun, and as soon as it has ended, whichever it is, a
// crawl whose topic is learned and grows, and whose queries are charged, goes on as if
// nothing had happened.
func TestACrawlKilledAtEveryStepFetchesTheSame(t *testing.T) {
	skipShort(t, "crawls are not killed in a short test")
	// The file that a step writes, while it is running and when it has ended.
	steps := []struct{ begun, done string }{
		{"*/addresses.*.part", "*/addresses.ndjson"},
		{"*/parsed.*.part", "*/parsed.ndjson"},
		{"0000/topic.*.part", "0000/topic.json"},
		{"*/scored.*.part", "*/scored.ndjson.zst"},
		{"*/topic.*.part", "*/topic.json"},
		{"*/next.*.part", "*/next.ndjson.zst"},
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
					// A step may end before it is noticed: then a later file will do.
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

// killWhen runs a crawl until one of its generations has a new file that matches one of the
// patterns, and then kills it. It returns false if the crawl ended before that.
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
	p := startProcess(t, c.command(run))
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-p.ended:
			if err != nil {
				t.Fatalf("crawl: %v\n%s", err, p.printed())
			}
			return false
		case <-look.C:
			if !slices.ContainsFunc(matches(), func(name string) bool { return !slices.Contains(before, name) }) {
				continue
			}
			p.kill(t)
			return true
		}
	}
}

// A crawl is a command line without the run directory.
type crawl struct {
	dir  string
	env  []string
	args []string
}

func newCrawl(t *testing.T, strategy string) *crawl {
	t.Helper()
	c := &crawl{dir: t.TempDir(), env: append(os.Environ(), environment(t)...)}
	scripts := inRoot("scripts")
	seeds, pages := filepath.Join(c.dir, "seeds.txt"), "150"
	archive := filepath.Join(c.dir, "web.warc.gz")
	query := "cryptography: ciphers, hashes, certificates, TLS"
	if data := shared(); data != "" {
		seeds = filepath.Join(data, "webs", "webkb-course", "seeds-easy-1.txt")
		words := testfile.Read(t, filepath.Join(data, "webs", "webkb-course", "query.txt"))
		query, pages = string(words), "300"
		// A link of our own, so that the index is written beside it and not there.
		testfile.Check(t, os.Symlink(filepath.Join(data, "webs", "webkb.warc.gz"), archive))
	} else {
		t.Log("no shared data: the web is the documentation of the Go tree")
		c.shell(t, `echo "$GOSITE/" >seeds.txt; fetch -allow-private -delay 0s -warc w <<<"$GOSITE/" | parse |
			grep -o '"url":"http://127[^"]*"' | cut -d'"' -f4 | fetch -allow-private -delay 0s -warc w >pages && cat w-*.warc.gz >web.warc.gz`)
	}
	testfile.Write(t, filepath.Join(c.dir, "query.txt"), query)
	c.shell(t, `topic -query "$(<query.txt)" >topic.json`)
	c.args = []string{filepath.Join(scripts, "crawl"), "-topic", "topic.json", "-seeds", seeds,
		"-strategy", strategy, "-pages", pages, "-archive", archive}
	return c
}

// smallTable makes a topic with so few words that some pages score high enough for its table to
// grow within a short crawl.
func (c *crawl) smallTable(t *testing.T) {
	t.Helper()
	seeds := c.args[slices.Index(c.args, "-seeds")+1]
	c.shell(t, `fetch -archive web.warc.gz "`+seeds+`" | parse | topic -query "$(grep -oE '[[:alpha:]]+' query.txt | head -n 1)" -table 2 -positive - >small.json`)
	c.args[slices.Index(c.args, "topic.json")] = "small.json"
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

// order returns the pages that a run fetched, with their scores, and the queries whose cost it
// paid, a line each.
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
