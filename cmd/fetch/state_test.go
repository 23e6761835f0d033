package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestTheNextRunIsAsPoliteAsIfItWereTheSame(t *testing.T) {
	const delay = 250 * time.Millisecond
	var mu sync.Mutex
	var began, ended []time.Time
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		began, paths = append(began, time.Now()), append(paths, r.URL.Path)
		if r.URL.Path == "/robots.txt" {
			io.WriteString(w, "User-agent: *\nDisallow: /no\n")
		} else {
			io.WriteString(w, "<p>page")
		}
		ended = append(ended, time.Now())
	}))
	defer server.Close()
	dir := t.TempDir()
	for n := range 3 {
		in := fmt.Sprintf("%s/%d\n%[1]s/no\n", server.URL, n)
		recs, log := fetch(t, in, "-allow-private", "-delay", delay.String(),
			"-state", filepath.Join(dir, "state"), "-warc", filepath.Join(dir, fmt.Sprint(n), "w"))
		if r := recs[fmt.Sprintf("%s/%d", server.URL, n)]; r.StatusCode != 200 {
			t.Errorf("run %d: %d %s %s", n, r.StatusCode, r.Error, r.ErrorDetail)
		}
		if r := recs[server.URL+"/no"]; r.Error != "robots" || !strings.Contains(r.ErrorDetail, "line 2") {
			t.Errorf("run %d: %s %s", n, r.Error, r.ErrorDetail)
		}
		if strings.Contains(log, "WARN") {
			t.Errorf("run %d: %s", n, log)
		}
		files, _ := filepath.Glob(filepath.Join(dir, fmt.Sprint(n), "*.warc.gz"))
		if len(files) != 1 {
			t.Fatalf("run %d: %d WARC files", n, len(files))
		}
		if has := strings.Contains(string(unpack(t, files[0])), "/robots.txt"); has != (n == 0) {
			t.Errorf("run %d: robots.txt in the archive: %v", n, has)
		}
	}
	if got := strings.Join(paths, " "); got != "/robots.txt /0 /1 /2" {
		t.Errorf("asked for %s", got)
	}
	for i := 1; i < len(began); i++ {
		if gap := began[i].Sub(ended[i-1]); gap < delay {
			t.Errorf("request %d came after %v, want at least %v", i, gap, delay)
		}
	}
	left, _ := os.ReadDir(filepath.Join(dir, "state"))
	if len(left) != 2 || left[0].Name() != "lock" || left[1].Name() != stateName {
		t.Errorf("the state is %v", left)
	}
}

func TestAStateThatCannotBeReadIsReportedAndBegunAnew(t *testing.T) {
	s := newSite()
	defer s.CloseClientConnections()
	for name, old := range map[string]string{
		"damaged":       "\x00\x00\x00",
		"of the future": `{"spoor-polite":99,"hosts":0,"robots":0}` + "\n",
		"torn":          `{"spoor-polite":1,"hosts":1,"robots":0}` + "\n",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, stateName)
		if err := os.WriteFile(file, []byte(old), 0o666); err != nil {
			t.Fatal(err)
		}
		args := append(loopback, "-state", dir)
		recs, log := fetch(t, s.URL+"/page", args...)
		if recs[s.URL+"/page"].StatusCode != 200 || !strings.Contains(log, "the state cannot be read") {
			t.Errorf("%s: %s", name, log)
		}
		if _, log = fetch(t, s.URL+"/page", args...); strings.Contains(log, "WARN") {
			t.Errorf("%s, and again: %s", name, log)
		}
	}
}

func TestTheDeadlineLeavesAState(t *testing.T) {
	s := newSite()
	defer s.CloseClientConnections()
	dir := t.TempDir()
	fetch(t, s.URL+"/stall", "-allow-private", "-delay", "1ms", "-deadline", "200ms", "-state", dir)
	b, err := os.ReadFile(filepath.Join(dir, stateName))
	if err != nil || !strings.Contains(string(b), `{"host":"`+strings.TrimPrefix(s.URL, "http://")) && !strings.Contains(string(b), `{"robots":"`+s.URL) {
		t.Errorf("%s, %v", b, err)
	}
}

func TestAStateIsForOneRunAtATime(t *testing.T) {
	o := &options{state: filepath.Join(t.TempDir(), "state")}
	release, err := o.holdState()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.holdState(); err == nil || !strings.Contains(err.Error(), "in use by another fetch\nhint: ") {
		t.Errorf("a second run got the state: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if release, err = o.holdState(); err != nil {
		t.Fatalf("the state was not let go: %v", err)
	}
	release()
}
