// Package e2e tests whole programs: the commands and scripts, in processes of their own.
package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"io"
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

// ci is set if a missing tool fails a test instead of skipping it.
var ci = os.Getenv("CI") == "true"

// buildDir is a temporary directory for programs of others that the tests of this package build.
var buildDir string

func TestMain(m *testing.M) {
	testscript.Main(withBuildDir{m}, testCommands)
}

// testCommands are the commands that the tests of this package run beside those of the project.
var testCommands = map[string]func(){"killafter": killafter, "status": status, "httploop": httpLoop}

// withBuildDir runs the tests with a build directory.
type withBuildDir struct{ *testing.M }

func (m withBuildDir) Run() int {
	dir, err := os.MkdirTemp("", "spoor-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	buildDir = dir
	return m.M.Run()
}

// inRoot returns the absolute path of a file in the root of the project.
func inRoot(elem ...string) string {
	path, err := filepath.Abs(filepath.Join(append([]string{".."}, elem...)...))
	if err != nil {
		panic(err)
	}
	return path
}

// build builds the commands once, as the Makefile does, and returns their directory. It is the
// Makefile's, because go links no program again that is there and up to date.
func build(t testing.TB) string {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatalf("building the commands: %v", err)
	}
	return bin
}

var built = sync.OnceValues(func() (string, error) {
	bin := inRoot("bin")
	cmd := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./cmd/...")
	cmd.Dir = inRoot()
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return bin, nil
})

// environment returns the variables for scripts and for the examples of the documentation:
// PATH, with the commands first; SPOOR, the root of the project; GOSITE, the address of a
// server of the Go documentation; SPOOR_SHARED and SPOOR_WARCIO, the results of shared and
// warcio.
func environment(t *testing.T) []string {
	t.Helper()
	return []string{
		"PATH=" + build(t) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"SPOOR=" + inRoot(),
		"SPOOR_SHARED=" + shared(),
		"SPOOR_WARCIO=" + warcio(),
		"GOSITE=" + goSite(t),
	}
}

// shared returns the directory of the shared data, or "" if there is none.
func shared() string {
	dir := cmp.Or(os.Getenv("SPOOR_SHARED"), filepath.Join("..", "shared"))
	if !filepath.IsAbs(dir) {
		dir = inRoot(dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "webs")); err != nil {
		return ""
	}
	return dir
}

// warcio returns the program warcio, an independent reader of WARC files, or "" if it is not
// installed. .ci/run installs it and sets SPOOR_WARCIO to its directory.
func warcio() string {
	program := filepath.Join(os.Getenv("SPOOR_WARCIO"), "node_modules", ".bin", "warcio")
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) || os.Getenv("SPOOR_WARCIO") == "" {
		return ""
	}
	return program
}

// goDocs returns the documentation of the Go tree.
func goDocs(t testing.TB) *gosite.Site {
	t.Helper()
	site, err := readGoDocs()
	if err != nil {
		t.Fatal(err)
	}
	return site
}

var readGoDocs = sync.OnceValues(func() (*gosite.Site, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	return gosite.New(strings.TrimSpace(string(out)))
})

// goSite serves the documentation of the Go tree during a test, and returns its address
// without the final slash.
func goSite(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(goDocs(t))
	t.Cleanup(server.Close)
	return server.URL
}

// jsonLines returns the values in the lines of an output.
func jsonLines[T any, S string | []byte](t testing.TB, output S) (all []T) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(string(output))); ; {
		var v T
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
}

// skipShort skips a test in short mode.
func skipShort(t *testing.T, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip(why)
	}
}

// need skips a test because something is missing, or fails it if CI=true.
func need(t *testing.T, what string) {
	t.Helper()
	if ci {
		t.Fatalf("%s is missing, and CI=true", what)
	}
	t.Skipf("%s is missing", what)
}
