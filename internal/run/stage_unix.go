//go:build unix

package run

import (
	"errors"
	"os"
	"syscall"
)

// terminate asks a process to end.
var terminate = syscall.SIGTERM

// isPipe reports whether err says that nobody reads what was written.
func isPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// shellStatus returns the exit status, or 128 and the number of the signal.
func shellStatus(p *os.ProcessState) int {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return p.ExitCode()
}

// makeFIFO makes a named pipe.
func makeFIFO(name string) error { return syscall.Mkfifo(name, 0o600) }
