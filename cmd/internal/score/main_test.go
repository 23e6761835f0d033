package score

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"spoor/cmd/internal/scripttest"
	"spoor/internal/measure"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"score": Command.Main})
}

func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{})
}

// The manual lists each measure with its threshold, and describes it.
func TestManualNamesEveryMeasure(t *testing.T) {
	_, chapter, _ := strings.Cut(manual, "\n# Measures\n")
	chapter, _, _ = strings.Cut(chapter, "\n-compat") // where they are listed again
	for _, name := range measure.Names() {
		if n := len(regexp.MustCompile(`(?m)^    `+name+` `).FindAllString(chapter, -1)); n != 2 {
			t.Errorf("the manual has %d entries for %s, want 2", n, name)
		}
	}
}
