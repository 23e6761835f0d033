//go:build unix

package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spoor/internal/run"
	"spoor/internal/testfile"
)

// odd is a name that becomes code, several words or another name wherever a shell reads it
// unquoted, within single quotes, within double quotes, as a pattern or as flags. "touch x" would
// make a file x.
const odd = "-o 'q\" $(touch x)`touch x`;touch x;\n*[a-z]?{a,b}~ \\ \\'$(touch x)\\\"$HOME&|<>()#!"

// oddLine is odd on one line, for the names of runs, which have none.
var oddLine = strings.ReplaceAll(odd, "\n", " ")

// Crawls and comparisons treat the names of files, directories and commands as data: with odd
// names everywhere they fetch what they fetch with plain names, and no part of a name is executed.
func TestNamesAreNotExecuted(t *testing.T) {
	skipShort(t, "nothing is crawled in a short test")
	c := newComparison(t)
	flags := []string{"-strategy", "niche", "-pages", "24", "-size", "6"}
	c.crawlJazz(t, "loop", flags...)
	c.run(t, "plain")
	want := c.order(t, "plain")

	dir := filepath.Join(c.dir, oddLine)
	bin := filepath.Join(dir, "bin "+odd)
	name := func(s string) string { return s + odd }
	for _, d := range []string{bin, filepath.Join(dir, "scripts"), filepath.Join(dir, name("tmp")), filepath.Join(dir, name("home"))} {
		testfile.Check(t, os.MkdirAll(d, 0o777))
	}
	copyFile := func(from, to string) {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, b, 0o777)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{
		"topic.json": name("topic"), "jazz-easy.txt": "-seeds" + odd, "web.warc.gz": name("web") + ".warc.gz",
		"labels.ndjson": "labels.ndjson", "query.txt": "query.txt",
	} {
		copyFile(filepath.Join(c.dir, from), filepath.Join(dir, to))
	}
	commands, err := filepath.Glob(inRoot("bin", "*"))
	if err != nil || len(commands) == 0 {
		t.Fatal(err)
	}
	prefix := "p" + odd
	for _, command := range commands {
		if err := os.Link(command, filepath.Join(bin, prefix+filepath.Base(command))); err != nil {
			copyFile(command, filepath.Join(bin, prefix+filepath.Base(command)))
		}
	}
	copyFile(inRoot("scripts", "crawl"), filepath.Join(bin, prefix+"crawl"))
	env := append(slices.Clone(c.env), "PATH="+bin+":"+os.Getenv("PATH"), "PROGRAM_PREFIX="+prefix, "IFS=/ -",
		"TMPDIR="+filepath.Join(dir, name("tmp")), "HOME="+filepath.Join(dir, name("home")), "XDG_CACHE_HOME=", "CDPATH="+dir)
	fetch := run.Quote(filepath.Join(bin, prefix+"fetch")) + " -archive " + run.Quote(name("web")+".warc.gz") +
		` | awk '{ print "" $0 "" }' | cat -- - "/dev/null" # it's "quoted`
	crawl := func(t *testing.T, more []string, variables ...string) {
		t.Helper()
		args := slices.Concat([]string{"bash", filepath.Join(bin, prefix+"crawl"), "-topic", name("topic"), "-seeds=-seeds" + odd,
			"-archive", name("web") + ".warc.gz"}, flags, more)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(slices.Clone(env), variables...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, test := range []struct {
		name      string
		more      []string
		variables []string
	}{
		{"loop", []string{"-steady=false"}, nil},
		{"steady", []string{"-steady"}, nil},
		{"loop, a stage of the user", []string{"-steady=false"}, []string{"FETCH=" + fetch}},
		{"steady, a stage of the user", nil, []string{"FETCH=" + fetch}},
	} {
		t.Run(test.name, func(t *testing.T) {
			made := "-" + test.name + oddLine
			crawl(t, append([]string{"-run=" + made}, test.more...), test.variables...)
			crawl(t, append([]string{"-run=" + made}, test.more...), test.variables...) // resumed: it has nothing to do
			plain := strings.NewReplacer(" ", "-", ",", "").Replace(test.name)
			testfile.Check(t, os.Symlink(filepath.Join(dir, made), filepath.Join(c.dir, plain)))
			if got := c.order(t, plain); !bytes.Equal(got, want) {
				t.Errorf("the crawl fetched\n%s\ninstead of\n%s", got, want)
			}
		})
	}

	t.Run("compare", func(t *testing.T) {
		copyFile(filepath.Join(dir, name("web")+".warc.gz"), filepath.Join(dir, "web.warc.gz"))
		copyFile(filepath.Join(c.dir, "jazz-easy.txt"), filepath.Join(dir, "jazz-easy.txt"))
		copyFile(inRoot("scripts", "compare"), filepath.Join(dir, "scripts", "compare"))
		plan := "web w web.warc.gz labels.ndjson\ntopic jazz w jazz query.txt\nseeds jazz-easy.txt easy\ntrack K niche\npages 20\n"
		testfile.Write(t, filepath.Join(dir, name("plan")), plan)
		cmd := exec.Command("bash", filepath.Join(dir, "scripts", "compare"), "-into", "into"+oddLine, name("plan"))
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "| niche ") {
			t.Errorf("%v\n%s", err, out)
		}
	})

	t.Run("demo", func(t *testing.T) {
		root := filepath.Join(dir, name("root"))
		testfile.Check(t, os.MkdirAll(filepath.Join(root, "scripts"), 0o777))
		testfile.Check(t, os.Symlink(inRoot("bin"), filepath.Join(root, "bin")))
		for _, script := range []string{"demo", "crawl"} {
			copyFile(inRoot("scripts", script), filepath.Join(root, "scripts", script))
		}
		cmd := exec.Command("bash", filepath.Join(name("root"), "scripts", "demo"), "-demo"+oddLine)
		cmd.Dir, cmd.Env = dir, append(slices.Clone(env), "PROGRAM_PREFIX=", "PATH="+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("harvest: ")) {
			t.Errorf("%v\n%s", err, out)
		}
		for _, file := range []string{"report.html", "judge.json", "strategies.plan", "log.ndjson"} {
			if _, err := os.Stat(filepath.Join(dir, "-demo"+oddLine, file)); err != nil {
				t.Error(err)
			}
		}
		if left, err := os.ReadDir(filepath.Join(dir, name("tmp"))); err != nil || len(left) > 0 {
			t.Errorf("temporary files are left: %v, %v", left, err)
		}
	})

	err = filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "x" {
			t.Errorf("a part of a name was executed: it made %q", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
