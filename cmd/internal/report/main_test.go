package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"spoor/cmd/internal/filter"
	"spoor/cmd/internal/scripttest"
	"spoor/internal/testfile"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"report": Command.Main})
}

func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{})
}

// TestTornFileIsNamed checks that the error of a truncated file contains its name.
func TestTornFileIsNamed(t *testing.T) {
	for _, name := range []string{"generations/0001/scored.ndjson.zst", "verdicts.ndjson.zst", "order.ndjson.zst"} {
		dir := t.TempDir()
		file := filepath.Join(dir, filepath.FromSlash(name))
		testfile.Check(t, os.MkdirAll(filepath.Dir(file), 0o777))
		if name == "verdicts.ndjson.zst" {
			testfile.Check(t, os.Mkdir(filepath.Join(dir, "generations"), 0o777))
		}
		f, err := filter.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			fmt.Fprintf(f, `{"url":"http://a.test/%d","generation":1}`+"\n", i*i)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		whole := testfile.Read(t, file)
		testfile.Write(t, file, whole[:len(whole)/2])
		page := filepath.Join(t.TempDir(), "page.html")
		err = makeReport([]string{"-o", page, dir}, nil, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), file) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(page); err == nil {
			t.Errorf("%s: there is a page", name)
		}
	}
}

func TestFailedWriteLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"run/generations", "taken"} {
		testfile.Check(t, os.MkdirAll(filepath.Join(dir, name), 0o777))
	}
	if err := makeReport([]string{"-o", filepath.Join(dir, "taken"), filepath.Join(dir, "run")}, nil, io.Discard, io.Discard); err == nil {
		t.Error("a directory was written over")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestNamesOfNodesAreEscaped(t *testing.T) {
	node := filepath.Join(t.TempDir(), "b\nlevel=INFO \x1b[31mc")
	if err := os.MkdirAll(filepath.Join(node, "p", "001", "generations", "0001"), 0o777); err != nil {
		t.Skip(err) // not every system has such names
	}
	for name, content := range map[string]string{"scored.ndjson.zst": "{\"url\":\"http://a.test/\",\"status_code\":200}\n", "stats.json": "{}\n"} {
		testfile.Write(t, filepath.Join(node, "p", "001", "generations", "0001", name), content)
	}
	var page, messages strings.Builder
	if err := makeReport([]string{"-o", "-", node}, nil, &page, &messages); err != nil {
		t.Fatal(err)
	}
	if said := messages.String(); !strings.Contains(said, `b\nlevel=INFO \x1b[31mc" partitions=0 generations=1`) || strings.Contains(said, "\x1b") || strings.Count(said, "\n") != 2 {
		t.Errorf("%q", said)
	}
	if strings.Contains(page.String(), "\x1b") {
		t.Error("the page has an escape character")
	}
}
