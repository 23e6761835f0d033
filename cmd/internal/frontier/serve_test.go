package frontier

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"spoor/cmd/internal/filter"
)

// A loop is frontier serve between two pipes, whose other ends are the test's.
type loop struct {
	t      *testing.T
	in     io.WriteCloser // what serve reads
	out    io.ReadCloser  // what serve writes
	lines  *bufio.Scanner
	stderr bytes.Buffer
	ended  chan int
}

// serveLoop starts frontier serve with a store of seeds.
func serveLoop(t *testing.T, store string, seeds []string, flags ...string) *loop {
	t.Helper()
	if len(seeds) > 0 {
		add(t, store, strings.NewReader(strings.Join(seeds, "\n")))
	}
	read, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	l := &loop{t: t, in: in, out: out, lines: bufio.NewScanner(out), ended: make(chan int, 1)}
	l.lines.Buffer(nil, 1<<21)
	go func() {
		err := invoke(append([]string{"serve", "-store", store}, flags...), read, write, &l.stderr)
		write.Close()
		read.Close()
		l.ended <- filter.Status("frontier serve", &l.stderr, err)
	}()
	t.Cleanup(func() {
		in.Close()
		out.Close()
	})
	return l
}

func add(t *testing.T, store string, records io.Reader) {
	t.Helper()
	var stderr bytes.Buffer
	if err := invoke([]string{"add", "-store", store}, records, io.Discard, &stderr); err != nil {
		t.Fatalf("add: %v\n%s", err, stderr.Bytes())
	}
}

type line struct {
	URL, Operator, Query string
	Generation, Cost     int
}

// window reads up to a mark, and fails unless it is that of the window.
func (l *loop) window(n int) (addresses []line) {
	l.t.Helper()
	for l.lines.Scan() {
		var a line
		if err := json.Unmarshal(l.lines.Bytes(), &a); err != nil {
			l.t.Fatal(err)
		}
		if a.URL == "" && a.Operator == "mark" {
			if a.Generation != n {
				l.t.Fatalf("mark of window %d instead of %d", a.Generation, n)
			}
			return addresses
		}
		addresses = append(addresses, a)
	}
	l.t.Fatalf("no mark of window %d: %v", n, l.lines.Err())
	return nil
}

func (l *loop) send(lines ...string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, strings.Join(lines, "\n")+"\n"); err != nil {
		l.t.Fatal(err)
	}
}

func mark(n int) string {
	return fmt.Sprintf(`{"v":1,"operator":"mark","query":"mark","generation":%d}`, n)
}

func outcome(a line) string {
	return fmt.Sprintf(`{"v":1,"url":%q,"generation":%d,"status_code":200,"relevant":true}`, a.URL, a.Generation)
}

// end waits until serve has ended with a status.
func (l *loop) end(status int) {
	l.t.Helper()
	l.in.Close()
	go io.Copy(io.Discard, l.out)
	select {
	case got := <-l.ended:
		if got != status {
			l.t.Fatalf("status %d instead of %d\n%s", got, status, l.stderr.Bytes())
		}
	case <-time.After(30 * time.Second):
		l.t.Fatal("serve does not end")
	}
}

func TestServeGoesFromWindowToWindow(t *testing.T) {
	dir := t.TempDir()
	store, windows, sums := filepath.Join(dir, "store"), filepath.Join(dir, "w"), filepath.Join(dir, "sums")
	l := serveLoop(t, store, []string{"http://a.test/", "http://b.test/", "http://c.test/"},
		"-n", "2", "-windows", windows, "-summary", sums, "-pages", "4")
	l.window(0) // the greeting
	w := l.window(1)
	if len(w) != 2 || w[0].URL != "http://a.test/" || w[1].URL != "http://b.test/" {
		t.Fatalf("window 1 is %v", w)
	}
	l.send(mark(0), outcome(w[0]), outcome(w[1]), `{"v":1,"url":"http://d.test/","generation":2,"priority":2e9}`,
		`{"v":1,"query":"words","generation":2,"cost":1}`, `{"v":1,"url":"http://e.test/","operator":"search","query":"words","generation":2}`,
		mark(1))
	w = l.window(2)
	if len(w) != 2 || w[0].Query != "words" || w[1].URL != "http://d.test/" { // 4 pages less 2, less what the query costs
		t.Fatalf("window 2 is %v", w)
	}
	l.send(`{"v":1,"query":"words","generation":2,"cost":1}`, outcome(w[1]), mark(2))
	if l.lines.Scan() {
		t.Errorf("%s after the last page", l.lines.Bytes())
	}
	l.end(0)
	for name, want := range map[string]string{
		filepath.Join(windows, "0001", "stats.json"): `"generation":1,"outcomes":2,"cost":2,"queries":0,"failed":0,"relevant":2,"errors":{},"operators":{"":{"cost":2,"relevant":2}},"addresses":2,"urls":5,`,
		filepath.Join(windows, "0002", "stats.json"): `"generation":2,"outcomes":1,"cost":2,"queries":1,`,
		filepath.Join(windows, "0001", "found.ndjson"): `"query":"words","generation":2,"cost":1}` + "\n" +
			`{"v":1,"url":"http://e.test/","operator":"search","query":"words","generation":2}`,
		sums: `{"end":"pages"}`,
	} {
		if b, err := os.ReadFile(name); err != nil || !bytes.Contains(b, []byte(want)) {
			t.Errorf("%s: %v, %s\nwithout %s", name, err, b, want)
		}
	}
}

// The pipeline that serve feeds may first write all it has, and more than two pipes
// hold, before it reads on; and so may serve.
func TestFullPipesDoNotWaitForEachOther(t *testing.T) {
	const n = 2000
	long := strings.Repeat("x", 2000)
	var seeds []string
	for i := range n {
		seeds = append(seeds, fmt.Sprintf("http://a%d.test/%s", i, long)) // a window of 4 MB
	}
	l := serveLoop(t, filepath.Join(t.TempDir(), "store"), seeds, "-n", fmt.Sprint(n))
	// Nobody reads what goes out yet, and a page with 100,000 links comes in, of which
	// two are longer than any pipe.
	var all strings.Builder
	all.WriteString(mark(0) + "\n")
	for i := range 100_000 {
		fmt.Fprintf(&all, `{"v":1,"url":"http://b.test/%d","generation":2,"via":"http://a0.test/"}`+"\n", i)
	}
	longest := strings.Repeat("y", 400_000)
	fmt.Fprintf(&all, `{"v":1,"url":"http://b.test/%s1","generation":2}`+"\n", longest)
	fmt.Fprintf(&all, `{"v":1,"url":"http://b.test/%s2","generation":2}`, longest)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		io.WriteString(l.in, all.String()+"\n")
	}()
	select {
	case <-sent:
	case <-time.After(time.Minute):
		t.Fatal("serve does not read while nobody reads what it writes")
	}
	l.window(0)
	w := l.window(1)
	if len(w) != n {
		t.Fatalf("%d addresses instead of %d", len(w), n)
	}
	for _, a := range w {
		l.send(outcome(a))
	}
	l.send(mark(1))
	if w = l.window(2); len(w) != n || w[0].URL != "http://b.test/0" {
		t.Errorf("%d addresses, the first of them %.40s", len(w), w[0].URL)
	}
	l.end(1) // a stage has ended
	if !strings.Contains(l.stderr.String(), "the pipeline ended in window 2") {
		t.Error(l.stderr.String())
	}
}

// A crawl that does not end replaces what it knows again and again: the log does not grow
// with that, and what goes out, and what is known in the end, is what it would be.
func TestServeMakesTheLogShorter(t *testing.T) {
	const windows = 40
	crawl := func(flags ...string) (out, known string, length int64) {
		store := filepath.Join(t.TempDir(), "store")
		l := serveLoop(t, store, []string{"http://a.test/0"}, append(flags, "-n", "2")...)
		l.window(0)
		l.send(mark(0))
		for n := 1; n <= windows; n++ {
			w := l.window(n)
			out += fmt.Sprintln(w)
			for _, a := range w {
				l.send(outcome(a))
			}
			for i := range 300 { // more of them than are fetched, and every window ranks them anew
				l.send(fmt.Sprintf(`{"v":1,"url":"http://a.test/%d","generation":%d,"priority":0.%03d}`, 1+i, n+1, (i*7+n*13)%1000))
			}
			l.send(mark(n))
		}
		l.window(windows + 1)
		l.end(1)
		logs, err := filepath.Glob(filepath.Join(store, "*.log"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range logs {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			length += info.Size()
		}
		var export, stderr bytes.Buffer
		if err := invoke([]string{"export", "-store", store}, nil, &export, &stderr); err != nil {
			t.Fatalf("%v\n%s", err, stderr.Bytes())
		}
		return out, export.String(), length
	}
	out, known, long := crawl()
	out2, known2, short := crawl("-compact", "1KiB")
	if out2 != out || known2 != known {
		t.Errorf("it went\n%s\nand without compaction\n%s", out2, out)
	}
	t.Logf("the log has %d bytes, %d without compaction", short, long)
	if short > long/3 {
		t.Errorf("the log has %d bytes, %d without compaction", short, long)
	}
}

// What is started again begins with the window that has not come back.
func TestServeBeginsTheWindowAnew(t *testing.T) {
	for _, files := range []bool{false, true} {
		dir := t.TempDir()
		store, flags := filepath.Join(dir, "store"), []string{"-n", "2"}
		if files {
			flags = append(flags, "-windows", filepath.Join(dir, "windows"))
		}
		var seeds []string
		for i := range 6 {
			seeds = append(seeds, fmt.Sprintf("http://h%d.test/", i))
		}
		l := serveLoop(t, store, seeds, flags...)
		l.window(0)
		w := l.window(1)
		l.send(mark(0), outcome(w[0]), outcome(w[1]), mark(1))
		second := l.window(2)
		l.send(outcome(second[0]))
		l.end(1)

		l = serveLoop(t, store, nil, flags...)
		l.window(1)
		if again := l.window(2); fmt.Sprint(again) != fmt.Sprint(second) {
			t.Errorf("window 2 is %v, and was %v", again, second)
		}
		l.send(mark(1), mark(7), outcome(second[0]), outcome(second[1]), mark(2))
		if third := l.window(3); len(third) != 2 || third[0].URL != "http://h4.test/" {
			t.Errorf("window 3 is %v", third)
		}
		l.end(1)
	}
}

// What is started again after a window is done goes on with the next one, at whose head
// stands what the last one's queries cost; as often as that does not come back.
func TestServeGoesOnBehindTheWindowThatIsDone(t *testing.T) {
	for _, files := range []bool{false, true} {
		dir := t.TempDir()
		store, flags := filepath.Join(dir, "store"), []string{"-n", "2"}
		if files {
			flags = append(flags, "-windows", filepath.Join(dir, "windows"))
		}
		l := serveLoop(t, store, []string{"http://a.test/", "http://b.test/", "http://c.test/"}, append(flags, "-pages", "2")...)
		l.window(0)
		w := l.window(1)
		l.send(mark(0), outcome(w[0]), outcome(w[1]), `{"v":1,"query":"words","generation":2,"cost":1}`, mark(1))
		l.end(0)

		for range 2 { // the second time it was out
			l = serveLoop(t, store, nil, flags...)
			l.window(1)
			if w = l.window(2); len(w) != 2 || w[0].Query != "words" || w[0].Cost != 1 || w[1].URL != "http://c.test/" {
				t.Errorf("window 2 is %v, not a query and what waits", w)
			}
			l.send(mark(1), outcome(line{URL: "http://c.test/"})) // without its mark nobody knows what came of it
			l.end(1)
		}

		l = serveLoop(t, store, nil, flags...)
		l.window(1)
		l.window(2)
		due := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		l.send(mark(1), outcome(line{URL: "http://c.test/"}), fmt.Sprintf(`{"v":1,"url":"http://d.test/","error":"budget","not_before":%q}`, due),
			`{"v":1,"url":"http://d.test/"}`, mark(2))
		l.end(0)
		if !strings.Contains(l.stderr.String(), "end=not_due") {
			t.Error(l.stderr.String())
		}
		l = serveLoop(t, store, []string{"http://e.test/"}, flags...)
		l.window(2)
		if w = l.window(3); len(w) != 1 || w[0].URL != "http://e.test/" {
			t.Errorf("window 3 is %v", w)
		}
		l.end(1)
	}
}

func TestServeSaysWhatHoldsUpTheLoop(t *testing.T) {
	begin := func(flags ...string) (*loop, []line) {
		l := serveLoop(t, filepath.Join(t.TempDir(), "store"), []string{"http://a.test/", "http://b.test/"}, append(flags, "-n", "2")...)
		l.window(0)
		return l, l.window(1)
	}
	said := func(l *loop, words string) {
		t.Helper()
		if !strings.Contains(l.stderr.String(), words) {
			t.Errorf("without %q: %s", words, l.stderr.String())
		}
	}
	l, w := begin() // a stage that keeps marks
	l.send(outcome(w[0]))
	if s := <-l.ended; s != 1 {
		t.Errorf("status %d", s)
	}
	said(l, "a stage drops marks")

	l, _ = begin("-timeout", "300ms") // one that keeps everything
	if s := <-l.ended; s != 1 {
		t.Errorf("status %d", s)
	}
	said(l, "nothing has come back for")
	said(l, "jq --unbuffered")
	said(l, "evolve needs -window")

	l, _ = begin() // one that loses everything but marks
	l.send(mark(0), mark(1))
	if s := <-l.ended; s != 1 {
		t.Errorf("status %d", s)
	}
	said(l, "2 addresses were written, and their mark came back without a record")

	l, w = begin() // nothing is left
	l.send(mark(0), outcome(w[0]), "no record", outcome(w[1]), mark(1))
	if w = l.window(2); len(w) != 0 { // it asks once more
		t.Errorf("window 2 is %v", w)
	}
	l.send(mark(2))
	if l.lines.Scan() {
		t.Errorf("handed out %s", l.lines.Bytes())
	}
	l.end(0)
	said(l, "end=frontier_empty")
}

// What fetch hands back because it does not wait so long is not looked ahead for again.
func TestServeDoesNotLookAheadInVain(t *testing.T) {
	due := time.Now().Add(3 * time.Second).UTC().Format(time.RFC3339)
	back := fmt.Sprintf(`{"v":1,"url":"http://a.test/","error":"budget","not_before":%q}`, due)
	store := filepath.Join(t.TempDir(), "store")
	add(t, store, strings.NewReader("http://a.test/\n"+back+"\n"))
	l := serveLoop(t, store, nil, "-n", "2", "-horizon", "1h")
	l.window(0)
	l.lines.Scan()
	if !strings.Contains(l.lines.Text(), due) {
		t.Errorf("%s before %s", l.lines.Text(), due)
	}
	l.send(mark(0), back, mark(1))
	for l.lines.Scan() && strings.Contains(l.lines.Text(), `"mark"`) {
	}
	if now := time.Now().UTC().Format(time.RFC3339); now < due || strings.Contains(l.lines.Text(), due) {
		t.Errorf("at %s, before %s: %s", now, due, l.lines.Text())
	}
	l.end(1)
}

// A Ctrl-C that scripts/crawl passes on as SIGTERM is one signal: the window is taken in.
func TestAnInterruptedWindowIsTakenIn(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	windows := t.TempDir()
	l := serveLoop(t, filepath.Join(t.TempDir(), "store"), []string{"http://a.test/"}, "-n", "2", "-windows", windows)
	l.window(0)
	w := l.window(1)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if err := self.Signal(sig); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	l.send(mark(0), outcome(w[0]), mark(1))
	if l.lines.Scan() {
		t.Errorf("handed out %s", l.lines.Bytes())
	}
	l.end(filter.StatusInterrupted)
	if _, err := os.Stat(filepath.Join(windows, "0001", "stats.json")); err != nil {
		t.Error(err)
	}
}

// One goroutine of serve counts lines that are no records, and another those that are:
// the race detector watches it.
func TestServeCountsAllThatComesIn(t *testing.T) {
	l := serveLoop(t, filepath.Join(t.TempDir(), "store"), []string{"http://a.test/"}, "-n", "1", "-pages", "1")
	l.window(0)
	a := l.window(1)
	l.send(mark(0), strings.Repeat("{}\n"+`{"v":1,"query":"deer"}`+"\n", 500)+outcome(a[0]), mark(1))
	l.end(0)
	for _, want := range []string{"in=501", "skipped_malformed=500", "skipped_query=500"} {
		if !strings.Contains(l.stderr.String(), want) {
			t.Errorf("stderr has no %s", want)
		}
	}
}

// With -exchange the returning marks decide what is leased and when the crawl ends.
func TestServeAPartition(t *testing.T) {
	given := func(n int, fields string) string {
		return fmt.Sprintf(`{"v":1,"operator":"mark","query":"mark","generation":%d,%s}`, n, fields)
	}
	store := filepath.Join(t.TempDir(), "store")
	l := serveLoop(t, store, []string{"http://a.test/", "http://b.test/", "http://c.test/"}, "-exchange")
	if w := l.window(0); len(w) > 0 {
		t.Fatalf("%v before the first mark came back", w)
	}
	if !strings.Contains(l.lines.Text(), `"best":[1000000000,999999999,999999998]`) {
		t.Errorf("the mark is %s", l.lines.Text())
	}
	l.send(`{"v":1,"url":"http://d.test/","generation":1,"priority":2e9}`, given(0, `"n":2`))
	w := l.window(1)
	if len(w) != 2 || w[0].URL != "http://d.test/" || !strings.Contains(l.lines.Text(), `"best":[999999999,999999998]`) {
		t.Fatalf("window 1 is %v, %s", w, l.lines.Text())
	}
	l.send(outcome(w[0]), outcome(w[1]), given(1, `"n":0`))
	if w = l.window(2); len(w) > 0 {
		t.Fatalf("window 2 is %v", w)
	}
	l.send(given(2, `"n":9`))
	if w = l.window(3); len(w) != 2 {
		t.Fatalf("window 3 is %v", w)
	}
	l.send(outcome(w[0]), outcome(w[1]), given(3, `"n":4`))
	if w = l.window(4); len(w) > 0 { // nothing waits: an empty window, and no end
		t.Fatalf("window 4 is %v", w)
	}
	l.send(given(4, `"n":0,"end":"pages"`))
	if l.lines.Scan() {
		t.Errorf("%s after the end", l.lines.Bytes())
	}
	l.end(0)

	l = serveLoop(t, store, nil, "-exchange") // continues after window 4
	if l.window(4); !strings.Contains(l.lines.Text(), `"generation":4`) {
		t.Errorf("the mark is %s", l.lines.Text())
	}
	l.send(mark(4))
	l.end(1)
	if !strings.Contains(l.stderr.String(), "exchange must be the last stage") {
		t.Errorf("%s", l.stderr.String())
	}
}
