package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"spoor/internal/polite"
	"spoor/internal/testfile"
	"spoor/internal/weburl"
)

func TestStateContinuesPoliteness(t *testing.T) {
	const pause = 250 * time.Millisecond
	var mu sync.Mutex
	var began, ended []time.Time
	var paths []string
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		began, paths = append(began, time.Now()), append(paths, r.URL.Path)
		if r.URL.Path == "/robots.txt" {
			io.WriteString(w, "User-agent: *\nDisallow: /no\n")
		} else {
			io.WriteString(w, "<p>page")
		}
		ended = append(ended, time.Now())
	})
	dir := t.TempDir()
	for n := range 3 {
		in := fmt.Sprintf("%s/%d\n%[1]s/no\n", server.URL, n)
		recs, o := fetch(t, in, allowPrivate, delay(pause),
			stateIn(filepath.Join(dir, "state")), warcTo(filepath.Join(dir, fmt.Sprint(n), "w")))
		if r := recs[fmt.Sprintf("%s/%d", server.URL, n)]; r.StatusCode != 200 {
			t.Errorf("run %d: %d %s %s", n, r.StatusCode, r.Error, r.ErrorDetail)
		}
		if r := recs[server.URL+"/no"]; r.Error != "robots" || !strings.Contains(r.ErrorDetail, "line 2") {
			t.Errorf("run %d: %s %s", n, r.Error, r.ErrorDetail)
		}
		if o.log != "" {
			t.Errorf("run %d: %s", n, o.log)
		}
		files, _ := filepath.Glob(filepath.Join(dir, fmt.Sprint(n), "*.warc.gz"))
		if len(files) != 1 {
			t.Fatalf("run %d: %d WARC files", n, len(files))
		}
		if has := strings.Contains(unpack(t, files[0]), "/robots.txt"); has != (n == 0) {
			t.Errorf("run %d: robots.txt in the archive: %v", n, has)
		}
	}
	if got := strings.Join(paths, " "); got != "/robots.txt /0 /1 /2" {
		t.Errorf("requested %s", got)
	}
	for i := 1; i < len(began); i++ {
		if gap := began[i].Sub(ended[i-1]); gap < pause {
			t.Errorf("request %d came after %v, want at least %v", i, gap, pause)
		}
	}
	if left := names(t, filepath.Join(dir, "state")); left != "lock polite.ndjson robots.ndjson robots.ndjson.lock" {
		t.Errorf("the state is %s", left)
	}
}

// names returns the names of the files in a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestSharedRobotsTxt(t *testing.T) {
	asked := map[string]int{}
	var mu sync.Mutex
	serve := func() string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked[r.Host+r.URL.Path]++
			io.WriteString(w, "User-agent: *\nDisallow: /no\n")
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	a, b := serve(), serve()
	dir := t.TempDir()
	cache, state := filepath.Join(dir, "new", "cache"), filepath.Join(dir, "state")

	// Two runs overlap, and each requests another host.
	runs := []*fetcher{}
	for range 2 {
		o := options(loopback, robotsIn(cache))
		runs = append(runs, &fetcher{Options: &o, polite: &polite.Transport{}, robots: &polite.Robots{Transport: http.DefaultTransport, Agent: "spoor"}})
		if err := runs[len(runs)-1].loadState(time.Now(), false); err != nil {
			t.Fatal(err)
		}
	}
	for i, server := range []string{a, b} {
		u, err := weburl.Parse(server + "/x")
		if err != nil {
			t.Fatal(err)
		}
		if v, err := runs[i].robots.Decide(t.Context(), u); !v.Allowed || err != nil {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	for _, w := range runs {
		if err := w.saveState(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if left := names(t, cache); left != "robots.ndjson robots.ndjson.lock" {
		t.Errorf("the cache holds %s", left)
	}

	// A third run knows what both fetched, and its state holds hosts only.
	recs, o := fetch(t, a+"/no\n"+b+"/no\n", allowPrivate, delay(time.Millisecond), stateIn(state), robotsIn(cache))
	for _, server := range []string{a, b} {
		if r := recs[server+"/no"]; r.Error != "robots" || !strings.Contains(r.ErrorDetail, "line 2: Disallow: /no") {
			t.Errorf("%s: %s %s\n%s", server, r.Error, r.ErrorDetail, o.log)
		}
	}
	for what, n := range asked {
		if n != 1 {
			t.Errorf("%s was fetched %d times", what, n)
		}
	}
	if left := names(t, state); left != "lock polite.ndjson" {
		t.Errorf("the state holds %s", left)
	}

	// Without a directory nothing is kept.
	fetch(t, a+"/no\n", allowPrivate, delay(time.Millisecond))
	if n := asked[strings.TrimPrefix(a, "http://")+"/robots.txt"]; n != 2 {
		t.Errorf("robots.txt was fetched %d times", n)
	}
}

func TestRobotsDirCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	testfile.Write(t, file, "")
	o := options(robotsIn(filepath.Join(file, "cache")))
	w := &fetcher{Options: &o, polite: &polite.Transport{}, robots: &polite.Robots{}}
	if err := w.loadState(time.Now(), false); err == nil || !strings.Contains(err.Error(), "robots.ndjson") {
		t.Errorf("got %v", err)
	}
}

func TestUnreadableStateIsReplaced(t *testing.T) {
	s := newFaultySite(t)
	for name, old := range map[string]string{
		"damaged":            "\x00\x00\x00",
		"of the future":      `{"format":"spoor-hosts","version":99,"lines":0}` + "\n",
		"of another project": `{"a":1}` + "\n",
		"torn":               `{"format":"spoor-hosts","version":1,"lines":1}` + "\n",
	} {
		dir := t.TempDir()
		for _, file := range []string{hostsFile, robotsFile} {
			testfile.Write(t, filepath.Join(dir, file), old)
		}
		recs, o := fetch(t, s.URL+"/page", loopback, stateIn(dir))
		if recs[s.URL+"/page"].StatusCode != 200 || strings.Count(o.log, "the state cannot be read") != 2 {
			t.Errorf("%s: %s", name, o.log)
		}
		if _, o = fetch(t, s.URL+"/page", loopback, stateIn(dir)); o.log != "" {
			t.Errorf("%s, and again: %s", name, o.log)
		}
	}
}

func TestANamedPipeInPlaceOfTheStateIsReplaced(t *testing.T) {
	if _, err := exec.LookPath("mkfifo"); err != nil {
		t.Skip("there are no named pipes")
	}
	s := newFaultySite(t)
	dir := t.TempDir()
	if err := exec.Command("mkfifo", filepath.Join(dir, hostsFile), filepath.Join(dir, robotsFile)).Run(); err != nil {
		t.Skip(err)
	}
	if recs, o := fetch(t, s.URL+"/page", loopback, stateIn(dir)); recs[s.URL+"/page"].StatusCode != 200 || strings.Count(o.log, "it is a named pipe") != 2 {
		t.Error(o.log)
	}
	if _, o := fetch(t, s.URL+"/page", loopback, stateIn(dir)); o.log != "" {
		t.Error(o.log)
	}
}

func TestStateIsSavedAfterDeadline(t *testing.T) {
	s := newFaultySite(t)
	dir := t.TempDir()
	fetch(t, s.URL+"/stall", allowPrivate, delay(time.Millisecond), func(o *Options) { o.Deadline = 200 * time.Millisecond }, stateIn(dir))
	b, err := os.ReadFile(filepath.Join(dir, robotsFile))
	if err != nil || !strings.Contains(string(b), `{"robots":"`+s.URL) {
		t.Errorf("%s, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, hostsFile)); err != nil || !strings.Contains(string(b), `"spoor-hosts"`) {
		t.Errorf("%s, %v", b, err)
	}
}

func TestStateLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	first, err := lockState(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockState(t.Context(), dir, 0); err == nil || !strings.Contains(err.Error(), "in use by another fetch\nhint: ") {
		t.Errorf("a second run locked the state: %v", err)
	}
	interruption := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(interruption) })
	if _, err := lockState(ctx, dir, time.Minute); !errors.Is(err, interruption) {
		t.Errorf("the wait was not interrupted: %v", err)
	}
	// The wait ends when the first run unlocks it.
	time.AfterFunc(50*time.Millisecond, func() {
		if err := first.unlock(); err != nil {
			t.Error(err)
		}
	})
	second, err := lockState(t.Context(), dir, time.Minute)
	if err != nil {
		t.Fatalf("the state was not unlocked: %v", err)
	}
	second.unlock()
}

// After a run that was killed, when it may have just requested any host, every host gets its pause.
func TestHostsRestAfterARunWasKilled(t *testing.T) {
	var asked []time.Time
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked = append(asked, time.Now()) }))
	t.Cleanup(s.Close)
	const pause = 300 * time.Millisecond
	dir := t.TempDir()
	for _, killed := range []bool{false, true, false} {
		if killed {
			l, err := lockState(t.Context(), dir, 0)
			if err != nil || l.killed {
				t.Fatalf("the first run was killed: %v, %v", l.killed, err)
			}
			if err := errors.Join(l.begin(), l.unlock()); err != nil { // unlock: the process is dead
				t.Fatal(err)
			}
		} else if len(asked) > 0 {
			time.Sleep(pause) // the pause after the last run
		}
		asked = nil
		begun := time.Now()
		fetch(t, s.URL+"/", allowPrivate, delay(pause), stateIn(dir))
		if len(asked) == 0 {
			t.Fatal("nothing was requested")
		}
		if rested := asked[0].Sub(begun); rested >= pause != killed {
			t.Errorf("killed: %v; the first request came after %v", killed, rested)
		}
	}
}

func TestLocksOfTheStateAreNotMadeThroughLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	robots := filepath.Join(dir, "robots")
	for _, name := range []string{filepath.Join(dir, "lock"), robots + ".lock"} {
		if err := os.Symlink(elsewhere, name); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	if _, err := lockState(t.Context(), dir, 0); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("lock: %v", err)
	}
	if _, err := lockRobots(robots); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("lock of robots.txt: %v", err)
	}
	if _, err := os.Lstat(elsewhere); err == nil {
		t.Error("the file elsewhere was created")
	}
}
