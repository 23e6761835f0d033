//go:build unix

package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	pages        = flag.Int("pages", 30, "how many pages are rendered while browsers are killed")
	browserKills = flag.Int("browser-kills", 2, "how often all browsers are killed meanwhile")
)

// Many pages are rendered in order while browsers are killed. Each kill costs the pages that the browsers
// had at work, and nothing else.
func TestManyPages(t *testing.T) {
	program, err := exec.LookPath(os.Getenv("SPOOR_CHROMIUM"))
	if err != nil {
		t.Skip("SPOOR_CHROMIUM is not set (make test-browser sets it)")
	}
	bin := buildOthers(t)
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "../../render")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := newSite("")
	defer s.close()
	tmp, err := os.MkdirTemp("", "spoor") // the name must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	run := func(in []byte, name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Stdin, cmd.Env, cmd.Stderr = bytes.NewReader(in), append(os.Environ(), "TMPDIR="+tmp), io.Discard
		return cmd
	}
	var seeds []byte
	for i := range *pages {
		seeds = fmt.Appendf(seeds, "%s/app/%d\n", s.URL, i+1)
	}
	fetched, err := run(seeds, "fetch", "-allow-private", "-delay", "0s", "-j", "1").Output()
	if err != nil {
		t.Fatal(err)
	}

	const jobs = 2
	cmd := run(fetched, "render", "-j", strconv.Itoa(jobs), "-allow-private", "-no-sandbox", "-browser", program)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kills, failed, done := 0, map[string]int{}, 0
	for lines := bufio.NewReader(out); ; done++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		var rec struct {
			URL         string
			Body        string
			ErrorDetail string `json:"error_detail"`
		}
		if e := json.Unmarshal(line, &rec); err != nil || e != nil {
			t.Fatalf("%v, %v: %.200s", err, e, line)
		}
		if want := fmt.Sprintf("%s/app/%d", s.URL, done+1); rec.URL != want {
			t.Fatalf("%s came, not %s", rec.URL, want)
		}
		if rec.ErrorDetail != "" {
			failed[rec.ErrorDetail]++
		} else if !strings.Contains(rec.Body, fmt.Sprintf("<h1>Page %d</h1>", done+1)) {
			t.Errorf("%s is not rendered: %.300s", rec.URL, rec.Body)
		}
		if kills < *browserKills && done+1 == (kills+1)**pages/(*browserKills+1) {
			for _, pid := range browsersIn(tmp) {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill() // it may have ended
				}
			}
			kills++
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	took := time.Since(begun)
	if len(failed) > 0 && (len(failed) != 1 || failed["render: the browser crashed"] == 0 || failed["render: the browser crashed"] > kills*jobs) || done != *pages || kills != *browserKills {
		t.Errorf("%d pages and %d kills: not rendered %v", done, kills, failed)
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	t.Logf("%d pages by %d browsers in %v, killed %d times: not rendered %v; the largest process used %d MiB", done, jobs, took.Round(time.Second), kills, failed, usage.Maxrss>>10)
	if left := browsersIn(tmp); len(left) > 0 {
		t.Errorf("browsers are left: %v", left)
	}
}
