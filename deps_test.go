package spoor_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// imports says which rooms a room may import. A line is rooms, a colon, and
// what they may import: rooms, or groups named by an earlier line with "=".
//
// This is a statement of policy: change the code to fit it, not it to fit the
// code. A new room must be placed here before it can be built upon.
const imports = `
	# The floor imports nothing of ours. gosite is a web of its own and stands
	# beside it: it knows neither the record nor the crawl.
	floor = wire weburl text genetic niche robots sitemap trap lock atomicfile
	floor gosite:

	# The second row stands on the floor; its rooms do not import each other.
	# judge, search and report are given graphs and documents by cmd.
	page topic fitness graph frontier polite web archive search judge report interchange: floor

	# Strategy alone knows both the wire and the maths. A strategy that wants
	# fresh addresses emits a query.
	strategy: floor fitness topic graph

	# What the commands share knows the record and no room above it.
	cmd/internal/filter: floor

	# Measures made of a topic file: score uses them, topic explains them.
	cmd/internal/measure: floor fitness topic
`

// pure are the rooms of arithmetic: what they give depends on what they are
// given, so they see no network, no system, no clock and no log. net/url and
// net/netip are notation and allowed.
var pure = struct{ rooms, never []string }{
	rooms: []string{"text", "genetic", "niche", "fitness", "robots", "weburl", "trap", "judge"},
	never: []string{"net", "net/http", "os", "os/exec", "os/signal", "syscall", "time", "log", "log/slog", "math/rand"},
}

// quiet is what no room imports: only commands read flags and write logs.
var quiet = []string{"flag", "log", "log/slog", "os/signal"}

// strangers never meet in one program, however far apart.
var strangers = []struct{ a, b, because string }{
	{"judge", "strategy", "who steers a crawl never judges it"},
	{"search", "strategy", "a strategy emits queries; another program answers them"},
}

const module = "spoor/"

// room is the name of a package in the table: without the module, and without
// internal/, which all rooms are under.
func room(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "internal/")
}

// table reads imports: for every room, the rooms that it may import.
func table(t *testing.T) map[string][]string {
	t.Helper()
	groups, may := map[string][]string{}, map[string][]string{}
	expand := func(words string) (list []string) {
		for w := range strings.FieldsSeq(words) {
			if g, ok := groups[w]; ok {
				list = append(list, g...)
			} else {
				list = append(list, w)
			}
		}
		return list
	}
	for line := range strings.Lines(imports) {
		line, _, _ = strings.Cut(line, "#")
		if name, words, ok := strings.Cut(line, "="); ok {
			groups[strings.TrimSpace(name)] = expand(words)
			continue
		}
		rooms, words, _ := strings.Cut(line, ":")
		for _, r := range expand(rooms) {
			if _, twice := may[r]; twice {
				t.Fatalf("the table places %s twice", r)
			}
			may[r] = expand(words)
		}
	}
	return may
}

// A goPackage is what go list says of a package.
type goPackage struct {
	ImportPath    string
	Imports, Deps []string
}

// list asks for the packages of the project as one system sees them.
func list(t *testing.T, goos string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImportsPointDown(t *testing.T) {
	may := table(t)
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range list(t, goos) {
			name := room(p.ImportPath)
			allowed, placed := may[name]
			command := strings.HasPrefix(name, "cmd/") && !strings.HasPrefix(name, "cmd/internal/")
			if !placed && !command && p.ImportPath != "spoor" {
				t.Errorf("%s has no place in the table of deps_test.go", name)
				continue
			}
			for _, to := range p.Imports {
				ours := strings.HasPrefix(to, module)
				switch {
				case ours && !command && !slices.Contains(allowed, room(to)):
					t.Errorf("%s: %s imports %s, which the table of deps_test.go does not allow", goos, name, room(to))
				case !ours && slices.Contains(pure.rooms, name) && slices.Contains(pure.never, to):
					t.Errorf("%s: %s is pure and imports %s", goos, name, to)
				case !ours && strings.HasPrefix(p.ImportPath, module+"internal/") && slices.Contains(quiet, to):
					t.Errorf("%s: %s imports %s, which is for commands", goos, name, to)
				}
			}
		}
	}
}

func TestStrangersNeverMeet(t *testing.T) {
	for _, p := range list(t, "linux") {
		knows := []string{room(p.ImportPath)}
		for _, d := range p.Deps {
			if strings.HasPrefix(d, module) {
				knows = append(knows, room(d))
			}
		}
		for _, s := range strangers {
			if slices.Contains(knows, s.a) && slices.Contains(knows, s.b) {
				t.Errorf("%s holds %s and %s: %s", room(p.ImportPath), s.a, s.b, s.because)
			}
		}
	}
}
