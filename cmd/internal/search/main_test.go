package search

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"spoor/cmd/internal/scripttest"
	"spoor/internal/archive"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"search": Command.Main})
}

func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{
		Setup: func(env *testscript.Env) error {
			server := httptest.NewServer(new(metasearch))
			env.Defer(server.Close)
			env.Setenv("SEARXNG", server.URL)
			return write(filepath.Join(env.WorkDir, "web", "w"), library...)
		},
	})
}

// library holds the pages that the scripts search.
var library = []capture{
	{path: "jazz", body: "<title>Jazz</title><p>Jazz began in New Orleans. <a href=bop>hard bop</a>"},
	{path: "bop", body: "<title>Hard bop</title><p>Jazz of the fifties: Blakey, Silver, Morgan."},
	{path: "blakey", body: "<title>Art Blakey</title><p>Art Blakey led the Jazz Messengers, hard bop for forty years."},
	{path: "gone", status: "404 Not Found", body: "<title>Jazz</title>no jazz here"},
	{path: "jazz.txt", media: "text/plain", body: "jazz in plain text"},
	{path: "tea", body: "<title>Tea</title><p>Leaves and hot water."},
}

// A capture is a page of http://x.example/ in an archive.
type capture struct {
	path, status, media, body string
	day                       int // 1 by default
}

func (c capture) exchange() *archive.Exchange {
	if c.status == "" {
		c.status = "200 OK"
	}
	if c.media == "" {
		c.media = "text/html"
	}
	return &archive.Exchange{
		URL:  "http://x.example/" + c.path,
		Time: time.Date(2026, 1, max(c.day, 1), 0, 0, 0, 0, time.UTC),
		Head: fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", c.status, c.media, len(c.body)),
		Body: []byte(c.body),
	}
}

// writer returns a writer of archives whose names begin with prefix.
func writer(prefix string) (*archive.Writer, error) {
	if err := os.MkdirAll(filepath.Dir(prefix), 0o777); err != nil {
		return nil, err
	}
	return archive.NewWriter(archive.WriterOptions{
		Prefix: prefix, Host: "h", Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
	})
}

// write writes an archive.
func write(prefix string, pages ...capture) error {
	w, err := writer(prefix)
	if err != nil {
		return err
	}
	for _, p := range pages {
		if _, err := w.Write(p.exchange()); err != nil {
			return err
		}
	}
	return w.Close()
}

// metasearch is a server with the API of SearXNG. The query determines the answer: "down" is
// status 500, "slow" is no answer, "none" has no results, "mute" has none because an engine
// failed, "n results" has that many, and all others have as many as there were requests.
type metasearch struct {
	mu    sync.Mutex
	asked int
}

func (m *metasearch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.asked++
	asked := m.asked
	m.mu.Unlock()
	q := r.URL.Query()
	var urls []string
	silent := ""
	words := strings.Fields(q.Get("q"))
	switch {
	case q.Get("format") != "json" || q.Get("theme") == "closed":
		http.Error(w, "403", http.StatusForbidden)
		return
	case !strings.HasSuffix(r.URL.Path, "/search"):
		http.NotFound(w, r)
		return
	case len(words) == 1 && words[0] == "slow":
		<-r.Context().Done()
		return
	case len(words) == 1 && words[0] == "down":
		http.Error(w, "down", http.StatusInternalServerError)
		return
	case q.Get("pageno") != "1" || len(words) == 1 && words[0] == "none":
	case len(words) == 1 && words[0] == "mute":
		silent = `["bing","timeout"]`
	case len(words) == 2 && words[1] == "results":
		n, err := strconv.Atoi(words[0])
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for i := range n {
			urls = append(urls, fmt.Sprintf("https://r.example/%d", i))
		}
	default:
		urls = []string{fmt.Sprintf("https://asked.example/%d", asked), "javascript:alert(1)", "HTTPS://ASKED.example:443/x/../same", "https://asked.example/same#top"}
	}
	var results []string
	for i, u := range urls {
		results = append(results, fmt.Sprintf(`{"url":%q,"title":"T","content":"C","engine":"brave","engines":["brave"],"positions":[%d],"score":%g,"category":"general"}`, u, i+1, 1/float64(i+1)))
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"query":"","number_of_results":0,"results":[`+strings.Join(results, ",")+`],"answers":[],"corrections":[],"infoboxes":[],"suggestions":[],"unresponsive_engines":[`+silent+`]}`)
}
