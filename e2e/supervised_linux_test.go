package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"spoor/internal/testfile"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

var supervised = flag.Duration("supervised", 0, "how long the crawl under a supervisor runs; 0: not at all")

// A town is a web of hosts with pages without end, which notes what it was asked.
type town struct {
	words    [][]string // of each topic
	hosts    []*townHost
	urls     []string // of the hosts
	mu       sync.Mutex
	answered map[string]int // complete pages by URL
}

type townHost struct {
	*town
	number int
	addr   string
	server *http.Server
	begun  []time.Time // of each request
}

func newTown(t *testing.T, hosts int) *town {
	t.Helper()
	w := &town{answered: map[string]int{}}
	for topic := range 6 {
		words := strings.Fields("jazz saxophone trumpet swing bebop improvisation quartet blues ensemble melody")
		if topic > 0 {
			for i := range words {
				words[i] = fmt.Sprintf("word%dof%d", i, topic)
			}
		}
		w.words = append(w.words, words)
	}
	for i := range hosts {
		h := &townHost{town: w, number: i, addr: fmt.Sprintf("127.0.2.%d:0", i+1)}
		w.hosts = append(w.hosts, h)
		h.open(t)
		w.urls = append(w.urls, "http://"+h.addr)
	}
	t.Cleanup(func() {
		for _, h := range w.hosts {
			h.server.Close()
		}
	})
	return w
}

// open begins to answer, at the port of the first time.
func (h *townHost) open(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	h.addr = l.Addr().String()
	h.server = &http.Server{Handler: h}
	go h.server.Serve(l)
}

// number returns a number below n that depends on the parts alone.
func (w *town) number(n int, parts ...any) int {
	sum := fnv.New64a()
	fmt.Fprint(sum, parts...)
	return rand.New(rand.NewPCG(sum.Sum64(), 0)).IntN(n)
}

func (h *townHost) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.begun = append(h.begun, time.Now())
	h.mu.Unlock()
	page, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/p/"))
	switch {
	case err != nil || page%97 == 96: // also robots.txt
		http.NotFound(out, r)
		return
	case page%89 == 88:
		http.Redirect(out, r, fmt.Sprintf("/p/%d", page+1), http.StatusFound)
		return
	case page%101 == 100:
		time.Sleep(3 * time.Second)
	}
	var b bytes.Buffer // half of the links lead to pages of the same topic
	topic := page % len(h.words)
	words := func(topic, n int, seed ...any) {
		for i := range n {
			fmt.Fprintf(&b, "%s ", h.words[topic][h.town.number(len(h.words[topic]), append(seed, i)...)])
		}
	}
	fmt.Fprintf(&b, "<title>%s %d</title><p>", h.words[topic][0], page)
	words(topic, 150, h.number, page)
	words(h.town.number(len(h.words), h.number, page), 150, page, h.number)
	for i := range 12 {
		target := h.town.number(30_000, h.number, page, "link", i)
		if i%2 == 0 {
			target += topic - target%len(h.words) // of the same topic
		}
		fmt.Fprintf(&b, "<a href='%s/p/%d'>%s %d</a>\n", h.urls[h.town.number(len(h.urls), h.number, page, "host", i)], target, h.words[target%len(h.words)][i%10], target)
	}
	out.Header().Set("Content-Type", "text/html")
	if _, err := out.Write(b.Bytes()); err == nil {
		h.mu.Lock()
		h.answered["http://"+r.Host+r.URL.Path]++
		h.mu.Unlock()
	}
}

// A service is a crawl that runsv, the supervisor of runit, starts again when it ends, as
// doc/guide/weeks.md says.
type service struct {
	dir  string // of the service
	disk string // where the run directory is
	run  string
	env  []string
	sv   *exec.Cmd
}

func (s *service) write(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join(s.dir, name)
	testfile.Check(t, os.MkdirAll(filepath.Dir(name), 0o777))
	testfile.Check(t, os.WriteFile(name, []byte(text), 0o777))
}

// tell runs sv.
func (s *service) tell(t *testing.T, command string) {
	t.Helper()
	if out, err := exec.Command("sv", command, s.dir).CombinedOutput(); err != nil {
		t.Errorf("sv %s: %v: %s", command, err, out)
	}
}

// script returns the process of scripts/crawl, and 0 if it does not run.
func (s *service) script() int {
	text, err := os.ReadFile(filepath.Join(s.dir, "supervise", "pid"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// A stageProcess is a process of a crawl.
type stageProcess struct {
	pid  int
	name string
	mib  int // resident
}

// processes returns those of the group of the script.
func (s *service) processes() (list []stageProcess) {
	group := s.script()
	if group == 0 {
		return nil
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// pid (comm) state ppid pgrp session tty tpgid flags and 15 more up to vsize, then rss
		end := bytes.LastIndexByte(text, ')')
		fields := strings.Fields(string(text[end+1:]))
		if fields[2] != strconv.Itoa(group) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		pages, _ := strconv.Atoi(fields[21])
		list = append(list, stageProcess{pid, string(text[bytes.IndexByte(text, '(')+1 : end]), pages * os.Getpagesize() >> 20})
	}
	return list
}

// fill leaves the disk so many bytes.
func (s *service) fill(t *testing.T, left int64) {
	t.Helper()
	f, err := os.Create(filepath.Join(s.disk, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for {
		var stat syscall.Statfs_t
		if err := syscall.Statfs(s.disk, &stat); err != nil {
			t.Fatal(err)
		}
		err := syscall.Fallocate(int(f.Fd()), 0, 0, max(1, int64(stat.Bavail)*stat.Bsize-left))
		if err == nil {
			return
		}
		if err != syscall.ENOSPC { // else the crawl has written something meanwhile
			t.Fatal(err)
		}
	}
}

func (s *service) makeRoom(t *testing.T) {
	t.Helper()
	testfile.Check(t, os.Remove(filepath.Join(s.disk, "filler")))
}

// metrics returns the metrics that report writes of the run, and "" of a crawl that has none yet.
func (s *service) metrics() (map[string]float64, error) {
	cmd := exec.Command("report", "-metrics", "-o", "-", s.run)
	cmd.Env = s.env
	cmd.Path, cmd.Err = lookPath("report", s.env)
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(out))
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for name, family := range families {
		for _, m := range family.Metric {
			values[name] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return values, nil
}

// lookPath finds a program on the PATH of env.
func lookPath(name string, env []string) (string, error) {
	for _, v := range slices.Backward(env) {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			for _, dir := range filepath.SplitList(path) {
				if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
					return filepath.Join(dir, name), nil
				}
			}
		}
	}
	return name, exec.ErrNotFound
}

// TestASupervisedCrawlLosesNothing runs a live crawl of thirty hosts under a supervisor. Meanwhile its
// processes are killed, alone and together, it is told to end, its logs are rotated, its disk is nearly
// full and then quite full, and one host is down for half of the time. No page that was recorded is
// lost, none is recorded twice, and no host is asked too early.
func TestASupervisedCrawlLosesNothing(t *testing.T) {
	if *supervised == 0 {
		t.Skip("-supervised is not set (make supervised sets it)")
	}
	for _, program := range []string{"runsv", "sv", "svlogd", "chpst", "logrotate"} {
		if _, err := exec.LookPath(program); err != nil {
			need(t, program)
		}
	}
	const delay = 2 * time.Second
	minutes := int(*supervised/time.Minute) + 1
	c := &crawl{dir: t.TempDir(), env: append(os.Environ(), environment(t)...)}
	disk := filepath.Join(c.dir, "disk")
	testfile.Check(t, os.Mkdir(disk, 0o777))
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%dm", 300+40*minutes)); err != nil {
		t.Skipf("a disk cannot be made: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, 0) })
	web := newTown(t, 30)
	seeds := strings.Join(web.urls, "/p/0\n") + "/p/0\n"
	testfile.Write(t, filepath.Join(c.dir, "seeds.txt"), seeds)
	c.shell(t, "topic -query 'jazz saxophone trumpet swing bebop' >topic.json")
	script := inRoot("scripts", "crawl")

	s := &service{dir: filepath.Join(c.dir, "service"), disk: disk, run: filepath.Join(disk, "jazz"), env: c.env}
	s.write(t, "run", fmt.Sprintf("#!/bin/sh\nexec 2>&1\ncd '%s'\nexec chpst -P '%s' -run '%s' -topic topic.json -seeds seeds.txt -pages 1000000 -steady -fair host "+
		"-allow-private -delay %v -warc-size 20MB -min-free 100MB\n", c.dir, script, s.run, delay))
	s.write(t, "finish", "#!/bin/sh\necho \"$1\" >>statuses\ncase $1 in 0 | 2 | 3) sv down . ;; esac\n")
	s.write(t, "log/run", "#!/bin/sh\nexec svlogd -tt ./main\n")
	s.write(t, "log/main/config", "s20000\nn5\n")
	s.write(t, "logrotate.conf", fmt.Sprintf("'%s/stages.log' {\n\tcopytruncate\n\trotate 3\n\tmissingok\n}\n", s.run))
	s.sv = exec.Command("runsv", s.dir)
	s.sv.Env = c.env
	if err := s.sv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if pid := s.script(); pid != 0 {
			syscall.Kill(-pid, syscall.SIGKILL)
		}
		s.sv.Process.Signal(syscall.SIGTERM)
		s.sv.Wait()
	})

	rng := rand.New(rand.NewPCG(*seed, 30))
	did := map[string]int{}
	kill := func() {
		processes := s.processes()
		if len(processes) == 0 {
			did["nothing to kill"]++
			return
		}
		switch victim := processes[rng.IntN(len(processes))]; rng.IntN(4) {
		case 0:
			did["kill -9 of all"]++
			syscall.Kill(-s.script(), syscall.SIGKILL)
		case 1:
			did["kill -9 of the script"]++
			syscall.Kill(s.script(), syscall.SIGKILL)
		case 2:
			did["kill -9 of "+victim.name]++
			syscall.Kill(victim.pid, syscall.SIGKILL)
		case 3:
			did["SIGTERM"]++
			s.tell(t, "term")
		}
	}
	type event struct {
		at time.Duration
		do func()
	}
	var events []event
	at := func(share float64, do func()) {
		events = append(events, event{time.Duration(share * float64(*supervised)), do})
	}
	down := web.hosts[7]
	for _, begin := range []float64{0.1, 0.5} { // half of the time
		at(begin, func() { down.server.Close() })
		at(begin+0.25, func() { down.open(t) })
	}
	at(0.25, func() { s.fill(t, 50<<20) }) // -min-free wants 100 MB
	at(0.30, func() { s.makeRoom(t) })
	at(0.60, func() { s.fill(t, 0) })
	at(0.65, func() {
		s.makeRoom(t)
		s.tell(t, "up")
	})
	kills := min(20, 4+minutes/2)
	for i := range kills {
		at((float64(i)+0.2+0.6*rng.Float64())/float64(kills)*0.95, kill)
	}
	for i := range 8 {
		at((float64(i)+0.5)/8, func() {
			did["logrotate"]++
			c.shell(t, "logrotate -f -s service/logrotate.state service/logrotate.conf")
		})
	}
	slices.SortStableFunc(events, func(a, b event) int { return int(a.at - b.at) })

	begun := time.Now()
	last, scrapes, unread := 0.0, 0, 0
	largest := make([]map[string]int, 8) // MiB by process, in each eighth of the time
	pages := make([]int, len(largest))
	for next := time.Now(); time.Since(begun) < *supervised; time.Sleep(100 * time.Millisecond) {
		for len(events) > 0 && time.Since(begun) >= events[0].at {
			events[0].do()
			events = events[1:]
		}
		if time.Now().Before(next) {
			continue
		}
		next = time.Now().Add(max(2*time.Second, *supervised/240))
		part := min(len(largest)-1, int(time.Since(begun)*time.Duration(len(largest)) / *supervised))
		if largest[part] == nil {
			largest[part] = map[string]int{}
		}
		for _, p := range s.processes() {
			largest[part][p.name] = max(largest[part][p.name], p.mib)
		}
		values, err := s.metrics()
		if err != nil {
			unread++ // the crawl has not begun
			continue
		}
		scrapes++
		fetched := values["spoor_fetched_pages_total"]
		if fetched < last {
			t.Errorf("after %v, spoor_fetched_pages_total is %v and was %v", time.Since(begun), fetched, last)
		}
		last, pages[part] = fetched, int(fetched)
	}
	testfile.Write(t, filepath.Join(s.run, ".stop"), "")
	for begun := time.Now(); s.script() != 0; time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > 2*time.Minute {
			t.Fatalf("the crawl does not end; %v", s.processes())
		}
	}

	// What the hosts, the captures, the records and the store say.
	captured := map[string]bool{}
	for _, r := range jsonLines[struct{ URL string }](t, c.shell(t, "warc ls -json -type response,revisit disk/jazz/warc")) {
		captured[r.URL] = true
	}
	recorded := map[string]int{}
	failed, returned := 0, map[string]bool{}
	for _, r := range jsonLines[struct {
		URL    string
		Status int `json:"status_code"`
		Error  string
	}](t, c.shell(t, "score -keep -topic topic.json disk/jazz/generations/*/scored.ndjson.zst")) {
		if r.Status == 0 { // the host was down
			failed++
			returned[r.URL] = r.Error == "budget"
			continue
		}
		recorded[r.URL]++
		if !captured[r.URL] {
			t.Errorf("%s is recorded and not captured", r.URL)
		}
	}
	var twice, lost, again int
	for url, n := range recorded {
		if n > 1 {
			twice++
			t.Errorf("%s is recorded %d times", url, n)
		}
	}
	states := map[string]string{}
	counts := map[string]int{}
	for _, r := range jsonLines[struct{ URL, State string }](t, c.shell(t, "frontier check -store disk/jazz/frontier >&2; frontier export -store disk/jazz/frontier")) {
		states[r.URL] = r.State
		counts[r.State]++
		if r.State == "leased" && !returned[r.URL] { // what the last generation has returned is leased again by the next one
			t.Errorf("%s is leased", r.URL)
		}
	}
	for url, n := range web.answered {
		again += n - 1
		if recorded[url] == 0 && states[url] != "waiting" && !captured[url] {
			lost++
			if lost < 10 {
				t.Errorf("%s was answered, and is %q", url, states[url])
			}
		}
	}
	early := 0
	for _, h := range web.hosts {
		for i := 1; i < len(h.begun); i++ {
			if h.begun[i].Sub(h.begun[i-1]) < delay-20*time.Millisecond {
				early++
			}
		}
	}
	c.shell(t, "warc verify disk/jazz/warc >&2")
	if twice > 0 || early > 0 {
		t.Errorf("%d pages are recorded twice, %d requests were early", twice, early)
	}
	// A killed crawl fetches again what was not committed: at most two windows of -size pages.
	disturbances := 0
	for name, n := range did {
		if name != "logrotate" {
			disturbances += n
		}
	}
	if most := (disturbances + 1) * 2 * 200; again > most {
		t.Errorf("%d pages were fetched again, at most %d are in two windows", again, most)
	}
	if scrapes == 0 || len(recorded) < 30 {
		t.Errorf("%d scrapes, %d pages", scrapes, len(recorded))
	}
	statuses := testfile.Read(t, filepath.Join(s.dir, "statuses"))
	t.Logf("-supervised %v -seed %d: %v; statuses %v", *supervised, *seed, did, strings.Fields(string(statuses)))
	t.Logf("%d pages answered, %d recorded, %d captured, %d of them fetched again after an interruption, %d records without a page, %d lost; store: %v",
		len(web.answered), len(recorded), len(captured), again, failed, lost, counts)
	t.Logf("%d scrapes (%d before the crawl had begun); requests that came early: %d", scrapes, unread, early)
	for i, m := range largest {
		var row []string
		for _, name := range slices.Sorted(maps.Keys(m)) {
			row = append(row, fmt.Sprintf("%s %d", name, m[name]))
		}
		t.Logf("until %v: %d pages; MiB: %s", *supervised*time.Duration(i+1)/time.Duration(len(largest)), pages[i], strings.Join(row, ", "))
	}
	logs, _ := filepath.Glob(filepath.Join(s.dir, "log", "main", "*"))
	t.Logf("files of svlogd: %d; usage of the run: %s", len(logs), bytes.TrimSpace(c.shell(t, "du -sh disk/jazz")))
}
