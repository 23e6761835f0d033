package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// imports says which packages a package may import. A line is package names, a colon,
// and the packages that they may import; "group = names" names a group of packages.
//
// This is a statement of policy: change the code to fit it, not it to fit the
// code. A new package must be placed here before others can import it.
const imports = `
	# The base imports no other package of this module. gosite is a web site of its own and knows
	# neither the record nor the crawl.
	base = wire weburl message text genetic niche ridge relevance robots sitemap trap lock atomicfile terminal background partition procgroup pace
	base gosite:

	# Below the base, arena stores bytes for graph and strategy.
	arena:
	graph: arena

	# The row above the base imports only the base; its packages do not import each other.
	# Commands give graphs and documents to judge, search and report.
	second = page topic fitness frontier polite web archive browser search judge report interchange scope
	second: base graph

	# Only strategy knows both the record and the mathematics. A strategy that wants
	# fresh addresses emits a query.
	strategy: base arena graph fitness topic

	# The application row composes the rows below. Its packages may import each other;
	# the compiler refuses import cycles.
	application = run crawler closedweb collection comparison measure pageindex exchange metrics conformance viewer
	application: base graph second strategy application

	# What all commands share knows the record and nothing above the base. Each command is a
	# package in cmd/internal, which may import all of the above but no other command; cmd/spoor
	# imports them all.
	cmd/internal/filter: base
	scripts:

	# Programs for the Makefile and for scripts/million, which run by themselves.
	packaging planted:

	# Tests only.
	testfile:
	cmd/internal/scripttest:
	e2e:
`

// pure packages compute: their results depend on their arguments alone, so they use no
// network, files, processes, clock or log.
var pure = []string{"partition", "text", "genetic", "niche", "graph", "ridge", "relevance", "arena", "fitness", "robots", "weburl", "trap", "scope", "judge", "background"}

// impure are the packages of the standard library that neither a pure package nor any
// package outside the standard library that it imports, directly or indirectly, may
// import. net/url and net/netip only parse and print, and are allowed.
var impure = []string{"net", "net/http", "os", "os/exec", "os/signal", "syscall", "time", "log", "log/slog", "math/rand"}

// fundamental are the impure packages that the standard library's own fmt and io import.
// A pure package may reach them through the standard library, and no others.
var fundamental = []string{"os", "syscall", "time"}

// excused are imports of impure packages in other people's modules that do not matter.
var excused = map[string][]string{
	"github.com/blevesearch/snowballstem": {"log"},                // for a debugging method that nothing calls
	"golang.org/x/net/publicsuffix":       {"net/http/cookiejar"}, // for the type of a variable
}

// commandsOnly are imported by no package under internal: only commands parse flags
// and write logs.
var commandsOnly = []string{"flag", "log", "log/slog", "os/signal"}

// separate lists packages that no command may contain together, even indirectly: cmd/spoor, which is
// all commands, runs one of them in a process.
var separate = []struct{ a, b, because string }{
	{"judge", "strategy", "who steers a crawl never judges it"},
	{"search", "strategy", "a strategy emits queries; another program answers them"},
}

const module = "spoor/"

// short returns the name of a package in the table: its path without the module and
// without internal/.
func short(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "internal/")
}

// table parses imports: it returns the packages that each package may import.
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
		packages, words, _ := strings.Cut(line, ":")
		for _, p := range expand(packages) {
			if _, twice := may[p]; twice {
				t.Fatalf("the table places %s twice", p)
			}
			may[p] = expand(words)
		}
	}
	return may
}

// A goPackage is a package as go list prints it.
type goPackage struct {
	ImportPath    string
	Standard      bool
	Imports, Deps []string
}

// ours reports whether the package belongs to this project.
func (p *goPackage) ours() bool {
	return strings.HasPrefix(p.ImportPath, module)
}

// list returns the packages of the project, and all that they depend on, as built for
// one operating system.
func list(t *testing.T, goos string) map[string]*goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	cmd.Dir = inRoot()
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*goPackage{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(goPackage)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

func TestImportsPointDown(t *testing.T) {
	may := table(t)
	for _, goos := range []string{"linux", "darwin", "windows"} {
		all := list(t, goos)
		for _, p := range all {
			if !p.ours() {
				continue
			}
			name := short(p.ImportPath)
			allowed, placed := may[name]
			command := strings.HasPrefix(name, "cmd/") && !placed
			if !placed && !command {
				t.Errorf("%s is not in the table of deps_test.go", name)
				continue
			}
			for _, to := range p.Imports {
				ours := strings.HasPrefix(to, module)
				switch {
				case strings.HasPrefix(name, "cmd/internal/") && strings.HasPrefix(short(to), "cmd/") && short(to) != "cmd/internal/filter":
					t.Errorf("%s: the command %s imports the command %s", goos, name, short(to))
				case ours && !command && !slices.Contains(allowed, short(to)):
					t.Errorf("%s: %s imports %s, which the table of deps_test.go does not allow", goos, name, short(to))
				case strings.HasPrefix(p.ImportPath, module+"internal/") && slices.Contains(commandsOnly, to):
					t.Errorf("%s: %s imports %s, which is for commands", goos, name, to)
				}
			}
			if slices.Contains(pure, name) {
				for _, wrong := range impureImports(all, p) {
					t.Errorf("%s: %s is pure and %s", goos, name, wrong)
				}
			}
		}
	}
}

// impureImports lists the ways in which a pure package reaches impure packages.
func impureImports(all map[string]*goPackage, pure *goPackage) (wrong []string) {
	for _, path := range append([]string{pure.ImportPath}, pure.Deps...) {
		p := all[path]
		if p == nil || p.Standard {
			continue
		}
		for _, to := range p.Imports {
			if slices.Contains(excused[path], to) {
				continue
			}
			if slices.Contains(impure, to) {
				wrong = append(wrong, path+" imports "+to)
			}
			if q := all[to]; q != nil && q.Standard {
				for _, d := range q.Deps {
					if slices.Contains(impure, d) && !slices.Contains(fundamental, d) {
						wrong = append(wrong, path+" imports "+to+", which reaches "+d)
					}
				}
			}
		}
	}
	return wrong
}

func TestSeparatePackagesStaySeparate(t *testing.T) {
	all := list(t, "linux")
	for _, p := range all {
		if !p.ours() {
			continue
		}
		knows := []string{short(p.ImportPath)}
		for _, d := range p.Deps {
			if strings.HasPrefix(d, module) {
				knows = append(knows, short(d))
			}
		}
		for _, s := range separate {
			if p.ImportPath != module+"cmd/spoor" && slices.Contains(knows, s.a) && slices.Contains(knows, s.b) {
				t.Errorf("%s contains %s and %s: %s", short(p.ImportPath), s.a, s.b, s.because)
			}
		}
	}
}

// Where a processor can multiply and add at once, the compiler lets it, and the sum differs in
// its last bit from that of other machines. A conversion prevents it: float64(a*b) + c.
func TestNumbersAreTheSameOnAllProcessors(t *testing.T) {
	skipShort(t, "compiles for another processor: not with -short")
	t.Parallel()
	args := []string{"build", "-trimpath", "-gcflags=-S"}
	for _, name := range slices.Concat(pure, []string{"topic", "measure", "strategy"}) {
		args = append(args, "./internal/"+name)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = inRoot()
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fused := regexp.MustCompile(`\((\S+:\d+)\)\tFN?M(ADD|SUB)[DS]\t`)
	instructions := 0
	seen := map[string]bool{}
	for s := bufio.NewScanner(out); s.Scan(); {
		instructions++
		if m := fused.FindSubmatch(s.Bytes()); m != nil && !seen[string(m[1])] {
			seen[string(m[1])] = true
			t.Errorf("%s: a product is added without a conversion: write float64(a*b) + c", m[1])
		}
	}
	if err := cmd.Wait(); err != nil || instructions < 100_000 {
		t.Errorf("%d lines of assembly: %v", instructions, err)
	}
}
