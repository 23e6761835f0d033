package spoor_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func init() { testCommands["peak"] = peak }

// TestMemoryIsBoundedByTheLine checks that no line makes a command take more memory than eight
// times its length and 100 MiB.
func TestMemoryIsBoundedByTheLine(t *testing.T) {
	if testing.Short() {
		t.Skip("passes lines of many megabytes to every command")
	}
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
		cmd.Dir = dir
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "GOMEMLIMIT=") && !strings.HasPrefix(v, "GOGC=") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		return cmd
	}
	topicFile, err := command("topic", "-query", "genetic crawler").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "topic.json"), topicFile, 0o666); err != nil {
		t.Fatal(err)
	}
	const response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	archived := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://b.test/\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"+
		"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\nContent-Type: application/http;msgtype=response\r\n"+
		"Content-Length: %d\r\n\r\n%s\r\n\r\n", len(response), response)
	if err := os.WriteFile(filepath.Join(dir, "web.warc"), []byte(archived), 0o666); err != nil {
		t.Fatal(err)
	}
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
		if err := os.WriteFile(line, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
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
			cmd := command("fetch")
			cmd.Path, err = exec.LookPath("peak")
			if err != nil {
				t.Fatal(err)
			}
			cmd.Args = append([]string{"peak", line, filepath.Join(bin, args[0])}, args[1:]...)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %v", args, err)
			}
			peak, err := strconv.ParseInt(string(out), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%-16s %-9s %4d MiB of %d", name, args[0], peak>>20, most>>20)
			if peak > most {
				t.Errorf("%s of %d MiB: %s takes %d MiB, more than %d", name, len(text)>>20, args[0], peak>>20, most>>20)
			}
		}
	}
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
