package viewer

import (
	"bytes"
	"net/http"
	"slices"
	"sync"
	"time"

	"spoor/internal/report"
)

// A list is the list of all runs.
type list struct {
	server *Server
	feed   feed
	mu     sync.Mutex
	looked time.Time
	view   view
	runs   int
	now    int // of these, running
}

// A row is a run in the list.
type row struct {
	Name, Topic, Strategy, State, Doing string
	Fetched, Relevant                   int
	Changed                             time.Time
}

// row returns the row of a run.
func (c *crawl) row() row {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := row{Name: c.name, Topic: c.words()}
	if s, err := c.loadSettings(); err == nil && s != nil {
		r.Strategy = report.Text(s.Strategy, maxName)
	}
	state, err := c.dir.State()
	c.note("the files of its state", err)
	r.State, r.Doing = stateOf(state), doing(state, time.Now())
	totals, err := c.saved.get(c.dir.Path(totalsFile), c.dir.SavedTotals)
	c.note(totalsFile, err)
	if totals == nil { // a comparison keeps only the log
		c.look(time.Now())
		totals = c.totals
		r.Changed = c.log.changed()
	} else if c.saved.info != nil {
		r.Changed = c.saved.info.ModTime()
	}
	r.Fetched, r.Relevant = totals.Fetched, totals.Relevant
	return r
}

const totalsFile = "totals.json"

// look makes the view anew if a second has passed: the last changes first.
func (l *list) look(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.looked) < lookEvery/2 {
		return
	}
	l.looked = now
	var rows []row
	l.now = 0
	for _, c := range l.server.all(now) {
		r := c.row()
		if r.State == running || r.State == stopping {
			l.now++
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return b.Changed.Compare(a.Changed) })
	l.runs = len(rows)
	var html bytes.Buffer
	if err := pages.ExecuteTemplate(&html, "list", struct {
		Rows []row
		Dirs []string
	}{rows, l.server.dirs}); err != nil {
		l.server.log.Warn("the list of runs could not be made", "err", err)
		return
	}
	l.view = newView(html.Bytes())
}

// listNumbers are the numbers of the list of runs.
type listNumbers struct {
	Status string `json:"status"`
}

func (l *list) numbers() listNumbers {
	return listNumbers{report.Plural(l.runs, "run", "runs") + ", " + report.Number(l.now) + " running."}
}

func (l *list) event() []byte {
	l.look(time.Now())
	l.mu.Lock()
	defer l.mu.Unlock()
	return newEvent(l.view.version, l.numbers())
}

func (l *list) showView(w http.ResponseWriter, r *http.Request) {
	l.look(time.Now())
	l.mu.Lock()
	v := l.view
	l.mu.Unlock()
	v.serve(w, r)
}

func (s *Server) showList(w http.ResponseWriter, _ *http.Request) {
	l := &s.list
	l.look(time.Now())
	l.mu.Lock()
	page := struct {
		Numbers listNumbers
		View    viewed
		Control bool
		Ask     *results // of a search without words; nil if there is none
	}{l.numbers(), l.view.viewed(), s.control != nil, nil}
	if s.search != nil {
		page.Ask = new(results)
	}
	l.mu.Unlock()
	show(w, http.StatusOK, "index", page)
}
