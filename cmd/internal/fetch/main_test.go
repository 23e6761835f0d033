package fetch

import (
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"spoor/cmd/internal/scripttest"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	testscript.Main(m, map[string]func(){"fetch": Command.Main})
}

// The scripts have a site of their own at $SITE; status runs a command and checks its exit
// status, asked waits until n pages of the site have been requested.
func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{
		Setup: func(e *testscript.Env) error {
			s := newSite()
			e.Defer(s.CloseClientConnections)
			e.Values["site"] = s
			e.Setenv("SITE", s.URL)
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"asked": func(ts *testscript.TestScript, _ bool, args []string) {
				n, err := strconv.Atoi(args[0])
				ts.Check(err)
				for range n {
					<-ts.Value("site").(*site).requests
				}
			},
		},
	})
}

// A site is a web site on loopback.
type site struct {
	*httptest.Server
	requests chan struct{} // receives one for each page, unless it is full
}

func newSite() *site {
	s := &site{requests: make(chan struct{}, 1000)}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		io.WriteString(w, "User-agent: *\nDisallow: /private/\n")
		return
	}
	select {
	case s.requests <- struct{}{}:
	default:
	}
	name, arg, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	page := "<title>" + name + "</title><p>näive</p>" + strings.Repeat("<p>words and words</p>\n", 20)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch name {
	case "gzip":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, page)
		z.Close()
	case "chunked":
		for _, part := range []string{"one ", "two ", "three"} {
			io.WriteString(w, part)
			w.(http.Flusher).Flush()
		}
	case "redirect": // /redirect/xx redirects twice
		if len(arg) > 1 {
			http.Redirect(w, r, "/redirect/"+arg[1:], http.StatusFound)
		} else {
			http.Redirect(w, r, "/page", http.StatusMovedPermanently)
		}
	case "status":
		code, _ := strconv.Atoi(arg)
		w.WriteHeader(code)
		fmt.Fprint(w, "sorry")
	case "stall":
		<-r.Context().Done()
	default:
		io.WriteString(w, page)
	}
}
