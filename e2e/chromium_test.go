package e2e

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A browser is a page of a headless Chromium that can only reach loopback addresses. It is
// controlled by the Chrome DevTools Protocol over the pipes of --remote-debugging-pipe: file 3
// for requests, file 4 for responses, each a JSON message followed by a zero byte.
type browser struct {
	t       *testing.T
	in, out *os.File
	answers *bufio.Reader // of out
	session string        // of the page
	last    int           // number of the last call
	console []string      // errors and warnings of the pages
	network []string      // responses and failures, if Network is enabled
	dead    bool          // it no longer responds
}

// callTimeout is the maximum time of a call.
const callTimeout = 2 * time.Minute

// startBrowser starts the program, and ends it with the test.
func startBrowser(t *testing.T, program string) *browser {
	t.Helper()
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Most containers do not allow the sandbox, and the pages are our own.
	cmd := exec.Command(program, "--headless", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(),
		"--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--window-size=1200,900")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	var stderr bytes.Buffer // only printed if it fails: it is long on a machine without a display
	cmd.Stderr = &stderr
	ownGroup(cmd)
	b := &browser{t: t, in: in, out: out, answers: bufio.NewReader(out)}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	t.Cleanup(func() {
		in.Close() // the browser exits
		kill := time.AfterFunc(10*time.Second, func() { killGroup(cmd) })
		cmd.Wait()
		kill.Stop()
		killGroup(cmd)
		out.Close()
		if b.dead {
			t.Logf("stderr of %s:\n%s", program, stderr.String())
		}
	})

	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", map[string]any{}, nil)
	}
	return b
}

// call calls a method of the protocol, and decodes its result unless result is nil.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	if err := b.try(method, params, result); err != nil {
		b.t.Fatal(err)
	}
}

// try is like call, but returns the error of the browser.
func (b *browser) try(method string, params map[string]any, result any) error {
	b.t.Helper()
	b.last++
	message := map[string]any{"id": b.last, "method": method, "params": params}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	line, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(line, 0)); err != nil {
		b.dead = true
		b.t.Fatalf("%s: writing to the browser: %v", method, err)
	}
	if err := b.out.SetReadDeadline(time.Now().Add(callTimeout)); err != nil {
		b.t.Fatal(err)
	}
	for {
		line, err := b.answers.ReadBytes(0)
		if err != nil {
			b.dead = true
			b.t.Fatalf("%s: reading from the browser: %v", method, err)
		}
		var answer struct {
			ID     int
			Method string // of an event
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(line[:len(line)-1], &answer); err != nil {
			b.t.Fatal(err)
		}
		switch {
		case answer.ID != b.last:
			b.record(answer.Method, line)
			continue
		case answer.Error != nil:
			return fmt.Errorf("%s: %s", method, answer.Error.Message)
		case result != nil:
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return nil
	}
}

// record stores an event: exceptions, messages to the console, what the browser blocks, and
// responses of the network.
func (b *browser) record(event string, line []byte) {
	switch event {
	case "Network.responseReceived":
		var got struct {
			Params struct {
				Type     string
				Response struct {
					Status            int
					URL               string
					FromServiceWorker bool
				}
			}
		}
		if err := json.Unmarshal(bytes.TrimRight(line, "\x00"), &got); err != nil {
			b.t.Fatal(err)
		}
		from := "the web"
		if got.Params.Response.FromServiceWorker {
			from = "the service worker"
		}
		b.network = append(b.network, fmt.Sprintf("%d from %s: %s %s", got.Params.Response.Status, from, got.Params.Type, got.Params.Response.URL))
	case "Network.loadingFailed":
		b.network = append(b.network, string(bytes.TrimRight(line, "\x00")))
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		b.console = append(b.console, string(bytes.TrimRight(line, "\x00")))
	}
}

// open navigates to a page.
func (b *browser) open(url string) {
	b.t.Helper()
	var result struct{ ErrorText string }
	b.call("Page.navigate", map[string]any{"url": url}, &result)
	if result.ErrorText != "" {
		b.t.Fatalf("opening %s: %s", url, result.ErrorText)
	}
}

// await calls a JavaScript function in the page until the done field of its result is true or
// the timeout is over, and decodes the last result.
func (b *browser) await(function string, timeout time.Duration, result any) {
	b.t.Helper()
	expression := fmt.Sprintf(`(async (f, end) => {
		for (;;) {
			const result = f();
			if (result.done || performance.now() > end) return result;
			await new Promise(resolve => setTimeout(resolve, 20));
		}
	})(%s, performance.now() + %d)`, function, timeout.Milliseconds())
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := b.try("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
		if err == nil {
			break
		}
		if time.Since(begun) > timeout || !strings.Contains(err.Error(), "navigated") && !strings.Contains(err.Error(), "context") { // a new page has come
			b.t.Fatal(err)
		}
	}
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("in the page: %s", answer.ExceptionDetails)
	}
	if err := json.Unmarshal(answer.Result.Value, result); err != nil {
		b.t.Fatal(err)
	}
}

// screenshot writes a screenshot to a file in dir, and returns the name of the file.
func (b *browser) screenshot(dir, name string) string {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	file := filepath.Join(dir, strings.NewReplacer("/", "_", " ", "_", ":", "").Replace(name)+".png")
	if err := os.WriteFile(file, png, 0o666); err != nil {
		b.t.Fatal(err)
	}
	return file
}
