package frontier

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"spoor/internal/frontier"
)

var (
	kills = flag.Int("kills", 40, "how often TestKilledAtAnyMoment kills the command")
	seed  = flag.Uint64("seed", 1, "of its plan; the moments depend on the machine too")
)

// TestKilledAtAnyMoment kills the command as no signal handler can see, anywhere
// between its start and its end, and looks after every kill whether the store still
// has what was acknowledged, once, and nothing else; whether what was handed out and
// has no outcome comes back; and whether frontier check finds nothing wrong. The
// model of the store is a map.
func TestKilledAtAnyMoment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process that was killed looks like one that failed")
	}
	n := *kills
	if testing.Short() {
		n = min(n, 20)
	}
	t.Logf("-kills %d -seed %d", n, *seed)
	seen := &sightings{rows: map[string]map[string]int{}}
	t.Run("lives", func(t *testing.T) {
		const plans = 4
		for i := range plans {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(*seed, uint64(i)))
				took := map[string]time.Duration{}
				for want := (n + i) / plans; want > 0; {
					l := &life{t: t, rng: rng, seen: seen, took: took, store: filepath.Join(t.TempDir(), "store"), copied: filepath.Join(scratch(t), "copy")}
					l.live(min(want, 1+rng.IntN(12)))
					want -= l.kills
					os.RemoveAll(l.store)
					os.RemoveAll(l.copied)
				}
			})
		}
	})
	t.Log("\n" + seen.String())
}

// A life is one store and what must be true of it.
type life struct {
	t             *testing.T
	rng           *rand.Rand
	store, copied string
	seen          *sightings
	kills         int
	dead          string                   // the operation that was killed just now, or nothing
	took          map[string]time.Duration // what an operation takes that is left alone

	visited map[string]bool // of every URL that must be there
	maybe   map[string]bool // likewise, of those that may
	gone    map[string]bool // what may have been forgotten
	leased  map[string]time.Time
	out     []string       // handed out, without an outcome
	batches map[int]string // by generation
	last    int            // of them
	heard   string         // the beginning of the one behind it
	next    int            // number of the next URL that is new
	now     time.Time

	compacted bool // all batches but the last two may be gone
}

// live lets it be killed at least so often.
func (l *life) live(kills int) {
	l.visited, l.maybe, l.gone = map[string]bool{}, map[string]bool{}, map[string]bool{}
	l.leased, l.batches = map[string]time.Time{}, map[int]string{}
	l.now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for l.kills < kills {
		l.step()
	}
}

// scratch is a directory in memory, where there is one.
func scratch(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "spoor-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// step does one thing to the store, during which the command may be killed, and
// looks at what is left.
func (l *life) step() {
	l.now = l.now.Add(time.Second)
	if l.rng.IntN(10) == 0 {
		l.now = l.now.Add(time.Hour) // all leases have ended
	}
	if len(l.visited) == 0 {
		l.add("add, new store", l.links(1+l.rng.IntN(100)))
		return
	}
	switch l.rng.IntN(13) {
	case 0, 1:
		l.add("add", l.links(1+l.rng.IntN(400)))
	case 2:
		l.add("add, heavy", l.heavy(1+l.rng.IntN(2)))
	case 3:
		l.add("add, snapshot", l.links(2300+l.rng.IntN(500)))
	case 4:
		l.add("add outcomes", l.outcomes())
	case 5:
		l.handOut()
	case 6:
		l.lend()
	case 7:
		l.run("check", nil, "check")
		l.look("check")
	case 8:
		l.forget()
	case 9:
		g := l.links(1 + l.rng.IntN(100))
		l.run("reprioritise", g.records, "reprioritise") // which knows only some of them
		l.look("reprioritise")
	case 10, 11:
		l.serve()
	case 12:
		l.compacted = true
		l.run("compact", nil, "compact")
		l.look("compact")
	}
}

// given is what a command gets to read, and what its URLs are then: whether visited.
type given struct {
	records []byte
	wants   map[string]bool
}

// add adds it.
func (l *life) add(operation string, g given) {
	for u, visited := range g.wants {
		l.maybe[u] = l.maybe[u] || visited
	}
	if _, done := l.run(operation, g.records, "add"); done {
		for u := range g.wants {
			l.visited[u] = l.visited[u] || l.maybe[u]
		}
		clear(l.maybe)
	}
	l.look(operation)
}

// links are n records, of which some ask again for what is known.
func (l *life) links(n int) given {
	var b bytes.Buffer
	wants := map[string]bool{}
	for range n {
		i := l.next
		if i > 0 && l.rng.IntN(4) == 0 {
			i = l.rng.IntN(i)
		} else {
			l.next++
		}
		u := fmt.Sprintf("http://h%d.example/%d", i%7, i)
		fmt.Fprintf(&b, "{\"v\":1,\"url\":%q,\"generation\":%d,\"priority\":%g}\n", u, l.last, l.rng.Float64())
		wants[u] = false
	}
	return given{b.Bytes(), wants}
}

// heavy are n records that are so large and pack so badly that a write of them can be
// cut in two.
func (l *life) heavy(n int) given {
	var b bytes.Buffer
	wants := map[string]bool{}
	for range n {
		noise := make([]byte, 20_000+l.rng.IntN(100_000))
		for i := range noise {
			noise[i] = byte(l.rng.Uint32())
		}
		u := fmt.Sprintf("http://heavy.example/%d", l.next)
		l.next++
		fmt.Fprintf(&b, "{\"v\":1,\"url\":%q,\"query\":\"%x\"}\n", u, noise)
		wants[u] = false
	}
	return given{b.Bytes(), wants}
}

// outcomes end the leases of some of what was handed out.
func (l *life) outcomes() given {
	var b bytes.Buffer
	wants := map[string]bool{}
	for _, u := range l.out {
		if l.rng.IntN(2) == 0 {
			visit(&b, u, l.last)
			wants[u] = true
		}
	}
	return given{b.Bytes(), wants}
}

func visit(b *bytes.Buffer, url string, generation int) {
	fmt.Fprintf(b, "{\"v\":1,\"url\":%q,\"generation\":%d,\"status_code\":200}\n", url, generation)
}

// handOut asks for a generation until it is there. What a command said before it was
// killed must be how the batch begins that the next one gives.
func (l *life) handOut() {
	for {
		out, done := l.run("next -generation", nil, "next", "-n", strconv.Itoa(1+l.rng.IntN(60)), "-generation", strconv.Itoa(l.last+1), "-now", stamp(l.now))
		l.hear(l.last+1, out, done)
		l.look("next -generation")
		if done {
			return
		}
	}
}

// hear takes a batch as it was handed out, or the beginning of one.
func (l *life) hear(generation int, lines string, whole bool) {
	l.t.Helper()
	was := l.heard
	if generation <= l.last {
		was = l.batches[generation]
	}
	if len(was) > len(lines) && !whole {
		was, lines = lines, was
	}
	if !strings.HasPrefix(lines, was) || generation <= l.last && whole && lines != was {
		l.t.Fatalf("generation %d was\n%s\nand is now\n%s", generation, was, lines)
	}
	if generation <= l.last {
		return
	}
	if l.heard = lines; whole && lines != "" {
		l.batches[generation], l.last, l.heard = lines, generation, ""
		for _, u := range urlsOf(lines) {
			l.out = append(l.out, u)
			delete(l.leased, u)
		}
	}
}

// forget makes URLs unknown.
func (l *life) forget() {
	prefix := fmt.Sprintf("http://h%d.example/%d", l.rng.IntN(7), 1+l.rng.IntN(99))
	for u := range l.visited {
		if strings.HasPrefix(u, prefix) {
			l.gone[u] = true
		}
	}
	if _, done := l.run("forget", nil, "forget", "-prefix", prefix); done {
		for u := range l.gone {
			l.drop(u)
		}
	}
	l.look("forget")
}

func (l *life) drop(u string) {
	delete(l.visited, u)
	delete(l.leased, u)
	delete(l.gone, u)
}

// serve is the loop in one process: the test is the rest of the pipeline. What went in
// before a window's mark is acknowledged by the first line of the next window.
func (l *life) serve() {
	cmd := exec.Command("frontier", "serve", "-store", l.store, "-n", strconv.Itoa(1+l.rng.IntN(60)), "-patience", "0s")
	if l.rng.IntN(2) == 0 {
		cmd.Args = append(cmd.Args, "-compact", "1KiB")
		l.compacted = true
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	limit := time.Duration(l.rng.Float64() * float64(300*time.Millisecond))
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	timer := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	defer timer.Stop()
	lines, window, greeted := bufio.NewReader(out), "", false
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // what is cut of a line does not matter
		}
		var rec struct {
			Operator   string
			Generation int
		}
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			l.t.Fatal(err)
		}
		if rec.Operator == "mark" && !greeted {
			greeted = true
			io.WriteString(in, line)
			continue
		}
		for u := range l.maybe {
			l.visited[u] = l.visited[u] || l.maybe[u]
		}
		clear(l.maybe)
		if rec.Operator != "mark" {
			window += line
			l.hear(rec.Generation, window, false)
			continue
		}
		l.hear(rec.Generation, window, true)
		g := l.links(l.rng.IntN(200))
		b := bytes.NewBuffer(g.records)
		for i, u := range urlsOf(window) {
			if i == 0 || l.rng.IntN(2) == 0 {
				visit(b, u, rec.Generation)
				g.wants[u] = true
			}
		}
		for u, visited := range g.wants {
			l.maybe[u] = l.maybe[u] || visited
		}
		b.WriteString(line)
		in.Write(b.Bytes())
		window = ""
	}
	in.Close()
	err = cmd.Wait()
	l.dead = ""
	if exit, _ := errors.AsType[*exec.ExitError](err); exit != nil && exit.ExitCode() == -1 {
		l.kills++
		l.dead = "serve"
		l.saw("kills")
	} else if err != nil {
		l.t.Fatalf("serve: %v\n%s", err, stderr.String())
	}
	l.look("serve")
}

// lend hands out by the clock.
func (l *life) lend() {
	out, done := l.run("next -lease", nil, "next", "-n", strconv.Itoa(1+l.rng.IntN(60)), "-lease", "10m", "-now", stamp(l.now))
	if !done { // a line may have been cut
		out = out[:strings.LastIndexByte(out, '\n')+1]
	}
	for _, u := range urlsOf(out) {
		if l.leased[u].After(l.now) {
			l.t.Fatalf("%s is handed out twice", u)
		}
		l.leased[u] = l.now.Add(10 * time.Minute)
		l.out = append(l.out, u)
	}
	l.look("next -lease")
}

// run runs the command and, more often than not, kills it: after a share of the time
// that it takes, or as soon as it has written something, or a little later. It
// reports what the command wrote and whether it came to its end; nothing due is one.
func (l *life) run(operation string, stdin []byte, args ...string) (out string, done bool) {
	l.t.Helper()
	cmd := exec.Command("frontier", append(args, "-store", l.store)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	spared := l.rng.IntN(5) == 0
	onWrite, share := l.rng.IntN(2) == 0, 1.2*l.rng.Float64()
	later := time.Duration(float64(l.rng.IntN(2)) * l.rng.ExpFloat64() * float64(time.Millisecond))
	typical := cmp.Or(l.took[operation], 20*time.Millisecond)
	before := l.files()
	l.dead = ""
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	if spared {
		err = <-ended
	} else {
		limit := time.Duration(share * float64(typical))
		if onWrite {
			err = l.kill(cmd, ended, later, func() bool { return !maps.Equal(before, l.files()) })
		} else {
			err = l.kill(cmd, ended, limit, func() bool { return true })
		}
	}
	took := time.Since(begun)
	exit, _ := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil || exit != nil && exit.ExitCode() == 4:
		l.took[operation] = max(took, l.took[operation]*9/10)
		return stdout.String(), true
	case exit == nil || exit.ExitCode() != -1:
		l.t.Fatalf("%s: %v\n%s", operation, err, stderr.String())
	}
	l.kills++
	l.dead = operation
	l.saw("kills")
	return stdout.String(), false
}

// kill kills a process, unless it ends before, some time after due says so.
func (l *life) kill(cmd *exec.Cmd, ended chan error, later time.Duration, due func() bool) error {
	for !due() {
		select {
		case err := <-ended:
			return err
		default:
			runtime.Gosched()
		}
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(later):
	}
	cmd.Process.Kill()
	return <-ended
}

// files are the sizes of the files of the store.
func (l *life) files() map[string]int64 {
	sizes := map[string]int64{}
	names, _ := os.ReadDir(l.store)
	for _, n := range names {
		if info, err := n.Info(); err == nil && n.Name() != "lock" && n.Name() != "waiting" {
			sizes[n.Name()] = info.Size()
		}
	}
	return sizes
}

// saw counts what was found after a kill.
func (l *life) saw(what string) {
	if l.dead != "" {
		l.seen.add(l.dead, what)
	}
}

// patience is for the locks of this process, which a process that it starts has too
// until it is another program.
const patience = 10 * time.Second

// look compares the store with the model. What it finds that may be there, but need
// not, has to be there from now on.
func (l *life) look(operation string) {
	l.t.Helper()
	logs, _ := filepath.Glob(filepath.Join(l.store, "*.log"))
	if len(logs) == 0 {
		if len(l.visited) > 0 {
			l.t.Fatal("the log is gone")
		}
		l.saw(noStore)
		return
	}
	if info, err := os.Stat(logs[len(logs)-1]); err == nil && info.Size() < 40 {
		l.saw(halfSegment)
	}
	_, err := os.Stat(filepath.Join(l.store, "index"))
	hasSnapshot := err == nil
	if _, err := os.Stat(filepath.Join(l.store, "index.part")); err == nil {
		l.saw(halfSnapshot)
	}
	if err := errors.Join(os.RemoveAll(l.copied), os.CopyFS(l.copied, os.DirFS(l.store))); err != nil {
		l.t.Fatal(err)
	}
	there := l.export(operation, hasSnapshot)
	l.comesBack(operation, there)
	found, err := frontier.Check(l.copied, frontier.Options{Wait: patience}, false)
	if err != nil || found.Wrong() || found.URLs != len(there) {
		l.t.Fatalf("%s: check finds %+v, %v in %d URLs", operation, found, err, len(there))
	}
}

// export compares what the store says of its URLs with the model.
func (l *life) export(operation string, hasSnapshot bool) map[string]string {
	l.t.Helper()
	s, err := frontier.Open(l.store, frontier.Options{ReadOnly: true, Wait: patience})
	if err != nil {
		l.t.Fatalf("%s: %v", operation, err)
	}
	defer s.Close()
	switch opened := s.Opened(); {
	case opened.Snapshot != nil:
		l.t.Fatalf("%s: the snapshot %v", operation, opened.Snapshot)
	case opened.Truncated > 0:
		l.saw(cutTail)
		fallthrough
	case opened.Replayed > 0 && hasSnapshot:
		l.saw(oldSnapshot)
	case !hasSnapshot:
		l.saw(noSnapshot)
	}
	var lines bytes.Buffer
	if err := s.Export(&lines, l.now); err != nil {
		l.t.Fatal(err)
	}
	there := map[string]string{}
	unsure := false
	for line := range bytes.Lines(lines.Bytes()) {
		var rec struct{ URL, State string }
		if err := json.Unmarshal(line, &rec); err != nil {
			l.t.Fatal(err)
		}
		u := rec.URL
		must, known := l.visited[u]
		may, tried := l.maybe[u]
		switch {
		case there[u] != "":
			l.t.Fatalf("%s: %s is there twice", operation, u)
		case !known && !tried:
			l.t.Fatalf("%s: %s was never added", operation, u)
		case rec.State == "visited" && !must && !may || rec.State != "visited" && must:
			l.t.Fatalf("%s: %s is %s", operation, u, rec.State)
		case rec.State == "waiting" && l.leased[u].After(l.now):
			l.t.Fatalf("%s: %s waits, though it was handed out", operation, u)
		}
		unsure = unsure || !known || rec.State == "visited" && !must
		there[u] = rec.State
		l.visited[u] = rec.State == "visited"
	}
	for u := range l.visited {
		if there[u] == "" && l.gone[u] {
			unsure = true
			l.drop(u)
		} else if there[u] == "" {
			l.t.Fatalf("%s: %s was acknowledged and is lost", operation, u)
		}
	}
	if unsure {
		l.saw(unacknowledged)
	}
	clear(l.maybe)
	clear(l.gone)
	return there
}

// comesBack asks a copy of the store for everything, an hour later: all that is not
// visited comes, each once. An earlier generation is what it was.
func (l *life) comesBack(operation string, there map[string]string) {
	l.t.Helper()
	s, err := frontier.Open(l.copied, frontier.Options{Wait: patience})
	if err != nil {
		l.t.Fatalf("%s: %v", operation, err)
	}
	next := func(q frontier.Request) string {
		lines, err := s.Next(q)
		if _, none := errors.AsType[*frontier.NothingDue](err); err != nil && !none {
			l.t.Fatalf("%s: %v", operation, err)
		}
		return string(lines)
	}
	if l.last > 0 {
		generation := 1 + l.rng.IntN(l.last)
		if l.compacted {
			generation = l.last // one more may be there, though nobody was told
		}
		if was := l.batches[generation]; was != "" {
			if is := next(frontier.Request{N: 1, Generation: generation, Now: l.now}); is != was {
				l.t.Fatalf("%s: generation %d was\n%s\nand is now\n%s", operation, generation, was, is)
			}
		}
	}
	want := []string{}
	for u, state := range there {
		if state != "visited" {
			want = append(want, u)
		}
	}
	got := urlsOf(next(frontier.Request{N: 1e6, Generation: l.last + 2, Now: l.now.Add(time.Hour)}))
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		l.t.Fatalf("%s: %d URLs are handed out of %d that wait or whose lease has ended", operation, len(got), len(want))
	}
	if err := s.Close(); err != nil {
		l.t.Fatalf("%s: %v", operation, err)
	}
}

func stamp(t time.Time) string { return t.Format(time.RFC3339) }

// urlsOf are the URLs of records.
func urlsOf(lines string) (urls []string) {
	for line := range strings.Lines(lines) {
		_, u, _ := strings.Cut(line, `"url":"`)
		u, _, _ = strings.Cut(u, `"`)
		urls = append(urls, u)
	}
	return urls
}

// What is found after a kill, beside the store as it was before.
const (
	noStore        = "no store yet"
	halfSegment    = "half a segment"
	cutTail        = "cut tail"
	unacknowledged = "more than acknowledged"
	halfSnapshot   = "half a snapshot"
	noSnapshot     = "no snapshot"
	oldSnapshot    = "old snapshot"
)

// sightings count what was found after the kills of each operation.
type sightings struct {
	mu   sync.Mutex
	rows map[string]map[string]int
}

func (s *sightings) add(operation, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[operation] == nil {
		s.rows[operation] = map[string]int{}
	}
	s.rows[operation][what]++
}

// String is a table of all that was counted.
func (s *sightings) String() string {
	columns := []string{"kills", noStore, halfSegment, cutTail, unacknowledged, halfSnapshot, noSnapshot, oldSnapshot}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "killed during\t%s\t\n", strings.Join(columns, "\t"))
	sum := map[string]int{}
	for _, operation := range slices.Sorted(maps.Keys(s.rows)) {
		fmt.Fprintf(w, "%s\t", operation)
		for _, c := range columns {
			fmt.Fprintf(w, "%d\t", s.rows[operation][c])
			sum[c] += s.rows[operation][c]
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "all\t")
	for _, c := range columns {
		fmt.Fprintf(w, "%d\t", sum[c])
	}
	fmt.Fprintln(w)
	w.Flush()
	return b.String()
}
