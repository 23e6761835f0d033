//go:build unix

package parse

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spoor/internal/procgroup"
)

// converted is what parse makes of a body.
type converted struct {
	Text        string
	Title       string
	Error       string
	ErrorDetail string `json:"error_detail"`
	Links       []struct{ URL string }
	BodyBase64  string `json:"body_base64"`
}

func convertWith(t *testing.T, body []byte, contentType string, flags ...string) (got converted, took time.Duration) {
	t.Helper()
	in, err := json.Marshal(map[string]any{"v": 1, "url": "http://a.test/dir/x", "status_code": 200, "content_type": contentType, "body_base64": base64.StdEncoding.EncodeToString(body)})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	begun := time.Now()
	if err := run(flags, bytes.NewReader(append(in, '\n')), &out, io.Discard); err != nil {
		t.Fatalf("%q: %v", flags, err)
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got, time.Since(begun)
}

// A command that converts bodies costs at most its own record, whatever it does.
func TestConverters(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "alive")
	for name, c := range map[string]struct {
		command, contentType string
		flags                []string
		text, detail         string
		most                 time.Duration
	}{
		"text":                  {command: "cat", text: "hello world"},
		"parameters and case":   {command: "cat", contentType: "Application/PDF; charset=binary", text: "hello world"},
		"all of a kind":         {command: "cat", flags: []string{"-convert", "application/*=cat"}, text: "hello world"},
		"another type":          {command: "cat", contentType: "image/png"},
		"HTML":                  {command: `echo '<!doctype html><title>T</title><p>Hi <a href="../y">there</a>'`, text: "Hi there"},
		"not quite HTML":        {command: "echo '<3 jazz'", text: "<3 jazz"},
		"nothing of the page":   {command: `echo "$SPOOR_URL$1$0"`, text: "sh"},
		"hangs":                 {command: "sleep 60", flags: []string{"-convert-time", "300ms"}, detail: "it took more than 300ms", most: 3 * time.Second},
		"ignores signals":       {command: "trap '' TERM INT; sleep 60; sleep 60", flags: []string{"-convert-time", "300ms"}, detail: "it took more than 300ms", most: 3 * time.Second},
		"leaves a child":        {command: "(sleep 2; touch " + marker + ") & echo done", text: "done", most: 3 * time.Second},
		"leaves a daemon":       {command: "setsid sleep 5 & echo done", text: "done", most: 3 * time.Second},
		"a crowd of children":   {command: "for i in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; wait", flags: []string{"-convert-time", "300ms"}, detail: "it took more than 300ms", most: 3 * time.Second},
		"uses the processor":    {command: "while :; do :; done", flags: []string{"-convert-time", "300ms"}, detail: "it took more than 300ms", most: 3 * time.Second},
		"is limited by itself":  {command: "ulimit -t", flags: []string{"-convert-time", "1500ms"}, text: "3"},
		"floods":                {command: "yes", detail: "more than 33554432 bytes of output", most: 20 * time.Second},
		"floods a little":       {command: "yes", flags: []string{"-convert-output", "1KiB"}, detail: "more than 1024 bytes of output"},
		"floods in silence":     {command: "yes >&2", flags: []string{"-convert-time", "300ms"}, detail: "it took more than 300ms", most: 3 * time.Second},
		"dies by a signal":      {command: "echo half; kill -SEGV $$", detail: "signal: segmentation fault"},
		"fails with output":     {command: "echo half; echo 'bad\nfile' >&2; exit 3", detail: "exit status 3: file"},
		"nothing":               {command: "cat >/dev/null", detail: "no text"},
		"spaces":                {command: `printf ' \f\n'`, detail: "no text"},
		"closes stdin":          {command: "exec <&-; echo ok", text: "ok"},
		"a long last line":      {command: "head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1", detail: "exit status 1: " + strings.Repeat("x", procgroup.TailSize)},
		"a line for terminals":  {command: `printf 'one\ntwo \033]0;x\007 \341\n' >&2; exit 1`, detail: "exit status 1: two \x1b]0;x\a \uFFFD"},
		"a million on stderr":   {command: "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo ok", text: "ok"},
		"not UTF-8":             {command: `printf 'caf\351 au lait'`, text: "café au lait"},
		"too much memory":       {command: "head -c 3000000000 /dev/zero | tail", flags: []string{"-convert-memory", "64MiB"}, detail: "exit status", most: 20 * time.Second},
		"there is no such file": {command: "/nonexistent/pdftotext", detail: "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.contentType == "" {
				c.contentType = "application/pdf"
			}
			if c.most == 0 {
				c.most = 10 * time.Second
			}
			flags := append([]string{"-convert", "application/pdf=" + c.command}, c.flags...)
			got, took := convertWith(t, []byte("hello world"), c.contentType, flags...)
			if got.Text != c.text || got.Error != "" || !strings.Contains(got.ErrorDetail, c.detail) || c.detail == "" && got.ErrorDetail != "" || got.BodyBase64 != "" {
				t.Errorf("%+v, want text %q and detail %q", got, c.text, c.detail)
			}
			if name == "HTML" && (got.Title != "T" || len(got.Links) != 1 || got.Links[0].URL != "http://a.test/y") {
				t.Errorf("%+v", got)
			}
			if took > c.most {
				t.Errorf("it took %v", took)
			}
		})
	}
	time.Sleep(1500 * time.Millisecond)
	if _, err := os.Stat(marker); err == nil {
		t.Error("a process that a converter has left was not killed")
	}
	for _, bad := range []string{"application/pdf", "pdf=cat", "application/pdf=", "=cat"} {
		if err := run([]string{"-convert", bad}, strings.NewReader(""), io.Discard, io.Discard); err == nil {
			t.Errorf("-convert %q is taken", bad)
		}
	}
}

// Conversions run at the same time, and the records keep their order: the output does not depend on -j.
func TestConvertersKeepTheOrder(t *testing.T) {
	var in strings.Builder
	for i := range 24 {
		fmt.Fprintf(&in, `{"v":1,"url":"http://a.test/%d","status_code":200,"content_type":"application/%s","body":"%d"}`+"\n", i, []string{"pdf", "x", "html"}[i%3], i)
	}
	const command = "read n; sleep 0.0$((9 - n % 10)); test $n -ne 9 && echo page $n"
	var want string
	for _, j := range []string{"1", "3", "8"} {
		var out bytes.Buffer
		if err := run([]string{"-j", j, "-convert", "application/pdf,application/x=" + command}, strings.NewReader(in.String()), &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = out.String()
		}
		if out.String() != want || strings.Count(want, "\n") != 24 || strings.Count(want, `"text":"page `) != 15 || strings.Count(want, "exit status 1") != 1 {
			t.Fatalf("-j %s: %s", j, out.String())
		}
	}
}

// The command ends although it reads nothing of a body that is longer than a pipe holds.
func TestConvertersNeedNotReadTheBody(t *testing.T) {
	got, _ := convertWith(t, bytes.Repeat([]byte("x"), 4<<20), "application/pdf", "-convert", "application/pdf=head -c 3")
	if got.Text != "xxx" || got.ErrorDetail != "" {
		t.Errorf("%+v", got)
	}
}

func pdf(content string) []byte {
	var b bytes.Buffer
	var at []int
	object := func(s string) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(at), s)
	}
	b.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>")
	object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, start)
	return b.Bytes()
}

// needs skips a test if a program is missing.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(program + " is not installed")
	}
}

// The recipes of the manual work, with the programs of this machine.

func TestRecipeForPDF(t *testing.T) {
	needs(t, "pdftotext")
	const recipe = "application/pdf=pdftotext -q - -"
	if got, _ := convertWith(t, pdf("BT /F1 12 Tf 10 50 Td (Bebop and swing) Tj ET"), "application/pdf", "-convert", recipe); got.Text != "Bebop and swing" || got.ErrorDetail != "" {
		t.Errorf("%+v", got)
	}
	if got, _ := convertWith(t, pdf("0 0 100 100 re f"), "application/pdf", "-convert", recipe); got.Text != "" || !strings.Contains(got.ErrorDetail, "converting application/pdf: no text") {
		t.Errorf("a scanned page: %+v", got)
	}
	if got, _ := convertWith(t, []byte("%PDF-1.4 torn"), "application/pdf", "-convert", recipe); got.Text != "" || !strings.Contains(got.ErrorDetail, "exit status") {
		t.Errorf("a torn file: %+v", got)
	}
}

func TestRecipeForWord(t *testing.T) {
	needs(t, "catdoc")
	const recipe = "application/msword=catdoc -d utf-8"
	got, _ := convertWith(t, []byte(`{\rtf1\ansi\pard Bebop and swing\par}`), "application/msword", "-convert", recipe)
	if !strings.Contains(got.Text, "Bebop and swing") || got.ErrorDetail != "" {
		t.Errorf("%+v", got)
	}
}

func TestRecipeForOfficeOpenXML(t *testing.T) {
	needs(t, "pandoc")
	const media = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	const recipe = media + "=pandoc --sandbox -f docx -t html"
	var made bytes.Buffer
	pandoc := exec.Command("pandoc", "-f", "html", "-t", "docx", "-o", "-")
	pandoc.Stdin, pandoc.Stdout = strings.NewReader(`<h1>Bebop</h1><p>and <a href="../y">swing</a>`), &made
	if err := pandoc.Run(); err != nil {
		t.Fatal(err)
	}
	got, _ := convertWith(t, made.Bytes(), media, "-convert", recipe)
	if got.Text != "Bebop\nand swing" || len(got.Links) != 1 || got.Links[0].URL != "http://a.test/y" || got.ErrorDetail != "" {
		t.Errorf("%+v", got)
	}
	if got, _ := convertWith(t, []byte("PK torn"), media, "-convert", recipe); got.Text != "" || !strings.Contains(got.ErrorDetail, "exit status") {
		t.Errorf("a torn file: %+v", got)
	}
}

// A command that does not exist is found before anything is parsed. What only the shell knows may be
// anything.
func TestAConverterExists(t *testing.T) {
	for command, known := range map[string]bool{
		"cat": true, "/bin/cat -": true, "exec cat": true, "if true; then cat; fi": true, "X=1 cat": true, "$nothing cat": true, "(cat)": true, "'no such' -": true,
		"./made-later": true, "no-such-converter -": false, " no-such-converter": false,
	} {
		err := new(converters).add("application/pdf=" + command)
		if (err == nil) != known {
			t.Errorf("%s: got error %v", command, err)
		}
		if err != nil && !strings.Contains(err.Error(), ": install it") {
			t.Errorf("%s: nothing says what to do: %v", command, err)
		}
	}
}
