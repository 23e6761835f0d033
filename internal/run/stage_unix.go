//go:build unix

package run

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// terminate asks a process to end.
var terminate = syscall.SIGTERM

// isPipe reports whether err says that nobody reads what was written.
func isPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// replaceProcess runs a shell command in the place of this process.
func replaceProcess(command string, env []string) error {
	bash, err := exec.LookPath("bash")
	if err != nil {
		return err
	}
	return syscall.Exec(bash, []string{"bash", "-c", command}, env)
}

// shellStatus returns the exit status, or 128 and the number of the signal.
func shellStatus(p *os.ProcessState) int {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return p.ExitCode()
}

// makeFIFO makes a named pipe.
func makeFIFO(name string) error { return syscall.Mkfifo(name, 0o600) }
