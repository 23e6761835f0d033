package parse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"spoor/internal/archive"
	"spoor/internal/page"
	"spoor/internal/procgroup"
	"spoor/internal/wire"
)

// Bodies that are not HTML go through commands: their stdout is parsed instead.

// A converter is a command for media types.
type converter struct {
	types   []string // as of archive.ParseMediaTypes
	command string
}

// converters are those of -convert, with their limits.
type converters struct {
	list   []converter
	time   time.Duration // for a body
	memory int64         // bytes of address space of each process; on Linux
	output int64         // bytes
}

// add adds a converter, TYPE=COMMAND.
func (c *converters) add(s string) error {
	list, command, ok := strings.Cut(s, "=")
	types, err := archive.ParseMediaTypes(list)
	switch {
	case err != nil:
		return err
	case !ok || len(types) == 0 || strings.TrimSpace(command) == "":
		return errors.New("want TYPE=COMMAND, such as 'application/pdf=pdftotext -q - -'")
	}
	if name := strings.Fields(command)[0]; plainName.MatchString(name) && unknownToShell(name) {
		return fmt.Errorf("there is no command %s: install it, or give its path", name)
	}
	c.list = append(c.list, converter{types, command})
	return nil
}

// plainName matches the first word of a command if a shell looks for it on the PATH and replaces
// nothing in it.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_.+-]+$`)

// unknownToShell reports whether a word is neither a program nor a command of the shell. Without this
// check every body of the type would fail, and the command would not.
func unknownToShell(name string) bool {
	_, unknown := errors.AsType[*exec.ExitError](exec.Command("sh", "-c", `command -v "$1"`, "sh", name).Run())
	return unknown
}

// command returns the command for a media type, in lower case; "" if there is none.
func (c *converters) command(media string) string {
	for _, v := range c.list {
		if archive.TakesMediaType(v.types, media) {
			return v.command
		}
	}
	return ""
}

// convert replaces the body of a document by the output of a command, and its type by text/html or
// text/plain. The command gets nothing of the document but the body.
func (c *converters) convert(command string, doc *page.Document) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.time)
	defer cancel()
	if runtime.GOOS == "linux" {
		command = fmt.Sprintf("ulimit -v %d || exit\n%s", max(1, c.memory>>10), command)
	}
	// The limit also ends a command in an endless loop after parse itself was killed.
	command = fmt.Sprintf("ulimit -t %d\n%s", c.time/time.Second+2, command)
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	out, messages := &limitedBuffer{most: c.output, over: cancel}, new(procgroup.Tail)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(doc.Body), out, messages
	cmd.WaitDelay = time.Second // for processes that it has left and that hold its pipes
	procgroup.Lead(cmd, syscall.SIGKILL)
	err := cmd.Run()
	procgroup.Kill(cmd)
	switch {
	case int64(out.kept.Len()) == c.output:
		return fmt.Errorf("more than %d bytes of output", c.output)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it took more than %v", c.time)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		if words := messages.Line(); words != "" {
			return fmt.Errorf("%w: %s", err, words)
		}
		return err
	case len(bytes.TrimSpace(out.kept.Bytes())) == 0:
		return errors.New("no text")
	}
	doc.Body, doc.Charset, doc.ContentType = out.kept.Bytes(), "", "text/plain"
	if isHTML(doc.Body) {
		doc.ContentType = "text/html"
	}
	doc.IsUTF8 = utf8.Valid(doc.Body)
	return nil
}

// isHTML reports whether a text begins with a tag, a comment or a declaration.
func isHTML(text []byte) bool {
	text = bytes.TrimSpace(wire.TrimBOM(text))
	return len(text) > 1 && text[0] == '<' && (text[1] == '!' || text[1] == '?' || 'a' <= text[1]|0x20 && text[1]|0x20 <= 'z')
}

// A limitedBuffer keeps as many bytes as are permitted, and calls over when it is full. Its buffer is
// not embedded: io.Copy would call its ReadFrom.
type limitedBuffer struct {
	kept bytes.Buffer
	most int64
	over func()
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	left := b.most - int64(b.kept.Len())
	if int64(len(p)) < left {
		return b.kept.Write(p)
	}
	b.kept.Write(p[:left])
	b.over()
	return 0, errors.New("too much output")
}
