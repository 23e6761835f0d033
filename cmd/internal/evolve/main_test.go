package evolve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"spoor/cmd/internal/scripttest"
	"spoor/internal/strategy"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"evolve": Command.Main})
}

func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{})
}

// A strategy that nobody has followed by hand may do anything.
func TestEveryStrategyHasAGenerationByHand(t *testing.T) {
	for _, kind := range strategy.Kinds() {
		script, err := os.ReadFile(filepath.Join("testdata", "script", kind.Name+".txtar"))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(script), "exec evolve -strategy "+kind.Name) {
			t.Errorf("%s.txtar does not run %[1]s", kind.Name)
		}
	}
}
