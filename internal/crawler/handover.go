package crawler

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"spoor/internal/archive"
	"spoor/internal/atomicfile"
	"spoor/internal/procgroup"
)

// handOverTime is how long the command of -warc-done may take for one file.
const handOverTime = time.Hour

// slowHandOver is the time after which a command that has not ended is reported. Tests change it.
var slowHandOver = time.Minute

// errHandOver is the cause when a command is ended because it took longer than handOverTime, or longer than
// -deadline after the last page.
var errHandOver = errors.New("it took too long")

// A handOver passes finished WARC files to a command, one after the other. A file is passed again until
// the command succeeds. If the command does not move or remove the file, its name is added to the list
// PREFIX.done.
type handOver struct {
	command string
	warc    *archive.Writer
	list    string // PREFIX.done
	warn    func(string, ...any)
	done    map[string]bool
	more    chan struct{}
}

func newHandOver(o *Options) (*handOver, error) {
	h := &handOver{command: o.WARCDone, list: o.WARC.Prefix + ".done", warn: o.Warn, done: map[string]bool{}, more: make(chan struct{}, 1)}
	return h, readFile(h.list, func(r io.Reader) error {
		names := bufio.NewScanner(r)
		for names.Scan() {
			h.done[names.Text()] = true
		}
		return names.Err()
	})
}

// notify makes run look for finished files. It does not block.
func (h *handOver) notify() {
	select {
	case h.more <- struct{}{}:
	default:
	}
}

// run passes finished files to the command whenever notify is called, until ctx ends, and then once more.
// When hard ends, the command is ended.
func (h *handOver) run(ctx, hard context.Context) {
	for ctx.Err() == nil {
		h.giveAll(hard)
		select {
		case <-h.more:
		case <-ctx.Done():
		}
	}
	h.giveAll(hard)
}

// giveAll passes all finished files to the command. It stops at the first error.
func (h *handOver) giveAll(ctx context.Context) {
	files, err := h.warc.Finished()
	if err != nil {
		h.warn("finished WARC files are not handed over", "err", err)
		return
	}
	for _, file := range files {
		name := filepath.Base(file)
		if h.done[name] || ctx.Err() != nil {
			continue
		}
		err := h.give(ctx, file)
		if err == nil {
			err = h.remember(file, name)
		}
		if err != nil {
			h.warn("a WARC file is not handed over; it is tried again after the next one", "archive", file, "err", err)
			return
		}
	}
}

// give runs the command with a file as its last argument.
func (h *handOver) give(ctx context.Context, file string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, handOverTime, errHandOver)
	defer cancel()
	if strings.HasPrefix(file, "-") { // the command would mistake the name for a flag
		file = "./" + file
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", h.command+` "$1"`, "sh", file)
	messages := new(procgroup.Tail)
	cmd.Stdout, cmd.Stderr = messages, messages
	cmd.WaitDelay = time.Second // children of the command may still hold its output
	procgroup.Lead(cmd, syscall.SIGTERM)
	slow := time.AfterFunc(slowHandOver, func() {
		h.warn("the command of -warc-done has not ended yet, and fetch waits for it", "archive", file, "after", slowHandOver)
	})
	defer slow.Stop()
	err := cmd.Run()
	procgroup.Kill(cmd)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", h.command, context.Cause(ctx))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return fmt.Errorf("%s: %w: %s", h.command, err, messages.Line())
	}
	return nil
}

// remember notes that the command has processed a file: in PREFIX.done if the file still exists.
func (h *handOver) remember(file, name string) error {
	h.done[name] = true
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f, err := atomicfile.OpenFile(h.list, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, name)
	return errors.Join(err, f.Close())
}
