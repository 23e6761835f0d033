package spoor_test

import (
	"errors"
	"flag"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"spoor/internal/gosite"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata/script")

// ci is set where a missing tool is a failure and not a reason to skip.
var ci = os.Getenv("CI") == "true"

// workshop is where the tests of this package build the commands; TestMain
// makes it and takes it away.
var workshop string

func TestMain(m *testing.M) {
	testscript.Main(inWorkshop{m}, map[string]func(){"killafter": killafter, "status": status, "httploop": httpLoop})
}

type inWorkshop struct{ *testing.M }

func (m inWorkshop) Run() int {
	dir, err := os.MkdirTemp("", "spoor-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	workshop = dir
	return m.M.Run()
}

// build builds the commands, once, and returns the directory they are in.
var build = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(workshop, "bin")
	if err := os.Mkdir(bin, 0o777); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./cmd/...").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return bin, nil
})

// environment is what a script or a block of the documentation runs in: the
// commands at the head of PATH, the project's root in SPOOR, the documentation
// of the Go tree served at GOSITE, and the shared data, where there is any, in
// SPOOR_SHARED.
func environment(t *testing.T) []string {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatalf("building the commands: %v", err)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"SPOOR=" + root,
		"SPOOR_SHARED=" + shared(),
		"SPOOR_WARCIO=" + warcio(),
		"GOSITE=" + goSite(t),
	}
}

// shared is the directory of the shared data, "" where there is none.
func shared() string {
	dir := os.Getenv("SPOOR_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "shared")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, "webs")); err != nil {
		return ""
	}
	return dir
}

// warcio is the outside reader of WARC files, a program, "" where there is
// none. .ci/run installs it and says where in SPOOR_WARCIO.
func warcio() string {
	program := filepath.Join(os.Getenv("SPOOR_WARCIO"), "node_modules", ".bin", "warcio")
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) || os.Getenv("SPOOR_WARCIO") == "" {
		return ""
	}
	return program
}

// goDocs is the documentation of the Go tree, made once.
var goDocs = sync.OnceValues(func() (*gosite.Site, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	return gosite.New(strings.TrimSpace(string(out)))
})

// goSite serves the documentation of the Go tree for the length of a test and
// returns its address without the last slash.
func goSite(t *testing.T) string {
	t.Helper()
	site, err := goDocs()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	return server.URL
}

// need skips a test that lacks something, or fails it under CI=true.
func need(t *testing.T, what string) {
	t.Helper()
	if ci {
		t.Fatalf("%s is missing, and CI=true", what)
	}
	t.Skipf("%s is missing", what)
}
