package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The documentation is executed. In every *.md of the root, doc, and the folders of doc, a block
// fenced as sh is a script for bash, which must succeed, command by command. A block
// fenced as console is a shell session if a line of it begins with "$ ":
//
//	$ command                what is typed; "> " or a backslash at the end of the line continues it
//	output                   what stdout shows, to the next "$ "
//
// A command must end with status 0. Without output below it anything may be
// printed; with output, stdout must be that, where "..." or "…" in a line stands
// for any words and alone on a line for any lines. stderr is shown only when
// something fails. A block is one bash; the blocks of a document share a
// directory, which has scripts and doc in it and ../shared beside it, and the
// environment of the pipeline's scripts (see environment).
//
// A block marked live ("sh live") needs the internet or builds the project: it
// is only parsed, and so is a console block without "$ ". A block that
// names a program or data that this machine lacks is skipped with a reason.

// A session is one fenced block.
type session struct {
	file     string
	line     int // of the fence
	live     bool
	isScript bool   // fenced as sh
	text     string // all of it
	commands []command
}

// A command is what is typed and what should be seen.
type command struct {
	line int
	text string
	want []string
}

var fence = regexp.MustCompile("^( *)(```+) *(.*?) *$")

// sessions reads the shell blocks of a document.
func sessions(file, text string) (list []session) {
	var s *session
	var marks, indent string
	var body []string
	for i, line := range strings.Split(text, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case marks == "" && m != nil:
			indent, marks = m[1], m[2]
			if info := strings.Fields(m[3]); len(info) > 0 && (info[0] == "console" || info[0] == "sh") {
				s, body = &session{file: file, line: i + 1, isScript: info[0] == "sh", live: slices.Contains(info[1:], "live")}, nil
			}
		case marks != "" && m != nil && m[2] == marks && m[3] == "":
			if s != nil {
				s.read(body)
				list = append(list, *s)
			}
			s, marks = nil, ""
		case s != nil:
			body = append(body, strings.TrimPrefix(line, indent))
		}
	}
	return list
}

// read takes the lines of a block apart.
func (s *session) read(body []string) {
	s.text = strings.Join(body, "\n")
	if s.isScript && !strings.HasPrefix(s.text, "$ ") {
		s.commands = []command{{line: s.line + 1, text: "set -e\n" + s.text}}
		return
	}
	more := false // the command goes on
	for i, line := range body {
		last := len(s.commands) - 1
		text, typed := strings.CutPrefix(line, "$ ")
		rest, continued := strings.CutPrefix(line, "> ")
		switch {
		case typed:
			s.commands = append(s.commands, command{line: s.line + 1 + i, text: text})
			more = true
		case last < 0:
			continue // no session, or a heading of one
		case more && strings.HasSuffix(s.commands[last].text, `\`):
			s.commands[last].text += "\n" + line
		case more && (continued || line == ">"):
			s.commands[last].text += "\n" + strings.TrimPrefix(rest, ">")
		default:
			s.commands[last].want = append(s.commands[last].want, line)
			more = false
		}
	}
	for i := range s.commands {
		want := s.commands[i].want
		for len(want) > 0 && strings.TrimSpace(want[len(want)-1]) == "" {
			want = want[:len(want)-1]
		}
		s.commands[i].want = want
	}
}

// script is what bash should parse if the session is not executed.
func (s *session) script() string {
	if len(s.commands) == 0 {
		return s.text
	}
	var b strings.Builder
	for _, c := range s.commands {
		b.WriteString(c.text + "\n")
	}
	return b.String()
}

// seen tells whether the output of a command is what the document shows.
func seen(want []string, got string) bool {
	if len(want) == 0 {
		return true
	}
	var b strings.Builder
	b.WriteString(`\A`)
	for _, line := range want {
		line = strings.TrimRight(strings.ReplaceAll(line, "…", "..."), " \t")
		if strings.TrimSpace(line) == "..." {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		parts := strings.Split(line, "...")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		b.WriteString(strings.Join(parts, `.*`) + `[ \t]*\n`)
	}
	b.WriteString(`\n*\z`)
	if !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	return regexp.MustCompile(b.String()).MatchString(got)
}

// wants are the programs that a block may use and a machine may lack.
var wants = regexp.MustCompile(`\b(jq|python3|awk|node|curl|parallel|zstd|sbatch|hadoop)\b`)

func TestTheDocumentationIsTrue(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	t.Parallel()
	for _, file := range documents(t) {
		text := testfile.Read(t, inRoot(file))
		list := sessions(file, string(text))
		if len(list) == 0 {
			continue
		}
		t.Run(file, func(t *testing.T) {
			var place string
			var env []string
			if !testing.Short() && slices.ContainsFunc(list, session.executed) {
				place, env = settle(t)
				if bytes.Contains(text, []byte("nats-server")) {
					env = withServer(t, env)
				}
				if bytes.Contains(text, []byte("$ mkdir by-slurm")) {
					env = withMachines(t, env)
				}
			}
			for _, s := range list {
				t.Run("line "+strconv.Itoa(s.line), func(t *testing.T) {
					s.parse(t)
					switch {
					case !s.executed():
					case testing.Short():
						t.Skip("the documentation is not executed in a short test")
					default:
						s.execute(t, place, env)
					}
				})
			}
		})
	}
}

// settle makes the directory that the blocks of a document share and the
// environment they run in.
func settle(t *testing.T) (place string, env []string) {
	t.Helper()
	top := t.TempDir()
	place = filepath.Join(top, "spoor")
	testfile.Check(t, os.Mkdir(place, 0o777))
	// Copies: what a block does by mistake it does to them.
	for _, dir := range []string{"scripts", "doc"} {
		testfile.Check(t, os.CopyFS(filepath.Join(place, dir), os.DirFS(inRoot(dir))))
	}
	if s := shared(); s != "" {
		if err := os.Symlink(s, filepath.Join(top, "shared")); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	env = append(os.Environ(), environment(t)...)
	for _, e := range env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok { // the last one counts
			env = append(env, "PATH="+path+string(os.PathListSeparator)+filepath.Join(place, "scripts"))
		}
	}
	return place, env
}

// executed tells whether the session is run, not only parsed.
func (s session) executed() bool { return !s.live && len(s.commands) > 0 }

// parse asks bash whether it understands the session.
func (s session) parse(t *testing.T) {
	t.Helper()
	check := exec.Command("bash", "-n")
	check.Stdin = strings.NewReader(s.script())
	if out, err := check.CombinedOutput(); err != nil {
		t.Fatalf("%s:%d: bash cannot read this: %v\n%s%s", s.file, s.line, err, out, s.script())
	}
}

// execute runs the commands of the session, one after the other in one bash,
// each with files of its own for what it prints.
func (s session) execute(t *testing.T, place string, env []string) {
	t.Helper()
	for _, program := range wants.FindAllString(s.script(), -1) {
		if _, err := exec.LookPath(program); err != nil {
			need(t, program)
		}
	}
	if shared() == "" && (strings.Contains(s.script(), "SPOOR_SHARED") || strings.Contains(s.script(), "../shared")) {
		t.Skip("the shared data is not on this machine")
	}

	said := t.TempDir()
	var b strings.Builder
	b.WriteString("trap 'kill $(jobs -p) 2>/dev/null || :' EXIT\n")
	for i, c := range s.commands {
		// After ||, bash would ignore set -e.
		fmt.Fprintf(&b, "{ %s\n} >'%[2]s/%[3]d.out' 2>'%[2]s/%[3]d.err' </dev/null\nstatus=$?; ((status == 0)) || exit $status\n", c.text, said, i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", "-c", b.String())
	bash.Dir, bash.Env = place, env
	bash.WaitDelay = time.Second
	end := bash.Run()

	for i, c := range s.commands {
		out, err := os.ReadFile(filepath.Join(said, strconv.Itoa(i)+".out"))
		if err != nil {
			break // an earlier one failed
		}
		last := i == len(s.commands)-1
		if !last {
			_, err = os.Stat(filepath.Join(said, strconv.Itoa(i+1)+".out"))
			last = err != nil
		}
		stderr, _ := os.ReadFile(filepath.Join(said, strconv.Itoa(i)+".err"))
		if last && end != nil {
			t.Fatalf("%s:%d: $ %s\n%v\n%s%s", s.file, c.line, c.text, end, out, stderr)
		}
		if !seen(c.want, string(out)) {
			t.Errorf("%s:%d: $ %s\nprints\n%s%sand not\n%s", s.file, c.line, c.text, out, stderr, strings.Join(c.want, "\n"))
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// Relative links between documents lead to a file and, after a #, to a heading.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, file := range documents(t, "doc/design/decisions/*.md", "e2e/README.md", "findings/README.md") {
		text := testfile.Read(t, inRoot(file))
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // another site
			}
			path := file
			if target != "" {
				path = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(inRoot(path)); err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			if anchor == "" {
				continue
			}
			there := testfile.Read(t, inRoot(path))
			if !slices.ContainsFunc(heading.FindAllStringSubmatch(string(there), -1), func(h []string) bool {
				return strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == anchor
			}) {
				t.Errorf("%s: %s has no heading #%s", file, path, anchor)
			}
		}
	}
}

// documents lists the documents that are executed, and those of further patterns, relative to the root.
func documents(t *testing.T, more ...string) (files []string) {
	t.Helper()
	for _, pattern := range append([]string{"*.md", "doc/*.md", "doc/*/*.md"}, more...) {
		list, err := fs.Glob(os.DirFS(inRoot()), pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	return files
}

func TestADocumentIsReadAsItLooks(t *testing.T) {
	const text = "# Title\n\n```console\n$ echo a \\\n    b\na b\n\n$ cat <<E\n> x\n>\n> y\n> E\nx\n...\ny\n$ true\n```\n" +
		"\n  ```sh live\n  $ curl -s https://example.org/\n  ```\n\n```go\n$ not a shell\n```\n\n```sh\necho no prompt\n```\n"
	got := sessions("a.md", text)
	want := []session{
		{file: "a.md", line: 3, text: "$ echo a \\\n    b\na b\n\n$ cat <<E\n> x\n>\n> y\n> E\nx\n...\ny\n$ true", commands: []command{
			{line: 4, text: "echo a \\\n    b", want: []string{"a b"}},
			{line: 8, text: "cat <<E\nx\n\ny\nE", want: []string{"x", "...", "y"}},
			{line: 16, text: "true", want: []string{}},
		}},
		{file: "a.md", line: 19, isScript: true, live: true, text: "$ curl -s https://example.org/", commands: []command{
			{line: 20, text: "curl -s https://example.org/"},
		}},
		{file: "a.md", line: 27, isScript: true, text: "echo no prompt", commands: []command{{line: 28, text: "set -e\necho no prompt"}}},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(session{}, command{}), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

func TestOutputMayLeaveWordsAndLinesOut(t *testing.T) {
	for _, test := range []struct {
		want string
		got  string
		seen bool
	}{
		{"a", "a\n", true},
		{"a", "a", true},
		{"a", "a\nb\n", false},
		{"a\n...", "a\nb\nc\n", true},
		{"a\n…\nc", "a\nc\n", true},
		{"...\nc", "a\nc\n", true},
		{"...\nc", "a\nc\nd\n", false},
		{"took ... seconds", "took 3.5 seconds\n", true},
		{"took … seconds", "took 3.5\nseconds\n", false},
		{"a.b", "axb\n", false},
		{"a", "a  \n\n", true},
		{"...", "", true},
	} {
		if got := seen(strings.Split(test.want, "\n"), test.got); got != test.seen {
			t.Errorf("%q shown for %q: %v, want %v", test.want, test.got, got, test.seen)
		}
	}
}

func TestASessionIsExecuted(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	list := sessions("a.md", "```console\n$ x=1; cd /\n$ echo $x; pwd; echo words >&2\n1\n/\n$ sleep 60 &\n$ cat <<E\n> $x\n> E\n1\n```\n")
	list[0].parse(t)
	list[0].execute(t, t.TempDir(), os.Environ())
}
