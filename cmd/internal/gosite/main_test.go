package gosite

import (
	"bufio"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"spoor/cmd/internal/scripttest"
	"spoor/internal/testfile"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gosite": Command.Main})
}

func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{})
}

func TestFirstLineIsTheAddress(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"VERSION": "go1.99.0\n", "src/hash/hash.go": "package hash\n"} {
		testfile.Write(t, filepath.Join(root, name), text)
	}
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(run([]string{"-addr", "127.0.0.1:0", "-root", root}, nil, w, io.Discard))
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != 200 || !strings.Contains(string(body), "go1.99.0") {
		t.Errorf("%s answers %s\n%s", line, answer.Status, body)
	}
}
