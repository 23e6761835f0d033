package topic

import (
	"testing"

	"spoor/cmd/internal/scripttest"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"topic": Command.Main})
}

func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{})
}
