package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"spoor/internal/testfile"

	"github.com/klauspost/compress/zstd"
)

func init() { testCommands["peak"] = peak }

// TestMemoryIsBoundedByTheLine checks that no line makes a command take more memory than eight
// times its length and 100 MiB.
func TestMemoryIsBoundedByTheLine(t *testing.T) {
	skipShort(t, "passes lines of many megabytes to every command")
	dir := t.TempDir()
	command := commandIn(t, dir)
	topicFile, err := command("topic", "-query", "genetic crawler").Output()
	if err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(dir, "topic.json"), topicFile)
	const response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	archived := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://b.test/\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"+
		"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\nContent-Type: application/http;msgtype=response\r\n"+
		"Content-Length: %d\r\n\r\n%s\r\n\r\n", len(response), response)
	testfile.Write(t, filepath.Join(dir, "web.warc"), archived)
	type shape struct {
		open, element, end string
		size               int
	}
	shapes := map[string]shape{
		"empty links":     {`"links":[`, `{}`, `]`, 27 << 20},
		"real links":      {`"links":[`, `{"url":"http://b.test/"}`, `]`, 44 << 20},
		"empty redirects": {`"redirects":[`, `{}`, `]`, 27 << 20},
		"empty headers":   {`"headers":{`, `"":[]`, `}`, 27 << 20},
		"empty strings":   {`"parents":[`, `""`, `]`, 27 << 20},
		"scores of link":  {`"links":[{"url":"http://b.test/","scores":{`, `"":0`, `}}]`, 27 << 20},
		"members":         {``, `"":0`, ``, 27 << 20},
		"unknown values":  {`"x":[`, `{"a":[[]]}`, `]`, 27 << 20},
		"few links":       {`"links":[`, `{"url":"http://b.test/"}`, `]`, 2 << 20}, // not refused
		"few scores":      {`"scores":{`, `"":0`, `}`, 5 << 20},                    // not refused
	}
	for name, s := range shapes {
		const head = `{"v":1,"url":"http://a.test/","status_code":200,"text":"a genetic crawler",`
		text := head + s.open + strings.Repeat(s.element+",", s.size/(len(s.element)+1)) + s.element + s.end + "}\n"
		line := filepath.Join(dir, "line")
		testfile.Write(t, line, text)
		most := 8*int64(len(text)) + 100<<20
		for _, args := range [][]string{
			{"fetch", "-archive", "web.warc"},
			{"parse"},
			{"score", "-topic", "topic.json"},
			{"evolve", "-strategy", "bestfirst"},
			{"frontier", "add", "-store", "store-" + name},
			{"topic", "-query", "genetic", "-positive", "line"},
			{"search", "-command", "true"},
		} {
			peak := peakOf(t, command(args[0], args[1:]...), line)
			t.Logf("%-16s %-9s %4d MiB of %d", name, args[0], peak>>20, most>>20)
			if peak > most {
				t.Errorf("%s of %d MiB: %s takes %d MiB, more than %d", name, len(text)>>20, args[0], peak>>20, most>>20)
			}
		}
	}
}

// TestMemoryDoesNotGrowWithLongFields passes sixty lines of 5 MiB: what commands remember of a record
// must not be as long as a stranger likes. The limit is less than the lines together, and 100 MiB more
// than for one line, which garbage may take.
func TestMemoryDoesNotGrowWithLongFields(t *testing.T) {
	skipShort(t, "passes files of hundreds of megabytes to many commands")
	dir := t.TempDir()
	command := commandIn(t, dir)
	for name, text := range map[string]string{
		"run/settings": "strategy bestfirst\n", "run/log.ndjson": "", "run/generations/0001/stats.json": `{"outcomes":60}`,
		"web.json": `{"out":{"a.test/1":[]},"labels":{"a.test/1":["x"]}}`, "seeds.txt": "http://a.test/1\n",
	} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	topicFile, err := command("topic", "-query", "genetic crawler").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "topic.json"), topicFile, 0o666), os.WriteFile(filepath.Join(dir, "run", "topic.json"), topicFile, 0o666)); err != nil {
		t.Fatal(err)
	}
	const size = 5 << 20
	long := strings.Repeat("x", size)
	for _, field := range []string{
		`"url":"http://a.test/%d%s"`,
		`"url":"http://a.test/%[1]d","final_url":"http://a.test/%[1]d/%s"`,
		`"url":"http://a.test/%[1]d","redirects":[{"url":"http://a.test/%[1]d/%s"}]`,
		`"url":"http://a.test/%[1]d","links":[{"url":"http://a.test/%[1]d/%s"}]`,
		`"url":"http://a.test/%[1]d","via":"http://a.test/%[1]d/%s"`,
		`"url":"http://a.test/%[1]d","operator":"%[1]d%s"`,
		`"url":"http://a.test/%[1]d","niche":"%[1]d%s"`,
		`"url":"http://a.test/%[1]d","error":"%[1]d%s"`,
		`"url":"http://a.test/%[1]d","title":"%[1]d%s"`,
	} {
		line := filepath.Join(dir, "line")
		scored := filepath.Join(dir, "run", "generations", "0001", "scored.ndjson.zst")
		plain, err := os.Create(line)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := os.Create(scored)
		if err != nil {
			t.Fatal(err)
		}
		z, err := zstd.NewWriter(packed)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			if _, err := fmt.Fprintf(io.MultiWriter(plain, z), `{"v":1,`+field+`,"status_code":200,"text":"a genetic crawler","score":1,"relevant":true}`+"\n", i, long); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(z.Close(), packed.Close(), plain.Close()); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"score", "-topic", "topic.json"},
			{"evolve", "-strategy", "bestfirst"},
			{"evolve", "-strategy", "niche"},
			{"evolve", "-strategy", "forage", "-topic", "topic.json"},
			{"frontier", "add", "-store", "store"},
			{"judge", "-graph", "web.json", "-label", "x", "-seeds", "seeds.txt"},
			{"judge", "overlap", "a=line", "b=line"},
			{"report", "-o", "report.html", "run"},
		} {
			const most = 8*size + 200<<20
			os.RemoveAll(filepath.Join(dir, "store"))
			peak := peakOf(t, command(args[0], args[1:]...), line)
			t.Logf("%-40.40s %-9s %-16s %4d MiB of %d", field, args[0], args[len(args)-1], peak>>20, most>>20)
			if peak > most {
				t.Errorf("%s: %q takes %d MiB, more than %d", field, args, peak>>20, most>>20)
			}
		}
	}
}

// TestMemoryOfTreesIsBounded checks the same for pages, and for parse -select, which makes trees of those
// that are not too large for it. With a tree it may take 92 MiB more, because values can repeat the text.
func TestMemoryOfTreesIsBounded(t *testing.T) {
	skipShort(t, "parses pages of many megabytes")
	dir := t.TempDir()
	command := commandIn(t, dir)
	for _, page := range []struct {
		before, element string
		n               int
		tree            bool
	}{
		{"<table>", "<td>12</td>", 150_000, true},
		{"", `<a href="/x/y/z">word word</a> text `, 70_000, true},
		{"<table>", "<p>", 300_000, true},
		{"<table>", "<a b c d e f></a>", 105_000, true},
		{"<table>", "<!---->", 300_000, true},
		{"<table>", "<p>", 3 << 20, false},
		{"<table>", "<a b c d e f></a>", 600_000, false},
		{"", "<svg><style>" + strings.Repeat("<a b c d e f>", 1000), 100, false},
		{"<table>", "<i>x</i>", 350_000, false},
	} {
		body := page.before + strings.Repeat(page.element, page.n)
		text := fmt.Appendf(nil, `{"v":1,"url":"http://a.test/","status_code":200,"headers":{"content-type":["text/html"]},"body":%q}`+"\n", body)
		line := filepath.Join(dir, "line")
		testfile.Write(t, line, text)
		for _, args := range [][]string{{"-j=1"}, {"-select=x=*"}, {"-select=x=td:nth-last-of-type(3n)"}} {
			most := 8*int64(len(text)) + 100<<20
			if page.tree && strings.Contains(args[0], "select") {
				most += 92 << 20
			}
			peak := peakOf(t, command("parse", args...), line)
			t.Logf("%-20.20s %-35s %4d MiB of %d", page.element, args[0], peak>>20, most>>20)
			if peak > most {
				t.Errorf("%.20s, %d times: parse %s takes %d MiB, more than %d", page.element, page.n, args[0], peak>>20, most>>20)
			}
		}
		in, err := os.Open(line)
		if err != nil {
			t.Fatal(err)
		}
		parse := command("parse", "-select", "x=*")
		parse.Stdin = in
		messages, err := parse.CombinedOutput()
		if in.Close(); err != nil {
			t.Fatal(err)
		}
		if tree := strings.Contains(string(messages), "flat=0"); tree != page.tree {
			t.Errorf("%.20s, %d times: a tree: %v, want %v", page.element, page.n, tree, page.tree)
		}
	}
}

// commandIn returns a function that makes commands of spoor in dir.
func commandIn(t *testing.T, dir string) func(name string, args ...string) *exec.Cmd {
	bin := build(t)
	return func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = dir
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "GOMEMLIMIT=") && !strings.HasPrefix(v, "GOGC=") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		return cmd
	}
}

// peakOf returns the peak of the memory of a command that reads a file, in bytes.
func peakOf(t *testing.T, cmd *exec.Cmd, input string) int64 {
	t.Helper()
	path, err := exec.LookPath("peak")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args = path, append([]string{"peak", input}, cmd.Args...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	peak, err := strconv.ParseInt(string(out), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return peak
}

// peak is a command for tests: it runs the command after its first argument, a file that becomes
// the input, and prints the peak of the memory of that command in bytes. It is a process of its
// own because Linux counts the memory of the parent as that of the child, until the child starts.
func peak() {
	in, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stderr = in, os.Stderr
	cmd.Run() // a refused line is the only one, so the status may be 1
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok || cmd.ProcessState.ExitCode() > 1 {
		panic(cmd.ProcessState)
	}
	fmt.Print(usage.Maxrss << 10)
}
