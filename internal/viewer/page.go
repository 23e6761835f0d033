package viewer

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/report"
	"spoor/internal/run"
)

// A viewed is a view as part of a page.
type viewed struct {
	Version string
	HTML    template.HTML
}

func (v view) viewed() viewed { return viewed{v.version, template.HTML(v.html)} }

// A page holds what the template live shows. Its strings are cleaned.
type page struct {
	Name       string
	State      string
	Failed     string // what could not be read
	Notice     string // of the last command
	Charts     report.Charts
	Operators  []operator
	Most       int // cost of the first operator
	Errors     []tallied
	Skipped    []tallied
	NoFollow   int
	Generation generation
	Estimates  bool      // whether a page of the generation has one
	Report     time.Time // zero if there is none
	Control    bool      // whether there are buttons
	Stop       string    // the command line that stops the crawl; "" if it cannot be stopped
	Continue   string    // the command line that continues the crawl; "" if it cannot be continued
	Ends       string    // why it cannot be continued
	More       int       // the limit of pages with which it can be continued
	Make       string    // the command line that makes the report
	Teaches    bool      // whether the crawl learns from examples
	Examples   []example
	MoreNamed  int    // number of further examples
	NamedIn    string // the file of examples
	Since      int    // generation from which on they are used; 0: they are not yet
}

// An operator is a row of the table of operators.
type operator struct {
	Name           string
	Cost, Relevant int
}

// maxOperators is the number of operators in the table.
const maxOperators = 24

// page returns what the template live shows.
func (c *crawl) page(s *run.Settings, examples map[string]bool) *page {
	t := c.totals
	p := &page{
		Name: c.name, State: stateOf(c.state), Failed: c.failed, Notice: c.shown.notice,
		Charts: c.charts.Run().Charts(), Errors: tally(t.Errors), Skipped: tally(t.Last.Skipped), NoFollow: t.NoFollow,
		Generation: c.last, Estimates: slices.ContainsFunc(c.last.Found, func(f found) bool { return f.Estimate == f.Estimate }),
		Control: c.server.control != nil,
	}
	var rest operator
	names := slices.SortedFunc(maps.Keys(t.Operators), func(a, b string) int {
		return cmp.Or(t.Operators[b].Cost-t.Operators[a].Cost, cmp.Compare(a, b))
	})
	for i, name := range names {
		y := t.Operators[name]
		if i >= maxOperators {
			rest = operator{"all others", rest.Cost + y.Cost, rest.Relevant + y.Relevant}
			continue
		}
		p.Operators = append(p.Operators, operator{report.Text(cmp.Or(name, "unknown"), maxName), y.Cost, y.Relevant})
		p.Most = max(p.Most, y.Cost)
	}
	if rest.Cost > 0 {
		p.Operators = append(p.Operators, rest)
		p.Most = max(p.Most, rest.Cost)
	}
	if c.report != nil {
		p.Report = c.report.ModTime()
	}
	c.commands(p, s)
	if teaches(s) {
		p.Teaches, p.NamedIn = true, report.Text(c.dir.Path(run.ExamplesFile), maxCommand)
		p.name(examples)
		if len(p.Examples) > 0 {
			p.Since = c.examplesSince()
		}
	}
	return p
}

// A header is what the template run shows in addition.
type header struct {
	Name, Topic, Strategy string
	Numbers               numbers
	View                  viewed
}

func (c *crawl) showPage(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	now := time.Now()
	c.look(now)
	h := header{c.name, c.shown.topic, report.Text(c.shown.strategy, maxName), c.numbers(now), c.view.viewed()}
	c.mu.Unlock()
	show(w, http.StatusOK, "run", &h)
}

func (c *crawl) showView(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.look(time.Now())
	v := c.view
	c.mu.Unlock()
	v.serve(w, r)
}

func (c *crawl) showEvents(w http.ResponseWriter, r *http.Request) { c.feed.ServeHTTP(w, r) }

// reportPolicy applies to reports in addition to their own policy, which names their style and script. A report
// is an origin of its own, from which nothing of this server can be read or requested.
const reportPolicy = "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// reload matches the element with which a report of crawl -watch loads itself again.
const reload = `<meta http-equiv="refresh" content="`

// showReport answers with the report in the run directory. It does not follow links: they may lead to a file that
// nobody should see. The element with which a report loads itself again is removed, because from the origin of
// its own a browser would send no cookie.
func (c *crawl) showReport(w http.ResponseWriter, _ *http.Request) {
	f, err := openInside(string(c.dir), reportFile)
	if errors.Is(err, fs.ErrNotExist) {
		fail(w, http.StatusNotFound, "There is no report yet.", "The page of the run has the command that makes it.")
		return
	}
	if err != nil {
		c.server.warnOnce("a file could not be read", "run", c.dir, "err", err)
		fail(w, http.StatusForbidden, "The report cannot be read.", "")
		return
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", reportPolicy)
	b := bufio.NewReaderSize(f, 4096)
	head, err := b.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		fail(w, http.StatusInternalServerError, "The report cannot be read.", "")
		return
	}
	b.Discard(len(head)) // it has been read
	if at := bytes.Index(head, []byte(reload)); at >= 0 {
		if end := bytes.IndexByte(head[at:], '>'); end >= 0 {
			head = slices.Concat(head[:at], head[at+end+1:])
		}
	}
	io.Copy(w, io.MultiReader(bytes.NewReader(head), b)) // a browser that has gone needs no answer
}

// openInside opens a regular file of a directory, but no link.
func openInside(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a named pipe would wait
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is not a regular file")}
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	return atomicfile.RequireRegular(f)
}

// line returns the words of a command line as a shell reads them.
func line(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = run.Quote(w)
	}
	return strings.Join(quoted, " ")
}
