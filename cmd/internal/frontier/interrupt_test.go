package frontier

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Serve is at work on a window, here held up by whoever should read its summary, when the
// signals come: the second one ends it all the same.
func TestASecondSignalEndsABusyServeAtOnce(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/fd and signals")
	}
	store := filepath.Join(t.TempDir(), "store")
	add(t, store, strings.NewReader("http://a.test/"))
	read, summary, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer summary.Close()
	summary.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := io.Copy(summary, neverEnding{}); err == nil {
		t.Fatal("the pipe is never full")
	}
	serve := exec.Command("frontier", "serve", "-store", store, "-n", "1", "-summary", "/dev/fd/3")
	serve.ExtraFiles = []*os.File{summary}
	in, err := serve.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	serve.Stderr = &stderr
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), `"generation":1`) {
	}
	io.WriteString(in, strings.Join([]string{mark(0), outcome(line{URL: "http://a.test/", Generation: 1}), mark(1), ""}, "\n"))
	time.Sleep(200 * time.Millisecond) // serve comes to its summary
	go func() { ended <- serve.Wait() }()
	for range 2 {
		if err := serve.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	select {
	case err := <-ended:
		if err == nil || err.Error() != "signal: interrupt" {
			t.Errorf("%v\n%s", err, stderr.String())
		}
	case <-time.After(10 * time.Second):
		serve.Process.Kill()
		t.Errorf("it goes on\n%s", stderr.String())
	}
}

// neverEnding is a reader of blanks.
type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
