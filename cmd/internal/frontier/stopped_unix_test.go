//go:build unix

package frontier

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"spoor/internal/testfile"
)

// The time in which the process was stopped (SIGSTOP, docker pause) does not count for -timeout.
func TestServeIsStoppedForLonger(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes five seconds")
	}
	store := filepath.Join(t.TempDir(), "store")
	add(t, store, strings.NewReader("http://a.test/"))
	var stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), "frontier", "serve", "-store", store, "-n", "2", "-timeout", "3s")
	c.Stderr = &stderr
	in, err := c.StdinPipe()
	testfile.Check(t, err)
	out, err := c.StdoutPipe()
	testfile.Check(t, err)
	testfile.Check(t, c.Start())
	l := &loop{t: t, in: in, lines: bufio.NewScanner(out)}
	l.window(0)
	w := l.window(1)
	testfile.Check(t, c.Process.Signal(syscall.SIGSTOP))
	time.Sleep(5 * time.Second)
	testfile.Check(t, c.Process.Signal(syscall.SIGCONT))
	time.Sleep(500 * time.Millisecond) // it would notice by now
	l.send(mark(0), outcome(w[0]), mark(1))
	l.window(2)
	l.send(mark(2))
	in.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("%v\n%s", err, stderr.Bytes())
	}
}
