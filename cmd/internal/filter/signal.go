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
// The cause of the cancellation is an error with the given message, or "interrupted" or
// "terminated" if that is empty, that ends the process with [StatusInterrupted] for SIGINT
// and [StatusTerminated] for the others.
//
// A second signal of the same kind kills the process, even if it ignores the context. A
// signal of another kind does not: a supervisor may forward as SIGTERM a Ctrl-C that the
// process has received itself. SIGHUP stays ignored where it was, as under nohup.
//
// In a crawl no second signal kills the process: a signal to all processes reaches this one twice,
// directly and through the shell, and it is the shell that counts them.
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

// Interruptible returns a reader of r that fails with the cause of ctx when that ends, even
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

// IgnorePipe makes a write to a closed stdout an error instead of the end of the process,
// for commands that must save their state first.
func IgnorePipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// signalsVariable is set by scripts/crawl: to "first" for the processes that react to signals, and
// to "none" for the stages after the first, which end when their input does.
const signalsVariable = "SPOOR_SIGNALS"

// IgnoresTerm reports whether this command is a stage that must ignore SIGTERM. Unlike SIGINT and
// SIGHUP, Go does not leave SIGTERM ignored where it was.
func IgnoresTerm() bool { return os.Getenv(signalsVariable) == "none" }

// NotifyTerm returns a context that is cancelled by SIGTERM or SIGHUP, for a command that
// passes the signal on. SIGINT is left to whoever reads the terminal.
func NotifyTerm() (ctx context.Context, stop context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
}
