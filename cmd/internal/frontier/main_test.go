package frontier

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"spoor/cmd/internal/scripttest"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"frontier": Command.Main}) }

func TestScripts(t *testing.T) {
	scripttest.Run(t, testscript.Params{
		Condition: func(cond string) (bool, error) {
			if cond == "tmpfs" {
				return canMount(t), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"tmpfs": mountTmpfs, // tmpfs DIR SIZE
			"flip":  flip,       // flip FILE OFFSET
			"links": links,      // links FILE N
		},
	})
}

// canMount tells whether this process may mount a file system.
func canMount(t *testing.T) bool {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return false
	}
	dir := t.TempDir()
	if exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "spoor", dir).Run() != nil {
		return false
	}
	return exec.Command("umount", dir).Run() == nil
}

func mountTmpfs(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	ts.Check(exec.Command("mount", "-t", "tmpfs", "-o", "size="+args[1], "spoor", dir).Run())
	ts.Defer(func() { exec.Command("umount", dir).Run() })
}

func flip(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	b, err := os.ReadFile(name)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	b[at] ^= 0xff
	ts.Check(os.WriteFile(name, b, 0o666))
}

func links(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), manyLinks(0, n), 0o666))
}

// manyLinks are n records that do not pack well.
func manyLinks(from, n int) []byte {
	rng := rand.New(rand.NewPCG(uint64(from), 5))
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "{\"v\":1,\"url\":\"http://h%d.example/%d\",\"priority\":%g,\"niche\":\"%x%x\"}\n", i%7, from+i, rng.Float64(), rng.Uint64(), rng.Uint64())
	}
	return b.Bytes()
}
