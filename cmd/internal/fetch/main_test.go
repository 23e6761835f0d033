package fetch

import (
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata/script")

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	testscript.Main(m, map[string]func(){"fetch": Command.Main})
}

// The scripts have a site of their own at $SITE; status runs a command and checks its exit
// status, asked waits until n pages of the site have been requested.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			s := newSite()
			e.Defer(s.CloseClientConnections)
			e.Values["site"] = s
			e.Setenv("SITE", s.URL)
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": func(ts *testscript.TestScript, neg bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				err = ts.Exec(args[1], args[2:]...)
				got := 0
				if exit, ok := errors.AsType[*exec.ExitError](err); ok {
					got = exit.ExitCode()
				} else {
					ts.Check(err)
				}
				if (got == want) == neg {
					ts.Fatalf("status %d", got)
				}
			},
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
