package score

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"spoor/internal/measure"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"score": Command.Main})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// Both manuals list the measures.
func TestManualsNameEveryMeasure(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(source), "\npackage main\n")
	_, comment, _ = strings.Cut(comment, "\n// # Measures\n")
	comment, _, _ = strings.Cut(comment, "-compat") // where they are listed a second time
	for _, name := range measure.Names() {
		if !regexp.MustCompile(`(?m)^//\t` + name + ` `).MatchString(comment) {
			t.Errorf("the package comment lacks %s", name)
		}
		if !regexp.MustCompile(`(?m)^    ` + name + ` `).MatchString(manual) {
			t.Errorf("score -h lacks %s", name)
		}
	}
}
