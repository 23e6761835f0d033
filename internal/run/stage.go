package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"spoor/internal/atomicfile"
	"spoor/internal/procgroup"
	"spoor/internal/wire"
)

// Stage runs the command of a stage that the user has replaced, and counts the records that it
// reads and writes. The end of ctx asks the command to end, and a signal on kill kills it with its
// child processes.
func (c *Crawl) Stage(ctx context.Context, kill <-chan os.Signal, name string, stdin, stdout *os.File) error {
	stage := c.stage(name)
	if stage == nil {
		return faultf(statusMisuse, "%s has no stage %s", c.Dir.Path(StagesFile), name)
	}
	steady := c.now.step == stepSteady
	m := &meter{name: name, pages: name == "evolve", endless: steady && c.Settings.Form == FormSteady, silence: silence, kill: kill}
	m.text = name == "learn" || name == "grow"
	m.adds = name == "search" || name == "fetch" && c.Stages.addsSitemaps()
	if last := c.Totals.Last; 2*last.Errors[wire.ErrorMalformed] > last.Outcomes {
		m.before = last.Errors[wire.ErrorMalformed]
	}
	var in io.Reader = stdin
	if d, err := decompress(stdin); err != nil {
		return err
	} else if d != nil {
		in = d
	}
	if name == "search" {
		in = unanswered(in)
	}
	var err error
	if steady && !m.endless {
		err = c.stageWindows(ctx, m, stage.Command, in, stdout)
	} else {
		err = m.run(ctx, stage.Command, in, stdout)
	}
	fault, ok := errors.AsType[*Fault](err)
	switch {
	case err == nil:
		fault = &Fault{}
	case !ok:
		fault = &Fault{statusFailed, "failed: " + err.Error()}
	}
	if err := c.Dir.NoteEnd(name, fault.Status, fault.Text); err != nil || fault.Status == 0 {
		return err
	}
	return &Fault{Status: fault.Status} // run next prints the message
}

// stageWindows runs the command of a stage once for each window of a steady crawl. The command reads
// the records of one window to the end of its input, as in a crawl that loops over generations, so it
// may buffer them and needs to know no window marks.
func (c *Crawl) stageWindows(ctx context.Context, m *meter, command string, in io.Reader, stdout io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for generation := 0; ; {
		w := &window{in: lines}
		err := w.next()
		if err == nil {
			var topic string
			if topic, err = c.topic(generation, m.name); err == nil {
				m.env = []string{fmt.Sprintf("SPOOR_GENERATION=%d", generation), "SPOOR_TOPIC=" + topic}
				err = m.run(ctx, command, w, stdout)
			}
		}
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case w.mark == nil:
			return nil
		}
		if _, err := stdout.Write(w.mark); isPipe(err) {
			return faultf(statusPipe, "")
		} else if err != nil {
			return err
		}
		generation = w.generation + 1
	}
}

// A window reads the lines up to the next window mark.
type window struct {
	in         *bufio.Reader
	line       []byte // what was not returned yet of the line that was read
	mark       []byte // the mark that has ended the window; nil if there was none yet
	generation int    // of the mark
}

// next reads a line. The error is io.EOF if it is a mark, or the input has ended.
func (w *window) next() (err error) {
	if w.line, err = readLine(w.in); len(w.line) == 0 && err != nil {
		return err
	}
	generation, ok := markOf(w.line)
	if !ok {
		return nil
	}
	w.mark, w.line, w.generation = bytes.Clone(w.line), nil, generation
	return io.EOF
}

func (w *window) Read(b []byte) (n int, err error) {
	if w.mark != nil {
		return 0, io.EOF
	}
	if len(w.line) == 0 {
		if err := w.next(); err != nil {
			return 0, err
		}
	}
	n = copy(b, w.line)
	w.line = w.line[n:]
	return n, nil
}

// markOf returns the generation of a window mark, and false for any other line.
func markOf(line []byte) (generation int, ok bool) {
	if !bytes.Contains(line, []byte(`"mark"`)) {
		return 0, false
	}
	var rec wire.Record
	if wire.NewReader(bytes.NewReader(line), wire.Address).Read(&rec) != nil || !rec.IsMark() {
		return 0, false
	}
	return rec.Generation, true
}

// stage returns a stage of the step being run, nil if there is none of that name.
func (c *Crawl) stage(name string) *Stage {
	if c.now.step == stepSteady {
		return c.Stages.find(name)
	}
	return c.steps.find(name)
}

// decompress returns a reader that decompresses f, or nil if f is not a regular file compressed with
// zstd.
func decompress(f *os.File) (io.Reader, error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	var magic [4]byte
	if n, _ := f.ReadAt(magic[:], 0); n < len(magic) || !bytes.Equal(magic[:], []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return nil, nil
	}
	return zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
}

// openRecords opens a file of records, compressed or not; nil if it does not exist.
func openRecords(name string) (io.ReadCloser, error) {
	f, err := atomicfile.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	d, err := decompress(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if d == nil {
		d = f
	}
	return struct {
		io.Reader
		io.Closer
	}{d, f}, nil
}

// unanswered returns a reader of the queries in the input that have no cost yet, and of nothing else.
// They are the input of a search stage that the user has replaced.
func unanswered(in io.Reader) io.Reader {
	r, w := io.Pipe()
	go func() {
		lines := bufio.NewReaderSize(in, 1<<16)
		var rec wire.Record
		for {
			line, err := lines.ReadBytes('\n')
			if len(line) > 0 && wire.NewReader(bytes.NewReader(line), wire.Address).Read(&rec) == nil && rec.URL == "" && rec.Query != "" && rec.Cost == 0 {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
			if err != nil {
				w.CloseWithError(err)
				return
			}
		}
	}()
	return r
}

// A meter runs a stage that the user has replaced, and counts the records of its input and output.
type meter struct {
	name    string        // of the stage
	env     []string      // further variables for the command
	pages   bool          // count only pages, because evolve adds addresses
	text    bool          // the output is a topic, not records
	adds    bool          // the stage may write more records than it reads
	endless bool          // windows follow one another, each ended by a mark
	silence time.Duration // how long the stage may neither read nor write, if endless and records wait
	kill    <-chan os.Signal

	in, out atomic.Int64 // numbers of records
	moves   atomic.Int64 // inputs and outputs so far
	full    atomic.Bool  // the output waits for the next stage

	mu      sync.Mutex
	windows []int64 // number of input records before each mark that has not come out

	// Of the current window, or of all the output if there are no windows.
	written   int    // outcomes
	malformed int    // outcomes with a malformed field
	fault     string // the first of these fields
	before    int    // malformed outcomes in the windows before, if most outcomes of each were malformed
}

// silence is how long a stage of a steady crawl may hold records back without reading or writing.
const silence = 30 * time.Second

func (m *meter) run(ctx context.Context, command string, in io.Reader, out io.Writer) error {
	m.in.Store(0)
	m.out.Store(0)
	cmd := exec.Command("bash", "-c", "set -o pipefail\n"+command)
	cmd.Env = append(os.Environ(), m.env...)
	cmd.Stderr = os.Stderr
	procgroup.Lead(cmd, syscall.SIGKILL)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	m.touch()
	faults := make(chan error, 3)
	fed, exited := make(chan struct{}), make(chan struct{})
	go func() {
		if err := m.feed(stdin, in); err != nil {
			faults <- err
		}
		m.touch()
		close(fed)
		stdin.Close()
	}()
	var werr error
	go func() {
		if err := m.drain(out, stdout); err != nil {
			faults <- err
		}
		werr = cmd.Wait() // the command may still run after it has closed stdout
		close(exited)
	}()
	go m.watch(fed, exited, faults)
	kill := func() {
		procgroup.Kill(cmd)
		cmd.Process.Kill() // where there are no process groups
		stdout.Close()     // children of the command may hold it open
		<-exited
	}
	done := ctx.Done()
	for running := true; running; {
		select {
		case err = <-faults:
			kill()
			running = false
		case <-m.kill:
			kill()
			return faultf(statusTerminated, "")
		case <-exited:
			select {
			case err = <-faults:
			default:
			}
			running = false
		case <-done:
			done = nil
			cmd.Process.Signal(terminate)
		}
	}
	switch f := (*Fault)(nil); {
	case errors.As(err, &f):
		return err
	case ctx.Err() != nil:
		return faultf(statusTerminated, "")
	case err != nil && isPipe(err):
		return faultf(statusPipe, "")
	case err != nil:
		return err
	}
	switch status := exitStatus(werr); status {
	case 0:
	case statusPipe:
		return faultf(statusFailed, "stopped reading before the end of its input (status %d)", status)
	default:
		return faultf(stageStatus(status), "ended with status %d", status)
	}
	if err := m.awaitInput(ctx, fed, faults); err != nil {
		return err
	}
	if err := m.checkFields(); err != nil {
		return err
	}
	return m.compare(m.in.Load(), m.out.Load())
}

// awaitInput waits until the input that the stage did not read has been counted. In a steady crawl
// such input is an error, because the input ends only with the crawl.
func (m *meter) awaitInput(ctx context.Context, fed <-chan struct{}, faults <-chan error) error {
	if m.endless {
		select {
		case <-fed:
			return nil
		default:
			return faultf(statusFailed, "ended before its input did")
		}
	}
	select {
	case <-fed:
		return nil
	case err := <-faults:
		return err
	case <-ctx.Done():
		return faultf(statusTerminated, "")
	}
}

func (m *meter) touch() { m.moves.Add(1) }

// compare returns an error if the numbers of records read and written by a stage do not match.
func (m *meter) compare(in, out int64) error {
	if in == out || m.adds && out > in {
		return nil
	}
	return faultf(statusFailed, "read %d records and wrote %d", in, out)
}

// feed writes the input to the stage. Records that the stage does not read are counted too.
func (m *meter) feed(stage io.Writer, in io.Reader) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	gone := false
	for {
		line, err := readLine(lines)
		if len(line) > 0 {
			m.touch() // before the record counts as waiting
			m.count(line, &m.in, true)
			if !gone {
				if _, werr := stage.Write(line); werr != nil {
					gone = true
				}
				m.touch()
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// drain copies the output of the stage.
func (m *meter) drain(out io.Writer, stage io.Reader) error {
	lines := bufio.NewReaderSize(stage, 1<<16)
	w := bufio.NewWriterSize(out, 1<<16)
	for {
		line, err := readLine(lines)
		if len(line) > 0 {
			if cerr := m.count(line, &m.out, false); cerr != nil {
				return cerr
			}
			m.full.Store(true)
			if _, werr := w.Write(line); werr != nil {
				return werr
			}
		}
		if err != nil || lines.Buffered() == 0 {
			if werr := w.Flush(); werr != nil {
				return werr
			}
		}
		m.touch()
		m.full.Store(false)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine returns a line with its newline, which the last line may lack.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	whole := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.ReadSlice('\n')
		whole = append(whole, line...)
	}
	return whole, err
}

// minMalformed is the number of malformed outcomes, in one window or in consecutive ones, from which on
// it is an error that most outcomes of a window are malformed.
const minMalformed = 4

// checkFields returns an error if more than half of the outcomes of a window have malformed fields,
// which is a fault of the command: without an error the pages of the crawl would be lost. Otherwise a
// malformed outcome is a failed page (decision 52).
func (m *meter) checkFields() error {
	written, malformed := m.written, m.malformed
	m.written, m.malformed = 0, 0
	if 2*malformed <= written {
		m.before = 0
		return nil
	}
	if m.before += malformed; m.before < minMalformed {
		return nil
	}
	return faultf(statusFailed, "made %d of %d records malformed: %s (hint: conform -stage %s -- COMMAND tests a stage)", malformed, written, m.fault, m.name)
}

// checkRecord counts an outcome that the stage has written.
func (m *meter) checkRecord(line []byte) {
	var rec wire.Record
	err := wire.NewReader(bytes.NewReader(line), wire.All).Read(&rec)
	bad, ok := errors.AsType[*wire.SyntaxError](err)
	switch {
	case ok && bad.Outcome:
		if m.malformed++; m.malformed == 1 {
			m.fault = bad.Err.Error()
		}
	case err != nil || !rec.IsOutcome():
		return
	}
	m.written++
}

// count increments n if the line is one of the records that the meter counts. Output that is not a
// record is an error. At a window mark in the output it compares the counts of output and input.
func (m *meter) count(line []byte, n *atomic.Int64, in bool) error {
	if text := bytes.TrimSpace(wire.TrimBOM(line)); len(text) == 0 || text[0] != '{' {
		if len(text) == 0 || in || m.text {
			return nil
		}
		return faultf(statusFailed, "wrote a line that is not a record: %.60q (messages belong on stderr)", text)
	}
	if m.endless {
		if _, ok := markOf(line); ok {
			return m.mark(in)
		}
	}
	if !in && !m.text {
		m.checkRecord(line)
	}
	if m.pages {
		var rec wire.Record
		if wire.NewReader(bytes.NewReader(line), wire.Address|wire.Fetch).Read(&rec) != nil || rec.URL == "" || !rec.IsOutcome() {
			return nil
		}
	}
	n.Add(1)
	return nil
}

// mark notes a mark in the input, or compares the counts at a mark in the output.
func (m *meter) mark(in bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if in {
		m.windows = append(m.windows, m.in.Load())
		return nil
	}
	if len(m.windows) == 0 {
		return nil
	}
	went := m.windows[0]
	m.windows = m.windows[1:]
	if err := m.checkFields(); err != nil {
		return err
	}
	return m.compare(went, m.out.Load())
}

// watch sends a fault if the stage of a steady crawl holds records or marks back, whether it has read them
// or not, or does not end after its input. A stage that waits for the next one is not at fault.
func (m *meter) watch(fed, stop <-chan struct{}, faults chan<- error) {
	if !m.endless {
		return
	}
	const ticks = 30 // counted, because the time in which all processes were stopped (SIGSTOP) is no silence
	tick := time.NewTicker(m.silence / ticks)
	defer tick.Stop()
	before, silent := int64(-1), 0
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		m.mu.Lock()
		marks := len(m.windows)
		m.mu.Unlock()
		in, out := m.in.Load(), m.out.Load()
		if moves := m.moves.Load(); m.full.Load() || moves != before {
			before, silent = moves, 0
			continue
		}
		if silent++; silent < ticks {
			continue
		}
		if in > out || marks > 0 {
			faults <- faultf(statusFailed, "has not written %d records and %d window marks for %v: it keeps lines back, hangs, or needs longer for a page (hint: jq --unbuffered, python3 -u, sed -u, grep --line-buffered, gawk with fflush(), mawk -W interactive; without -steady a stage may be slow)",
				in-out, marks, m.silence)
			return
		}
		select {
		case <-fed:
			faults <- faultf(statusFailed, "has not ended for %v after the end of its input", m.silence)
			return
		default:
		}
	}
}

// exitStatus returns the status that a shell would report for the error of a command.
func exitStatus(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return shellStatus(e.ProcessState)
	}
	return statusFailed
}
