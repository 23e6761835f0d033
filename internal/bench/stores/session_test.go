//go:build linux

package stores

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"spoor/internal/frontier"
	"spoor/internal/wire"
)

// sessionVariable says which store the process has that a benchmark starts: the
// same program again, so that memory is the store's own and that it can be killed.
const sessionVariable = "SPOOR_STORE_SESSION"

func TestMain(m *testing.M) {
	if name := os.Getenv(sessionVariable); name != "" {
		server := rpc.NewServer()
		if err := server.Register(&Session{name: name}); err != nil {
			panic(err)
		}
		server.ServeConn(standard{os.Stdin, os.Stdout})
		return
	}
	os.Exit(m.Run())
}

// standard is a connection by two files.
type standard struct {
	io.ReadCloser
	w io.WriteCloser
}

func (c standard) Write(p []byte) (int, error) { return c.w.Write(p) }
func (c standard) Close() error                { return errors.Join(c.ReadCloser.Close(), c.w.Close()) }

// A Session is what a process is asked to do with its store. Calls do not overlap.
type Session struct {
	name  string
	store Store
	links Links
	lines []byte
	feed  feed
	r     *wire.Reader
	rec   wire.Record
	free  chan *block
}

// A block is records that were read one after the other.
type block struct {
	recs [frontier.MaxPrefetch]wire.Record
	urls []string
	err  error
}

// OpenArgs tell where the store is, and how many URLs it has.
type OpenArgs struct {
	Dir   string
	Given int
}

// Open opens the store, and tells how long that takes.
func (s *Session) Open(a OpenArgs, took *time.Duration) (err error) {
	start := time.Now()
	s.store, err = Open(s.name, a.Dir)
	*took = time.Since(start)
	s.links.Given = a.Given
	s.r = wire.NewReader(&s.feed, frontier.Sections)
	s.free = make(chan *block, 4)
	for range cap(s.free) {
		s.free <- new(block)
	}
	return err
}

// Close closes it.
func (s *Session) Close(_ int, took *time.Duration) error {
	start := time.Now()
	err := s.store.Close()
	*took = time.Since(start)
	return err
}

// GrowArgs tell how many URLs there shall be at least, after how many links
// everything must be on disk, and when it may end before; 0 is never.
type GrowArgs struct {
	URLs, Durable int
	Cut           time.Duration
}

// A Mark tells how many URLs there are after so much time, without that in which
// links are made.
type Mark struct {
	URLs      int
	Took, CPU time.Duration // of the wall, of user and system
}

// Grow adds generations.
func (s *Session) Grow(a GrowArgs, marks *[]Mark) error {
	at := Mark{URLs: s.links.Given}
	*marks = append(*marks, at)
	for at.URLs < a.URLs && (a.Cut == 0 || at.Took < a.Cut) {
		s.lines = s.links.Append(s.lines[:0])
		start, cpu := time.Now(), processor()
		fresh, err := s.add(a.Durable)
		at.Took += time.Since(start)
		at.CPU += processor() - cpu
		if err == nil && fresh != Fresh {
			err = fmt.Errorf("%d URLs of a generation are new instead of %d", fresh, Fresh)
		}
		if err != nil {
			return err
		}
		at.URLs += fresh
		*marks = append(*marks, at)
	}
	return nil
}

// Again adds the latest generation once more, and reports URLs that had been lost.
func (s *Session) Again(_ int, lost *int) (err error) {
	s.links.Given -= Fresh
	s.lines = s.links.Append(s.lines[:0])
	*lost, err = s.add(Batch)
	return err
}

// link reads the link to the nth URL.
func (s *Session) link(n int) (*wire.Record, error) {
	s.lines = appendLink(s.lines[:0], n)
	s.feed.left = s.lines
	rec := &s.rec
	return rec, s.r.Read(rec)
}

// Forget forgets every second URL, all at once.
func (s *Session) Forget(_ int, took *time.Duration) error {
	start := time.Now()
	for n := 1; n < s.links.Given; n += 2 {
		rec, err := s.link(n)
		if err == nil {
			err = s.store.Forget(rec)
		}
		if err != nil {
			return err
		}
	}
	err := s.store.Commit(true)
	*took = time.Since(start)
	return err
}

// Compact makes the files short.
func (s *Session) Compact(_ int, took *time.Duration) error {
	start := time.Now()
	err := s.store.Compact()
	*took = time.Since(start)
	return err
}

// Forgotten adds the URLs of the latest generation, and reports how many are new.
func (s *Session) Forgotten(_ int, fresh *int) error {
	for n := s.links.Given - Fresh; n < s.links.Given; n++ {
		rec, err := s.link(n)
		if err != nil {
			return err
		}
		added, err := s.store.Add(rec)
		if err != nil {
			return err
		}
		if added {
			*fresh++
		}
	}
	return s.store.Commit(true)
}

// add adds the links of a generation, and returns how many URLs are new. They are read
// in a goroutine of its own, as the commands do.
func (s *Session) add(durable int) (fresh int, err error) {
	s.feed.left = s.lines
	expecting, _ := s.store.(*ours)
	full := make(chan *block, cap(s.free))
	go s.read(full)
	for i := 0; i < Generation; {
		b := <-full
		if b.err != nil {
			return 0, b.err
		}
		if expecting != nil {
			expecting.Prefetch(b.urls)
		}
		for j := range b.urls {
			added, err := s.store.Add(&b.recs[j])
			if err != nil {
				return 0, err
			}
			if added {
				fresh++
			}
		}
		i += len(b.urls)
		s.free <- b
		if i%Batch == 0 {
			if err := s.store.Commit(i%durable == 0); err != nil {
				return 0, err
			}
		}
	}
	return fresh, nil
}

// read reads a generation; no block has links of two batches.
func (s *Session) read(full chan<- *block) {
	for i := 0; i < Generation; {
		b := <-s.free
		b.urls = b.urls[:0]
		for range min(len(b.recs), Batch-i%Batch) {
			rec := &b.recs[len(b.urls)]
			if b.err = s.r.Read(rec); b.err != nil {
				full <- b
				return
			}
			b.urls = append(b.urls, rec.URL)
		}
		i += len(b.urls)
		full <- b
	}
}

// Next hands out 1,000 addresses, ten times.
func (s *Session) Next(_ int, took *[]time.Duration) error {
	const n, perHost = 1000, 10
	for range 10 {
		start := time.Now()
		lines, err := s.store.Next(n, perHost, start.Add(time.Hour))
		*took = append(*took, time.Since(start))
		if err != nil {
			return err
		}
		if got := bytes.Count(lines, []byte("\n")); got != n {
			return fmt.Errorf("%d addresses were handed out instead of %d", got, n)
		}
	}
	return nil
}

// processor is the processor time of this process, of user and system.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A process is a Session of its own.
type process struct {
	b      *testing.B
	cmd    *exec.Cmd
	client *rpc.Client
	rest   memory // before it opened anything
}

func start(b *testing.B, name string) *process {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	p := &process{b: b, cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), sessionVariable+"="+name)
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p.client = rpc.NewClient(standard{out, in})
	b.Cleanup(p.kill)
	return p
}

// call asks the process for something, which reply points to.
func (p *process) call(method string, args, reply any) {
	if err := p.client.Call("Session."+method, args, reply); err != nil {
		p.b.Fatalf("%s: %v", method, err)
	}
}

// open opens the store that has so many URLs, and returns how long that took.
func (p *process) open(dir string, given int) (took time.Duration) {
	p.rest = p.memory()
	p.call("Open", OpenArgs{dir, given}, &took)
	return took
}

// kill kills the process, if it is still there, with no time to clean up.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.client.Close()
	p.cmd.Wait()
}

// memory is what a process has resident, in bytes.
type memory struct {
	all, anonymous, most float64
}

func (p *process) memory() (m memory) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		words := strings.Fields(line)
		for name, to := range map[string]*float64{"VmRSS:": &m.all, "RssAnon:": &m.anonymous, "VmHWM:": &m.most} {
			if words[0] == name {
				kib, err := strconv.ParseFloat(words[1], 64)
				if err != nil {
					p.b.Fatal(err)
				}
				*to = kib * 1024
			}
		}
	}
	return m
}
