package serve

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"spoor/cmd/internal/scripttest"
	"spoor/internal/testfile"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"serve": Command.Main})
}

func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{})
}

// The first line of stdout is the address; the link on stderr has the token, and the token works.
func TestTheLinkWorks(t *testing.T) {
	t.Setenv("PATH", os.Getenv("PATH"))
	t.Setenv("PROGRAM_PREFIX", "")
	dir := t.TempDir()
	testfile.Check(t, os.Mkdir(filepath.Join(dir, "jazz"), 0o777))
	testfile.Write(t, filepath.Join(dir, "jazz", "settings"), "strategy niche\n")
	stdout, out := io.Pipe()
	stderr, errors := io.Pipe()
	file := filepath.Join(dir, "token")
	go func() {
		err := serve([]string{"-addr", "127.0.0.1:0", "-token-file", file, dir}, nil, out, errors)
		out.CloseWithError(err)
		errors.CloseWithError(err)
	}()
	line := func(r io.Reader) string {
		t.Helper()
		text, err := bufio.NewReader(r).ReadString('\n')
		testfile.Check(t, err)
		return strings.TrimSpace(text)
	}
	address, link := line(stdout), line(stderr)
	token := strings.TrimSpace(string(testfile.Read(t, file)))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || len(token) < 26 {
		t.Errorf("the file of the token: %v, %v, %q", info.Mode(), err, token)
	}
	if want := "serve: open " + address + "?token=" + token; link != want || !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/$`).MatchString(address) {
		t.Fatalf("the address is %s, the link %q, want %q", address, link, want)
	}
	status := func(url, cookie string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequest("GET", url, nil)
		testfile.Check(t, err)
		r.Header.Set("Cookie", cookie)
		answer, err := http.DefaultClient.Do(r)
		testfile.Check(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		testfile.Check(t, err)
		return answer, string(body)
	}
	if answer, _ := status(address, ""); answer.StatusCode != 401 {
		t.Errorf("without the token: %s", answer.Status)
	}
	answer, _ := status(strings.TrimPrefix(link, "serve: open "), "")
	cookie, _, _ := strings.Cut(answer.Header.Get("Set-Cookie"), ";")
	if answer, body := status(address, cookie); answer.StatusCode != 200 || !strings.Contains(body, "/run/jazz/") {
		t.Errorf("with the cookie %q: %s\n%s", cookie, answer.Status, body)
	}
}
