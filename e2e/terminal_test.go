package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spoor/internal/terminal"
	"spoor/internal/testfile"
)

// directUses are the functions of commands that use the stdout or stderr of the process itself,
// and the functions that print to a writer that is neither stderr, nor a buffer, nor filter.Text,
// because what they print is a record or is written to a file. Text that people read must not be
// among them: see internal/terminal.
var directUses = map[string]string{
	"cmd/internal/filter/filter.go Main os.Stderr":                 "wrapped in a terminal.Writer",
	"cmd/internal/filter/filter.go Main os.Stdout":                 "records, escaped on a terminal, and help through Text",
	"cmd/internal/filter/manual.go short w":                        "a page that Main prints through Text",
	"cmd/internal/filter/manual.go whole w":                        "a page that Main prints through Text",
	"cmd/internal/filter/files.go Open os.Stderr":                  "a note, through Text",
	"cmd/internal/filter/ended.go noteEnd f":                       "the file ended",
	"cmd/internal/exchange/commands_unix.go runCommands os.Stderr": "a pipe to exchange hold, which escapes what it prints",
	"cmd/internal/exchange/commands_unix.go runCommands stdout":    "orders' answers, for exchange hold",
	"cmd/internal/exchange/hold.go order c.in":                     "orders, for its own child",
	"cmd/internal/conform/main.go conform os.Stderr":               "asked whether it is a terminal",
	"cmd/internal/gosite/main.go run stdout":                       "its own address, for programs",
	"cmd/internal/serve/main.go serve stdout":                      "its own address, for programs",
	"cmd/internal/topic/explain.go runExplain out":                 "an empty line",
	"cmd/internal/run/init_unix.go asInit os.Stderr":               "passed on to its child, which escapes what it prints",
	"cmd/internal/run/init_unix.go asInit os.Stdout":               "passed on to its child, which escapes what it prints",
	"internal/run/ended.go NoteEnd f":                              "the file ended",
	"internal/run/open.go Hold f":                                  "the file lock",
	"internal/run/settings.go sample h":                            "a hash",
	"internal/run/serve.go SummarizeTo w":                          "records",
	"internal/run/stage.go run os.Stderr":                          "stages.log, for a stage of the user",
	"internal/run/view.go Clear v.Screen":                          "control sequences of its own",
	"internal/run/view.go Waiting v.Screen":                        "control sequences of its own and a time",
	"internal/run/view.go Final v.Screen":                          "control sequences of its own; block escapes names",
	"internal/run/view.go draw v.Screen":                           "control sequences of its own; block escapes names",
}

// Text that people read reaches a terminal only through internal/terminal: every print of a
// command and of internal/run goes to the stderr that filter.Main has wrapped, to filter.Text, to
// a buffer, or is in the list above.
func TestTextForPeopleIsEscaped(t *testing.T) {
	found := map[string]bool{}
	project := os.DirFS(inRoot())
	for _, dir := range []string{"cmd", "internal/run"} {
		err := fs.WalkDir(project, dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), inRoot(path), nil, 0)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				for _, use := range uses(decl) {
					found[path+" "+use] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, use := range slices.Sorted(maps.Keys(found)) {
		if _, ok := directUses[use]; !ok {
			t.Errorf("%s: text for people must go to stderr or through filter.Text; records and files belong into the list of this test", use)
		}
	}
	for use := range directUses {
		if !found[use] {
			t.Errorf("%s: is in the list, but not in the source", use)
		}
	}
}

// uses returns the direct uses in a declaration: the name of the function, and the stream.
func uses(decl ast.Decl) (list []string) {
	name := "var"
	text := map[string]bool{} // variables that hold a filter.Text
	if f, ok := decl.(*ast.FuncDecl); ok {
		name = f.Name.Name
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && len(n.Rhs) == 1 && escaped(n.Rhs[0]) {
				text[types.ExprString(n.Lhs[0])] = true
			}
		case *ast.SelectorExpr:
			if s := types.ExprString(n); s == "os.Stdout" || s == "os.Stderr" {
				list = append(list, name+" "+s)
			}
		case *ast.CallExpr:
			called := types.ExprString(n.Fun)
			switch {
			case called == "print", called == "println", strings.HasPrefix(called, "fmt.Print"), strings.HasPrefix(called, "log.Print"), strings.HasPrefix(called, "log.Fatal"), called == "slog.Default":
				list = append(list, name+" "+called)
			case strings.HasPrefix(called, "fmt.Fprint"), called == "io.WriteString":
				out := types.ExprString(n.Args[0])
				_, buffer := n.Args[0].(*ast.UnaryExpr) // &b, a strings.Builder
				if !buffer && !text[out] && !escaped(n.Args[0]) && !cleanWriters[out] {
					list = append(list, name+" "+out)
				}
			}
		}
		return true
	})
	return list
}

// cleanWriters are the expressions for the stderr that filter.Main has wrapped.
var cleanWriters = map[string]bool{"stderr": true, "c.stderr": true, "o.Stderr": true, "v.Out": true, "fs.Output()": true}

// escaped reports whether e is a call of filter.Text.
func escaped(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	f := types.ExprString(call.Fun)
	return f == "filter.Text" || f == "Text"
}

// hostile is text that clears a screen, sets the title of a window, and reverses what follows, and
// hostileBytes is the same with C1 controls as single bytes.
const (
	hostile      = "\x1b[2J\x1b]0;owned\a\u009b2J\u202egpj\u2066\u2028\ufeff\x7f"
	hostileBytes = hostile + "\x9b2J"
)

// Whatever the names, URLs, titles and messages that commands get are, nothing that a terminal
// obeys reaches stderr, or a stdout that people read.
func TestNothingThatATerminalObeysIsPrinted(t *testing.T) {
	c := &crawl{dir: t.TempDir(), env: append(os.Environ(), environment(t)...)}
	scripts := inRoot("scripts")
	c.env = append(c.env, "H="+hostileBytes, "CRAWL="+filepath.Join(scripts, "crawl"), "COMPARE="+filepath.Join(scripts, "compare"))
	c.hostileFiles(t)
	c.shell(t, `topic -query 'jazz saxophone' >topic.json; frontier add -store "$H.store" <records 2>/dev/null
		mkdir -p "$H.run"; score -topic topic.json records >scored 2>/dev/null`)
	const records, text = false, true // what stdout is
	escapes := 0
	for _, test := range []struct {
		script string
		stdout bool
	}{
		{`warc ls "$H.warc"`, text},
		{`warc ls "$H.wacz"`, text},
		{`warc ls -json "$H.warc"`, records},
		{`warc verify "$H.warc"`, text},
		{`warc verify "$H.wacz"`, text},
		{`warc verify -json "$H.wacz"`, records},
		{`warc repair -o "repaired$H" "$H.warc"`, text},
		{`warc index "$H.wacz" "$H.warc"`, records},
		{`warc cat "http://a.example/$H" "$H.warc"`, records},
		{`warc cat "$H" "$H.warc"`, records},
		{`warc pack -o "$H/no.wacz" "$H.warc"`, text},
		{`warc "$H"`, text},
		{`warc "-$H"`, text},
		{`fetch "$H.absent"`, records},
		{`fetch "https://$H"`, records},
		{`fetch -archive "$H.warc" -all`, records},
		{`fetch -archive "$H.wacz" -all -log json`, records},
		{`fetch -allow-private -delay 0s lines`, records},
		{`parse "$H.absent"`, records},
		{`parse lines`, records},
		{`parse -log json lines`, records},
		{`score -topic "$H.topic" records`, records},
		{`score -topic topic.json -fitness "$H" records`, records},
		{`topic -query "$H"`, records},
		{`topic -query jazz -positive "$H.absent"`, records},
		{`topic -query jazz -positive records`, records},
		{`topic -topic topic.json -explain http://a.example/ records`, text},
		{`topic -topic topic.json -explain http://failed.example/ records`, text},
		{`topic -topic topic.json -explain "http://a.example/$H" records`, text},
		{`evolve -strategy "$H"`, records},
		{`evolve -strategy niche -param "$H=1"`, records},
		{`evolve -strategies`, text},
		{`frontier stats -store "$H.absent"`, records},
		{`frontier stats -store "$H.store"`, records},
		{`frontier lineage -store "$H.store" "http://$H/"`, records},
		{`frontier add -store "$H.warc" <lines`, records},
		{`frontier add -store s <lines`, records},
		{`frontier "$H"`, records},
		{`search -index "$H.warc" -query "$H"`, records},
		{`search -searxng "http://127.0.0.1:1/$H" -query "$H"`, records},
		{`judge -archive "$H.warc" -labels "$H.labels" -label "$H" -seeds seeds scored`, records},
		{`judge -archive "$H.wacz" -labels "$H.warc" -label "$H" -seeds seeds -brief scored`, records},
		{`judge table results`, text},
		{`judge table -measure "$H" results`, text},
		{`judge overlap -format markdown "$H=overlap1" "b=overlap2"`, text},
		{`report -o /dev/null "$H.run"`, text},
		{`report -o "$H/x.html" records`, text},
		{`"$COMPARE" -into "$H" "$H.plan"`, text},
		{`"$COMPARE" -into "$H" "$H.absent"`, text},
		{`gosite -root "$H"`, text},
		{`"$CRAWL" -run "$H.warc/x" -topic topic.json -seeds lines`, text},
		{`"$CRAWL" "$H"`, text},
		{`"$CRAWL" -run "$H.crawl" -topic topic.json -seeds "$H.absent" -archive "$H.warc"`, text},
		{`"$CRAWL" -run r1 -topic "$H.topic" -seeds seeds -archive "$H.warc"`, text},
		{`"$CRAWL" -run "r2$H" -topic topic.json -seeds seeds -archive "$H.warc" -strategy "$H"`, text},
		{`FETCH='printf "%b" "$H\n" >&2; exit 3' "$CRAWL" -run "r3$H" -topic topic.json -seeds seeds -archive "$H.warc"`, text},
		{`FETCH='cat >/dev/null; cat records' "$CRAWL" -run "r4$H" -topic topic.json -seeds seeds -archive "$H.warc" -pages 3`, text},
		{`printf '%s\t%s\n' "$H" "$H" >"r3$H/stages"; "$CRAWL" -run "r3$H" -topic topic.json -seeds seeds -archive "$H.warc"`, text},
	} {
		if testing.Short() && strings.Contains(test.script, "$CRAWL") {
			continue
		}
		cmd := exec.Command("bash", "-c", test.script)
		var stdout, stderr bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, &stdout, &stderr
		_ = cmd.Run() // most fail
		printed := stderr.String()
		if test.stdout {
			printed += stdout.String()
		}
		if terminal.Escape(printed) != printed {
			t.Errorf("%s: a terminal obeys %q", test.script, printed)
		}
		if strings.Contains(printed, "panic") || strings.Contains(printed, "command not found") && !strings.Contains(test.script, "r3") {
			t.Errorf("%s: %s", test.script, printed)
		}
		if strings.Contains(printed, `\u202e`) || strings.Contains(printed, `\x9b`) {
			escapes++
		}
	}
	if least := 40; escapes < least && !testing.Short() {
		t.Errorf("only %d commands printed the names", escapes)
	}
}

// Records hold what pages say as it is, but a terminal gets it escaped, as JSON that means the same.
func TestRecordsOnATerminalAreEscaped(t *testing.T) {
	if _, err := exec.LookPath("script"); err != nil {
		need(t, "script")
	}
	cmd := exec.Command("script", "-qec", "parse records", "/dev/null") // gives parse a terminal
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), environment(t)...)
	title := "a\u009b31m\u202eb\u2066c"
	record := `{"url":"http://a.example/","status_code":200,"content_type":"text/html","body":"<title>` + title + `</title>"}` + "\n"
	testfile.Write(t, filepath.Join(cmd.Dir, "records"), record)
	printed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(printed), "\r\n")
	if terminal.Escape(line) != line {
		t.Errorf("a terminal obeys %q", line)
	}
	var rec struct{ Title string }
	if err := json.Unmarshal([]byte(line), &rec); err != nil {
		t.Fatalf("%v: %q", err, line)
	}
	if rec.Title != title {
		t.Errorf("the title on a terminal is %q, not %q", rec.Title, title)
	}
}

// hostileFiles writes archives, records and other files with the hostile text in names and values.
func (c *crawl) hostileFiles(t *testing.T) {
	t.Helper()
	write := func(name string, content []byte) {
		testfile.Write(t, filepath.Join(c.dir, name), content)
	}
	record := func(kind, url, media, block string) string {
		return fmt.Sprintf("WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:x:%s>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"+
			"WARC-Target-URI: %s\r\nContent-Type: %s\r\nWARC-Block-Digest: sha1:%s\r\nX%s: y\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			kind, hostile, url, media, hostileBytes, hostile, len(block), block)
	}
	page := "HTTP/1.1 200 " + hostile + "\r\nContent-Type: text/html" + hostile + "\r\n\r\n<title>jazz " + hostile + "</title><p>jazz saxophone</p>"
	warc := record("response", "http://a.example/"+hostileBytes, "application/http", page) +
		record("response", "http://a.example/", "application/http; msgtype=response", page) +
		record(hostile, "http://"+hostile, hostile, "") + "WARC/1.1\r\n" + hostileBytes
	write(hostileBytes+".warc", []byte(warc))
	var wacz bytes.Buffer
	z := zip.NewWriter(&wacz)
	for _, file := range []struct{ name, content string }{
		{"archive/" + hostile + ".warc", warc},
		{"archive/" + hostile + "2.warc.gz", "\x1f\x8b" + hostile},
		{hostileBytes, hostileBytes},
		{"datapackage.json", fmt.Sprintf(`{"profile":"data-package","resources":[{"name":"x","path":"archive/%s.warc","hash":"sha256:00","bytes":1}]}`, terminal.Escape(hostile))},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: file.name, Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte(file.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(hostileBytes+".wacz", wacz.Bytes())
	escaped := terminal.Escape(hostile) // these are escapes of JSON, too
	write("records", fmt.Appendf(nil, `{"v":1,"url":"http://a.example/","final_url":"http://a.example/%[1]s","status":200,"title":"jazz %[1]s","text":"jazz saxophone %[1]s","links":[{"url":"http://b.example/%[1]s","anchor":"jazz %[1]s","context":"jazz %[1]s"}],"operator":"%[1]s","niche":"%[1]s"}
{"v":1,"url":"http://failed.example/","error":"%[1]s","operator":"%[1]s"}
{"v":1,"url":"http://%[1]s/","error":"%[1]s"}
{"v":%[1]q}
`, escaped))
	write("lines", []byte("http://127.0.0.1:1/"+hostile+"\n{\"v\":1,\"url\":\""+hostile+"\"}\n{"+hostileBytes+"\n"))
	write("seeds", []byte("http://a.example/\n"))
	write(hostileBytes+".topic", []byte(`{"version":1,"`+hostile+`":`+hostileBytes))
	write(hostileBytes+".labels", []byte(`{"url":"http://a.example/","labels":["`+escaped+`"]}`+"\n{"+hostile+"\n"))
	write(hostileBytes+".plan", []byte(hostile+" "+hostileBytes+"\n"))
	write("results", fmt.Appendf(nil, `{"v":1,"name":"%[1]s","track":"%[1]s","web":"%[1]s","topic":"%[1]s","seeds":"%[1]s","T":10,"R":5,"nauc":0.5,"harvest":0.5}
{"v":1,"name":"b\\n| c %[1]s","track":"%[1]s","web":"w","topic":"u","T":10,"R":5,"nauc":0.4,"harvest":0.3}
{%[2]s
`, escaped, hostile))
	for _, run := range []string{"overlap1", "overlap2"} {
		testfile.Check(t, os.MkdirAll(filepath.Join(c.dir, run, "generations", "0001"), 0o777))
		write(run+"/generations/0001/scored.ndjson.zst", []byte(`{"v":1,"url":"http://a.example/`+run+`","status":200,"title":"x","text":"x"}`+"\n"))
	}
}
