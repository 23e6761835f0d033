package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"spoor/cmd/internal/scripttest"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"judge": Command.Main})
}

func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{
		Condition: func(cond string) (bool, error) {
			if cond == "guarded" { // there are directories that cannot be written to
				return runtime.GOOS != "windows" && os.Geteuid() != 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"weave":  weave,  // weave FILE WEB
			"damage": damage, // damage FILE OFFSET
		},
	})
}

// weave writes an archive of a web given as a file with a line for each capture, one second
// apart:
//
//	http://a.example/ -> jazz http://b.example/    a page with these links
//	http://a.example/old => /                      a redirect
//	http://a.example/no 404                        a page with that status
//	http://a.example/as == http://a.example/       a revisit of that page
func weave(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o777))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), woven(ts.ReadFile(args[1])), 0o666))
}

// woven returns the archive of a web.
func woven(web string) []byte {
	var b strings.Builder
	second := 0
	captured := map[string]int{}
	for line := range strings.Lines(web) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		block, header := "", "WARC-Type: response\r\n"
		switch kind, rest := fields[1], fields[2:]; kind {
		case "->":
			block = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>" + fields[0] + "</title>\n"
			for _, to := range rest {
				block += "<a href=\"" + to + "\">" + to + "</a>\n"
			}
		case "=>":
			block = "HTTP/1.1 301 Moved\r\nLocation: " + rest[0] + "\r\n\r\n"
		case "==":
			header = fmt.Sprintf("WARC-Type: revisit\r\nWARC-Refers-To-Target-URI: %s\r\nWARC-Refers-To-Date: 2026-01-01T00:00:%02dZ\r\n", rest[0], captured[rest[0]])
		default:
			block = "HTTP/1.1 " + kind + " Status\r\nContent-Type: text/html\r\n\r\n<title>" + kind + "</title>\n"
		}
		second++
		captured[fields[0]] = second
		fmt.Fprintf(&b, "WARC/1.1\r\n%sWARC-Record-ID: <urn:x:%d>\r\nWARC-Target-URI: %s\r\n"+
			"WARC-Date: 2026-01-01T00:00:%02dZ\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			header, second, fields[0], second, len(block), block)
	}
	return []byte(b.String())
}

// damage changes a byte of the file that a pattern matches.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	if err != nil || len(files) != 1 {
		ts.Fatalf("%s matches %q", args[0], files)
	}
	data := []byte(ts.ReadFile(files[0]))
	var at int
	if _, err := fmt.Sscan(args[1], &at); err != nil || at >= len(data) {
		ts.Fatalf("damage %s: there is no byte %s", args[0], args[1])
	}
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 1
	ts.Check(os.WriteFile(files[0], data, 0o666))
}
