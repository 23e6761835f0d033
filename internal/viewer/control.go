package viewer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/procgroup"
	"spoor/internal/report"
	"spoor/internal/run"
)

// A Control permits to begin, stop and continue crawls, and to make reports. The commands run on, in process groups
// of their own, when the server ends.
type Control struct {
	Crawl  []string // the words of the command crawl
	Flags  []string // of crawl, for crawls that are begun; they override those of the page
	Report []string // of report

	Strategies []Strategy // from which to choose; forage is the default

	mu      sync.Mutex
	notices map[run.Dir]string // how the last command for a run has failed
	making  map[run.Dir]bool   // whether a report is being made
}

// A Strategy is a strategy, as evolve -strategies -json describes it.
type Strategy struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

// messages is the file of a run directory to which the commands that the server starts write.
const messages = run.ServeLog

// Exit statuses of a crawl that a signal has ended.
const (
	statusInterrupted = 130
	statusTerminated  = 143
)

// settle is how long a request waits for a command that it has started: most failures are immediate.
const settle = 2 * time.Second

// notice returns a sentence about the last command for a run; "" if there is nothing to say.
func (s *Server) notice(c *crawl) string {
	if s.control == nil {
		return ""
	}
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	return s.control.notices[c.dir]
}

// commands sets the commands of a page.
func (c *crawl) commands(p *page, s *run.Settings) {
	p.Make = report.Text(line(c.server.makeReport(c.dir)), maxCommand)
	if s.Partition != "" || s.Crawl != "" {
		p.Control, p.Ends = false, "It is a part of a crawl on several machines, which is stopped and continued where it was started."
		return
	}
	if c.state.Running {
		p.Stop = report.Text(line([]string{"touch", c.dir.Path(run.StopFile)}), maxCommand)
		return
	}
	p.More = c.more(s)
	switch {
	case s.Strategy == "":
		p.Ends = "Its settings cannot be read."
	case !isDir(c.dir.Path("frontier")):
		p.Ends = "It has no frontier any more, so it cannot be continued."
	case c.state.Reason == run.EndEmpty && !s.Recrawl:
		p.Ends = "Nothing is left to fetch."
	default:
		p.Continue = report.Text(line(c.server.continued(c.dir, s, p.More)), maxCommand)
	}
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// maxCommand is the maximum length of a command line on a page, in characters.
const maxCommand = 4096

// more returns the limit of pages with which a crawl goes on.
func (c *crawl) more(s *run.Settings) int {
	if c.totals.Fetched >= s.Pages {
		return min(2*c.totals.Fetched, endless)
	}
	return s.Pages
}

// continued returns the command line that continues a crawl, up to so many pages.
func (s *Server) continued(d run.Dir, settings *run.Settings, pages int) []string {
	words := s.prefix.Words("crawl")
	if s.control != nil {
		words = s.control.Crawl
	}
	words = append(words[:len(words):len(words)], "-run", d.Path())
	if pages != settings.Pages {
		words = append(words, "-pages", strconv.Itoa(pages))
	}
	totals, err := d.SavedTotals()
	if err != nil || totals == nil {
		return words
	}
	if settings.Generations > 0 && totals.Generation >= settings.Generations {
		words = append(words, "-generations", "0")
	}
	if settings.Relevant > 0 && totals.Relevant >= settings.Relevant {
		words = append(words, "-relevant", "0")
	}
	return words
}

// makeReport returns the command line that makes the report of a run.
func (s *Server) makeReport(d run.Dir) []string {
	words := s.prefix.Words("report")
	if s.control != nil {
		words = s.control.Report
	}
	return append(words[:len(words):len(words)], "-o", d.Path(reportFile), d.Path())
}

// command carries out a command, and shows the run again.
func (c *crawl) command(w http.ResponseWriter, r *http.Request) {
	control := c.server.control
	name := r.PathValue("command")
	if control == nil {
		fail(w, http.StatusForbidden, "This server only shows runs.", "serve -control permits commands.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 3*maxExample+1024) // an escaped address is three times as long
	if err := r.ParseForm(); err != nil {
		fail(w, http.StatusBadRequest, "The request cannot be read.", "")
		return
	}
	c.mu.Lock()
	c.looked = time.Time{} // look at the present state
	c.look(time.Now())
	settings, _ := c.loadSettings() // look has noted the error
	var p page
	if settings != nil {
		c.commands(&p, settings)
	}
	c.mu.Unlock()
	conflict := func(text string) { fail(w, http.StatusConflict, text, "The page of the run shows its state.") }
	var words []string
	switch {
	case name == "example":
		c.nameExample(w, r, settings)
		return
	case settings == nil || name != "stop" && name != "continue" && name != "make":
		fail(w, http.StatusNotFound, "There is no such command.", "")
		return
	case name == "stop" && p.Stop == "":
		conflict("The crawl is not running, or is a part of a larger one.")
		return
	case name == "stop":
		if err := c.dir.Stop(); err != nil {
			c.server.log.Warn("a crawl could not be stopped", "run", c.dir, "err", err)
			fail(w, http.StatusInternalServerError, "The crawl could not be stopped.", "The messages of serve say why.")
			return
		}
	case name == "continue" && p.Continue == "":
		conflict("The crawl is running, or cannot be continued.")
		return
	case name == "continue":
		pages := p.More
		if text := strings.TrimSpace(r.PostFormValue("pages")); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > endless {
				fail(w, http.StatusBadRequest, "The number of pages is not a whole number from 1.", "")
				return
			}
			pages = n
		}
		words = c.server.continued(c.dir, settings, pages)
	case name == "make":
		words = c.server.makeReport(c.dir)
	}
	if words != nil && !control.start(r.Context(), c.dir, name, words) {
		conflict("The report is being made.")
		return
	}
	c.mu.Lock()
	c.looked = time.Time{}
	c.mu.Unlock()
	http.Redirect(w, r, "./", http.StatusSeeOther)
}

// start starts a command for a run, and reports whether it has. It returns when the command has ended, or after
// settle.
func (c *Control) start(ctx context.Context, d run.Dir, name string, words []string) bool {
	done := c.launch(d, name, words)
	if done == nil {
		return false
	}
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(settle):
	}
	return true
}

// launch starts a command for a run. It returns a channel that is closed when the command has ended, or nil if
// it does not start it: a report is not made twice at a time, and the lock of the run prevents two crawls.
func (c *Control) launch(d run.Dir, name string, words []string) <-chan struct{} {
	c.mu.Lock()
	if c.notices == nil {
		c.notices, c.making = map[run.Dir]string{}, map[run.Dir]bool{}
	}
	makes := name == "make"
	if makes && c.making[d] {
		c.mu.Unlock()
		return nil
	}
	if makes {
		c.making[d] = true
	}
	delete(c.notices, d)
	c.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		text := attempt(d, name, words)
		c.mu.Lock()
		defer c.mu.Unlock()
		if makes {
			delete(c.making, d)
		}
		if text != "" {
			c.notices[d] = text
		}
	}()
	return done
}

// attempt runs a command to its end, which may be long after that of the server. It returns a sentence if the
// command has failed; that a signal has ended it is no failure.
func attempt(d run.Dir, name string, words []string) string {
	log, err := atomicfile.OpenFile(d.Path(messages), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return "The command " + name + " could not write to " + messages + "."
	}
	defer log.Close()
	begun, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		begun = 0
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	procgroup.Lead(cmd, 0) // Ctrl-C is for the server
	if err := cmd.Run(); err == nil {
		return ""
	} else if _, ended := errors.AsType[*exec.ExitError](err); !ended {
		return fmt.Sprintf("The command %s could not be started: %s.", name, report.Text(err.Error(), 200))
	}
	if status := cmd.ProcessState.ExitCode(); status == statusInterrupted || status == statusTerminated {
		return ""
	}
	var lines []string
	for line := range strings.Lines(lastLines(d, begun)) {
		lines = append(lines, report.Text(line, 500))
	}
	return fmt.Sprintf("The command %s ended with status %d:\n%s", name, cmd.ProcessState.ExitCode(), strings.Join(lines, "\n"))
}

// lastLines returns the end of what a command has written to the file messages, from byte begun on.
func lastLines(d run.Dir, begun int64) string {
	f, err := openInside(string(d), messages)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	b := make([]byte, min(max(0, info.Size()-begun), 2000))
	n, _ := f.ReadAt(b, info.Size()-int64(len(b))) // what could be read
	if b = b[:n]; n == 2000 {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	return strings.TrimSpace(string(b))
}
