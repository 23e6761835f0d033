package viewer

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"spoor/internal/archive"
	"spoor/internal/pageindex"
	"spoor/internal/report"
	"spoor/internal/run"
	"spoor/internal/search"
)

// A Search answers queries by the pages that runs have captured. It adds new pages to its index when somebody
// searches.
type Search struct {
	file     string
	archives []string // in addition to those of the runs
	cache    string
	index    *search.Index
	log      Log
	cached   cachedPages

	mu       sync.Mutex
	updating chan struct{} // closed when the update that is going on has ended; nil if there is none
	updated  time.Time
	took     time.Duration
	pages    int
	failed   bool
	ranked   map[run.Dir]int // fetched pages when the ranks of a run were set
}

// Between two updates passes at least updateEvery, and so many times as long as the last one took.
const (
	updateEvery = 5 * time.Second
	updateShare = 10
)

// A request waits for the update that is going on: for at most firstWait if it has a query and the index has no page
// yet, else for at most updateWait, which is enough to see that there is nothing new.
const (
	firstWait  = 3 * time.Second
	updateWait = 200 * time.Millisecond
)

// OpenSearch opens the index in a file, which is created if it does not exist. Besides the captures of runs it
// holds the pages of archives. cache is the directory for the places of pages in archives.
func OpenSearch(file string, archives []string, cache string, log Log) (*Search, error) {
	index, err := search.OpenIndex(file, true)
	if err != nil {
		return nil, err
	}
	s := &Search{file: file, archives: archives, cache: cache, index: index, log: log, ranked: map[run.Dir]int{}}
	if s.pages, err = index.Len(); err != nil {
		index.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the index. An update that is going on ends when the process does; the next one goes on from there.
func (s *Search) Close() error { return s.index.Close() }

// refresh begins an update, unless there is one, or was one a short time ago. Then it waits for the end of the update,
// but not longer than the constants above permit; asked says whether the request has a query.
func (s *Search) refresh(ctx context.Context, dirs []run.Dir, asked bool) {
	s.mu.Lock()
	if s.updating == nil && (s.updated.IsZero() || time.Since(s.updated) >= max(updateEvery, updateShare*s.took)) {
		s.begin(dirs)
	}
	updating := s.updating
	s.mu.Unlock()
	if updating == nil {
		return
	}
	wait := updateWait
	if n, err := s.index.Len(); asked && err == nil && n == 0 {
		wait = firstWait
	}
	select {
	case <-updating:
	case <-time.After(wait):
	case <-ctx.Done():
	}
}

// begin begins an update. The caller holds s.mu.
func (s *Search) begin(dirs []run.Dir) {
	updating := make(chan struct{})
	s.updating = updating
	go func() {
		defer close(updating)
		begun := time.Now()
		err := s.update(dirs)
		if err != nil {
			s.log.Warn("the index could not be updated", "index", s.file, "err", err)
		}
		pages, countErr := s.index.Len()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.updating, s.updated, s.took, s.failed = nil, time.Now(), time.Since(begun), err != nil
		if countErr == nil {
			s.pages = pages
		}
	}()
}

// update adds the new pages of the archives to the index, and sets the ranks of those of runs.
func (s *Search) update(dirs []run.Dir) error {
	archives := s.archives[:len(s.archives):len(s.archives)]
	for _, d := range dirs {
		captures, err := archive.Files([]string{d.Path(run.Captures)})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		archives = append(archives, captures...)
	}
	if len(archives) == 0 {
		return nil
	}
	x, err := pageindex.Open(s.file, archives, pageindex.Options{BadRecord: func(archive string, err error) {
		s.log.Warn("left out a part of an archive that cannot be read", "archive", archive, "err", err)
	}})
	if err != nil {
		return err
	}
	defer x.Close()
	for _, d := range dirs {
		if err := s.rank(x, d); err != nil {
			return err
		}
	}
	return nil
}

// hitsPerPage and maxPage limit the hits that a browser sees, maxQuery the characters of the query on its page.
const (
	hitsPerPage = 10
	maxPage     = 100
	maxQuery    = 1000 // as in the form
)

// weights are those of the ranks beside the words; see doc/guide/watching.md.
var weights = search.Weights{Relevance: 0.5, Authority: 0.1}

// A results holds what the template search shows. Its strings are cleaned.
type results struct {
	Active, Asked    bool // whether there is an index, and a query
	Words            string
	Language, Host   string
	Pages, Total     int
	From             int // number of the first hit
	Updating         bool
	Failed           bool
	Hits             []shownHit
	Hosts            []shownFacet
	Languages        []shownFacet
	Before, After    string // links to other hits; "" if there are none
	AnyHost, AnyLang string // links without these restrictions; "" if there are none
}

type shownHit struct {
	Title, URL, Href, Cached, Language string
	Time                               time.Time
	Parts                              []part
	Copies                             int
}

// A part is a part of a snippet, with a word of the query or without.
type part struct {
	Text string
	Mark bool
}

// A facetList is a list of facets, with the link to the answer without a restriction.
type facetList struct {
	Name, Any string
	List      []shownFacet
}

type shownFacet struct {
	Name, Href string
	Count      int
}

// question is what the parameters of a request ask for.
type question struct {
	words, language, host string
	page                  int
}

func questionOf(r *http.Request) question {
	q := r.URL.Query()
	page, err := strconv.Atoi(cmp.Or(q.Get("pageno"), "1"))
	if err != nil {
		page = 1
	}
	language := q.Get("language")
	if language == "all" || language == "auto" { // as clients of SearXNG say
		language = ""
	}
	return question{strings.TrimSpace(q.Get("q")), language, q.Get("host"), max(1, min(page, maxPage))}
}

// href returns the address of the answer to a question.
func (q question) href() string {
	v := url.Values{"q": {q.words}}
	if q.language != "" {
		v.Set("language", q.language)
	}
	if q.host != "" {
		v.Set("host", q.host)
	}
	if q.page > 1 {
		v.Set("pageno", strconv.Itoa(q.page))
	}
	return "/search?" + v.Encode()
}

// ask answers a question.
func (s *Search) ask(ctx context.Context, q question) (*search.Answer, error) {
	return s.index.Find(ctx, search.Query{Words: q.words, Language: q.language, Host: q.host, Offset: (q.page - 1) * hitsPerPage, Limit: hitsPerPage, Weights: weights})
}

// showSearch answers queries, with a page or, if the parameter format is json, for programs.
func (s *Server) showSearch(w http.ResponseWriter, r *http.Request) {
	q, x := questionOf(r), s.search
	view := results{Words: report.Text(q.words, maxQuery), Language: report.Text(q.language, maxName), Host: report.Text(q.host, maxURL), Active: x != nil, Asked: q.words != ""}
	var answer search.Answer
	if x != nil {
		x.refresh(r.Context(), s.runDirs(), view.Asked)
		x.mu.Lock()
		view.Pages, view.Updating, view.Failed = x.pages, x.updating != nil, x.failed
		x.mu.Unlock()
		if view.Updating { // x.pages is the number before it
			if n, err := x.index.Len(); err == nil {
				view.Pages = n
			}
		}
		if view.Asked {
			found, err := x.ask(r.Context(), q)
			if r.Context().Err() != nil { // the client has gone, or serve ends
				fail(w, http.StatusServiceUnavailable, "The query was interrupted.", "")
				return
			}
			if err != nil {
				s.warnOnce("a query could not be answered", "index", x.file, "err", err)
				fail(w, http.StatusInternalServerError, "The query could not be answered.", "The messages of serve say why.")
				return
			}
			answer = *found
		}
	}
	if r.URL.Query().Get("format") == "json" {
		s.sendJSON(w, q, &answer)
		return
	}
	view.fill(q, &answer)
	show(w, http.StatusOK, "search", &view)
}

// fill sets what is shown of an answer.
func (v *results) fill(q question, a *search.Answer) {
	v.Total, v.From = a.Total, (q.page-1)*hitsPerPage+1
	for _, h := range a.Hits {
		hit := shownHit{Title: report.Text(h.Title, maxTitle), URL: report.Text(h.URL, maxURL), Href: report.Link(h.URL),
			Cached: "/cached?" + url.Values{"url": {h.URL}}.Encode(), Language: report.Text(h.Language, maxName), Time: h.Time, Copies: h.Copies}
		at := 0
		for _, m := range h.Snippet.Marks {
			hit.Parts = append(hit.Parts, part{h.Snippet.Text[at:m.Start], false}, part{h.Snippet.Text[m.Start:m.End], true})
			at = m.End
		}
		hit.Parts = append(hit.Parts, part{h.Snippet.Text[at:], false})
		v.Hits = append(v.Hits, hit)
	}
	link := func(change func(*question)) string {
		other := q
		other.page = 1
		change(&other)
		return other.href()
	}
	for _, f := range a.Hosts {
		v.Hosts = append(v.Hosts, shownFacet{report.Text(f.Name, maxName), link(func(o *question) { o.host = f.Name }), f.Count})
	}
	for _, f := range a.Languages {
		v.Languages = append(v.Languages, shownFacet{report.Text(f.Name, maxName), link(func(o *question) { o.language = f.Name }), f.Count})
	}
	if q.host != "" {
		v.AnyHost = link(func(o *question) { o.host = "" })
	}
	if q.language != "" {
		v.AnyLang = link(func(o *question) { o.language = "" })
	}
	if q.page > 1 {
		v.Before = link(func(o *question) { o.page = q.page - 1 })
	}
	if q.page < maxPage && q.page*hitsPerPage < a.Total {
		v.After = link(func(o *question) { o.page = q.page + 1 })
	}
}

// sendJSON sends an answer in the form of SearXNG, which search -searxng and other programs read.
func (s *Server) sendJSON(w http.ResponseWriter, q question, a *search.Answer) {
	type result struct {
		URL      string  `json:"url"`
		Title    string  `json:"title"`
		Content  string  `json:"content"`
		Score    float64 `json:"score"`
		Date     string  `json:"publishedDate"` // of the capture, RFC 3339
		Language string  `json:"language"`
		Engine   string  `json:"engine"`
		Copies   int     `json:"copies,omitempty"` // other pages with the same text, which are not results
	}
	answer := struct {
		Query   string   `json:"query"`
		Total   int      `json:"number_of_results"`
		Results []result `json:"results"`
	}{q.words, a.Total, []result{}}
	for _, h := range a.Hits {
		answer.Results = append(answer.Results, result{h.URL, h.Title, h.Snippet.Text, h.Score, h.Time.UTC().Format(time.RFC3339), h.Language, "spoor", h.Copies})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer) // a client that has gone needs no answer
}

// showDescription describes the search for browsers and programs (OpenSearch 1.1).
func (s *Server) showDescription(w http.ResponseWriter, r *http.Request) {
	base := url.URL{Scheme: "http", Host: r.Host, Path: "/search"}
	if r.TLS != nil {
		base.Scheme = "https"
	}
	type address struct {
		Type     string `xml:"type,attr"`
		Template string `xml:"template,attr"`
	}
	const parameters = "?q={searchTerms}&pageno={startPage?}&language={language?}"
	w.Header().Set("Content-Type", "application/opensearchdescription+xml")
	w.Write([]byte(xml.Header)) // a client that has gone needs no answer
	xml.NewEncoder(w).Encode(struct {
		XMLName     xml.Name  `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
		ShortName   string    `xml:"ShortName"`
		Description string    `xml:"Description"`
		Encoding    string    `xml:"InputEncoding"`
		Addresses   []address `xml:"Url"`
	}{ShortName: "spoor", Description: "Pages found by crawls", Encoding: "UTF-8", Addresses: []address{
		{"text/html", base.String() + parameters}, {"application/json", base.String() + parameters + "&format=json"}}})
}

// runDirs returns the directories of the runs that exist now.
func (s *Server) runDirs() (dirs []run.Dir) {
	for _, c := range s.all(time.Now()) {
		dirs = append(dirs, c.dir)
	}
	return dirs
}
