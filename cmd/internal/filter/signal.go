package filter

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// NotifyContext returns a context that is cancelled by the first SIGINT, SIGTERM or SIGHUP.
// The cause of the cancellation is an error with the given message or, if message is empty,
// "interrupted" or "terminated". It ends the process with [StatusInterrupted] for SIGINT, and
// with [StatusTerminated] for the other signals.
//
// A second signal of the same kind kills the process, even if it ignores the context. A
// signal of another kind does not: after Ctrl-C, which reaches the process directly, a
// supervisor may send SIGTERM. If SIGHUP was ignored, as under nohup, it stays ignored.
//
// In a crawl, a second signal does not kill the process: a signal to all processes reaches this
// process twice, directly and through the shell. The shell counts the signals instead.
func NotifyContext(message string) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	kinds := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		kinds = append(kinds, syscall.SIGHUP)
	}
	inCrawl := os.Getenv(signalsVariable) != ""
	received := make(chan os.Signal, len(kinds))
	signal.Notify(received, kinds...)
	go func() {
		for sig := range received {
			if !inCrawl {
				signal.Reset(sig)
			}
			status, word := StatusTerminated, "terminated"
			if sig == os.Interrupt {
				status, word = StatusInterrupted, "interrupted"
			}
			cancel(Exit(status, errors.New(cmp.Or(message, word))))
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		close(received)
		cancel(nil)
	}
}

// Interruptible returns a reader of r that fails with the cause of ctx when ctx ends, even
// while a read of r blocks.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{in}, struct{ io.Reader }{r}, make([]byte, 256<<10))
		in.CloseWithError(err) // nil means io.EOF
	}()
	return out
}

// IgnorePipe makes a write to a closed stdout return an error instead of ending the process. It
// is for commands that must save their state first.
func IgnorePipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// signalsVariable is an environment variable that scripts/crawl sets: to "first" for the processes that
// handle signals, and to "none" for the stages after the first, which end when their input ends.
const signalsVariable = "SPOOR_SIGNALS"

// IgnoresTerm reports whether this command is a stage that must ignore SIGTERM. The variable is needed
// because a Go program keeps SIGINT and SIGHUP ignored if they were, but not SIGTERM.
func IgnoresTerm() bool { return os.Getenv(signalsVariable) == "none" }

// NotifyTerm returns a context that is cancelled by SIGTERM or SIGHUP, for a command that
// passes the signal on. It does not catch SIGINT, which the process that reads the terminal handles.
func NotifyTerm() (ctx context.Context, stop context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
}
