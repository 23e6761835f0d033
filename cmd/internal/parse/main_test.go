package parse

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/cmd/internal/scripttest"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"parse": Command.Main})
}

func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{
		Setup: setup,
	})
}

// setup adds files that a script cannot contain: an archive, whose lines end in CR LF, a page
// too deep for a tree, one on which cascadia's own search does not end, and one with a long list.
func setup(env *testscript.Env) error {
	archive := warc("http://a.example/", "http://a.example/b?q=1", "http://c.example/")
	deep := `{"url":"http://a.example/deep","status_code":200,"content_type":"text/html","body":"` +
		strings.Repeat("<div>", 100_000) + `<h1>Deep</h1> <a href=b>down here</a>"}` + "\n"
	nested := `{"url":"http://a.example/nested","status_code":200,"content_type":"text/html","body":"` +
		strings.Repeat("<div>", 500) + strings.Repeat("<a>y</a>", 2000) + `"}` + "\n"
	list := `{"url":"http://a.example/list","status_code":200,"content_type":"text/html","error_detail":"before","body":"<h1>List</h1>` +
		strings.Repeat("<br>", 20_000) + `"}` + "\n"
	for name, data := range map[string]string{"web.warc": archive, "deep.ndjson": deep, "nested.ndjson": nested, "list.ndjson": list} {
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(data), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// warc returns an archive of empty pages.
func warc(urls ...string) string {
	var b strings.Builder
	for i, url := range urls {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"
		fmt.Fprintf(&b, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-%012d>\r\n"+
			"WARC-Target-URI: %s\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"+
			"Content-Length: %d\r\n\r\n%s\r\n\r\n", i, url, len(block), block)
	}
	return b.String()
}
