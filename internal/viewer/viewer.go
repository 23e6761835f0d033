// Package viewer serves pages that show crawls, running or ended, from the files of their run directories.
//
// It takes no lock, and changes no file unless a [Control] permits it. A crawl writes a line to log.ndjson after
// each generation: the server reads what was appended, keeps sums of constant size, and reads the records of the
// last generation only. So its work does not depend on the length of a crawl, nor on the number of those who
// watch: one goroutine looks at the files of a run while somebody watches it, makes each page and each event once,
// and everybody gets the same bytes.
//
// Names, titles, addresses and operators are untrusted. They are text in templates of html/template, and the
// Content-Security-Policy permits only the script and the style of this package. The server requests nothing from
// the web.
package viewer

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"spoor/internal/report"
	"spoor/internal/run"
)

// Limits of a server.
const (
	maxWatchers = 500
	maxRuns     = 1000             // in the list
	keepUnused  = 10 * time.Minute // what was read of a run that nobody looks at
)

// reportFile is the report in a run directory, which crawl -watch and the command report write.
const reportFile = "report.html"

// A Log receives warnings. *slog.Logger implements it.
type Log interface {
	Warn(msg string, attrs ...any)
}

// Options are the options of a server.
type Options struct {
	Dirs    []string // run directories, and directories that hold some
	Access  Access
	Control *Control // nil: nobody can change anything
	Search  *Search  // nil: there is no search
	Prefix  run.Prefix
	Log     Log
}

// A Server shows the runs of some directories.
type Server struct {
	dirs    []string
	access  Access
	control *Control
	search  *Search
	prefix  run.Prefix
	log     Log
	places  chan struct{} // see feed
	list    list

	mu     sync.Mutex         // of all below
	crawls []*crawl           // in the order of dirs, then by name
	names  map[run.Dir]string // of all runs so far, so that a name keeps its meaning
	looked time.Time
	warned map[string]bool
}

// New returns a server.
func New(o *Options) *Server {
	s := &Server{access: o.Access, control: o.Control, search: o.Search, prefix: o.Prefix, log: o.Log, places: make(chan struct{}, maxWatchers),
		names: map[run.Dir]string{}, warned: map[string]bool{}}
	for _, dir := range o.Dirs {
		if absolute, err := filepath.Abs(dir); err == nil { // for the command lines that pages show
			dir = absolute
		}
		s.dirs = append(s.dirs, dir)
	}
	s.list.server = s
	s.list.feed = feed{places: s.places, look: s.list.event}
	return s
}

// Handler returns the handler of all requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.showList)
	mux.HandleFunc("GET /list", s.list.showView)
	mux.Handle("GET /events", &s.list.feed)
	mux.HandleFunc("GET /search", s.showSearch)
	mux.HandleFunc("GET /opensearch.xml", s.showDescription)
	mux.HandleFunc("GET /cached", s.showCached)
	mux.HandleFunc("GET /cached/page", s.showCapture)
	mux.HandleFunc("GET /begin", s.showBegin)
	mux.HandleFunc("POST /begin", s.showBegin)
	mux.HandleFunc("GET /run/{name}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/run/"+url.PathEscape(r.PathValue("name"))+"/", http.StatusMovedPermanently)
	})
	for pattern, show := range map[string]func(*crawl, http.ResponseWriter, *http.Request){
		"GET /run/{name}/{$}":        (*crawl).showPage,
		"GET /run/{name}/live":       (*crawl).showView,
		"GET /run/{name}/events":     (*crawl).showEvents,
		"GET /run/{name}/report":     (*crawl).showReport,
		"POST /run/{name}/{command}": (*crawl).command,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if c := s.find(r.PathValue("name")); c != nil {
				show(c, w, r)
				return
			}
			fail(w, http.StatusNotFound, "There is no such run.", "The list of runs shows what the server has found.")
		})
	}
	for name, content := range assets {
		mux.HandleFunc("GET /assets/"+name, content.serve)
	}
	return s.access.guard(mux)
}

// warnOnce logs a warning, unless it has logged the same before.
func (s *Server) warnOnce(message string, attrs ...any) {
	var key strings.Builder
	for _, a := range attrs {
		if err, ok := a.(error); ok {
			a = err.Error()
		}
		key.WriteString(cmp.Or(asText(a), "?") + " ")
	}
	s.mu.Lock()
	again := s.warned[key.String()]
	if len(s.warned) < maxRuns {
		s.warned[key.String()] = true
	}
	s.mu.Unlock()
	if !again {
		s.log.Warn(message, attrs...)
	}
}

func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case run.Dir:
		return string(v)
	}
	return ""
}

// holders are directories in which runs are, of crawls on several machines and of comparisons.
var holders = []string{"p", "work", "jobs"}

// isRun reports whether a directory is a run directory.
func isRun(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, run.SettingsFile))
	return err == nil && info.Mode().IsRegular() && !run.Dir(dir).IsNode()
}

// runs returns the run directories in dir: dir itself, or directories in it. Links are not followed, except dir
// itself.
func runs(dir string, depth int) (found []string) {
	if isRun(dir) {
		return []string{dir}
	}
	if depth > 2 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		child := filepath.Join(dir, e.Name())
		switch {
		case !e.IsDir():
		case isRun(child):
			found = append(found, child)
		case slices.Contains(holders, e.Name()) || depth == 0 && run.Dir(child).IsNode():
			found = append(found, runs(child, depth+1)...)
		}
		if len(found) >= maxRuns {
			break
		}
	}
	return found
}

// all returns the runs that exist now.
func (s *Server) all(now time.Time) []*crawl {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.looked) < lookEvery {
		return s.crawls
	}
	s.looked = now
	known := map[run.Dir]*crawl{}
	for _, c := range s.crawls {
		known[c.dir] = c
	}
	s.crawls = nil
	for _, given := range s.dirs {
		for _, dir := range runs(given, 0) {
			d := run.Dir(dir)
			if len(s.crawls) == maxRuns || slices.ContainsFunc(s.crawls, func(c *crawl) bool { return c.dir == d }) {
				continue
			}
			c := known[d]
			if c == nil {
				c = newCrawl(s, s.nameOf(d), d)
			}
			c.forgetUnused(now)
			s.crawls = append(s.crawls, c)
		}
	}
	return s.crawls
}

// nameOf returns the name of a run in addresses: that of its directory, with a number if another run has
// that name.
func (s *Server) nameOf(d run.Dir) string {
	if name, ok := s.names[d]; ok {
		return name
	}
	base := filepath.Base(string(d))
	taken := map[string]bool{}
	for _, name := range s.names {
		taken[name] = true
	}
	name := base
	for n := 2; taken[name]; n++ {
		name = base + "~" + strconv.Itoa(n)
	}
	s.names[d] = name
	return name
}

// find returns the run of a name, nil if there is none.
func (s *Server) find(name string) *crawl {
	for _, c := range s.all(time.Now()) {
		if c.name == name {
			return c
		}
	}
	return nil
}

// forgetUnused forgets what was read of a run that nobody has looked at for some time.
func (c *crawl) forgetUnused(now time.Time) {
	if c.feed.isWatched() || !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if !c.used.IsZero() && now.Sub(c.used) > keepUnused {
		c.forget()
		c.used, c.shown, c.view = time.Time{}, shown{}, view{}
	}
}

//go:embed pages.tmpl search.tmpl begin.tmpl viewer.css viewer.js
var files embed.FS

// pages are the templates.
var pages = template.Must(template.New("pages").Funcs(report.Functions()).Funcs(template.FuncMap{
	"stamp":   func(t time.Time) string { return stamp(t) },
	"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"rate":    report.Share,
	"less":    func(n int) int { return n - 1 },
	"link":    func(href, text string) struct{ Href, Text string } { return struct{ Href, Text string }{href, text} },
	"tally":   newTallies,
	"segment": url.PathEscape,
	"facets":  func(name string, list []shownFacet, any string) facetList { return facetList{name, any, list} },
}).ParseFS(files, "pages.tmpl", "search.tmpl", "begin.tmpl"))

// stamp formats a time for people.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// An asset is a file that belongs to the pages.
type asset struct {
	kind, version string
	content       []byte
}

var assets = map[string]asset{
	"viewer.js":  newAsset("text/javascript; charset=utf-8", mustRead("viewer.js")),
	"viewer.css": newAsset("text/css; charset=utf-8", append([]byte(report.Style()), mustRead("viewer.css")...)),
}

func mustRead(name string) []byte {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return b
}

func newAsset(kind string, content []byte) asset {
	sum := sha256.Sum256(content)
	return asset{kind, hex.EncodeToString(sum[:8]), content}
}

func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", `"`+a.version+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.content))
}

// serve answers with the view, or without it if the browser has it.
func (v view) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-cache, private")
	h.Set("ETag", `"`+v.version+`"`)
	h.Set("Vary", "Accept-Encoding")
	content := v.html
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && r.Header.Get("Range") == "" {
		h.Set("Content-Encoding", "gzip")
		content = v.gzip
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// show answers with a page.
func show(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	io.Copy(w, &b) // a browser that has gone needs no answer
}

// fail answers with an error.
func fail(w http.ResponseWriter, status int, what, hint string) {
	show(w, status, "message", struct{ Title, What, Hint string }{http.StatusText(status), what, hint})
}
